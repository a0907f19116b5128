"""The popularity of the subjects of questions, according to a graph (Mallen et al. 2023).

The paper counts how often people read the page of a subject. Here popularity is measured by a
graph: the number of its triples or, for the corpus, how often documents mention it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.errors import UsageError
from schemas.knowledge import CORPUS, Entity
from tasks.graphs.graph import FOLDER, Graph, graph_folders, open_graph
from tasks.graphs.question_names import names_in
from tasks.questions.question import BenchmarkQuestion
from tasks.text.question import Question, analyse
from warehouse.editions import Edition


def triples_of(graph: Graph) -> np.ndarray:
    """Return the number of each entity's triples, float64 (nodes,); NaN for values."""
    counts = np.diff(graph.out_offsets) + np.diff(graph.in_offsets)
    return np.where(graph.entities, counts, np.nan)


@dataclass(frozen=True, eq=False)
class GraphPopularity:
    """A graph, and how popular its nodes are, float64 (nodes,); NaN for one that is no subject."""

    graph: Graph
    known: np.ndarray

    def of(self, questions: Sequence[Question]) -> np.ndarray:
        """Return the popularity of each question's subject, float64 (n,); NaN if unknown.

        If several nodes have the same name, the most popular one counts.
        """
        popularity, known = np.full(len(questions), np.nan), self.known
        for place, question in enumerate(questions):
            names = names_in(question, self.graph)
            most = {n: float(np.fmax.reduce(known[names.bearers(n)])) for n in names.apart}
            subject = names.subject([name for name in names.apart if not np.isnan(most[name])])
            if subject is not None:
                popularity[place] = most[subject]
        return popularity

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


def open_popularity(
    edition: Edition | None, name: str, graphs: Mapping[str, Graph] | None = None
) -> GraphPopularity:
    """Open the graph of this name, `corpus` for the documents; raises UsageError if unknown.

    If it is among the `graphs` that are open already, that one is used.
    """
    opened = {folder: open_graph(folder) for folder in graph_folders(edition)} if edition else {}
    matches = [(folder, graph) for folder, graph in opened.items() if graph.name == name]
    if edition is None or not matches:
        known = ", ".join(graph.name for graph in opened.values()) or "none"
        raise UsageError(
            f"There is no graph {name!r} to take popularity from. The graphs: {known}."
        )
    [(folder, graph)] = matches
    edition.check(f"{FOLDER}/{folder.name}/")
    graph = (graphs or {}).get(name, graph)
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
