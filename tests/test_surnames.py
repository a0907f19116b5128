"""Whom a surname means in a document, and which kinds of names are believed."""

import pytest

from tests.mention_tables import alias, ids, mention, run

FIRST = mention("d", "Jo Moret", "person", first_said=10)
ALONE = mention("d", "Moret", "person", mentions=8, first_said=30)
LATER = mention("d", "Ann Moret", "person", first_said=90)


@pytest.mark.parametrize("aliases", [[], [alias("d", "Ann Moret", "Moret", "person")]])
def test_a_surname_means_who_was_named_before_it_stands_alone(aliases: list) -> None:
    found = ids(run([FIRST, ALONE, LATER], aliases))
    assert found["d", "Moret"] == found["d", "Jo Moret"] != found["d", "Ann Moret"]


def test_a_surname_that_two_persons_had_before_it_stands_alone_means_neither() -> None:
    found = ids(run([FIRST, ALONE | {"first_said": 95}, LATER]))
    assert len(set(found.values())) == 3


def test_a_form_of_address_makes_no_second_bearer_of_a_surname() -> None:
    rows = [FIRST, ALONE, mention("d", "Monsieur Moret", "person", first_said=50)]
    assert len(set(ids(run(rows)).values())) == 1


@pytest.mark.parametrize(("persons", "entities"), [(3, 1), (1, 2)])
def test_a_surname_may_be_taken_for_a_place_at_some_mentions(persons: int, entities: int) -> None:
    rows = [
        FIRST,
        mention("d", "Moret", "person", mentions=persons),
        mention("d", "Moret", "place", mentions=9 - persons),
    ]
    assert len(set(ids(run(rows)).values())) == entities


def test_no_guess_contradicts_what_texts_state_of_a_name_of_several_words() -> None:
    rows = [
        mention("d", "Jo Moret", "place", kind_stated=False),
        mention("d", "Moret", "person", kind_stated=False, mentions=8),
        mention("e", "Jo Moret", "person", kind_stated=True),
    ]
    resolution = run(rows)
    assert len(set(ids(resolution).values())) == 1
    assert [entity["kind"] for entity in resolution.entities.to_pylist()] == ["person"]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Secretary of Trade Ann Moret", "Secretary"),  # an office that several have
        ("Moret and Tal", "Moret"),
        ("Supports Moret", "Moret"),  # a verb before a name
        ("Charting Moret", "Moret"),
    ],
)
def test_what_is_no_name_of_one_person_has_no_surname(name: str, short: str) -> None:
    rows = [mention("d", name, "person"), mention("d", short, "person", mentions=9)]
    assert len(set(ids(run(rows)).values())) == 2
