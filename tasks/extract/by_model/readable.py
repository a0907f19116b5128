"""The parts of a passage that a language model reads: prose, lists and records, but no code."""

from collections.abc import Iterator
from typing import Any

from tasks.ingest.blocks import BlockKind, stored_blocks
from tasks.ingest.prose import words_of
from tasks.text.excerpt import Excerpt, ExcerptPart

_LISTED = {BlockKind.ITEM, BlockKind.ROW, BlockKind.PAIR}
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
    if block.kind is BlockKind.ROW:
        return f"{lead}\n|{' --- |' * max(lead.count('|') - 1, 1)}\n" if shown else ""
    if block.kind is BlockKind.ITEM:
        return f"{lead}\n- " if shown and block.lead not in text else "- "
    return ""
