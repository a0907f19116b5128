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
# A value has a node of its own in each fact: equal words need not mean the same.
NODES = (
    """select concat('<node id="', xml(entity_id), '">', data('name', name), data('kind', kind),
        data('language', language), data('description', description), data('graph', graph),
        figure('mentions', mentions), '</node>', chr(10))
    from entities""",
    """select concat('<node id="value-', xml(triple_id), '">', data('name', tail),
        data('kind', value_type), data('graph', graph), '</node>', chr(10))
    from triples where tail_id is null""",
)
EDGES = """select concat('<edge id="', xml(triple_id), '" source="', xml(head_id), '" target="',
        case when tail_id is null then concat('value-', xml(triple_id)) else xml(tail_id) end,
        '">', data('relation', relation), figure('confidence', confidence),
        figure('support', support), data('polarity', polarity), data('modality', modality),
        data('valid_from', valid_from), data('valid_to', valid_to), data('uri', uri),
        figure('span_start', span_start), figure('span_end', span_end),
        data('source_graph', graph), '</edge>', chr(10))
    from triples left join (select document_id, uri from documents) using (document_id)"""


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
