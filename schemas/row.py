"""Each table is declared once, as a class; its Arrow schema and documentation follow from it."""

import types
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from functools import cache
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

_ARROW = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    bytes: pa.binary(),
    datetime: pa.timestamp("us", tz="UTC"),
    date: pa.date32(),
}


class Row(BaseModel):
    """A row of a table; a subclass names the table and its key, and describes each column.

    What a subclass does not name is that of its base class.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    table: ClassVar[str]
    key: ClassVar[tuple[str, ...]]

    def __init_subclass__(
        cls, *, table: str | None = None, key: tuple[str, ...] | None = None, **config: Any
    ) -> None:
        super().__init_subclass__(**config)
        if table is not None:
            cls.table = table
        if key is not None:
            cls.key = key

    @classmethod
    def arrow_schema(cls) -> pa.Schema:
        """Return the table's Arrow schema, with the column descriptions as metadata."""
        return _arrow_schema(cls)

    @classmethod
    def to_table(cls, rows: Iterable[Self | Mapping[str, Any]]) -> pa.Table:
        """Return the rows as an Arrow table of exactly this schema."""
        dicts = [row.model_dump() if isinstance(row, Row) else row for row in rows]
        return pa.Table.from_pylist(dicts, schema=cls.arrow_schema())

    @classmethod
    def cast(cls, table: pa.Table) -> pa.Table:
        """Return a table that an older version wrote, cast to this schema.

        Columns that the older version lacks are null. Raises ValueError for unknown columns.
        """
        schema = cls.arrow_schema()
        unknown = set(table.column_names) - set(schema.names)
        if unknown:
            raise ValueError(f"{cls.table} has columns that this version does not know: {unknown}")
        columns = [
            table[field.name].cast(field.type)
            if field.name in table.column_names
            else pa.nulls(len(table), field.type)
            for field in schema
        ]
        return pa.table(columns, schema=schema)

    @classmethod
    def describe(cls) -> str:
        """Return the table's entry in the data dictionary, as Markdown."""
        lines = [f"## {cls.table}", "", (cls.__doc__ or "").strip(), ""]
        if cls.key:
            lines += [f"Key: {', '.join(f'`{column}`' for column in cls.key)}.", ""]
        lines += ["| column | type | meaning |", "| --- | --- | --- |"]
        for field in cls.arrow_schema():
            null = ", may be null" if field.nullable else ""
            text = cls.model_fields[field.name].description or ""
            kind = str(field.type).replace("list<item: ", "list<")
            lines.append(f"| {field.name} | {kind}{null} | {text} |")
        return "\n".join([*lines, ""])


@cache
def _arrow_schema(row: type[Row]) -> pa.Schema:
    fields = []
    for name, info in row.model_fields.items():
        arrow_type, nullable = _arrow_type(info.annotation)
        meta = {"description": info.description or ""}
        fields.append(pa.field(name, arrow_type, nullable=nullable, metadata=meta))
    return pa.schema(fields)


def _arrow_type(annotation: Any) -> tuple[pa.DataType, bool]:
    """Return the Arrow type of a column's annotation and whether it may be null."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType) and type(None) in args:
        inner = [arg for arg in args if arg is not type(None)]
        return _arrow_type(inner[0])[0], True
    if origin is Literal:
        return pa.string(), False
    if origin is list:
        return pa.list_(_arrow_type(args[0])[0]), False
    if annotation in _ARROW:
        return _ARROW[annotation], False
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        members = ((name, _arrow_type(f.annotation)) for name, f in annotation.model_fields.items())
        return pa.struct([pa.field(name, kind, null) for name, (kind, null) in members]), False
    raise TypeError(f"no Arrow type for {annotation!r}")
