"""What a query may do: read tables, by functions that reach nothing else.

DuckDB's own syntax tree decides, not the text, which can be written in many ways. Functions are
those of `sql/functions.txt`; what is on no list is refused, so a newer DuckDB opens nothing.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import duckdb

# Statements that only read. MULTI is PIVOT, which DuckDB rewrites to several statements.
ALLOWED = frozenset({"SELECT", "EXPLAIN", "MULTI"})
ALLOWED_PRAGMA = re.compile(r"\s*pragma\s+(table_info|show_tables|show|version)\b", re.IGNORECASE)
EXPLAIN = re.compile(r"\s*explain(\s+analyze)?\b", re.IGNORECASE)
TABLE_FUNCTIONS = frozenset(
    """
    unnest range generate_series repeat repeat_row json_each json_tree duckdb_tables
    duckdb_columns duckdb_views duckdb_schemas duckdb_types duckdb_functions duckdb_keywords
    duckdb_constraints duckdb_indexes pragma_table_info pragma_show pragma_version
    pg_timezone_names icu_calendar_names
    """.split()  # noqa: SIM905
)
TAKES_TABLES = frozenset({"query_table", "histogram", "histogram_values"})
# DuckDB's own views that show no place on this machine, beside those of information_schema.
CATALOG = frozenset(
    """
    character_sets check_constraints columns constraint_column_usage constraint_table_usage
    key_column_usage referential_constraints schemata tables table_constraints views
    duckdb_columns duckdb_constraints duckdb_indexes duckdb_schemas duckdb_tables duckdb_types
    duckdb_views sqlite_master sqlite_schema pg_attribute pg_class pg_constraint pg_description
    pg_index pg_indexes pg_namespace pg_tables pg_type pg_views
    """.split()  # noqa: SIM905
)
SETTINGS = frozenset(
    """
    timezone calendar threads memory_limit default_order default_null_order search_path schema
    """.split()  # noqa: SIM905
)
DEEPEST_QUERY = 20  # of queries in the text of queries
WORD = re.compile(r"\w+")

Tree = dict[str, Any]


class RefusedError(Exception):
    """The query asks for more than reading."""


def check(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Refuse everything except a single statement that only reads the tables."""
    statements = connection.extract_statements(query)
    if not statements:
        raise RefusedError("there is no statement")
    if len(statements) != 1:
        raise RefusedError(f"one statement at a time, please; these are {len(statements)}")
    kind = statements[0].type.name
    if kind == "PRAGMA" and ALLOWED_PRAGMA.match(query):
        return
    if kind not in ALLOWED:
        raise RefusedError(f"this only reads the tables, and {kind} does not")
    explained = EXPLAIN.match(query) if kind == "EXPLAIN" else None
    _Check(connection).check(query[explained.end() :] if explained else query)


class _Check:
    """The check of one query, and of those that it has as texts."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        names = "select distinct lower(view_name) from duckdb_views() where internal"
        self._hidden_views = self._names(names) - CATALOG
        self._settings = self._names("select lower(name) from duckdb_settings()") - SETTINGS

    def check(self, query: str, depth: int = 0) -> None:
        """Refuse a query with a function, view or setting that is on no list."""
        if depth > DEEPEST_QUERY:
            raise RefusedError("queries within queries are nested too deeply")
        rows = self._connection.execute("select json_serialize_sql(?)", [query]).fetchall()
        try:
            parsed = json.loads(rows[0][0])
        except RecursionError:
            raise RefusedError("the query is nested too deeply") from None
        if parsed["error"]:  # a pivot over values that are not listed
            self._check_words(query)
            return
        for node in _nodes(parsed):
            self._check_node(node, depth)

    def _check_node(self, node: Tree, depth: int) -> None:
        match node:
            case {"type": "TABLE_FUNCTION", "function": function}:
                # Its arguments are still to come, its name is not.
                self._check_table_function(
                    function.pop("function_name").casefold(), function, depth
                )
            case {"type": "BASE_TABLE", "qualified_name": {"path": path}}:
                self._check_view(path[-1])
            case {"type": "SHOW_REF", "query": None, "table_name": name}:
                self._check_setting(name.strip('"'))
            case {"function_name": "current_setting", "arguments": arguments}:
                for argument in arguments:
                    self._check_setting(_plain_text(argument["expression"], "current_setting"))
            case {"function_name": name} if (
                WORD.search(name) and name.casefold() not in _functions()
            ):
                raise _not_among(name)

    def _check_table_function(self, name: str, node: Tree, depth: int) -> None:
        arguments = [argument["expression"] for argument in node["arguments"]]
        if name == "query":
            for argument in arguments:
                self.check(_plain_text(argument, name), depth + 1)
        elif name in TAKES_TABLES:
            for part in _nodes(arguments):
                self._check_table_name(part, name)
        elif name not in TABLE_FUNCTIONS:
            raise _not_among(name)

    def _check_table_name(self, part: Tree, function: str) -> None:
        match part:
            case {"class": "CONSTANT", "literal": {"text": text}}:
                for word in WORD.findall(str(text)):
                    self._check_view(word)
            case {"class": "COLUMN_REF", "column_names": names}:
                self._check_view(names[-1])
            case {"class": "FUNCTION", "function_name": "list_value"} | {"class": "CONSTANT"}:
                pass
            case {"class": _}:
                raise RefusedError(f"{function}() takes a plain text between quotes here")

    def _check_view(self, name: str) -> None:
        if name.casefold() in self._hidden_views:
            raise RefusedError("settings and the places of files are not shown")

    def _check_setting(self, name: str) -> None:
        if name.casefold() in self._settings:
            raise RefusedError("settings and the places of files are not shown")

    def _check_words(self, query: str) -> None:
        """Refuse a text that has, even in quotes or comments, the name of what is on no list."""
        text = query.casefold()
        known = self._names("select distinct lower(function_name) from duckdb_functions()")
        hidden = (known - _functions() - TABLE_FUNCTIONS) | self._hidden_views | {"query"}
        for word in WORD.findall(text):
            if word in hidden:
                raise RefusedError(f"{word}() cannot be used with this kind of statement")
        if re.search(r"u&\s*[\"']", text):
            raise RefusedError("names with escapes cannot be used with this kind of statement")

    def _names(self, query: str) -> frozenset[str]:
        return frozenset(name for (name,) in self._connection.execute(query).fetchall())


@cache
def _functions() -> frozenset[str]:
    text = files(__package__).joinpath("sql", "functions.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def _nodes(tree: Any) -> Iterator[Tree]:
    """Yield the objects of a syntax tree, each before those in it."""
    waiting = [tree]
    while waiting:
        match waiting.pop():
            case dict(node):
                yield node
                waiting += node.values()
            case list(parts):
                waiting += parts


def _not_among(function: str) -> RefusedError:
    return RefusedError(f"{function}() is not among the functions that queries may use")


def _plain_text(argument: Tree, function: str) -> str:
    """Return the argument of a function that takes SQL or a name, which must not be computed."""
    match argument:
        case {"literal": {"kind": "STRING", "text": text}}:
            return str(text)
    raise RefusedError(f"{function}() takes a plain text between quotes here")
