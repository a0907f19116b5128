"""A DuckDB in memory for the steps of a home's builds, which share one instance.

DuckDB takes forty milliseconds to start, longer than most steps over a small corpus.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from warehouse.quoting import quoted_name

LIMITS: dict[str, Any] = {"memory_limit": "1GB", "threads": "2"}


class Scratch:
    """One instance of DuckDB, with an empty database for each user."""

    def __init__(self, spill: Path | None = None) -> None:
        """Start nothing yet; what does not fit into memory goes into a folder, if there is one."""
        self._config = LIMITS | ({"temp_directory": str(spill)} if spill else {})
        self._numbers = count(1)

    def close(self) -> None:
        """Free the memory and the folder; the next database starts an instance again."""
        self.__dict__.pop("_instance", None)

    @cached_property
    def _instance(self) -> duckdb.DuckDBPyConnection:
        return duckdb.connect(":memory:", config=self._config)

    @contextmanager
    def database(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a connection to an empty database, which is gone afterwards."""
        name = quoted_name(f"scratch_{next(self._numbers)}")
        with self._instance.cursor() as owner:  # its user may fail with an open result
            # Names take no parameters; this one is made here.
            owner.execute(f"attach ':memory:' as {name}")
            try:
                with owner.cursor() as con:
                    con.execute(f"use {name}")
                    yield con
            finally:
                owner.execute(f"detach {name}")
