"""The context of a question: one numbered list of what is known, within a budget of tokens.

Every route delivers items. Items are told apart by the place that states them, so that nothing is
shown twice, and each can be cited to the character.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from schemas.answers import Evidence, Route
from tasks.models.tokens import estimate_tokens
from tasks.programs.messages import one_line

LONGEST_TITLE = 160  # characters of the line above an item's text
LONGEST_ITEM = 6_000  # characters
# Begins another item, or a part of the prompt (`tasks/models/prompts/cited.md`).
_LIKE_PROMPT = re.compile(
    r"^(?=[^\S\n]*(?:\[|(?:Sources|Earlier question|Question|Answer|Reply)\s*:))",
    re.MULTILINE | re.IGNORECASE,
)
SIGNS = 4  # tokens of an item's number and line breaks
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is known: its text, and the evidence that it is.

    `title` says where the text stands: title, headings and date. `starts` are pairs of a place in
    the text and the character of the document that stands there, in order; a text that is no part
    of a document has none, and no `row` among all passages. A text that sums up several facts is
    `stated_by` the evidence of each.
    """

    text: str
    evidence: Evidence
    route: Route = "text"
    title: str = ""
    starts: tuple[tuple[int, int], ...] = ()
    stated_by: tuple[Evidence, ...] = ()
    row: int | None = None

    @property
    def tokens(self) -> int:
        """About how many tokens it takes in a prompt."""
        return estimate_tokens(self.text) + estimate_tokens(self.title) + SIGNS

    def cited(self, start: int, end: int) -> Evidence:
        """Return the evidence for the characters from `start` to `end` of the text."""
        if not self.starts:
            return self.evidence
        words = self.text[start:end]
        places = {"span_start": self._place(start), "span_end": self._place(end - 1) + 1}
        return self.evidence.model_copy(update={"text": words, **places})

    def _place(self, character: int) -> int:
        """Return the place in the document of a character of the text."""
        at, place = next(pair for pair in reversed(self.starts) if pair[0] <= character)
        return place + character - at

    def covers(self, other: "Item") -> bool:
        """Return whether the other item's place lies within this one's."""
        mine, its = self.evidence, other.evidence
        if mine.document_id is None or mine.document_id != its.document_id:
            return False
        if None in (mine.span_start, mine.span_end, its.span_start, its.span_end):
            return False
        return mine.span_start <= its.span_start and its.span_end <= mine.span_end  # type: ignore[operator]


def alternating(found: Sequence[Sequence[T]]) -> list[T]:
    """Return the items of several lists, the first of each, then the second of each."""
    longest = max(map(len, found), default=0)
    return [items[place] for place in range(longest) for items in found if place < len(items)]


def joined(items: Sequence[Item]) -> list[Item]:
    """Return passages with those that follow each other in a document as one; the best place stays.

    The order is that of the best of each.
    """
    rank = {id(item): place for place, item in enumerate(items)}
    by_place = sorted(items, key=lambda item: (item.evidence.document_id or "", _start(item)))
    groups: list[list[Item]] = []
    for item in by_place:
        last = groups[-1][-1] if groups else None
        if last and _follows(last, item):
            groups[-1].append(item)
        else:
            groups.append([item])
    groups.sort(key=lambda group: min(rank[id(item)] for item in group))
    return [_as_one(group) for group in groups]


def _start(item: Item) -> int:
    return item.evidence.span_start or 0


def _follows(first: Item, second: Item) -> bool:
    """Return whether two passages are neighbours within one section."""
    if first.row is None or second.row != first.row + 1:
        return False
    same_document = first.evidence.document_id == second.evidence.document_id
    return same_document and first.title == second.title


def _as_one(group: Sequence[Item]) -> Item:
    first, last = group[0], group[-1]
    if first is last:
        return first
    text, starts = "", []
    for item in group:
        text += "\n" if text else ""
        starts += [(at + len(text), place) for at, place in item.starts]
        text += item.text
    score = max(item.evidence.score for item in group)
    evidence = first.evidence.model_copy(
        update={"text": text, "span_end": last.evidence.span_end, "score": score}
    )
    return replace(first, text=text, evidence=evidence, starts=tuple(starts))


@dataclass
class Context:
    """Items with numbers from 1 on; `dropped` counts, by reason, those that were left out."""

    items: list[Item] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, items: Iterable[Item], room: int) -> int:
        """Append items that are new, in order, as long as there is room; return the tokens taken.

        An item that does not fit is left out, and shorter ones after it are still taken. Passages
        that follow each other become one item.
        """
        taken = 0
        new: list[Item] = []
        for item in items:
            if not item.text.strip():
                continue
            is_joined = any(_follows(item, one) or _follows(one, item) for one in new)
            tokens = estimate_tokens(item.text) if is_joined else item.tokens
            if any(other.text == item.text or other.covers(item) for other in (*self.items, *new)):
                self.dropped["known already"] += 1
            elif len(item.text) > LONGEST_ITEM or taken + tokens > room:
                self.dropped["no room"] += 1
            else:
                new.append(item)
                taken += tokens
        self.items += joined(new)
        return taken

    def __getitem__(self, number: int) -> Item | None:
        """Return the item with a number, None if there is none."""
        return self.items[number - 1] if 1 <= number <= len(self.items) else None

    def shown(self) -> str:
        """Return the items as numbered paragraphs, of which no line looks like the prompt's own."""
        paragraphs = []
        for number, item in enumerate(self.items, 1):
            text = _LIKE_PROMPT.sub(" ", item.text)
            title = one_line(item.title, LONGEST_TITLE)
            paragraphs.append(f"[{number}] {title}\n{text}" if title else f"[{number}] {text}")
        return "\n\n".join(paragraphs)

    @property
    def routes(self) -> dict[str, int]:
        """The number of items by the route that delivered them."""
        return dict(Counter(item.route for item in self.items))
