"""One graph of an edition as a knowledge base: the user's corpus, or an imported graph.

An entity's key is its node's number, which holds within one edition.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from schemas.knowledge import CORPUS
from tasks.graphs.graph import FOLDER, NAMES, Graph, Nodes, graph_folders, open_graph
from tasks.graphs.linking.link import Linker
from tasks.programs.knowledge_bases.protocol import Candidate, EntityRef, Fact, Place
from tasks.programs.knowledge_bases.statements import STATEMENT, Stated, statements_around
from warehouse.editions import DUCKDB_FILE, Edition

MOST_FACTS = 20_000  # around one entity
MOST_CANDIDATES = 10
SURE = 1.0  # score of the only node with exactly this name

_TRIPLES = """
with wanted as (select unnest($entities) as id),
around as (
    select wanted.id, t.* from asserted_triples t join wanted on t.head_id = wanted.id
    union all
    select wanted.id, t.* from asserted_triples t join wanted on t.tail_id = wanted.id
    where t.head_id is distinct from wanted.id
)
select t.id, t.triple_id, t.head_id, t.head, t.relation, t.tail_id, t.tail, t.confidence,
       concat_ws(' ', 'from ' || t.valid_from, 'until ' || t.valid_to) as time, t.date,
       t.document_id, d.uri, t.span_start, t.span_end
from around t left join documents d using (document_id)
where t.graph = $graph and ($all or t.sensitivity = 'normal')
order by t.support desc, t.confidence desc, t.triple_id
"""
_ASPECTS = """
with wanted as (select unnest($entities) as id)
select wanted.id, a.aspect_id, a.aspect, a.text, a.confidence, a.question, a.document_id, d.uri,
       a.span_start, a.span_end
from aspects a join wanted on a.entity_id = wanted.id left join documents d using (document_id)
where $all or a.sensitivity = 'normal'
order by a.document_id, a.span_start
"""
_WORDINGS = """
select unnest(wordings) as wording, relation, false from relations where graph = $graph
union all
select unnest(inverse_wordings), relation, true from relations where graph = $graph
order by all
"""
_DISAGREE = "select count(*) from conflicts where list_contains($facts, triple_id)"
_DESCRIBED = """
select s.document_id, d.uri, s.span_start, s.span_end
from entities e left join descriptions s on s.entity_id = e.entity_id and s.text = e.description
left join documents d using (document_id)
where e.entity_id = $entity and e.description is not null and ($all or e.sensitivity = 'normal')
"""


class EditionGraph:
    """The knowledge base of one graph."""

    def __init__(
        self, graph: Graph, folder: Path, con: duckdb.DuckDBPyConnection, *, open_only: bool = False
    ) -> None:
        """Use the graph's arrays, and the edition's database for everything else.

        With `open_only`, information that only sensitive documents state is withheld.
        """
        self.name = self.graph = graph.name
        self.personal = graph.name == CORPUS
        self.arrays = graph
        self._folder, self._con = folder, con
        self._withholds = open_only and self.personal

    def entity_linking(self, query: str, aliases: list[str]) -> list[Candidate]:
        """Return the nodes that the aliases may mean, likeliest first.

        It is one alone if it bears every alias that any node bears, and no other bears them all.
        """
        bearers = [set(nodes.tolist()) for a in aliases if len(nodes := self.arrays.bearers(a))]
        common = set.intersection(*bearers) if bearers else set()
        if len(common) == 1 and self._may_show(node := common.pop()):
            return [self._candidate(node, SURE)]
        links = self._linker.link(query, aliases, MOST_CANDIDATES)
        return [
            self._candidate(link.node, link.score) for link in links if self._may_show(link.node)
        ]

    def get_entity_info(self, entity: EntityRef) -> str:
        """Return the entity's description, empty if there is none."""
        if self._withholds and not self._described(int(entity.key)):
            return ""
        described = self._linker.descriptions
        return (described.of(int(entity.key)) or "") if described else ""

    def description_place(self, entity: EntityRef) -> Place | None:
        """Return where the entity's description stands, None if that is in no document."""
        return next((_place(*row) for row in self._described(int(entity.key))), None)

    def get_entity_triples(self, entity: EntityRef) -> list[Fact]:
        """Return the facts around an entity: triples, then its aspects, then statements.

        Facts of the corpus come from the database, with the places in documents that state them;
        facts of an imported graph, which have no such places, come from the arrays.
        """
        return self.facts_around([entity])[entity]

    def facts_around(self, entities: Sequence[EntityRef]) -> dict[EntityRef, list[Fact]]:
        """Return the facts around each of several entities, read with the same queries."""
        facts: dict[EntityRef, list[Fact]] = {entity: [] for entity in entities}
        by_id: dict[str, EntityRef] = {}
        for entity in facts:
            entity_id = self.arrays.ids[int(entity.key)].as_py()
            if self.personal and entity_id is not None:
                by_id[entity_id] = entity
            elif not self._withholds:  # a value without an id has no known source
                facts[entity] = self._walked(entity)
        sources = (self._stated(by_id), self._aspects(by_id), self._clauses(by_id))
        for fact in chain(*sources) if by_id else ():
            facts[fact.entity].append(fact)
        return facts

    def disagree(self, fact_ids: Iterable[str | None]) -> bool:
        """Return whether some of these facts contradict each other, as `conflicts` tells."""
        if not self.personal:
            return False
        ids = [fact_id for fact_id in fact_ids if fact_id is not None]
        return bool(self._read(_DISAGREE, facts=ids)[0][0])

    def _may_show(self, node: int) -> bool:
        """Tell whether a node has a description or a fact that is not withheld."""
        if not self._withholds or self._described(node):
            return True
        return bool(self.get_entity_triples(self._ref(node)))

    def _described(self, node: int) -> list[tuple[Any, ...]]:
        """Return the row of where the description stands; none if there is none, or to be shown."""
        entity_id = self.arrays.ids[node].as_py()  # a value without one has no row either
        return self._read(_DESCRIBED, entity=entity_id, all=not self._withholds)

    def _walked(self, entity: EntityRef) -> list[Fact]:
        """Return an entity's facts from the arrays: as head, then as tail."""
        leaving, entering = self.arrays.edges_around(int(entity.key), MOST_FACTS)
        names = self.arrays.relations
        return [
            Fact(entity, names[relation], ref, inverse)
            for inverse, (relations, ends) in ((False, leaving), (True, entering))
            for relation, ref in zip(relations.tolist(), self.refs(ends), strict=True)
        ]

    def refs(self, nodes: Sequence[int] | Nodes) -> list[EntityRef]:
        """Return nodes as entities of this knowledge base."""
        labels = self.arrays.labels.take(pa.array(nodes, pa.int64())).to_pylist()
        pairs = zip(nodes, labels, strict=True)
        return [EntityRef(self.name, str(node), label) for node, label in pairs]

    def _stated(self, by_id: Mapping[str, EntityRef]) -> Iterator[Fact]:
        values = {"graph": self.graph, "entities": list(by_id), "all": not self._withholds}
        for row in self._read(_TRIPLES, **values):
            entity_id, triple_id, head_id, head, relation, tail_id, tail, confidence, *more = row
            time, date, *place = more
            inverse = head_id != entity_id
            value = (head_id, head) if inverse else (tail_id, tail)
            yield Fact(
                by_id[entity_id], relation, self._value(*value), inverse, "triple", triple_id,
                confidence, place=_place(*place), time="" if date else time,
            )  # fmt: skip

    def _aspects(self, by_id: Mapping[str, EntityRef]) -> Iterator[Fact]:
        for row in self._read(_ASPECTS, entities=list(by_id), all=not self._withholds):
            entity_id, aspect_id, aspect, text, confidence, question, *place = row
            yield Fact(
                by_id[entity_id], aspect, text, False, "aspect", aspect_id, confidence, question,
                place=_place(*place),
            )  # fmt: skip

    def fact_of(self, stated: Stated, entity: EntityRef, *, inverse: bool = False) -> Fact:
        """Return a statement as a fact around its subject, or around an entity that it names."""
        ends = (stated.subject, *stated.complements)
        return Fact(
            entity, stated.predicate, self._end(stated, inverse), inverse, STATEMENT,
            stated.statement_id, stated.confidence, place=stated.place, words=stated.words,
            ends=ends,
        )  # fmt: skip

    def _clauses(self, by_id: Mapping[str, EntityRef]) -> Iterator[Fact]:
        con = self._con.cursor()
        for stated in statements_around(con, list(by_id), everything=not self._withholds):
            named = dict.fromkeys(stated.argument_ids, True) | {stated.subject_id or "": False}
            for entity_id, inverse in named.items():
                if entity_id in by_id:
                    yield self.fact_of(stated, by_id[entity_id], inverse=inverse)

    def node_of(self, entity_id: str | None) -> int | None:
        """Return the node of an entity's id, None if there is none."""
        return self._ids.get(entity_id) if entity_id else None

    def _end(self, stated: Stated, inverse: bool) -> EntityRef | str:
        """Return the other end of a statement, as an entity if the text is just its name."""
        text = stated.subject if inverse else stated.rest
        for entity_id in (stated.subject_id,) if inverse else stated.argument_ids:
            node = self.node_of(entity_id)
            if node is not None and self.arrays.label(node) == text:
                return EntityRef(self.name, str(node), text)
        return text

    def _read(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        # Several questions may use one knowledge base at the same time.
        return self._con.cursor().execute(query, values).fetchmany(MOST_FACTS)

    def _value(self, entity_id: str | None, name: str) -> EntityRef | str:
        node = self.node_of(entity_id)
        return name if node is None else EntityRef(self.name, str(node), name)

    def _ref(self, node: int) -> EntityRef:
        return EntityRef(self.name, str(node), self.arrays.label(node))

    def _candidate(self, node: int, score: float) -> Candidate:
        ref = self._ref(node)
        return Candidate(ref, score, self.get_entity_info(ref))

    @cached_property
    def wordings(self) -> dict[str, tuple[str, bool]]:
        """The relation that each wording expresses, and whether its subject is the tail.

        Empty for imported graphs.
        """
        if not self.personal:
            return {}
        rows = self._read(_WORDINGS, graph=self.graph)
        return {wording: (relation, turned) for wording, relation, turned in rows}

    @cached_property
    def _linker(self) -> Linker:
        return Linker.open(self._folder / NAMES, self.arrays)

    @cached_property
    def _ids(self) -> dict[str, int]:
        ids = self.arrays.ids.to_pylist()
        return {entity_id: node for node, entity_id in enumerate(ids) if entity_id is not None}


def _place(document_id: str | None, uri: str | None, start: int, end: int) -> Place | None:
    return Place(document_id, uri, start, end) if document_id else None


def edition_graphs(edition: Edition, *, open_only: bool = False) -> dict[str, EditionGraph]:
    """Return the graphs of an edition by name; their files are mapped, not read.

    With `open_only`, they withhold information that only sensitive documents state.
    """
    edition.check(DUCKDB_FILE, f"{FOLDER}/")
    con = edition.connect()
    graphs = (
        EditionGraph(open_graph(folder), folder, con, open_only=open_only)
        for folder in graph_folders(edition)
    )
    return {graph.graph: graph for graph in graphs}
