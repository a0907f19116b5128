"""Neo4j: CSV files for its bulk import, whose headers say what each column is."""

from pathlib import Path

from tasks.export.contents import Contents

# A label is a part of `:LABEL` between semicolons.
FILES = {
    "entities": """select entity_id as "entityId:ID", name, kind, language, graph,
        mentions as "mentions:long", documents as "documents:long", description,
        concat('Entity;', replace(kind, ';', ' ')) as ":LABEL"
    from entities""",
    "values": """select concat('value-', triple_id) as "valueId:ID", tail as "name",
        value_type as kind, number as "number:double", unit, date, 'Value' as ":LABEL"
    from triples where tail_id is null""",
    "documents": """select document_id as "documentId:ID", uri, title, language,
        'Document' as ":LABEL"
    from documents""",
    "facts": """select head_id as ":START_ID", coalesce(tail_id, concat('value-', triple_id))
        as ":END_ID", relation as ":TYPE", triple_id as "tripleId",
        confidence as "confidence:double", support as "support:long", polarity, modality,
        valid_from as "validFrom", valid_to as "validTo", graph, document_id as "documentId",
        span_start as "spanStart:long", span_end as "spanEnd:long"
    from triples""",
}
README = """# Files for Neo4j's bulk import

    neo4j-admin database import full --multiline-fields=true \\
        --nodes=entities.csv --nodes=values.csv --nodes=documents.csv \\
        --relationships=facts.csv neo4j

A fact is a relationship with the relation's name. `documentId`, `spanStart` and `spanEnd` are the
place that states it best, in characters of the document's text.
"""


def write_neo4j(contents: Contents, folder: Path) -> None:
    """Write a folder with the files and the command that imports them."""
    folder.mkdir()
    for name, query in FILES.items():
        file = str(folder / f"{name}.csv")
        contents.connection.sql(query).write_csv(file, header=True, quotechar='"', escapechar='"')
    (folder / "README.md").write_text(README, encoding="utf-8")
