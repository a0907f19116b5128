"""The labels of a home: what its sources and graphs have now, and all that an edition knows."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.documents import Document
from schemas.imports import GraphImport
from schemas.labels import SENSITIVE
from schemas.observations import Scan
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.journal import Journal


def source_marks(journal: Journal, upto: int | None = None) -> list[tuple[str, list[str], bool]]:
    """Return name, labels and whether it is sensitive of each source that has a mark, sorted."""
    scans = journal.table(Scan, upto=upto).to_pylist()
    labels = _latest((scan["source"], scan["labels"]) for scan in scans)
    sensitive = {scan["source"] for scan in scans if scan["sensitivity"] == SENSITIVE}
    marked = {source for source in labels if labels[source]} | sensitive
    return [(source, labels.get(source, []), source in sensitive) for source in sorted(marked)]


def graph_labels(journal: Journal) -> dict[str, list[str]]:
    """Return the labels of each graph that was ever imported with some."""
    imports = journal.table(GraphImport).to_pylist()
    return _latest((row["graph"], row["labels"]) for row in imports)


def _latest(given: Iterable[tuple[str, list[str] | None]]) -> dict[str, list[str]]:
    return {name: labels for name, labels in given if labels is not None}


def known_labels(home: Home, edition: Edition) -> frozenset[str]:
    """Return all labels of an edition's documents and of the home's sources and graphs.

    `sensitive` is among them if a source is marked so.
    """
    marks = source_marks(home.journal)
    sensitive = {SENSITIVE} if any(is_sensitive for *_, is_sensitive in marks) else set()
    of_sources = (labels for _, labels, _ in marks)
    named = set().union(*of_sources, *graph_labels(home.journal).values())
    return frozenset(named | sensitive | _document_labels(edition))


def _document_labels(edition: Edition) -> set[Any]:
    """Return the labels of an edition's documents; older versions wrote none."""
    path = edition.parquet(Document)
    there = [name for name in ("labels", "sensitivity") if name in pq.read_schema(path).names]
    table = pq.read_table(path, columns=there)
    columns = [pc.list_flatten(table["labels"])] if "labels" in there else []
    found = {label for column in columns for label in pc.unique(column).to_pylist()}
    is_sensitive = pc.any(pc.equal(table["sensitivity"], pa.scalar(SENSITIVE))).as_py()
    return found | ({SENSITIVE} if is_sensitive else set())
