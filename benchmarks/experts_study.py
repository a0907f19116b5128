"""What helps when a model answers with experts, kept as a result: CooK's figures 2 to 9.

    python -m benchmarks.experts_study QUESTIONS --format F --home HOME [--model NAME ...]

It is `almanac evaluate QUESTIONS --format F --study` (arXiv 2305.09955).
Works on any home with experts. Each --model (embedded, endpoint:NAME, or a local one; by default
the settings') answers the same questions alone, with one expert at a time, bottom-up and top-down
(`systems`), by the prompt baselines (`baselines`), with each filter off (`filters`), and with other
numbers of texts (`sweep`). Decisions tell whether a model knows when it needs more, how far
wordings of that question agree, which experts are chosen for which kind of question, and how
factual each expert is. What experts write is worked out once for all rows, and a prompt that a
model answered before is not sent again. Figures go to the home's table `evaluations`, to
`benchmarks/results/`, and with --out as Markdown with pictures to a folder.
"""

import argparse
import sys
from pathlib import Path

import orjson

from benchmarks.results_file import write_results
from flows.home import edition_of, settings_of
from tasks.evaluate.experts_study.configurations import GROUPS
from tasks.evaluate.experts_study.study import Study, study_experts
from warehouse.home import Home


def _show(what: str, done: int, total: int) -> None:
    print(f"{done} of {total}: {what}", file=sys.stderr, flush=True)


def _warn(words: str) -> None:
    print(words, file=sys.stderr)


def main() -> None:
    """Run the study and write its results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path, metavar="QUESTIONS", help="a file or folder")
    parser.add_argument("--format", required=True, metavar="NAME", help="as for evaluate")
    parser.add_argument("--home", type=Path, required=True, metavar="HOME", help="with experts")
    parser.add_argument(
        "--model",
        action="append",
        metavar="NAME",
        help="embedded, endpoint:NAME, or a local model; several are compared",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="questions of each data set")
    parser.add_argument(
        "--dataset", action="append", metavar="NAME", help="only this data set of the questions"
    )
    parser.add_argument("--only", metavar="GROUPS", help=f"some of {','.join(GROUPS)}")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for the report and pictures")
    parser.add_argument("--name", metavar="NAME", help="of the results (the questions' folder)")
    arguments = parser.parse_args()
    home = Home(arguments.home)
    groups = arguments.only.split(",") if arguments.only else GROUPS
    models, datasets = arguments.model or (), arguments.dataset or ()
    study = Study(models, groups, datasets, arguments.limit, arguments.out)
    found = study_experts(
        *(home, edition_of(home, None), arguments.questions, arguments.format),
        *(study, settings_of(home), _show, _warn),
    )
    print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    command = " ".join(
        [
            f"python -m benchmarks.experts_study QUESTIONS --format {arguments.format} --home HOME",
            *(f"--model {name}" for name in arguments.model or ()),
            *(f"--dataset '{name}'" for name in arguments.dataset or ()),
            *([f"--limit {arguments.limit}"] if arguments.limit else []),
            *([f"--only {arguments.only}"] if arguments.only else []),
        ]
    )
    name = arguments.name or arguments.questions.name.partition(".")[0]
    write_results(f"experts-study-{name}", command, found)


if __name__ == "__main__":
    main()
