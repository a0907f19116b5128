"""Bulk ingestion: a corpus through a whole refresh, beside parsing its text alone.

    python -m benchmarks.bulk [--workers 2] [--corpus factbook|prose] [--part europe]

The Factbook is mostly lines of labels and values, which the engine reads without parsing them;
`--corpus prose` measures the same on 6,119 encyclopaedic paragraphs, all of which are parsed.
Parsing alone is spaCy's `pipe` over the same passages with the same pipeline in as many processes.
The refresh reads, splits, extracts, resolves, builds and publishes, without vectors. Both run in
processes of their own, one after the other, parsing before and after the refresh; memory is the sum
over a run's processes, sampled five times a second.
"""

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
import psutil

from benchmarks.command import DATA, parser_of, report, run_command


def passages(source: Path) -> list[str]:
    """Return the passages that a refresh of the source would parse."""
    from schemas.settings import ReadSettings
    from tasks.ingest.formats.inputs import ReadText
    from tasks.ingest.formats.likeness import content_id
    from tasks.ingest.formats.read import read_item
    from tasks.ingest.formats.sources import scan
    from tasks.ingest.split import split

    settings, texts = ReadSettings(), []
    for item in scan(str(source)).items:
        for read in read_item(item, settings):
            if isinstance(read, ReadText):
                identity = content_id(read.title, read.text)
                budget = settings.passage_tokens
                passages = split(identity, read.title, read.text, read.language, budget)
                texts += [passage["text"] for passage in passages]
    return texts


def parse(source: Path, workers: int) -> dict[str, Any]:
    """Parse the source's passages and nothing else; return words and seconds."""
    from tasks.extract.english_pipeline.load import load_english

    texts = passages(source)
    nlp = load_english()
    started, cpu = time.perf_counter(), _cpu_seconds()
    tokens = sum(len(doc) for doc in nlp.pipe(texts, batch_size=64, n_process=workers))
    return {
        "passages": len(texts),
        "words": sum(len(text.split()) for text in texts),
        "tokens": tokens,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": _cpu_seconds() - cpu,
    }


def whole_refresh(source: Path, workers: int) -> dict[str, Any]:
    """Refresh an empty home from the source; return seconds and counts by stage."""
    from schemas.settings import EngineSettings, Settings
    from tasks.refresh import refresh
    from warehouse.home import Home

    with tempfile.TemporaryDirectory(prefix="almanac-bulk-") as home:
        settings = Settings(engine=EngineSettings(encoder="none"), workers=workers)
        started, cpu = time.perf_counter(), _cpu_seconds()
        run = refresh(Home(Path(home)), [str(source)], settings)
        return {
            "seconds": time.perf_counter() - started,
            "cpu_seconds": _cpu_seconds() - cpu,
            "by_stage": run.seconds,
            "counts": run.counts,
        }


def _cpu_seconds() -> float:
    """Return the processor time of this process and of its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measured(what: str, source: Path, workers: int) -> dict[str, Any]:
    """Run one measurement in its own process and watch its memory."""
    command = [sys.executable, "-m", "benchmarks.bulk", "--only", what, "--source", str(source)]
    process = subprocess.Popen([*command, "--workers", str(workers)], stdout=subprocess.PIPE)
    peak, watched = 0, psutil.Process(process.pid)
    while process.poll() is None:
        peak = max(peak, _memory(watched))
        time.sleep(0.2)
    assert process.stdout is not None
    figures: dict[str, Any] = orjson.loads(process.stdout.read().splitlines()[-1])
    return {**figures, "peak_mib": peak >> 20}


def _memory(process: psutil.Process) -> int:
    """Return the memory of a process and its children, shared pages counted once (PSS)."""
    total = 0
    try:
        for one in [process, *process.children(recursive=True)]:
            total += one.memory_full_info().pss
    except psutil.Error:
        pass  # one of them ended while it was being looked at; the next sample counts
    return total


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__, workers=2)
    parser.add_argument("--corpus", choices=["factbook", "prose"], default="factbook")
    parser.add_argument("--part", default="", help="one region of the Factbook")
    parser.add_argument("--limit", type=int, metavar="N", help="paragraphs of prose (all)")
    parser.add_argument("--only", choices=["parse", "refresh"], help=argparse.SUPPRESS)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        work = parse if arguments.only == "parse" else whole_refresh
        print(orjson.dumps(work(arguments.source, arguments.workers)).decode())
        return
    with tempfile.TemporaryDirectory(prefix="almanac-bulk-") as folder:
        source = DATA / "factbook" / arguments.part
        if arguments.corpus == "prose":
            source = write_prose(Path(folder), arguments.limit)
        compare(arguments, source)


def write_prose(folder: Path, most: int | None) -> Path:
    """Write the paragraphs of 2WikiMultiHop, or `most` of them, as a file of records."""
    with gzip.open(DATA / "multihop" / "2wiki_corpus.json.gz") as file:
        paragraphs = orjson.loads(file.read())
    path = folder / "prose.jsonl"
    lines = [orjson.dumps(paragraph) + b"\n" for paragraph in paragraphs[:most]]
    path.write_bytes(b"".join(lines))
    return path


def compare(arguments: argparse.Namespace, source: Path) -> None:
    """Measure parsing, the refresh, and parsing again; write the figures."""
    before = measured("parse", source, arguments.workers)
    refreshed = measured("refresh", source, arguments.workers)
    after = measured("parse", source, arguments.workers)
    parsing = {key: (before[key] + after[key]) / 2 for key in ("seconds", "cpu_seconds")}
    figures = {
        "words": before["words"],
        "passages": before["passages"],
        "workers": arguments.workers,
        "parsing_seconds": round(parsing["seconds"], 1),
        "refresh_seconds": round(refreshed["seconds"], 1),
        "refresh_over_parsing": round(refreshed["seconds"] / parsing["seconds"], 2),
        "refresh_over_parsing_cpu": round(refreshed["cpu_seconds"] / parsing["cpu_seconds"], 2),
        "words_a_second_parsing": round(before["words"] / parsing["seconds"]),
        "words_a_second_refresh": round(before["words"] / refreshed["seconds"]),
        "peak_mib_parsing": before["peak_mib"],
        "peak_mib_refresh": refreshed["peak_mib"],
        "by_stage": refreshed["by_stage"],
        "rows": refreshed["counts"]["edition"],
    }
    report(f"bulk-{arguments.corpus}", figures)


if __name__ == "__main__":
    run_command(main)
