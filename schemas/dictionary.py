"""The data dictionary: every table and column in words, made from the classes that declare them.

`make dictionary` writes it to schemas/README.md; a test keeps that file true.
"""

from collections.abc import Iterable

from schemas import EDITION, LIVE, VIEWS
from schemas.observations import JOURNAL
from schemas.row import Row

_SECTIONS: tuple[tuple[str, str, tuple[type[Row], ...]], ...] = (
    ("Tables of an edition", "Published whole, read with SQL, never edited.", EDITION),
    ("Views of an edition", "Worked out from its tables when they are read.", VIEWS),
    ("Live records", "Grow as the almanac is used; seen beside every edition.", LIVE),
    ("The journal", "What editions are built from; not visible to `almanac sql`.", JOURNAL),
)


def dictionary() -> str:
    """Return the whole data dictionary as Markdown."""
    parts = [
        "# Data dictionary",
        "",
        "Made by `make dictionary` from the classes in this folder; do not edit it by hand.",
        "",
    ]
    for title, what, rows in _SECTIONS:
        parts += [f"# {title}", "", what, "", *_entries(rows)]
    return "\n".join(parts).rstrip() + "\n"


def _entries(rows: Iterable[type[Row]]) -> list[str]:
    return [row.describe() for row in rows]


if __name__ == "__main__":
    print(dictionary(), end="")
