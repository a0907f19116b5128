"""Answers questions from the passages of an edition, with the sentences that support them."""

from collections import defaultdict

from schemas.answers import MIN_SCORE, Evidence
from schemas.knowledge import Entity
from schemas.settings import EngineSettings
from tasks.models.encoders.minilm import load_encoder
from tasks.models.span_reader.reader import SHIPPED_MODEL, TrainedReader, trained_reader
from tasks.models.span_reader.windows import without_markup
from tasks.programs.knowledge_bases.protocol import Place
from tasks.programs.knowledge_bases.statements import are_linked, statements_in
from tasks.reader.comparison import (
    PairQuestion,
    ValueComparison,
    find_comparison,
    winner,
)
from tasks.reader.definition import describe, name_to_define
from tasks.reader.reading import (
    ENOUGH_FOR_PART,
    LONGEST_CHAIN,
    ReaderAnswer,
    Reading,
    read,
    weigh,
)
from tasks.reader.sentence import Sentence, StatedTriple, evidence_from
from tasks.reader.trained.answers import asks_for_several, find_answers, items_around
from tasks.retrieval.linked_names import LinkedName
from tasks.retrieval.search import Hit, Searcher
from tasks.text.expected_answer import ExpectedAnswer
from tasks.text.languages import HAN, language_of
from tasks.text.names import normalise_name
from tasks.text.question import Question, content_words
from tasks.text.sentences import sentences
from tasks.text.stems import words_of
from tasks.text.words import WORD
from warehouse.editions import DUCKDB_FILE, Edition

PASSAGES = 16
MOST_SENTENCES = 160  # of all passages together
NEARLY = 0.9  # other answers have at least this share of the best one's score
ALIKE, WALKED = 8, 6  # passages that the trained reader reads: by likeness, and by the graph
NEAREST = 3  # passages shown where there is no answer
_PLACE = ExpectedAnswer("name", frozenset({"place"}))
_TRIPLES = """
select m.document_id, m.span_start, t.head, t.relation, t.tail
from mentions m join asserted_triples t on t.triple_id = m.fact_id
where m.fact_kind = 'triple' and list_contains($documents, m.document_id)
order by t.triple_id, m.span_start
"""


class PassageReader:
    """Answers questions from the passages of one edition."""

    def __init__(self, edition: Edition, settings: EngineSettings | None = None) -> None:
        """Open the edition's indexes and its database, read-only.

        Raises DamageError if they are not what the edition's manifest says.
        """
        edition.check(DUCKDB_FILE, f"{Entity.table}.parquet", "search/")
        settings = settings or EngineSettings()
        self._con = edition.connect()
        self._linked = are_linked(self._con)
        reads = settings.encoder == "minilm" and SHIPPED_MODEL.exists()
        self._trained = trained_reader() if reads else None
        self._searcher = Searcher(
            edition.path,
            load_encoder(settings.encoder),
            load_encoder(settings.chinese_encoder or "none"),
        )

    def answer(self, question: Question, min_score: float = MIN_SCORE) -> ReaderAnswer:
        """Return the answer with its evidence.

        Where no passage supports one, or none with the probability `min_score`, there is no answer,
        and the evidence is the nearest passages.
        """
        names = self._searcher.link(question)
        comparison = find_comparison(question, names)
        if isinstance(comparison, ValueComparison):
            return self._compare(comparison)
        if isinstance(comparison, PairQuestion) and comparison.shared_noun:
            return self._share_place(comparison)
        name = name_to_define(question, names)
        descriptions = describe(name, self._searcher, self._con) if name else []
        if descriptions:
            return ReaderAnswer([descriptions[0].text], descriptions)
        if self._trained and not question.is_chinese:
            return self._read_trained(question, names, self._trained, min_score)
        readings = self._read(question, question.expected_answer, names)
        readings = [reading for reading in readings if reading.is_enough]
        if not readings:
            return ReaderAnswer()
        near = [r.phrase.text for r in readings if r.score >= NEARLY * readings[0].score]
        return _from_readings(near, readings[:1])

    def _read_trained(
        self, question: Question, names: list[LinkedName], reader: TrainedReader, least: float
    ) -> ReaderAnswer:
        """Return what the trained reader answers; if it is not sure enough, only the passages."""
        alike = self._searcher.alike(question, ALIKE)
        walked = self._searcher.passages(question, WALKED, names)
        hits = list({hit.row: hit for hit in (*alike, *walked)}.values())
        texts = [hit.fields["text"] for hit in hits]
        answers = find_answers(question, texts, reader, self._kinds_of)
        answers = [answer for answer in answers if answer.probability >= least]
        if not answers:
            return ReaderAnswer([], [_evidence_of(hit, 0, 0, hit.score) for hit in hits[:NEAREST]])
        best = answers[0].span
        evidence = _evidence_of(hits[best.text], best.start, best.end, answers[0].probability)
        given = [answer.text for answer in answers]
        if question.expected_answer.form == "yes":
            given = [without_markup(evidence.text)]  # nothing was trained to say yes or no
        elif asks_for_several(question.text):
            given = items_around(texts[best.text], best.start) or given
        return ReaderAnswer(given, [evidence], probability=answers[0].probability)

    def _kinds_of(self, name: str) -> list[str]:
        bearers = self._searcher.names.bearers(normalise_name(name))
        return [self._searcher.kind_of(bearer.entity) for bearer in bearers]

    def _read(
        self,
        question: Question,
        expected: ExpectedAnswer,
        names: list[LinkedName],
        chain: int = LONGEST_CHAIN,
    ) -> list[Reading]:
        hits = self._searcher.passages(question, PASSAGES, names)
        sentences = self._sentences(hits, cut_chinese=HAN.search(question.text) is not None)
        weighted = weigh(question, expected, names, self._searcher.rarity, chain)
        return read(weighted, sentences, self._searcher)

    def _compare(self, comparison: ValueComparison) -> ReaderAnswer:
        """Ask about both things; answer with the one that has the winning value."""
        readings = self._read_parts(comparison.parts, comparison.options, comparison.expected)
        number = winner(comparison, readings)
        return (
            ReaderAnswer()
            if number is None
            else _from_readings([comparison.options[number]], readings)
        )

    def _share_place(self, pair: PairQuestion) -> ReaderAnswer:
        readings = self._read_parts(pair.parts, pair.options, _PLACE)
        if len(readings) < 2:
            return ReaderAnswer()
        shared = self._places_around(readings[0]) & self._places_around(readings[1])
        return _from_readings(["yes" if shared else "no"], readings)

    def _read_parts(
        self, parts: tuple[Question, Question], options: tuple[str, str], expected: ExpectedAnswer
    ) -> list[Reading]:
        readings = (
            self._read_about(part, expected, option)
            for part, option in zip(parts, options, strict=True)
        )
        return [reading for reading in readings if reading is not None]

    def _read_about(
        self, question: Question, expected: ExpectedAnswer, option: str
    ) -> Reading | None:
        """Return the best reading from a sentence about the thing itself.

        Sentences from a document about the thing are preferred to others that name it.
        """
        name = words_of(content_words(option) or option)
        readings = self._read(question, expected, self._searcher.link(question), chain=1)
        readings = [r for r in readings if r.score >= ENOUGH_FOR_PART]
        titled = [r for r in readings if name <= r.chain[0].title_stems]
        others = [r for r in readings if name <= r.chain[0].stems | r.chain[0].title_stems]
        return next(iter(titled + others), None)

    def _places_around(self, reading: Reading) -> set[str]:
        """Return the places in a reading's sentence and in the first sentences of texts on them."""
        near = self._places(reading.chain[0].names)
        wide = set(near)
        for name in near:
            hit = self._searcher.about(name)
            if hit:
                start, end = sentences(hit.fields["text"])[0]
                wide |= self._places(self._searcher.names_in(hit.fields["text"][start:end]))
        return wide

    def _places(self, names: list[LinkedName]) -> set[str]:
        return {
            normalise_name(name.text)
            for name in names
            if self._searcher.kind_of(name.bearers[0].entity) == "place"
        }

    def _sentences(self, hits: list[Hit], *, cut_chinese: bool) -> list[Sentence]:
        gathered: list[Sentence] = []
        for passage in (hit.fields for hit in hits):
            text, first = passage["text"], passage["span_start"]
            for start, end in sentences(text, language_of(text)):
                if len(gathered) >= MOST_SENTENCES:
                    break
                if not WORD.search(text[start:end]):
                    continue
                gathered.append(
                    Sentence(
                        topic=passage["document_id"],
                        title=passage["title"],
                        text=text[start:end],
                        names=self._searcher.names_in(text[start:end]),
                        triples=[],
                        place=Place(
                            passage["document_id"], passage["uri"], first + start, first + end
                        ),
                        cut_chinese=cut_chinese,
                    )
                )
        self._attach_triples(gathered, [hit.fields["passage_id"] for hit in hits])
        return gathered

    def _attach_triples(self, gathered: list[Sentence], passages: list[str]) -> None:
        documents = sorted({sentence.topic for sentence in gathered})
        stated: dict[str, list[tuple[int, StatedTriple]]] = defaultdict(list)
        for row in self._con.execute(_TRIPLES, {"documents": documents}).fetchall():
            stated[row[0]].append((row[1], StatedTriple(*row[2:])))
        for clause in statements_in(self._con, passages) if self._linked else ():
            triple = StatedTriple(clause.subject, clause.predicate, clause.object)
            stated[clause.place.document_id].append((clause.place.span_start, triple))
        for sentence in gathered:
            assert sentence.place is not None
            inside = range(sentence.place.span_start, sentence.place.span_end)
            sentence.triples = [triple for at, triple in stated[sentence.topic] if at in inside]


def _evidence_of(hit: Hit, start: int, end: int, score: float) -> Evidence:
    """Return the sentences of a passage between two characters as evidence; all of it for none."""
    text, first = hit.fields["text"], hit.fields["span_start"]
    inside = [span for span in sentences(text) if span[0] < end and span[1] > start]
    begin, stop = (inside[0][0], inside[-1][1]) if inside else (0, len(text))
    place = Place(hit.fields["document_id"], hit.fields["uri"], first + begin, first + stop)
    return evidence_from(text[begin:stop], "passage", place, min(score, 1.0))


def _from_readings(answers: list[str], readings: list[Reading]) -> ReaderAnswer:
    evidence = [
        evidence_from(sentence.text, "passage", sentence.place, reading.score)
        for reading in readings
        for sentence in reading.chain
    ]
    return ReaderAnswer(answers, evidence)
