"""The data dictionary: describes every table and column, from the classes that declare them.

`make dictionary` writes it to schemas/README.md; a test checks that the file is current.
"""

from schemas import EDITION, LIVE, LIVE_VIEWS, VIEWS
from schemas.observations import JOURNAL
from schemas.row import Row

_SECTIONS: tuple[tuple[str, str, tuple[type[Row], ...]], ...] = (
    ("Tables of an edition", "They are published together, read with SQL, never edited.", EDITION),
    ("Views of an edition", "They are computed from its tables when they are read.", VIEWS),
    ("Live records", "They grow as the almanac is used; every edition shows them.", LIVE),
    ("Views of live records", "They are computed when they are read.", tuple(LIVE_VIEWS)),
    ("The journal", "Editions are built from it; `almanac sql` does not show it.", JOURNAL),
)


def dictionary() -> str:
    """Return the whole data dictionary as Markdown."""
    parts = [
        "# Data dictionary",
        "",
        "`make dictionary` generates this page from the classes in this folder; do not edit it.",
        "",
    ]
    for title, what, rows in _SECTIONS:
        parts += [f"# {title}", "", what, "", *(row.describe() for row in rows)]
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    print(dictionary(), end="")
