"""What a change costs: processor seconds of whole commands, beside a whole build in the same run.

    python -m benchmarks.one_change [--documents 1000 3000 10000] [--no-vectors]

A made-up corpus is refreshed; then one document, then one in a hundred gets another sentence, then
a sentence is remembered. At last the newest edition is built once more from the journal alone,
without editions to build upon: the whole build to which the others are compared, and whose tables
must have the same rows.
"""

import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import schemas
from benchmarks.command import parser_of, report, run_command
from benchmarks.crash import rows_of
from benchmarks.made_up_news import write_corpus
from benchmarks.startup import almanac, processor_seconds
from warehouse.home import Home

SENTENCE = "Wilhelmina Aldershot founded the Quillham Observatory in {}."
NOT_COMPARED = {schemas.Change.table, schemas.EntityRedirect.table}  # they name the parent edition
WITHOUT_VECTORS = ("--set", "engine.encoder=none", "--set", "engine.chinese_encoder=none")


def cost(home: Path, *words: str) -> float:
    """Return the processor seconds of a command."""
    before = processor_seconds()
    almanac(home, *words)
    return round(processor_seconds() - before, 2)


def change(files: list[Path]) -> None:
    """Give each file another sentence."""
    for number, path in enumerate(files):
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}\n{SENTENCE.format(1700 + number)}\n", encoding="utf-8")


def measured(work: Path, documents: int, settings: tuple[str, ...]) -> dict[str, Any]:
    """Return the seconds of each kind of change for a corpus of this size."""
    source, home, anew = work / "corpus", work / "home", work / "anew"
    write_corpus(source, documents)
    refresh = ("refresh", str(source), *settings)
    files = sorted(path for path in source.rglob("*") if path.is_file())
    figures: dict[str, Any] = {"documents": documents, "from_nothing": cost(home, *refresh)}
    change(files[:1])
    figures["one_changed"] = cost(home, *refresh)
    change(files[1 : 1 + max(1, documents // 100)])
    figures["one_percent_changed"] = cost(home, *refresh)
    figures["remember"] = cost(home, "remember", SENTENCE.format(1900), *settings)
    figures["nothing_changed"] = cost(home, *refresh)
    shutil.copytree(home, anew, ignore=shutil.ignore_patterns("editions", "derived", "current"))
    figures["whole_build"] = cost(anew, *refresh)
    for kind in ("one_changed", "one_percent_changed", "remember"):
        figures[f"{kind}_over_whole_build"] = round(figures[kind] / figures["whole_build"], 3)
    figures["different_rows"] = different_rows(home, anew)
    return figures


def different_rows(one: Path, other: Path) -> int:
    """Return how many rows of two homes' current editions are in only one of them."""
    tables, others = rows_of(Home(one)), rows_of(Home(other))
    different: Counter[str] = Counter()
    for name in tables.keys() - NOT_COMPARED:
        different += (tables[name] - others[name]) + (others[name] - tables[name])
    return different.total()


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument(
        "--documents", type=int, nargs="+", default=[1_000, 3_000, 10_000], metavar="N"
    )
    parser.add_argument("--no-vectors", action="store_true", help="measure without encoders")
    arguments: argparse.Namespace = parser.parse_args()
    settings = WITHOUT_VECTORS if arguments.no_vectors else ()
    runs = []
    for documents in arguments.documents:
        with tempfile.TemporaryDirectory(prefix="almanac-one-change-") as work:
            runs.append(measured(Path(work), documents, settings))
    report("one-change", {"runs": runs})


if __name__ == "__main__":
    run_command(main)
