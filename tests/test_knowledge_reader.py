"""Answers from extracted knowledge alone: programs look up, what they found is read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.graphs.build import GraphFolders
from tasks.programs.knowledge_bases.edition_graph import edition_graphs
from tasks.reader.knowledge_reader import KnowledgeReader
from tasks.text.question import analyse
from tests.small_edition import indexed_edition
from warehouse.editions import Building
from warehouse.scratch import Scratch

# What follows "unsaid" stands in a passage, but nothing was extracted from it.
TEXTS = {
    "Marie Curie": "Marie Curie was born in Warsaw on 7 November 1867 and discovered polonium "
    "and radium. She married Pierre Curie. Unsaid: Marie Curie died in Passy.",
    "Lise Meitner": "Lise Meitner was born in Vienna on 7 November 1878.",
    "Warsaw": "Warsaw lies on the Vistula and is the capital of Poland.",
    "Vienna": "Vienna lies on the Danube in Austria.",
    "Danube": "The Danube is 2,850 km long.",
    "Vistula": "The Vistula is 1,047 km long.",
}
ENTITIES = {
    "Marie Curie": ("person", ["Curie"]), "Pierre Curie": ("person", []),
    "Lise Meitner": ("person", []), "Warsaw": ("place", []), "Vienna": ("place", []),
    "Poland": ("place", []), "Austria": ("place", []), "Vistula": ("place", []),
    "Danube": ("place", []), "polonium": ("thing", []), "radium": ("thing", []),
}  # fmt: skip
FACTS = [
    ("Marie Curie", "Marie Curie", "born in", "Warsaw"),
    ("Marie Curie", "Marie Curie", "born on", "7 November 1867"),
    ("Marie Curie", "Marie Curie", "discovered", "polonium"),
    ("Marie Curie", "Marie Curie", "discovered", "radium"),
    ("Marie Curie", "Marie Curie", "married", "Pierre Curie"),
    ("Lise Meitner", "Lise Meitner", "born in", "Vienna"),
    ("Lise Meitner", "Lise Meitner", "born on", "7 November 1878"),
    ("Warsaw", "Warsaw", "lies on", "Vistula"),
    ("Warsaw", "Warsaw", "capital of", "Poland"),
    ("Vienna", "Vienna", "lies on", "Danube"),
    ("Vienna", "Vienna", "city in", "Austria"),
    ("Danube", "Danube", "length", "2,850 km"),
    ("Vistula", "Vistula", "length", "1,047 km"),
]
DESCRIPTIONS = {
    "Marie Curie": "Marie Curie was a Polish physicist.",
    "Lise Meitner": "Lise Meitner was an Austrian physicist.",
    "Vistula": "The Vistula is a river in Poland.", "Danube": "The Danube is a river in Europe.",
    "Warsaw": "Warsaw is a city in Poland.", "Vienna": "Vienna is a city in Austria.",
    "Poland": "Poland is a country.", "Austria": "Austria is a republic.",
    "polonium": "Polonium is a chemical element.",
}  # fmt: skip


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeReader:
    folder: Path = tmp_path_factory.mktemp("edition")
    edition = indexed_edition(folder, TEXTS, ENTITIES, FACTS, DESCRIPTIONS)
    with GraphFolders(Building(folder, edition.id, 1, None), Scratch()) as graphs:
        graphs.add_corpus()
        graphs.finish()
    return KnowledgeReader(edition_graphs(edition)["corpus"], edition)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where was Marie Curie born?", "Warsaw"),
        ("Who was Marie Curie?", "Marie Curie was a Polish physicist."),
        ("When was Marie Curie born?", "7 November 1867"),
        ("Who discovered polonium?", "Marie Curie"),
        ("Where was the physicist born who discovered polonium?", "Warsaw"),
        ("When was the physicist born who married Pierre Curie?", "7 November 1867"),
        ("On which river does the city lie where Marie Curie was born?", "Vistula"),
        ("On which river lies the city where Marie Curie, who discovered polonium, was born?",
         "Vistula"),
        ("Who was born earlier, Lise Meitner or Marie Curie?", "Marie Curie"),
        ("Which river is longer, the Vistula or the Danube?", "the Danube"),
    ],
)  # fmt: skip
def test_answers_come_from_what_was_extracted(
    reader: KnowledgeReader, question: str, answer: str
) -> None:
    found = reader.answer(analyse(question))
    assert found.answers[:1] == [answer]
    assert found.evidence
    assert found.program and "get_entity_info(" in found.program


@pytest.mark.parametrize(
    "question",
    [
        "Where did Marie Curie die?",  # a passage says it, no fact does
        "What was the name of Marie Curie's dog?", "When was Emmy Noether born?",
        "Who was born earlier, Emmy Noether or Marie Curie?",
        "Were Pierre Curie and Lise Meitner born in the same country?",
        "Where was the physicist born who discovered gallium?", "", "?",
    ],
)  # fmt: skip
def test_what_was_not_extracted_is_not_known(reader: KnowledgeReader, question: str) -> None:
    assert reader.answer(analyse(question)).answers == []


def test_all_that_one_relation_leads_to_is_the_answer(reader: KnowledgeReader) -> None:
    found = reader.answer(analyse("What did Marie Curie discover?"))
    assert found.answers == ["polonium", "radium"]


def test_evidence_says_where_a_document_states_it(reader: KnowledgeReader) -> None:
    evidence = reader.answer(analyse("Where was Marie Curie born?")).evidence[0]
    assert (evidence.kind, evidence.graph, evidence.uri) == ("triple", "corpus", "test/Marie Curie")
    assert evidence.span_start == TEXTS["Marie Curie"].index("Warsaw")


def test_one_question_leaves_nothing_behind(reader: KnowledgeReader) -> None:
    first = reader.answer(analyse("Where was Marie Curie born?"))
    reader.answer(analyse("Where was Lise Meitner born?"))
    again = reader.answer(analyse("Where was Marie Curie born?"))
    assert again.answers == first.answers
    assert again.evidence == first.evidence


@given(st.text(max_size=80))
def test_any_text_is_a_question(reader: KnowledgeReader, question: str) -> None:
    assert isinstance(reader.answer(analyse(question)).answers, list)
