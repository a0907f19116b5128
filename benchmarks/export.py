"""Exporting a million triples in every format, beside pyarrow writing the same rows as CSV.

    python -m benchmarks.export [--triples 1000000] [--turns 3]

An edition with triples, their entities, mentions and documents is made by hand. In each turn
pyarrow writes the tables that a format draws on as CSV, from the same DuckDB file, then the format
is written; each runs in a process of its own, whose peak memory is taken. `times` is the median of
a format's seconds over the median of pyarrow's, `processor_times` the same of processors' seconds,
which others on the machine change less. Obsidian's vault, a file per entity, is written from a
tenth of the triples.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

import schemas
from benchmarks.command import parser_of, report, run_command
from schemas.row import Row
from tasks.export.contents import TABLES
from tasks.export.export import export
from warehouse.derivation import build_database
from warehouse.editions import Edition

GRAPH = ("entities", "aliases", "triples", "mentions", "documents")
DRAWN_ON = {
    "nt": GRAPH,
    "ttl": GRAPH,
    "graphml": ("entities", "triples", "documents"),
    "neo4j-csv": ("entities", "triples", "documents"),
    "hf": tuple(row.table for row in TABLES),
    "jsonl": tuple(row.table for row in TABLES),
    "obsidian": GRAPH,
}
ROWS_AT_ONCE = 65_536
DOCUMENTS = 1_000
RELATIONS = 300
SHARE_OF_VALUES = 0.6


def make_edition(folder: Path, number: int) -> Edition:
    """Write an edition with this many triples; a few entities and relations have very many."""
    random = np.random.default_rng(4)
    entities = [f"{n * 11400714819323198485 % 2**64:016x}" for n in range(number // 5)]
    names = [f'Entité "{n}"' if n % 50 == 0 else f"Entité number {n}" for n in range(number // 5)]
    heads, tails = (pa.array((random.random(number) ** 3 * len(names)).astype(int)) for _ in "ht")
    ids, named = pa.array(entities), pa.array(names)
    documents = pa.array([f"{n * 40503:032x}" for n in range(DOCUMENTS)])
    is_value = pa.array(random.random(number) < SHARE_OF_VALUES)
    values = pa.array([f"a value of {n} words" for n in range(1000)])
    relations = pa.array([f"relation of {n}" for n in range(RELATIONS)])
    of_document = documents.take(pa.array(random.integers(0, DOCUMENTS, number)))
    start = pa.array(random.integers(0, 5000, number))
    place = {
        "document_id": of_document,
        "passage_id": of_document,
        "span_start": start,
        "span_end": pc.add(start, 40),
        "confidence": pa.array(np.round(random.random(number), 3)),
    }
    triple_ids = pa.array([f"{n * 11400714819323198485 % 2**64:032x}" for n in range(number)])
    triples = {
        "triple_id": triple_ids,
        "head_id": ids.take(heads),
        "head": named.take(heads),
        "relation": relations.take(pa.array((random.random(number) ** 4 * RELATIONS).astype(int))),
        "tail_id": pc.if_else(is_value, None, ids.take(tails)),
        "tail": pc.if_else(
            is_value, values.take(pa.array(random.integers(0, 1000, number))), named.take(tails)
        ),
        "value_type": pc.if_else(is_value, "text", "entity"),
        **place,
    }
    mentions = {"fact_id": triple_ids, "fact_kind": "triple", **place}
    texts = {"document_id": documents, "uri": documents, "title": documents, "text": "word " * 1000}
    named_ones = {"entity_id": ids, "name": named, "kind": "person"}
    rows = {
        schemas.Triple: _table(schemas.Triple, triples, number).sort_by("head_id"),
        schemas.Mention: _table(schemas.Mention, mentions, number).sort_by("fact_id"),
        schemas.Entity: _table(schemas.Entity, named_ones, len(ids)).sort_by("entity_id"),
        schemas.Alias: _table(schemas.Alias, {"alias": named, "entity_id": ids}, len(ids)),
        schemas.Document: _table(schemas.Document, texts, DOCUMENTS).sort_by("document_id"),
    }
    folder.mkdir(parents=True)
    for row in schemas.EDITION:
        pq.write_table(rows.get(row, row.to_table([])), folder / f"{row.table}.parquet")
    build_database(folder)
    return Edition(folder, {"edition": folder.name, "sequence": 1, "tables": {}, "files": {}})


def _table(row: type[Row], columns: dict[str, Any], number: int) -> pa.Table:
    """Return a table with these columns, or constants, and usual values in all others."""
    usual = {"graph": "corpus", "language": "en", "polarity": "positive", "modality": "asserted",
             "engine": "rules", "sensitivity": "normal"}  # fmt: skip
    arrays = []
    for field in row.arrow_schema():
        value = columns.get(field.name, usual.get(field.name))
        if not isinstance(value, pa.Array):
            empty = pa.nulls(number, field.type)
            value = empty if value is None else pa.repeat(pa.scalar(value, field.type), number)
            if value is empty and not field.nullable:
                zero = [] if pa.types.is_list(field.type) else pa.scalar(0).cast(field.type)
                value = pa.repeat(pa.scalar(zero, field.type), number)
        arrays.append(value)
    return pa.table(arrays, schema=row.arrow_schema())


def write_csv(edition: Edition, tables: tuple[str, ...], folder: Path) -> None:
    """Write tables as CSV by pyarrow, from the same file, with the threads of an export."""
    folder.mkdir(parents=True)
    with edition.connect() as con:
        con.execute("set threads = 2")
        for table in tables:
            # CSV has no lists: their columns are left out.
            flat = [f.name for f in ROWS[table].arrow_schema() if not pa.types.is_list(f.type)]
            rows = con.table(table).select(*flat).to_arrow_reader(ROWS_AT_ONCE)
            with pa_csv.CSVWriter(str(folder / f"{table}.csv"), rows.schema) as file:
                for batch in rows:
                    file.write_batch(batch)


ROWS = {row.table: row for row in schemas.EDITION}


def alone(what: str, folder: Path) -> dict[str, float]:
    """Write one thing in this process; return seconds, also of processors, and the peak memory."""
    edition = Edition(folder, {"edition": "e", "sequence": 1, "tables": {}, "files": {}})
    out = folder.parent / "out"
    started, used = time.perf_counter(), time.process_time()
    if what.startswith("csv "):
        write_csv(edition, tuple(what.split(" ")[1:]), out / "csv")
    else:
        export(edition, what, out / what, spill=folder.parent / "spill")
    seconds, used = time.perf_counter() - started, time.process_time() - used
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    shutil.rmtree(out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(used, 2),
        "peak_mb": round(peak),
        "written_mb": round(size / 1e6),
    }


def in_a_process(what: str, folder: Path) -> dict[str, float]:
    """Return what `alone` measures in a new process."""
    command = [sys.executable, "-m", "benchmarks.export", "--only", what, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured(format: str, folder: Path, turns: int) -> dict[str, Any]:
    """Return a format's figures beside those of CSV, by turns."""
    tables = f"csv {' '.join(DRAWN_ON[format])}"
    pairs = [(in_a_process(tables, folder), in_a_process(format, folder)) for _ in range(turns)]
    csv, written = (
        {name: median(pair[side][name] for pair in pairs) for name in pairs[0][side]}
        for side in (0, 1)
    )
    return {
        **written,
        "csv_seconds": csv["seconds"],
        "times": round(written["seconds"] / csv["seconds"], 2),
        "processor_times": round(written["processor_seconds"] / csv["processor_seconds"], 2),
        "peak_mb": max(one["peak_mb"] for _, one in pairs),
    }


def main() -> None:
    """Measure every format and report."""
    parser = parser_of(__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", nargs=2, metavar=("WHAT", "FOLDER"))
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(alone(arguments.only[0], Path(arguments.only[1]))))
        return
    figures: dict[str, Any] = {"triples": arguments.triples}
    with tempfile.TemporaryDirectory() as made:
        whole, tenth = Path(made) / "whole", Path(made) / "tenth"
        make_edition(whole, arguments.triples)
        make_edition(tenth, arguments.triples // 10)
        for format in DRAWN_ON:
            folder = tenth if format == "obsidian" else whole
            figures[format] = measured(format, folder, arguments.turns)
    compared = [figures[format] for format in DRAWN_ON if format != "obsidian"]
    for name in ("times", "processor_times"):
        figures[f"most_{name}"] = max(one[name] for one in compared)
    figures["most_mb"] = max(figures[format]["peak_mb"] for format in DRAWN_ON)
    report("export", figures)


if __name__ == "__main__":
    run_command(main)
