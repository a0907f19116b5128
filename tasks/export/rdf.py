"""RDF 1.2 as N-Triples or Turtle: plainly asserted facts, and what is known of each by its reifier.

A fact's reifier, `<urn:almanac:triple:ID>`, has its confidence and the places that state it
(`prov:wasDerivedFrom`); a place is a document's address with the characters as RFC 5147 writes
them. What is denied, possible or reported has a reifier only, so nothing asserts it.
"""

from pathlib import Path

from tasks.export.contents import Contents
from tasks.export.destination import MARK

NAMESPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "dcterms": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "schema": "urn:almanac:schema:",
}
# `property(PREFIX, NAME)` is what differs between the two formats. Neither takes parameters; the
# names are the constants above.
IN_FULL = "create temp macro property(prefix, name) as concat('<', case prefix {} end, name, '>')"
WITH_PREFIX = "create temp macro property(prefix, name) as concat(prefix, ':', name)"
SAYS = """create temp macro says(subject, prefix, name, object) as case when object is not null
    then concat(subject, ' ', property(prefix, name), ' ', object, ' .', chr(10)) end"""
MOMENT = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?"  # xsd:dateTime
QUERIES = (
    """select concat(
        says(address('document', document_id), 'dcterms', 'title',
            in_language(nullif(title, ''), language)),
        says(address('document', document_id), 'dcterms', 'identifier', literal(uri)))
    from documents""",
    """select concat(
        says(address('relation', relation), 'rdf', 'type', property('rdf', 'Property')),
        says(address('relation', relation), 'rdfs', 'label', literal(relation)))
    from (select distinct relation from triples order by all)""",
    """select concat(
        says(address('entity', entity_id), 'rdfs', 'label', in_language(name, language)),
        says(address('entity', entity_id), 'rdf', 'type', address('kind', nullif(kind, 'unknown'))),
        says(address('entity', entity_id), 'dcterms', 'description', literal(description)))
    from entities""",
    """select says(address('entity', entity_id), 'skos', 'altLabel', literal(alias))
    from aliases join entities using (entity_id) where alias <> name""",
    """with objects as (
        select *, coalesce(polarity, 'positive') = 'positive'
                  and coalesce(modality, 'asserted') = 'asserted' as plain,
            address('triple', triple_id) as reifier,
            case when tail_id is not null then null
                when date is not null and regexp_full_match(tail, getvariable('moment'))
                    then typed(replace(tail, ' ', 'T'), 'dateTime')
                when regexp_full_match(date, '[0-9]{4}-[0-9]{2}-[0-9]{2}') then typed(date, 'date')
                when regexp_full_match(date, '[0-9]{4}-[0-9]{2}') then typed(date, 'gYearMonth')
                when regexp_full_match(date, '-?[0-9]{4}') then typed(date, 'gYear')
                when unit is null and number is not null then case
                    when regexp_full_match(tail, '0|-?[1-9][0-9]*') then typed(tail, 'integer')
                    when tail = number::varchar and regexp_full_match(tail, '-?[0-9]+[.][0-9]+')
                        then typed(tail, 'decimal') end end as value
        from triples),
    facts as (
        select *, concat(address('entity', head_id), ' ', address('relation', relation), ' ',
            case when tail_id is not null then address('entity', tail_id)
                when value is not null then value else literal(tail) end) as fact
        from objects)
    select concat(
        case when plain then concat(fact, ' .', chr(10)) end,
        says(reifier, 'rdf', 'reifies', concat('<<( ', fact, ' )>>')),
        says(reifier, 'schema', 'confidence', typed(confidence, 'double')),
        says(reifier, 'schema', 'support', typed(support, 'integer')),
        case when value is not null then
            says(reifier, 'schema', 'asWritten', literal(tail)) end,
        case when (unit is not null or value is null) and isfinite(number) then concat(
            says(reifier, 'schema', 'number', typed(number, 'double')),
            says(reifier, 'schema', 'unit', literal(unit))) end,
        says(reifier, 'schema', 'validFrom', literal(valid_from)),
        says(reifier, 'schema', 'validTo', literal(valid_to)),
        case when not plain then concat(
            says(reifier, 'schema', 'polarity', literal(polarity)),
            says(reifier, 'schema', 'modality', literal(modality))) end,
        case when document_id is null then says(reifier, 'schema', 'graph', literal(graph)) end)
    from facts""",
    """select says(address('triple', fact_id), 'prov', 'wasDerivedFrom',
        place(document_id, span_start, span_end))
    from mentions where fact_kind = 'triple'""",
)


def write_ntriples(contents: Contents, path: Path) -> None:
    """Write N-Triples 1.2."""
    cases = " ".join(f"when '{prefix}' then '{iri}'" for prefix, iri in NAMESPACES.items())
    _write(contents, path, IN_FULL.format(cases), "")


def write_turtle(contents: Contents, path: Path) -> None:
    """Write Turtle 1.2: the same statements, with prefixes for the properties."""
    prefixes = "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in NAMESPACES.items())
    _write(contents, path, WITH_PREFIX, prefixes)


def _write(contents: Contents, path: Path, macro: str, prefixes: str) -> None:
    contents.connection.execute(macro)
    contents.connection.execute(SAYS)
    contents.connection.execute("set variable moment = $1", [MOMENT])
    with path.open("wb") as file:
        file.write(f"# {MARK} from edition {contents.edition.id}\n{prefixes}".encode())
        for query in QUERIES:
            contents.write_texts(query, file)
