"""Importing five million triples beside pyoxigraph's bulk load, by turns, and other formats alone.

    python -m benchmarks.graph_import [--triples 5000000] [--turns 1]

Names and relations are drawn with skew: a few have very many triples. Almanac reads TSV into its
journal and publishes an edition, without vectors; pyoxigraph loads the same triples as N-Triples
into a store on disk. Each runs in a process of its own, whose peak memory is taken. From the other
formats, a tenth of the triples is read into the journal alone. After each turn both are asked
(`benchmarks.graph_lookup`). Where pyoxigraph is not installed, Almanac is measured alone.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.command import parser_of, report, run_command

Triples = tuple[list[str], list[str], list[str]]
CHUNK = 100_000
RELATIONS = 300
IRI = "http://example.org/"


def triples(number: int) -> Iterator[Triples]:
    """Yield triples in chunks; an entity is a head five times on average, the first most often."""
    random = np.random.default_rng(4)
    for _ in range(0, number, CHUNK):
        skewed = [(random.random(CHUNK) ** power) for power in (3, 3, 4)]
        head, relation, tail = (
            (share * most).astype(int).tolist()
            for share, most in zip(skewed, (number // 5, RELATIONS, number // 5), strict=True)
        )
        yield (
            [f"Entity number {n}" for n in head],
            [f"relation {n}" for n in relation],
            [f"Entity number {n}" for n in tail],
        )


def write_lines(path: Path, number: int, line: Callable[[str, str, str], str]) -> None:
    """Write triples as lines of text."""
    with path.open("w", encoding="utf-8") as file:
        for columns in triples(number):
            file.write("".join(map(line, *columns)))


def as_ntriples(head: str, relation: str, tail: str) -> str:
    """Return a triple as a statement about addresses."""
    parts = (f"<{IRI}{part.replace(' ', '_')}>" for part in (head, relation, tail))
    return " ".join(parts) + " .\n"


def as_conceptnet(head: str, relation: str, tail: str) -> str:
    """Return a triple as an assertion."""
    start, end = (f"/c/en/{part.replace(' ', '_')}" for part in (head, tail))
    name = f"/r/{relation.replace(' ', '')}"
    details = '{"dataset": "/d/x", "sources": [], "weight": 1.0}'
    return f"/a/[{name}/,{start}/,{end}/]\t{name}\t{start}\t{end}\t{details}\n"


FORMATS: dict[str, Callable[[str, str, str], str]] = {
    "tsv": lambda h, r, t: f"{h}\t{r}\t{t}\n",
    "nlpcc": lambda h, r, t: f"{h} ||| {r} ||| {t}\n",
    "csv": lambda h, r, t: f'"{h}","{r}","{t}"\n',
    "jsonl": lambda h, r, t: json.dumps({"head": h, "relation": r, "tail": t}) + "\n",
    "nt": as_ntriples,
    "conceptnet": as_conceptnet,
}


def import_it(source: Path, home: Path, publish: bool) -> dict[str, float]:
    """Import a file into a new home; return the seconds of each stage."""
    from schemas.settings import EngineSettings, Settings
    from tasks import import_graph as work
    from warehouse.home import Home

    if not publish:
        work.STAGES = work.STAGES[:1]
    settings = Settings(engine=EngineSettings(encoder="none"))
    return work.import_graph(Home(home), source, settings, name="measured").seconds


def load_it(source: Path, store: Path) -> dict[str, float]:
    """Load a file into a new store of pyoxigraph."""
    import pyoxigraph

    started = time.perf_counter()
    opened = pyoxigraph.Store(str(store))
    opened.bulk_load(path=str(source), format=pyoxigraph.RdfFormat.N_TRIPLES)
    opened.flush()
    return {"load": time.perf_counter() - started}


def in_a_process(what: str, source: Path, target: Path) -> dict[str, Any]:
    """Run one of the above alone; return its stages, whole time and peak memory."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.graph_import", "--only", what]
    done = subprocess.run(
        [*command, str(source), str(target)], check=True, capture_output=True, text=True
    )
    seconds = time.perf_counter() - started
    return {**json.loads(done.stdout.splitlines()[-1]), "seconds": round(seconds, 1)}


def look_ups(system: str, folder: Path, number: int) -> dict[str, Any]:
    """Return what `benchmarks.graph_lookup` measures."""
    command = [sys.executable, "-m", "benchmarks.graph_lookup", system, str(folder), str(number)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def run_only(what: str, source: Path, target: Path) -> None:
    """Do one thing and print its stages and peak memory."""
    stages = load_it(source, target) if what == "pyoxigraph" else {}
    stages = stages or import_it(source, target, publish=what == "almanac")
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = round(used.ru_utime + used.ru_stime, 1)
    print(json.dumps({"stages": stages, "cpu_seconds": cpu, "peak_mb": used.ru_maxrss // 1024}))


def write_all(folder: Path, number: int) -> None:
    """Write the large files for both, and a tenth of it in each format."""
    for format in ("tsv", "nt"):
        write_lines(folder / f"large.{format}", number, FORMATS[format])
    for format, line in FORMATS.items():
        write_lines(folder / f"small.{format}", number // 10, line)
    parts = [
        pa.table(list(columns), names=["head", "relation", "tail"])
        for columns in triples(number // 10)
    ]
    pq.write_table(pa.concat_tables(parts), folder / "small.parquet")


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__, triples=5_000_000, turns=1)
    parser.add_argument("--only", nargs=3)
    arguments = parser.parse_args()
    if arguments.only:
        what, source, target = arguments.only
        run_only(what, Path(source), Path(target))
        return
    figures: dict[str, Any] = {"triples": arguments.triples, "turns": [], "journal_alone": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_all(folder, arguments.triples)
        for turn in range(arguments.turns):
            places = {
                "almanac": (folder / "large.tsv", folder / f"home{turn}"),
                "pyoxigraph": (folder / "large.nt", folder / f"store{turn}"),
            }
            if find_spec("pyoxigraph") is None:
                del places["pyoxigraph"]
            measured = {name: in_a_process(name, *paths) for name, paths in places.items()}
            for system in measured.values():
                work = sum(system["stages"].values())
                system["triples_per_second"] = round(arguments.triples / work)
            figures["turns"].append(measured)
            figures["look_ups"] = {
                name: look_ups(name, target, arguments.triples)
                for name, (_, target) in places.items()
            }
        for path in sorted(folder.glob("small.*")):
            alone = in_a_process("journal", path, folder / f"home-{path.suffix[1:]}")
            rate = arguments.triples / 10 / alone["stages"]["read"]
            figures["journal_alone"][path.suffix[1:]] = round(rate)
    report("graph-import", figures)


if __name__ == "__main__":
    run_command(main)
