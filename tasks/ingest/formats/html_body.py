"""Texts whose body is HTML, such as pages of a static site below their front matter."""

import re

from tasks.ingest.blocks import BlockKind, blocks_of

MOSTLY = 0.5  # of the characters outside tags
_TAG = re.compile(r"<[^<>]{1,500}>")
_OPENS = re.compile(
    r"\s*<(?:p|div|h[1-6]|section|article|main|header|figure|table|ul|ol|blockquote|center)\b",
    re.IGNORECASE,
)


def has_html_body(text: str, body: int) -> bool:
    """Return whether a text is HTML from `body` on, of which a reader of Markdown loses most.

    It begins with an element, and most of its words stand in blocks of markup, or indented within
    an element, which Markdown takes for code.
    """
    if not _OPENS.match(text, body):
        return False
    lost = 0
    for block in blocks_of(text):
        words = text[block.start : block.end]
        indented = block.kind is BlockKind.CODE and not words.startswith(("```", "~~~"))
        if block.kind is BlockKind.MARKUP or (indented and "</" in words):
            lost += _length(words)
    return lost > MOSTLY * _length(text[body:])


def _length(markup: str) -> int:
    """Return how many characters stand outside tags, without white space."""
    return len("".join(_TAG.sub(" ", markup).split()))
