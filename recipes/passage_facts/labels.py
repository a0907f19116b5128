"""Passages and the facts that a reader found in them, as tokens."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from recipes.passage_facts.windows import LONGEST, PassageTokens, Span, passage_windows
from recipes.reader.examples import part_of

WRITTEN, LABELLED = (Path(__file__).resolve().parents[1] / name for name in ("written", "labelled"))

OCCURRENCES = 6  # of the same words, among which the nearest to each other are taken
FAR = 300  # characters that a name in the title counts as away


@dataclass(frozen=True, slots=True)
class Label:
    """A fact: the tokens of head, tail and cue (None if no words state it), and its relation."""

    head: Span
    tail: Span
    relation: str
    cue: Span | None


@dataclass(frozen=True, slots=True)
class Labelled:
    """A passage with its facts.

    `heads` and `tails` are all places of their words: which of them counts is left open, as is
    what relates them (`pairs`).
    """

    part: str
    language: str
    tokens: PassageTokens
    facts: list[Label]
    heads: set[Span]
    tails: set[Span]
    pairs: set[tuple[Span, Span]]


def labelled_passages() -> Iterator[Labelled]:
    """Yield the labelled passages, with the facts whose words stand in them."""
    known = _passages()
    for row in _rows(LABELLED / "facts.jsonl.gz"):
        language, title, text = known[row["id"]]
        for window in passage_windows(title, text)[:1]:
            yield _labelled(language, window, row["facts"])


def _labelled(language: str, tokens: PassageTokens, stated: list[list[str]]) -> Labelled:
    """Return a passage with facts of head, relation, tail and cue, in words."""
    facts: list[Label] = []
    heads: set[Span] = set()
    tails: set[Span] = set()
    pairs: set[tuple[Span, Span]] = set()
    for head, relation, tail, cue in stated:
        places = [tokens.places(words)[:OCCURRENCES] for words in (head, tail, cue)]
        if not places[0] or not places[1]:
            continue
        nearest = _nearest(tokens, places)
        if nearest[0] == nearest[1] or not all(map(_is_short, nearest[:2])):
            continue
        facts.append(Label(nearest[0], nearest[1], relation.lower(), nearest[2]))
        heads |= set(places[0])
        tails |= set(places[1])
        pairs |= set(product(places[0], places[1]))
    return Labelled(part_of(tokens.title), language, tokens, _one_each(facts), heads, tails, pairs)


def _passages() -> dict[str, tuple[str, str, str]]:
    """Return language, title and text of each passage that was labelled, by its id.

    Most are those of written questions.
    """
    found = {}
    for file in sorted(WRITTEN.glob("*.jsonl.gz")):
        for row in _rows(file):
            id_ = hashlib.sha1(row["context"].encode()).hexdigest()[:12]
            found[id_] = file.name[:2], row["title"], row["context"]
    for row in _rows(LABELLED / "passages.jsonl.gz"):
        found[row["id"]] = row["language"], row["title"], row["context"]
    return found


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def _one_each(facts: list[Label]) -> list[Label]:
    return list({(fact.head, fact.tail): fact for fact in reversed(facts)}.values())


def _is_short(span: Span) -> bool:
    return span[1] - span[0] < LONGEST


def _nearest(tokens: PassageTokens, places: list[list[Span]]) -> tuple[Span, Span, Span | None]:
    """Return the places of head, tail and cue that stand nearest to each other."""
    heads, tails, cues = places
    options: list[Span | None] = list(cues) or [None]

    def cost(chosen: tuple[Span, Span, Span | None]) -> float:
        head, tail, cue = chosen
        other = cue or tail
        return _between(tokens, head, other) + _between(tokens, tail, other)

    return min(product(heads, tails, options), key=cost)


def _between(tokens: PassageTokens, one: Span, other: Span) -> float:
    if tokens.in_title(one) != tokens.in_title(other):
        return FAR
    start, end = tokens.characters(one), tokens.characters(other)
    return max(0, max(start[0], end[0]) - min(start[1], end[1]))
