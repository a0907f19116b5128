"""Bulk work on a Dask cluster beside one process: python -m benchmarks.cluster [--documents N].

Documents are paragraphs of 2WikiMultiHop, two or more a document. Each refresh of an empty home has
a process of its own, one after the other: in that process alone, and with one and two workers of a
local cluster, without vectors and with them. CPU time is that of the process (the driver) and of
its children; extraction's seconds begin with the first batch, so they include starting workers.

`--kills N` instead extracts by a mock endpoint on a cluster at an address; every five seconds one
of its two workers is killed and started anew, and after half of the kills its scheduler is. Tables
are compared with those of one process, and requests are counted that were answered and sent again.
"""

import argparse
import gzip
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from benchmarks.command import DATA, parser_of, report, run_command

WORDS = 60  # paragraphs are joined until a document has as many
KILL_SECONDS = 5.0
TIMES = ("read_at", "first_read_at", "extracted_at")
MODEL = "gpt-4.1-mini"


def write_documents(folder: Path, most: int) -> float:
    """Write documents as Markdown files; return their mean number of words."""
    with gzip.open(DATA / "multihop" / "2wiki_corpus.json.gz") as file:
        paragraphs = orjson.loads(file.read())
    title, texts, words, number = "", [], 0, 0
    for paragraph in paragraphs:
        title = title or paragraph["title"]
        texts.append(paragraph["text"])
        if sum(len(text.split()) for text in texts) < WORDS:
            continue
        text = "\n\n".join(texts)
        (folder / f"{number:05}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
        words, number, title, texts = words + len(text.split()), number + 1, "", []
        if number == most:
            break
    return words / number


def refreshed(source: Path, home: Path, settings: Any) -> dict[str, Any]:
    """Refresh a home; return seconds, by stage too, and the CPU seconds of driver and children."""
    from tasks.refresh import refresh
    from warehouse.home import Home

    started, before = time.perf_counter(), os.times()
    run = refresh(Home(home), [str(source)], settings)
    after = os.times()
    driver = after.user + after.system - before.user - before.system
    children = after.children_user + after.children_system
    children -= before.children_user + before.children_system
    return {
        "seconds": round(time.perf_counter() - started, 1),
        "extraction_seconds": run.seconds["extract"],
        "driver_cpu": round(driver, 2),
        "workers_cpu": round(children, 2),
        "driver_share": round(driver / (driver + children), 3),
        "by_stage": run.seconds,
    }


def apart(source: Path, workers: int, vectors: bool) -> dict[str, Any]:
    """Return the figures of a refresh in a process of its own; without workers, of one process."""
    words = [sys.executable, "-m", "benchmarks.cluster", "--source", str(source)]
    words += ["--workers", str(workers), *(["--vectors"] if vectors else [])]
    done = subprocess.run(words, capture_output=True, check=True)
    figures: dict[str, Any] = orjson.loads(done.stdout.splitlines()[-1])
    return figures


def compare(source: Path) -> dict[str, Any]:
    """Return the figures of all refreshes, and how they compare."""
    figures: dict[str, Any] = {}
    for vectors in (False, True):
        found = {workers: apart(source, workers, vectors) for workers in (0, 1, 2)}
        name = "seconds" if vectors else "extraction_seconds"
        figures["with vectors" if vectors else "without vectors"] = {
            "one process": found[0],
            "one worker": found[1],
            "two workers": found[2],
            "two workers, times as fast": round(found[0][name] / found[2][name], 2),
            "one worker, times as long": round(found[1][name] / found[0][name], 2),
        }
    return figures


class FragileCluster:
    """A scheduler and two workers as processes, which are killed while they work."""

    def __init__(self, kills: int) -> None:
        """Start all; the first worker is killed after KILL_SECONDS."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._most, self.kills, self.restarts = kills, 0, 0
        self._ended = threading.Event()
        self._scheduler = self._started("scheduler", "--port", str(self._port), "--no-dashboard")
        self._workers = [self._new_worker() for _ in range(2)]
        self._thread = threading.Thread(target=self._kill)
        self._thread.start()

    def end(self) -> None:
        """End all processes."""
        self._ended.set()
        self._thread.join()
        for process in (*self._workers, self._scheduler):
            _end(process)

    def _kill(self) -> None:
        while not self._ended.wait(KILL_SECONDS) and self.kills < self._most:
            number = self.kills % 2
            _end(self._workers[number])
            self.kills += 1
            if self.kills == self._most // 2:
                _end(self._scheduler)
                port = str(self._port)
                self._scheduler = self._started("scheduler", "--port", port, "--no-dashboard")
                self.restarts += 1
                _end(self._workers[1 - number])
                self._workers[1 - number] = self._new_worker()
            self._workers[number] = self._new_worker()

    def _new_worker(self) -> subprocess.Popen[bytes]:
        return self._started("worker", self.address, "--nthreads", "1", "--no-nanny")

    def _started(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def killed(source: Path, folder: Path, kills: int) -> dict[str, Any]:
    """Return what becomes of a refresh by an endpoint on a cluster that is killed all the time."""
    import schemas
    from schemas.settings import EngineSettings, ModelSettings, Settings
    from tests.mock_endpoint import running
    from warehouse.home import Home

    os.environ.setdefault("OPENAI_API_KEY", "sk-benchmark-0123456789")
    with running(folder / "calls.jsonl", latency=1.0) as endpoint:
        model = ModelSettings(name=MODEL, base_url=endpoint.base_url, concurrency=8)
        engine = EngineSettings(engine="openai", encoder="none", model=model)
        refreshed(source, folder / "alone", Settings(engine=engine, workers=1))
        before = len(endpoint.calls)
        cluster = FragileCluster(kills)
        try:
            on_cluster = Settings(engine=engine, runner="dask", dask_address=cluster.address)
            figures = refreshed(source, folder / "home", on_cluster)
        finally:
            cluster.end()
        calls = endpoint.calls[before:]
    one, other = (Home(folder / name).require_edition() for name in ("alone", "home"))
    known = {row for row in schemas.EDITION if _rows(one, row) != _rows(other, row)}
    answered = Counter(call.sha for call in calls if call.answered and not call.lost)
    return {
        **figures,
        "workers_killed": cluster.kills,
        "schedulers_restarted": cluster.restarts,
        "tables_that_differ": sorted(row.table for row in known),
        "calls_of_one_process": before,
        "calls": len(calls),
        "calls_answered_twice": sum(times > 1 for times in answered.values()),
    }


def _rows(edition: Any, row: Any) -> list[Any]:
    table = edition.table(row)
    kept = [name for name in table.column_names if name not in TIMES]
    return sorted(table.select(kept).to_pylist(), key=repr)


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument("--documents", type=int, default=1000, metavar="N")
    parser.add_argument("--kills", type=int, default=0, metavar="N", help="of workers (none)")
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--vectors", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-cluster-") as name:
        folder = Path(name)
        if arguments.source:
            one_refresh(arguments, folder)
            return
        source = folder / "documents"
        source.mkdir()
        words = write_documents(source, arguments.documents)
        about = {"documents": arguments.documents, "words_a_document": round(words)}
        if arguments.kills:
            report("cluster-killed", {**about, **killed(source, folder, arguments.kills)})
        else:
            report("cluster", {**about, **compare(source)})


def one_refresh(arguments: argparse.Namespace, folder: Path) -> None:
    """Refresh a new home, and print the figures."""
    from schemas.settings import EngineSettings, Settings

    engine = EngineSettings() if arguments.vectors else EngineSettings(encoder="none")
    where: dict[str, Any] = {"workers": arguments.workers, "runner": "dask"}
    settings = Settings(engine=engine, **(where if arguments.workers else {"workers": 1}))
    print(orjson.dumps(refreshed(arguments.source, folder / "home", settings)).decode())


if __name__ == "__main__":
    run_command(main)
