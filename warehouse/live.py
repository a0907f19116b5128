"""Live records: runs, answers, calls, refusals and measurements, readable as soon as written."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas.row import Row
from warehouse.journal import Journal


def record(live: Journal, *rows: Row) -> None:
    """Write rows durably, those of each table in one part."""
    by_table: dict[type[Row], list[Row]] = {}
    for row in rows:
        by_table.setdefault(type(row), []).append(row)
    record_all(live, by_table)


def record_all(live: Journal, rows: Mapping[type[Row], Iterable[Row | Mapping[str, Any]]]) -> None:
    """Write rows of several tables durably, in one commit."""
    live.append({row: row.to_table(list(values)) for row, values in rows.items()})


def latest(live: Journal, row: type[Row]) -> pa.Table:
    """Return a live table's current rows: for each key, the last row written."""
    table = live.table(row)
    last = {
        key: place
        for place, key in enumerate(zip(*(table[k].to_pylist() for k in row.key), strict=True))
    }
    return table.take(pa.array(sorted(last.values()), pa.int64()))


def newest(
    live: Journal, row: type[Row], like: Mapping[str, str], count: int, columns: Sequence[str]
) -> pa.Table:
    """Return columns of a live table's last rows with the values in `like`, the oldest first.

    Reads from the newest back, until `count` rows are found or twice as many commits are read.
    """
    wanted = reduce(and_, (pc.field(column) == value for column, value in like.items()))
    tables: list[pa.Table] = []
    after = next((part.commit - 1 for part in live.parts(row)[-2 * count :]), 0)
    needed = list(dict.fromkeys([*columns, *like]))
    for table in live.tables(row, needed, after=after, newest_first=True):
        tables.append(table.filter(wanted).select(columns))
        if sum(map(len, tables)) >= count:
            break
    if not tables:
        return row.arrow_schema().empty_table().select(columns)
    return pa.concat_tables(reversed(tables))[-count:]
