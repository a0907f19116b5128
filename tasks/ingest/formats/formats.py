"""Detect an input's format from its name or, if the name is no help, from its first bytes."""

import re
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
    MAIL = "mail"
    NOTEBOOK = "notebook"
    SUBTITLES = "subtitles"
    ARTICLE = "article"
    PICTURE = "picture"


# Files of many records are streamed, so the limit on file size does not hold for them.
STREAMED = frozenset({Kind.LINES, Kind.CSV, Kind.PARQUET, Kind.WIKI})

SUFFIXES = {
    "txt": Kind.TEXT, "text": Kind.TEXT, "md": Kind.TEXT, "markdown": Kind.TEXT,
    "rst": Kind.RESTRUCTURED,
    "html": Kind.WEB, "htm": Kind.WEB, "xhtml": Kind.WEB,
    "pdf": Kind.PDF,
    **dict.fromkeys(("png", "jpg", "jpeg", "tif", "tiff"), Kind.PICTURE),
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
    **dict.fromkeys(("eml", "mbox", "mht", "mhtml"), Kind.MAIL), "ipynb": Kind.NOTEBOOK,
    "srt": Kind.SUBTITLES, "vtt": Kind.SUBTITLES, "nxml": Kind.ARTICLE, "jats": Kind.ARTICLE,
}  # fmt: skip
_UNREAD = frozenset(
    {"zip", "tar", "tgz", "7z", "rar", "xz", "zst", "doc", "xls", "ppt", "rtf", "svg", "svgz"}
    | {"xlsb", "pps", "odg", "msg", "pst"}
)
_MARKUP = frozenset(  # whose commands and comments would be read as words
    {"tex", "latex", "ltx", "bib", "org", "adoc", "asciidoc", "textile", "opml", "docbook", "dbk"}
    | {"fb2", "ics", "vcf"}
)
_CODE = re.compile(
    r"asm|bas|bat|[ck]?sh|c|cc|cfg|clj|cmake|cmd|coffee|conf|cpp|cs|css|cu|cxx|d|dart|diff|el|env"
    r"|erl|exs?|f90|fs|go|gradle|groovy|h|hh|hpp|hs|hxx|ini|java|jl|[cm]?jsx?|kts?|less|lisp|lock|lua|m|mk"
    r"|mli?|mm|patch|php|p[lm]|properties|proto|ps1|py[ix]?|r|rb|rs|s[ac]ss|scala|sol|sql|sv|svelte|swift|tcl"
    r"|tf|toml|[cm]?tsx?|v|vb|vhd|vim|vue|ya?ml|zig|(?:bash|z)(?:rc|sh)?"
    r"|(?:docker|gem|jenkins|make|rake)file"
)
_FIRST_BYTES = (
    (b"%PDF-", Kind.PDF),
    (b"PAR1", Kind.PARQUET),
    (b"<mediawiki", Kind.WIKI),
    (b"WEBVTT", Kind.SUBTITLES),
    *((name, Kind.MAIL) for name in (b"Return-Path:", b"Received:", b"Delivered-To:")),
)
_ARTICLE = re.compile(rb"<!doctype\s+article\b|<article[\s>]", re.IGNORECASE)
_DRAWING = re.compile(rb"<svg[\s>]", re.IGNORECASE)
_ANY_TEXT = frozenset({"txt", "text"})  # names that say nothing of the format
_SETTING = re.compile(rb"(?:export )?[A-Z_][A-Z0-9_]*=")  # as a shell reads it
_ARMOUR = re.compile(rb"-----BEGIN (?!PGP SIGNED)[A-Z0-9 ]+-----")
_COMPRESSIONS = {"gz": "gz", "gzip": "gz", "bz2": "bz2"}
START = 2_000  # bytes of a file that show its format


def is_picture(name: str) -> bool:
    """Tell whether a file is a picture, by the ending of its name."""
    return SUFFIXES.get(name.rpartition(".")[2].lower()) is Kind.PICTURE


def format_of(name: str, start: bytes) -> tuple[Kind, str]:
    """Return the kind of a file and its compression (`gz`, `bz2` or empty).

    A file without a known ending is text unless its first bytes, of which `START` are enough, say
    otherwise; `decode` later refuses binary data. Raises `RefusalError` for archives, old office
    formats, drawings, source code and markup of other kinds.
    """
    *rest, ending = name.rpartition("/")[2].lower().split(".")
    compression = _COMPRESSIONS.get(ending, "")
    if compression:
        ending = rest[-1] if len(rest) > 1 else ""
    start = start.lstrip()
    if ending in _UNREAD:
        raise RefusalError(Reason.UNSUPPORTED, f"Files that end in .{ending} are not read.")
    if ending in _MARKUP:
        sentence = f"Files that end in .{ending} are not read; convert it to Markdown or HTML."
        raise RefusalError(Reason.UNSUPPORTED, sentence)
    if (
        _CODE.fullmatch(ending)
        or start.startswith(b"#!")
        or (ending not in SUFFIXES and _is_code(start))
    ):
        raise RefusalError(Reason.UNSUPPORTED, "It is source code or settings, not a text.")
    if _ARMOUR.match(start):
        sentence = "It is a key, a certificate or a message that is encrypted, not a text."
        raise RefusalError(Reason.UNSUPPORTED, sentence)
    may_be_drawn = ending == "xml" or ending not in SUFFIXES
    if start.startswith(b"{\\rtf") or (may_be_drawn and _DRAWING.search(start)):
        raise RefusalError(Reason.UNSUPPORTED, "It is rich text or a drawing, which is not read.")
    if ending == "xml" and _ARTICLE.search(start):
        return Kind.ARTICLE, compression
    if ending in SUFFIXES and not (ending in _ANY_TEXT and _starts_as_html(start)):
        return SUFFIXES[ending], compression
    if _starts_as_html(start):
        return Kind.WEB, compression
    for mark, kind in _FIRST_BYTES:
        if start[:16].lower().startswith(mark.lower()):
            return kind, compression
    return Kind.TEXT, compression


def _is_code(start: bytes) -> bool:
    """Tell whether most lines, without the last, are as those of programs and of settings."""
    lines = [line.strip() for line in start.split(b"\n")[:-1] if line.strip()]
    return (
        sum(
            line.endswith((b";", b"{")) or line == b"}" or bool(_SETTING.match(line))
            for line in lines
        )
        > len(lines) / 2
    )


def _starts_as_html(start: bytes) -> bool:
    return looks_like_html(start.decode("ascii", "replace"))
