"""What helps when a model answers with experts: CooK's figures 2 to 9 (arXiv 2305.09955).

    python -m benchmarks.experts_study QUESTIONS --format F --home HOME [--model NAME ...]

Works on any home with experts. Each --model (embedded, endpoint:NAME, or a local one; by default
the settings') answers the same questions alone, with one expert at a time, bottom-up and top-down
(`systems`), by the prompt baselines (`baselines`), with each filter off (`filters`), and with other
numbers of texts (`sweep`). Decisions tell whether a model knows when it needs more, how far
wordings of that question agree, which experts are chosen for which kind of question, and how
factual each expert is. What experts write is worked out once for all rows, and a prompt that a
model answered before is not sent again. Figures go to the home's table `evaluations`, with --keep
to `benchmarks/results/`, and with --out as Markdown with pictures to a folder.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import report as keep_results
from benchmarks.experts_study.configurations import GROUPS
from benchmarks.experts_study.measure import drawn, model_name, run_study, with_model
from benchmarks.experts_study.report import (
    SECTIONS,
    by_dataset,
    record_study,
    shown_table,
    study_tables,
    write_report,
)
from benchmarks.study_command import listed, run_as_command, study_parser
from flows import terminal
from flows.home import edition_of, settings_of
from tasks.progress import Report
from tasks.questions.formats import read_benchmark
from warehouse.disk_errors import warned_of_refusals
from warehouse.home import Home


def study_experts(arguments: argparse.Namespace, home: Home, report: Report) -> dict[str, Any]:
    """Return the tables of CooK's figures 2 to 9 by data set, and record them in the home.

    Raises UsageError if the edition has no experts, or for an unknown group or data set.
    """
    edition, settings = edition_of(home, None), settings_of(home)
    benchmark = read_benchmark(arguments.questions, arguments.format)
    questions = drawn(benchmark.questions, arguments.limit, arguments.dataset)
    of_models = [with_model(settings, name) for name in arguments.model] or [settings]
    with edition.pinned():
        groups = listed(arguments.only) or GROUPS
        rows = run_study(home, edition, questions, of_models, groups, report)
    record_study(home, benchmark.name, edition.id, rows, terminal.say)
    tables = {name: study_tables(part) for name, part in by_dataset(rows).items()}
    if arguments.out:
        with warned_of_refusals(arguments.out, "the report was not written.", terminal.say):
            write_report(arguments.out, f"Experts on {benchmark.name}", tables)
    return {
        "dataset": benchmark.name,
        "models": [model_name(each.engine) for each in of_models],
        "edition": edition.id,
        "tables": tables,
    }


def show(figures: dict[str, Any]) -> None:
    """Print the tables of each data set."""
    for dataset, tables in figures["tables"].items():
        for name, section in SECTIONS.items():
            columns, rows = shown_table(name, tables[name])
            if rows:
                terminal.show(f"{dataset}: {section.heading}. {section.words}")
                terminal.table(columns, rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, print its tables, and keep the figures if asked; return the exit code."""
    parser = study_parser(__doc__)
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME",
        help="embedded, endpoint:NAME, or a local model; several are compared",
    )
    parser.add_argument(
        "--dataset",
        action="append",
        default=[],
        metavar="NAME",
        help="only this data set of the questions; --limit counts in each",
    )
    parser.add_argument("--only", metavar="GROUPS", help=f"some of {','.join(GROUPS)}")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for the report and pictures")
    parser.add_argument("--keep", metavar="NAME", help="keep as results/experts-study-NAME.json")
    arguments = parser.parse_args(argv)

    def study(home: Home, report: Report) -> dict[str, Any]:
        found = study_experts(arguments, home, report)
        if arguments.keep:
            keep_results(f"experts-study-{arguments.keep}", found)
        return found

    return run_as_command(arguments, study, show)


if __name__ == "__main__":
    sys.exit(main())
