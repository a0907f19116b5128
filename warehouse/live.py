"""Live records: runs, answers, calls, refusals and measurements, readable as they are written."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from schemas.row import Row
from warehouse.journal import Journal


def record(live: Journal, *rows: Row) -> None:
    """Write rows durably, those of one table in one part."""
    record_all(live, {type(row): [r for r in rows if type(r) is type(row)] for row in rows})


def record_all(live: Journal, rows: Mapping[type[Row], Iterable[Row | Mapping[str, Any]]]) -> None:
    """Write rows of several tables durably, in one commit."""
    live.append({row: row.to_table(list(found)) for row, found in rows.items()})


def latest(live: Journal, row: type[Row]) -> pa.Table:
    """Return a live table as it stands: of the rows with one key, the last one written."""
    table = live.table(row)
    last = {
        key: place
        for place, key in enumerate(zip(*(table[k].to_pylist() for k in row.key), strict=True))
    }
    return table.take(pa.array(sorted(last.values()), pa.int64()))
