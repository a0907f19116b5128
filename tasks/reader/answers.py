"""Select the answers to a question from the spans that the trained reader ranks highest.

An answer has the form that the question asks for and says more than the question itself. Its
probability is calibrated on held-out questions (`training/calibrate.py`).
"""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from tasks.models.span_reader.reader import Span, TrainedReader, Unit
from tasks.models.span_reader.windows import without_markup
from tasks.text.chinese_words import segmenter, simplified, tag_of
from tasks.text.expected_answer import ExpectedAnswer, asking_word, may_have_form
from tasks.text.languages import HAN, word_set
from tasks.text.question import Question, content_words
from tasks.text.stems import words_of
from tasks.text.values.english_dates import find_dates

MOST_ANSWERS = 8
FEWEST_OF_REASON = 3  # words: no name alone tells why
LONGEST_RUN = 60  # Chinese characters before and after an answer that are segmented
OUTDATES = 0.6  # least probability by which an answer outdates those of older documents
LONE_GAP = 4.0  # at most, of an answer without rivals
EDGES = " \t\n\"'“”‘’.,;:!?*_-–—|。，；：！？、"
_OPENING_BRACKETS = "(（[【《「“ "
_MARKS = ' \t\n*_"”'
PERIODS = word_set("year month week day decade century hour minute time")  # dates tell them, too
_COUNTS_NOTHING = re.compile(
    r"(?<![Oo]nly )(?<![Jj]ust )(?<!least )\b[Oo]ne of\b|\b(?:the|his|her|its|their) third\b"
    r"|\b(?:in|since|until|till|by|from|during|after|before) [12]\d{3}\b"
    r"|\b\d+(?:st|nd|rd|th)\b|(?:\b\d )?\b[A-Z]\w*\.? \d+:\d+(?:[-–,; ]+\d+(?::\d+)?)*"
)
_ARTICLE = re.compile(r"^(?:an?|the)\s+(?=\w)")
Kinds = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """An answer, its span, and the probability that it is right.

    `worth` is its margin plus the bonus for its context, `gap` the excess of its worth over that of
    the best different answer. `list_place` is the document and the character at which its list
    begins, if a list is asked for and it is from an item of one. `date` is that of its document, if
    newer ones count for more, and it is `outdated` if a newer one likely answers otherwise.
    """

    text: str
    span: Span
    worth: float
    gap: float = 0.0
    probability: float = 0.0
    list_place: tuple[str, int] | None = None
    date: str = ""
    outdated: bool = False


def find_answers(
    question: Question,
    texts: list[str],
    spans: Sequence[tuple[Span, float]],
    kinds_of: Kinds,
    options: Sequence[str] = (),
) -> list[FoundAnswer]:
    """Return the answers that spans of texts give, by decreasing worth.

    `kinds_of` returns the possible kinds of a name; each span comes with its worth. An answer says
    more than the question, or is one of the `options` that the question names. It is one cell of a
    table at most.
    """
    chinese = question.is_chinese
    question_words = words_of(question.text, cut_chinese=chinese)
    option_of = {words_of(option, cut_chinese=chinese): option for option in options}
    word = asking_word(question.text)
    fewest = FEWEST_OF_REASON if word and word[1].lower() == "why" else 1
    best: dict[str, FoundAnswer] = {}
    for span, worth in sorted(spans, key=lambda pair: -pair[1]):
        span = _whole_words(texts[span.text], span)
        text = without_markup(texts[span.text], span.start, span.end).strip(EDGES)
        text = _in_whole_brackets(without_article(text.rstrip(_OPENING_BRACKETS)))
        text = _without_asked_verbs(text, question_words) if chinese else text
        words = words_of(text, cut_chinese=chinese)
        key = " ".join(sorted(words))
        is_known = not words or key in best
        if is_known or len(text.split()) < fewest or _holds_cells(texts[span.text], span):
            continue
        if option_of:
            text = next((option for bare, option in option_of.items() if words <= bare), "")
        elif words <= question_words or not fits(text, question.expected_answer, kinds_of):
            continue
        if text:
            best[key] = FoundAnswer(text, span, worth)
        if len(best) == MOST_ANSWERS:
            break
    return list(best.values())


def _in_whole_brackets(text: str) -> str:
    """Return an answer that closes the bracket that it opens, and no other one at its end."""
    for opening, closing in ("()", "（）"):
        open_ones = text.count(opening) - text.count(closing)
        text = text + closing if open_ones == 1 else text
        text = text.removesuffix(closing) if open_ones == -1 else text
    return text


def find_sentences(
    question: Question, sentences: Iterable[tuple[str, Span, float]]
) -> list[FoundAnswer]:
    """Return the sentences that contain the answer, by decreasing worth.

    Each comes with a span and its worth. A sentence must have content words that the question
    lacks: "She did not build it" does not say who did. A row of a table is no sentence, and a
    question, as a heading may be, answers nothing.
    """
    cut = question.is_chinese
    question_words = words_of(question.text, cut_chinese=cut)
    form = replace(question.expected_answer, kinds=frozenset())
    best: dict[str, FoundAnswer] = {}
    for text, span, worth in sorted(sentences, key=lambda row: -row[2]):
        words = words_of(text if cut else content_words(text), cut_chinese=cut)
        if text.lstrip().startswith("|") or text.rstrip(_MARKS).endswith(("?", "？")):
            continue
        if not words <= question_words and text not in best and fits(text, form, lambda _: ()):
            best[text] = FoundAnswer(text, span, worth)
        if len(best) == MOST_ANSWERS:
            break
    return list(best.values())


def without_article(text: str) -> str:
    """Return an answer without the article before it."""
    return _ARTICLE.sub("", text)


def _holds_cells(text: str, span: Span) -> bool:
    """Return whether a span of a table's row holds parts of several cells."""
    row = text[text.rfind("\n", 0, span.start) + 1 : span.start].lstrip()
    return row.startswith("|") and "|" in text[span.start : span.end].strip(EDGES)


def _without_asked_verbs(text: str, question_words: Set[str]) -> str:
    """Return a Chinese answer without the question's verb at its ends: 叫 in 叫高桥."""
    words = [*segmenter().cut(text)]
    for end in (0, -1):
        while len(words) > 1 and words[end] in question_words and tag_of(words[end])[:1] == "v":
            del words[end]
    return "".join(words).strip()


def _whole_words(text: str, span: Span) -> Span:
    """Return a span extended to whole words; its ends are tokens, which may be parts of words."""
    start, end = span.start, span.end
    while 0 < start < end and _joined(text[start - 1 : start + 1]):
        start -= 1
    while start < end < len(text) and _joined(text[end - 1 : end + 1]):
        end += 1
    for run in HAN.finditer(text, max(0, start - LONGEST_RUN), end + LONGEST_RUN):
        for first, last in _dictionary_words(run.group()):
            first, last = first + run.start(), last + run.start()
            # The rest of a compound may be a word: 全长约 is rightly cut before 约.
            # Of a number it is none: 百分之 in 百分之三.
            whole = tag_of(simplified(text[first:last])) == "m"
            if first < start < last and (whole or not _is_word(text[first:start])):
                start = first
            if first < end < last and (whole or not _is_word(text[end:last])):
                end = last
    return replace(span, start=start, end=end)


def _joined(pair: str) -> bool:
    return pair.isalnum() and not HAN.search(pair)


def _is_word(part: str) -> bool:
    """Return whether a part of a Chinese word is itself a word of several characters."""
    return len(part) > 1 and bool(segmenter().has_word(simplified(part)))


@lru_cache(maxsize=256)
def _dictionary_words(run: str) -> list[tuple[int, int]]:
    """Return the ranges of the dictionary's words in a run of Chinese characters."""
    words = segmenter().cut(simplified(run))
    ends = itertools.accumulate(map(len, words))
    places = ((end - len(word), end, word) for word, end in zip(words, ends, strict=True))
    return [(start, end) for start, end, word in places if segmenter().has_word(word)]


def fits(text: str, expected: ExpectedAnswer, kinds_of: Kinds) -> bool:
    """Return whether a text has the form and kind of answer that is expected."""
    if expected.form == "number" and not expected.units and expected.noun not in PERIODS:
        for start, end, _ in find_dates(text):
            text = text[:start] + " " * (end - start) + text[end:]
        text = _COUNTS_NOTHING.sub("", text)
    if not may_have_form(text, expected.form):
        return expected.form == "date" and len(text.split()) > 2  # an event
    if expected.form == "name" and expected.kinds:
        kinds = {kind for kind in kinds_of(text) if kind != "unknown"}
        # A company is a place to work at, and an event one to meet at.
        at_place = expected.kinds == {"place"} and "person" not in kinds
        return not kinds or bool(kinds & expected.kinds) or at_place
    return True


def lone_gap(worth: float) -> float:
    """Return the gap of an answer without rivals: to no answer, whose worth is 0."""
    return min(LONE_GAP, max(worth, 0.0))


def with_probabilities(
    answers: list[FoundAnswer],
    reader: TrainedReader,
    languages: Sequence[str],
    unit: Unit,
    rivals: Sequence[FoundAnswer] = (),
) -> list[FoundAnswer]:
    """Return answers with their probabilities, the likeliest first.

    `languages` says of each text how it was read (`TrainedReader.languages`). A probability
    follows from the worth of the answer and of the best different one, also among the `rivals`,
    which were found elsewhere. Items of one list are no rivals, nor is an older document a newer's.
    """

    def probable(answer: FoundAnswer) -> FoundAnswer:
        apart = (one for one in (*answers, *rivals) if not _are_in_one_list(one, answer))
        alone = lone_gap(answer.worth)
        most = answer.worth - alone  # that counts of an older document
        different = (one for one in apart if not alike(one, answer))
        worths = [min(o.worth, most) if _is_older(o, answer) else o.worth for o in different]
        gap = answer.worth - max(worths, default=most)
        probability = reader.probability(answer.worth, gap, languages[answer.span.text], unit)
        return replace(answer, gap=gap, probability=probability)

    return sorted(map(probable, answers), key=lambda answer: -answer.probability)


def older_last(rows: list[FoundAnswer], seen: list[FoundAnswer], least: float) -> list[FoundAnswer]:
    """Return answers, last those that the newest likely one of those `seen` outdates."""
    likely = [one for one in seen if one.date and one.probability >= max(least, OUTDATES)]
    for new in sorted(likely, key=lambda one: (one.date, one.probability))[-1:]:
        rows = [replace(o, outdated=_is_older(o, new) and not alike(o, new)) for o in rows]
    return sorted(rows, key=lambda one: one.outdated)


def _is_older(one: FoundAnswer, other: FoundAnswer) -> bool:
    """Compare dates at the coarser precision of the two; what has none is not older."""
    known = min(len(one.date), len(other.date))
    return one.date[:known] < other.date[:known]


def worth_of_lists(sentences: list[FoundAnswer]) -> list[FoundAnswer]:
    """Return sentences, each worth as much more as all of its list are than the best of them.

    A margin compares one sentence with no answer, and the items of a list share what is for it.
    """
    valued = []
    for sentence in sentences:
        items = [one.worth for one in sentences if _are_in_one_list(one, sentence)]
        more = float(np.logaddexp.reduce(items)) - max(items) if items else 0.0
        valued.append(replace(sentence, worth=sentence.worth + more))
    return valued


def _are_in_one_list(first: FoundAnswer, second: FoundAnswer) -> bool:
    return first.list_place is not None and first.list_place == second.list_place


def alike(first: FoundAnswer, second: FoundAnswer) -> bool:
    """Return whether one of two answers contains the other."""
    left, right = first.text.lower(), second.text.lower()
    return left in right or right in left
