"""A graph of an edition as a knowledge base: linking, facts around entities, descriptions."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import schemas
from schemas.answers import Evidence
from schemas.knowledge import Description
from schemas.settings import EngineSettings, Settings
from tasks.import_graph import import_graph
from tasks.programs.knowledge_bases.edition_graph import SURE, EditionGraph, edition_graphs
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact
from tasks.programs.program_run import run_program
from tasks.programs.search_program import Searched
from tests.copied_home import copied_home
from warehouse.home import Home

PLAIN = Settings(engine=EngineSettings(encoder="none"))
ODD = ["Zoë\u0301", "a\tb", "«x»", "\u202eevil", "名前 ", "'; drop table triples; --", " lead", "𝕏"]
ROWS = [
    {"head": "Q1", "relation": "born in", "tail": "Q2"},
    {"head": "Q1", "relation": "born", "tail": "1815-12-10", "is_value": True},
    {"head": "Q3", "relation": "child of", "tail": "Q1"},
    {"entity": "Q1", "name": "Ada Lovelace", "description": "A mathematician.", "aliases": ["Ada"]},
    {"entity": "Q2", "name": "London"},
    {"entity": "Q3", "name": "Byron Noel"},
    {"head": "Titan", "relation": "orbits", "tail": "Saturn"},
    {"head": "Yuri Titan", "relation": "wrestled at", "tail": "Baku Games"},
    *({"head": f"odd {n}", "relation": name, "tail": name} for n, name in enumerate(ODD)),
]


@pytest.fixture(scope="module")
def graphs(
    small_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, EditionGraph]]:
    folder = tmp_path_factory.mktemp("graphs")
    home = Home(copied_home(small_home, folder / "home"))
    path = folder / "people.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    import_graph(home, path, PLAIN, name="people")
    with home.editions.reading() as edition:
        opened = edition_graphs(edition)
        yield opened
        opened.clear()


def only(graph: EditionGraph, name: str) -> EntityRef:
    (found,) = graph.entity_linking(name, [name])
    assert found.score == SURE
    return found.entity


def stated(facts: list[Fact]) -> set[tuple[str, str, bool]]:
    return {(fact.relation, fact.text, fact.inverse) for fact in facts}


def test_an_edition_has_its_graphs_by_name(graphs: dict[str, EditionGraph]) -> None:
    assert set(graphs) == {"corpus", "people"}
    assert [graphs[name].personal for name in ("corpus", "people")] == [True, False]


def test_facts_around_an_imported_entity(graphs: dict[str, EditionGraph]) -> None:
    people = graphs["people"]
    ada = only(people, "ada")
    assert (ada.knowledge_base, ada.name) == ("people", "Ada Lovelace")
    assert stated(people.get_entity_triples(ada)) == {
        ("born in", "London", False),
        ("born", "1815-12-10", False),
        ("child of", "Byron Noel", True),
    }
    assert people.get_entity_info(ada) == "A mathematician."
    london = only(people, "London")
    assert stated(people.get_entity_triples(london)) == {("born in", "Ada Lovelace", True)}
    assert people.get_entity_info(london) == ""


def test_facts_of_several_are_read_together_as_alone(graphs: dict[str, EditionGraph]) -> None:
    for name, names in (("people", ["Ada", "London"]), ("corpus", ["Ada Lovelace", "London"])):
        graph = graphs[name]
        refs = [graph.entity_linking(one, [one])[0].entity for one in names]
        together = graph.facts_around(refs)
        assert together == {ref: graph.get_entity_triples(ref) for ref in refs}
        assert all(together.values())


@pytest.mark.parametrize("name", ODD)
def test_odd_names_come_back_byte_for_byte(graphs: dict[str, EditionGraph], name: str) -> None:
    people = graphs["people"]
    holder = only(people, f"odd {ODD.index(name)}")
    (fact,) = people.get_entity_triples(holder)
    assert (fact.relation, fact.text) == (name, name)
    assert isinstance(fact.value, EntityRef)
    (back,) = people.get_entity_triples(fact.value)
    assert (back.text, back.inverse) == (holder.name, True)


def test_a_hub_tells_only_so_much(
    graphs: dict[str, EditionGraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tasks.programs.knowledge_bases import edition_graph

    monkeypatch.setattr(edition_graph, "MOST_FACTS", 2)
    people = graphs["people"]
    assert len(people.get_entity_triples(only(people, "Ada"))) == 2


def test_the_corpus_tells_where_its_facts_stand(
    graphs: dict[str, EditionGraph], small_home: Path
) -> None:
    corpus = graphs["corpus"]
    (babbage, *_) = corpus.entity_linking("Charles Babbage", ["Charles Babbage"])
    facts = [f for f in corpus.get_entity_triples(babbage.entity) if f.kind == "triple"]
    assert facts
    assert all(fact.place and fact.fact_id for fact in facts)
    edition = Home(small_home).require_edition()
    known = {row["triple_id"] for row in edition.table(schemas.Triple).to_pylist()}
    assert {fact.fact_id for fact in facts} <= known


def shown_of(graph: EditionGraph, name: str) -> Evidence:
    code = f"def search():\n    return get_entity_info(['{name}'])[1]"
    run = run_program(code, graph, "q")
    [evidence] = Searched(runs=[run]).evidence
    return evidence


def test_a_description_is_cited_from_the_document_that_states_it(
    graphs: dict[str, EditionGraph], small_home: Path
) -> None:
    shown = shown_of(graphs["corpus"], "Charles Babbage")
    table = Home(small_home).require_edition().table(Description).to_pylist()
    [document_id] = [row["document_id"] for row in table if row["text"] in shown.text]
    assert (shown.kind, shown.document_id) == ("description", document_id)
    assert shown.uri and shown.span_start is not None
    assert shown_of(graphs["people"], "Ada").document_id is None


def test_names_that_mean_different_nodes_give_them_all(graphs: dict[str, EditionGraph]) -> None:
    found = graphs["people"].entity_linking("Where did Titan wrestle?", ["Titan", "Yuri Titan"])
    assert {one.entity.name for one in found} >= {"Titan", "Yuri Titan"}
    assert only(graphs["people"], "Titan").name == "Titan"
    (found, *more) = graphs["people"].entity_linking("q", ["Ada", "Nobody", "Ada Lovelace"])
    assert (found.entity.name, found.score, more) == ("Ada Lovelace", SURE, [])


def test_nobody_is_found_by_no_name(graphs: dict[str, EditionGraph]) -> None:
    for graph in graphs.values():
        assert graph.entity_linking("", [""]) == []
        assert graph.entity_linking("?", []) == []
