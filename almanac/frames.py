"""Results as data frames whose columns keep their types: whole numbers stay whole beside nulls."""

from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pydantic import BaseModel

from schemas.errors import AlmanacError, UsageError
from schemas.row import Row

if TYPE_CHECKING:
    import pandas
    import polars


def to_pandas(rows: "pa.Table | Iterable[Any]") -> "pandas.DataFrame":
    """Return a table, or rows of any method that gives some, as a data frame of Arrow's types."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise AlmanacError("This needs pandas; `pip install pandas` adds it.") from error
    return _table(rows).to_pandas(types_mapper=pandas.ArrowDtype)


def to_polars(rows: "pa.Table | Iterable[Any]") -> "polars.DataFrame":
    """Return a table, or rows of any method that gives some, as a data frame of Polars."""
    try:
        import polars
    except ModuleNotFoundError as error:
        raise AlmanacError("This needs polars; `pip install polars` adds it.") from error
    frame = polars.from_arrow(_table(rows))
    assert isinstance(frame, polars.DataFrame)
    return frame


def _table(rows: "pa.Table | Iterable[Any]") -> pa.Table:
    if isinstance(rows, pa.Table):
        return rows
    listed = list(rows) if isinstance(rows, Iterable) else [rows]
    if listed and isinstance(listed[0], Row):
        return type(listed[0]).to_table(listed)
    return pa.Table.from_pylist(list(map(_as_dict, listed)))


def _as_dict(row: Any) -> dict[str, Any]:
    """Return a row of any of the methods as a dict; raise UsageError for what is none."""
    if isinstance(row, BaseModel):
        return row.model_dump(mode="json")
    if is_dataclass(row) and not isinstance(row, type):
        return asdict(row)
    if not isinstance(row, dict):
        raise UsageError(
            f"A data frame is made of a table or of rows, not of {type(row).__name__}."
        )
    return row
