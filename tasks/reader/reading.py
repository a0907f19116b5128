"""Read the answer to a question from passages and facts, in at most two rounds.

If no answer of the first round is sure, a second round reads texts about the names in the sentences
nearest to the question, each after its sentence, so that one window holds both (compare Xiong et
al. 2021). Words that are not sure give way to a sentence that more probably contains the answer.
Reading ends with the first sure answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from schemas.answers import Evidence
from tasks.ingest.blocks import value_of_line
from tasks.models.span_reader.reader import TrainedReader, Unit
from tasks.models.span_reader.windows import without_markup
from tasks.reader.answers import (
    FoundAnswer,
    alike,
    find_answers,
    find_sentences,
    older_last,
    with_probabilities,
    without_article,
    worth_of_lists,
)
from tasks.reader.asked_names import QuestionYears
from tasks.reader.asserted import asks_of_now
from tasks.reader.candidates import TEXTS_READ, CandidateAnswer, candidates
from tasks.reader.comparison import Comparison, are_same, find_comparison, same_of_each, winner
from tasks.reader.coverage import Coverage
from tasks.reader.followed_names import leads_to, texts_beyond
from tasks.reader.lists import (
    asks_for_several,
    asks_for_steps,
    items_after,
    list_around,
    list_place,
)
from tasks.reader.nested import Nested, find_nested
from tasks.reader.sections import Section, find_sections, likeliest, worded
from tasks.reader.texts import ReaderAnswer, Source, Text, TextPart
from tasks.reader.whole import and_others, apart, whole_span
from tasks.text.languages import is_chinese
from tasks.text.question import Question, analyse, content_words
from tasks.text.sentences import on_one_line
from tasks.text.stems import words_of

READ_NEXT = (2,)  # texts of the second round
NEAREST = 3  # texts shown where there is no answer
SURE = 0.9  # probability; words that are less sure give way to a sentence,
NEARLY = 0.9  # unless they are nearly as probable: at least this part of its probability
LIKELY = 0.5  # least probability of what a question describes
LEAST_COVERAGE = 0.5  # share of the words around it that the sentence of an answer must contain
HOPS = 2  # descriptions in a question that are followed, one within the other
_BUT = re.compile(r" ?(?:But|However,) [^.\n]+\.(?!\S)|但[^。\n]+。")  # limits what is said before
OTHER_KIND = 3.0  # taken from the worth of an answer that is described as something else,
OTHER_YEAR = 3.0  # or whose sentence is about other years


@dataclass(frozen=True, slots=True)
class Read:
    """Texts, the answers in them, and the sentences that contain one, the likeliest first."""

    texts: list[Text]
    answers: list[FoundAnswer]
    sentences: list[FoundAnswer]  # and both about something else, which are not given:
    rivals: tuple[list[FoundAnswer], list[FoundAnswer]] = field(default_factory=lambda: ([], []))
    rows: list[CandidateAnswer] = field(default_factory=list)  # all spans that may answer

    def part(self, answer: FoundAnswer) -> TextPart:
        """Return the sentence or fact that contains an answer."""
        part = self.texts[answer.span.text].part_at(answer.span.start)
        assert part is not None  # others were not accepted
        return part

    @property
    def earlier(self) -> list[Evidence]:
        """The sentences of older documents that likely answered otherwise."""
        found = (one for one in (*self.answers, *self.sentences) if one.outdated)
        sentences = (self.part(one).scored(one.probability) for one in found)
        return list({place.text: place for place in sentences if place.score >= LIKELY}.values())

    def stated(self, answer: FoundAnswer) -> str:
        """Return the sentence or fact that contains an answer, after its title and headings."""
        text, part = self.texts[answer.span.text], self.part(answer)
        title = "" if text.led else text.words[: text.parts[0].start]
        return f"{title} {text.words[part.start : part.end]}"


@dataclass(frozen=True, slots=True)
class _Compared:
    """The value of one compared thing, its sentence, and the probability that it is right."""

    text: str
    evidence: Evidence
    probability: float


class Reading:
    """The texts of one source, as one model reads them.

    Answers have at least the probability `least`.
    """

    def __init__(self, source: Source, reader: TrainedReader, least: float) -> None:
        """Take the source, which may be asked one question after another."""
        self._source, self._reader, self._least = source, reader, least

    def answer(self, question: Question, hops: int = HOPS) -> ReaderAnswer:
        """Return the answer that the source gives; descriptions are followed `hops` times."""
        comparison = find_comparison(question)
        if concluded := self._conclude(question, comparison):
            return concluded
        described = self._described(question, hops)
        for nested, known in described:
            if known.probability >= self._least:
                followed = self.answer(nested.outer(known.text), hops - 1)
                words = words_of(known.text)
                if followed.answers and 2 * len(words & words_of(followed.stated)) >= len(words):
                    probability = min(followed.probability or 0.0, known.probability)
                    hops_read = [*followed.evidence, known.evidence]
                    return replace(followed, evidence=hops_read, probability=probability)
        found = self._read(question, comparison)
        is_name = question.expected_answer.form != "number"
        if found.answers and is_name and any(self._only_describes(found, *d) for d in described):
            return ReaderAnswer([], found.evidence)
        return found

    def _described(
        self, question: Question, hops: int, *, within: bool = False
    ) -> list[tuple[Nested, _Compared]]:
        """Return what a question describes, with the names that are likely meant.

        With `within` the question is itself for what another one describes.
        """
        described = []
        for nested in find_nested(question) if hops else ():
            if within and nested.is_whole:
                continue
            known = self._value(nested.inner, LIKELY, hops - 1, within=True)
            if known and known.probability >= LIKELY:
                names = sorted(self._source.names_in(known.text), key=lambda name: name.start)
                described.append((nested, replace(known, text=names[0].text) if names else known))
        return described

    def _only_describes(self, found: ReaderAnswer, nested: Nested, known: _Compared) -> bool:
        """Return whether an answer is from the sentence that tells what is described, and no more.

        It is the answer of the first hop, if its sentence says little of what is asked.
        """
        around = Coverage(analyse(nested.words_around), self._source)
        says_little = around.share(found.stated) < LEAST_COVERAGE
        return known.evidence.text == found.evidence[0].text and says_little

    def _read(self, question: Question, comparison: Comparison | None) -> ReaderAnswer:
        """Return words or a sentence, else a section; of steps and lists rather the section.

        An answer that is not sure, and that the first round read outside the likeliest section, is
        given up. A list's items that were found are given as such if that section holds them.
        """
        found, first, read = self._read_sentences(question, comparison)
        chooses = comparison is not None and bool(comparison.options)
        if chooses or (found.probability or 0.0) >= SURE:
            return found
        sections = find_sections(question, first.texts, first.rows, self._source, self._reader)
        within = bool(sections and found.answers) and _is_within(found, sections[0])
        within |= bool(found.answers) and read is not first
        best = likeliest(question, sections, self._source, self._least)
        listed = asks_for_steps(question.text) or asks_for_several(question.text)
        if best and not (within and (found.answers[1:] or not listed)):
            return _of_section(best)
        return found if within or not sections else _nothing(first)

    def _read_sentences(
        self, question: Question, comparison: Comparison | None
    ) -> tuple[ReaderAnswer, Read, Read]:
        """Return the words or the sentence that answer, the first round, and the one of these."""
        options, least = comparison.options if comparison else (), self._least
        yes_or_no = question.expected_answer.form == "yes"  # the model never learned to say either
        whole = yes_or_no or not options
        sure = max(SURE, least)
        for first in self._readings(question, self._source.near(question), options):
            if not yes_or_no and _is_sure(first.answers, sure):
                return self._given(question, first), first, first
            if whole and _is_sure(first.sentences, sure):
                break
        if yes_or_no:
            is_sure = _is_sure(first.sentences, least)
            return self._sentence(question, first) if is_sure else _nothing(first), first, first
        beyond = texts_beyond(question, first.texts, self._source)
        *_, second = self._readings(question, beyond, options, READ_NEXT, first)
        if _is_sure(second.answers, sure):
            return self._given(question, second), first, second
        if whole and _is_sure(first.sentences, least):
            likelier = max((first, second), key=_sentence_probability)
            suffices = max(least, NEARLY * _sentence_probability(likelier))
            if _is_sure(likelier.answers, suffices):
                return self._given(question, likelier), first, likelier
            return self._sentence(question, likelier), first, likelier
        for read in (first, second):
            if _is_sure(read.answers, least):
                return self._given(question, read), first, read
        if whole and _is_sure(second.sentences, least):
            return self._sentence(question, second), first, second
        return _nothing(first), first, first

    def _readings(
        self,
        question: Question,
        texts: list[Text],
        options: tuple[str, ...] = (),
        most: Sequence[int] = TEXTS_READ,
        before: Read | None = None,
    ) -> Iterator[Read]:
        """Yield the answers in the texts nearest to a question, from ever more texts.

        The answers found `before` are rivals, which lower the probability of different answers.
        """
        reader, source = self._reader, self._source
        noun = question.expected_answer.noun
        words = [text.words for text in texts]
        languages = [reader.languages(question.text, text) for text in words]
        listed = asks_for_several(question.text) or asks_for_steps(question.text)
        dated = cache(source.date_of if asks_of_now(question) else lambda _: "")
        described = cache(source.description_of)
        has_its_year = cache(QuestionYears(question).may_be_those_of)

        def worth(row: CandidateAnswer, margin: float, unit: Unit) -> float:
            other_year = 0.0 if has_its_year(row.part.evidence.text) else OTHER_YEAR
            return reader.worth(margin, row.covered, languages[row.span.text], unit) - other_year

        def other_kind(row: CandidateAnswer) -> float:
            answer = words[row.span.text][row.span.start : row.span.end]
            kind = described(answer.strip()) if noun else ""
            return OTHER_KIND if kind and noun not in words_of(kind) else 0.0

        def placed(answer: FoundAnswer) -> FoundAnswer:
            part = texts[answer.span.text].part_at(answer.span.start)
            assert part is not None  # others were not accepted
            place = list_place(part.evidence, source) if listed else None
            return replace(answer, list_place=place, date=dated(part.evidence.document_id))

        def found(rows: list[CandidateAnswer]) -> tuple[list[FoundAnswer], list[FoundAnswer]]:
            spans = [(r.span, worth(r, r.span.margin, "words") - other_kind(r)) for r in rows]
            answers = find_answers(question, words, spans, source.kinds_of, options)
            stated = (
                (row.part.evidence.text, row.span, worth(row, row.span.sentence_margin, "sentence"))
                for row in rows
            )
            sentences = [*map(placed, find_sentences(question, stated))]
            return [*map(placed, answers)], worth_of_lists(sentences) if listed else sentences

        earlier = before or Read([], [], [])
        for rows in candidates(question, texts, source, reader, most, dated):
            borne = [row for row in rows if row.is_borne_out]
            answers, sentences = found([row for row in borne if not row.is_of_another])
            rivals = found([row for row in borne if row.is_of_another])
            known = earlier.answers + earlier.rivals[0], earlier.sentences + earlier.rivals[1]
            answers = with_probabilities(answers, reader, languages, "words", known[0] + rivals[0])
            sentences = with_probabilities(
                sentences, reader, languages, "sentence", known[1] + rivals[1]
            )
            every = [*answers, *sentences, *earlier.answers, *earlier.sentences]
            latest = partial(older_last, seen=every, least=self._least)
            yield Read(texts, latest(answers), latest(sentences), rivals, rows)

    def _sentence(self, question: Question, read: Read) -> ReaderAnswer:
        """Return the likeliest sentence that contains the answer, where no words are sure.

        Where a list is asked for and it is an item of one, all items are the answer.
        """
        best = read.sentences[0]
        return self._of_list(question, read, best) or self._whole_sentence(question, read, best)

    def _whole_sentence(self, question: Question, read: Read, answer: FoundAnswer) -> ReaderAnswer:
        """Return an answer's sentence, with the list or "but" after it; of a label its value."""
        place = read.part(answer).evidence
        sentence = without_markup(value_of_line(place.text) or place.text)
        text, start = self._source.around(place)
        after = text[start + len(place.text) :]
        if sentence.endswith((":", "：")):
            sentence = f"{sentence} {'; '.join(items_after(after))}".strip()
        elif but := _BUT.match(after):
            sentence += but[0]
        return _answer(question, [sentence], read, answer)

    def _of_list(self, question: Question, read: Read, best: FoundAnswer) -> ReaderAnswer | None:
        """Return the items of the list that an answer is from, with the whole list as evidence.

        It may go on beyond the passage read. None if no list is asked for, or the answer is from
        none; or if the list has no introduction, and only one of its items may answer.
        """
        of_list = [one for one in read.sentences if one.list_place == best.list_place]
        if best.list_place is None or not (read.part(best).lead_in or of_list[1:]):
            return None
        place = read.part(best).scored(best.probability)
        text, start = self._source.around(place)
        listed = list_around(text, start)
        if listed is None or place.span_start is None:
            return None
        items, span = listed
        found = _answer(question, list(dict.fromkeys(items)), read, best)
        first, end = (at + place.span_start - start for at in span)
        whole = {"text": text[slice(*span)], "span_start": first, "span_end": end}
        return replace(found, evidence=[place.model_copy(update=whole), *found.evidence[1:]])

    def _given(self, question: Question, read: Read) -> ReaderAnswer:
        """Return the completed answers, with the sentence that has the best.

        Where several are asked for, they are the items of a list, else, if only one is found, its
        sentence, which may name others. Otherwise rivals are apart, and values not asked for go.
        """
        best = read.answers[0]
        sure = [best]
        for answer in read.answers:
            if answer.probability >= self._least and not any(alike(answer, one) for one in sure):
                sure.append(answer)
        given = [self._whole(question, answer, read) for answer in sure]
        beside = self._source.values_beside(read.part(best), given[0], best.date)
        if listed := self._of_list(question, read, best):
            return listed
        if not asks_for_several(question.text):
            words = words_of(question.text)
            named = [v for v, how in beside if not how or words & words_of(content_words(how))]
            return _only(question, given, named, read)
        given = apart(and_others(given, [value for value, _ in beside], question))
        if len(set(given)) == 1:
            return self._whole_sentence(question, read, best)
        return _answer(question, list(dict.fromkeys(given)), read, best)

    def _whole(self, question: Question, answer: FoundAnswer, read: Read) -> str:
        part, text = read.part(answer), read.texts[answer.span.text]
        sentence = text.words[part.start : part.end]
        start = answer.span.start - part.start
        at = sentence.find(answer.text, max(0, start - 1))
        if at < 0:
            return answer.text
        names = self._source.names_in(sentence)
        span = whole_span(question, sentence, (at, at + len(answer.text)), names)
        return without_article(without_markup(sentence, *span))

    def _conclude(self, question: Question, comparison: Comparison | None) -> ReaderAnswer | None:
        """Return the conclusion from the values of two things, as probable as the less sure one.

        None if the question compares nothing, or a value is unknown or not probable enough.
        """
        compares = comparison is not None and bool(comparison.parts)
        parts = comparison.parts if comparison and compares else same_of_each(question)
        known: list[_Compared] = []
        for part in parts:
            value = self._value(part, self._least, HOPS)
            if value is None or value.probability < self._least:
                return None
            known.append(value)
        if not known:
            return None
        if comparison and compares:
            number = winner(comparison, [value.text for value in known])
            answer = "" if number is None else comparison.options[number]
        else:
            yes, no = ("是", "不是") if question.is_chinese else ("yes", "no")
            answer = yes if are_same(*(value.text for value in known)) else no
        if not answer:
            return None
        probability = min(value.probability for value in known)
        return ReaderAnswer([answer], [value.evidence for value in known], probability=probability)

    def _value(
        self, part: Question, least: float, hops: int, *, within: bool = False
    ) -> _Compared | None:
        """Return the words that answer a question, also about something that it only describes.

        With `within` the question asks what another one describes; a description in it is followed
        only if nothing surely answers the whole.
        """
        direct = self._read_value(part) if within else None
        if direct and direct.probability >= SURE:
            return direct
        for nested, known in self._described(part, hops, within=within):
            value = self._value(nested.outer(known.text), least, hops - 1)
            if value and min(value.probability, known.probability) >= least:
                return replace(value, probability=min(value.probability, known.probability))
        return direct if within else self._read_value(part)

    def _read_value(self, part: Question) -> _Compared | None:
        for read in self._readings(part, self._source.near(part)):
            if _is_sure(read.answers, SURE):
                break
        if not read.answers:
            return None
        best = read.answers[0]
        evidence = read.part(best).scored(best.probability)
        return _Compared(self._whole(part, best, read), evidence, best.probability)


def _is_sure(answers: list[FoundAnswer], least: float) -> bool:
    return bool(answers) and answers[0].probability >= least and not answers[0].outdated


def _of_section(section: Section) -> ReaderAnswer:
    place = section.place.model_copy(update={"score": round(section.probability, 4)})
    stated = f"{section.within.subject} {place.text}"
    return ReaderAnswer([worded(place.text)], [place], None, section.probability, stated)


def _is_within(found: ReaderAnswer, section: Section) -> bool:
    """Return whether what states an answer overlaps with a section."""
    one, other = found.evidence[0], section.place
    start, first = one.span_start or 0, other.span_start or 0
    overlaps = start < first + len(other.text) and first < start + len(one.text)
    return overlaps and one.document_id == other.document_id


def _sentence_probability(read: Read) -> float:
    return read.sentences[0].probability if _is_sure(read.sentences, 0.0) else 0.0


def _nothing(read: Read) -> ReaderAnswer:
    """Return no answer but the nearest passages, first the one with the likeliest sentence.

    It is shown from that sentence on, as its beginning may say nothing of what is asked.
    """
    wholes = [text.whole for text in read.texts]
    likeliest = read.sentences[0] if read.sentences else None
    if likeliest:
        wholes.insert(0, read.texts[likeliest.span.text].whole)
    nearest = {(whole.document_id, whole.text): whole for whole in wholes if whole}  # of pieces
    shown = list(nearest.values())[:NEAREST]
    if likeliest and (passage := wholes[0]):
        start = read.part(likeliest).evidence.span_start or 0
        text = passage.text[start - (passage.span_start or 0) :]
        shown[0] = passage.model_copy(update={"text": text, "span_start": start})
    return ReaderAnswer([], shown)


def _answer(question: Question, given: list[str], read: Read, best: FoundAnswer) -> ReaderAnswer:
    text, part = read.texts[best.span.text], read.part(best)
    evidence = [part.scored(best.probability)]
    evidence += [text.led.evidence] if text.led and leads_to(part, text, question) else []
    given = [on_one_line(words) for words in given]
    probability, stated = best.probability, read.stated(best)
    return ReaderAnswer(given, evidence, None, probability, stated, earlier=read.earlier)


def _only(question: Question, given: list[str], values: list[str], read: Read) -> ReaderAnswer:
    """Return the best answer with the further values of its relation, apart from its rivals.

    A name in the other script, Chinese or letters, is taken for a translation, which is neither.
    """
    best, names = given[0], question.expected_answer.form == "name"

    def in_its_script(texts: list[str]) -> list[str]:
        return [text for text in texts if not names or is_chinese(text) == is_chinese(best)]

    answers = and_others([best], in_its_script(values), question)
    others = [on_one_line(text) for text in in_its_script(given[1:]) if text not in answers]
    found = _answer(question, list(dict.fromkeys(answers)), read, read.answers[0])
    return replace(found, others=list(dict.fromkeys(others)))
