"""Decide whether a document's title is the name of its subject."""

import re

from tasks.ingest.blocks import Block, BlockKind

_NOTE = re.compile(r"\s*[(（][^()（）]*[)）]$")
_LONGEST = 8  # words of a name
_READ = {BlockKind.PROSE, BlockKind.ITEM, BlockKind.PAIR, BlockKind.ROW, BlockKind.QUOTATION}


def subject_of(title: str, text: str, blocks: list[Block]) -> str:
    """Return the title, without a note in parentheses, if the text uses it as a name; else "".

    "Getting started" may occur in a text about a product, and "storage" does in one called Storage.
    So a title is a name only if the text writes it as in the title more often than otherwise.
    """
    name = _NOTE.sub("", title).strip()
    if not name or len(name.split()) > _LONGEST:
        return ""
    words = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    if not name.isascii():  # Chinese words have no boundaries
        words = re.compile(re.escape(name), re.IGNORECASE)
    written = [
        match.group()
        for block in blocks
        if block.kind in _READ
        for match in words.finditer(text, block.start, block.end)
    ]
    as_name = sum(form == name for form in written)
    return name if as_name > len(written) - as_name else ""
