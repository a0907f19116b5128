"""Imports as runs: published, replaced, removed; killed ones count for nothing."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import schemas
from schemas.errors import AlmanacError, UsageError
from schemas.imports import ImportedTriple
from schemas.operations import Rejection, Run
from schemas.settings import EngineSettings, Settings
from tasks import import_graph as work
from tasks.graphs.formats.batch import GraphBatch
from tasks.import_graph import import_graph, list_graphs, remove_graph
from tasks.run import RunReport
from tests.copied_home import copied_home
from tests.current_edition import current
from warehouse.home import Home
from warehouse.live import latest

PLAIN = Settings(engine=EngineSettings(encoder="none"))
KB = "Ada\tchild of\tByron\nAda\tfield\tmathematics\nByron\tfield\tverse\n"
REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    path = tmp_path / "kb.tsv"
    path.write_text(KB, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunReport]:
    """A home with the graph `poets`, to be copied, and the run that imported it."""
    folder = tmp_path_factory.mktemp("imported")
    (folder / "kb.tsv").write_text(KB, encoding="utf-8")
    return folder / "home", import_graph(
        Home(folder / "home"), folder / "kb.tsv", PLAIN, name="poets"
    )


@pytest.fixture
def poets(imported: tuple[Path, RunReport], home: Home) -> Home:
    """A copy of that home, to be changed."""
    copied_home(imported[0], home.path)
    return home


def triples(home: Home) -> set[tuple[str, str, str, str]]:
    edition = current(home)
    rows = edition.table(schemas.Triple).to_pylist()
    return {(row["graph"], row["head"], row["relation"], row["tail"]) for row in rows}


def test_a_graph_is_published_replaced_and_removed(poets, imported, kb):
    home, run = poets, imported[1]
    assert (run.outcome, run.counts["import"]["triples"]) == ("done", 3)
    assert ("poets", "Ada", "child of", "Byron") in triples(home)
    import_graph(home, kb, PLAIN, name="other")
    kb.write_text("Ada\tborn in\tLondon\n", encoding="utf-8")
    import_graph(home, kb, PLAIN, name="poets")
    assert {t[1:] for t in triples(home) if t[0] == "poets"} == {("Ada", "born in", "London")}
    assert [graph["graph"] for graph in list_graphs(home)] == ["other", "poets"]
    remove_graph(home, "poets", PLAIN)
    assert {t[0] for t in triples(home)} == {"other"}
    with pytest.raises(UsageError, match="there are other"):
        remove_graph(home, "poets", PLAIN)
    flows = latest(home.live, Run)
    assert set(flows["flow"].to_pylist()) == {"import_graph"}


def test_the_same_file_again_changes_nothing(poets, imported):
    kb = imported[0].parent / "kb.tsv"
    assert import_graph(poets, kb, PLAIN, name="poets").outcome == "unchanged"


def test_a_killed_import_counts_for_nothing(poets, kb, monkeypatch):
    home = poets
    before = triples(home)
    read = work.read_file

    def killed(*arguments: Any) -> Iterator[GraphBatch]:
        for batch in read(*arguments):
            yield batch
            raise KeyboardInterrupt

    kb.write_text("Ada\tborn in\tLondon\n", encoding="utf-8")
    monkeypatch.setattr(work, "read_file", killed)
    monkeypatch.setattr(work, "COMMIT_ROWS", 1)
    with pytest.raises(KeyboardInterrupt):
        import_graph(home, kb, PLAIN, name="poets")
    assert len(home.journal.table(ImportedTriple)) == 4  # rows that no import counts
    assert [graph["triples"] for graph in list_graphs(home)] == [3]
    remove_graph(home, "poets", PLAIN)
    assert triples(home) == set()
    monkeypatch.undo()
    kb.write_text(KB, encoding="utf-8")
    import_graph(home, kb, PLAIN, name="poets")
    assert triples(home) == before


def test_large_files_are_committed_in_pieces(home, tmp_path, monkeypatch):
    from tasks.graphs.formats import lines

    monkeypatch.setattr(work, "COMMIT_ROWS", 500)
    blocks = lines.blocks_of_lines.__defaults__
    assert blocks is not None
    monkeypatch.setattr(lines.blocks_of_lines, "__defaults__", (2_000, *blocks[1:]))
    monkeypatch.setattr(work, "STAGES", work.STAGES[:1])
    path = tmp_path / "kb.tsv"
    path.write_text("".join(f"a{n}\tr{n % 9}\tb{n}\n" for n in range(3000)), encoding="utf-8")
    import_graph(home, path, PLAIN, name="big")
    parts = home.journal.parts(ImportedTriple)
    assert sum(part.rows for part in parts) == 3000
    assert len(parts) >= 5


def test_refused_lines_are_told_as_rejections(home, kb):
    kb.write_text(KB + "broken\n", encoding="utf-8")
    run = import_graph(home, kb, PLAIN, name="poets")
    assert run.counts["import"]["refused"] == 1
    (rejection,) = home.live.table(Rejection).to_pylist()
    assert (rejection["stage"], rejection["item_id"]) == ("import", "kb.tsv:4")
    assert (rejection["reason"], rejection["text"]) == ("not-3-fields", "broken")


def test_a_file_of_another_format_imports_nothing(home, kb):
    kb.write_text(KB + "one\ntwo\tx\nthree\nfour\ty\n", encoding="utf-8")
    with pytest.raises(AlmanacError, match="too many to continue; line 4"):
        import_graph(home, kb, PLAIN, name="poets", format="tsv")
    kb.write_text("\n", encoding="utf-8")
    with pytest.raises(AlmanacError, match="Nothing in"):
        import_graph(home, kb, PLAIN, name="poets", format="tsv")
    assert list_graphs(home) == []
    assert home.editions.current() is None


@pytest.mark.parametrize("name", ["corpus", "Corpus", "", "a b", "a/b", "../x", "x" * 65, "é"])
def test_names_that_are_refused(home, kb, name):
    with pytest.raises(UsageError):
        import_graph(home, kb, PLAIN, name=name)


def test_the_corpus_keeps_its_facts(own_home, kb):
    home = Home(own_home)
    before = {t for t in triples(home) if t[0] == "corpus"}
    import_graph(home, kb, PLAIN, name="poets")
    assert {t for t in triples(home) if t[0] == "corpus"} == before
    remove_graph(home, "poets", PLAIN)
    assert triples(home) == before


def test_naughty_strings_come_back(home, almanac_data, tmp_path):
    found = almanac_data / "hostile" / "blns.json"
    strings = [s for s in json.loads(found.read_text(encoding="utf-8")) if s and "\r" not in s]
    path = tmp_path / "kb.jsonl"
    rows = ({"head": s, "relation": "is", "tail": f"{s} tail"} for s in strings)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = import_graph(home, path, PLAIN, name="naughty")
    assert run.counts["import"]["refused"] == 0
    assert {(head, tail) for _, head, _, tail in triples(home)} == {
        (s, f"{s} tail") for s in strings
    }


@pytest.fixture(scope="module")
def congress(almanac_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with the graphs of two terms of the Congress; read it."""
    home = Home(tmp_path_factory.mktemp("congress") / "home")
    for name in ("congress", "congress-117"):
        mapping = REPOSITORY / "examples" / "mappings" / f"{name}.yaml"
        import_graph(home, almanac_data / "congress", PLAIN, name=name, mapping=mapping)
    return home


def test_congress_knows_who_was_elected(congress, almanac_data):
    elected = tails_by_head(congress, "representative elected in 2022", "senator elected in 2022")
    benchmark = json.loads((almanac_data / "midtermqa" / "openbook.json").read_text("utf-8"))
    race = re.compile(r"Who won the (?:(.+ district) of|senate race of) (.+) in the 2022")
    races = [
        (f"{seat[2]}'s {seat[1]}" if seat[1] else seat[2], item["answer"])
        for item in benchmark["demos"] + benchmark["testset"]
        if (seat := race.match(item["question"]))
    ]
    right = sum(elected.get(seat) == {answer} for seat, answer in races)
    assert right >= 0.95 * len(races)


def test_the_congress_before_names_the_same_seats(congress):
    after = tails_by_head(congress, "representative", "senator", graph="congress")
    before = tails_by_head(congress, "representative", "senator", graph="congress-117")
    assert before["Ohio"] == {"Sherrod Brown", "Rob Portman"}
    assert after["Ohio"] == {"Sherrod Brown", "J. D. Vance"}
    assert len(before.keys() & after.keys()) >= 0.97 * len(before)
    changed = sum(before[seat].isdisjoint(after[seat]) for seat in before.keys() & after.keys())
    assert 50 < changed < 150


def tails_by_head(home: Home, *relations: str, graph: str = "congress") -> dict[str, set[str]]:
    tails: dict[str, set[str]] = {}
    for its_graph, head, relation, tail in triples(home):
        if its_graph == graph and relation in relations:
            tails.setdefault(head, set()).add(tail)
    return tails


def test_the_commands_import_list_and_remove(home, kb, almanac):
    assert almanac.json(home.path, "graphs") == []
    call = ["import-graph", str(kb), "--name", "poets", "--no-vectors"]
    assert almanac.json(home.path, *call)["published"]
    (graph,) = almanac.json(home.path, "graphs")
    assert (graph["graph"], graph["triples"], graph["format"]) == ("poets", 3, "tsv")
    assert almanac.json(home.path, "graphs", "remove", "poets")["published"]
    code, _, err = almanac(home.path, "graphs")
    assert code == 0 and "No graph" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["import-graph", "absent.tsv", "--name", "x"], "No such file"),
        (["import-graph", ".", "--name", "x"], "folder"),
        (["import-graph", "absent.tsv", "--name", "corpus"], "own documents"),
        (["graphs", "remove", "absent"], "none was imported"),
    ],
)
def test_wrong_calls_are_told_in_words(home, almanac, arguments, words):
    assert words in almanac.refused(home.path, *arguments)
