"""GraphML: entities and values as nodes, facts as edges with their confidence and their place."""

from pathlib import Path

from tasks.export.contents import Contents
from tasks.export.destination import MARK

KEYS = {
    "node": {"name": "string", "kind": "string", "language": "string", "description": "string",
             "graph": "string", "mentions": "long"},
    "edge": {"relation": "string", "confidence": "double", "support": "long", "polarity": "string",
             "modality": "string", "valid_from": "string", "valid_to": "string", "uri": "string",
             "span_start": "long", "span_end": "long", "source_graph": "string"},
}  # fmt: skip
# A value has a node of its own in each fact: equal words need not mean the same. Ids of facts are
# hashes, and polarity, modality and types of values words of ours, so `plain` writes them as they
# are; a document's address is escaped once, not for each fact.
NODES = (
    """select concat('<node id="', xml(entity_id), '">', data('name', name), data('kind', kind),
        data('language', language), data('description', description), data('graph', graph),
        plain('mentions', mentions), '</node>', chr(10))
    from entities""",
    """select concat('<node id="value-', triple_id, '">', data('name', tail),
        plain('kind', value_type), data('graph', graph), '</node>', chr(10))
    from triples where tail_id is null""",
)
EDGES = """select concat('<edge id="', triple_id, '" source="', xml(head_id), '" target="',
        case when tail_id is null then concat('value-', triple_id) else xml(tail_id) end,
        '">', data('relation', relation), plain('confidence', confidence),
        plain('support', support), plain('polarity', polarity), plain('modality', modality),
        data('valid_from', valid_from), data('valid_to', valid_to), plain('uri', uri),
        plain('span_start', span_start), plain('span_end', span_end),
        data('source_graph', graph), '</edge>', chr(10))
    from triples
        left join (select document_id, xml(uri) as uri from documents) using (document_id)"""


def write_graphml(contents: Contents, path: Path) -> None:
    """Write one directed graph."""
    keys = "".join(
        f'<key id="{name}" for="{part}" attr.name="{name}" attr.type="{kind}"/>\n'
        for part, names in KEYS.items()
        for name, kind in names.items()
    )
    with path.open("wb") as file:
        file.write(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {MARK} -->\n'
            f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n{keys}'
            f'<graph id="{contents.edition.id}" edgedefault="directed">\n'.encode()
        )
        for query in (*NODES, EDGES):
            contents.write_texts(query, file)
        file.write(b"</graph>\n</graphml>\n")
