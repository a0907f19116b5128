"""The input and output of parsers: limits, parsed texts and refused records."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from tasks.ingest.formats.inputs import Reason, RefusalError

_ONLY_PROBLEMS = 20  # unusable records at the start of a file before the file is refused
_MANY_PROBLEMS = 1_000  # unusable records per file that are refused one by one


@dataclass(frozen=True, slots=True)
class ParsedText:
    """One text in a file; `name` is the record's own, empty if the file is a single text."""

    name: str = ""
    title: str = ""
    text: str = ""
    version: str = ""
    sha256: str = ""  # of the record; empty where the file's hash is used
    feed: bool = False  # the file is a change feed, so the name is a complete uri
    removed: bool = False  # the feed deletes this uri
    page_starts: list[int] | None = None  # where each page begins; such a text is already clean
    metadata: dict[str, Any] = field(default_factory=dict)  # as `described` returns it
    reason: str = ""  # set when the record is refused
    sentence: str = ""  # the reason in words, for users


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """The settings of a parser, as plain values that can be sent to another process."""

    name: str  # the file's name, for formats that depend on it
    compression: str
    max_file_bytes: int
    max_text_chars: int
    max_expansion: int
    text_column: str
    charset: str | None = None  # of text that is not UTF-8 and declares no charset


# A parser yields None as a heartbeat while it has no text to yield.
Parsed = Iterator[ParsedText | None]
Parser = Callable[[BinaryIO, ParserLimits], Parsed]


def refused(name: str, reason: Reason, sentence: str) -> ParsedText:
    """Return the refusal of one record."""
    return ParsedText(name=name, reason=reason, sentence=sentence)


def settle(records: Iterable[ParsedText | None]) -> Parsed:
    """Yield the records; raise `RefusalError` for a file with no or too few usable records."""
    problems: list[ParsedText] = []
    usable = 0
    for record in records:
        if record is None or not record.reason:
            if record is not None and not usable:
                yield from problems
            usable += record is not None
            yield record
            continue
        problems.append(record)
        if usable:
            yield record
        if len(problems) > (_MANY_PROBLEMS if usable else _ONLY_PROBLEMS):
            break
    else:
        if usable:
            return
    if not problems:
        raise RefusalError(Reason.EMPTY, "It holds no records.")
    first = problems[0]
    many = f"{len(problems)} of its records cannot be used; " if len(problems) > 1 else ""
    reason = Reason.NO_TEXT_COLUMN if first.reason == Reason.LEFT_OUT else Reason(first.reason)
    raise RefusalError(reason, f"{many}record {first.name}: {first.sentence}")
