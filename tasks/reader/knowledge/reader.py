"""Answers questions from the knowledge extracted from the corpus, without its passages."""

from schemas.answers import Evidence
from tasks.models.encoders.minilm import Encoder
from tasks.programs.knowledge_bases.edition_graph import EditionGraph
from tasks.programs.relation_matching import RelationMatcher
from tasks.reader.comparison import find_comparison
from tasks.reader.definition import name_to_define
from tasks.reader.knowledge.comparison import answer_comparison
from tasks.reader.knowledge.corpus import CorpusKnowledge
from tasks.reader.knowledge.lookup import Lookup
from tasks.reader.knowledge.multi_hop import answer_hops
from tasks.reader.knowledge.support import Candidate
from tasks.reader.reading import ReaderAnswer
from tasks.reader.sentence import Sentence, evidence_from
from tasks.text.question import Question
from warehouse.editions import Edition

NEARLY = 0.8  # other answers have at least this share of the best one's score


class KnowledgeReader:
    """Answers questions from the corpus graph of one edition."""

    def __init__(self, graph: EditionGraph, edition: Edition, encoder: Encoder | None = None):
        """Open the knowledge that was extracted from the edition's corpus."""
        self._knowledge = CorpusKnowledge(graph, edition, encoder)
        self._matcher = RelationMatcher()

    def answer(self, question: Question) -> ReaderAnswer:
        """Look up the records for the question, and read the answer from them."""
        lookup = Lookup(question, self._knowledge, self._matcher)
        answers, sentences, score = self._answer(question, lookup)
        evidence = [self._evidence(sentence, score) for sentence in sentences]
        return ReaderAnswer(answers, evidence, lookup.programs, lookup.runs)

    def _answer(
        self, question: Question, lookup: Lookup
    ) -> tuple[list[str], list[Sentence], float]:
        names = self._knowledge.names_in_question(question)
        name = name_to_define(question, names)
        records = lookup.records_of(lookup.entities([name.text])) if name else []
        descriptions = [record for record in records if record.fact is None]
        if descriptions:
            return [descriptions[0].text], descriptions[:1], 1.0
        comparison = find_comparison(question, names)
        if comparison:
            answered = answer_comparison(comparison, lookup)
            return ([answered[0]], answered[1], 1.0) if answered else ([], [], 0.0)
        candidates = [c for c in answer_hops(question, lookup) if c.supported]
        if not candidates:
            return [], [], 0.0
        best = candidates[0]
        sentences = [sentence for reading in best.readings for sentence in reading.chain]
        return _answers(candidates), sentences, best.score

    def _evidence(self, record: Sentence, score: float) -> Evidence:
        fact, knowledge = record.fact, self._knowledge
        place = record.place if fact else knowledge.place_of(record.entity, record.text)
        kind = fact.kind if fact else "description"
        return evidence_from(record.text, kind, place, min(score, 1.0), knowledge.graph)


def _answers(candidates: list[Candidate]) -> list[str]:
    """Return the best answer, and others that the same relation of the same thing leads to."""
    best = candidates[0]
    equal = (
        candidate.text
        for candidate in candidates
        if candidate.score >= NEARLY * best.score
        and _relation(candidate) == _relation(best) is not None
    )
    return list(dict.fromkeys([best.text, *equal]))


def _relation(candidate: Candidate) -> tuple[str, str, str | bool] | None:
    """Return the entity and the relation of an answer's triple, and the side of the answer.

    Of a statement it is that very statement, and the end that holds the answer.
    """
    first, phrase = candidate.readings[-1].chain[0], candidate.readings[-1].phrase.text
    fact = first.fact
    if fact is None or fact.kind == "aspect":
        return None
    if fact.ends:
        held = next((end for end in fact.ends if phrase in end), "")
        return fact.fact_id or "", fact.relation, held
    return first.topic, fact.relation, candidate.text in fact.text
