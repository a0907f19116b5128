"""Evidence for claims, from the passages and triples of an edition or from other sources."""

from collections.abc import Collection, Sequence
from itertools import islice

import duckdb

from tasks.graphs.graph import Graph
from tasks.retrieval.search import Searcher
from tasks.text.question import analyse
from tasks.text.stems import words_of

MOST_PIECES = 5
MOST_NAMES = 60  # spans of a claim that are looked up
MOST_BEARERS = 3  # entities with one name
MOST_TRIPLES = 500  # around one entity that are compared with the claim
LONGEST_PASSAGE = 2_000  # characters

_TRIPLES = """
with asked as (select unnest($entities) as id),
around as (
    (select t.* from asserted_triples t join asked on t.head_id = asked.id limit $most)
    union all
    (select t.* from asserted_triples t join asked on t.tail_id = asked.id limit $most)
)
select distinct triple_id, head, relation, tail, valid_from, valid_to from around
where list_contains($graphs, graph)
order by triple_id
"""


class EditionEvidence:
    """Finds evidence in an edition; `find` has the form that the filters expect.

    The training data of an expert are no evidence for its claims, so pass those triples and
    passages as excluded.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        searcher: Searcher | None,
        graphs: Sequence[Graph] = (),
        *,
        excluded_triples: Collection[str] = (),
        excluded_passages: Collection[str] = (),
    ) -> None:
        """Search the passages of a searcher and the triples of graphs, for at most five of each.

        `con` is the edition's database.
        """
        self._con, self._searcher, self._graphs = con, searcher, list(graphs)
        self._excluded_triples = frozenset(excluded_triples)
        self._excluded_passages = frozenset(excluded_passages)

    def find(self, claim: str) -> list[str]:
        """Return the triples about the names in a claim and similar passages, each best first."""
        if not claim.strip():
            return []
        return [*self._triples(claim), *self._passages(claim)]

    def _passages(self, claim: str) -> list[str]:
        if self._searcher is None:
            return []
        # All of the excluded passages could rank above the first that is not excluded.
        wanted = MOST_PIECES + min(len(self._excluded_passages), 20 * MOST_PIECES)
        hits = (hit.fields for hit in self._searcher.alike(analyse(claim), wanted))
        kept = (hit for hit in hits if hit["passage_id"] not in self._excluded_passages)
        return [
            f"{hit['title']}\n{hit['text'][:LONGEST_PASSAGE]}" for hit in islice(kept, MOST_PIECES)
        ]

    def _triples(self, claim: str) -> list[str]:
        entities = self._entities(claim)
        if not entities:
            return []
        rows = self._con.execute(
            _TRIPLES,
            {
                "entities": sorted(entities),
                "graphs": [graph.name for graph in self._graphs],
                "most": MOST_TRIPLES + len(self._excluded_triples),
            },
        ).fetchall()
        words = words_of(claim)
        texts = [triple_text(*row[1:]) for row in rows if row[0] not in self._excluded_triples]
        likeness = [len(words & words_of(text)) for text in texts]
        order = sorted(range(len(texts)), key=lambda place: -likeness[place])
        return [texts[place] for place in order[:MOST_PIECES]]

    def _entities(self, claim: str) -> set[str]:
        """Return the ids of the entities that the names in a claim may refer to."""
        entities: set[str] = set()
        for start, end in islice(analyse(claim).name_spans, MOST_NAMES):
            for graph in self._graphs:
                for node in graph.bearers(claim[start:end])[:MOST_BEARERS]:
                    entity = graph.ids[int(node)].as_py()
                    if entity is not None:
                        entities.add(entity)
        return entities


def triple_text(
    head: str, relation: str, tail: str, since: str | None = None, until: str | None = None
) -> str:
    """Return a triple as a sentence, with the period for which it is valid."""
    relation = relation.replace("_", " ")
    time = (f" from {since}" if since else "") + (f" until {until}" if until else "")
    return f"{head} {relation} {tail}{time}."
