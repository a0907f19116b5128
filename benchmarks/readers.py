"""Read while editions are published: no errors, no reader sees two editions mixed.

    python -m benchmarks.readers [--seconds 60] [--readers 4]

One process publishes an edition every 0.3 seconds and prunes all but the last few. Each edition
carries its number in every row of three tables. Readers in processes of their own follow the
pointer, pin what it names, and join the three tables, from the DuckDB file and from Parquet.
"""

import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

import schemas
from benchmarks.command import parser_of, report, run_command
from warehouse.derivation import build_database
from warehouse.editions import Editions

ROWS = 200
JOIN = """
select count(distinct e.name), min(e.name), count(*)
from entities e join aliases a using (entity_id) join entity_passages p using (entity_id)
where e.name = a.alias and e.name = p.document_id
"""

LATEST_SECONDS = 120  # after which too few reads are an answer, too


def publish(editions: Editions, generation: int) -> None:
    """Publish an edition whose rows all carry its number."""
    name = str(generation)
    ids = [f"entity-{n}" for n in range(ROWS)]
    filled = {
        schemas.Entity: [
            {
                "entity_id": i,
                "name": name,
                "kind": "thing",
                "language": "en",
                "graph": "corpus",
                "mentions": 1,
                "documents": 1,
            }
            for i in ids
        ],
        schemas.Alias: [{"alias": name, "entity_id": i, "weight": 1.0} for i in ids],
        schemas.EntityPassage: [
            {"entity_id": i, "document_id": name, "passage_id": "p", "times": 1} for i in ids
        ],
    }
    building = editions.begin(f"{generation:08x}")
    for row in schemas.EDITION:
        path = building.folder / f"{row.table}.parquet"
        pq.write_table(row.to_table(filled.get(row, [])), path)
    build_database(building.folder)
    editions.publish(editions.seal(building, {}))


def read(folder: str, stop: Any, results: Any, total: Any) -> None:
    """Join tables of the current edition again and again; put (reads, errors, mixed) at the end.

    `total` counts the reads of all readers meanwhile.
    """
    editions, reads, errors, mixed = Editions(Path(folder)), 0, [], 0
    while not stop.is_set():
        try:
            generation = _read_once(editions, reads % 2 == 0)
            mixed += not generation
            reads += 1
            with total.get_lock():
                total.value += 1
        except Exception as error:  # whatever a reader meets is what is counted
            errors.append(f"{type(error).__name__}: {error}"[:300])
    results.put((reads, errors, mixed))


def _read_once(editions: Editions, from_database: bool) -> bool:
    """Return whether all rows were of one edition."""
    with editions.reading() as edition:
        if from_database:
            con = duckdb.connect(str(edition.database), read_only=True)
        else:
            con = duckdb.connect(":memory:")
            for row in (schemas.Entity, schemas.Alias, schemas.EntityPassage):
                con.register(row.table, edition.table(row))
        with con:
            names, name, rows = con.execute(JOIN).fetchall()[0]
        return bool(names == 1 and rows == ROWS and edition.id.endswith(f"{int(name):08x}"))


def run(
    folder: Path, *, seconds: float, readers: int, every: float = 0.3, least_reads: int = 0
) -> dict[str, Any]:
    """Publish and read this long, and until there were enough reads; return the figures."""
    editions, context = Editions(folder), multiprocessing.get_context("spawn")
    publish(editions, 1)
    stop, results, total = context.Event(), context.Queue(), context.Value("q", 0)
    processes = [
        context.Process(target=read, args=(str(folder), stop, results, total))
        for _ in range(readers)
    ]
    for process in processes:
        process.start()
    generation, deadline = 1, time.monotonic() + seconds
    latest = deadline + LATEST_SECONDS
    while time.monotonic() < (latest if total.value < least_reads else deadline):
        started = time.monotonic()
        generation += 1
        publish(editions, generation)
        editions.prune(keep=5, days=0)
        time.sleep(max(0.0, every - (time.monotonic() - started)))
    stop.set()
    counted = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    return {
        "seconds": seconds,
        "readers": readers,
        "editions": generation,
        "reads": sum(reads for reads, _, _ in counted),
        "errors": sum(len(errors) for _, errors, _ in counted),
        "mixed": sum(mixed for _, _, mixed in counted),
        "first_errors": [error for _, errors, _ in counted for error in errors][:3],
    }


def main() -> bool:
    """Run the benchmark and write its results."""
    arguments = parser_of(__doc__, seconds=60.0, readers=4, least_reads=0).parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-readers-") as folder:
        figures = run(Path(folder), **vars(arguments))
    report("readers", figures)
    return bool(figures["errors"] or figures["mixed"])


if __name__ == "__main__":
    run_command(main)
