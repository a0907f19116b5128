"""Questions over graphs, answered by programs, beside the baselines in the same run.

    python -m benchmarks.answers metaqa|pathquestion|nlpcc|nlpcc-mh|midtermqa [--limit N]
    python -m benchmarks.answers metaqa|pathquestion|nlpcc --unseen-relations [--folds N ...]

What `almanac evaluate --route programs --set zero_shot=true` does in an empty home, for each file
or folder of the data set. The planner learns from the half of the questions whose topics, or whose
paths' entities, are not in the measured half (of MidtermQA from the fifteen demonstrations);
`zero-shot` is the same without having learned. `--limit` takes the first N of a seeded shuffle.
With `--unseen-relations` the relations are dealt into four folds; the measured questions have one
of a fold on their gold path, and no question that is learned from has. SPE is told the number of
hops, the planner is not. Folds 0 and 1 were in view when the planner was changed, 2 and 3 report.
The embedding baseline is English: over Chinese graphs it says little unless a Chinese encoder is
set. Seconds are wall-clock time on the machine, whatever else it ran; processor seconds add up both
cores.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import DATA, parser_of, report, run_command
from schemas.settings import Settings
from tasks.evaluate.evaluate import Measurement, Sides, evaluate
from tasks.evaluate.systems import system_for
from tasks.questions.question import Benchmark
from tasks.questions.splits import sample, split
from tests.question_measures import FOLDS, split_by_relation
from warehouse.home import Home

LIMIT = 2000
FEW = 500  # questions
REPORTED = (2, 3)
KEPT = ("hits@1", "em", "f1", "accuracy", "answered")
INTERVALS = ("hits@1", "em", "f1", "accuracy")
Figures = dict[str, Any]

RUNS: dict[str, dict[str, str]] = {
    "metaqa": {"metaqa": "metaqa"},
    "pathquestion": {
        "PQ-2H": "pathquestion/PQ-2H.txt.gz",
        "PQ-3H": "pathquestion/PQ-3H.txt.gz",
    },
    "nlpcc": {"nlpcc": "nlpcc"},
    "nlpcc-mh": {"nlpcc-mh": "nlpcc/mh"},
    "midtermqa": {
        "open-book": "midtermqa/openbook.json",
        "two choices": "midtermqa/binary.json",
        "four choices": "midtermqa/fourchoice.json",
    },
}
RELATION_RUNS = {
    "metaqa": RUNS["metaqa"],
    "pathquestion": {**RUNS["pathquestion"], "WC-P2": "pathquestion/WC-P2.txt.gz"},
    "nlpcc": RUNS["nlpcc"],
}


def measure(
    path: Path,
    format: str,
    limit: int | None,
    answers: Path | None,
    fold: int | None = None,
    *,
    alone: bool = False,
) -> Figures:
    """Return the figures of the programs and of the systems they are compared with.

    Programs measured `alone` are compared with nothing and learn from FEW questions. With a `fold`,
    no question that is learned from has a relation of it.
    """
    settings = Settings()
    how = Measurement(limit=limit, zero_shot=True, answers=answers)
    if fold is not None:
        divide = partial(split_by_relation, fold=fold)
        how = replace(how, divide=divide, baselines=("spe",))
    if alone:
        divide = partial(_few_to_learn_from, how.divide or split)
        how = replace(how, divide=divide, baselines=(), zero_shot=False)
    began, worked = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory(prefix="almanac-answers-") as folder:
        home = Home(Path(folder))
        system = system_for("programs", settings, home)
        found = evaluate(home, path, format, system, settings, how, _told)
    taken = time.perf_counter() - began
    return {
        "learned_from": found["learned_from"],
        **_kept(found),
        "beside": {one["system"]: _kept(one) for one in found["baselines"]},
        "seconds_in_all": round(taken, 1),
        "processor_seconds_in_all": round(time.process_time() - worked, 1),
    }


def _few_to_learn_from(divide: Callable[[Benchmark], Sides], benchmark: Benchmark) -> Sides:
    train, test = divide(benchmark)
    return sample(train, FEW), test


def _kept(system: Figures) -> Figures:
    """Return the figures of a system to keep, over all questions and per group."""
    kept = _part(system)
    by = {
        group: {value: _part(part) for value, part in parts.items()}
        for group, parts in system["by"].items()
        if len(parts) > 1
    }
    kept |= {"by": by} if by else {}
    kept |= {"stages": system["stages"]} if "stages" in system else {}
    return {**kept, "seconds": system["seconds"]}


def _part(part: Figures) -> Figures:
    kept = {"items": part["items"], "all": _measures(part["metrics"])}
    if 0 < part.get("items_exact", 0) < part["items"]:
        kept |= {"items_exact": part["items_exact"], "exact": _measures(part["metrics_exact"])}
    return kept


def _measures(metrics: dict[str, float]) -> Figures:
    kept: Figures = {name: metrics[name] for name in KEPT if name in metrics}
    for name in INTERVALS:
        if name in metrics:
            kept[f"{name} 95 %"] = [metrics[f"{name}_low"], metrics[f"{name}_high"]]
    return kept


def unseen_relations(name: str, folds: Sequence[int], limit: int, *, alone: bool) -> Figures:
    """Return the figures of questions whose relations were not learned, per run and fold.

    A data set of few relations has folds without questions, which are left out.
    """
    runs: Figures = {}
    for run, place in RELATION_RUNS[name].items():
        for fold in folds:
            figures = measure(DATA / place, name, limit, None, fold, alone=alone)
            if figures["items"]:
                runs.setdefault(run, {})[str(fold)] = figures
    means = {run: _means(list(by_fold.values())) for run, by_fold in runs.items()}
    return {"mean": means, "runs": runs}


def _means(folds: Sequence[Figures]) -> dict[str, float]:
    """Return the share of the questions of all folds that each system answers, by Hits@1."""
    systems = [{"programs": figures, **figures["beside"]} for figures in folds]
    items = sum(figures["items"] for figures in folds)
    shares = {
        name: sum(parts[name]["all"]["hits@1"] * parts[name]["items"] for parts in systems) / items
        for name in systems[0]
    }
    return {"items": items, **{name: round(share, 4) for name, share in shares.items()}}


_last: dict[str, float] = {}


def _told(stage: str, done: int, total: int) -> None:
    now = time.monotonic()
    if done == total or now - _last.setdefault(stage, now) > 10:
        _last[stage] = now
        seconds = time.process_time()
        print(f"{stage}: {done} of {total} ({seconds:.0f} s CPU)", file=sys.stderr, flush=True)


def main() -> None:
    """Measure a data set and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("name", choices=RUNS)
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="N", help="questions per run")
    parser.add_argument("--alone", action="store_true", help=f"learn from {FEW}, compare nothing")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="folder for the answers")
    parser.add_argument("--unseen-relations", action="store_true", help="split by relation")
    parser.add_argument("--folds", type=int, nargs="+", default=REPORTED, choices=range(FOLDS))
    arguments = parser.parse_args()
    if arguments.unseen_relations:
        if arguments.name not in RELATION_RUNS:
            parser.error(f"{arguments.name} is not split by relation.")
        figures = unseen_relations(
            arguments.name, arguments.folds, arguments.limit, alone=arguments.alone
        )
        report(f"answers-{arguments.name}-relations", figures)
        return
    runs: Figures = {}
    for run, place in RUNS[arguments.name].items():
        answers = arguments.out / f"{run}.jsonl" if arguments.out else None
        runs[run] = measure(
            DATA / place, arguments.name, arguments.limit, answers, alone=arguments.alone
        )
    report(f"answers-{arguments.name}", {"limit": arguments.limit, "runs": runs})


if __name__ == "__main__":
    run_command(main)
