"""How processor time, memory and disk grow with the corpus, stage by stage.

    python -m benchmarks.growth [--documents 1000 3000 10000]

A home is refreshed from nothing, in one process, from made-up news (`benchmarks.made_up_news`);
each size has a process of its own. Work that a refresh does in threads beside each other is done
one after the other here, so that each second belongs to one stage. Memory is the largest that the
process has in a stage, shared libraries and models included. An exponent of 1 means that a document
costs the same in a corpus of any size.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import orjson

from benchmarks.command import parser_of, report, results_folder, run_command
from benchmarks.made_up_news import write_corpus

STAGES = ("read", "split", "extract", "resolve", "vectors", "build", "index", "publish")
NAME = "growth"
_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class Stages:
    """Charges processor time and peak memory to the innermost stage that is running."""

    def __init__(self) -> None:
        self.figures: dict[str, dict[str, float]] = {}
        self._running, self._since = ["start"], time.process_time()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Charge what happens meanwhile to a stage."""
        self._charge()
        self._running.append(name)
        try:
            yield
        finally:
            self._charge()
            self._running.pop()

    def within(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose work is charged to a stage."""

        def charged(*values: Any, **named: Any) -> Any:
            with self.stage(name):
                return work(*values, **named)

        return charged

    def _charge(self) -> None:
        now = time.process_time()
        figures = self.figures.setdefault(self._running[-1], {"cpu_seconds": 0.0, "peak_mib": 0})
        figures["cpu_seconds"] += now - self._since
        figures["peak_mib"] = max(figures["peak_mib"], _peak_mib())
        self._since = now
        _CLEAR.write_text("5")  # the peak is counted anew


def _peak_mib() -> int:
    [line] = [row for row in _STATUS.read_text().splitlines() if row.startswith("VmHWM")]
    return int(line.split()[1]) >> 10


class _OneAfterTheOther(Executor):
    """Does each task at once."""

    def __init__(self, *_: Any) -> None:
        """Take no threads."""

    def submit(self, task: Any, /, *values: Any, **named: Any) -> Future[Any]:
        """Return the result of a task."""
        done: Future[Any] = Future()
        done.set_result(task(*values, **named))
        return done


def measure(documents: int) -> dict[str, Any]:
    """Refresh a new home from this many documents; return figures by stage."""
    import tasks.graphs.build
    import tasks.publish.build
    import tasks.publish.publish
    import tasks.publish.resolve.entities
    import tasks.retrieval.index
    from schemas.settings import Settings
    from tasks.models.encoders.store import VectorStore
    from tasks.refresh import refresh
    from warehouse.home import Home

    stages = Stages()

    def run_stage(name: str, work: Callable[[], None]) -> None:
        with stages.stage(name):
            work()

    with tempfile.TemporaryDirectory(prefix="almanac-growth-") as name, ExitStack() as patches:
        corpus, home = Path(name) / "corpus", Home(Path(name) / "home")
        words = write_corpus(corpus, documents)
        for module in (tasks.publish.build, tasks.retrieval.index, tasks.graphs.build):
            patches.enter_context(patch.object(module, "ThreadPoolExecutor", _OneAfterTheOther))
        for owner, function, stage in (
            (tasks.publish.resolve.entities, "resolve", "resolve"),
            (tasks.publish.publish, "build_index", "index"),
            (VectorStore, "encode", "vectors"),
        ):
            work = stages.within(stage, getattr(owner, function))
            patches.enter_context(patch.object(owner, function, work))
        with stages.stage("between"):
            run = refresh(home, [str(corpus)], Settings(workers=1), run_stage=run_stage)
        folders = {"journal": home.path / "journal", "edition": home.path / "editions"}
        return {
            "documents": documents,
            "words": words,
            "stages": {name: _rounded(stages.figures[name]) for name in STAGES},
            "bytes": {name: _size(folder) for name, folder in folders.items()},
            "rows": run.counts["edition"],
        }


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in figures.items()}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the whole's figures for each size, and what the largest two sizes cost a document."""
    for run in runs:
        figures = run["stages"].values()
        run["cpu_seconds"] = round(sum(stage["cpu_seconds"] for stage in figures), 1)
        run["peak_mib"] = max(stage["peak_mib"] for stage in figures)
    if len(runs) < 2:
        return {}
    smaller, larger = runs[-2:]
    more = larger["documents"] - smaller["documents"]
    return {
        "exponents": {
            **{stage: _exponent(runs, [run["stages"][stage]["cpu_seconds"] for run in runs])
               for stage in STAGES},
            "all": _exponent(runs, [run["cpu_seconds"] for run in runs]),
            "bytes": _exponent(runs, [sum(run["bytes"].values()) for run in runs]),
        },
        "a_document": {
            "kib_of_memory": round((larger["peak_mib"] - smaller["peak_mib"]) * 1024 / more, 1),
            "cpu_ms": round(1000 * (larger["cpu_seconds"] - smaller["cpu_seconds"]) / more, 1),
            "bytes": round(
                (sum(larger["bytes"].values()) - sum(smaller["bytes"].values())) / more
            ),
        },
    }  # fmt: skip


def _exponent(runs: list[dict[str, Any]], figures: list[float]) -> float:
    """Return the slope of a figure's logarithm over that of the number of documents."""
    sizes = np.log([run["documents"] for run in runs])
    return round(float(np.polyfit(sizes, np.log(np.maximum(figures, 0.01)), 1)[0]), 2)


def draw(path: Path, runs: list[dict[str, Any]]) -> None:
    """Draw processor time and peak memory of each stage over the number of documents."""
    from tasks.evaluate.pictures import finish, make_panels, style

    figure, [[time_panel], [memory_panel]] = make_panels(2, 1, "documents")
    sizes = [run["documents"] for run in runs]
    for place, stage in enumerate(STAGES):
        for panel, measure_of in ((time_panel, "cpu_seconds"), (memory_panel, "peak_mib")):
            values = [max(run["stages"][stage][measure_of], 0.01) for run in runs]
            panel.plot(sizes, values, "o-", label=stage, color=style(place)["color"])
    for panel, label in ((time_panel, "processor seconds"), (memory_panel, "peak memory, MiB")):
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_ylabel(label)
    figure.suptitle("A refresh from nothing, by stage")
    finish(figure, time_panel, path)


def _in_a_process(documents: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.growth", "--only", str(documents)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    figures: dict[str, Any] = orjson.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Measure each size and write the results and the picture."""
    parser = parser_of(__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[1_000, 3_000, 10_000])
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(orjson.dumps(measure(arguments.only)).decode())
        return
    runs = [_in_a_process(documents) for documents in sorted(arguments.documents)]
    report(NAME, {"runs": runs, **summary(runs)})
    draw(results_folder() / f"{NAME}.svg", runs)


if __name__ == "__main__":
    run_command(main)
