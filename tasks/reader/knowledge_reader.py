"""Answer questions from the knowledge extracted from the corpus, without its passages.

Programs look up the names in a question; the facts and descriptions that they find are put into
words, as a source of texts for the reader.
"""

from collections.abc import Iterable, Iterator, Sequence

import duckdb

from schemas.answers import Evidence
from tasks.models.span_reader.reader import minilm_reader
from tasks.programs.knowledge_bases.edition_graph import EditionGraph
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact, Place
from tasks.programs.knowledge_bases.statements import statements_in
from tasks.programs.program_run import run_program
from tasks.reader.definition import name_to_define
from tasks.reader.reading import Reading
from tasks.reader.texts import ReaderAnswer, Source, Text, TextPart, evidence_from, one_text, pieces
from tasks.retrieval.search import Searcher
from tasks.text.languages import language_of
from tasks.text.names import normalise_name
from tasks.text.question import Question, analyse
from tasks.text.sentences import sentences
from tasks.text.stems import words_of
from warehouse.editions import DUCKDB_FILE, Edition

LEAST = 0.55  # probability of an answer from facts, which are not compared by meaning
NOTES = 8  # descriptions and aspects like the question, whose entities are looked up
NEAR_PASSAGES = 6  # whose statements are read
MOST_FACTS = 40  # read of one entity, the nearest to the question
MOST_STATEMENTS = 24  # of those passages, the nearest to the question
_PROGRAM = """def search():
    messages = []
    for name in {names}:
        info, message = get_entity_info(entity_aliases=[name])
        messages.append(message)
    return "\\n".join(messages)
"""
_PLACES = """
select d.document_id, c.uri, d.span_start, d.span_end
from descriptions d left join documents c using (document_id)
where d.entity_id = $entity and contains(d.text, $text)
order by d.confidence desc, d.description_id
limit 1
"""


class KnowledgeReader:
    """Answers questions from the corpus graph of one edition."""

    def __init__(self, graph: EditionGraph, edition: Edition):
        edition.check(DUCKDB_FILE, "search/")
        self._graph, self._con = graph, edition.connect()
        self._searcher = Searcher(edition.path, encoder=None)

    def answer(self, question: Question) -> ReaderAnswer:
        """Look up what the question names, and read the answer from what is known of it."""
        name = name_to_define(question, self._searcher.link(question))
        facts = _Facts(question, self._graph, self._searcher, self._con)
        for entity in facts.look_up([name.text]) if name else ():
            described = [part.evidence for _, part in facts.described(entity)]
            if described:
                text = self._graph.get_entity_info(entity)
                return ReaderAnswer([text], described, facts.program)
        read = Reading(facts, minilm_reader(), LEAST).answer(question)
        evidence = read.evidence if read.answers else []
        return ReaderAnswer(read.answers, evidence, facts.program, read.probability)


class _Facts(Source):
    """The facts for one question, as a source of texts; each look-up is a program."""

    def __init__(
        self,
        question: Question,
        graph: EditionGraph,
        searcher: Searcher,
        con: duckdb.DuckDBPyConnection,
    ) -> None:
        self.program: str | None = None
        self._question, self._graph, self._searcher = question, graph, searcher
        self._con = con
        self._values: dict[tuple[str, ...], list[str]] = {}

    def near(self, question: Question) -> list[Text]:
        names = [name.text for name in self._searcher.link(question)]
        names += [hit.fields["entity"] for hit in self._searcher.notes(question, NOTES)]
        texts = self._texts(self.look_up(names), question)
        stated = one_text(self._stated(question))
        return [*texts, stated] if stated else texts

    def about(self, names: Sequence[tuple[str, str]]) -> list[list[Text]]:
        return [self._texts(self.look_up([name]), analyse(asked)) for name, asked in names]

    def values_beside(self, part: TextPart, answer: str, since: str) -> list[tuple[str, str]]:
        alike = normalise_name(part.value) in normalise_name(answer) if part.relation else False
        return [(value, "") for value in self._values[part.relation]] if alike else []

    def around(self, place: Evidence) -> tuple[str, int]:
        """Return a fact's own words: no list goes on behind them."""
        return place.text, 0

    def look_up(self, names: Iterable[str]) -> list[EntityRef]:
        """Run a program that looks names up; return the entities that they mean."""
        names = list(dict.fromkeys(name for name in names if name.strip()))
        if not names:
            return []
        self.program = _PROGRAM.format(names=names)
        run = run_program(self.program, self._graph, self._question.text)
        return list(dict.fromkeys(entity for call in run.calls for entity in call.entities))

    def _texts(self, entities: Sequence[EntityRef], question: Question) -> list[Text]:
        around = self._graph.facts_around(entities)
        texts = []
        for entity in entities:
            described = list(self.described(entity))
            facts = [(words, self._part(fact, words)) for fact in around[entity]
                     for words in _words(fact)]  # fmt: skip
            read = [*described, *_nearest(facts, question, MOST_FACTS)]
            text = one_text(read, entity.name)
            texts += pieces(text) if text else []
        return texts

    def described(self, entity: EntityRef) -> Iterator[tuple[str, TextPart]]:
        """Yield the sentences of an entity's description."""
        text = self._graph.get_entity_info(entity)
        entity_id = self._graph.arrays.ids[int(entity.key)].as_py()
        for start, end in sentences(text, language_of(text)):
            words = text[start:end]
            rows = self._con.execute(_PLACES, {"entity": entity_id, "text": words}).fetchall()
            place = Place(*rows[0]) if rows else None
            yield words, TextPart(0, 0, evidence_from(words, "description", place, 1.0))

    def _part(self, fact: Fact, words: str) -> TextPart:
        evidence = evidence_from(words, fact.kind, fact.place, fact.confidence, self._graph.graph)
        if fact.kind != "triple":
            return TextPart(0, 0, evidence)
        relation = (fact.entity.key, fact.relation, str(fact.inverse))
        values = self._values.setdefault(relation, [])
        if fact.text not in values:
            values.append(fact.text)
        return TextPart(0, 0, evidence, relation, fact.text)

    def _stated(self, question: Question) -> list[tuple[str, TextPart]]:
        """Return the statements of the passages most like a question, also about unnamed things."""
        stating = statements_in(self._searcher, self._searcher.alike(question, NEAR_PASSAGES))
        rows = [
            (s.words, TextPart(0, 0, evidence_from(s.words, "statement", s.place, s.confidence)))
            for s, _ in stating
        ]
        return _nearest(rows, question, MOST_STATEMENTS)


def _words(fact: Fact) -> list[str]:
    """Return a fact in words; an aspect as its sentences."""
    if fact.words:
        return [fact.words]
    if fact.kind == "aspect":
        return [fact.text[start:end] for start, end in sentences(fact.text, language_of(fact.text))]
    ends = (fact.text, fact.entity.name) if fact.inverse else (fact.entity.name, fact.text)
    return [f"{ends[0]} {fact.relation} {ends[1]} {fact.time}".rstrip()]


def _nearest(
    facts: Sequence[tuple[str, TextPart]], question: Question, most: int
) -> list[tuple[str, TextPart]]:
    """Return the facts that share the most words with a question."""
    cut = question.is_chinese
    question_words = words_of(question.text, cut_chinese=cut)
    shared = [len(question_words & words_of(words, cut_chinese=cut)) for words, _ in facts]
    order = sorted(range(len(facts)), key=lambda place: -shared[place])[:most]
    return [facts[place] for place in order]
