"""Words that owe their capital to a menu or a form are no entities; names are."""

from typing import Any

import pytest

import schemas
from tasks.publish.capitalised_words import is_name
from tests.test_build import born, built, state

USED: dict[str, Any] = {
    "documents": 2,
    "own_documents": 2,
    "after_digit": 0.0,
    "opening": 0.0,
    "labelling": 0.0,
    "lower_case": 0,
    "capitalised": 6,
}


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"name": "Tornelius"}, True),
        ({"name": "Harbour Council"}, True),
        ({"name": "ORCU"}, True),
        ({"name": "Save", "lower_case": 40}, False),
        ({"name": "Note", "labelling": 1.0, "lower_case": 9}, False),
        ({"name": "Save", "documents": 300, "own_documents": 300, "lower_case": 1}, True),
        ({"name": "Tornelius", "opening": 1.0}, True),
        ({"name": "Press", "opening": 1.0}, False),
        ({"name": "Mardleby Street", "after_digit": 1.0}, True),
        ({"name": "Kwb", "after_digit": 1.0}, False),
        ({"name": "灯塔", "documents": 20, "own_documents": 9}, True),
        ({"name": "灯塔", "documents": 20, "own_documents": 2}, False),
    ],
)
def test_how_a_name_is_used_tells_it_from_a_word(row, named):
    assert is_name(USED | row) is named


@pytest.mark.parametrize(("documents", "heads"), [(12, {"Tornelius"}), (8, {"Tornelius", "Time"})])
def test_a_word_with_a_capital_is_neither_entity_nor_head(home, documents, heads):
    for n in range(documents):
        text = f"{chr(97 + n)} has no time, or at that time: see Time. It names Tornelius."
        facts = (born("Time", "Tornelius"), born("Tornelius", "Time")) if n < 3 else ()
        state(home, f"d{n}", *facts, text=text, names=("Time", "Tornelius") if n < 3 else ())
    edition = built(home)
    triples = edition.table(schemas.Triple).to_pylist()
    assert {row["head"] for row in triples} == heads
    assert {row["name"] for row in edition.table(schemas.Entity).to_pylist()} == heads
    if documents == 12:
        [row] = triples
        assert (row["tail"], row["value_type"], row["tail_id"]) == ("Time", "text", None)
