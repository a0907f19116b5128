"""Sections of texts: a paragraph, a list or code, with what introduces it.

A section is the largest unit of an answer. How something is done takes several sentences or lines,
each of which may be unsure where all of them together are not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from schemas.answers import Evidence
from tasks.models.span_reader.reader import TrainedReader
from tasks.models.span_reader.windows import without_markup
from tasks.reader.answers import fits
from tasks.reader.asked_names import AskedNames
from tasks.reader.candidates import CandidateAnswer
from tasks.reader.coverage import Coverage
from tasks.reader.lists import asks_for_several, asks_for_steps, is_item
from tasks.reader.texts import Source, Text
from tasks.text.question import Question, Span

LONGEST = 1_500  # characters of a section; a longer one answers nothing in particular
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_APART = re.compile(  # headings, boxes, pictures, tags
    r"[ \t]*(?:#{1,6}[ \t]|:{3,}|!\[[^\]\n]*\]\([^)\n]*\)[ \t]*$|<[^>\n]+>[ \t]*$)", re.M
)
_HEADED = re.compile(r"^[ \t]*(?:#{1,6}[ \t]|:{3,})", re.M)
_ASKS = re.compile(r"[?？][*_\s]*\Z")
_INTRODUCES = re.compile(r"[:：][*_\s]*\Z")
_MARKER = re.compile(r"^[ \t]*(?:[-*+•·]|\d{1,3}[.)、])[ \t]+", re.M)


@dataclass(frozen=True, slots=True)
class Section:
    """A section that may answer, the text it is from, its place, its measures and its probability.

    The measures are those of `TrainedReader.shares_of_sections`.
    """

    within: Text
    place: Evidence
    measures: tuple[float, ...]
    probability: float = 0.0


def find_sections(
    question: Question,
    texts: Sequence[Text],
    rows: Sequence[CandidateAnswer],
    source: Source,
    reader: TrainedReader,
) -> list[Section]:
    """Return the sections with spans that may answer a question, the likeliest first.

    At most one of them answers it (a conditional logit, McFadden 1974).
    """
    sentences: dict[tuple[int, int], CandidateAnswer] = {}
    for row in sorted(rows, key=lambda row: row.span.sentence_margin):
        sentences[row.span.text, row.part.start] = row
    margins: dict[tuple[str, int], list[float]] = {}
    found: dict[tuple[str, int], tuple[Text, Evidence]] = {}
    for row in sentences.values():
        text, stated = texts[row.span.text], row.part.evidence
        if stated.kind != "passage" or stated.document_id is None or stated.span_start is None:
            continue
        around, at = source.around(stated)
        start, end = section_around(around, at)
        first = stated.span_start - at + start
        located = {"text": around[start:end], "span_start": first, "span_end": first + end - start}
        key = stated.document_id, first
        found.setdefault(key, (text, stated.model_copy(update=located)))
        margins.setdefault(key, []).append(row.span.sentence_margin)
    coverage = Coverage(question, source)
    form = replace(question.expected_answer, kinds=frozenset())
    steps, several = asks_for_steps(question.text), asks_for_several(question.text)
    sections = []
    for key, (text, place) in found.items():
        if _ASKS.search(place.text) or not fits(place.text, form, lambda _: ()):
            continue
        measures = (
            float(np.logaddexp.reduce(margins[key])),
            coverage.share(f"{text.subject} {place.text}"),
            coverage.share(text.subject),
            text.cosine,
            texts.index(text) / 10,
            float((steps or several) and _MARKER.search(place.text) is not None),
            float(steps and _FENCE.search(place.text) is not None),
        )
        sections.append(Section(text, place, measures))
    shares = reader.shares_of_sections([section.measures for section in sections])
    likely = [replace(one, probability=share) for one, share in zip(sections, shares, strict=True)]
    return sorted(likely, key=lambda section: -section.probability)


def likeliest(
    question: Question, sections: Sequence[Section], source: Source, least: float
) -> Section | None:
    """Return the likeliest of sections whose documents bear all names of the question.

    A handbook seldom repeats in each paragraph what it is about, so that the paragraph need not.
    """
    names = AskedNames(question, source)
    likely = (section for section in sections if section.probability >= least)
    return next((one for one in likely if names.are_all_around(one.within, one.place)), None)


def section_around(text: str, start: int) -> Span:
    """Return the span of the section of a text that holds a character; of a long one its line.

    Items belong to one list, a list and code to the paragraph before it, a table to one that ends
    with a colon, and an answer to a question that stands alone.
    """
    section: Span | None = None
    before = ""
    for begin, end in _blocks(text):
        block = text[begin:end]
        is_apart = section and _HEADED.search(text, section[1], begin)
        if section and not is_apart and _continues(block, before):
            section = section[0], end
        elif section and section[0] <= start < section[1]:
            break
        else:
            section = begin, end
        before = block
    if section and section[0] <= start < section[1] and section[1] - section[0] <= LONGEST:
        return section
    end = text.find("\n", start)
    return text.rfind("\n", 0, start) + 1, end if end >= 0 else len(text)


def _continues(block: str, before: str) -> bool:
    """Return whether a block belongs to the section of the block before it."""
    is_code, is_listed = bool(_FENCE.match(block)), is_item(block, 0) or block.startswith("  ")
    if is_code or is_listed or (_INTRODUCES.search(before) and block.startswith("|")):
        return True
    return bool(_ASKS.search(before) and not _ASKS.search(block))


def _blocks(text: str) -> Iterator[Span]:
    """Yield the spans of what empty lines, headings, pictures and boxes divide outside of code."""
    begin, place, fence = -1, 0, ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
            if begin >= 0:
                yield begin, place
            begin = place
        elif begin >= 0 and (not line.strip() or _APART.match(line)):
            yield begin, place
            begin = -1
        if begin < 0 and line.strip() and (fence or not _APART.match(line)):
            begin = place
        place += len(line)
    if begin >= 0:
        yield begin, place


def worded(section: str) -> str:
    """Return a section without markup, but with its lines and the marks of its items."""
    lines, fence = [], ""
    for line in section.strip("\n").split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif line.strip() and (fence or not _APART.match(line)):
            item = _MARKER.match(line)
            first = item.end() if item else 0
            lines.append(line if fence else line[:first] + without_markup(line, first).strip())
    return "\n".join(lines)
