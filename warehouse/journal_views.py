"""The journal's tables as DuckDB sees them: a view of each, with the commit of each row."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from schemas.row import Row
from warehouse.journal import COMMIT, Journal, Part

FEW_ROWS = 2000  # of a table that is loaded into DuckDB instead of being viewed


def register(journal: Journal, rows: Iterable[type[Row]], con: Any, upto: int) -> int:
    """Create in DuckDB a view `j_<table>` of each journal table; return how many rows they have.

    Each row has its commit, which gives the order, never a clock. Columns that older parts lack are
    null. Tables of few rows are read at once, as DuckDB takes longer to bind a view of files than
    to read them. Keep the journal `pinned` while the views are in use.
    """
    whole = 0
    for row in rows:
        parts = journal.parts(row, upto=upto)
        whole += (count := sum(part.rows for part in parts))
        name, empty = f"j_{row.table}", row.arrow_schema().append(pa.field(COMMIT, pa.int64()))
        if count <= FEW_ROWS:
            tables = journal.tables(row, empty.names, upto=upto)
            con.register(name, pa.concat_tables([empty.empty_table(), *tables]))
            continue
        con.register(f"{name}_none", empty.empty_table())
        _view(journal, con, name, parts)
    return whole


def _view(journal: Journal, con: Any, name: str, parts: Sequence[Part]) -> None:
    """Create the view of a table whose empty form is `<name>_none`."""
    rows = [f"select * from {name}_none"]
    if plain := [part for part in parts if not part.is_merged]:
        files = [str(journal.path(part)) for part in plain]
        commits = pa.table({"filename": files, COMMIT: [part.commit for part in plain]})
        con.register(f"{name}_commits", commits)
        files = list(dict.fromkeys(files))  # a part is named by its content, and may come again
        con.read_parquet(files, filename=True, union_by_name=True).create_view(f"{name}_parts")
        rows.append(
            f"select * exclude (filename) from {name}_parts join {name}_commits using (filename)"
        )
    if merged := [part for part in parts if part.is_merged]:
        files = list(dict.fromkeys(str(journal.path(part)) for part in merged))
        upto = pa.table({"last": [merged[-1].commit]})
        con.register(f"{name}_upto", upto)
        con.read_parquet(files, union_by_name=True).create_view(f"{name}_merged")
        rows.append(f"select * from {name}_merged where commit <= (select last from {name}_upto)")
    # Names of tables take no parameters; they come from the classes in `schemas`.
    con.sql(" union all by name ".join(rows)).create_view(name)
