"""`almanac sql`: runs one read-only query on a pinned edition."""

import argparse
import sys

from warehouse.sql_process import SqlProcess


def run(arguments: argparse.Namespace) -> int:
    """Print the query's result."""
    process = SqlProcess()  # started first: it loads DuckDB while this process loads the rest
    try:
        return _run(arguments, process)
    finally:
        process.end()


def _run(arguments: argparse.Namespace, process: SqlProcess) -> int:
    from flows import sql_output
    from flows.home import edition_of, home_of, reading_settings_of
    from warehouse.editions import DUCKDB_FILE
    from warehouse.sql_session import live_parts, run_sql

    query = sys.stdin.read() if arguments.query == "-" else arguments.query
    home = home_of(arguments)
    edition = edition_of(home, arguments.edition)
    live = live_parts(home.live, query)
    with edition.pinned():
        edition.check(DUCKDB_FILE)
        result = run_sql(edition.database, live, query, reading_settings_of(home).sql, process)
    sql_output.write(result, "json" if arguments.json else arguments.format)
    return 0
