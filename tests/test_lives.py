"""Dates, places of birth and ties tell whether two bearers of a name are one person."""

from typing import Any

import pytest

from tests.mention_tables import mention, run

CELLIST = "an Austrian cellist and teacher known for recordings of contemporary music"
PATRON = "the patron of a seal sanctuary on the coast of Norway"


def lived(**more: Any) -> dict[str, Any]:
    """What a document tells of a life: places of birth and ties are given as words."""
    lists = {"places": "birth_places", "near": "near_places", "ties": "ties"}
    return {
        lists.get(what, what): v.split("; ") if what in lists else v for what, v in more.items()
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lived(places="Ulm", ties="mill a"), lived(places="Riga", ties="yard b")),
        (lived(places="成都", ties="mill a"), lived(places="哈尔滨", ties="yard b")),
        (lived(places="Ulm", description=CELLIST), lived(places="Riga", description=PATRON)),
        (lived(places="France", ties="mill a"), lived(places="Peru", ties="yard b")),
        (lived(born="1952"), lived(born="1978")),
        (lived(born="1952-03-04", places="Ulm"), lived(born="1955-03-04", places="Ulm")),
    ],
)
def test_lives_that_cannot_be_one_are_two_persons(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    rows = [mention("a", "Ilse Marbach", "person", **one)]
    rows.append(mention("b", "Ilse Marbach", "person", **other))
    in_passing = [mention(f"c{at}", "Ilse Marbach", "person") for at in range(4)]
    assert len(run(rows).entities) == len(run(rows + in_passing).entities) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lived(places="Ulm"), lived(places="Riga")),
        (lived(places="Ulm", ties="mill a; yard b"), lived(places="Riga", ties="yard b")),
        (lived(born="1952", ties="mill a"), lived(born="1978", ties="mill a")),
        (lived(born="1952-03-04"), lived(born="1953-03-04")),  # a source may err
        (lived(places="Lyon", ties="mill a"), lived(places="France", ties="yard b")),
        (lived(places="里昂", ties="mill a"), lived(places="Lyon", ties="yard b")),
        (lived(places="北京市海淀区", ties="甲"), lived(places="北京", ties="乙")),
        (lived(places="Ulm, Swabia", ties="mill a"), lived(places="Ulm", ties="yard b")),
        (lived(places="Ulm", near="Swabia", ties="a"), lived(places="Swabia", ties="b")),
        (
            lived(places="Ulm", born="1952-03-04", ties="mill a"),
            lived(places="Riga", born="1952", ties="yard b"),
        ),
    ],
)
def test_one_life_told_differently_is_one_person(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    rows = [mention("a", "Ilse Marbach", "person", **one)]
    rows.append(mention("b", "Ilse Marbach", "person", **other))
    assert len(run(rows).entities) == 1


@pytest.mark.parametrize(("year", "persons"), [("1952", 1), ("1978", 2)])
def test_a_surname_alone_with_another_date_of_birth_is_somebody_else(
    year: str, persons: int
) -> None:
    rows = [mention("a", name, "person", born="1952") for name in ("Ilse Marbach", "Marbach")]
    rows.append(mention("b", "Marbach", "person", born=year))
    assert len(run(rows).entities) == persons
