"""Imported graphs in editions: tables and arrays say the same; graphs keep apart and leave whole.

The journal's rows become tables (`edition_rows`), arrays and an index of names (`GraphFolders`).
"""

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import schemas
from schemas.imports import GraphImport, ImportedAlias, ImportedEntity, ImportedTriple
from schemas.settings import EngineSettings, PublishSettings, Settings
from tasks.graphs import build
from tasks.graphs.edition_rows import edition_rows
from tasks.graphs.graph import NAMES, Graph, graph_folders, graphs_of
from tasks.graphs.imported import ImportedGraph, current_imports, read_import
from tasks.import_graph import import_graph, remove_graph
from tasks.publish.checks import failed_checks
from tasks.text.relations.vocabulary import single_valued
from warehouse.comparison import compare
from warehouse.editions import Edition, Editions
from warehouse.home import Home
from warehouse.journal import Journal

PLAIN = Settings(engine=EngineSettings(encoder="none"))
GOLDEN: list[dict[str, Any]] = [
    {"head": "Q1", "relation": "born in", "tail": "Q2"},
    {"head": "Q1", "relation": "born in", "tail": "Q2", "weight": 0.5},
    {"head": "Q1", "relation": "birth year", "tail": "1815", "is_value": True},
    {"head": "Q1", "relation": "code", "tail": "1815", "is_value": True},
    {"head": "Q1", "relation": "died", "tail": "1852-11-27", "is_value": True},
    {"head": "Q2", "relation": "motto", "tail": "Q1", "is_value": True},
    {"entity": "Q1", "name": "Ada Lovelace", "kind": "person", "aliases": ["Ada", "A. Lovelace"]},
    {"entity": "Q1", "name": "Somebody else", "description": "A mathematician."},
    {"entity": "Q2", "name": "London", "aliases": ["Ada"]},
]


OTHER = [{"head": "x", "relation": "r", "tail": "y"}]


@pytest.fixture(scope="module")
def golden_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with the golden graph g; read it, or work on the copy `own`."""
    home = Home(tmp_path_factory.mktemp("golden") / "home")
    imported(home, GOLDEN)
    return home


@pytest.fixture
def own(golden_home: Home, tmp_path: Path) -> Home:
    return Home(Path(shutil.copytree(golden_home.path, tmp_path / "home")))


def imported(home: Home, rows: list[dict[str, Any]], name: str = "g") -> Edition:
    path = home.path.parent / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    import_graph(home, path, PLAIN, name=name)
    return home.require_edition()


def triples_of(graph: Graph) -> set[tuple[str, str, str]]:
    return {
        (graph.label(node), graph.relations[edge.relation], graph.label(edge.tail))
        for node in range(graph.nodes)
        for edge in graph.leaving(node)
    }


def noted(
    monkeypatch: pytest.MonkeyPatch, function: str, tell: Callable[..., Any] = lambda *all_: all_
) -> list[Any]:
    """Return what calls of a function of the build tell from now on."""
    told: list[Any] = []
    usual = getattr(build, function)

    def noting(*arguments: Any) -> Any:
        told.append(tell(*arguments))
        return usual(*arguments)

    monkeypatch.setattr(build, function, noting)
    return told


def test_a_season_is_no_date(home: Home) -> None:
    values = ("2019-20", "2019-12", "2019-12-31", "2019-12-32")
    rows = [{"head": "Q1", "relation": "r", "tail": text, "is_value": True} for text in values]
    triples = imported(home, rows).table(schemas.Triple).to_pylist()
    assert {t["date"] for t in triples} == {None, "2019-12", "2019-12-31"}
    assert {t["date_exact"] for t in triples} == {None, date(2019, 12, 31)}


def test_values_of_a_graph_are_read_as_those_of_the_corpus_are(home: Home) -> None:
    texts = {
        "193 km²": ("quantity", 193.0, "km²", None), "1,234": ("number", 1234.0, None, None),
        "$3 million": ("quantity", 3e6, "USD", None),
        "3 March 1924": ("date", None, None, "1924-03-03"),
        "-2.50": ("number", -2.5, None, None), "007": ("text", None, None, None),
        "+592": ("text", None, None, None), "2021-02-30": ("text", None, None, None),
        "44 BC": ("year", None, None, "-0044"), "Agent 7": ("text", None, None, None),
    }  # fmt: skip
    rows = [{"head": "Q1", "relation": "r", "tail": text, "is_value": True} for text in texts]
    triples = imported(home, rows).table(schemas.Triple).to_pylist()
    columns = ("value_type", "number", "unit", "date")
    assert {t["tail"]: tuple(t[column] for column in columns) for t in triples} == texts


def test_a_code_is_no_number_and_a_name_no_count(home: Home) -> None:
    names = ("007", "+592", "2021-02-30", "12 monkeys")
    rows = [{"head": "Q1", "relation": "r", "tail": name} for name in names]
    triples = imported(home, rows).table(schemas.Triple).to_pylist()
    assert {(t["value_type"], t["number"]) for t in triples} == {("entity", None)}


def test_the_tables_of_a_golden_graph(golden_home: Home) -> None:
    edition = golden_home.require_edition()
    triples = edition.table(schemas.Triple).to_pylist()
    columns = ("relation", "tail", "value_type", "number", "date")
    assert {tuple(t[column] for column in columns) for t in triples} == {
        ("born in", "London", "entity", None, None),
        ("birth year", "1815", "year", None, "1815"),
        ("code", "1815", "number", 1815.0, None),
        ("died", "1852-11-27", "date", None, "1852-11-27"),
        ("motto", "Q1", "text", None, None),
    }
    born = next(t for t in triples if t["relation"] == "born in")
    assert (born["head"], born["confidence"], born["graph"]) == ("Ada Lovelace", 0.5, "g")
    entities = {e["entity_id"]: e for e in edition.table(schemas.Entity).to_pylist()}
    ada, london = entities[born["head_id"]], entities[born["tail_id"]]
    assert (ada["name"], ada["kind"], ada["mentions"]) == ("Ada Lovelace", "person", 4)
    assert ada["description"] == "A mathematician."
    assert (london["kind"], london["mentions"]) == ("unknown", 2)
    rows = edition.table(schemas.Alias).to_pylist()
    aliases = {(a["alias"], entities[a["entity_id"]]["name"]): a["weight"] for a in rows}
    assert aliases[("Ada", "Ada Lovelace")] == pytest.approx(5 / 8)
    assert aliases[("Ada", "London")] == pytest.approx(3 / 8)
    assert aliases[("London", "London")] == 1.0
    (description,) = edition.table(schemas.Description).to_pylist()
    assert (description["entity"], description["text"]) == ("Ada Lovelace", "A mathematician.")
    relations = {r["relation"]: r for r in edition.table(schemas.Relation).to_pylist()}
    assert relations["code"]["example"] == "Ada Lovelace | code | 1815"
    assert {r: row["triples"] for r, row in relations.items()} == dict.fromkeys(relations, 1)


def test_arrays_say_what_the_tables_say(golden_home: Home) -> None:
    edition = golden_home.require_edition()
    graph = graphs_of(edition)["g"]
    rows = edition.table(schemas.Triple).to_pylist()
    assert triples_of(graph) == {(t["head"], t["relation"], t["tail"]) for t in rows}
    ids = [i for i in graph.ids.to_pylist() if i is not None]
    assert ids == edition.table(schemas.Entity)["entity_id"].to_pylist()
    assert [graph.label(node) for node in graph.named("ada")] == ["Ada Lovelace", "London"]
    (value,) = graph.named("q1")  # the motto: the entity of that key has a name of its own
    assert graph.ids[int(value)].as_py() is None
    assert not list(edition.path.rglob("*.part"))
    with duckdb.connect(str(edition.database), read_only=True) as con:
        stored = con.execute("select head, relation, tail from triples").fetchall()
    assert set(stored) == triples_of(graph)


def test_tables_are_in_their_order_and_built_the_same_again(home: Home, tmp_path: Path) -> None:
    rows = [{"head": f"h{n % 7}", "relation": f"r{n % 3}", "tail": f"t{n}"} for n in range(60)]
    edition = imported(home, rows)
    other = imported(Home(tmp_path / "other"), rows[::-1])
    for row, order in (
        (schemas.Triple, ("graph", "head_id", "relation")),
        (schemas.Entity, ("graph", "entity_id")),
        (schemas.Alias, ("alias", "entity_id")),
    ):
        table = edition.table(row)
        keys = list(zip(*(table[name].to_pylist() for name in order), strict=True))
        assert keys == sorted(keys)
        assert edition.manifest["tables"][row.table] == other.manifest["tables"][row.table]


def test_names_that_did_not_change_are_not_indexed_again(
    own: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed = noted(monkeypatch, "_index_anew")
    first = graphs_of(own.require_edition())["g"]
    edition = imported(own, OTHER, "a")
    assert len(indexed) == 1
    again = graphs_of(edition)["g"]
    assert list(again.named("ada")) == list(first.named("ada"))
    assert all((folder / NAMES / "names.arrow").exists() for folder in graph_folders(edition))


def files_of(folder: Path) -> list[Path]:
    """Return the files of a graph's folder that are the same wherever its rows stand."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != build.IMPORT)
    return [path.relative_to(folder) for path in paths]


@pytest.fixture
def read_anew(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the graphs that are read out of the journal from now on."""
    return noted(monkeypatch, "read_import", lambda journal, row, upto: row["graph"])


def test_a_graph_that_did_not_change_is_linked_and_its_rows_are_what_they_were(
    own: Home, tmp_path: Path, read_anew: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = own.require_edition()
    imported(own, OTHER, "a")  # stands before it, so that its folder and rows get other numbers
    edition = imported(own, OTHER, "z")
    assert read_anew == ["a", "z"]
    (old,), (_, new, _) = graph_folders(first), graph_folders(edition)
    assert all((old / path).samefile(new / path) for path in files_of(old))
    assert edition.damaged() == []
    monkeypatch.setattr(build, "_earlier_graphs", lambda parent: iter(()))
    built = [imported(Home(tmp_path / "anew"), *graph) for graph in ((GOLDEN, "g"), (OTHER, "a"))]
    built.append(imported(Home(tmp_path / "anew"), OTHER, "z"))
    assert read_anew == ["a", "z", *"g", *"ag", *"agz"]
    assert built[-1].manifest["tables"] == edition.manifest["tables"]


def test_where_files_cannot_be_linked_they_are_copied(
    own: Home, read_anew: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def impossible(self: Path, target: Path) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "hardlink_to", impossible)
    first = own.require_edition()
    edition = imported(own, OTHER, "z")
    assert read_anew == ["z"]
    (old,), (new, _) = graph_folders(first), graph_folders(edition)
    for path in files_of(old):
        assert (old / path).read_bytes() == (new / path).read_bytes()
        assert not (old / path).samefile(new / path)
    assert edition.damaged() == []


def test_nothing_is_linked_from_a_damaged_edition(own: Home, read_anew: list[str]) -> None:
    path = graph_folders(own.require_edition())[0] / "heads.npy"
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # as a failing disk would have it
    edition = imported(own, OTHER, "z")
    assert read_anew == ["g", "z"]
    assert edition.damaged() == []


def test_a_killed_build_and_pruning_leave_linked_files_whole(
    own: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*arguments: Any) -> None:
        raise KeyboardInterrupt

    first = own.require_edition()
    monkeypatch.setattr(Editions, "seal", killed)
    with pytest.raises(KeyboardInterrupt):
        imported(own, OTHER, "z")
    monkeypatch.undo()
    assert first.damaged() == []
    edition = imported(own, OTHER, "z")
    assert not list(own.editions.folder.glob(".building-*"))
    own.editions.prune(keep=0, days=0)
    assert not first.path.exists()
    assert edition.damaged() == [] and list(graphs_of(edition)) == ["g", "z"]


def test_graphs_with_the_same_keys_stay_apart(home: Home) -> None:
    imported(home, [{"head": "Paris", "relation": "in", "tail": "France"}], "cities")
    edition = imported(home, [{"head": "Paris", "relation": "kind", "tail": "France"}], "heroes")
    entities = edition.table(schemas.Entity).to_pylist()
    assert len({e["entity_id"] for e in entities}) == 4
    graph_of = {e["entity_id"]: e["graph"] for e in entities}
    for triple in edition.table(schemas.Triple).to_pylist():
        assert graph_of[triple["head_id"]] == graph_of[triple["tail_id"]] == triple["graph"]
    found = graphs_of(edition)
    assert triples_of(found["cities"]) == {("Paris", "in", "France")}
    assert triples_of(found["heroes"]) == {("Paris", "kind", "France")}


def test_a_diff_counts_all_that_two_graphs_have_in_the_same_words(own: Home) -> None:
    before = own.require_edition()
    tables = compare(before, imported(own, GOLDEN, "again"))
    more = {t.table: t.after - t.before for t in tables if t.after > t.before}
    assert more == {"entities": 2, "triples": 5, "descriptions": 1}
    assert more == {t.table: t.added_in_all for t in tables if t.added_in_all}


def test_removal_leaves_nothing(own: Home) -> None:
    imported(own, GOLDEN[:1], "other")
    remove_graph(own, "g", PLAIN)
    edition = own.require_edition()
    for row in (schemas.Triple, schemas.Entity, schemas.Relation, schemas.Description):
        assert set(edition.table(row)["graph"].to_pylist()) <= {"other"}
    left = set(edition.table(schemas.Entity)["entity_id"].to_pylist())
    assert set(edition.table(schemas.Alias)["entity_id"].to_pylist()) == left
    assert list(graphs_of(edition)) == ["other"]
    remove_graph(own, "other", PLAIN)
    assert graph_folders(own.require_edition()) == []
    assert all(own.require_edition().rows(row) == 0 for row in (schemas.Triple, schemas.Alias))


def test_imports_are_no_changes_of_the_corpus_and_pass_its_gates(own_home: Path) -> None:
    home = Home(own_home)
    before = home.require_edition()
    rows = [{"head": f"h{n}", "relation": "r", "tail": f"t{n}"} for n in range(300)]
    with_graph = imported(home, rows)
    assert with_graph.rows(schemas.Triple) == before.rows(schemas.Triple) + 300
    assert with_graph.table(schemas.Change).to_pylist() == []
    remove_graph(home, "g", PLAIN)
    without = home.require_edition()
    assert without.table(schemas.Change).to_pylist() == []
    strict, golden = PublishSettings(max_delete=0.0), own_home / "absent.jsonl"
    ask = {"failed_share": 0.0, "golden": golden, "ask": lambda edition, question: {}}
    assert failed_checks(without, with_graph, strict, **ask) == []


def journal_of(folder: Path, rows: list[tuple[str, str, str, bool]]) -> Journal:
    """Return a journal with one import, in two parts."""
    journal = Journal(folder)
    for part in (rows[::2], rows[1::2]):
        triples = [
            ImportedTriple(import_id="i", head=h, relation=r, tail=t, is_value=value)
            for h, r, t, value in part
        ]
        journal.append({ImportedTriple: ImportedTriple.to_table(triples)})
    entity = ImportedEntity(import_id="i", entity="alone", name="Alone")
    alias = ImportedAlias(import_id="i", entity="nobody", alias="No")
    row = GraphImport(
        import_id="i", graph="g", action="import", source="s", format="f", language="en",
        triples=len(rows), rejected=0, run_id="r", imported_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    tables = {type(one): type(one).to_table([one]) for one in (entity, alias, row)}
    journal.append(tables)
    return journal


odd = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
few = st.sampled_from(["a", "b", "A", "\x1f", "é", "中"]) | odd


@settings(max_examples=20)
@given(st.lists(st.tuples(few, few, few, st.booleans()), max_size=25))
def test_rows_of_any_graph_are_its_triples_once(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, bool]]
) -> None:
    journal = journal_of(tmp_path_factory.mktemp("journal"), rows)
    (row,) = current_imports(journal)
    graph = read_import(journal, row, journal.position)
    assert isinstance(graph, ImportedGraph)
    tables: dict[Any, list[dict[str, Any]]] = {}
    for row, table in edition_rows(graph, pa.array(single_valued())):
        tables.setdefault(row, []).extend(table.to_pylist())
    triples = tables.get(schemas.Triple, [])
    facts = [(t["head"], t["relation"], t["tail"], t["tail_id"] is None) for t in triples]
    assert sorted(facts) == sorted(set(rows))
    assert len({t["triple_id"] for t in triples}) == len(triples)
    entities = {h for h, *_ in rows} | {t for _, _, t, value in rows if not value} | {"Alone"}
    assert {e["name"] for e in tables[schemas.Entity]} == entities
    assert {a["alias"] for a in tables[schemas.Alias]} == entities
    assert sum(r["triples"] for r in tables[schemas.Relation]) == len(triples)
