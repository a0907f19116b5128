"""From Python: typed rows, data frames, parameters, connections, notes, and asyncio."""

import asyncio
from datetime import date

import pytest

import almanac
from schemas.errors import AlmanacError, UsageError


def test_it_says_what_it_is(small_home, tmp_path):
    said = repr(almanac.open(small_home))
    assert said.startswith(f"Almanac('{small_home}', edition 000002-") and "9 documents" in said
    assert repr(almanac.open(tmp_path / "new")).endswith("no edition yet)")


def test_facts_and_documents_are_rows_with_types(small_home):
    with almanac.open(small_home) as kb:
        facts = list(kb.facts())
        count = kb.sql("select count(*) as n from asserted_triples").to_pylist()[0]["n"]
        assert len(facts) == count and all(isinstance(fact, almanac.Triple) for fact in facts)
        assert len(list(kb.facts(asserted=False))) >= count
        assert list(kb.facts(graph="corpus")) == facts
        first = next(kb.documents(edition="000001"))
        assert isinstance(first, almanac.Document) and first.text


def test_an_edition_that_is_read_is_not_pruned(own_home):
    with almanac.open(own_home) as kb:
        facts = kb.facts(edition="000001")
        next(facts)
        assert kb.home.editions.prune(keep=1, days=0.0, dry_run=False) == []
        facts.close()
        connection = kb.connect("000001")
        assert connection.execute("select count(*) from documents").fetchall() == [(9,)]
        assert kb.home.editions.prune(keep=1, days=0.0, dry_run=False) == []
        with pytest.raises(Exception, match="read-only"):
            connection.execute("delete from documents")
        connection.close()


def test_parameters_of_a_query_are_values_and_never_sql(small_home):
    with almanac.open(small_home) as kb:
        hostile = "'; drop table triples; --\n\x00"
        assert kb.sql("select ? as a", [hostile]).to_pylist() == [{"a": hostile}]
        named = kb.sql("select $n + 1 as n, $day - 1 as d", {"n": 2**40, "day": date(2026, 1, 2)})
        assert named.to_pylist() == [{"n": 2**40 + 1, "d": date(2026, 1, 1)}]
        assert kb.sql("select $1 is null as a, $2 as b", [None, True]).to_pylist() == [
            {"a": True, "b": True}
        ]
        with pytest.raises(UsageError, match="cannot be a bytes"):
            kb.sql("select ?", [b"1"])
        with pytest.raises(UsageError, match="does not work"):
            kb.sql("select ?", [1, 2])


def test_whole_numbers_stay_whole_in_data_frames(own_home):
    query = "select * from (values (9007199254740993, 'a'), (null, 'b')) as t(n, s)"
    with almanac.open(own_home) as kb:
        table = kb.sql(query)
        assert almanac.to_pandas(table)["n"][0] == 9007199254740993
        assert almanac.to_polars(table)["n"].to_list() == [9007199254740993, None]
        frame = almanac.to_pandas(kb.facts())
        assert str(frame["span_start"].dtype) == "int64[pyarrow]"
        assert almanac.to_polars(kb.facts()).height == len(frame)
        found, answers = kb.search("engine"), kb.ask_many(["Where was Ada Lovelace born?"])
        assert almanac.to_pandas(found)["title"][0] == found[0]["title"]
        assert almanac.to_pandas(answers)["answer"][0] == "London"
        assert "documents" in set(almanac.to_polars(kb.diff())["table"])


def test_editions_are_compared(small_home):
    with almanac.open(small_home) as kb:
        tables = {difference.table: difference for difference in kb.diff()}
        assert tables["documents"].changed_in_all == 1
        assert kb.diff("000001", "000002") == list(tables.values())
        with pytest.raises(UsageError, match="is the first"):
            kb.diff(new="000001")


def test_a_note_is_kept_and_known_at_once(own_home, tmp_path):
    with almanac.open(own_home) as kb:
        kept = kb.remember("Grace Hopper was born in New York.")
        assert kept.note.new and kept.document_id
        assert kb.ask("Where was Grace Hopper born?").answer == "New York"
        with pytest.raises(UsageError, match="nothing to remember"):
            kb.remember(" ")
        with pytest.raises(AlmanacError, match="is not a file"):
            kb.remember(tmp_path / "missing.md")


def test_a_refresh_tells_its_progress(own_home, tmp_path):
    (tmp_path / "a.md").write_text("# Oslo\n\nOslo lies in Norway.\n", encoding="utf-8")
    told = []
    with almanac.open(own_home) as kb:
        kb.refresh(tmp_path / "a.md", on_progress=lambda *progress: told.append(progress))
    assert ("read", 1, 1) in told


def test_questions_and_searches_do_not_block_a_loop(own_home):
    async def both() -> None:
        with almanac.open(own_home) as kb:
            answer, found = await asyncio.gather(
                kb.aask("Where was Ada Lovelace born?"), kb.asearch("mathematician", limit=1)
            )
            assert answer.answer == "London" and found[0]["uri"] == "ada.md"
            [many] = kb.ask_many(["Where was Ada Lovelace born?"])
            assert many.answer == "London"

    asyncio.run(both())


def test_langchain_retrieves_passages_with_their_places(small_home):
    from almanac.langchain import AlmanacRetriever

    retriever = AlmanacRetriever(home=small_home, limit=2)
    found = retriever.invoke("Who designed the Analytical Engine?")
    assert any("Analytical Engine" in document.page_content for document in found)
    assert {"uri", "span_start", "span_end", "score"} <= found[0].metadata.keys()
    assert asyncio.run(retriever.ainvoke("Analytical Engine"))
    assert not AlmanacRetriever(home=small_home, where="language = zh").invoke("Analytical Engine")


def test_llamaindex_retrieves_passages_with_their_places(small_home):
    from almanac.llamaindex import AlmanacRetriever

    retriever = AlmanacRetriever(small_home, limit=2)
    found = retriever.retrieve("Who designed the Analytical Engine?")
    assert any("Analytical Engine" in node.text for node in found)
    assert found[0].score and {"uri", "span_start"} <= found[0].metadata.keys()
    assert asyncio.run(retriever.aretrieve("Analytical Engine"))
    assert not AlmanacRetriever(small_home, where="language = zh").retrieve("Analytical Engine")


def test_notebooks_show_answers_and_the_almanac_without_running_what_they_quote(small_home):
    with almanac.open(small_home) as kb:
        answer = kb.ask("Where was Ada Lovelace born?")
        shown = kb._repr_html_()
    hostile = answer.model_copy(update={"answer": "<script>alert(1)</script>"})._repr_html_()

    assert answer.answer and f"<strong>{answer.answer}</strong>" in answer._repr_html_()
    assert answer._repr_html_().count("<li>") == len(answer.evidence) > 0
    assert "<script>" not in hostile
    assert "documents" in shown
