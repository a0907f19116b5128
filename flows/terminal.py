"""Output for people: messages on standard error, with hostile characters made harmless.

Texts from the corpus may hold escape sequences that move the cursor, set the window's title or
reverse the reading direction; they are written out instead of being obeyed.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from types import NoneType
from typing import Any, TextIO

PLAIN_WIDTH = 200  # columns of a table that does not go to a terminal

# C0 and C1 controls except tab and line break, the marks that override text direction, and the
# surrogates that stand for undecodable bytes of a path.
_HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def harmless(text: str) -> str:
    """Return the text with every control character escaped, such as \\x1b for escape."""
    return _HOSTILE.sub(lambda match: _escaped(match.group()), text)


def one_line(text: str) -> str:
    """Return the text on one line, with control characters escaped."""
    return harmless(" ".join(text.split()))


def quoted(text: str, most: int) -> str:
    """Return a text's visible words on one line, cut to `most` characters."""
    from tasks.ingest.prose import words_of  # only some commands quote
    from tasks.text.sentences import on_one_line

    words = one_line(on_one_line(words_of(text).text))
    return words if len(words) <= most else words[:most] + "…"


def json_line(text: str) -> str:
    """Return JSON text in which hostile characters that JSON allows are escaped as well."""
    return _HOSTILE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def say(text: str) -> None:
    """Write a line to standard error."""
    print(harmless(text), file=sys.stderr, flush=True)


def show(text: str = "") -> None:
    """Write a line to standard output."""
    print(harmless(text))


def show_json(value: Any) -> None:
    """Write one JSON value to standard output."""
    print(json_line(json.dumps(value, ensure_ascii=False, indent=2, default=str)))


def show_result(result: Any, show_words: Callable[[Any], None], *, as_json: bool) -> None:
    """Write a command's result to standard output, as JSON or by `show_words`."""
    (show_json if as_json else show_words)(result)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    out: TextIO | None = None,
    plain_width: int = PLAIN_WIDTH,
) -> bool:
    """Print a table; numbers are right-aligned, None is blank. Return whether its width sufficed.

    Where the output is no terminal, it has `plain_width` columns.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = out or sys.stdout
    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    rows = [list(row) for row in rows]
    for index, column in enumerate(columns):
        numeric = rows and all(isinstance(row[index], (int, float, NoneType)) for row in rows)
        grid.add_column(Text(one_line(column)), justify="right" if numeric else "left")
    for row in rows:
        grid.add_row(*(Text(one_line("" if cell is None else str(cell))) for cell in row))
    width = None if out.isatty() else plain_width
    console = Console(file=out, width=width, highlight=False)
    console.print(grid)
    unbounded = console.options.update(max_width=sys.maxsize)
    return console.measure(grid, options=unbounded).maximum <= console.width


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
