"""Kill refreshes at random points, resume them, and compare every row with an undisturbed run.

    python -m benchmarks.crash [--kills 200] [--documents 500] [--seed 1]

Each round starts from an empty home. Refreshes are killed (SIGKILL) at times drawn evenly over the
length of an undisturbed one, each resumed by the next, until one runs to its end; then its tables
are compared with the undisturbed run's. Rounds are repeated until `--kills` kills were made. Runs
are forked from a process that has loaded the models, so that the kills fall into the work.
"""

import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import schemas
from benchmarks.command import parser_of, report, run_command
from benchmarks.killed import drawn, left_in, play_rounds
from benchmarks.villages import write_corpus
from schemas.observations import Extraction
from schemas.operations import Run
from schemas.settings import EngineSettings, PublishSettings, Settings
from tasks.refresh import refresh
from warehouse.home import Home
from warehouse.live import latest

# When it was, not what it is: two undisturbed runs differ in these too.
TIMES = {"read_at", "extracted_at", "since", "edition", "parent"}


@dataclass
class Tally:
    """The results of the kills."""

    kills: int = 0
    rounds: int = 0
    different_rows: int = 0
    lost: int = 0
    duplicated: int = 0
    extracted_again: int = 0
    left_running: int = 0
    left_files: int = 0


def rows_of(home: Home) -> dict[str, Counter[str]]:
    """Return every row of every table of the current edition, without times."""
    edition = home.editions.current()
    assert edition is not None
    tables = {}
    for row in schemas.EDITION:
        table = edition.table(row)
        kept = table.select([name for name in table.column_names if name not in TIMES])
        tables[row.table] = Counter(map(str, kept.to_pylist()))
    return tables


def run_killed(home: Path, source: Path, settings: Settings, seconds: float | None) -> bool:
    """Fork a refresh and kill it after this many seconds; return whether it had ended by itself."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setsid()
            refresh(Home(home), [str(source)], settings)
            status = 0
        finally:
            os._exit(status)
    ended, deadline = 0, None if seconds is None else time.monotonic() + seconds
    while not ended:
        ended, status = os.waitpid(child, os.WNOHANG)
        if not ended and deadline is not None and time.monotonic() >= deadline:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.002)
    if status:
        raise RuntimeError("a refresh that nobody killed failed")
    return True


def torture(
    work: Path,
    *,
    kills: int,
    documents: int,
    seed: int,
    settings: Settings,
    after_run: Callable[[Path], None] = lambda home: None,
) -> Tally:
    """Kill this many runs and return the results; check the home after every run."""
    source = work / "corpus"
    write_corpus(source, documents, seed)
    _warm_up(work, settings)
    started = time.monotonic()
    run_killed(work / "undisturbed", source, settings, None)
    length = time.monotonic() - started
    after_run(work / "undisturbed")
    wanted = rows_of(Home(work / "undisturbed"))
    tally, chance = Tally(), random.Random(seed)

    def run(home: Path, may_be_killed: bool) -> bool:
        nonlocal length
        is_new, started = not home.exists(), time.monotonic()
        ended = run_killed(home, source, settings, drawn(chance, length, may_be_killed))
        if is_new and ended:  # on a machine that is less busy by now, most kills would be late
            length = time.monotonic() - started
        after_run(home)
        return ended

    play_rounds(work, tally, kills, run, lambda home: _compare(Home(home), wanted, tally))
    return tally


def _warm_up(work: Path, settings: Settings) -> None:
    """Load the models before the forks, on a corpus of their own."""
    write_corpus(work / "small", 10, seed=99)
    refresh(Home(work / "warm"), [str(work / "small")], settings)


def _compare(home: Home, wanted: dict[str, Counter[str]], tally: Tally) -> None:
    found = rows_of(home)
    for table, rows in wanted.items():
        tally.lost += (rows - found[table]).total()
        tally.duplicated += sum(n - 1 for n in found[table].values() if n > 1)
        tally.different_rows += (found[table] - rows).total()
    tries = Counter(home.journal.table(Extraction)["passage_id"].to_pylist())
    tally.extracted_again += sum(n - 1 for n in tries.values())
    runs = latest(home.live, Run).to_pylist()
    tally.left_running += sum(run["outcome"] == "running" for run in runs)
    tally.left_files += left_in(home.path, "*.tmp", ".spill-*", ".building-*")


def figures_of(tally: Tally, documents: int) -> dict[str, Any]:
    """Return the results of the kills under the names that the documents use."""
    return {
        "kills": tally.kills,
        "documents": documents,
        "rounds": tally.rounds,
        "lost_rows": tally.lost,
        "duplicated_rows": tally.duplicated,
        "different_rows": tally.different_rows,
        "passages_extracted_again": tally.extracted_again,
        "runs_left_running": tally.left_running,
        "files_left": tally.left_files,
    }


def is_faulty(tally: Tally) -> bool:
    """Return whether the kills lost, doubled, changed or left anything."""
    rows = tally.lost + tally.duplicated + tally.different_rows
    return bool(rows + tally.left_running + tally.left_files)


def main() -> bool:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__, kills=200, documents=500, seed=1)
    parser.add_argument("--vectors", action="store_true", help="compute vectors, too")
    arguments = parser.parse_args()
    encoder = "minilm" if arguments.vectors else "none"
    publish = PublishSettings(compact_after=1)  # each run compacts, so that kills fall there, too
    settings = Settings(engine=EngineSettings(encoder=encoder), publish=publish, workers=1)
    with tempfile.TemporaryDirectory(prefix="almanac-crash-") as work:
        tally = torture(
            Path(work),
            kills=arguments.kills,
            documents=arguments.documents,
            seed=arguments.seed,
            settings=settings,
        )
    report("crash", figures_of(tally, arguments.documents))
    return is_faulty(tally)


if __name__ == "__main__":
    run_command(main)
