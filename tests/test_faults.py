"""Small inputs that showed a fault: words that must be read, and words that must not."""

from pathlib import Path

import pytest

from tasks.ingest.formats import ReadText
from tests.documents import read_all

# A file of the folder `faults`, what its texts hold, and what none of them holds.
PAGES = [
    ("17-struck.md", ["The mayor of Lunby is Ann Orr."], ["harbour"]),
    ("46-control-character.html", ["Ida Morn paid."], ["\ufffd"]),
    ("48-print-style.html", ["The Orvel dam was built by Tarn Works"], []),
    ("50-narrow-screen.html", ["The Orvel dam was built by Tarn Works"], []),
    ("51-short-first-line.html", ["The Orvel dam was built", "The Selka bridge was"], []),
    ("53-shift-jis.html", ["①番目の㈱東京社"], []),
    ("55-big5.html", ["香港嘅人口"], []),
    ("67-wiki-links.md", ["by Berg Works in 1931. Eva Lund founded Berg Works."], ["[["]),
    ("69-break-in-cell.md", ["| Thea dam | Aas Works |"], ["<br"]),
]


@pytest.mark.parametrize(("name", "held", "absent"), PAGES)
def test_input_is_read_rightly(
    almanac_data: Path, name: str, held: list[str], absent: list[str]
) -> None:
    outcomes = read_all(almanac_data / "faults" / name)
    words = "\n".join(outcome.text for outcome in outcomes if isinstance(outcome, ReadText))
    assert all(part in words for part in held), words
    assert not any(part in words for part in absent), words
