"""The context of a question: one numbered list of what is known, within a budget of tokens.

Every route delivers items. Items are told apart by the place that states them, so that nothing is
shown twice, and each can be cited to the character.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from schemas.answers import Evidence, Route
from tasks.models.tokens import estimate_tokens
from tasks.programs.messages import one_line

LONGEST_TITLE = 120  # characters of the line above an item's text
LONGEST_ITEM = 6_000  # characters
# Begins another item, or a part of the prompt (`tasks/models/prompts/cited.md`).
_LIKE_PROMPT = re.compile(
    r"^(?=[^\S\n]*(?:\[|(?:Sources|Earlier question|Question|Answer|Reply)\s*:))",
    re.MULTILINE | re.IGNORECASE,
)
SIGNS = 4  # tokens of an item's number and line breaks


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is known: its text, and the evidence that it is.

    `title` says where the text stands: title, headings and date. `starts` are pairs of a place in
    the text and the character of the document that stands there, in order; a text that is no part
    of a document has none. A text that sums up several facts is `stated_by` the evidence of each.
    """

    text: str
    evidence: Evidence
    route: Route = "text"
    title: str = ""
    starts: tuple[tuple[int, int], ...] = ()
    stated_by: tuple[Evidence, ...] = ()

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

    @property
    def parts(self) -> list["Item"]:
        """The passages that it joins; itself if it is no joined one."""
        if len(self.starts) < 2:
            return [self]
        ends = [at - 1 for at, _ in self.starts[1:]] + [len(self.text)]
        return [
            replace(
                self,
                text=self.text[at:end],
                evidence=self.cited(at, end),
                starts=((0, place),),
            )
            for (at, place), end in zip(self.starts, ends, strict=True)
        ]

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
    """Return whether nothing but white space lies between two passages of one section."""
    one, other = first.evidence, second.evidence
    if not (first.starts and second.starts) or one.document_id != other.document_id:
        return False
    return first.title == second.title and 0 <= _start(second) - (one.span_end or 0) <= 2


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

        An item that does not fit is left out, and shorter ones after it are still taken.
        """
        taken = 0
        for item in self._new_parts(items):
            if not item.text.strip():
                continue
            if self._knows(item):
                self.dropped["known already"] += 1
            elif len(item.text) > LONGEST_ITEM or taken + item.tokens > room:
                self.dropped["no room"] += 1
            else:
                self.items.append(item)
                taken += item.tokens
        return taken

    def _knows(self, item: Item) -> bool:
        return any(other.text == item.text or other.covers(item) for other in self.items)

    def _new_parts(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items; of joined passages those that are known already are left out."""
        for item in items:
            known = [part for part in item.parts if self._knows(part)] if self.items else []
            if not known or len(known) == len(item.parts):
                yield item
            else:
                yield from joined([part for part in item.parts if part not in known])

    def __getitem__(self, number: int) -> Item | None:
        """Return the item with a number, None if there is none."""
        return self.items[number - 1] if 1 <= number <= len(self.items) else None

    def shown(self, since: int = 0) -> str:
        """Return the items after the first `since` as numbered paragraphs."""
        return "\n\n".join(
            self._paragraph(number, item)
            for number, item in enumerate(self.items[since:], since + 1)
        )

    def _paragraph(self, number: int, item: Item) -> str:
        """Return an item with its number; no line of its text looks like the prompt's own."""
        text = _LIKE_PROMPT.sub(" ", item.text)
        title = one_line(item.title, LONGEST_TITLE)
        return f"[{number}] {title}\n{text}" if title else f"[{number}] {text}"

    @property
    def routes(self) -> dict[str, int]:
        """The number of items by the route that delivered them."""
        return dict(Counter(item.route for item in self.items))
