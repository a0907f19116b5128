"""What readers of office documents share: which lines are headings, how blocks are joined."""

import re
from collections.abc import Iterable

from tasks.ingest.prose import line_of_words

HEADS = re.compile(r"[^\W_][^\n]{1,80}[^\s.;:：,!]")  # a text that may be a heading


def opening_heading(text: str) -> str:
    """Return the words of the heading that opens a Markdown text; else an empty string."""
    heading = re.match(r"#{1,6} (.+)", text)
    return line_of_words(heading[1]) if heading else ""


def join_blocks(blocks: Iterable[str]) -> str:
    """Join the blocks with blank lines, but the items of a list with newlines."""
    text = "\n\n".join(block for block in blocks if block)
    return re.sub(r"(?m)(^ *- .*)\n\n(?= *- )", r"\1\n", text)


def comment_by(author: str) -> str:
    """Return the line above a comment: rules would take no fact from a sentence behind a name."""
    return f"Comment by {author}:" if author.strip() else "Comment:"
