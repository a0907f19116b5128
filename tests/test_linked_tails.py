"""Triples end at entities where their tails are names: in cells, in lists, below headings."""

import pytest

from tasks.extract.rules import RulesEngine
from tasks.ingest.split import split

CREW = """
# Harbour Museum Tornby

Harbour Museum Tornby shows ships.

| Person | Affiliation | Status |
| --- | --- | --- |
| Ada Bell | Norvik Works | Open |
| Oskar Lind | Tidal Labs | Closed |
"""
PRESENT = """
# Tornby Council Meeting

## Attendees

- Ada Bell (Norvik Works) [host]
- Oskar Lind (Tidal Labs)
"""
AGENDA = """
# Tornby Council Meeting

## Agenda

- Welcome and introductions
- How the harbour is paid for

## Process

- Open Questions
- Active Members
"""


def triples(text: str, language: str = "en") -> list[dict]:
    passages = split("c", text.split("\n")[1].strip("# "), text, language, 160)
    return [row for one in RulesEngine().extract(passages) for row in one.triples]


def ends(rows: list[dict]) -> dict[tuple[str, str, str], str]:
    return {(row["head"], row["relation"], row["tail"]): row["value_type"] for row in rows}


def test_a_cell_with_a_name_ends_at_an_entity_and_one_with_a_word_does_not():
    found = ends(triples(CREW))
    assert found["Oskar Lind", "affiliation", "Tidal Labs"] == "entity"
    assert found["Oskar Lind", "status", "Closed"] == "text"


def test_names_below_a_heading_are_what_the_heading_says():
    found = ends(triples(PRESENT))
    assert found == {
        ("Tornby Council Meeting", "attendees", "Ada Bell"): "entity",
        ("Tornby Council Meeting", "attendees", "Oskar Lind"): "entity",
    }


def test_other_items_below_a_heading_are_no_names():
    assert not triples(AGENDA)


@pytest.mark.parametrize(
    ("value", "tails"),
    [
        ("Ada Bell, Oskar Lind", ["Ada Bell", "Oskar Lind"]),
        ("Ada Bell (@adab)", ["Ada Bell"]),
        ("Ada Bell, deputy chair of the board", ["Ada Bell, deputy chair of the board"]),
        ("Ada Bell, or whoever is in the office", ["Ada Bell, or whoever is in the office"]),
        ("Ada Bell, Bo Ray and Oskar Lind", ["Ada Bell", "Bo Ray", "Oskar Lind"]),
        ("Norvik & Orr; Selka & Wesson", ["Norvik & Orr; Selka & Wesson"]),
    ],
)
def test_a_list_of_names_gives_a_triple_for_each(value, tails):
    text = f"| Ship | Reviewers |\n| --- | --- |\n| Kelda Star | {value} |\n"
    rows = triples(f"\n# Ships\n\n{text}")
    assert [row["tail"] for row in rows if row["relation"] == "reviewers"] == tails
    assert [row["ordinal"] for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize(
    ("label", "value", "tails"),
    [
        ("Supplier", "Norvik & Orr", ["Norvik & Orr"]),
        ("Group", "Norvik and the Tidal Group", ["Norvik and the Tidal Group"]),
        ("Berth", "Orvel Road & Selka Street", ["Orvel Road & Selka Street"]),
        ("Architect", "Ada Bell & Oskar Lind", ["Ada Bell", "Oskar Lind"]),
        ("Builders", "Norvik Works and Tidal Labs", ["Norvik Works", "Tidal Labs"]),
    ],
)
def test_an_ampersand_joins_several_only_below_a_label_of_several_or_of_persons(
    label: str, value: str, tails: list[str]
) -> None:
    text = f"\n# Ships\n\n| Ship | {label} |\n| --- | --- |\n| Kelda Star | {value} |\n"
    assert [row["tail"] for row in triples(text)] == tails


def test_codes_and_parts_of_a_name_are_no_other_entity():
    rows = triples(
        "\n# Crews\n\n| Person | Surname | Port code | Flag | Ship |\n"
        "| --- | --- | --- | --- | --- |\n| Ada Bell | Bell | Tornby | NOR | Kelda Star |\n"
        "| Bo Lind | Lind | Selka | SWE | Orvel Star |"
    )
    of_ada = {row["relation"]: row for row in rows if row["head"] == "Ada Bell"}
    assert [of_ada[label]["tail_kind"] for label in ("surname", "port code")] == ["", ""]
    assert of_ada["ship"]["value_type"] == "entity"
    # It may be one where the corpus has these capitals elsewhere.
    assert (of_ada["flag"]["value_type"], of_ada["flag"]["tail_kind"]) == ("text", "unknown")
