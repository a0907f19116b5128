"""Whom and what the English rules take for the subject of a fact, and which clauses state none."""

from typing import Any

import pytest

from schemas.settings import EngineSettings
from tasks.extract.rules import RulesEngine

Facts = set[tuple[str, str, str]]


def facts(text: str, subject: str = "", **settings: Any) -> Facts:
    row = {
        "passage_id": "p",
        "text": text,
        "title": subject,
        "subject": subject,
        "headings": "",
        "language": "en",
    }
    found = next(RulesEngine(EngineSettings(**settings)).extract([row]))
    return {(t["head"], t["relation"], t["tail"]) for t in found.triples}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "Jane Smith was elected on 3 May 1990 by senator Bob Jones.",
            ("Jane Smith", "elected by", "Bob Jones"),
        ),
        ("The Fund was created by and for doctors.", ("Fund", "created by", "doctors")),
        ("Acme Corp restored and sold the castle.", ("Acme Corp", "restored", "castle")),
        (
            "Jane Smith is a music teacher and visual design adviser at the Division of Trade.",
            ("Jane Smith", "visual design adviser at", "Division of Trade"),
        ),
        (
            "Jane Smith is the first point of contact regarding Acme rules.",
            ("Jane Smith", "first point of contact regarding", "Acme rules"),
        ),
        ("Bob Jones, who sold Acme Corp, lives in Bern.", ("Bob Jones", "sold", "Acme Corp")),
    ],
)
def test_a_clause_has_the_object_and_the_preposition_that_it_shares(
    text: str, fact: tuple[str, str, str]
):
    assert fact in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Acme Corp expects its sales in India to grow.",  # not: Acme expects sales
        "Acme Corp asked Jane Smith to resign.",
        "The map was drawn by clerks in the Congress who met in Rome.",  # the clerks met
        "Ohio's is the smallest house.",
        "In a rare move, Acme Corp apologised.",
        "If Acme Corp sells the castle, Bob Jones will resign from it.",
        "It hardly employed Jane Smith.",
    ],
)
def test_what_a_sentence_does_not_say_is_no_fact(text: str):
    heads_and_tails = {
        ("Acme Corp", "sales in India"),
        ("Acme Corp", "Jane Smith"),
        ("Congress", "Rome"),
        ("Ohio", "smallest house"),
        ("Acme Corp", "rare move"),
        ("Acme Corp", "castle"),
    }
    assert heads_and_tails.isdisjoint((head, tail) for head, _, tail in facts(text))


def test_what_comes_after_a_relative_clause_is_no_second_subject():
    text = (
        "The Ohio Task Force, which consists of people from the Department of Justice, the Office "
        "of Management and Budget, and others, met in Rome."
    )
    assert {head for head, relation, _ in facts(text) if relation == "consists of"} == {
        "Ohio Task Force"
    }
