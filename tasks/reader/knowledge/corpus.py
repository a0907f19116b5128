"""The corpus of an edition as a knowledge base that finds entities by name and by description."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tasks.models.encoders.minilm import Encoder
from tasks.programs.knowledge_bases.edition_graph import EditionGraph
from tasks.programs.knowledge_bases.protocol import Candidate, EntityRef, Fact, Place
from tasks.programs.knowledge_bases.statements import are_linked, statements_in
from tasks.reader.knowledge.names import entities_named, names_in, names_in_question
from tasks.reader.phrases import beside_name
from tasks.reader.sentence import Sentence
from tasks.retrieval.linked_names import LinkedName
from tasks.retrieval.search import Searcher
from tasks.retrieval.words import Name
from tasks.text.question import Question, analyse, content_words
from tasks.text.stems import words_of
from warehouse.editions import DUCKDB_FILE, Edition

MOST_DESCRIBED = 8  # entities that a description may mean
NOTES = 16  # descriptions and aspects from which these are taken
OPENING = 200  # characters of a description in which its class is looked for
MOST_EDGES = 400  # edges of a node that is not a hub
NEAR_PASSAGES = 6  # whose statements are read
MOST_KEPT = 2_000  # entities whose facts are kept for further questions
_CLASS = re.compile(
    r"\b(?:is|was|are|were)\s+(?:(?:an?|the|one|of|currently|both)\s+)*(.+?)"
    r"(?=\s(?:in|of|by|from|who|whose|which|that|for|on|at|to|with|known|born|based|located)\b|[.;(]|$)"
)
_PLACES = """
select d.document_id, c.uri, d.span_start, d.span_end
from descriptions d left join documents c using (document_id)
where d.entity_id = $entity and contains(d.text, $text)
order by d.confidence desc, d.description_id
limit 1
"""
_KINDS = "select entity_id, kind from entities where list_contains($ids, entity_id)"


class CorpusKnowledge:
    """The knowledge extracted from the corpus, behind the three functions of a knowledge base.

    It also finds the names in a text, and returns the extracted kinds of entities. It does not read
    passages.
    """

    personal = True

    def __init__(self, graph: EditionGraph, edition: Edition, encoder: Encoder | None) -> None:
        """Open one graph of an edition; an encoder compares descriptions by meaning, too."""
        edition.check(DUCKDB_FILE, "search/")
        self.name, self.graph = graph.name, graph.graph
        self._base = graph
        self._arrays = graph.arrays
        self._searcher = Searcher(edition.path, encoder)
        self._con = edition.connect()
        self._infos: dict[EntityRef, str] = {}
        self._facts: dict[EntityRef, list[Fact]] = {}
        self._kinds: dict[int, str] = {}
        self.kept: dict[EntityRef, list[Sentence]] = {}  # the records of entities

    # -- a knowledge base -------------------------------------------------------------------------

    def entity_linking(self, query: str, aliases: list[str]) -> list[Candidate]:
        """Return the entities that the aliases name, else those with similar descriptions.

        So a program may ask for `the physicist on the hundred-dollar note`.
        """
        named = [node for alias in aliases for node in self._meant(query, alias)]
        if named:
            return [Candidate(self.ref(node), 1.0) for node in dict.fromkeys(named)]
        return [
            Candidate(entity, 1.0)
            for entity in dict.fromkeys(e for alias in aliases for e in self._described(alias))
        ]

    def get_entity_info(self, entity: EntityRef) -> str:
        """Return the entity's description, empty if there is none."""
        if entity not in self._infos:
            if len(self._infos) >= MOST_KEPT:
                self._infos.clear()
            self._infos[entity] = self._base.get_entity_info(entity)
        return self._infos[entity]

    def get_entity_triples(self, entity: EntityRef) -> list[Fact]:
        """Return the facts around an entity, aspects among them."""
        self.read_ahead([entity])
        return self._facts[entity]

    def place_of(self, entity: EntityRef | None, text: str) -> Place | None:
        """Return where a document states a sentence of an entity's description."""
        if entity is None:
            return None
        entity_id = self._arrays.ids[int(entity.key)].as_py()
        rows = self._con.execute(_PLACES, {"entity": entity_id, "text": text}).fetchall()
        return Place(*rows[0]) if rows else None

    def read_ahead(self, entities: Sequence[EntityRef]) -> None:
        """Read the facts around many entities at once."""
        new = [entity for entity in dict.fromkeys(entities) if entity not in self._facts]
        if len(self._facts) + len(new) > MOST_KEPT:
            self._facts.clear()
            new = list(dict.fromkeys(entities))
        if new:
            self._facts.update(self._base.facts_around(new))

    def statements_near(self, question: Question) -> Iterator[tuple[str, Fact]]:
        """Yield statements of the passages most like a question, with their documents' titles.

        A statement whose subject is no entity is a fact around the nameless thing of its passage.
        """
        if not are_linked(self._con):
            return
        hits = self._searcher.alike(question, NEAR_PASSAGES)
        places = {hit.fields["passage_id"]: number for number, hit in enumerate(hits, 1)}
        titles = {hit.fields["document_id"]: hit.fields["title"] for hit in hits}
        for stated in statements_in(self._con, list(places)):
            title = titles.get(stated.place.document_id)
            if title is not None:
                node = self._base.node_of(stated.subject_id)
                key = -places[stated.passage_id] if node is None else node
                subject = EntityRef(self.name, str(key), stated.subject)
                yield title, self._base.fact_of(stated, subject)

    # -- names and kinds --------------------------------------------------------------------------

    def ref(self, node: int) -> EntityRef:
        """Return a node as an entity."""
        return EntityRef(self.name, str(node), self._arrays.label(node))

    def names_in(self, text: str) -> list[LinkedName]:
        """Return the names of entities in a text; their bearers are nodes."""
        return names_in(text, self._arrays)

    def names_in_question(self, question: Question, context: str = "") -> list[LinkedName]:
        """Return the names in a question; names in lower case only if there are no others.

        Of namesakes, only those are bearers that fit the context best, by default the question.
        """
        names = names_in_question(question, self._arrays)
        return [replace(n, bearers=self._fitting(context or question.text, n)) for n in names]

    def _fitting(self, context: str, name: LinkedName) -> list[Name]:
        nodes = self._meant(context, name.text)
        return [bearer for bearer in name.bearers if bearer.entity in nodes]

    def full_name(self, text: str) -> str:
        """Return the full name of the entity that a partial name means, else the text itself."""
        nodes = entities_named(self._arrays, text)
        full = self._arrays.label(nodes[0]) if len(nodes) == 1 else ""
        return full if words_of(text) < words_of(full) else text

    def is_hub(self, node: int) -> bool:
        """Return whether a node has too many edges to be a useful bridge."""
        edges = sum(
            int(offsets[node + 1] - offsets[node])
            for offsets in (self._arrays.out_offsets, self._arrays.in_offsets)
        )
        return edges > MOST_EDGES

    def kind_of(self, row: int) -> str:
        """Return the kind of a node."""
        if row not in self._kinds:
            self.learn_kinds([row])
        return self._kinds[row]

    def description_of(self, row: int) -> str:
        """Return the class that a node's description gives, else the description's opening."""
        opening = self.get_entity_info(self.ref(row))[:OPENING]
        return class_in(opening) or opening

    def class_words(self, records: Iterable[Sentence]) -> set[str]:
        """Return the words for the classes of the entities that some records name."""
        named = [(record, name) for record in records for name in record.names]
        beside = {word for record, name in named for word in beside_name(record, name)}
        nodes = {name.bearers[0].entity for _, name in named}
        return beside.union(*(words_of(self.description_of(node)) for node in nodes))

    def learn_kinds(self, nodes: Iterable[int]) -> None:
        """Read the kinds of many nodes at once."""
        new = {node for node in nodes if node not in self._kinds}
        if not new:
            return
        ids = {self._arrays.ids[node].as_py(): node for node in new}
        kinds = dict(self._con.execute(_KINDS, {"ids": [i for i in ids if i]}).fetchall())
        self._kinds.update({n: kinds.get(entity_id, "unknown") for entity_id, n in ids.items()})

    def rarity(self, word: str) -> float:
        """Return a word's inverse document frequency among descriptions and aspects."""
        return self._searcher.rarity(word)

    def _meant(self, query: str, alias: str) -> list[int]:
        """Return the bearers of a name; of namesakes, those whose descriptions share most words."""
        nodes = entities_named(self._arrays, alias)
        if len(nodes) < 2:
            return nodes
        words = words_of(content_words(query) or query) - words_of(alias)
        fits = [len(words & words_of(self.get_entity_info(self.ref(node)))) for node in nodes]
        return [node for node, fit in zip(nodes, fits, strict=True) if fit == max(fits)]

    def _described(self, description: str) -> list[EntityRef]:
        hits = self._searcher.notes(analyse(description), NOTES)
        refs = (self._node(hit.fields) for hit in hits)
        return list(dict.fromkeys(ref for ref in refs if ref is not None))[:MOST_DESCRIBED]

    def _node(self, note: Mapping[str, str]) -> EntityRef | None:
        nodes = self._arrays.named(note["entity"])
        matches = [n for n in nodes if self._arrays.ids[int(n)].as_py() == note["entity_id"]]
        return self.ref(int(matches[0])) if matches else None


def class_in(description: str) -> str:
    """Return the class in a description: `American company` from `… is an American company`."""
    match = _CLASS.search(description)
    return match[1] if match else ""
