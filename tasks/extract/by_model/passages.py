"""Passages for models: packed into calls, rendered into prompts, split where they are too long.

Only passages of one text share a call, so a hostile text can at worst change the facts stored for
itself.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from tasks.extract.extracted import Extracted
from tasks.ingest.blocks import ROWS, BlockKind, stored_blocks
from tasks.ingest.prose import words_of
from tasks.models.tokens import estimate_tokens
from tasks.text.chinese_words import NAME_TAGS, segmenter, tag_of
from tasks.text.excerpt import Excerpt, ExcerptPart
from tasks.text.sentences import sentences
from tasks.text.stems import stems_of

PassageRow = dict[str, Any]

_WORDS = re.compile(r"[^\W_]")  # the rule below a table's header has none
_NUMBERED = re.compile(r"^(\d+): (.*)$", re.MULTILINE)
LONGEST_FIELD = 200  # characters of a date or an author that a model is shown
_NAME_OR_NUMBER = re.compile(r"\d|[a-z,;] [A-Z][a-z]")
LEAST_CUT = 40  # characters; a shorter part is not worth a call of its own


def is_readable(passage: PassageRow) -> bool:
    """Return whether a passage has any words for a model to read."""
    return bool(readable(passage).text.strip())


def into_calls(passages: Iterable[PassageRow], most_tokens: int) -> Iterator[list[PassageRow]]:
    """Yield groups of passages that share a call: same text, language and sensitivity.

    A group has at most `most_tokens` tokens unless it is a single longer passage.
    """
    call: list[PassageRow] = []
    used = 0
    for passage in passages:
        tokens = estimate_tokens(readable(passage).text)
        if call and (_group(passage) != _group(call[0]) or used + tokens > most_tokens):
            yield call
            call, used = [], 0
        call.append(passage)
        used += tokens
    if call:
        yield call


def _group(passage: PassageRow) -> tuple[Any, ...]:
    return passage["content_id"], passage["sensitive"], passage["language"]


class Numbered(NamedTuple):
    """A sentence that a call shows under a number: its passage's place in the call, its words."""

    place: int
    words: str


def numbered(passages: Sequence[PassageRow]) -> list[Numbered]:
    """Return the sentences of a call; the first has the number 1."""
    return [
        Numbered(place, text[start:end])
        for place, passage in enumerate(passages)
        for text in [readable(passage).text]
        for start, end in sentences(text, passage["language"])
        if _WORDS.search(text, start, end)
    ]


def render(passages: list[PassageRow]) -> dict[str, str]:
    """Return the values of an extraction prompt: the document, and its numbered sentences.

    A sentence is a line, `12: Words`; an empty line parts passages, and `## ` begins headings.
    """
    parts: list[list[str]] = [[] for _ in passages]
    headings = ""
    for part, passage in zip(parts, passages, strict=True):
        if passage["headings"] not in ("", headings):
            part.append(f"## {_line(passage['headings'])}")
        headings = passage["headings"]
    for number, (place, words) in enumerate(numbered(passages), 1):
        parts[place].append(f"{number}: {_line(words)}")
    about = {"Title": passages[0]["title"], **described(passages[0])}
    return {
        "head": "\n".join(f"{name}: {_line(words)}" for name, words in about.items()),
        "text": "\n\n".join("\n".join(part) for part in parts if part),
    }


def described(passage: PassageRow) -> dict[str, str]:
    """Return the date and the author of a passage's document, if its metadata has them."""
    metadata = orjson.loads(passage.get("metadata") or "{}")
    found = {name: str(metadata.get(name.lower()) or "") for name in ("Date", "Author")}
    return {name: words[:LONGEST_FIELD] for name, words in found.items() if words}


def _line(words: str) -> str:
    return " ".join(words.split())


def read_extraction_text(user: str) -> tuple[str, list[list[tuple[int, str]]]]:
    """Return the title and, by passage, the numbered sentences of a rendered message.

    Used by the mock endpoint.
    """
    head, _, text = user.partition("\n\n")
    passages = [
        [(int(line[1]), line[2]) for line in _NUMBERED.finditer(part)]
        for part in text.split("\n\n")
    ]
    return head.partition("\n")[0].removeprefix("Title: "), passages


def show_facts(passages: Iterable[PassageRow]) -> bool:
    """Return whether passages show a name or a number, a cheap sign that they state something.

    A number is any digit. A name is a capitalised word after a lower-case word or comma; in
    Chinese, a word that the dictionary tags as the name of a person, place or organisation.
    """
    return any(
        _NAME_OR_NUMBER.search(text) or (language == "zh" and _has_name(text))
        for text, language in ((readable(p).text, p["language"]) for p in passages)
    )


def _has_name(text: str) -> bool:
    return any(tag_of(word).startswith(NAME_TAGS) for word in segmenter().cut(text))


def halves(passages: list[PassageRow]) -> tuple[list[PassageRow], list[PassageRow]] | None:
    """Return the passages in two halves, or a single passage's sentences; None if too short.

    Both halves of a passage keep its id.
    """
    if len(passages) > 1:
        middle = len(passages) // 2
        return passages[:middle], passages[middle:]
    passage = passages[0]
    text = readable(passage).text
    ends = [end for _, end in sentences(text, passage["language"])]
    if len(ends) < 2:
        return None
    cut = min(ends[:-1], key=lambda end: abs(end - len(text) / 2))
    if min(len(text[:cut].strip()), len(text[cut:].strip())) < LEAST_CUT:
        return None
    return [_part(passage, text[:cut])], [_part(passage, text[cut:])]


def _part(passage: PassageRow, text: str) -> PassageRow:
    """Return a passage with only a part of its readable text."""
    whole = {"kind": BlockKind.PROSE, "start": 0, "end": len(text), "lead": ""}
    return {**passage, "text": text, "blocks": [whole]}


COVERED = 0.5  # a sentence is covered if the facts have this share of its words
LEAST_WORDS = 6  # shorter sentences say little
WORTH_A_CALL = 0.2  # the share of all words that must be uncovered


def uncovered(passages: list[PassageRow], extracted: list[Extracted]) -> list[PassageRow]:
    """Return the uncovered sentences, joined per passage; none if too few are uncovered."""
    partial: list[PassageRow] = []
    words = uncovered_words = 0
    stems_by_passage = {result.passage_id: _stems_of_facts(result) for result in extracted}
    for passage in passages:
        covering = stems_by_passage.get(passage["passage_id"], set())
        kept: list[str] = []
        text = readable(passage).text
        for start, end in sentences(text, passage["language"]):
            stems = {stem for _, _, stem in stems_of(text[start:end])}
            words += len(stems)
            if len(stems) >= LEAST_WORDS and len(stems & covering) < COVERED * len(stems):
                kept.append(text[start:end].strip())
                uncovered_words += len(stems)
        if kept:
            partial.append(_part(passage, "\n".join(kept)))
    return partial if words and uncovered_words >= WORTH_A_CALL * words else []


def _stems_of_facts(extracted: Extracted) -> set[str]:
    """Return the stems of the words in a passage's facts."""
    texts = [f"{t['head']} {t['relation']} {t['tail']}" for t in extracted.triples]
    texts += [d["text"] for d in extracted.descriptions] + [a["text"] for a in extracted.aspects]
    return {stem for text in texts for _, _, stem in stems_of(text)}


_LISTED = {BlockKind.ITEM, BlockKind.PAIR, *ROWS}
_GIVEN = {BlockKind.PROSE, BlockKind.QUOTATION, BlockKind.FOOTNOTE, *_LISTED}


def readable(passage: dict[str, Any]) -> Excerpt:
    """Return the words of a passage that a model may read; the text is empty if there are none.

    The lead of a list precedes its items, even if the passage begins after it. Likewise the header
    of a table precedes its rows, and a label its value. The excerpt marks these additions as absent
    from that place in the source.
    """
    return Excerpt.of(_parts(passage))


def _parts(passage: dict[str, Any]) -> Iterator[ExcerptPart]:
    last = lead = ""
    for block in stored_blocks(passage):
        words = words_of(passage["text"][block.start : block.end])
        if block.kind not in _GIVEN or not words.text.strip():
            continue
        if last:
            together = block.kind is BlockKind.PAIR or not _is_new(block.lead, lead)
            goes_on = block.kind == last and block.kind in _LISTED and together
            yield ExcerptPart("\n" if goes_on else "\n\n", block.start, stands_there=False)
        yield ExcerptPart(_opening(passage["text"], block, lead), block.start, stands_there=False)
        yield from words.parts(0, len(words.text), moved=block.start)
        last, lead = block.kind, block.lead


def _is_new(lead: str, before: str) -> bool:
    return bool(lead) and lead != before


def _opening(text: str, block: Any, before: str) -> str:
    """Return what precedes the words of a block, given the lead of the block before."""
    lead = words_of(block.lead).text.strip()
    if block.kind is BlockKind.PAIR:
        return f"{lead}: "
    shown = _is_new(block.lead, before)
    if block.kind in ROWS:
        return f"{lead}\n|{' --- |' * max(lead.count('|') - 1, 1)}\n" if shown else ""
    if block.kind is BlockKind.ITEM:
        return f"{lead}\n- " if shown and block.lead not in text else "- "
    return ""
