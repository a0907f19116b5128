"""Split a text into passages: whole sentences within a token budget, never across a heading."""

import hashlib
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from tasks.ingest.blocks import ROWS, Block, BlockKind, Blocks
from tasks.text.english_words import is_word
from tasks.text.languages import HAN_OR_KANA_CLASS
from tasks.text.sentences import sentences

# Raise it whenever some text gets other passages, blocks, headings or another subject; the next
# refresh then splits every text again. `tests/test_versions.py` notices a change.
SPLITTER_VERSION = 10
# A character of a script without spaces, a word (in parts if long), a punctuation mark, a wide gap.
_TOKEN = re.compile(
    rf"[{HAN_OR_KANA_CLASS}]|[^\W{HAN_OR_KANA_CLASS}]{{1,24}}"
    r"|[^\w\s]|\s{24}"
)
_WIDE_GAP = 24  # white-space characters that count as a token, so that no passage is mostly empty
# An ASCII mark without a space after it stands inside an address, a time or a number.
_CLAUSE = re.compile(r"(?:[，、；：—–]|[,;:](?=[\"'”’」』]*\s))[\"'”’」』]*|\s")
_LINE = re.compile(r"\S[^\n]*")
_SEPARATOR = " > "
_NOTE_OF_TITLE = re.compile(r"\s*[(（][^()（）]*[)）]$")
_LONGEST_SUBJECT = 8  # words of a name
# Whom these mean may stand in the passages before, in so many of which the rules look for it.
_SOMEBODY = re.compile(r"\b(?:he|him|his|she|hers?)\b", re.IGNORECASE)
_REACH = 3
_NAMING = {BlockKind.PROSE, BlockKind.ITEM, BlockKind.PAIR, BlockKind.QUOTATION, *ROWS}


class _Section(NamedTuple):
    headings: tuple[str, ...]
    start: int
    end: int


def splitter_version(budget: int) -> str:
    """Return the name under which passages are journalled; it changes when the split may."""
    return f"{SPLITTER_VERSION}-{budget}"


def count_tokens(text: str) -> int:
    """Count words and punctuation marks; each Chinese or Japanese character counts as one."""
    return len(_TOKEN.findall(text))


def split(
    content_id: str, title: str, text: str, language: str, budget: int
) -> list[dict[str, Any]]:
    """Return the text's passages as rows of `SplitPassage`, in order, without overlaps.

    A passage is a run of whole sentences, table rows and blocks of code under one heading with at
    most `budget` tokens. A longer sentence is cut at clauses, else between words, longer code
    between lines.
    Passages cover every sentence; headings are not part of the text of a passage but are in its
    column `headings`.
    """
    version = splitter_version(budget)
    blocks = Blocks(text)
    subject = subject_of(title, text, blocks.all)
    rows = []
    for section in _sections(blocks.all, len(text), title):
        headings = _SEPARATOR.join(section.headings)
        starts: list[int] = []
        for start, end in _passages(text, section, blocks, language, budget):
            passage = text[start:end]
            starts = [*starts[-_REACH:], start]
            before = text[starts[0] : start] if _SOMEBODY.search(passage) else ""
            inside = blocks.between(start, end)
            new = [None if a == b else b for a, b in pairwise([None, *(c.lead for c in inside)])]
            rows.append(
                {
                    "content_id": content_id,
                    "splitter": version,
                    "passage_id": _passage_id(title, headings, passage, inside, before),
                    "span_start": start,
                    "span_end": end,
                    "text": passage,
                    "title": title,
                    "subject": subject,
                    "headings": headings,
                    "before": before,
                    "language": language,
                    "blocks": [
                        {"kind": b.kind, "start": b.start, "end": b.end, "lead": lead}
                        for b, lead in zip(inside, new, strict=True)
                    ],
                }
            )
    return rows


def _passage_id(title: str, headings: str, passage: str, blocks: list[Block], before: str) -> str:
    """Return the passage's id; all that is known of it from outside of it is part of it."""
    led = [block.lead for block in blocks if block.lead and block.lead not in passage]
    kinds = [block.kind for block in blocks if block.kind in ROWS - {BlockKind.ROW}]
    words = "\x1f".join(
        (title, headings, passage, *led, *dict.fromkeys(kinds), *filter(None, [before]))
    )
    return hashlib.sha256(words.encode()).hexdigest()[:32]


def _sections(blocks: list[Block], length: int, title: str) -> Iterator[_Section]:
    """Yield the text between headings; a top heading that repeats the title is left out."""
    path: list[tuple[int, str]] = []
    start = 0
    for heading in blocks:
        if heading.kind is not BlockKind.HEADING:
            continue
        yield _Section(_names(path, title), start, heading.start)
        while path and path[-1][0] >= heading.level:
            path.pop()
        path.append((heading.level, heading.lead))
        start = heading.end
    yield _Section(_names(path, title), start, length)


def _names(path: list[tuple[int, str]], title: str) -> tuple[str, ...]:
    names = [name for _, name in path if name]
    return tuple(names[1:] if names and names[0] == title else names)


def _passages(
    text: str, section: _Section, blocks: Blocks, language: str, budget: int
) -> Iterator[tuple[int, int]]:
    """Yield the spans of a section's passages: sentences gathered while they fit."""
    start = end = used = 0
    for unit_start, unit_end, tokens, opens in _units(text, section, blocks, language, budget):
        # A new paragraph starts in the next passage when this one is already two thirds full.
        crowded = opens and used > budget * 2 // 3
        tokens += (unit_start - end) // _WIDE_GAP if used else 0
        if used and (used + tokens > budget or crowded):
            yield start, end
            used = 0
        if not used:
            start = unit_start
        end, used = unit_end, used + tokens
    if used:
        yield start, end


def _units(
    text: str, section: _Section, blocks: Blocks, language: str, budget: int
) -> Iterator[tuple[int, int, int, bool]]:
    """Yield start, end and tokens of each sentence, row or block of code, or of its parts.

    The last value is whether it opens a paragraph.
    """
    last = section.start
    for start, end in _sentences_and_blocks(text, section, blocks, language, budget):
        opens = "\n\n" in text[last:start]
        tokens = count_tokens(text[start:end])
        if tokens <= budget:
            yield start, end, max(tokens, 1), opens
        else:
            for begin, stop in _cut(text[start:end], budget):
                tokens = max(count_tokens(text[start + begin : start + stop]), 1)
                yield start + begin, start + stop, tokens, opens and begin == 0
        last = end


def _sentences_and_blocks(
    text: str, section: _Section, blocks: Blocks, language: str, budget: int
) -> Iterator[tuple[int, int]]:
    """Yield the spans of sentences, rows and blocks of code; longer code is cut into lines."""
    place = section.start
    for block in blocks.between(section.start, section.end):
        if block.kind is not BlockKind.CODE and block.kind not in ROWS:
            continue
        start, end = section.start + block.start, section.start + block.end
        yield from _sentences_between(text, place, start, language)
        if block.kind in ROWS or count_tokens(text[start:end]) <= budget:
            yield start, end
        else:
            yield from (line.span() for line in _LINE.finditer(text, start, end))
        place = end
    yield from _sentences_between(text, place, section.end, language)


def _sentences_between(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    for begin, stop in sentences(text[start:end], language):
        yield start + begin, start + stop


def _cut(sentence: str, budget: int) -> Iterator[tuple[int, int]]:
    """Yield spans of at most `budget` tokens, each ending at a clause mark or space if it can."""
    ends = [token.end() for token in _TOKEN.finditer(sentence)]
    start = first = 0
    while first < len(ends):
        if first + budget >= len(ends):
            stop = len(sentence)
        else:
            stop = _border(sentence, ends[first + budget // 2], ends[first + budget - 1])
        part = sentence[start:stop]
        lead = len(part) - len(part.lstrip())
        if part.strip():
            yield start + lead, start + len(part.rstrip())
        start = stop
        while first < len(ends) and ends[first] <= stop:
            first += 1


def _border(sentence: str, least: int, most: int) -> int:
    """Return where to cut: after the last clause mark, else the last space, else at `most`."""
    best_clause = 0
    best_space = most if sentence[most].isspace() else 0
    for mark in _CLAUSE.finditer(sentence, least, most):
        if mark.group().isspace():
            best_space = max(best_space, mark.end())
        else:
            best_clause = mark.end()
    return best_clause or best_space or most


def subject_of(title: str, text: str, blocks: list[Block]) -> str:
    """Return the title, without a note in parentheses, if the text uses it as a name; else "".

    "Getting started" may occur in a text about a product, and "storage" does in one called Storage.
    So a title is a name only if the text writes it as in the title more often than otherwise, or
    if most of the text are labelled values and not all of its words are in the dictionary.
    """
    name = _NOTE_OF_TITLE.sub("", title).strip()
    if not name or len(name.split()) > _LONGEST_SUBJECT:
        return ""
    words = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    if not name.isascii():  # Chinese words have no boundaries
        words = re.compile(re.escape(name), re.IGNORECASE)
    written = [
        match.group()
        for block in blocks
        if block.kind in _NAMING
        for match in words.finditer(text, block.start, block.end)
    ]
    if not written and _are_mostly_labels(blocks):
        return "" if all(is_word(word.lower()) for word in name.split()) else name
    as_name = sum(form == name for form in written)
    return name if as_name > len(written) - as_name else ""


def _are_mostly_labels(blocks: list[Block]) -> bool:
    """Return whether most blocks are labelled values, but for headings and rows of tables."""
    others = {BlockKind.HEADING, *ROWS}
    kinds = [block.kind for block in blocks if block.kind not in others]
    return 2 * kinds.count(BlockKind.PAIR) > len(kinds)
