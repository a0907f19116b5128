"""Statements beside triples: linked to entities, looked up, read, and never taken for more."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from schemas.settings import EngineSettings, Settings
from schemas.statements import Clause
from tasks.programs.knowledge_bases.edition_graph import EditionGraph, edition_graphs
from tasks.programs.knowledge_bases.statements import statements_around, statements_in
from tasks.programs.program_run import run_program
from tasks.reader.knowledge_reader import KnowledgeReader
from tasks.refresh import refresh
from tasks.retrieval.search import Hit, Searcher
from tasks.text.question import analyse
from tests.documents import write_texts
from warehouse.editions import Edition
from warehouse.home import Home

TEXTS = {
    "field.txt": "Nora Field is a British engineer. She joined the Harbour Trust in 1998 after a "
    "long journey. She did not found the Swan Company. John Moss said that Nora Field bought the "
    "Grey Mill. The audit team meets in the Lantern Room.",
    "lan.txt": "李兰是中国工程师。她于1998年加入海港公司。她没有创办天鹅公司。李兰在鹿城发表演讲。",
}


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edition]:
    source = write_texts(tmp_path_factory.mktemp("stated") / "texts", TEXTS)
    home = Home(source.parent / "home")
    refresh(home, [str(source)], Settings(engine=EngineSettings(encoder="none")))
    with home.editions.reading() as opened:
        yield opened


@pytest.fixture(scope="module")
def graph(edition: Edition) -> EditionGraph:
    return edition_graphs(edition)["corpus"]


@pytest.fixture(scope="module")
def reader(edition: Edition, graph: EditionGraph) -> KnowledgeReader:
    return KnowledgeReader(graph, edition)


@pytest.mark.parametrize(
    ("object_", "subject", "named"),
    [("the Harbour Trust", "Nora Field", "Harbour Trust"), ("海港公司", "李兰", None)],
)
def test_a_statement_knows_the_entities_that_it_names(edition, object_, subject, named):
    con = edition.connect()
    names = dict(con.sql("select entity_id, name from entities").fetchall())
    query = "select subject_id, argument_ids from clauses where object = $object"
    ((subject_id, argument_ids),) = con.execute(query, {"object": object_}).fetchall()
    assert names[subject_id] == subject
    assert named is None or named in {names[entity_id] for entity_id in argument_ids}


def test_statements_follow_triples_and_are_plain(graph):
    (found,) = graph.entity_linking("Nora Field", ["Nora Field"])
    facts = graph.get_entity_triples(found.entity)
    kinds = [fact.kind for fact in facts]
    assert kinds == sorted(kinds, key=["triple", "aspect", "statement"].index)
    words = [fact.words for fact in facts if fact.kind == "statement"]
    assert "Nora Field joined the Harbour Trust after a long journey in 1998" in words
    assert not any("found" in text or "Grey Mill" in text for text in words)
    assert all(fact.place and fact.confidence < 1 for fact in facts if fact.kind == "statement")


def test_a_chinese_statement_has_the_preposition_of_its_place(graph):
    (found,) = graph.entity_linking("李兰", ["李兰"])
    words = [fact.words for fact in graph.get_entity_triples(found.entity)]
    assert "李兰在鹿城发表演讲" in words


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When did Nora Field join the Harbour Trust?", "1998"),
        ("Where does the audit team meet?", "Lantern Room"),
        ("Who founded the Swan Company?", None),
        ("What did Nora Field buy?", None),
        ("李兰哪一年加入海港公司？", "1998年"),
        ("谁创办了天鹅公司？", None),
    ],
)
def test_questions_are_answered_from_statements(reader, question, answer):
    replied = reader.answer(analyse(question))
    assert replied.answers[:1] == ([answer] if answer else [])
    if answer:
        assert {"statement", "triple"} >= {evidence.kind for evidence in replied.evidence[:1]}
        assert replied.evidence[0].document_id


def test_what_a_passage_states_is_found_by_its_row(edition):
    searcher = Searcher(edition.path, None)
    hits = searcher.alike(analyse("Nora Field"))
    [passage] = [hit for hit in hits if "Nora" in hit.fields["text"]]
    stated = {row["statement_id"] for row in searcher.stated(passage.row)}
    table = edition.table(Clause).to_pylist()
    own = [row for row in table if row["passage_id"] == passage.fields["passage_id"]]
    assert stated == {row["statement_id"] for row in own}
    assert 0 < len(stated) < len(table)


def test_a_program_is_told_what_is_but_a_statement(graph):
    program = (
        "def search():\n"
        "    found, message = find_entity_or_value(\n"
        "        entity_aliases=['Nora Field'], relation_aliases=['joined'])\n"
        "    return message\n"
    )
    run = run_program(program, graph, "When did Nora Field join the Harbour Trust?")
    facts = [fact for call in run.calls for fact in call.facts]
    marked = any("joined (statement)" in message for message in run.messages)
    assert marked == all(fact.kind == "statement" for fact in facts)
    assert facts


STATED = """
create table documents as
    select 'd' as document_id, 'file' as uri, 'file' as source, current_timestamp as read_at;
create table clauses as
select * from (values
    ('plain', '', 'normal', 'asserted', 0), ('sensitive', '', 'sensitive', 'asserted', 0),
    ('claimed', 'John Moss', 'normal', 'asserted', 100),
    ('outer', '', 'normal', 'asserted', 200), ('inner', '', 'normal', 'reported', 200)
) t(statement_id, attribution, sensitivity, modality, span_start)
cross join (
    select 'e' as subject_id, ['f'] as argument_ids, 'She' as subject, 'Nora' as subject_name,
           'met' as predicate, 'Ada' as object, ['in Rome'] as arguments, '1998' as "time",
           'in Rome' as place, 0.7 as confidence, 'p' as passage_id, 'd' as document_id,
           'positive' as polarity, 300 as span_end);
update clauses set span_end = span_start + 9;
create view asserted_statements as select * from clauses where modality = 'asserted';
"""


def test_what_others_claim_or_is_sensitive_is_left_out():
    con = duckdb.connect()
    con.execute(STATED)
    for entity in ("e", "f"):
        open_ones = statements_around(con, [entity], everything=False)
        assert [stated.statement_id for stated in open_ones] == ["plain"]
    every = [*statements_around(con, ["e"], everything=True)]
    assert {stated.statement_id for stated in every} == {"plain", "sensitive"}
    assert every[0].words == "Nora met Ada in Rome 1998"


class OnePassage:
    """A search over one passage that states rows of a table."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._rows = con.table("clauses").to_arrow_table().to_pylist()

    def stated(self, passage: int) -> list[dict[str, Any]]:
        return self._rows if passage == 0 else []


def test_what_others_claim_in_a_passage_is_left_out():
    con = duckdb.connect()
    con.execute(STATED)
    first, second = (Hit(row, {"uri": "file"}, 1.0) for row in range(2))
    pairs = [*statements_in(OnePassage(con), [first, second])]
    assert {stated.statement_id for stated, _ in pairs} == {"plain", "sensitive"}
    assert {hit.row for _, hit in pairs} == {0}
    assert pairs[0][0].place.uri == "file"
