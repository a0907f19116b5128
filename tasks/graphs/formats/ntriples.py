"""N-Triples and N-Quads: IRIs and blank nodes are entities, literals are values, labels are names.

The file is read twice, because a relation's label may come after its use. How RDF writes lists and
statements about statements is left out, and so is what our own export says beside the facts.
A class that is called as one of our kinds of entities, here or in the graph, gives its members the
kind; a member of several such classes has none.
Grammar: https://www.w3.org/TR/n-triples/; the fourth part of a quad is ignored.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.imports import ImportedEntity
from schemas.ontology import KINDS
from tasks.graphs.formats.batch import (
    ENTITIES,
    LONG_TAIL,
    MAX_NAME,
    GraphBatch,
    add_aliases,
    add_triples,
    renamed,
    strings,
)
from tasks.graphs.formats.lines import Lines, Opened, blocks_of_lines, opened
from tasks.graphs.formats.mapping import FileMapping

BATCH_ROWS = 100_000
_LAST_PART = r"(?:^[^/#]*:|[/#])(?P<name>[^/#]+)[/#]?$"
_TABLES = (
    "iris (iri varchar)",
    "relations (iri varchar)",
    # The texts of an IRI, of which that with the lowest place is used.
    "names (iri varchar, text varchar, place bigint)",
    "descriptions (iri varchar, text varchar, place bigint)",
    # What is said of blank nodes, which are called by it unless they have a name.
    "parts (iri varchar, node varchar, text varchar, place bigint)",
    "classes (iri varchar, class varchar, word varchar)",
)
_NAMED = """
with n as (select iri, arg_min(text, place) as name from names group by iri),
facts as (
    select p.iri, left(string_agg(coalesce(n.name, p.text), ', ' order by p.place), $most) as name
    from parts p left join n on n.iri = p.node
    where coalesce(n.name, p.text) <> '' group by p.iri
),
k as (
    select c.iri, min(kind) as kind
    from classes c left join n on n.iri = c.class
    join kinds on kind in (
        replace(lower(c.word), 'organization', 'organisation'), lower(n.name))
    group by c.iri having min(kind) = max(kind)
)
select e.iri as entity, coalesce(n.name, facts.name) as name, k.kind, d.text as description
from (select iri from iris union select iri from facts) e
left join n using (iri) left join k using (iri) left join facts using (iri)
left join (select iri, arg_min(text, place) as text from descriptions group by iri) d using (iri)
"""
_RELATIONS = """
select iri, arg_min(text, place) filter (length(text) between 1 and $most)
from (select distinct iri from relations) left join names using (iri) group by iri
"""


class IriNames:
    """All IRIs of a graph with their names and descriptions, on disk where memory is short."""

    def __init__(self, spill: Path | None = None) -> None:
        """Spill what does not fit into memory to a temporary folder, inside `spill` if given."""
        if spill:
            spill.mkdir(parents=True, exist_ok=True)
        self._folder = TemporaryDirectory(dir=spill)
        config: dict[str, Any] = {
            "memory_limit": "1GB",
            "threads": "2",
            "temp_directory": self._folder.name,
        }
        self._con = duckdb.connect(str(Path(self._folder.name) / "names.duckdb"), config=config)
        for table in _TABLES:  # constants of this module; a definition takes no parameters
            self._con.execute(f"create table {table}")
        self._con.from_arrow(pa.table({"kind": KINDS})).create("kinds")

    def add(self, table: str, *columns: pa.Array | np.ndarray) -> None:
        """Add rows to one of the tables."""
        rows = pa.table(list(columns), names=[f"column{n}" for n in range(len(columns))])
        self._con.from_arrow(rows).insert_into(table)

    def add_iris(self, *columns: pa.Array) -> None:
        """Add IRIs that occur in the graph."""
        for column in columns:
            self.add("iris", pc.unique(column))

    def relations(self) -> dict[str, str | None]:
        """Return all relations, with their labels where they have one that can be a name."""
        return dict(self._con.sql(_RELATIONS, params={"most": MAX_NAME}).fetchall())

    def add_classes(self, iri: pa.Array, of: pa.Array) -> None:
        """Add the class that each IRI is a member of."""
        encoded = of.dictionary_encode()
        word = last_part(encoded.dictionary).take(encoded.indices)
        self.add("classes", iri, of, word)

    def entities(self) -> Iterator[pa.Table]:
        """Yield entity rows for all IRIs, each once."""
        for rows in self._con.sql(_NAMED, params={"most": LONG_TAIL}).to_arrow_reader(BATCH_ROWS):
            name = pc.coalesce(rows["name"], last_part(rows["entity"]))
            columns = [rows["entity"], name, rows["kind"], rows["description"]]
            yield pa.table(columns, schema=ENTITIES)

    def close(self) -> None:
        """Delete everything."""
        self._con.close()
        self._folder.cleanup()


def last_part(iris: pa.Array) -> pa.Array:
    """Return the last part of IRIs as words: unescaped, with spaces for underscores."""
    names = pc.struct_field(pc.extract_regex(iris, _LAST_PART), "name")
    parts = pc.replace_substring(pc.coalesce(names, iris), "_", " ")
    escaped = pc.match_substring(parts, "%")
    if pc.any(escaped).as_py():
        words = [unquote(part) for part in parts.filter(escaped).to_pylist()]
        parts = pc.replace_with_mask(parts, escaped, pa.array(words, pa.string()))
    return parts


_NODE = r"<[^<>\s]*>|_:[^\s<>\"]+"
_STATEMENT = (
    rf"^[ \t]*(?P<head>{_NODE})[ \t]*<(?P<relation>[^<>\s]*)>[ \t]*"
    rf"(?:(?P<node>{_NODE})"
    r'|"(?P<text>(?:[^"\\]|\\.)*)"(?:@(?P<language>[A-Za-z0-9-]+)|\^\^<(?P<type>[^<>\s]*)>)?)'
    rf"[ \t]*(?:{_NODE})?[ \t]*\.[ \t]*(?:#.*)?$"
)
# Most lines have this form, which is parsed three times as fast.
_PLAIN = r"^<(?P<head>[^<>\s\\]*)> <(?P<relation>[^<>\s\\]*)> <(?P<node>[^<>\s\\]*)> \.$"
_RELATION = rf"^[ \t]*(?:{_NODE})[ \t]*<(?P<relation>[^<>\s]*)>"
_OWN = "^<urn:almanac:(?:document|relation|triple):"  # what our export says beside the facts
_OWN_ENTITY, _OWN_KIND = "<urn:almanac:entity:", "urn:almanac:kind:"
_ABOUT_A_STATEMENT = r"#reifies>[ \t]*<<\("  # of RDF 1.2
_PREFIX = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
    "schemas": "https://schema.org/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dct": "http://purl.org/dc/terms/",
    "dbo": "http://dbpedia.org/ontology/",
    "obo": "http://purl.obolibrary.org/obo/",
    "oboInOwl": "http://www.geneontology.org/formats/oboInOwl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
# The first is the best name; all of them are aliases.
_NAMES = ("skos:prefLabel", "rdfs:label", "schema:name", "schemas:name", "foaf:name")
_ALIASES = (
    *("skos:altLabel", "schema:alternateName", "schemas:alternateName"),
    "oboInOwl:hasExactSynonym",
)
_DESCRIPTIONS = (
    *("schema:description", "schemas:description", "dct:description"),
    *("skos:definition", "obo:IAO_0000115", "rdfs:comment", "dbo:abstract"),
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SIGNS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def _full(names: Sequence[str]) -> pa.Array:
    split = (name.partition(":") for name in names)
    return pa.array([_PREFIX[prefix] + word for prefix, _, word in split], pa.string())


_NAMES_FULL, _DESCRIPTIONS_FULL = _full(_NAMES), _full(_DESCRIPTIONS)
_ALIASES_FULL = _full((*_NAMES, *_ALIASES))
_OF_NAMES = "|".join(re.escape(f"<{name}>") for name in _NAMES_FULL.to_pylist())
_TYPE, _YEAR = _full(["rdf:type", "xsd:gYear"])
_PARTS = _full(["rdf:first", "rdf:rest", "rdf:subject", "rdf:predicate", "rdf:object"])
_CONSTRUCTS = _full(["rdf:nil", "rdf:List", "rdf:Statement"])
_VOCABULARY = "^(?:" + "|".join(re.escape(_PREFIX[name]) for name in ("rdf", "rdfs", "owl")) + ")"
_ANYTHING = _full(("owl:Thing", "schema:Thing", "schemas:Thing"))  # classes of all there is


def read_ntriples(
    file: Opened,
    path: Path,
    languages: tuple[str, ...],
    mapping: FileMapping,
    spill: Path | None,
) -> Iterator[GraphBatch]:
    """Yield the triples of a file, and at its end the names of its entities.

    Literals in other languages than these are left out.
    """
    names = IriNames(spill)
    try:
        _add_names(path, languages, names)
        relations = _Relations(names.relations(), mapping.relations)
        for lines in blocks_of_lines(file.data):
            _read(lines, languages, relations, names)
            yield lines.batch
        for table in names.entities():
            yield GraphBatch({ImportedEntity: table})
    finally:
        names.close()


def _add_names(path: Path, languages: tuple[str, ...], names: IriNames) -> None:
    """Store the names in a file, and which IRIs are relations there."""
    with opened(path) as file:
        for lines in blocks_of_lines(file.data):
            relations = pc.struct_field(pc.extract_regex(lines.text, _RELATION), "relation")
            names.add("relations", _unescaped(pc.unique(relations.drop_null())))
            few = pc.match_substring_regex(lines.text, _OF_NAMES).to_numpy(zero_copy_only=False)
            few_lines = lines.where(few)
            found = _statements(Lines(few_lines.text, few_lines.numbers, GraphBatch()), languages)
            literal = pc.is_valid(found.text)
            best = found.where(pc.and_(literal, pc.is_in(found.relation, value_set=_NAMES_FULL)))
            names.add("names", best.head, best.text, _place(best, _NAMES_FULL))


class _Relations:
    """A file's relations, and what they are called."""

    def __init__(self, labels: dict[str, str | None], names: dict[str, str]) -> None:
        self.iris = strings(labels)
        self._labels = {iri: label for iri, label in labels.items() if label}
        self._names = names

    def called(self, iris: pa.Array) -> pa.Array:
        """Return the names of relations: those given for the last parts, labels, last parts."""
        last = last_part(iris)
        is_named = pc.is_in(last, value_set=strings(self._names))
        labels = pc.if_else(pc.equal(named := renamed(iris, self._labels), iris), last, named)
        return pc.if_else(is_named, renamed(last, self._names), labels)


@dataclass(frozen=True)
class _Statements:
    """Statements as columns: the tail is a node, or a text with the rank of its language.

    `type` is the type of value that the source states.
    """

    numbers: np.ndarray
    head: pa.Array
    relation: pa.Array
    node: pa.Array
    text: pa.Array
    rank: pa.Array
    type: pa.Array

    def where(self, mask: pa.Array) -> "_Statements":
        columns = (self.head, self.relation, self.node, self.text, self.rank, self.type)
        return _Statements(self.numbers[np.asarray(mask)], *(c.filter(mask) for c in columns))


def _read(lines: Lines, languages: tuple[str, ...], relations: _Relations, names: IriNames) -> None:
    own = pc.match_substring_regex(lines.text, _OWN).to_numpy(zero_copy_only=False)
    lines.batch.left_out += int(own.sum())
    lines = lines.where(~own) if own.any() else lines
    parsed = pc.extract_regex(lines.text, _PLAIN)
    plain = pc.is_valid(parsed).to_numpy(zero_copy_only=False)
    _add_triples(_plain_statements(parsed, lines.numbers, plain), lines.batch, relations, names)
    if plain.all():
        return
    others = _statements(lines.where(~plain), languages)
    others = _without_names(others, lines.batch, relations, names)
    _add_triples(others, lines.batch, relations, names)


def _plain_statements(parsed: pa.Array, numbers: np.ndarray, plain: np.ndarray) -> _Statements:
    parsed = parsed.filter(pa.array(plain))
    head, relation, node = (pc.struct_field(parsed, n) for n in ("head", "relation", "node"))
    text, rank = pa.nulls(len(parsed), pa.string()), pa.nulls(len(parsed), pa.int32())
    return _Statements(numbers[plain], head, relation, node, text, rank, text)


def _without_names(
    statements: _Statements, batch: GraphBatch, relations: _Relations, names: IriNames
) -> _Statements:
    """Store the names and descriptions among statements; return the other statements.

    A relation is called by its name, but no entity for having one.
    """
    literal, relation = pc.is_valid(statements.text), statements.relation
    of_entity = pc.and_not(literal, pc.is_in(statements.head, value_set=relations.iris))
    named = statements.where(pc.and_(of_entity, pc.is_in(relation, value_set=_ALIASES_FULL)))
    add_aliases(batch, named.numbers, named.head, named.text)
    best = named.where(pc.is_in(named.relation, value_set=_NAMES_FULL))
    describing = pc.is_in(relation, value_set=_DESCRIPTIONS_FULL)
    described = statements.where(pc.and_(of_entity, describing))
    place = _place(described, _DESCRIPTIONS_FULL)
    names.add("descriptions", described.head, described.text, place)
    names.add_iris(best.head, _iris(named.head), _iris(described.head))
    taken = pc.or_(pc.is_in(relation, value_set=_ALIASES_FULL), describing)
    return statements.where(pc.invert(pc.and_(literal, taken)))


def _add_triples(
    statements: _Statements, batch: GraphBatch, relations: _Relations, names: IriNames
) -> None:
    facts = pc.invert(_of_no_fact(statements, relations))
    batch.left_out += len(facts) - (pc.sum(facts).as_py() or 0)
    statements = statements.where(facts)
    if not len(statements.numbers):
        return
    stated = pc.and_(pc.equal(statements.relation, _TYPE), pc.is_valid(statements.node))
    typed = statements.where(pc.and_not(stated, pc.is_in(statements.node, value_set=_ANYTHING)))
    names.add_classes(typed.head, typed.node)
    of_own_kind = pc.and_(stated, pc.starts_with(statements.node, _OWN_KIND))
    names.add_iris(_iris(statements.head))
    statements = statements.where(pc.invert(pc.fill_null(of_own_kind, False)))
    names.add_iris(_iris(statements.node.drop_null()))
    is_part = pc.and_not(
        pc.starts_with(statements.head, "_:"), pc.equal(statements.relation, _TYPE)
    )
    parts = statements.where(is_part)
    names.add("parts", parts.head, parts.node, parts.text, parts.numbers)
    encoded = statements.relation.dictionary_encode()
    add_triples(
        batch,
        statements.numbers,
        statements.head,
        relations.called(encoded.dictionary).take(encoded.indices),
        pc.coalesce(statements.node, statements.text),
        is_value=pc.is_valid(statements.text),
        value_type=statements.type,
    )


def _of_no_fact(statements: _Statements, relations: _Relations) -> pa.Array:
    """Return which statements spell out lists and statements, or say what a relation is."""
    spelled = pc.or_(
        pc.is_in(statements.relation, value_set=_PARTS),
        pc.is_in(statements.node, value_set=_CONSTRUCTS),
    )
    of_relation = pc.is_in(statements.head, value_set=relations.iris)
    schema = pc.match_substring_regex(statements.relation, _VOCABULARY)
    return pc.or_(spelled, pc.and_(of_relation, schema))


def _iris(nodes: pa.Array) -> pa.Array:
    """Return the nodes that are not blank nodes, whose identifiers are no names."""
    return nodes.filter(pc.invert(pc.starts_with(nodes, "_:")))


def _statements(lines: Lines, languages: tuple[str, ...]) -> _Statements:
    """Parse lines; refuse those that are no statement, leave out those in other languages."""
    parsed = pc.extract_regex(lines.text, _STATEMENT)
    good = pc.is_valid(parsed).to_numpy(zero_copy_only=False)
    odd = lines.where(~good)
    comment = pc.match_substring_regex(odd.text, r"^[ \t]*(#.*)?$")
    odd = odd.where(~comment.to_numpy(zero_copy_only=False))
    about = pc.match_substring_regex(odd.text, _ABOUT_A_STATEMENT).to_numpy(zero_copy_only=False)
    lines.batch.left_out += int(about.sum())
    bad = odd.where(~about)
    lines.batch.refuse_all(bad.numbers, "no-statement", bad.text)
    parsed = parsed.filter(pa.array(good))
    column = {name: pc.struct_field(parsed, name) for name in ("head", "relation", "node")}
    text, tag, type_ = (pc.struct_field(parsed, name) for name in ("text", "language", "type"))
    # A group that did not match is an empty text; a node is never empty.
    is_node = pc.greater(pc.binary_length(column["node"]), 0)
    tagged = pc.if_else(pc.greater(pc.binary_length(tag), 0), "text", None)
    tag = pc.utf8_lower(pc.replace_substring_regex(tag, "-.*$", ""))
    rank = pc.index_in(tag, value_set=pa.array(["", *languages], pa.string()))
    exported = pc.starts_with(column["head"], _OWN_ENTITY)  # has one name, in its own language
    rank = pc.if_else(exported, pc.fill_null(rank, 0), rank)
    statements = _Statements(
        lines.numbers[good],
        _bare(column["head"]),
        _unescaped(column["relation"]),
        pc.if_else(is_node, _bare(column["node"]), None),
        pc.if_else(is_node, None, _unescaped(text)),
        rank,
        pc.if_else(pc.equal(type_, _YEAR), "year", tagged),
    )
    wanted = pc.is_valid(rank)
    lines.batch.left_out += len(rank) - (pc.sum(wanted).as_py() or 0)
    lines.batch.left_out_in.update(tag.filter(pc.invert(wanted)).to_pylist())
    return statements.where(wanted)


def _bare(nodes: pa.Array) -> pa.Array:
    """Return IRIs without their brackets."""
    return _unescaped(pc.replace_substring_regex(nodes, r"^<(.*)>$", r"\1"))


def _unescaped(column: pa.Array) -> pa.Array:
    escaped = pc.match_substring(column, "\\")
    if not pc.any(escaped).as_py():
        return column
    texts = [_ESCAPE.sub(_sign, text) for text in column.filter(escaped).to_pylist()]
    return pc.replace_with_mask(column, escaped, pa.array(texts, pa.string()))


def _sign(escape: re.Match[str]) -> str:
    """Return the character for an escape; the escape itself if it is unknown."""
    code = int(escape[1] or escape[2] or "0", 16)
    if escape[3]:
        return _SIGNS.get(escape[3], escape[0])
    if 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return "\ufffd"
    return chr(code)


def _place(named: _Statements, best_first: pa.Array) -> pa.Array:
    """Return the rank of names or descriptions, best first: by language, then by relation."""
    relation = pc.index_in(named.relation, value_set=best_first)
    # A text without a language comes after those in the chosen languages.
    language = pc.if_else(pc.equal(named.rank, 0), 1000, named.rank)
    return pc.add(pc.multiply(language, 100), relation).cast(pa.int64())
