"""Small inputs that showed a fault: words that must be read, and words that must not."""

from pathlib import Path

import pytest

from tasks.ingest.formats import ReadText
from tests.documents import read_all

# A file of the folder `faults`, what its texts hold, and what none of them holds.
RECORDS = [
    ("37-extra-cells.csv", ["The Selka bridge was designed by Ida Morn"], ["Orvel dam"]),
    ("39-unclosed-quote.csv", [], ["Orvel", "Selka"]),
    ("40-sep-line.csv", ["The Orvel dam was built by Tarn Works."], ["sep="]),
    ("42-space-before-quote.csv", ["The Orvel dam, near Lunby, was built by Tarn Works."], ['"']),
    ("43-lines.json", ["built by Tarn Works.", "designed by Ida Morn."], ["text"]),
    ("44-nan.jsonl", ["built by Tarn Works.", "designed by Ida Morn."], ["NaN"]),
]


@pytest.mark.parametrize(("name", "held", "absent"), RECORDS)
def test_records(almanac_data: Path, name: str, held: list[str], absent: list[str]) -> None:
    outcomes = read_all(almanac_data / "faults" / name)
    words = "\n".join(outcome.text for outcome in outcomes if isinstance(outcome, ReadText))
    assert all(part in words for part in held), words
    assert not any(part in words for part in absent), words
