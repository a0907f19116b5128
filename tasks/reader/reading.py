"""Reads the answer to a question from passages and facts, in at most two rounds.

If no text answers surely, the sentences nearest to the question lead on: texts about what they name
are read after them, so that one window holds both (compare Xiong et al. 2021).
"""

import math
from dataclasses import dataclass, replace
from itertools import islice

from tasks.models.span_reader.reader import Span, TrainedReader
from tasks.models.span_reader.windows import without_markup
from tasks.reader.answers import (
    FoundAnswer,
    alike,
    asks_for_several,
    find_answers,
    items_around,
    without_article,
)
from tasks.reader.comparison import Comparison, find_comparison, winner
from tasks.reader.texts import Part, ReaderAnswer, Source, Text, pieces
from tasks.reader.whole import and_others, apart, whole_span
from tasks.text.question import Question
from tasks.text.stems import stems_of, words_of

NEAREST = 3  # texts shown where there is no answer
LEADING = 3  # sentences that lead on
NAMES = 4  # that are followed from them
# Added to margins, which are about -5 to 10, for the shares of a question that are covered: by the
# sentence, by the text around it, and by its title.
NEAR, AROUND, TITLE, UNCOVERED = 8.0, 2.0, 2.0, 7.0
OTHER_KIND = 3.0
_DATE_WORDS = frozenset({"year", "date", "time", "day"})


@dataclass(frozen=True, slots=True)
class Read:
    """Texts, and the answers found in them."""

    texts: list[Text]
    answers: list[FoundAnswer]

    def part(self, answer: FoundAnswer) -> Part:
        """Return the sentence or fact in which an answer stands."""
        part = self.texts[answer.span.text].part_at(answer.span.start)
        assert part is not None  # others were not accepted
        return part


def answer_from(
    question: Question, source: Source, reader: TrainedReader, least: float
) -> ReaderAnswer:
    """Return the answer that a source gives, if it has the probability `least`."""
    comparison = find_comparison(question)
    if comparison and comparison.parts:
        compared = _compare(comparison, source, reader, least)
        if compared:
            return compared
    options = comparison.options if comparison else ()
    first = read(question, source.near(question), source, reader, options)
    best = first
    if not _is_sure(first, least) and question.expected_answer.form != "yes":
        best = read(question, _beyond(question, first.texts, source), source, reader, options)
    if not _is_sure(best, least):
        nearest = [text.whole for text in first.texts if text.whole][:NEAREST]
        return ReaderAnswer([], nearest)
    return _given(question, best, source, least)


def read(
    question: Question,
    texts: list[Text],
    source: Source,
    reader: TrainedReader,
    options: tuple[str, ...] = (),
) -> Read:
    """Return the answers of texts, the likeliest first."""
    worth = _Worth(question, source)

    def bonus(span: Span) -> float:
        text = texts[span.text]
        part = text.part_at(span.start)
        return worth.of(text, part, text.words[span.start : span.end]) if part else -math.inf

    words = [text.words for text in texts]
    answers = find_answers(question, words, reader, source.kinds_of, bonus, options)
    return Read(texts, answers)


def _is_sure(read: Read, least: float) -> bool:
    return bool(read.answers) and read.answers[0].probability >= least


def _given(question: Question, read: Read, source: Source, least: float) -> ReaderAnswer:
    """Return the answers whole, in the form that is asked for, with the sentence that says them."""
    best = read.answers[0]
    part, words = read.part(best), read.texts[best.span.text].words
    text = read.texts[best.span.text]
    evidence = [part.scored(best.probability)]
    evidence += [text.led.scored(best.probability)] if text.led else []
    others = (answer for answer in read.answers if answer.probability >= least)
    sure = [best, *(answer for answer in others if not alike(answer, best))]
    if question.expected_answer.form == "yes":
        given = [without_markup(part.evidence.text)]  # nothing was trained to say yes or no
    else:
        given = [_whole(question, answer, read, source) for answer in sure]
        given = and_others(given, source.values_beside(part, given[0]), question)
        if asks_for_several(question.text):
            given = items_around(words, best.span.start) or apart(given)
    return ReaderAnswer(list(dict.fromkeys(given)), evidence, probability=best.probability)


def _whole(question: Question, answer: FoundAnswer, read: Read, source: Source) -> str:
    part, text = read.part(answer), read.texts[answer.span.text]
    sentence = text.words[part.start : part.end]
    start = answer.span.start - part.start
    at = sentence.find(answer.text, max(0, start - 1))
    if at < 0:
        return answer.text
    span = whole_span(question, sentence, (at, at + len(answer.text)), source.names_in(sentence))
    return without_article(without_markup(sentence[slice(*span)]))


class _Worth:
    """What it adds to an answer that the text around it says what is asked about.

    The words of a question weigh by their rarity.
    """

    def __init__(self, question: Question, source: Source) -> None:
        self._source, self._cut = source, question.is_chinese
        self._noun = question.expected_answer.noun
        asked = question.text if question.is_chinese else question.content_words
        left_out = _DATE_WORDS if question.expected_answer.form == "date" else frozenset()
        rows = [row for row in stems_of(asked) if row[2] not in left_out]
        rarity = {word: source.rarity(asked[start:end]) for start, end, word in rows}
        total = sum(rarity.values()) or 1.0
        self.weights = {word: value / total for word, value in rarity.items()}

    def of(self, text: Text, part: Part, answer: str) -> float:
        """Return what is added to the margin of an answer in a part of a text."""
        about = text.words[: text.parts[0].start]
        here = text.words[part.start : part.end]
        if text.led and not self._adds(text.led, here):
            return -math.inf
        near = self.covered(f"{about} {here}")
        worth = NEAR * near + AROUND * self.covered(text.words) + TITLE * self.covered(about)
        return worth + self._typed(answer) - UNCOVERED

    def covered(self, words: str) -> float:
        """Return the share of a question that the words of a text cover."""
        stems = words_of(words, cut_chinese=self._cut)
        return sum(weight for word, weight in self.weights.items() if word in stems)

    def _adds(self, led: Part, here: str) -> bool:
        """Return whether a part covers words that the sentence which led to it does not cover."""
        known = words_of(led.evidence.text, cut_chinese=self._cut)
        open_ = self.weights.keys() - known
        return not open_ or bool(open_ & words_of(here, cut_chinese=self._cut))

    def _typed(self, answer: str) -> float:
        """Return less than 0 for a thing that is described as something else than is asked for."""
        described = self._source.description_of(answer.strip()) if self._noun else ""
        return 0.0 if not described or self._noun in words_of(described) else -OTHER_KIND


def _beyond(question: Question, texts: list[Text], source: Source) -> list[Text]:
    """Return texts about what the sentences nearest to a question name, each after its sentence."""
    asked = question.text if question.is_chinese else question.content_words
    worth = _Worth(question, source)
    known = words_of(question.text)

    def nearness(part: Part) -> float:
        return worth.covered(part.evidence.text)

    parts = [part for text in texts for part in text.parts]
    leading = sorted(parts, key=lambda part: -nearness(part))[:LEADING]
    pairs = {
        name.text: part
        for part in reversed(leading)
        for name in source.names_in(part.evidence.text)
        if not words_of(name.text) <= known
    }
    texts = []
    for name, part in islice(reversed(pairs.items()), NAMES):
        covered = words_of(part.evidence.text)
        open_ = " ".join(asked[a:b] for a, b, word in stems_of(asked) if word not in covered)
        for text in source.about(name, open_):
            others = [other for other in text.parts if other.evidence.text != part.evidence.text]
            text = replace(text, parts=tuple(others))
            texts += pieces(text, part.evidence.text, part)
    return texts


def _compare(
    comparison: Comparison, source: Source, reader: TrainedReader, least: float
) -> ReaderAnswer | None:
    """Return the thing that has the winning value; None if the values are not both known."""
    values, evidence, probability = [], [], 1.0
    for part in comparison.parts:
        reading = read(part, source.near(part), source, reader)
        if not _is_sure(reading, least):
            return None
        best = reading.answers[0]
        values.append(_whole(part, best, reading, source))
        evidence.append(reading.part(best).scored(best.probability))
        probability = min(probability, best.probability)
    number = winner(comparison, values)
    if number is None:
        return None
    return ReaderAnswer([comparison.options[number]], evidence, probability=probability)
