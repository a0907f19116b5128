"""Imported graphs, as the journal keeps them: never edited, but replaced by a later import."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from schemas.row import Row

IMPORT = Field(description="The import that the row belongs to.")
KEY = Field(description="The entity's key in its graph: its id, else its name.")


class GraphImport(Row, table="graph_imports", key=("import_id",)):
    """A finished import, or the removal of a graph; the last row of a graph counts."""

    import_id: str = Field(description="Unique.")
    graph: str = Field(description="The graph's name.")
    action: Literal["import", "remove"] = Field(description="What happened.")
    source: str = Field(description="File, folder or URL; empty for a removal.")
    format: str = Field(description="How it was read.")
    language: str = Field(description="Language of its names.")
    triples: int = Field(description="Triples read, before duplicates are dropped.")
    rejected: int = Field(description="Lines that were refused.")
    labels: list[str] | None = Field(
        None, description="The labels that the graph has from now on; null if it keeps its own."
    )
    run_id: str = Field(description="The run that wrote it.")
    imported_at: datetime = Field(description="When (UTC).")


class ImportedTriple(Row, table="imported_triples", key=("import_id", "head", "relation", "tail")):
    """A triple of an imported graph."""

    import_id: str = IMPORT
    head: str = KEY
    relation: str = Field(description="The predicate's name.")
    tail: str = Field(description="The key of the entity at the other end, or a value as written.")
    is_value: bool = Field(description="Whether the tail is a value rather than an entity.")
    weight: float | None = Field(None, description="How sure the source is, 0 to 1.")
    value_type: str | None = Field(
        None, description="`year` or `text` if the source says that the value is one, else null."
    )


class ImportedEntity(Row, table="imported_entities", key=("import_id", "entity")):
    """An entity as the source describes it; entities without a row are named by their key."""

    import_id: str = IMPORT
    entity: str = KEY
    name: str = Field(description="Its name.")
    kind: str | None = Field(None, description="Its kind, if the source gives one.")
    description: str | None = Field(None, description="Its description, if the source gives one.")


class ImportedAlias(Row, table="imported_aliases", key=("import_id", "entity", "alias")):
    """Another name of an entity of an imported graph."""

    import_id: str = IMPORT
    entity: str = KEY
    alias: str = Field(description="The name.")


IMPORTED: tuple[type[Row], ...] = (GraphImport, ImportedTriple, ImportedEntity, ImportedAlias)
