"""The tables of the four papers: the published figures, and beside them those measured here.

    python -m benchmarks.papers knowledgpt|cook|knowgpt|thrust NUMBER [--json]
    python -m benchmarks.papers PAPER NUMBER --run [--home HOME] [--model NAME] [--limit N] [--keep]

Without --run it prints what result files hold; nothing is asked. A row that nothing was measured
for says why. With --run the table is measured anew by the functions behind `almanac evaluate`, the
studies of arms and of knowledge, and the measurement of gates, so that whoever has a strong model
gets the same table with it: --model is smollm2 or another local model, embedded, or endpoint:NAME,
whose address and limits the home's settings give. Graphs beside questions are imported into an
empty home; experts and other graphs must be in the home. --questions and --format name questions
that are not among the benchmark data. --keep keeps the rows in benchmarks/results/papers.json.
"""

import tempfile
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

import orjson

from benchmarks.command import parser_of, report, results_folder, run_command
from benchmarks.papers.tables import (
    KEPT,
    PAPERS,
    Description,
    OwnRow,
    filled,
    kept_rows,
    shown,
    tables_of,
)
from flows import progress, terminal
from flows.home import home_in
from schemas.errors import UsageError

Rows = dict[str, list[OwnRow]]  # by the title of their table


def main() -> None:
    """Print a table, measured anew if asked."""
    parser = parser_of(__doc__, run=False, keep=False, json=False)
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument("number", type=int)
    parser.add_argument("--home", type=Path, metavar="DIR", help="(an empty one)")
    parser.add_argument("--model", metavar="NAME", help="that answers (the settings')")
    parser.add_argument("--limit", type=int, metavar="N", help="questions of each file (all)")
    parser.add_argument("--questions", type=Path, metavar="PATH", help="instead of the data")
    parser.add_argument("--format", metavar="NAME", help="of these questions")
    options = parser.parse_args()
    if bool(options.questions) != bool(options.format):
        parser.error("--questions and --format go together.")
    tables = tables_of(options.paper, options.number)
    if options.run:
        rows = measured_rows(options, tables)
    else:
        rows = {table["title"]: kept_rows(options.paper, table) for table in tables}
    found = [filled(table, rows[table["title"]]) for table in tables]
    if options.json:
        terminal.show_json(found)
    else:
        terminal.print_shown(part for table in found for part in shown(table))
    if options.run and options.keep:
        keep(f"{options.paper} {options.number}", rows)


def measured_rows(options: Namespace, tables: list[Description]) -> Rows:
    """Measure the rows of tables; UsageError says what to do if nothing can be measured."""
    from benchmarks.papers.measure import Asking, measured  # loads what only measurements need

    with tempfile.TemporaryDirectory(prefix="almanac-papers-") as folder, progress.shown() as told:
        home = home_in(options.home or Path(folder) / "home")
        questions = (options.questions, options.format)
        asking = Asking(home, options.model, options.limit, told, *questions)
        rows = {table["title"]: measured(table, asking) for table in tables}
    if not any(rows.values()):
        formats = {run.get("format") for table in tables for run in table.get("run", [])} - {None}
        commands = [table["command"] for table in tables if "command" in table]
        raise UsageError(
            "Nothing of this table is at hand. "
            + (f"Name questions with --questions PATH --format {min(formats)}. " if formats else "")
            + "".join(f"`{command}` measures its rows." for command in commands)
        )
    return rows


def keep(name: str, rows: Rows) -> None:
    """Put measured rows in the place of those kept under this name."""
    file = results_folder() / f"{KEPT}.json"
    kept = orjson.loads(file.read_bytes()) if file.exists() else {}
    others = {key: value for key, value in kept.items() if key.partition(" ")[0] in PAPERS}
    now = {title: [asdict(row) for row in some] for title, some in rows.items() if some}
    report(KEPT, {**others, name: now})


if __name__ == "__main__":
    run_command(main)
