"""Knowledge update: what an expert answers before and after it is trained on newer facts.

    python -m benchmarks.knowledge_update [--minutes 20] [--keep FOLDER]

CooK's third task (arXiv 2305.09955), as a user would do it. Into an empty home the 117th Congress
is imported from the folder `congress` beside the questions, and `train-experts congress --all-texts
--minutes 20` trains an expert on it. The expert alone, with no knowledge base, no passages and no
answering model, writes the likeliest answer to each open MidtermQA question. Then the 118th
Congress with its results of 2022 is imported over it, and the same is done again.
`em_changed_seats` is of the questions whose answer did not hold the seat before,
`em_unchanged_seats` of the others about seats. A training may take `--minutes`. `--keep` keeps the
home; what is there is not trained again.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from benchmarks.command import DATA, parser_of, report, run_command
from schemas.knowledge import Triple
from schemas.learning import Expert
from schemas.settings import EngineSettings, Settings
from tasks.experts.knowledge import question_prompt
from tasks.experts.pool import ExpertPool
from tasks.experts.registry import active_experts
from tasks.experts.training.plan import TrainingPlan
from tasks.import_graph import import_graph
from tasks.questions.formats.midtermqa import read_midtermqa
from tasks.questions.normalise import bare_words
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import split
from tasks.train_experts import change_expert, train_experts
from tests.question_measures import exact, seat_of
from warehouse.editions import Edition
from warehouse.home import Home

MAPPINGS = Path(__file__).resolve().parents[1] / "examples" / "mappings"
GRAPH = "congress"
CONGRESSES = {"before": "congress-117", "after": "congress"}
SETTINGS = Settings(engine=EngineSettings(encoder="none"))
ANSWER_TOKENS = 24
IN_NO_FILE = "governor"


def current(home: Home) -> Edition:
    """Return the home's current edition."""
    edition = home.editions.current()
    assert edition is not None
    return edition


def take_up(home: Home, source: Path, mapping: str) -> None:
    """Import a Congress as the graph of that name, in place of an earlier one."""
    import_graph(home, source, SETTINGS, name=GRAPH, mapping=MAPPINGS / f"{mapping}.yaml")


def trained(home: Home, plan: TrainingPlan) -> dict[str, Any]:
    """Train the expert on its graph as it is now; return the figures of the training."""
    stale = [row["stale"] for row in current(home).table(Expert).to_pylist()]
    clock, processor = time.perf_counter(), time.process_time()
    _, [expert] = train_experts(home, [GRAPH], SETTINGS, plan=plan, report=show)
    change_expert(home, GRAPH, "restore", SETTINGS)  # it is asked here even if it knows little
    return {
        "stale_until_then": stale,
        "plan": plan.model_dump(),
        **{name: expert[name] for name in ("texts", "parameters", "tokens", "loss", "ended")},
        "seconds": round(time.perf_counter() - clock),
        "processor_seconds": round(time.process_time() - processor),
    }


def answer(pool: ExpertPool, expert: str, questions: Sequence[BenchmarkQuestion]) -> list[str]:
    """Return what an expert alone writes after each question."""
    prompts = [question_prompt(question.question, "en") for question in questions]
    written = pool.write(expert, prompts, max_new_tokens=ANSWER_TOKENS, temperature=0)
    return [text.partition("\n")[0] for [text] in written]


def seat_holders(home: Home) -> dict[str, set[str]]:
    """Return who holds each seat according to the graph, names as answers are compared."""
    holders: dict[str, set[str]] = {}
    for row in current(home).table(Triple).to_pylist():
        if row["relation"] in ("representative", "senator"):
            holders.setdefault(row["head"], set()).add(bare_words(row["tail"]))
    return holders


def is_changed(question: BenchmarkQuestion, holders: dict[str, set[str]]) -> bool:
    """Return whether the answer did not hold the seat that the question is about."""
    return bare_words(question.answers[0]) not in holders.get(seat_of(question, holders), ())


def measure(path: Path, minutes: float, folder: Path) -> dict[str, Any]:
    """Train and ask the expert, update the graph, train and ask it again; return all figures."""
    benchmark = read_midtermqa(path)
    _, questions = split(benchmark)
    questions = [question for question in questions if not question.choices]
    home = Home(folder)
    plan = TrainingPlan(minutes=minutes, all_texts=True)
    states: dict[str, dict[str, Any]] = {}
    for when, mapping in CONGRESSES.items():
        noted = folder / f"{when}.json"
        if not noted.exists():
            take_up(home, benchmark.graphs[0].source, mapping)
            listed = {seat: sorted(names) for seat, names in seat_holders(home).items()}
            training = trained(home, plan)
            pool = ExpertPool(active_experts(home, current(home)))
            texts = answer(pool, GRAPH, questions)
            state = {"holders": listed, "training": training, "texts": texts}
            noted.write_bytes(orjson.dumps(state, option=orjson.OPT_INDENT_2))
        states[when] = orjson.loads(noted.read_bytes())
    holders = {seat: set(names) for seat, names in states["before"]["holders"].items()}
    seats = [n for n, question in enumerate(questions) if question.kind != IN_NO_FILE]
    changed = [n for n in seats if is_changed(questions[n], holders)]
    unchanged = sorted({*seats} - {*changed})
    whole = {when: exact(questions, state["texts"]) for when, state in states.items()}

    def on(places: Sequence[int]) -> dict[str, Any]:
        """Return the exact matches before and after on some of the questions."""
        chosen = [questions[n] for n in places]
        scores = {
            when: exact(chosen, [s["texts"][n] for n in places]) for when, s in states.items()
        }
        return {**{when: score["em"] for when, score in scores.items()}, "questions": len(places)}

    return {
        "minutes": minutes,
        "em_before": whole["before"]["em"],
        "em_after": whole["after"]["em"],
        "em_changed_seats": on(changed),
        "em_unchanged_seats": on(unchanged),
        "bounded_by": {
            "questions": len(questions),
            "about_governors_who_are_in_no_file": len(questions) - len(seats),
            "wrong_labels": sum(q.exact is False for q in questions),
        },
        **whole,
        "training": {when: state["training"] for when, state in states.items()},
    }


_last = [0.0]


def show(stage: str, done: int, total: int) -> None:
    """Tell how far a training is, now and then."""
    if done == total or time.monotonic() - _last[0] > 30:
        _last[0] = time.monotonic()
        used = time.process_time()
        print(f"{stage}: {done} of {total} ({used:.0f} s CPU)", file=sys.stderr, flush=True)


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--questions", type=Path, default=DATA / "midtermqa", metavar="FOLDER")
    parser.add_argument("--minutes", type=float, default=20.0, help="per training (20)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the home here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-update-") as temporary:
        folder = arguments.keep or Path(temporary)
        found = measure(arguments.questions, arguments.minutes, folder)
    report("knowledge-update", found)


if __name__ == "__main__":
    run_command(main)
