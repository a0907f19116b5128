"""Prepare a home for a benchmark by importing the graphs beside the questions."""

import tempfile
from dataclasses import replace
from pathlib import Path

from schemas.documents import Document
from schemas.errors import AlmanacError, UsageError
from schemas.knowledge import CORPUS
from schemas.settings import Settings
from tasks.import_graph import import_graph, list_graphs
from tasks.progress import Report
from tasks.questions.question import Benchmark, GraphSource
from warehouse.editions import Edition
from warehouse.home import Home


def prepared(
    home: Home, benchmark: Benchmark, settings: Settings, graph: str | None, report: Report
) -> tuple[Edition, Benchmark]:
    """Return the edition to ask, and the benchmark with the graphs of its questions.

    Graphs beside the questions are imported into an empty home. In any other home, `graph` names
    the graph of all questions; without it, their own graphs must be there, or may be missing if
    `graph` is empty. Raises UsageError if a graph is missing, AlmanacError if there is no edition.
    """
    if not graph and _holds_nothing_else(home, benchmark):
        present = _graphs(home)
        for source in benchmark.graphs:
            if source.name not in present:
                _import(home, source, settings, report)
    edition = home.editions.current()
    if edition is None:
        raise AlmanacError(
            f"There is no edition in {home.address} to ask. Make one with `almanac refresh SOURCE` "
            "or `almanac import-graph FILE --name NAME`."
        )
    names = _graphs(home) | {CORPUS}
    if graph is not None:
        named = {
            q.graph: graph or (q.graph if q.graph in names else "") for q in benchmark.questions
        }
        questions = [replace(q, graph=named[q.graph]) for q in benchmark.questions]
        benchmark = replace(benchmark, questions=questions)
    missing = {question.graph for question in benchmark.questions} - names - {""}
    if missing:
        raise UsageError(
            f"The home has no graph {', '.join(sorted(missing))}, only {', '.join(sorted(names))}. "
            "Name one with --graph, or give --home an empty folder to import the graphs beside the "
            "questions."
        )
    return edition, benchmark


def _graphs(home: Home) -> set[str]:
    return {row["graph"] for row in list_graphs(home)} if home.exists else set()


def _holds_nothing_else(home: Home, benchmark: Benchmark) -> bool:
    """Return whether a home holds nothing except graphs of this benchmark."""
    edition = home.editions.current()
    own = {source.name for source in benchmark.graphs}
    return edition is None or (_graphs(home) <= own and edition.rows(Document) == 0)


def _import(home: Home, source: GraphSource, settings: Settings, report: Report) -> None:
    if not source.triples:
        import_graph(
            home,
            source.source,
            settings,
            name=source.name,
            format=source.format,
            mapping=source.mapping,
            report=report,
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        # Imports read files, so triples from inside the questions' file are written to one.
        path = Path(folder) / f"{source.name}.txt"
        rows = (" ||| ".join(triple) for triple in source.triples)
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        import_graph(home, path, settings, name=source.name, format="nlpcc", report=report)
