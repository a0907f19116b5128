"""Other names of persons: who is spoken of by them, and who is only cited by them."""

import pytest

from tasks.publish.bylines import stands_alone


@pytest.mark.parametrize(
    ("alias", "places", "spoken_of"),
    [
        ("Moret", [("found the reef. ", " went home.")], True),
        ("Moret", [("As ", " wrote, the reef is old.")], True),
        ("Moret", [("the lamp of ", "’s harbour")], True),
        ("Moret", [("see the survey (", " et al. 2014)")], False),
        ("Moret", [("surveys (", " and Tal, 2014)")], False),
        ("Moret", [("by ", " (2014)"), ("J. ", ", A. Tal, and B. Oru")], False),
        ("Moret", [("", ", J. and Tal, A.")], False),
        ("Moret", [("written by Jo\n", " and Ann Tal")], False),
        ("Moret", [("the ", "ville road")], False),
        ("Moret", [], False),
        ("莫雷", [], True),
    ],
)
def test_a_name_in_citations_alone_is_no_name_to_speak_of_a_person(alias, places, spoken_of):
    rows = [{"before": before, "after": after} for before, after in places]
    assert stands_alone({"alias": alias, "places": rows}) is spoken_of
