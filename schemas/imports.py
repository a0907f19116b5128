"""Imported graphs as they were read, in the journal: never edited, replaced by a later import."""

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from schemas.row import Row

IMPORT = Field(description="The import that brought it.")
KEY = Field(description="What tells the entity from others in its graph: an id, else its name.")


class GraphImport(Row):
    """An import that was read to its end, or a graph's removal; a graph's last row counts."""

    table: ClassVar[str] = "graph_imports"
    key: ClassVar[tuple[str, ...]] = ("import_id",)

    import_id: str = Field(description="Unique.")
    graph: str = Field(description="The graph's name.")
    action: Literal["import", "remove"] = Field(description="What happened.")
    source: str = Field(description="File, folder or URL; empty for a removal.")
    format: str = Field(description="How it was read.")
    language: str = Field(description="Language of its names.")
    triples: int = Field(description="Triples read, before duplicates are dropped.")
    rejected: int = Field(description="Lines that were refused.")
    run_id: str = Field(description="The run that wrote it.")
    imported_at: datetime = Field(description="When (UTC).")


class ImportedTriple(Row):
    """A triple of an imported graph."""

    table: ClassVar[str] = "imported_triples"
    key: ClassVar[tuple[str, ...]] = ("import_id", "head", "relation", "tail")

    import_id: str = IMPORT
    head: str = KEY
    relation: str = Field(description="The predicate's name.")
    tail: str = Field(description="The key of the entity at the other end, or a value as written.")
    is_value: bool = Field(description="Whether the tail is a value that no entity stands for.")
    weight: float | None = Field(None, description="How sure the source is, 0 to 1.")


class ImportedEntity(Row):
    """What the source says of an entity; entities without a row are named by their key."""

    table: ClassVar[str] = "imported_entities"
    key: ClassVar[tuple[str, ...]] = ("import_id", "entity")

    import_id: str = IMPORT
    entity: str = KEY
    name: str = Field(description="Its name.")
    kind: str | None = Field(None, description="What sort of thing it is, where the source says.")
    description: str | None = Field(None, description="What the source says it is.")


class ImportedAlias(Row):
    """Another name of an entity of an imported graph."""

    table: ClassVar[str] = "imported_aliases"
    key: ClassVar[tuple[str, ...]] = ("import_id", "entity", "alias")

    import_id: str = IMPORT
    entity: str = KEY
    alias: str = Field(description="The name.")


IMPORTED: tuple[type[Row], ...] = (GraphImport, ImportedTriple, ImportedEntity, ImportedAlias)
