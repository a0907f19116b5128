"""Importing graphs: every format, bad lines, names byte for byte, killed imports."""

import csv
import gzip
import io
import json
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import AlmanacError, UsageError
from schemas.imports import ImportedAlias, ImportedEntity, ImportedTriple
from schemas.row import Row
from tasks.graphs.formats import lines as line_module
from tasks.graphs.formats.batch import GraphBatch
from tasks.graphs.formats.formats import guess_format, plan, read_file
from tasks.text.plain_yaml import parse_yaml


class Read:
    """All that was read from a file."""

    def __init__(self, batches: Sequence[GraphBatch]) -> None:
        self.refused = [(r.line, r.reason) for batch in batches for r in batch.refused]
        self.left_out = sum(batch.left_out for batch in batches)
        triples = rows(batches, ImportedTriple)
        self.triples = [(t["head"], t["relation"], t["tail"]) for t in triples]
        self.values = [t["tail"] for t in triples if t["is_value"]]
        self.weights = [t["weight"] for t in triples]
        self.types = [t["value_type"] for t in triples]
        self.names = {e["entity"]: e["name"] for e in rows(batches, ImportedEntity)}
        self.kinds = {e["name"]: e["kind"] for e in rows(batches, ImportedEntity) if e["kind"]}
        self.descriptions = {e["entity"]: e["description"] for e in rows(batches, ImportedEntity)}
        self.aliases = {(a["entity"], a["alias"]) for a in rows(batches, ImportedAlias)}


def rows(batches: Sequence[GraphBatch], row: type[Row]) -> list[dict[str, Any]]:
    return [r for batch in batches if row in batch.tables for r in batch.tables[row].to_pylist()]


def read(
    path: Path,
    content: bytes | str | None = None,
    format: str = "auto",
    mapping: str | None = None,
    languages: Sequence[str] = (),
) -> Read:
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    rules = None
    if mapping is not None:
        rules = (path if path.is_dir() else path.parent) / "mapping.yaml"
        rules.write_text(mapping, encoding="utf-8")
    readings, _ = plan(path, format, rules, languages)
    return Read([batch for r in readings for batch in read_file(r, lambda done, size: None)])


THREE = [("Ada", "child of", "Byron"), ("Ada", "field", "mathematics"), ("Byron", "field", "verse")]


def lines_of(separator: str, order: Sequence[int] = (0, 1, 2)) -> str:
    return "".join(separator.join(triple[i] for i in order) + "\n" for triple in THREE)


@pytest.mark.parametrize(
    ("name", "separator", "format"),
    [
        ("kb.txt", "|", "pipe"), ("kb.tsv", "\t", "tsv"), ("kb", " ||| ", "nlpcc"),
        ("kb", ",", "csv"),
    ],
)  # fmt: skip
def test_separated_tables_are_told_apart_and_read(
    tmp_path: Path, name: str, separator: str, format: str
) -> None:
    found = read(tmp_path / name, lines_of(separator))
    assert found.triples == THREE
    assert guess_format(tmp_path / name) == format


def test_compressed_files_are_unpacked(tmp_path: Path) -> None:
    assert read(tmp_path / "kb.tsv.gz", gzip.compress(lines_of("\t").encode())).triples == THREE


def test_a_header_names_the_columns(tmp_path: Path) -> None:
    text = "object\tscore\tsubject\tpredicate\n" + "Byron\t0.5\tAda\tchild of\n"
    found = read(tmp_path / "kb.tsv", text)
    assert found.triples == [("Ada", "child of", "Byron")]
    assert found.weights == [0.5]


def test_a_header_may_follow_empty_lines(tmp_path: Path) -> None:
    found = read(tmp_path / "kb.csv", "\n\nhead,relation,tail\nAda,r,Bo\n")
    assert found.triples == [("Ada", "r", "Bo")]


def test_the_relation_is_found_by_its_few_words(tmp_path: Path) -> None:
    text = "".join(f"{('is', 'has')[n % 2]}\tthing {n}\tpart {n % 70}\t1.0\n" for n in range(200))
    found = read(tmp_path / "kb.tsv", text)
    assert found.triples[1] == ("thing 1", "has", "part 1")
    assert set(found.weights) == {1.0}


def test_one_subject_with_many_relations_keeps_the_usual_order(tmp_path: Path) -> None:
    text = "".join(f"Ada\trelation {n}\tthing {n}\n" for n in range(200))
    assert read(tmp_path / "kb.tsv", text).triples[0] == ("Ada", "relation 0", "thing 0")


def test_a_mapping_says_which_column_is_which(tmp_path: Path) -> None:
    mapping = "columns: {head: 4, relation: 1, tail: 2}\nrelations: {r1: born in}\n"
    found = read(tmp_path / "kb.tsv", "r1\tLondon\tx\tAda\n", mapping=mapping)
    assert found.triples == [("Ada", "born in", "London")]
    with pytest.raises(UsageError, match="no header"):
        read(tmp_path / "kb.tsv", "r1\tLondon\tx\tAda\n")


def test_bad_lines_are_refused_with_their_numbers(tmp_path: Path) -> None:
    content = b"a\tr\tb\n\xff\xfe\tr\tb\nonly one\n\n\tr\tb\n" + b"x" * 3000 + b"\tr\tb\na\tr\tc"
    found = read(tmp_path / "kb.tsv", content, format="tsv")
    assert found.triples == [("a", "r", "b"), ("a", "r", "c")]
    reasons = ["not-utf-8", "not-3-fields", "empty-field", "too-long"]
    assert sorted(found.refused) == [*zip((2, 3, 5, 6), reasons, strict=True)]


def test_lines_longer_than_any_block_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_module, "MAX_LINE", 1000)
    (tmp_path / "kb").write_bytes(b"a\n" + b"x" * 5000 + b"\nb\n")
    with (tmp_path / "kb").open("rb") as file:
        blocks = list(line_module.blocks_of_lines(file, 300))
    kept = [[*zip(b.numbers.tolist(), b.text.to_pylist(), strict=True)] for b in blocks]
    assert sum(kept, []) == [(1, "a"), (3, "b")]
    assert [r.line for block in blocks for r in block.batch.refused] == [2]


def test_tails_that_are_other_names_become_aliases_too(tmp_path: Path) -> None:
    text = "鲁迅 ||| 别名 ||| 周树人\n鲁迅 ||| 别名 ||| 鲁迅\n鲁迅 ||| pen name ||| Lu Xun\n"
    found = read(tmp_path / "kb", text, mapping="alias_relations: [pen name]")
    assert found.aliases == {("鲁迅", "周树人"), ("鲁迅", "Lu Xun")}
    assert len(found.triples) == 3


def test_long_tails_are_values(tmp_path: Path) -> None:
    found = read(tmp_path / "kb.tsv", f"a\tr\tb\na\tr\t{'很' * 201}\n")
    assert found.values == ["很" * 201]


NAMES = st.text(min_size=1, max_size=30)
CELLS = NAMES.filter(lambda text: "\r" not in text)
ONE_LINE = CELLS.filter(lambda text: not set("\t\n") & set(text))


def rows_of(part: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str, str]]]:
    return st.lists(st.tuples(part, part, part), min_size=1, max_size=8)


@given(rows_of(ONE_LINE))
def test_names_in_tsv_come_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, triples: list[tuple[str, str, str]]
) -> None:
    path = tmp_path_factory.mktemp("t") / "kb.tsv"
    text = "head\trelation\ttail\n" + "".join("\t".join(triple) + "\n" for triple in triples)
    assert read(path, text, format="tsv").triples == triples


@given(rows_of(CELLS))
def test_names_in_csv_come_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, triples: list[tuple[str, str, str]]
) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([("head", "relation", "tail"), *triples])
    path = tmp_path_factory.mktemp("c") / "kb.csv"
    assert read(path, out.getvalue(), format="csv").triples == triples


@given(rows_of(NAMES))
def test_names_in_json_and_parquet_come_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, triples: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("j")
    text = "".join(json.dumps(dict(zip("hrt", t, strict=True))) + "\n" for t in triples)
    assert read(folder / "kb.jsonl", text).triples == triples
    columns = [pa.array(column) for column in zip(*triples, strict=True)]
    pq.write_table(pa.table(columns, names=["s", "p", "o"]), folder / "kb")
    assert read(folder / "kb").triples == triples


def test_parquet_rows_without_a_part_are_refused(tmp_path: Path) -> None:
    columns = {"head": ["a", None, "c"], "relation": ["r"] * 3, "tail": ["b", "b", None]}
    pq.write_table(pa.table(columns), tmp_path / "kb.parquet")
    found = read(tmp_path / "kb.parquet")
    assert found.triples == [("a", "r", "b")]
    assert found.refused == [(2, "empty-field"), (3, "empty-field")]


# Each reading makes a database on disk, so that few have many texts.
@settings(max_examples=25)
@given(texts=st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=40))
def test_literals_in_n_triples_come_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    escaped = ("".join(f"\\U{ord(sign):08X}" for sign in text) for text in texts)
    lines = "".join(f'<http://e/s> <http://e/p> "{text}" .\n' for text in escaped)
    path = tmp_path_factory.mktemp("n") / "kb.nt"
    assert [tail for _, _, tail in read(path, lines).triples] == texts


def test_csv_quotes_may_go_over_lines_but_not_swallow_the_file(tmp_path: Path) -> None:
    text = 'head,relation,tail\n"a\n\nb",r,"say ""x"""\nc,6" pipe,d\n"never,r,closed\n'
    text += "".join(f"e{n},r,f\n" for n in range(300))
    found = read(tmp_path / "kb.csv", text)
    assert found.triples[:2] == [("a\n\nb", "r", 'say "x"'), ("c", '6" pipe', "d")]
    assert len(found.triples) == 302
    assert found.refused == [(6, "broken-quotes")]


def test_json_lines_tell_triples_and_entities(tmp_path: Path) -> None:
    text = """{"subject": "Q1", "predicate": "height", "object": 12.5}
{"entity": "Q1", "name": "Big Tree", "description": "a tree", "aliases": ["The Tree", 3]}
{"something": "else"}
[1, 2]
{not json
"""
    found = read(tmp_path / "kb.jsonl", text)
    assert found.triples == [("Q1", "height", "12.5")]
    assert found.values == ["12.5"]
    assert found.names == {"Q1": "Big Tree"}
    assert found.aliases == {("Q1", "The Tree")}
    assert found.refused == [(3, "no-triple"), (4, "no-triple"), (5, "not-json")]


NT = r"""# a comment
<http://e/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "Baum"@de .
<http://e/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "tree"@en .
<http://e/Q1> <http://www.w3.org/2004/02/skos/core#altLabel> "woody \"plant\""@en .
<http://e/Q1> <http://schema.org/description> "tall plant"@en .
<http://e/Q1> <http://e/grows_in> <http://e/Black_For%65st> .
<http://e/Q1> <http://e/height> "12"^^<http://www.w3.org/2001/XMLSchema#int> <http://e/graph> .
_:b1 <http://e/likes> _:b2.
<http://e/Q1> <http://e/broken> "no end .
"""


@pytest.mark.parametrize("first", ["[1, 2]", '["head", "relation", "tail"]', "5", "null"])
def test_json_lines_may_begin_with_something_else(tmp_path: Path, first: str) -> None:
    found = read(tmp_path / "kb.jsonl", f'{first}\n{{"h": "Ada", "r": "r", "t": "Bo"}}\n')
    assert found.triples == [("Ada", "r", "Bo")] and found.refused == [(1, "no-triple")]


def test_n_triples_labels_become_names_and_literals_values(tmp_path: Path) -> None:
    found = read(tmp_path / "kb.nt", NT)
    assert found.triples == [
        ("http://e/Q1", "grows in", "http://e/Black_For%65st"),
        ("http://e/Q1", "height", "12"),
        ("_:b1", "likes", "_:b2"),
    ]
    assert found.values == ["12"]
    assert found.names == {"http://e/Q1": "tree", "http://e/Black_For%65st": "Black Forest"}
    assert found.descriptions["http://e/Q1"] == "tall plant"
    assert found.aliases == {("http://e/Q1", "tree"), ("http://e/Q1", 'woody "plant"')}
    assert (found.left_out, found.refused) == (1, [(9, "no-statement")])
    assert read(tmp_path / "kb.nt", languages=["de", "en"]).names["http://e/Q1"] == "Baum"


@pytest.mark.parametrize(
    "label",
    [
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        "https://schema.org/name",
        "http://xmlns.com/foaf/0.1/name",
    ],
)
def test_the_label_of_a_blank_node_is_its_name(tmp_path: Path, label: str) -> None:
    named = "".join(f'_:{node} <{label}> "Old Mill" <http://e/graph> .\n' for node in ("m1", "m2"))
    found = read(tmp_path / "kb.nq", f"{named}_:m1 <http://e/opposite> _:m3 .\n")
    assert found.triples == [("_:m1", "opposite", "_:m3")]
    assert found.names == {"_:m1": "Old Mill", "_:m2": "Old Mill"}


def test_a_class_called_as_a_kind_gives_its_members_the_kind(tmp_path: Path) -> None:
    a = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    classes = {
        "Mill": ["https://schema.org/Place", "http://e/Monument"],
        "Guild": ["https://schema.org/Organization", "http://www.w3.org/2002/07/owl#Thing"],
        "Inn": ["https://schema.org/Place", "https://schema.org/Organization"],
        "Ada": ["http://e/Q5"],
        "Hammer": ["urn:almanac:kind:thing"],
        "Idea": ["http://www.w3.org/2002/07/owl#Thing"],
    }
    stated = [(one, of) for one, several in classes.items() for of in several]
    lines = "".join(f"<http://e/{one}> <{a}> <{of}> .\n" for one, of in stated)
    found = read(tmp_path / "kb.nt", f'{lines}<http://e/Q5> <{label}> "Person"@en .\n')
    kinds = {"Mill": "place", "Guild": "organisation", "Ada": "person", "Hammer": "thing"}
    assert found.kinds == kinds
    assert len(found.triples) == len(stated) - 1  # the kind of our own export is no fact


def test_conceptnet_assertions(tmp_path: Path) -> None:
    def line(relation: str, start: str, end: str, weight: float) -> str:
        details = json.dumps({"dataset": "/d/x", "weight": weight})
        return f"/a/[/r/{relation}/,{start},{end}]\t/r/{relation}\t{start}\t{end}\t{details}\n"

    text = line("IsA", "/c/en/ice_cream/n", "/c/en/food", 4.0)
    text += line("IsA", "/c/en/tea", "/c/en/drink/n/wn/food", 1.0)
    text += line("IsA", "/c/fr/glace", "/c/fr/dessert", 1.0)
    text += line("ExternalURL", "/c/en/tea", "http://e/tea", 1.0)
    found = read(tmp_path / "assertions.csv", text)
    assert found.triples == [("ice cream", "IsA", "food"), ("tea", "IsA", "drink")]
    assert found.weights == [1.0, 0.5]
    assert found.left_out == 2
    french = read(tmp_path / "assertions.csv", languages=["fr"])
    assert french.triples == [("glace", "IsA", "dessert")]


def wikidata_snak(kind: str, value: Any, datatype: str = "x") -> dict[str, Any]:
    return {"snaktype": "value", "datatype": datatype, "datavalue": {"type": kind, "value": value}}


def wikidata_dump() -> bytes:
    def statement(snak: dict[str, Any], rank: str = "normal") -> dict[str, Any]:
        return {"mainsnak": snak, "rank": rank, "type": "statement"}

    def term(language: str, value: str) -> dict[str, str]:
        return {"language": language, "value": value}

    born = {"time": "+1952-03-11T00:00:00Z", "precision": 11}
    tall = {"amount": "+1.96", "unit": "http://www.wikidata.org/entity/Q11573"}
    city = {"entity-type": "item", "numeric-id": 350, "id": "Q350"}
    old = {"entity-type": "item", "numeric-id": 84, "id": "Q84"}
    adams = {
        "type": "item", "id": "Q42",
        "labels": {"en": term("en", "Douglas Adams"), "zh": term("zh", "道格拉斯")},
        "aliases": {"en": [term("en", "DNA")], "fr": [term("fr", "Adams")]},
        "descriptions": {"en": term("en", "writer")},
        "claims": {
            "P19": [
                statement(wikidata_snak("wikibase-entityid", city), "preferred"),
                statement(wikidata_snak("wikibase-entityid", old)),
            ],
            "P569": [statement(wikidata_snak("time", born))],
            "P2048": [statement(wikidata_snak("quantity", tall))],
            "P214": [statement(wikidata_snak("string", "113230702", "external-id"))],
            "P20": [statement({"snaktype": "somevalue", "datatype": "x"})],
        },
    }  # fmt: skip
    place = {"type": "property", "id": "P19", "labels": {"en": term("en", "place of birth")}}
    lost = {"type": "item", "id": "Q9", "labels": [], "claims": []}
    odd = {"type": "item", "id": "Q10", "labels": {"en": term("en", "x")}, "claims": {"P1": [3]}}
    lines = [json.dumps(entity) for entity in (adams, lost, odd, place)]
    return ("[\n" + ",\n".join(lines) + ",\n{broken\n]\n").encode()


def test_wikidata_dump(tmp_path: Path) -> None:
    found = read(tmp_path / "dump.json.gz", gzip.compress(wikidata_dump()))
    assert found.triples == [
        ("Q42", "place of birth", "Q350"),
        ("Q42", "P569", "1952-03-11"),
        ("Q42", "P2048", "1.96 metre"),
    ]
    assert found.values == ["1952-03-11", "1.96 metre"]
    assert found.names == {"Q42": "Douglas Adams"}
    assert found.descriptions == {"Q42": "writer"}
    assert found.aliases == {("Q42", "DNA"), ("Q42", "道格拉斯")}
    assert sorted(found.refused) == [(4, "not-wikidata"), (6, "not-json")]
    assert read(tmp_path / "dump.json.gz", languages=["zh"]).names == {"Q42": "道格拉斯"}


@pytest.mark.parametrize("broken", [{}, {"value": 5}, {"value": None}])
def test_wikidata_labels_that_are_no_texts_are_refused(
    tmp_path: Path, broken: dict[str, Any]
) -> None:
    entities = [
        {"type": "property", "id": "P1", "labels": {"en": broken}},
        {"type": "item", "id": "Q1", "labels": {"en": broken}},
        {"type": "item", "id": "Q2", "labels": {"en": {"value": "Ada"}}},
    ]
    text = "\n".join(map(json.dumps, entities))
    found = read(tmp_path / "dump", text, format="wikidata")
    assert found.names == {"Q2": "Ada"}
    assert found.refused == [(1, "not-wikidata"), (2, "not-wikidata")]


RECORDS = """
language: en
tables:
  land: {NO: Norway}
  nick: {file: nick.csv, key: "{id}", value: "{name}"}
files:
  - file: people.yaml
    match: {kind: person}
    entities:
      - {key: "{id}", name: ["{name.full}", "{name.last}"], aliases: ["{id|nick}"]}
    triples:
      - ["{id}", born in, "{land|land}"]
      - {head: "{id}", relation: born, tail: "{born|year}", value: true}
    each:
      - path: jobs
        match: {at: "(?P<firm>[A-Z]+) .*"}
        triples:
          - ["{id}", "worked at", "{firm} as {^title} {as}"]
  - file: nick.csv
    columns: {entity: id, alias: name}
    format: csv
"""
PEOPLE = """
- {kind: person, id: "007", name: {last: Bø}, land: NO, born: 1901-02-03, title: Dr,
   jobs: [{at: ACME Ltd, as: clerk}, {at: none}]}
- {kind: ship, id: "008"}
- {kind: person, name: {last: Ek}}
"""


def test_a_mapping_makes_a_graph_of_records(tmp_path: Path) -> None:
    (tmp_path / "people.yaml").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "nick.csv").write_text('id,name\n007,"Bø, the ""Bear"""\n', encoding="utf-8")
    found = read(tmp_path, mapping=RECORDS)
    assert found.triples == [
        ("007", "born in", "Norway"),
        ("007", "born", "1901"),
        ("007", "worked at", "ACME as Dr clerk"),
    ]
    assert found.values == ["1901"]
    assert found.left_out == 1  # the ship is of no rule
    assert found.names == {"007": "Bø"}
    assert ("007", 'Bø, the "Bear"') in found.aliases


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ("files: [{file: ../secret.csv, format: csv}]", "lies outside"),
        ("files: [{file: absent.csv}]", "does not exist"), ("colums: {head: 1}", "wrong at colums"),
        ("columns: {head: 1, relation: 2, tail: 9}", "column 9"), ("- a\n- b", "YAML mapping"),
        ("a: [", "not YAML"), ("entities: [{key: '{a|nothing}'}]", "filter"),
        ("match: {a: '('}\nentities: [{key: '{a}'}]", "wrong at match"),
    ],
)  # fmt: skip
def test_a_wrong_mapping_is_told_in_words(tmp_path: Path, mapping: str, words: str) -> None:
    (tmp_path / "kb.csv").write_text("a,b,c\n1,2,3\n", encoding="utf-8")
    with pytest.raises(AlmanacError, match=words):
        read(tmp_path if "files" in mapping else tmp_path / "kb.csv", mapping=mapping)


def test_yaml_is_read_as_it_is_written() -> None:
    parsed = parse_yaml(b"a: [NO, 007, 1.10, 2001-01-01, ~, &x y, *x]\n? [k]\n: v\n", "f")
    assert parsed["a"] == ["NO", "007", "1.10", "2001-01-01", "~", "y", "y"]


@pytest.mark.parametrize(
    "text",
    ["[" * 500_000, "a: !!python/object/apply:os.system [true]\n]", "a: *nowhere", "\x00", "a: 'b"],
)
def test_hostile_yaml_is_refused_in_words(text: str) -> None:
    with pytest.raises(AlmanacError, match="not YAML"):
        parse_yaml(text.encode(), "f")


def test_a_yaml_bomb_takes_no_room() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
    )
    assert len(parse_yaml(bomb.encode(), "f")) == 30


def test_what_cannot_be_read_is_told_in_words(tmp_path: Path) -> None:
    cut = gzip.compress(lines_of("\t").encode() * 50)[:-20]
    for name, content, error, words in (
        ("absent.tsv", None, UsageError, "No such file"), (".", None, UsageError, "folder"),
        ("kb", "some words\n", UsageError, "with --format. There are tsv.* nt,"),
        ("kb.gz", cut, AlmanacError, "broken"),
        ("kb.parquet", b"PAR1" + b"x" * 50, AlmanacError, "Parquet"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            read(tmp_path / name, content)


@settings(max_examples=60)  # each is read in nine formats
@given(content=st.binary(max_size=300) | st.text(string.printable, max_size=300).map(str.encode))
def test_no_content_crashes_a_reader(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("h") / "kb.json"
    formats = ("tsv", "csv", "pipe", "nlpcc", "jsonl", "nt", "parquet", "conceptnet", "wikidata")
    for format in formats:
        try:
            read(path, content, format=format)
        except AlmanacError as error:
            assert str(error)
