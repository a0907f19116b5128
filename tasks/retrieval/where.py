"""Which documents a condition means, such as `date >= 2025-01-01 and not tags in (draft, old)`.

    condition = part (("and" | "or") part)*         "and" binds more closely
    part      = "not" part | "(" condition ")" | column test
    test      = ("=" | "!=" | "<" | "<=" | ">" | ">=" | "like") value
              | "in" "(" value ("," value)* ")" | "is" ["not"] "null"

Columns are those of `documents` and the fields of their metadata. It is evaluated here, row by row,
so that nothing of it reaches SQL. What a document does not have equals nothing. Texts are compared
without regard to case, a list by each of its members, and dates as exactly as both are given:
2025-03-07 lies in 2025-03 and is not after it.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

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
    |(?P<plain>[^\s=<>!(),'"]+))""",
    re.VERBOSE,
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
Fields = Mapping[str, Any]
Test = Callable[[Any], bool]
Condition = Callable[[Fields], bool]


def documents_where(edition: Edition, condition: str) -> frozenset[str]:
    """Return the ids of an edition's documents that meet a condition.

    Raises UsageError, which lists the columns there are, if it does not parse or names another.
    """
    edition.check(file := f"{Document.table}.parquet")
    path = edition.path / file
    there = set(pq.read_schema(path).names)  # older editions lack some
    own = [name for name in _COLUMNS if name in there]
    columns = [name for name in ("document_id", *own, "metadata") if name in there]
    rows = pq.read_table(path, columns=columns).to_pylist()
    for row in rows:
        said = orjson.loads(row.pop("metadata", None) or "{}")
        row |= {name: value for name, value in said.items() if name not in row}
    known = sorted({name for row in rows for name in row} - {"document_id"} | set(own))
    meets = _Parser(condition, known).parse()
    return frozenset(row["document_id"] for row in rows if meets(row))


@dataclass(frozen=True, slots=True)
class _Token:
    """A sign or a word of a condition, and where it begins; `kind` is a group of _TOKEN, or end."""

    text: str
    start: int
    kind: str

    @property
    def quoted(self) -> bool:
        """Whether it stands in quotes, so that it is neither a keyword nor a number."""
        return self.kind in ("single", "double")


class _Parser:
    """Reads a condition from left to right, one token ahead."""

    def __init__(self, condition: str, columns: list[str]) -> None:
        self._condition, self._columns = condition, columns
        if len(condition) > LONGEST:
            raise self._error(f"it is longer than {LONGEST:,} characters")
        self._tokens = self._split()
        self._next = 0

    def parse(self) -> Condition:
        """Return what tells whether a document meets the condition."""
        meets = self._condition_at(0)
        if self._token.kind != "end":
            raise self._unexpected("`and`, `or` or the end")
        return meets

    def _split(self) -> list[_Token]:
        tokens, place, text = [], 0, self._condition.rstrip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                raise self._error(f"{text[place:].strip()[:40]!r} cannot be read")
            kind = found.lastgroup or "end"
            words = found[kind].replace("''", "'") if kind == "single" else found[kind]
            tokens.append(_Token(words, found.start(kind), kind))
            place = found.end()
        return [*tokens, _Token("", len(text), "end")]

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, *words: str) -> _Token | None:
        """Return the next token, and go on, if it is one of these words; else None."""
        token = self._token
        if token.quoted or token.text.lower() not in words:
            return None
        self._next += 1
        return token

    def _require(self, word: str) -> None:
        if not self._take(word):
            raise self._unexpected(f"`{word}`")

    def _condition_at(self, depth: int) -> Condition:
        alternatives = [self._all_of(depth)]
        while self._take("or"):
            alternatives.append(self._all_of(depth))
        return lambda fields: any(meets(fields) for meets in alternatives)

    def _all_of(self, depth: int) -> Condition:
        parts = [self._part(depth)]
        while self._take("and"):
            parts.append(self._part(depth))
        return lambda fields: all(meets(fields) for meets in parts)

    def _part(self, depth: int) -> Condition:
        if depth > DEEPEST:
            raise self._error(f"more than {DEEPEST} parts lie within each other")
        if self._take("not"):
            denied = self._part(depth + 1)
            return lambda fields: not denied(fields)
        if self._take("("):
            inner = self._condition_at(depth + 1)
            self._require(")")
            return inner
        column = self._column()
        test = self._test()
        return lambda fields: test(fields.get(column))

    def _column(self) -> str:
        token = self._word("a column")
        column = next((name for name in self._columns if name == token.text.lower()), None)
        if column is None:
            raise self._error(f"{token.text!r} is no column")
        return column

    def _test(self) -> Test:
        if self._take("is"):
            absent = not self._take("not")
            self._require("null")
            return lambda value: (value is None or value == []) == absent
        if self._take("in"):
            return self._is_one_of()
        if sign := self._take("!=", "<>", "like", *_SIGNS):
            return _compared_with(sign.text.lower(), self._word("a value"))
        raise self._unexpected("`=`, `!=`, `<`, `<=`, `>`, `>=`, `like`, `in` or `is`")

    def _is_one_of(self) -> Test:
        self._require("(")
        equals = [_compared_with("=", self._word("a value"))]
        while self._take(","):
            equals.append(_compared_with("=", self._word("a value")))
        self._require(")")
        return lambda value: any(equal(value) for equal in equals)

    def _word(self, wanted: str) -> _Token:
        token = self._token
        if token.kind in ("sign", "end"):
            raise self._unexpected(wanted)
        self._next += 1
        return token

    def _unexpected(self, wanted: str) -> UsageError:
        token = self._token
        place = "the end" if token.kind == "end" else repr(self._condition[token.start :][:40])
        return self._error(f"{wanted} is missing at {place}")

    def _error(self, words: str) -> UsageError:
        columns = ", ".join(self._columns)
        return UsageError(
            f"The condition {self._condition[:200]!r} cannot be used: {words}. It has the form of "
            f"date >= 2025-01-01 and author = 'Ada Lovelace'. The columns: {columns}."
        )


def _compared_with(sign: str, token: _Token) -> Test:
    """Return the comparison of a document's value with a word of the condition."""
    if sign in ("!=", "<>"):
        equal = _compared_with("=", token)
        return lambda value: not equal(value)
    if sign == "like":
        escaped = re.escape(token.text).replace("%", ".*").replace("_", ".")
        pattern = re.compile(escaped, re.IGNORECASE | re.DOTALL)
        return _of_each(lambda value: pattern.fullmatch(_text(value)) is not None)

    def holds(value: Any) -> bool:
        pair = _comparable(_text(value), token)
        return pair is not None and _SIGNS[sign](*pair)

    return _of_each(holds)


def _of_each(test: Test) -> Test:
    """Return a test of a value that a list meets by one of its members, and null does not."""
    return lambda value: any(
        test(one) for one in (value if isinstance(value, list) else [value]) if one is not None
    )


def _text(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _comparable(value: str, token: _Token) -> tuple[Any, Any] | None:
    """Return a value and a word as dates, numbers or texts; None if they are of two kinds."""
    words = token.text
    if _DATE.fullmatch(value) and _DATE.fullmatch(words):
        exactness = min(len(value), len(words))
        return value[:exactness].replace(" ", "T"), words[:exactness].replace(" ", "T")
    if _NUMBER.fullmatch(value) and _NUMBER.fullmatch(words):
        return float(value), float(words)
    if not token.quoted and (_DATE.fullmatch(words) or _NUMBER.fullmatch(words)):
        return None
    return value.casefold(), words.casefold()
