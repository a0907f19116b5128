"""Export an edition in a format of another tool, by an exporter of ours or of a plug-in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from schemas.errors import AlmanacError, UsageError
from schemas.plug_ins import plug_in, plug_ins
from tasks.export.contents import Contents, open_contents
from tasks.export.destination import replacing
from tasks.export.graphml import write_graphml
from tasks.export.neo4j import write_neo4j
from tasks.export.obsidian import write_vault
from tasks.export.rdf import write_ntriples, write_turtle
from tasks.export.table_files import write_data_set, write_dbt_sources, write_json_lines
from warehouse.editions import Edition

Exporter = Callable[[Contents, Path], None]
EXPORTERS: dict[str, Exporter] = {
    "nt": write_ntriples,
    "ttl": write_turtle,
    "graphml": write_graphml,
    "neo4j-csv": write_neo4j,
    "hf": write_data_set,
    "dbt": write_dbt_sources,
    "jsonl": write_json_lines,
    "obsidian": write_vault,
}
PLUG_INS = "almanac.exporters"


def export(
    edition: Edition, format: str, out: Path, *, graph: str | None = None, spill: Path
) -> dict[str, Any]:
    """Write a pinned edition, or a graph of it, as a file or folder; return what was written.

    What exceeds the memory allowed goes to the folder `spill`. Raises UsageError for a format or
    graph that does not exist, or if `out` is something that an export did not write.
    """
    write = _exporter(format)
    with open_contents(edition, graph, spill) as contents, replacing(out) as path:
        write(contents, path)
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
        size = sum(file.stat().st_size for file in files)
    return {
        "format": format,
        "out": str(out),
        "edition": edition.id,
        "files": len(files),
        "bytes": size,
    }


def _exporter(format: str) -> Exporter:
    """Return the exporter of a format; a fault of a plug-in's becomes an error that names it."""
    if format in EXPORTERS:
        return EXPORTERS[format]
    found = plug_in(PLUG_INS, format)
    if found is None:
        there = ", ".join([*EXPORTERS, *plug_ins(PLUG_INS)])
        raise UsageError(f"{format!r} is no format of exports; there are {there}.")

    def write(contents: Contents, path: Path) -> None:
        with found.at_work():
            found.load()(contents, path)
        if not path.exists():
            raise AlmanacError(f"{found} wrote nothing to the path that it was given.")

    return write
