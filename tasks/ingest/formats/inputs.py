"""The types of listing and reading: items of a source and the outcome of each input."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from tasks.ingest.formats import likeness
from tasks.ingest.front_matter import front_matter_end
from tasks.text.languages import detect_language


class Reason(StrEnum):
    """Why an input was refused: the code of its row in `rejections`."""

    EMPTY = "empty"  # no text is left after cleaning
    BINARY = "binary"  # not text, despite its name
    TOO_LARGE = "too_large"  # more bytes than the settings allow; it was not read
    TOO_LONG = "too_long"  # more text than the settings allow
    TOO_DEEP = "too_deep"  # nested more deeply than its parser allows
    TOO_EXPANDING = "too_expanding"  # a compressed input that grows beyond the bound
    BAD_ENCODING = "bad_encoding"  # not UTF-8, nor of a declared charset
    BAD_FORMAT = "bad_format"  # broken, or not of the format that its name claims
    ILLEGIBLE = "illegible"  # letters without meaning, as of a font that does not explain them
    PICTURE = "picture"  # an image or a scanned page, which the extra `ocr` reads
    NO_TEXT_COLUMN = "no_text_column"  # records, but none of their fields holds the text
    LEFT_OUT = "left_out"  # a part of an input whose other parts are read
    ENCRYPTED = "encrypted"  # needs a password
    UNSUPPORTED = "unsupported"  # a format that is not read, such as an archive
    NOT_A_FILE = "not_a_file"  # a pipe, a device, a socket
    OUTSIDE_SOURCE = "outside_source"  # a link that leads out of the folder
    UNREADABLE = "unreadable"  # permission denied, vanished, or the store failed
    TIMEOUT = "timeout"  # its parser took too long
    OUT_OF_MEMORY = "out_of_memory"  # its parser needed too much memory
    CRASHED = "crashed"  # its parser's process died


class RefusalError(Exception):
    """An input that cannot be read: the reason code and one plain sentence for people."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a source, as listed: `(source, uri)` is its identity on every scan."""

    source: str  # the source as recorded: normalised, without passwords
    root: str  # the absolute folder or file to open, or the URL as given
    path: str  # inside the root (local) or inside the file system of the URL
    uri: str  # the path relative to the source, safe to store and print; records go on with `#`
    fingerprint: str  # changes when the file does
    size: int  # bytes; -1 where the store does not say
    refusal: Reason | None = None  # set when the listing already shows that it cannot be read
    labels: list[str] | None = None  # given to it apart from its source

    @property
    def file_name(self) -> str:
        """The file's name, which may show its format; for a URL, without the query."""
        path = self.path
        if path.startswith(("http://", "https://")):
            path = path.partition("#")[0].partition("?")[0]
        return path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a source, sorted by uri; an incomplete listing deletes nothing."""

    source: str
    items: list[Item] = field(default_factory=list)
    complete: bool = True
    error: str | None = None
    unmatched: bool = False  # the source is a pattern, and nothing matches it


@dataclass(frozen=True)
class ReadText:
    """A text as read and cleaned; all spans count characters of `text`.

    Costly properties are computed on demand, for texts that are new to the journal: when a file
    of records changes, most of its records have not.
    """

    uri: str
    sha256: str  # of the bytes read or, for a record, of its canonical JSON
    version: str
    title: str
    text: str
    page_starts: list[int] | None = None  # where each page of a paged file begins
    metadata: dict[str, Any] = field(default_factory=dict)  # from the file itself

    @cached_property
    def language(self) -> str:
        """The language of the text; where that is unclear, the one that it states."""
        found = detect_language(self.text[front_matter_end(self.text) :])
        stated = re.split("[-_]", self.metadata.get("language", ""))[0].lower()
        return stated if found == "und" and len(stated) == 2 else found

    @cached_property
    def words(self) -> int:
        """The number of words in the text."""
        return len(likeness.tokens_of(self.text))

    @cached_property
    def minhash(self) -> bytes:
        """The MinHash sketch by which near duplicates are found."""
        return likeness.minhash(likeness.tokens_of(self.text))


@dataclass(frozen=True, slots=True)
class Refusal:
    """An input that was not read; if `uri` is the file's, its later records are unknown."""

    uri: str
    reason: Reason
    text: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Removal:
    """An input that a change feed declares gone."""

    uri: str
    version: str


Outcome = ReadText | Refusal | Removal
