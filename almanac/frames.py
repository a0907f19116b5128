"""Results as data frames whose columns keep their types: whole numbers stay whole beside nulls."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from schemas.row import Row

if TYPE_CHECKING:
    import pandas
    import polars


def to_pandas(rows: "pa.Table | Iterable[Row]") -> "pandas.DataFrame":
    """Return a table, or rows such as those of `facts()`, as a data frame of Arrow's types."""
    import pandas

    return _table(rows).to_pandas(types_mapper=pandas.ArrowDtype)


def to_polars(rows: "pa.Table | Iterable[Row]") -> "polars.DataFrame":
    """Return a table, or rows such as those of `facts()`, as a data frame of Polars."""
    import polars

    frame = polars.from_arrow(_table(rows))
    assert isinstance(frame, polars.DataFrame)
    return frame


def _table(rows: "pa.Table | Iterable[Row]") -> pa.Table:
    if isinstance(rows, pa.Table):
        return rows
    listed = list(rows)
    return type(listed[0]).to_table(listed) if listed else pa.table({})
