"""The popularity of the subjects of questions, according to the graphs of an edition."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.errors import UsageError
from schemas.knowledge import CORPUS, Entity
from tasks.gates.subject_popularity import subject_popularity, triples_of
from tasks.graphs.folders import FOLDER, graph_folders
from tasks.graphs.graph import Graph, open_graph
from tasks.questions.question import BenchmarkQuestion
from tasks.text.question import Question, analyse
from warehouse.editions import Edition


@dataclass(frozen=True, eq=False)
class GraphPopularity:
    """A graph, and the popularity of each of its nodes, (nodes,)."""

    graph: Graph
    known: np.ndarray

    def of(self, questions: Sequence[Question]) -> np.ndarray:
        """Return the popularity of each question's subject, float64 (n,); NaN if unknown."""
        return subject_popularity(questions, self.graph, self.known)

    def with_popularity(self, questions: Sequence[BenchmarkQuestion]) -> list[BenchmarkQuestion]:
        """Return questions with popularity from this graph.

        It replaces any popularity that they have, because figures from different sources are not
        comparable.
        """
        popularity = self.of([analyse(question.question) for question in questions]).tolist()
        return [
            replace(question, popularity=None if np.isnan(value) else value)
            for question, value in zip(questions, popularity, strict=True)
        ]


def open_popularity(edition: Edition | None, name: str) -> GraphPopularity:
    """Open the graph of this name, `corpus` for the documents; raises UsageError if unknown."""
    opened = {folder: open_graph(folder) for folder in graph_folders(edition)} if edition else {}
    matches = [(folder, graph) for folder, graph in opened.items() if graph.name == name]
    if edition is None or not matches:
        graphs = ", ".join(graph.name for graph in opened.values()) or "none"
        raise UsageError(
            f"There is no graph {name!r} to take popularity from. The graphs: {graphs}."
        )
    [(folder, graph)] = matches
    edition.check(f"{FOLDER}/{folder.name}/")
    corpus = name == CORPUS
    return GraphPopularity(graph, _mentions(edition, graph) if corpus else triples_of(graph))


def _mentions(edition: Edition, graph: Graph) -> np.ndarray:
    """Return how often documents mention each entity, float64 (nodes,); NaN for values."""
    columns, of_graph = ["entity_id", "mentions"], pc.field("graph") == graph.name
    entities = pq.read_table(edition.parquet(Entity), columns=columns, filters=of_graph)
    ids = pa.array(graph.ids)
    places = pc.index_in(ids, entities["entity_id"].cast(ids.type), skip_nulls=True)
    mentions = entities["mentions"].combine_chunks().take(places).cast(pa.float64())
    return np.asarray(mentions.to_numpy(zero_copy_only=False))
