"""The spans of texts that may answer a question: those that are about it and assert it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tasks.models.span_reader.reader import Span, TrainedReader
from tasks.reader.asked_names import AskedNames
from tasks.reader.asserted import Asserted
from tasks.reader.coverage import Coverage
from tasks.reader.texts import Source, Text, TextPart
from tasks.text.languages import is_chinese
from tasks.text.question import Question

TEXTS_READ = (3, 5)  # texts of the first round, the nearest to the question: at once, in all


@dataclass(frozen=True, slots=True)
class CandidateAnswer:
    """A span that may answer, its part, and the share of the question that its part covers."""

    span: Span
    part: TextPart
    covered: float
    is_of_another: bool  # person, organisation or office
    is_borne_out: bool = True  # the names asked for are in its text


def candidates(
    question: Question,
    texts: list[Text],
    source: Source,
    reader: TrainedReader,
    most: Sequence[int] = TEXTS_READ,
    dated: Callable[[str | None], str] = lambda _: "",
) -> Iterator[list[CandidateAnswer]]:
    """Yield the spans that may answer a question, from ever more texts that are near to it.

    Near are those that cover most of its words and are most similar by vectors. A text in the other
    language need not share its words and names. Of those about as near, newer ones come first where
    documents are `dated`, by their ids.
    """
    coverage, names = Coverage(question, source), AskedNames(question, source)
    asserted = Asserted(question)
    nearness = [coverage.share(text.words) + text.cosine for text in texts]
    foreign = [is_chinese(text.words) != question.is_chinese for text in texts]
    dates = [dated(text.whole.document_id) if text.whole else "" for text in texts]
    newest = sorted(range(len(texts)), key=lambda n: (dates[n], nearness[n]), reverse=True)
    order = sorted(newest, key=lambda number: -round(nearness[number], 1))
    rows: list[CandidateAnswer] = []
    for begin, end in pairwise((0, *most)):
        chosen = [
            number
            for number in order[begin:end]
            if foreign[number] or coverage.may_answer(texts[number])
        ]
        borne = {n for n in chosen if foreign[n] or names.are_borne_by(texts[n])}
        spans = reader.read(question.text, [texts[number].words for number in chosen])
        for span in (replace(span, text=chosen[span.text]) for span in spans):
            text = texts[span.text]
            part = text.part_at(span.start)
            if not part:
                continue
            if not asserted.holds(text.words[part.start : part.end], span.start - part.start):
                continue
            is_about_it = coverage.is_related(text, part) and names.concern(text, part)
            if (foreign[span.text] or is_about_it) and coverage.adds(text.led, part):
                inside = replace(span, end=min(span.end, part.end))  # a line of code is a part
                sentence = text.introduced(part)
                is_of_it = names.all_act_in(text, part) and asserted.keeps_offices(sentence)
                another = not (foreign[span.text] or is_of_it)
                known = span.text in borne
                rows.append(CandidateAnswer(inside, part, coverage.share(sentence), another, known))
        yield list(rows)
