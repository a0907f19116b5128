"""Which documents a condition means, such as `date >= 2025-01-01 and not tags in (draft, old)`.

    condition = part (("and" | "or") part)*         "and" binds more closely
    part      = "not" part | "(" condition ")" | column test
    test      = ("=" | "!=" | "<" | "<=" | ">" | ">=" | "like") value
              | "in" "(" value ("," value)* ")" | "is" ["not"] "null"

Columns are those of `documents` and the fields of their metadata. Rows are tested here, so that
nothing of a condition reaches SQL. What a document does not have equals nothing. Texts are compared
without regard to case, lists by their members, and dates at the coarser precision of the two.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import orjson
import pyarrow.parquet as pq

from schemas.documents import Document
from schemas.errors import UsageError
from warehouse.editions import Edition

LONGEST = 2_000  # characters of a condition
DEEPEST = 20  # parentheses and `not` within each other
_COLUMNS = (
    "source", "uri", "title", "language", "version", "sensitivity", "read_at", "near_duplicate_of",
    "duplicates", "words", "labels",
)  # fmt: skip
_TOKEN = re.compile(
    r"""\s*(?:(?P<sign><=|>=|!=|<>|[=<>(),])|'(?P<single>(?:[^']|'')*)'|"(?P<double>[^"]*)"
    |(?P<plain>[^\s=<>!(),'"]+)|(?P<end>\Z)|(?P<bad>.))""",
    re.VERBOSE | re.DOTALL,
)
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d.*)?)?)?")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Test = Callable[[Any], bool]


def documents_where(edition: Edition, condition: str) -> frozenset[str]:
    """Return the ids of an edition's documents that meet a condition.

    Raises UsageError, which lists the columns there are, if it does not parse or names another.
    """
    edition.check(file := f"{Document.table}.parquet")
    there = pq.read_schema(edition.path / file).names  # older editions lack some
    own = [name for name in (*_COLUMNS, "metadata") if name in there]
    rows = pq.read_table(edition.path / file, columns=["document_id", *own]).to_pylist()
    rows = [orjson.loads(row.pop("metadata", None) or "{}") | row for row in rows]
    columns = {name for row in rows for name in row}.union(own) - {"document_id", "metadata"}
    meets = _Parser(condition, columns).parse()
    return frozenset(row["document_id"] for row in rows if meets(row))


class _Token(NamedTuple):
    """A part of a condition: the name of its group in _TOKEN, its text, and where it begins."""

    kind: str
    text: str
    start: int


class _Parser:
    """Reads a condition from left to right, one token ahead."""

    def __init__(self, condition: str, columns: Iterable[str]) -> None:
        self._condition, self._columns = condition, sorted(columns)
        if len(condition) > LONGEST:
            raise self._error(f"it is longer than {LONGEST:,} characters")
        found = ((one.lastgroup or "", one) for one in _TOKEN.finditer(condition))
        self._tokens = iter([_Token(kind, one[kind], one.start(kind)) for kind, one in found])
        self._token = next(self._tokens)

    def parse(self) -> Test:
        """Return the test of a document's values by column."""
        meets = self._joined("or", 0)
        if self._token.kind != "end":
            raise self._missing("`and`, `or` or the end")
        return meets

    def _take(self, *words: str) -> str:
        """Return the next token, and go on, if it is one of these words; else nothing."""
        kind, text, _ = self._token
        if kind not in ("sign", "plain") or text.lower() not in words:
            return ""
        self._token = next(self._tokens)
        return text.lower()

    def _require(self, word: str) -> None:
        if not self._take(word):
            raise self._missing(f"`{word}`")

    def _value(self, wanted: str = "a value") -> _Token:
        token = self._token
        if token.kind in ("sign", "end", "bad"):
            raise self._missing(wanted)
        self._token = next(self._tokens)
        return token._replace(text=token.text.replace("''", "'"))

    def _joined(self, word: str, depth: int) -> Test:
        """Return what parts joined by a word test together."""
        part, holds = (self._part, all) if word == "and" else (self._all_of, any)
        parts = [part(depth)]
        while self._take(word):
            parts.append(part(depth))
        return lambda row: holds(meets(row) for meets in parts)

    def _all_of(self, depth: int) -> Test:
        return self._joined("and", depth)

    def _part(self, depth: int) -> Test:
        if depth > DEEPEST:
            raise self._error(f"more than {DEEPEST} parts lie within each other")
        if self._take("not"):
            return _denied(self._part(depth + 1))
        if self._take("("):
            inner = self._joined("or", depth + 1)
            self._require(")")
            return inner
        column = self._value("a column").text
        name = next((known for known in self._columns if known.lower() == column.lower()), None)
        if name is None:
            raise self._error(f"{column!r} is no column")
        test = self._test()
        return lambda row: test(row.get(name))

    def _test(self) -> Test:
        if self._take("is"):
            present = self._take("not")
            self._require("null")
            return _is_there if present else _denied(_is_there)
        if self._take("in"):
            self._require("(")
            tests = [_compared("=", self._value())]
            while self._take(","):
                tests.append(_compared("=", self._value()))
            self._require(")")
            return lambda value: any(test(value) for test in tests)
        sign = self._take("!=", "<>", "like", *_SIGNS)
        if not sign:
            raise self._missing("`=`, `!=`, `<`, `<=`, `>`, `>=`, `like`, `in` or `is`")
        if sign in ("!=", "<>"):
            return _denied(_compared("=", self._value()))
        return _compared(sign, self._value())

    def _missing(self, wanted: str) -> UsageError:
        rest = self._condition[self._token.start :].strip()[:40]
        return self._error(f"{wanted} is missing at {repr(rest) if rest else 'the end'}")

    def _error(self, words: str) -> UsageError:
        return UsageError(
            f"The condition {self._condition[:200]!r} cannot be used: {words}. It has the form of "
            f"date >= 2025-01-01 and author = 'Ada Lovelace'. The columns: "
            f"{', '.join(self._columns)}."
        )


def _is_there(value: Any) -> bool:
    return value is not None and value != []


def _denied(test: Test) -> Test:
    return lambda value: not test(value)


def _compared(sign: str, word: _Token) -> Test:
    """Return the comparison of a value, or of a list's members, with a word of the condition."""
    if sign == "like":
        escaped = re.escape(word.text).replace("%", ".*").replace("_", ".")
        like = re.compile(escaped, re.IGNORECASE | re.DOTALL).fullmatch

    def holds(value: Any) -> bool:
        text = value.isoformat() if hasattr(value, "isoformat") else str(value)
        if sign == "like":
            return like(text) is not None
        pair = _comparable(text, word)
        return pair is not None and _SIGNS[sign](*pair)

    return lambda value: any(
        holds(one) for one in (value if isinstance(value, list) else [value]) if one is not None
    )


def _comparable(value: str, word: _Token) -> tuple[Any, Any] | None:
    """Return a value and a word as dates, numbers or texts; None if they are of two kinds."""
    text = word.text
    if _DATE.fullmatch(value) and _DATE.fullmatch(text):
        exactness = min(len(value), len(text))
        return value[:exactness].replace(" ", "T"), text[:exactness].replace(" ", "T")
    if _NUMBER.fullmatch(value) and _NUMBER.fullmatch(text):
        return float(value), float(text)
    if word.kind == "plain" and (_DATE.fullmatch(text) or _NUMBER.fullmatch(text)):
        return None
    return value.casefold(), text.casefold()
