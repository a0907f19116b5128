"""How long `ask` takes at size, one question after another, with everything loaded.

    python -m benchmarks.asking [--homes FOLDER] [--copies 1 3]

The paragraphs of three sets of questions over several hops are refreshed into a home (kept in
--homes, made once). Larger homes are made of it: its rows stand there several times, the copies
under ids of their own and with other vowels in capitalised words, so that indexes and tables grow
and the right passages stay. `cold` is a first question after the file cache was emptied, where that
is allowed, in a process of its own. Processor time is that of all threads, and says more on a busy
machine; that of a stage counts all its calls for a question.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as pq

import schemas
from benchmarks.command import parser_of, report, run_command
from benchmarks.retrieval import SETS, corpus, questions
from benchmarks.startup import empty_file_cache, processor_seconds
from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.ask.documents import Documents
from tasks.models.encoders.minilm import MiniLM
from tasks.models.span_reader.reader import TrainedReader
from tasks.reader import reading
from tasks.reader.passage_reader import PassageReader
from tasks.refresh import refresh
from tasks.retrieval.index import build_index
from tasks.retrieval.passage_graph import Walker
from tasks.retrieval.search import Searcher, open_vectors
from tasks.retrieval.words import WordIndex
from warehouse.derivation import build_database
from warehouse.editions import Edition
from warehouse.home import Home

ASKED, WARMING = 40, 5  # questions that are timed, after some that are not
COPIED = (
    schemas.Document, schemas.Passage, schemas.Entity, schemas.Alias, schemas.Triple,
    schemas.Statement, schemas.Clause, schemas.Mention, schemas.Description, schemas.Aspect,
    schemas.EntityPassage,
)  # fmt: skip
# What is timed; a stage includes those that it calls.
STAGES: dict[str, tuple[Any, str]] = {
    "encoding": (MiniLM, "encode"),
    "words": (WordIndex, "search"),
    "likeness": (Searcher, "scores"),
    "walk": (Walker, "walk"),
    "names in the question": (Searcher, "link"),
    "names in texts": (Searcher, "names_in"),
    "model": (TrainedReader, "read"),
    "first texts": (PassageReader, "near"),
    "second texts": (reading, "texts_beyond"),
    "sources": (Documents, "completed"),
}
assert all(hasattr(owner, name) for owner, name in STAGES.values())
_CAPITALISED = re.compile(r"\b[A-Z][a-z]{3,}\b")


def base_home(folder: Path, most: int | None) -> Home:
    """Return the home of all three corpora, or of `most` texts, refreshing it the first time."""
    home = Home(folder / "copies-1")
    if not home.exists:
        folder.mkdir(parents=True, exist_ok=True)
        texts = dict.fromkeys(text for name in SETS for text in corpus(name))
        lines = [json.dumps({"title": title, "text": text}) for title, text in [*texts][:most]]
        source = folder / "paragraphs.jsonl"
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        refresh(home, [str(source)], Settings())
    return home


def enlarged_home(folder: Path, base: Edition, copies: int) -> Home:
    """Return a home whose edition has the rows of another one several times, made once."""
    home = Home(folder / f"copies-{copies}")
    if home.exists:
        return home
    building = home.editions.begin(f"{copies:08x}")
    for row in schemas.EDITION:
        table = base.table(row)
        if row in COPIED:
            rows = [_renamed(one, number) for number in range(copies) for one in table.to_pylist()]
            table = row.to_table(rows)
        pq.write_table(table, building.folder / f"{row.table}.parquet")
    shutil.copytree(base.path / "graphs", building.folder / "graphs")
    build_database(building.folder)
    build_index(building.folder, None)
    _copy_vectors(base, building.folder / "search", copies)
    home.editions.publish(home.editions.seal(building, {}))
    return home


def _renamed(row: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a copy of a row; that with number 0 is the row itself."""

    def renamed(column: str, value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(column, one) for one in value]
        if not number or not isinstance(value, str) or column == "graph":
            return value
        if column.endswith(("_id", "_ids")):
            return f"{value}-{number}"
        return _CAPITALISED.sub(lambda match: _with_other_vowels(match[0], number), value)

    return {column: renamed(column, value) for column, value in row.items()}


def _with_other_vowels(word: str, number: int) -> str:
    step = sum(map(ord, word)) * 7 + number * 13
    moved = "aeiou"[step % 5 :] + "aeiou"[: step % 5]
    return word[0] + word[1:].translate(str.maketrans("aeiou", moved))


def _copy_vectors(base: Edition, folder: Path, copies: int) -> None:
    """Write the vectors of all copies; those of a copy have their numbers in another order."""
    about = json.loads((base.path / "search" / "search.json").read_text(encoding="utf-8"))
    parts, rows = open_vectors(base.path / "search", "vectors")
    vectors = np.concatenate(parts)
    firsts = np.cumsum([0, *(base.rows(r) for r in (schemas.Passage, schemas.Description))])
    sizes = np.array([base.rows(r) for r in (schemas.Passage, schemas.Description, schemas.Aspect)])
    part = np.searchsorted(firsts, rows, side="right") - 1  # the texts of a kind stand together
    placed = np.concatenate(
        [rows + firsts[part] * (copies - 1) + sizes[part] * n for n in range(copies)]
    )
    order = np.argsort(placed)
    moved = np.concatenate([np.roll(vectors, 7 * number, axis=1) for number in range(copies)])
    (folder / "vectors").mkdir()
    np.save(folder / "vectors" / "all.npy", moved[order])
    np.save(folder / "vectors" / "all.rows.npy", placed[order].astype(np.int32))
    now = json.loads((folder / "search.json").read_text(encoding="utf-8"))
    now["encoder"], now["parts"]["vectors"] = about["encoder"], [(0, "all.npy")]
    (folder / "search.json").write_text(json.dumps(now), encoding="utf-8")


def asked_questions() -> list[str]:
    """Return questions of each set in turn."""
    by_turn = zip(*(questions(name) for name in SETS), strict=False)
    return [question.text for turn in by_turn for question in turn][:ASKED]


@contextmanager
def _timed(spent: defaultdict[str, float]) -> Iterator[None]:
    """Add the processor seconds of each stage to `spent` while the body runs."""

    def timing(stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.process_time()
            try:
                return call(*arguments, **named)
            finally:
                spent[stage] += time.process_time() - began
                spent[f"{stage}, calls"] += 1

        return timed

    with ExitStack() as patches:
        for stage, (owner, name) in STAGES.items():
            call = timing(stage, getattr(owner, name))
            patches.enter_context(patch.object(owner, name, call))
        yield


def measure(home: Home) -> dict[str, Any]:
    """Return the milliseconds of questions and of their stages."""
    edition = home.editions.current()
    assert edition is not None
    seconds, processor, spent = [], [], defaultdict[str, float](float)
    with Asker(home, edition, Settings()) as answering:
        for text in asked_questions()[:WARMING]:
            answering.answer(text)
        for text in asked_questions():
            with _timed(spent):
                began, worked = time.perf_counter(), time.process_time()
                answering.answer(text)
                seconds.append(time.perf_counter() - began)
                processor.append(time.process_time() - worked)
    return {
        "documents": edition.rows(schemas.Document),
        "cold": _cold(home),
        "load": round(os.getloadavg()[0], 1),
        **_quantiles("ms", seconds),
        **_quantiles("processor ms", processor),
        "stages, mean processor ms": {name: _ms(spent[name] / len(seconds)) for name in STAGES},
        "calls": {name: round(spent[f"{name}, calls"] / len(seconds), 1) for name in STAGES},
    }


def _quantiles(name: str, seconds: list[float]) -> dict[str, float]:
    tenths = statistics.quantiles(seconds, n=10)
    return {f"p50 {name}": _ms(statistics.median(seconds)), f"p90 {name}": _ms(tenths[8])}


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)


def _cold(home: Home) -> dict[str, Any]:
    """Return the seconds of one question from the shell, and whether the cache was empty."""
    emptied = empty_file_cache()
    command = [sys.executable, "-m", "flows", "--home", str(home.path), "ask", asked_questions()[0]]
    worked, began = processor_seconds(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {
        "seconds": round(time.perf_counter() - began, 2),
        "processor seconds": round(processor_seconds() - worked, 2),
        "cache emptied": emptied,
    }


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument("--homes", type=Path, default=Path(tempfile.gettempdir()) / "asking")
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--documents", type=int, metavar="N", help="of a new home (all)")
    arguments = parser.parse_args()
    base = base_home(arguments.homes, arguments.documents).editions.current()
    assert base is not None
    figures = {}
    for copies in arguments.copies:
        home = enlarged_home(arguments.homes, base, copies)
        figures[f"copies {copies}"] = measure(home)
    report("asking", figures)


if __name__ == "__main__":
    run_command(main)
