"""The child process that runs one analyst's query on one edition, without any other access.

It is started by `warehouse.sql_session` with an empty environment. The request comes as JSON on
standard input; rows go to standard output, one JSON array per line; standard error ends with one
JSON object: the columns and the row count, or the error. There are four layers of defence: few
kinds of statement, a locked configuration without external access, a read-only transaction, and the
operating system's limits on memory, time and file size.
"""

import json
import math
import resource
import signal
import sys
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb

from warehouse.asserted import create_asserted
from warehouse.quoting import quoted_name, quoted_text
from warehouse.sql_check import RefusedError, check

# Python, DuckDB's code and thread stacks take address space that the query does not use.
BASE_ADDRESS_SPACE = 1 << 30
MAX_RESULT_BYTES = 4 << 30
ROWS_AT_ONCE = 64
ROW_SHARE = 1 / 20  # of the memory: this process and its reader hold a row several times
READER_BYTES = 128 << 20  # that the process which shows the result needs
# The rest is for Python, which turns rows into text.
DUCKDB_SHARE = 0.8
# A float holds decimals of this many digits exactly as written.
FLOAT_DIGITS = 15
NOWHERE = "/dev/null"


def main() -> int:
    """Run the request on standard input; return the exit code."""
    request = json.load(sys.stdin.buffer)
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    try:
        limit_process(request["seconds"], request["memory_mb"])
        connection = connect(request)
        check(connection, request["query"])
        parameters = received(request.get("parameters"))
        memory = request["memory_mb"] * (1 << 20)
        limit_growth(memory)
        summary = write_rows(connection, request["query"], parameters, int(memory * ROW_SHARE))
    except RefusedError as refusal:
        return fail("refused", str(refusal))
    except (MemoryError, duckdb.OutOfMemoryException):
        return fail("memory", "")
    except duckdb.Error as error:
        return fail(type(error).__name__, without_folders(str(error), request))
    except OSError as error:
        return fail("result", str(error))
    print(json.dumps(summary), file=sys.stderr)
    return 0


def fail(kind: str, message: str) -> int:
    """Report an error; return the exit code."""
    print(json.dumps({"error": kind, "message": message}), file=sys.stderr)
    return 1


def without_folders(message: str, request: dict[str, Any]) -> str:
    """Return a message without the folders of the almanac's files."""
    paths = [request["database"], *(p for live in request["live"].values() for p in live["paths"])]
    for folder in sorted({path.rpartition("/")[0] for path in paths}, key=len, reverse=True):
        message = message.replace(f"{folder}/", "")
    return message


def limit_process(seconds: float, memory_mb: int) -> None:
    """Let the operating system end this process when it takes too much time or memory."""
    # Without a handler the signal ends the process even inside DuckDB's own code. The parent kills
    # it earlier, unless the parent is gone.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(math.ceil(seconds) + 1)
    space = memory_mb * 5 // 4 * (1 << 20) + BASE_ADDRESS_SPACE
    lower_limit(resource.RLIMIT_AS, space)
    lower_limit(resource.RLIMIT_FSIZE, MAX_RESULT_BYTES)
    lower_limit(resource.RLIMIT_CORE, 0)


def limit_growth(memory: int) -> None:
    """Let this process and the one that reads its rows hold `memory` bytes together (on Linux).

    DuckDB counts what its buffers hold, not the lists and texts that aggregates collect.
    """
    if not sys.platform.startswith("linux"):
        return
    with Path("/proc/self/statm").open(encoding="ascii") as numbers:
        _, resident, _, _, _, data, _ = (
            int(n) * resource.getpagesize() for n in numbers.read().split()
        )
    room = max(memory - resident - READER_BYTES, memory // 2)
    lower_limit(resource.RLIMIT_DATA, data + room)


def lower_limit(kind: int, limit: int) -> None:
    """Set a limit of the operating system, or keep the lower one that this process was given."""
    given = resource.getrlimit(kind)[1]
    lower = limit if given == resource.RLIM_INFINITY else min(limit, given)
    resource.setrlimit(kind, (lower, lower))


def connect(request: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return a connection to the edition with the live tables beside it, locked down."""
    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{int(request['memory_mb'] * DUCKDB_SHARE)}MiB",
            "threads": request["threads"],
            # The size alone does not keep DuckDB 2.0 from spilling to the disk.
            "temp_directory": "",
            "max_temp_directory_size": "0KiB",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
            # Analysts can see all settings.
            "extension_directory": NOWHERE,
            "home_directory": NOWHERE,
            "secret_directory": NOWHERE,
        },
    )
    # ATTACH takes no parameters; the path is that of an edition.
    connection.execute(f"attach {quoted_text(request['database'])} as edition (read_only)")
    for name, live in request["live"].items():
        add_live_table(connection, name, live)
    connection.execute("set search_path = 'memory.main,edition.main'")
    create_asserted(connection)
    if request["live"]:
        view = files(__package__).joinpath("sql", "bandit_arms.sql")
        connection.execute(view.read_text(encoding="utf-8"))
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    connection.execute("begin transaction read only")
    return connection


def add_live_table(connection: duckdb.DuckDBPyConnection, name: str, live: dict[str, Any]) -> None:
    """Create a live table in memory and fill it from its parts, which may have older schemas.

    Parts are in the order in which they were written; of rows with the same key the last counts.
    """
    # Names take no parameters; they come from the classes in `schemas`, never from input.
    table = f"memory.main.{quoted_name(name)}"
    columns = ", ".join(f"{quoted_name(c)} {kind}" for c, kind in live["columns"].items())
    connection.execute(f"create table {table} ({columns})")
    if live["paths"]:
        key = ", ".join(map(quoted_name, live["key"]))
        connection.execute(
            f"""insert into {table} by name
            select {", ".join(map(quoted_name, live["columns"]))} from (
                select * from {table}
                union all by name
                from read_parquet($1, union_by_name = true, filename = true, file_row_number = true)
            )
            qualify row_number() over (
                partition by {key}
                order by list_position($1, filename) desc, file_row_number desc
            ) = 1""",
            [live["paths"]],
        )


def received(parameters: Any) -> Any:
    """Return a query's parameters as they were before they were sent as JSON."""
    if isinstance(parameters, list):
        return [received(value) for value in parameters]
    if not isinstance(parameters, dict):
        return parameters
    [(kind, value)] = parameters.items()
    if kind == "named":
        return {name: received(one) for name, one in value.items()}
    return (datetime if kind == "datetime" else date).fromisoformat(value)


def write_rows(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    parameters: Any = None,
    longest: int = MAX_RESULT_BYTES,
) -> dict[str, Any]:
    """Write the result's rows; return its columns and the number of rows.

    Raises OSError for a row of more than `longest` characters.
    """
    cursor = connection.execute(query, parameters)
    description = cursor.description or []
    rows = 0
    for row in fetched(cursor):
        # Before JSON takes as much again; more would be too much on a loaded machine, now and then.
        if (held := characters(row)) > longest:
            raise OSError(f"a row has {held:,} characters")
        values = [plain(value) for value in row]
        line = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        if len(line) > longest:
            raise OSError(f"a row has {len(line):,} characters")
        sys.stdout.write(line + "\n")
        rows += 1
    sys.stdout.flush()
    return {
        "columns": distinct([column[0] for column in description]),
        "types": [str(column[1]) for column in description],
        "rows": rows,
    }


def characters(value: Any) -> int:
    """Return how many characters and bytes the texts in a value have."""
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return len(value)
    if isinstance(value, dict):
        return characters(tuple(value)) + characters(tuple(value.values()))
    return sum(map(characters, value)) if isinstance(value, (list, tuple)) else 0


def fetched(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, holding a few at a time."""
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        yield from rows


def distinct(names: list[str]) -> list[str]:
    """Return the column names, numbering repeated ones, so that each can be a JSON key."""
    taken: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in taken:
            candidate, number = f"{name}_{number}", number + 1
        taken.append(candidate)
    return taken


def plain(value: Any) -> Any:
    """Return a value as JSON can express it: dates as ISO text, NaN and infinities as null."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return plain_decimal(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value)


def plain_decimal(value: Decimal) -> float | str | None:
    """Return a float if it keeps every digit, else the digits as text."""
    if not value.is_finite():
        return None
    return float(value) if len(value.as_tuple().digits) <= FLOAT_DIGITS else str(value)


if __name__ == "__main__":
    sys.exit(main())
