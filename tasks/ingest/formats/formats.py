"""Detect an input's format from its name or, if the name is no help, from its first bytes."""

from enum import StrEnum

from tasks.ingest.formats.hidden_markup import looks_like_html
from tasks.ingest.formats.inputs import Reason, RefusalError


class Kind(StrEnum):
    """The kind of parser that an input needs."""

    TEXT = "text"
    RESTRUCTURED = "restructured"
    WEB = "web"
    PDF = "pdf"
    WORD = "word"
    SLIDES = "slides"
    WORKBOOK = "workbook"
    BOOK = "book"
    OPENDOCUMENT = "opendocument"
    JSON = "json"
    LINES = "lines"
    CSV = "csv"
    PARQUET = "parquet"
    WIKI = "wiki"
    WIKITEXT = "wikitext"


# Files of many records are streamed, so the limit on file size does not hold for them.
STREAMED = frozenset({Kind.LINES, Kind.CSV, Kind.PARQUET, Kind.WIKI})

SUFFIXES = {
    "txt": Kind.TEXT, "text": Kind.TEXT, "md": Kind.TEXT, "markdown": Kind.TEXT,
    "rst": Kind.RESTRUCTURED,
    "html": Kind.WEB, "htm": Kind.WEB, "xhtml": Kind.WEB,
    "pdf": Kind.PDF,
    **dict.fromkeys(("docx", "docm", "dotx", "dotm"), Kind.WORD),
    **dict.fromkeys(("pptx", "pptm", "potx", "potm", "ppsx", "ppsm"), Kind.SLIDES),
    **dict.fromkeys(("xlsx", "xlsm", "xltx", "xltm"), Kind.WORKBOOK),
    **dict.fromkeys(("odt", "ott", "ods", "ots", "odp", "otp"), Kind.OPENDOCUMENT),
    **dict.fromkeys(("fodt", "fods", "fodp"), Kind.OPENDOCUMENT),
    "epub": Kind.BOOK,
    "json": Kind.JSON, "jsonl": Kind.LINES, "ndjson": Kind.LINES,
    "csv": Kind.CSV, "tsv": Kind.CSV, "tab": Kind.CSV,
    "parquet": Kind.PARQUET, "pq": Kind.PARQUET,
    "xml": Kind.WIKI, "mediawiki": Kind.WIKITEXT,
}  # fmt: skip
_UNREAD = frozenset({"zip", "tar", "tgz", "7z", "rar", "xz", "zst", "doc", "xls", "ppt"})
_FIRST_BYTES = (
    (b"%PDF-", Kind.PDF),
    (b"PAR1", Kind.PARQUET),
    (b"<mediawiki", Kind.WIKI),
)
_ANY_TEXT = frozenset({"txt", "text"})  # names that say nothing of the format
_COMPRESSIONS = {"gz": "gz", "gzip": "gz", "bz2": "bz2"}


def format_of(name: str, start: bytes) -> tuple[Kind, str]:
    """Return the kind of a file and its compression (`gz`, `bz2` or empty).

    A file without a known ending is text unless its first bytes say otherwise; `decode` later
    refuses binary data. Raises `RefusalError` for archives and old office formats.
    """
    *rest, ending = name.rpartition("/")[2].lower().split(".")
    compression = _COMPRESSIONS.get(ending, "")
    if compression:
        ending = rest[-1] if len(rest) > 1 else ""
    if ending in _UNREAD:
        raise RefusalError(Reason.UNSUPPORTED, f"Files that end in .{ending} are not read.")
    if ending in SUFFIXES and not (ending in _ANY_TEXT and _starts_as_html(start)):
        return SUFFIXES[ending], compression
    if _starts_as_html(start):
        return Kind.WEB, compression
    lowered = start.lstrip()[:16].lower()
    for mark, kind in _FIRST_BYTES:
        if lowered.startswith(mark.lower()):
            return kind, compression
    return Kind.TEXT, compression


def _starts_as_html(start: bytes) -> bool:
    return looks_like_html(start.decode("ascii", "replace"))
