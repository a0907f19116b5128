"""RDF as a graph: what its datatypes, vocabularies and labels say, and what our own export says."""

import json
from pathlib import Path

import pyoxigraph
import pytest

import schemas
from schemas.settings import EngineSettings, Settings
from tasks.ask.asker import Asker
from tasks.export.export import export
from tasks.import_graph import import_graph
from tests.test_graph_import import read
from warehouse.home import Home

PLAIN = Settings(engine=EngineSettings(encoder="none"))
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
VALUES = f"""<http://e/Weir> <http://e/opened> "1796"^^<{XSD}gYear> .
<http://e/Weir> <http://e/sluices> "1796"^^<{XSD}integer> .
<http://e/Weir> <http://e/width> "31.25"^^<{XSD}decimal> .
<http://e/Weir> <http://e/first_built> "-0150"^^<{XSD}gYear> .
<http://e/Weir> <http://e/motto> "1600"@en .
<http://e/Weir> <http://e/edition> "2.10" .
<http://e/Weir> <http://e/ISBN> "9781402894626" .
<http://e/Weir> <http://e/measured> "1911-05-04T06:30:00Z"^^<{XSD}dateTime> .
<http://e/Weir> <{RDF}type> <https://schema.org/Place> .
<http://e/Weir> <{LABEL}> "Ormley Weir"@en .
<http://e/Weir> <http://www.w3.org/2004/02/skos/core#altLabel> "the Old Weir" .
<http://e/Weir> <http://e/spans> <http://e/Orm> .
"""


@pytest.fixture
def weir(home: Home, tmp_path: Path) -> Home:
    (tmp_path / "weir.nt").write_text(VALUES, encoding="utf-8")
    import_graph(home, tmp_path / "weir.nt", PLAIN, name="weir")
    return home


def facts(home: Home) -> dict[str, dict[str, object]]:
    rows = home.require_edition().table(schemas.Triple).to_pylist()
    return {row["relation"]: row for row in rows}


def test_the_datatype_of_a_literal_tells_years_from_numbers(weir: Home) -> None:
    found = {
        relation: (row["value_type"], row["number"], row["date"])
        for relation, row in facts(weir).items()
    }
    assert found["opened"] == ("year", None, "1796")
    assert found["first built"] == ("year", None, "-0150")
    assert found["sluices"] == ("number", 1796.0, None)
    assert found["motto"] == ("text", None, None)


def test_exported_literals_are_the_words_of_their_facts(weir: Home, tmp_path: Path) -> None:
    export(weir.require_edition(), "nt", tmp_path / "out.nt", spill=tmp_path / "spill")
    store = pyoxigraph.Store()
    store.load(path=tmp_path / "out.nt", format=pyoxigraph.RdfFormat.N_TRIPLES)
    found = {
        quad.predicate.value.rpartition(":")[2].replace("%20", " "): (
            quad.object.value,
            quad.object.datatype.value.removeprefix(XSD),
        )
        for quad in store
        if quad.predicate.value.startswith("urn:almanac:relation:")
        and isinstance(quad.object, pyoxigraph.Literal)
    }
    assert found == {
        "opened": ("1796", "gYear"),
        "sluices": ("1796", "integer"),
        "width": ("31.25", "decimal"),
        "first built": ("-0150", "gYear"),
        "motto": ("1600", "string"),
        "edition": ("2.10", "string"),
        "ISBN": ("9781402894626", "integer"),
        "measured": ("1911-05-04T06:30:00Z", "dateTime"),
    }


@pytest.mark.parametrize("graph", ["weir", None])
def test_an_export_comes_back_as_the_graph_that_it_was(
    weir: Home, tmp_path: Path, graph: str | None
) -> None:
    edition = weir.require_edition()
    export(edition, "nt", tmp_path / "out.nt", graph=graph, spill=tmp_path / "spill")
    found = read(tmp_path / "out.nt")
    before = {(relation, row["tail"]) for relation, row in facts(weir).items()}
    named = {(relation, found.names.get(tail, tail)) for _, relation, tail in found.triples}
    assert (named, len(found.triples), found.refused) == (before, len(before), [])
    assert set(found.names.values()) == {"Ormley Weir", "Orm", "Place"}
    assert found.kinds == {"Ormley Weir": "place"}
    assert {alias for _, alias in found.aliases} >= {"the Old Weir", "Ormley Weir"}


def test_names_of_an_export_come_back_in_every_language(tmp_path: Path) -> None:
    text = f"""<urn:almanac:entity:1> <{LABEL}> "Mühle"@de .
<urn:almanac:entity:1> <urn:almanac:relation:next%20to> <http://e/Weir> .
<http://e/Weir> <{LABEL}> "Wehr"@de .
"""
    found = read(tmp_path / "kb.nt", text)
    assert found.names == {"urn:almanac:entity:1": "Mühle", "http://e/Weir": "Weir"}


def test_a_relation_is_called_by_its_label_and_is_no_entity(tmp_path: Path) -> None:
    obo, owl = "http://purl.obolibrary.org/obo/", "http://www.w3.org/2002/07/owl#"
    synonym = "http://www.geneontology.org/formats/oboInOwl#hasExactSynonym"
    text = f"""<{obo}Y_7> <{obo}RO_0000052> <{obo}Y_8> .
<{obo}Y_7> <{synonym}> "redness" .
<{obo}Y_7> <{obo}IAO_0000115> "A colour like that of blood." .
<{obo}RO_0000052> <{LABEL}> "characteristic of"@en .
<{obo}RO_0000052> <{LABEL}> "caractéristique de"@fr .
<{obo}RO_0000052> <{RDF}type> <{owl}ObjectProperty> .
<{obo}Y_7> <{LABEL}> "red" .
"""
    found = read(tmp_path / "kb.nt", text)
    assert found.triples == [(f"{obo}Y_7", "characteristic of", f"{obo}Y_8")]
    assert found.names == {f"{obo}Y_7": "red", f"{obo}Y_8": "Y 8"}
    assert {alias for _, alias in found.aliases} == {"red", "redness"}
    assert found.descriptions[f"{obo}Y_7"] == "A colour like that of blood."
    mapping = "relations: {RO 0000052: inheres in}\n"
    assert read(tmp_path / "kb.nt", mapping=mapping).triples[0][1] == "inheres in"


def test_languages_that_were_left_out_are_named(home: Home, tmp_path: Path) -> None:
    (tmp_path / "kb.nt").write_text(
        f"""<http://e/Q1> <{LABEL}> "barrage"@fr .
<http://e/Q1> <{LABEL}> "Wehr"@de-AT .
<http://e/Q1> <{LABEL}> "weir"@en .
<http://e/Q1> <http://e/spans> <http://e/Orm> .
""",
        encoding="utf-8",
    )
    run = import_graph(home, tmp_path / "kb.nt", PLAIN, name="weir")
    counts = run.counts["import"]
    assert (counts["left_out"], counts["left_out_in_fr"], counts["left_out_in_de"]) == (2, 1, 1)


def test_lists_and_statements_about_statements_are_left_out(tmp_path: Path) -> None:
    text = f"""_:c1 <{RDF}first> <http://e/Ada> .
_:c1 <{RDF}rest> <{RDF}nil> .
_:r <{RDF}type> <{RDF}Statement> .
_:r <{RDF}subject> <http://e/Ada> .
_:r <{RDF}predicate> <http://e/knows> .
_:r <{RDF}object> <http://e/Bo> .
<http://e/r2> <{RDF}reifies> <<( <http://e/Ada> <http://e/knows> <http://e/Bo> )>> .
<http://e/Ada> <http://e/knows> <http://e/Bo> .
"""
    found = read(tmp_path / "kb.nt", text)
    assert found.triples == [("http://e/Ada", "knows", "http://e/Bo")]
    assert (found.left_out, found.refused) == (7, [])


def test_a_blank_node_is_called_by_what_is_said_of_it(home: Home, tmp_path: Path) -> None:
    (tmp_path / "kb.nt").write_text(
        f"""<http://e/Mill> <http://e/address> _:a .
_:a <http://e/street> "7 Sluice Lane" .
_:a <http://e/town> <http://e/T1> .
_:a <{RDF}type> <http://e/Address> .
<http://e/T1> <{LABEL}> "Ormley" .
<http://e/Mill> <http://e/owner> _:c .
""",
        encoding="utf-8",
    )
    found = read(tmp_path / "kb.nt")
    assert found.names["_:a"] == "7 Sluice Lane, Ormley" and "_:c" not in found.names
    import_graph(home, tmp_path / "kb.nt", PLAIN, name="mill")
    with Asker(home, home.require_edition(), PLAIN) as asker:
        assert asker.answer("What is the address of Mill?").answer == "7 Sluice Lane, Ormley"
        assert asker.answer("Who is the owner of Mill?").answer is None


def test_units_of_wikidata_have_the_names_that_the_dump_gives_them(tmp_path: Path) -> None:
    value = {"amount": "+7", "unit": "http://www.wikidata.org/entity/Q900"}
    time = {"time": "+1871-00-00T00:00:00Z", "precision": 9}
    claims = {
        key: [{"mainsnak": {"snaktype": "value", "datavalue": {"type": kind, "value": stated}}}]
        for key, kind, stated in (("P1", "quantity", value), ("P2", "time", time))
    }
    rows = [
        {"type": "item", "id": "Q1", "labels": {"en": {"value": "Ormley Weir"}}, "claims": claims},
        {"type": "item", "id": "Q900", "labels": {"en": {"value": "cubit"}}},
    ]
    found = read(tmp_path / "dump", "\n".join(map(json.dumps, rows)), format="wikidata")
    assert found.triples == [("Q1", "P1", "7 cubit"), ("Q1", "P2", "1871")]
    assert found.types == [None, "year"]


def test_line_ends_of_old_macs_end_lines(tmp_path: Path) -> None:
    for name, mark in (("kb.csv", ","), ("kb.tsv", "\t")):
        lines = ["head,relation,tail", "Ada,likes,tea", "Bo,likes,milk"]
        found = read(tmp_path / name, "\r".join(lines).replace(",", mark) + "\r")
        assert found.triples == [("Ada", "likes", "tea"), ("Bo", "likes", "milk")]
