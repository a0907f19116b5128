"""Output for people: messages on standard error, with hostile characters made harmless.

Texts from the corpus may hold escape sequences that move the cursor, set the window's title or
reverse the reading direction; they are written out instead of being obeyed.
"""

import json
import re
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import JustifyMethod

GAP = 3  # columns between those of a table
PLAIN_WIDTH = 200  # columns of a table that does not go to a terminal

# C0 and C1 controls except tab and line break, the marks that override text direction, and the
# surrogates that stand for undecodable bytes of a path.
_HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

_ID = re.compile("[0-9a-f-]{12,40}")


@dataclass(frozen=True)
class Table:
    """Rows under the names of their columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Picture:
    """A PNG file with what it shows; a terminal shows none."""

    title: str
    path: Path


class Remark(str):
    """A line about the result that is no part of it, such as that there is none."""


Shown = str | Table | Picture


def print_shown(result: Iterable[Shown]) -> None:
    """Print a result: lines and tables on standard output, asides on standard error."""
    for part in result:
        if isinstance(part, Table):
            table(part.columns, part.rows)
        elif isinstance(part, Remark):
            say(part)
        elif isinstance(part, str):
            show(part)


def as_markdown(result: Iterable[Shown]) -> str:
    """Return a result as Markdown, with its pictures within."""
    parts = []
    for part in result:
        if isinstance(part, Table):
            lines = [f"| {' | '.join(map(_as_cell, row))} |" for row in (part.columns, *part.rows)]
            lines.insert(1, "| --- " * len(part.columns) + "|")
            parts.append("\n".join(lines))
        elif isinstance(part, Picture):
            picture = b64encode(part.path.read_bytes()).decode()
            parts.append(f"![{part.title}](data:image/png;base64,{picture})")
        else:
            parts.append(one_line(part))
    return "\n\n".join(parts)


def harmless(text: str) -> str:
    """Return the text with every control character escaped, such as \\x1b for escape."""
    return _HOSTILE.sub(lambda match: _escaped(match.group()), text)


def one_line(text: str) -> str:
    """Return the text on one line, with control characters escaped."""
    return harmless(" ".join(text.split()))


def quoted(text: str, most: int, *, plain: bool = False) -> str:
    """Return a text's visible words on one line, cut to `most` characters.

    The words of a plain text, which is no Markdown, are all visible.
    """
    from tasks.ingest.prose import words_of  # only some commands quote
    from tasks.text.sentences import on_one_line

    words = one_line(text if plain else on_one_line(words_of(text).text))
    return words if len(words) <= most else words[:most] + "…"


def json_line(text: str) -> str:
    """Return JSON text in which hostile characters that JSON allows are escaped as well."""
    return _HOSTILE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def say(text: str) -> None:
    """Write a line to standard error."""
    print(harmless(text), file=sys.stderr, flush=True)


class OutputError(Exception):
    """Standard output took no more, as a full disk behind it does not."""


@contextmanager
def written() -> Iterator[None]:
    """Tell refusals of standard output from those of the home's disk."""
    try:
        yield
    except BrokenPipeError:  # the reader has enough
        raise
    except OSError as error:
        raise OutputError(f"Standard output takes no more: {error.strerror}.") from error


@written()
def flush() -> None:
    """Write out what standard output still holds."""
    sys.stdout.flush()


@written()
def show(text: str = "") -> None:
    """Write a line to standard output."""
    print(harmless(text))


@written()
def show_piece(text: str) -> None:
    """Write a part of a line to standard output, to be seen at once."""
    print(harmless(text), end="", flush=True)


@written()
def show_json(value: Any) -> None:
    """Write one JSON value to standard output."""
    print(json_line(json.dumps(value, ensure_ascii=False, indent=2, default=_as_json)))


@written()
def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    out: TextIO | None = None,
    plain_width: int = PLAIN_WIDTH,
) -> None:
    """Print a table; numbers are right-aligned, None is blank, and long cells go on below.

    Where the output is no terminal, it has `plain_width` columns. If not even the names of the
    table's columns fit, each row is printed as a list of names and values.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = out or sys.stdout
    names = [one_line(column) for column in columns]
    rows = [list(row) for row in rows]
    width = None if out.isatty() else plain_width
    console = Console(file=out, width=width, highlight=False)
    # An id that is broken over two lines cannot be copied.
    ids = [
        max((len(cell) for cell in map(_as_cell, cells) if _ID.fullmatch(cell)), default=0)
        for cells in (zip(*rows, strict=True) if rows else [()] * len(names))
    ]
    words = [max(map(cell_len, name.split()), default=0) for name in names]
    least = sum(map(max, ids, words)) + GAP * (len(names) - 1)
    if rows and least > console.width:
        longest = max(map(cell_len, names))
        for row in rows:
            for name, cell in zip(names, row, strict=True):
                print(f"{name}{' ' * (longest - cell_len(name))}  {_as_cell(cell)}", file=out)
            print(file=out)
        return
    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, name in enumerate(names):
        numeric = rows and all(isinstance(row[index], (int, float, NoneType)) for row in rows)
        justify: JustifyMethod = "right" if numeric else "left"
        whole = max(ids[index], cell_len(name)) if ids[index] else None
        grid.add_column(Text(name), justify=justify, overflow="fold", width=whole)
    for row in rows:
        grid.add_row(*(Text(_as_cell(cell)) for cell in row))
    console.print(grid)


def _as_cell(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return "" if value is None else one_line(str(value))


def _as_json(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
