"""Analysts' queries: nothing dangerous works, everything harmless does, limits hold."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from schemas import EDITION, LIVE, LIVE_VIEWS, VIEWS
from schemas.errors import AlmanacError, DamageError, UsageError
from schemas.operations import Run
from schemas.settings import SqlSettings
from warehouse import sql_check, sql_session, sql_worker
from warehouse.journal import Journal
from warehouse.sql_process import SqlProcess
from warehouse.sql_session import SqlResult, duckdb_type, live_parts, live_tables, run_sql

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

DANGEROUS = [
    "select * from read_csv('{file}')",
    "select * from read_text('{file}')",
    "select * from read_blob('{file}')",
    "select * from read_json('{file}')",
    "select * from read_parquet('{file}')",
    "select * from parquet_metadata('{file}')",
    "select * from sniff_csv('{file}')",
    "select * from '{file}'",
    "select * from glob('{folder}/*')",
    "select * from read_csv('https://example.org/a.csv')",
    "select * from read_parquet('s3://bucket/a.parquet')",
    "copy triples to '{folder}/out.csv'",
    "copy (select 1) to '{folder}/out.parquet' (format parquet)",
    "copy triples from '{file}'",
    "export database '{folder}/out'",
    "import database '{folder}'",
    "attach '{folder}/other.duckdb' as other",
    "attach ':memory:' as other",
    "detach edition",
    "install httpfs",
    "load httpfs",
    "load json",
    "set enable_external_access = true",
    "set memory_limit = '100GB'",
    "reset memory_limit",
    "set threads = 64",
    "set search_path = 'memory.main'",
    "set temp_directory = '{folder}'",
    "pragma threads = 64",
    "pragma enable_profiling",
    "pragma profiling_output = '{folder}/out.json'",
    "pragma database_list",
    "select getenv('HOME')",
    "select * from duckdb_secrets()",
    "create secret (type s3, key_id 'a', secret 'b')",
    "call enable_logging()",
    "call pragma_version()",
    "use memory",
    "begin",
    "commit",
    "commit; insert into memory.main.runs (run_id) values ('x')",
    "checkpoint",
    "vacuum",
    "create macro f(x) as x",
    "create temp table t (a int)",
    "create table memory.main.t (a int)",
    "create view v as select 1",
    "create schema s",
    "prepare q as select 1",
    "select * from edition_arrow",
    "select 1; select 2",
    "explain analyze copy triples to '{folder}/out.csv'",
    "explain analyze insert into runs (run_id) values ('x')",
    "with x as (insert into runs (run_id) values ('x') returning *) select * from x",
    "select * from query('drop table triples')",
    "select path from duckdb_databases()",
    "from duckdb_databases",
    'select * from "DUCKDB_settings"()',
    "from pg_catalog.pg_settings",
    "from duckdb_extensions()",
    "from query('from duckdb_' || 'databases()')",
    "from query /* */ ('from duckdb_' || 'databases()')",
    "from query -- \n ('from duckdb_' || 'databases()')",
    "from \"query\"(e'from duckdb_\\x64atabases()')",
    "from query_table('duckdb_' || 'databases')",
    "from query('from query(''from duckdb_'' || ''databases()'')')",
    "select current_setting('allowed_' || 'paths')",
    "from json_execute_serialized_sql(json_serialize_sql('from duckdb_' || 'databases()'))",
    "",
]

HARMLESS = [
    "select 1",
    "select count(*) from triples join entities on head_id = entity_id",
    "with a as (select 1 as b) select * from a",
    "from triples limit 1",
    "values (1), (2)",
    "table entities",
    "describe triples",
    "show tables",
    "show all tables",
    "summarize triples",
    "explain select * from triples",
    "explain analyze select * from triples",
    "pragma table_info('triples')",
    "pivot triples on relation using count(*)",
    "select * from conflicts",
    "select * from information_schema.tables",
    "from query('from triples')",
    "from query_table(['triples', 'triples'])",
    "select current_setting('TimeZone')",
]

# Other ways to write what is refused, and what looks like it.
DISGUISED = [
    "from query('select path from duckdb_'\n'databases()')",
    "from query_table('duckdb_'\n'databases')",
    "from query_table(('xduckdb_databases')[2:])",
    "from query_table([case when true then 'triples' end])",
    "from histogram_values(duckdb_databases, path)",
    "from query($$from duckdb_$$ || $$databases()$$)",
    "with q as (select * from system.main.duckdb_settings()) from q",
    "select (select path from main.pragma_database_list limit 1)",
    "describe (from query('from ' || 'triples'))",
    "explain analyze from query('from ' || 'triples')",
    "/* */ explain from duckdb_settings()",
    "pivot (from duckdb_databases()) on path using count(*)",
    "from (pivot triples on relation using count(*)), query('from tri' || 'ples')",
    "show temp_directory",
    "show allowed_paths",
    "select current_setting('home_'\n'directory')",
    "select json_serialize_plan('from triples')",
    "select nextval('s'), sleep_ms(10), write_log('x')",
    "select current_setting(upper('x'))",
    "from duckdb_memory()",
    "from pragma_storage_info('triples')",
    "from which_secret('a', 's3')",
]
INNOCENT = [
    "from query_table(['triples', 'triples'], true)",
    "from histogram_values(triples, support)",
    "from query('from query_'\n'table(''triples'')')",
    "explain from triples pivot (count(*) for relation in ('be'))",
    "from (describe triples)",
    "show memory_limit",
    "select [x || 'a' for x in ['b']], list_filter([1], lambda x: x > 0), 'a' similar to 'b',"
    " 'x' like '_', extract(year from date '2020-01-01'), current_date, 3!, {'a': 1}",
    "select rank() over (order by name), lag(name) over () from entities",
    "select columns('name|kind') from entities",
    "select unnest(range(3)), x.value from json_each('[1]') x",
    "from duckdb_columns() join pg_catalog.pg_class on relname = table_name",
    "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) from t",
    "select regexp_replace('a', 'a', 'b'), now(), json_extract('{\"a\": 1}', 'a')",
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("edition") / "almanac.duckdb"
    with duckdb.connect(str(path)) as connection:
        for row in EDITION:
            columns = ", ".join(f"{f.name} {duckdb_type(f.type)}" for f in row.arrow_schema())
            connection.execute(f"create table {row.table} ({columns})")
        connection.execute("insert into entities (entity_id, name) values ('e1', 'Ada')")
        connection.execute(
            "insert into triples (triple_id, head_id, relation) values ('t1', 'e1', 'be')"
        )
        connection.execute("create view conflicts as select * from triples where support > 1")
    return path


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    folder = tmp_path_factory.mktemp("live")
    parts = []
    for number in range(2):
        part = folder / f"{number}.parquet"
        table = Run.to_table([run("both", number), run(f"run-{number}", number)])
        # An older version of the schema lacked the last column.
        pq.write_table(table if number else table.drop_columns(["error"]), part)
        parts.append(part)
    return {"runs": parts}


def run(run_id: str, number: int) -> Run:
    same = {"flow": "refresh_knowledge", "started_at": MOMENT, "counts": "{}", "code_version": "1"}
    return Run(run_id=run_id, outcome=["running", "done"][number], **same)


def values(result: SqlResult) -> list[list[object]]:
    return list(result.rows())


def connected(database: Path, live: dict[str, list[Path]], query: str) -> duckdb.DuckDBPyConnection:
    limits = SqlSettings().model_dump()
    request = {"database": str(database), "live": live_tables(live, query), **limits}
    return sql_worker.connect(request)


def in_worker(database: Path, live: dict[str, list[Path]], query: str) -> dict[str, Any]:
    """Do what the worker does, without the cost of a process."""
    with connected(database, live, query) as connection:
        sql_check.check(connection, query)
        return sql_worker.write_rows(connection, query)


@pytest.mark.parametrize("query", DANGEROUS)
def test_dangerous_statement_is_refused(query, database, live, tmp_path, capsys):
    file = tmp_path / "secret.csv"
    file.write_text("canary\n1\n")
    before = database.read_bytes()
    with pytest.raises((duckdb.Error, sql_check.RefusedError)):
        in_worker(database, live, query.format(file=file, folder=tmp_path))
    assert "canary" not in capsys.readouterr().out
    assert database.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_no_table_can_be_changed(database, live):
    with connected(database, live, "runs") as connection:
        for row in (*EDITION, *LIVE):
            for change in ("delete from {}", "drop table {}", "alter table {} add column z int"):
                query = change.format(row.table)
                with pytest.raises(sql_check.RefusedError):
                    sql_check.check(connection, query)
                # The second guard holds where the first is passed by.
                with pytest.raises(duckdb.Error):
                    connection.execute(query)


def test_no_setting_shows_a_place_on_this_machine(database, live):
    with connected(database, live, "runs") as connection:
        settings = connection.execute("select name, value from duckdb_settings()").fetchall()
    # The two that say what may be read anyway are not shown at all.
    shown = {name: value for name, value in settings if not name.startswith("allowed_")}
    assert shown["secret_directory"] == "/dev/null"
    places = {name: (value or "").replace("/dev/null", "") for name, value in shown.items()}
    assert [one for one in places.items() if re.search("/[a-z]", one[1])] == []


def test_errors_do_not_tell_where_files_lie(database):
    request = {"database": str(database), "live": {"runs": {"paths": ["/home/ada/live/runs/1"]}}}
    message = f"IO Error: {database} is broken, and so is /home/ada/live/runs/1"
    shown = sql_worker.without_folders(message, request)
    assert shown == "IO Error: almanac.duckdb is broken, and so is 1"


@pytest.mark.parametrize("query", HARMLESS)
def test_harmless_statement_works(query, database, live, capsys):
    summary = in_worker(database, live, query)
    assert summary["columns"]
    assert len(capsys.readouterr().out.splitlines()) == summary["rows"]


@pytest.fixture(scope="module")
def connection(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with connected(database, {}, "") as opened:
        yield opened


@pytest.mark.parametrize("query", DISGUISED)
def test_what_duckdb_parsed_decides_not_how_it_is_written(query, connection):
    with pytest.raises(sql_check.RefusedError):
        sql_check.check(connection, query)


@pytest.mark.parametrize("query", INNOCENT)
def test_a_query_that_names_nothing_outside_works(query, connection):
    sql_check.check(connection, query)
    assert connection.execute(query).description


@pytest.mark.parametrize(
    "query", ["drop table triples", "select 1; select 2", "from read_text('/etc/passwd')"]
)
def test_refusals_are_explained(query, database):
    with pytest.raises(UsageError, match="Refused"):
        run_sql(database, {}, query)


def test_literals_joined_over_lines_are_read_as_one_and_in_linear_time():
    with duckdb.connect() as con, pytest.raises(sql_check.RefusedError, match="not shown"):
        sql_check.check(con, "from query(" + "''\n" * 5_000 + "'from duckdb_'\n'databases')")


@pytest.mark.parametrize("query", ["", " ;", "-- nothing but a comment"])
def test_an_empty_query_is_told_that_it_is_one(query):
    with duckdb.connect() as con, pytest.raises(sql_check.RefusedError, match="no statement"):
        sql_check.check(con, query)


def test_live_tables_stand_beside_the_edition(database, live):
    query = "select run_id, started_at, outcome, error from runs order by run_id"
    result = run_sql(database, live, query)
    assert values(result) == [
        ["both", "2026-01-02T03:04:05+00:00", "done", None],
        ["run-0", "2026-01-02T03:04:05+00:00", "running", None],
        ["run-1", "2026-01-02T03:04:05+00:00", "done", None],
    ]
    assert values(run_sql(database, live, "select count(*) from answers")) == [[0]]
    shown = {row[0] for row in values(run_sql(database, live, "show tables"))}
    assert shown == {row.table for row in (*EDITION, *LIVE, *VIEWS, *LIVE_VIEWS)}


def test_only_the_live_tables_that_a_query_mentions_are_read(tmp_path):
    journal = Journal(tmp_path)
    journal.append({Run: Run.to_table([run("one", 0)])})
    assert live_parts(journal, "select 1") == {}
    assert live_parts(journal, 'select * from "RUNS"') == {"runs": [*tmp_path.glob("runs/*")]}
    assert live_parts(journal, "summarize triples").keys() == {row.table for row in LIVE}
    [part] = tmp_path.glob("runs/*")
    part.write_bytes(b"damaged")
    anew = Journal(tmp_path)
    assert live_parts(anew, "select count(*) from answers") == {"answers": []}
    with pytest.raises(DamageError, match=part.name):
        live_parts(anew, "select count(*) from runs")


def test_a_live_table_counts_where_an_older_edition_has_one_of_its_name(tmp_path, live):
    path = tmp_path / "almanac.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table runs (run_id varchar)")
    assert values(run_sql(path, live, "select count(*) from runs")) == [[3]]


def test_values_become_plain_json(database):
    query = """select date '1934-07-04' d, 'nan'::double n, 'infinity'::double i, 1.50 as p,
        123456789012345678901234567890::decimal(38,0) as big, [1, null] l, {'a': 1} s,
        map {'k': date '2020-01-01'} m, 'é\x1b[31m' t, '\\xFF'::blob b, 2::hugeint h,
        time '10:00' tm, timestamp '2020-01-01' ts, interval 1 minute iv, true as yes, 1 as d"""
    result = run_sql(database, {}, query)
    assert result.columns[-1] == "d_1"
    row = dict(zip(result.columns, values(result)[0], strict=True))
    assert row == {
        "d": "1934-07-04",
        "n": None,
        "i": None,
        "p": 1.5,
        "big": "123456789012345678901234567890",
        "l": [1, None],
        "s": {"a": 1},
        "m": {"k": "2020-01-01"},
        "t": "é\x1b[31m",
        "b": "ff",
        "h": 2,
        "tm": "10:00:00",
        "ts": "2020-01-01T00:00:00",
        "iv": 60.0,
        "yes": True,
        "d_1": 1,
    }
    assert json.dumps(row, allow_nan=False)


def test_time_limit_holds(database):
    query = "select count(*) from range(10000000000) a, range(1000) b where a.range % 7 = b.range"
    started = time.monotonic()
    with pytest.raises(AlmanacError, match="1 seconds"):
        run_sql(database, {}, query, SqlSettings(seconds=1))
    assert time.monotonic() - started < 4


@pytest.mark.parametrize(
    "query",
    [
        "select list(range) from range(1000000000)",
        "select repeat('x', 1000000000) || repeat('y', 1000000000)",
        "select count(*) from (select * from range(20000000) t(a) order by hash(a) limit 9000000)",
        "select list(repeat('ab', 100) || a) from range(1000000) t(a)",
    ],
)
def test_memory_limit_holds(query, database):
    with pytest.raises(AlmanacError, match="memory"):
        run_sql(database, {}, query, SqlSettings(memory_mb=200, seconds=30))


def test_a_row_is_no_longer_than_its_reader_can_hold(database):
    with pytest.raises(AlmanacError, match="a row has 11,000,000 characters"):
        run_sql(database, {}, "select repeat('x', 11000000)", SqlSettings(memory_mb=200))


def test_a_lower_limit_of_the_system_is_kept(database):
    request = {"database": str(database), "live": {}, "query": "select 1"}
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 100; {sys.executable} -m warehouse.sql_worker"],
        input=json.dumps(request | SqlSettings().model_dump()),
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[1]\n", done.stderr


def test_mistakes_are_explained_in_one_line(database):
    with pytest.raises(UsageError) as error:
        run_sql(database, {}, "select nme from entities")
    assert "nme" in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(UsageError):
        run_sql(database, {}, "selec 1")
    with pytest.raises(UsageError, match="longer"):
        run_sql(database, {}, "-" * (sql_session.MAX_QUERY_CHARS + 1))


def test_worker_sees_no_environment(database, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    process = SqlProcess()
    environment = Path(f"/proc/{process._worker.pid}/environ")
    if not environment.exists():
        pytest.skip("this system does not show the environment of a process")
    assert environment.read_bytes() == b""
    assert values(run_sql(database, {}, "select 1", process=process)) == [[1]]
