"""The documentation's queries work and find something."""

import re
from pathlib import Path

import duckdb
import pytest

import schemas
from tests.current_edition import current
from warehouse.home import Home
from warehouse.sql_session import live_parts, run_sql

PAGE = Path(__file__).resolve().parent.parent / "docs" / "queries.md"
QUERIES = dict(re.findall(r"^## (\d+\..*?)\n.*?```sql\n(.*?)```", PAGE.read_text(), re.M | re.S))


def test_there_are_twelve():
    assert len(QUERIES) == 12


@pytest.mark.parametrize("title", QUERIES)
def test_query_of_the_documentation(title, small_home):
    live = live_parts(Home(small_home).live, QUERIES[title])
    rows = list(run_sql(current(small_home).database, live, QUERIES[title]).rows())
    assert rows and any(value is not None for value in rows[0])


@pytest.mark.parametrize("title", [title for title in QUERIES if not title.startswith("9.")])
def test_another_tool_runs_it_on_the_edition(title, small_home):
    with duckdb.connect(str(current(small_home).database), read_only=True) as con:
        assert con.sql(QUERIES[title]).fetchall()


def test_the_picture_shows_tables_and_keys_as_they_are():
    """docs/tables.svg names every table of an edition, and bold columns are whole keys."""
    shown = re.findall(r'class="([tkc])">(\w+)<', PAGE.with_name("tables.svg").read_text())
    known = (*schemas.EDITION, *schemas.VIEWS, *schemas.LIVE, *schemas.LIVE_VIEWS)
    tables = {row.table: row for row in known}
    columns: dict[str, list[tuple[str, str]]] = {}
    for style, name in shown:
        if style == "t":
            columns[name] = []
        elif name != "view":
            columns[list(columns)[-1]].append((style, name))
    assert {row.table for row in schemas.EDITION} <= columns.keys() <= tables.keys()
    for table, named in columns.items():
        assert {name for _, name in named} <= tables[table].model_fields.keys(), table
        assert {name for style, name in named if style == "k"} == set(tables[table].key), table
