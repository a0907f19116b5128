"""Relations of an ontology are put to sentences as questions; kinds and values must fit."""

from typing import Any

import pytest

from schemas.ontology import Ontology
from schemas.settings import EngineSettings
from tasks.extract.batches import identity
from tasks.extract.ontology_facts import in_words, stated_kinds
from tasks.extract.rules import RulesEngine
from tasks.extract.rules.english import parsed, understand
from tasks.extract.rules.tree import tree_of
from tests.passages import facts, passage, read

FILMS = Ontology.model_validate(
    {
        "kinds": {"film": {"parent": "work"}},
        "relations": {
            "director": {"domain": "film", "range": "person", "description": "who directed it"},
            "publication date": {"domain": "film", "range": "date"},
        },
    }
)
SENTENCE = "Winter Harbour is a 1987 Norwegian film directed by Hanna Virtanen."


def triples(text: str, ontology: Ontology | None) -> list[dict[str, Any]]:
    return read(text, engine=RulesEngine(EngineSettings(ontology=ontology))).triples


def of_ontology(text: str, ontology: Ontology = FILMS) -> set[tuple[str, str, str]]:
    found = read(text, engine=RulesEngine(EngineSettings(ontology=ontology)))
    return {fact for fact in facts(found) if fact[1] in ontology.relations}


def test_a_relation_is_read_that_no_wording_names() -> None:
    assert ("Winter Harbour", "director", "Hanna Virtanen") in of_ontology(SENTENCE)
    assert all(row["relation"] != "director" for row in triples(SENTENCE, None))


def test_a_fact_points_at_its_sentence_and_is_as_likely_as_such_answers_are_right() -> None:
    [row] = [
        row for row in triples(f"It rained. {SENTENCE}", FILMS) if row["relation"] == "director"
    ]
    assert (row["span_start"], row["span_end"]) == (11, 11 + len(SENTENCE))
    assert 0.5 < row["confidence"] < 1.0 and row["polarity"] == "positive"


@pytest.mark.parametrize("tail", ["place", "date"])
def test_an_end_of_another_kind_is_no_fact(tail: str) -> None:
    other = Ontology.model_validate({"relations": {"director": {"range": tail}}})
    text = "Winter Harbour was directed by the woman Hanna Virtanen."
    assert ("Winter Harbour", "director", "Hanna Virtanen") not in of_ontology(text, other)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Winter Harbour is a 1987 Norwegian film.", "film"),
        ("He saw the film Winter Harbour in Oslo.", "film"),
        ("Winter Harbour, a silent film, was shown in Oslo.", "film"),
        ("He saw Winter Film in Oslo.", "film"),
        ("Winter Harbour is in a film.", None),
        ("The studio of the Winter Harbour made a film.", None),
        ("Hanna Virtanen was a painter.", "person"),
    ],
)
def test_a_passage_states_kinds_of_the_ontology_and_common_ones(
    text: str, kind: str | None
) -> None:
    row, _, prose, doc = next(parsed([passage(text)], None))
    kinds = stated_kinds(understand(row, tree_of(doc, prose)), FILMS)
    assert next((kinds[n] for n in kinds if n.startswith(("Winter", "Hanna"))), None) == kind


def test_a_guessed_kind_excludes_nothing() -> None:
    ends = {"domain": "asteroid", "range": "place"}
    found = ends | {"description": "observatory that discovered it"}
    sites = Ontology.model_validate({"kinds": ["asteroid"], "relations": {"found at": found}})
    text = "Lindtia was discovered in 1931 at Moore Observatory."
    assert of_ontology(text, sites) == {("Lindtia", "found at", "Moore Observatory")}
    assert not of_ontology("The poet Lindtia was discovered at Moore Observatory.", sites)


@pytest.mark.parametrize("words", ["was not directed", "would have been directed"])
def test_what_a_clause_denies_or_supposes_is_no_fact(words: str) -> None:
    assert not of_ontology(f"Winter Harbour {words} by Hanna Virtanen.")


def test_the_version_of_the_engine_follows_the_relations_that_it_reads() -> None:
    plain, films = identity(EngineSettings()), identity(EngineSettings(ontology=FILMS))
    kinds = identity(EngineSettings(ontology=Ontology.model_validate({"kinds": ["film"]})))
    assert plain == kinds != films


DISCOVERED = Ontology.model_validate(
    {"relations": {"siteOfDiscovery": {"description": "observatory where it was discovered"}}}
)


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("1687 Lindtia was discovered at Moore Observatory.", "1687 Lindtia"),
        ("The Kelda women's boat was found at Moore Observatory.", "Kelda women's boat"),
    ],
)  # fmt: skip
def test_a_subject_is_asked_about_whole_though_no_name_is_known(text: str, head: str) -> None:
    assert (head, "siteOfDiscovery", "Moore Observatory") in of_ontology(text, DISCOVERED)


@pytest.mark.parametrize(
    ("name", "words"),
    [("birthPlace", "birth Place"), ("birth_place", "birth place"), ("born in", "born in")],
)
def test_a_relation_is_asked_for_in_words(name: str, words: str) -> None:
    assert in_words(name) == words


def test_a_number_before_a_name_keeps_the_kind_that_is_stated_for_it() -> None:
    sites = Ontology.model_validate({"relations": {"found at": {"domain": "place"}}})
    text = "1687 Lindtia was found at Moore Observatory. Lindtia was a painter."
    assert not {head for head, _, _ in of_ontology(text, sites)} & {"Lindtia", "1687 Lindtia"}
