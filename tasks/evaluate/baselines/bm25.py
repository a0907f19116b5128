"""BM25 over entity documents: all triples of an entity as one document (KnowledGPT, section 4).

The answer is read from the document that ranks first for the question: the relation in it that
shares the most words with the question (Jaccard) leads to the answers, or to the next hop's
document.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from tasks.evaluate.answerer import BenchmarkAnswerer, Prediction
from tasks.evaluate.baselines.words import jaccard, relation_words, words
from tasks.graphs.graph import Graph, Nodes
from tasks.programs.planner.paths import Hop, follow, hops_from
from tasks.progress import Report, silent
from tasks.questions.question import BenchmarkQuestion

FACTS = 2000  # triples of an entity that are read; documents of hubs are cut
TIED = 10  # best documents among which ties are broken
WRITER_MEMORY = 64_000_000
REPORTED = 1000  # documents between two reports of progress


class BM25Answerer(BenchmarkAnswerer):
    """Answers from the document that BM25 ranks first."""

    name = "bm25"

    def __init__(self, graph: Graph, report: Report = silent) -> None:
        self._graph = graph
        self._index = _index_documents(graph, report)
        self._searcher = self._index.searcher()

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return an answer to each question; the number of hops is taken from the data set."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: BenchmarkQuestion) -> Prediction:
        question_words = words(question.question)
        entity = self._best_document(question_words)
        if entity is None:
            return Prediction(retrieved=())
        start = nodes = np.array([entity], np.int32)
        wanted = frozenset(question_words) - frozenset(words(self._graph.label(entity)))
        hops: list[Hop] = []
        document = nodes
        for _ in range(question.hops or 1):
            following = best_hop(self._graph, start, nodes, wanted, hops)
            if following is None:
                return Prediction(retrieved=())
            hops.append(following[0])
            document, nodes = nodes, following[1]
        retrieved = tuple(map(self._graph.label, _neighbours(self._graph, document)))
        return Prediction([self._graph.label(node) for node in nodes], retrieved=retrieved)

    def _best_document(self, question_words: Sequence[str]) -> int | None:
        from tantivy import Occur, Query

        schema = self._index.schema
        terms = [
            (Occur.Should, Query.term_query(schema, "text", word)) for word in set(question_words)
        ]
        hits = self._searcher.search(Query.boolean_query(terms), TIED, count=False).hits
        nodes = [(score, int(self._searcher.doc(place)["node"][0])) for score, place in hits]
        # A value's document repeats its entity's: the one that the question names counts.
        return max(
            nodes, key=lambda hit: (hit[0], self._named(hit[1], question_words)), default=(0, None)
        )[1]

    def _named(self, node: int, question_words: Sequence[str]) -> float:
        own = words(self._graph.label(node))
        return sum(word in question_words for word in own) / max(len(own), 1)


def best_hop(
    graph: Graph, start: Nodes, nodes: Nodes, wanted: frozenset[str], walked: Sequence[Hop]
) -> tuple[Hop, Nodes] | None:
    """Return the relation that shares the most words with `wanted`, and the nodes it leads to.

    It leads neither straight back nor to the start.
    """
    back = (walked[-1][0], not walked[-1][1]) if walked else None
    ranked = sorted(
        (hop for hop in hops_from(graph, nodes) if hop != back),
        key=lambda hop: -jaccard(relation_words(graph.relations[hop[0]]), wanted),
    )
    reached = ((hop, follow(graph, start, nodes, hop)) for hop in ranked)
    return next(((hop, end) for hop, end in reached if len(end)), None)


def _neighbours(graph: Graph, nodes: Nodes) -> list[int]:
    neighbours = dict.fromkeys(edge.tail for node in nodes for edge in graph.leaving(node))
    neighbours |= dict.fromkeys(edge.head for node in nodes for edge in graph.entering(node))
    return list(neighbours)[:FACTS]


def _index_documents(graph: Graph, report: Report) -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    builder.add_integer_field("node", stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer(WRITER_MEMORY, 1)
    for node in range(graph.nodes):
        text = _document(graph, node)
        if text:
            writer.add_document(tantivy.Document(text=text, node=node))
        if node % REPORTED == REPORTED - 1 or node == graph.nodes - 1:
            report("bm25 indexes", node + 1, graph.nodes)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def _document(graph: Graph, node: int) -> str:
    """Return the words of all triples of a node, with its name once per triple."""
    own, text = words(graph.label(node)), []
    leaving = list(islice(graph.leaving(node), FACTS))
    for edge in leaving:
        text += [*own, *relation_words(graph.relations[edge.relation])]
        text += words(graph.label(edge.tail))
    for edge in islice(graph.entering(node), FACTS - len(leaving)):
        text += [*own, *relation_words(graph.relations[edge.relation])]
        text += words(graph.label(edge.head))
    return " ".join(text)
