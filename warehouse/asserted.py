"""Views of asserted facts: neither denied nor wished, supposed, reported, asked or due."""

import duckdb

ASSERTED = {"polarity": "positive", "modality": "asserted"}
"""The columns of triples and statements, and what they hold in a row that is asserted."""


def create_asserted(con: duckdb.DuckDBPyConnection, kind: str = "") -> None:
    """Create `asserted_triples` and `asserted_statements` over the tables that the connection has.

    `kind` is "temp" where the database is read-only. Views that exist stay. An edition from before
    rows had polarity and modality holds nothing but assertions, and may have no statements; one
    from before `clauses` published them all, so that this is a view of them.
    """
    if _columns(con, "statements") and not _columns(con, "clauses"):
        # Neither takes parameters; the kind is a constant of the program.
        con.execute(f"create {kind} view clauses as from statements")
    for table in ("triples", "statements"):
        if _columns(con, table) and not _columns(con, f"asserted_{table}"):
            create_asserted_view(con, table, kind)


def create_asserted_view(con: duckdb.DuckDBPyConnection, table: str, kind: str = "") -> None:
    """Create the view of one of these tables, which a new database cannot have.

    It takes DuckDB ten milliseconds to say that there is none.
    """
    # Views take no parameters; tables, kinds, names and values are constants of the program.
    rows, columns = f"from {table}", _columns(con, table)
    for column, value in ASSERTED.items():
        if column not in columns:
            rows = f"from (select *, '{value}' as {column} {rows})"
    plain = " and ".join(f"{column} = '{value}'" for column, value in ASSERTED.items())
    con.execute(f"create {kind} view asserted_{table} as select * {rows} where {plain}")


def _columns(con: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    """Return the columns of a table or view, none if it does not exist."""
    try:
        return con.table(table).columns
    except duckdb.CatalogException:
        return []
