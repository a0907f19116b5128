"""An edition in other tools' formats: their own readers find what is in it, however hostile."""

import csv
import json
import re
from functools import partial

import duckdb
import networkx
import pyarrow.parquet as pq
import pyoxigraph
import pytest
import yaml

import schemas
from schemas.errors import UsageError
from tasks.export.destination import MANIFEST
from tasks.export.export import EXPORTERS, export
from tests.small_edition import make_edition

BAD_NAMES = [
    "../../etc/passwd",
    'a "quoted" \\ name',
    "two\r\nlines\tand\x01\x7f\ufffe",
    "<script>alert('x')</script> ]]> & co",
    "a\ufeffb\u2028c\x85d\u202egpj",
    "CON",
    "con",
    "...",
    "[[link]] #tag | ^block %%",
    "💥" * 90,
    "x; y, z",
    "=1+1",
]
TEXT = " ".join(BAD_NAMES) + ' value "5" ![](http://example.org/p.png)\n'
PICTURE = "![](http://example.org/p.png)"


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    """Entities with hostile names in a ring of facts, and one fact with a value."""
    ring = [*zip(BAD_NAMES, BAD_NAMES[1:], strict=False), (BAD_NAMES[-1], BAD_NAMES[0])]
    facts = [("a title", head, 'leads\n"to" <é> %', tail) for head, tail in ring]
    facts.append(("a title", "CON", "shows", PICTURE))
    entities = {name: ("person", [f"{name} too"]) for name in BAD_NAMES}
    described = {"CON": "Not a\ndevice."}
    folder = tmp_path_factory.mktemp("hostile") / "000001-hostile"
    return make_edition(folder, {"a title": TEXT}, entities, facts, described)


@pytest.fixture
def exported(edition, tmp_path):
    """Return a function that exports the edition and returns the path."""

    def write(format, out=None, **options):
        path = out or tmp_path / "out" / format
        export(edition, format, path, spill=tmp_path / "spill", **options)
        return path

    return write


def text_of(term) -> str:
    return term.value


@pytest.mark.parametrize(
    ("format", "syntax"),
    [("nt", pyoxigraph.RdfFormat.N_TRIPLES), ("ttl", pyoxigraph.RdfFormat.TURTLE)],
)
def test_rdf_states_each_fact_and_reifies_it_with_its_place(exported, format, syntax):
    store = pyoxigraph.Store()
    store.load(path=exported(format), format=syntax)
    rows = store.query(
        """PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
        PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        PREFIX prov: <http://www.w3.org/ns/prov#>
        SELECT ?head ?relation ?tail ?place WHERE {
            ?s ?p ?o . ?fact rdf:reifies <<( ?s ?p ?o )>> ; prov:wasDerivedFrom ?place .
            ?s rdfs:label ?head . ?p rdfs:label ?relation .
            OPTIONAL { ?o rdfs:label ?label } BIND(COALESCE(?label, ?o) AS ?tail) }"""
    )
    found = {(text_of(row["head"]), text_of(row["tail"])): text_of(row["place"]) for row in rows}
    assert set(found) == {
        *zip(BAD_NAMES, BAD_NAMES[1:], strict=False), (BAD_NAMES[-1], BAD_NAMES[0]),
        ("CON", PICTURE),
    }  # fmt: skip
    start = TEXT.index(PICTURE)
    place = f"urn:almanac:document:d0#char={start},{start + len(PICTURE)}"
    assert found["CON", PICTURE] == place


def test_what_is_not_asserted_has_a_reifier_only(tmp_path):
    facts = [("a", "Ada", "met", "Bob"), ("a", "Bob", "met", "Ada")]
    entities = {"Ada": ("person", []), "Bob": ("person", [])}
    edition = make_edition(tmp_path / "1-a", {"a": "Ada Bob"}, entities, facts)
    with duckdb.connect(str(edition.database)) as con:
        con.execute("update triples set modality = 'reported' where head = 'Bob'")
    export(edition, "nt", tmp_path / "out.nt", spill=tmp_path / "spill")
    lines = (tmp_path / "out.nt").read_text(encoding="utf-8").splitlines()
    fact = re.compile(r"<urn:almanac:entity:e-(\w+)> <urn:almanac:relation:")
    assert [found[1] for line in lines if (found := fact.match(line))] == ["Ada"]
    assert sum("#reifies> <<( " in line for line in lines) == 2
    assert sum('schema:modality> "reported"' in line for line in lines) == 1


def test_rdf_is_silent_on_what_is_unknown(tmp_path):
    entities = {"Ada": ("person", []), "Zorb": ("unknown", [])}
    facts = [("a", "Ada", "met", "Zorb")]
    edition = make_edition(tmp_path / "1-a", {"a": "Ada Zorb"}, entities, facts)
    with duckdb.connect(str(edition.database)) as con:
        con.execute("update triples set modality = 'reported', polarity = null")
        con.execute("update documents set title = ''")
    export(edition, "nt", tmp_path / "out.nt", spill=tmp_path / "spill")
    text = (tmp_path / "out.nt").read_text(encoding="utf-8")
    assert re.findall(r"<urn:almanac:kind:(.*)>", text) == ["person"]
    assert '""' not in text


def test_years_and_days_are_typed_and_keep_their_words(small_home, tmp_path):
    from warehouse.home import Home

    edition = Home(small_home).editions.current()
    export(edition, "ttl", tmp_path / "out.ttl", spill=tmp_path / "spill")
    text = (tmp_path / "out.ttl").read_text(encoding="utf-8")
    assert '"1852-11-27"^^<http://www.w3.org/2001/XMLSchema#date>' in text
    assert 'schema:asWritten "27 November 1852"' in text


@pytest.mark.parametrize("between", "T ")
def test_a_moment_keeps_its_time(tmp_path, between):
    entities, facts = {"Ada": ("person", []), "Bob": ("person", [])}, [("a", "Ada", "met", "Bob")]
    edition = make_edition(tmp_path / "1-a", {"a": "Ada Bob"}, entities, facts)
    moment = f"1931-05-03{between}06:15:00+00:00"
    with duckdb.connect(str(edition.database)) as con:
        con.execute("update triples set tail_id = null, date = '1931-05-03', tail = ?", [moment])
    export(edition, "ttl", tmp_path / "out.ttl", spill=tmp_path / "spill")
    text = (tmp_path / "out.ttl").read_text(encoding="utf-8")
    assert '"1931-05-03T06:15:00+00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>' in text


def test_graphml_has_every_name_that_xml_can_hold(exported):
    graph = networkx.read_graphml(exported("graphml"))
    written = {name.replace("\x01", "\ufffd").replace("\ufffe", "\ufffd") for name in BAD_NAMES}
    names = {data["name"] for _, data in graph.nodes(data=True)}
    assert names == written | {PICTURE}
    edges = list(graph.edges(data=True))
    assert len(edges) == len(BAD_NAMES) + 1
    assert {edge[2]["uri"] for edge in edges} == {"test/a title"}
    assert {edge[2]["confidence"] for edge in edges} == {0.8}


def test_neo4j_reads_nodes_and_relationships_by_their_headers(exported):
    folder = exported("neo4j-csv")
    with (folder / "entities.csv").open(encoding="utf-8", newline="") as file:
        entities = list(csv.DictReader(file))
    assert {row["name"] for row in entities} == set(BAD_NAMES)
    assert {row[":LABEL"] for row in entities} == {"Entity;person"}
    with (folder / "facts.csv").open(encoding="utf-8", newline="") as file:
        facts = list(csv.DictReader(file))
    assert {row[":START_ID"] for row in facts} == {row["entityId:ID"] for row in entities}
    assert {row[":TYPE"] for row in facts} == {'leads\n"to" <é> %', "shows"}
    assert all(re.fullmatch(r"[a-zA-Z]*(:[a-zA-Z_]+)?", header) for header in facts[0])


def test_json_lines_are_the_rows_and_can_be_imported_again(exported, home):
    from schemas.settings import EngineSettings, Settings
    from tasks.import_graph import import_graph

    folder = exported("jsonl")
    lines = (folder / "entities.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert {json.loads(line)["name"] for line in lines} == set(BAD_NAMES)
    settings = Settings(engine=EngineSettings(encoder="none"))
    with (folder / "triples.jsonl").open("a", encoding="utf-8") as file:
        denied = {"triple_id": "t", "head": "CON", "relation": "is", "tail": "..."}
        file.write(json.dumps({**denied, "polarity": "negative"}) + "\n")
    import_graph(home, folder / "triples.jsonl", settings, name="again")
    triples = home.editions.current().table(schemas.Triple).to_pylist()
    assert len(triples) == len(BAD_NAMES) + 1
    assert [row["tail"] for row in triples if row["tail_id"] is None] == [PICTURE]


def test_a_data_set_is_loaded_with_its_types(exported, edition, tmp_path, monkeypatch):
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = exported("hf")
    load = partial(datasets.load_dataset, str(folder), split="train", cache_dir=str(tmp_path / "c"))
    triples = load("triples")
    assert triples.to_list() == pq.read_table(edition.path / "triples.parquet").to_pylist()
    assert set(load("entities")["name"]) == set(BAD_NAMES)
    card = (folder / "README.md").read_text(encoding="utf-8").split("---\n")
    assert yaml.safe_load(card[1])["language"] == ["en"]
    assert "Calibrated probability" in card[2]


def test_dbt_knows_tables_columns_and_keys(exported):
    [source] = yaml.safe_load(exported("dbt").read_text(encoding="utf-8"))["sources"]
    tables = {table["name"]: table for table in source["tables"]}
    assert set(tables) == {row.table for row in schemas.EDITION}
    columns = {column["name"]: column for column in tables["triples"]["columns"]}
    assert columns["triple_id"]["data_tests"] == ["unique", "not_null"]
    assert columns["head"]["description"] == "Its name."


def test_a_vault_has_a_safe_note_per_entity_whose_links_lead_to_notes(exported):
    folder = exported("obsidian")
    notes = {path.stem: path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}
    assert len(notes) == len(BAD_NAMES)
    assert {path.parent for path in folder.rglob("*")} == {folder}
    assert len({name.lower() for name in notes}) == len(notes)
    bodies = [text.split("---\n", 2)[2] for text in notes.values()]
    links = {link for text in bodies for link in re.findall(r"\[\[([^\]\\]+)\]\]", text)}
    assert links == set(notes)
    aliases = [yaml.safe_load(text.split("---\n")[1])["aliases"] for text in notes.values()]
    assert {name for names in aliases for name in names} >= set(BAD_NAMES)
    assert not any(re.search(r"(?<!\\)(<|!\[)", text) for text in bodies)
    assert all(char.isprintable() or char == "\n" for char in "".join([*notes, *bodies]))


def test_one_graph_alone_is_exported(exported):
    with pytest.raises(UsageError, match="no graph 'films'.*corpus"):
        exported("jsonl", graph="films")
    assert (exported("jsonl", graph="corpus") / "triples.jsonl").stat().st_size > 0


@pytest.mark.parametrize("format", EXPORTERS)
def test_an_export_replaces_an_earlier_one_and_nothing_else(exported, tmp_path, format):
    out = exported(format)
    assert exported(format) == out
    own = tmp_path / "own"
    own.write_text("my notes")
    with pytest.raises(UsageError, match="was not written by an export"):
        exported(format, own)
    assert own.read_text() == "my notes"
    assert {path.name for path in tmp_path.iterdir()} <= {"own", "out", "spill"}


@pytest.mark.parametrize("change", ["added", "edited", "unmarked"])
def test_a_folder_with_work_of_others_stays(exported, change):
    out = exported("jsonl")
    changes = {
        "added": lambda: (out / "mine.md").write_text("mine"),
        "edited": lambda: (out / "triples.jsonl").write_text("mine"),
        "unmarked": lambda: (out / MANIFEST).unlink(),
    }
    changes[change]()
    with pytest.raises(UsageError, match="was changed since"):
        exported("jsonl")


def test_a_failed_export_leaves_the_earlier_one(exported, monkeypatch):
    out = exported("nt")
    before = out.read_bytes()

    def broken(contents, path):
        path.write_text("half")
        raise OSError("the disk is full")

    monkeypatch.setitem(EXPORTERS, "nt", broken)
    with pytest.raises(OSError, match="full"):
        exported("nt")
    assert out.read_bytes() == before
    assert [path.name for path in out.parent.iterdir()] == ["nt"]


def test_the_command_says_what_it_wrote_and_which_formats_there_are(small_home, almanac, tmp_path):
    out = tmp_path / "facts.nt"
    done = almanac.json(small_home, "export", "--format", "nt", "--out", str(out))
    assert done["bytes"] == out.stat().st_size
    code, _, said = almanac(small_home, "export", "--format", "xls", "--out", str(out))
    assert code == 2 and "nt, ttl, graphml" in said
    code, _, said = almanac(small_home, "export", "--format", "nt", "--out", "facts\udcff.nt")
    assert code == 2 and "not UTF-8" in said
