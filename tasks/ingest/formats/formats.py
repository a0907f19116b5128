"""Detect an input's format from its name or, if the name is no help, from its first bytes."""

import re
from codecs import BOM_UTF8
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
    **dict.fromkeys(("json", "geojson", "har"), Kind.JSON),
    "jsonl": Kind.LINES, "ndjson": Kind.LINES,
    "csv": Kind.CSV, "tsv": Kind.CSV, "tab": Kind.CSV,
    "parquet": Kind.PARQUET, "pq": Kind.PARQUET,
    "xml": Kind.WIKI, "mediawiki": Kind.WIKITEXT,
    **dict.fromkeys(("eml", "emlx", "mbox", "mht", "mhtml"), Kind.MAIL), "ipynb": Kind.NOTEBOOK,
    "srt": Kind.SUBTITLES, "vtt": Kind.SUBTITLES, "nxml": Kind.ARTICLE, "jats": Kind.ARTICLE,
}  # fmt: skip
_CONVERTED = {  # what other programs save it as
    "doc": "docx", "rtf": "docx", "xls": "xlsx", "xlsb": "xlsx", "ppt": "pptx", "pps": "pptx",
    "msg": "eml", "pst": "mbox", "ps": "pdf", "eps": "pdf",
}  # fmt: skip
_ARCHIVES = ("zip", "tar", "tgz", "7z", "rar", "xz", "zst", "svg", "svgz", "odg", "warc", "ldif")
_GRAPHS = ("ttl", "rdf", "owl", "trig", "n3")
_UNREAD = {  # endings, and what to do with such files
    **dict.fromkeys(_ARCHIVES, ""),
    **{ending: f"; save it as .{other}" for ending, other in _CONVERTED.items()},
    **dict.fromkeys(("nt", "nq"), "; `almanac import-graph` reads them"),
    **dict.fromkeys(_GRAPHS, "; save it as N-Triples (.nt), which `almanac import-graph` reads"),
}
_MARKUP = frozenset(  # whose commands and comments would be read as words
    {"tex", "latex", "ltx", "bib", "org", "adoc", "asciidoc", "textile", "opml", "docbook", "dbk"}
    | {"fb2", "ics", "vcf", "po", "pot", "man", "mdoc", "roff"}
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
_PACKED = {  # by the first known file in an archive, or by the type that it states
    b"word/": Kind.WORD, b"ppt/": Kind.SLIDES, b"xl/": Kind.WORKBOOK,
    b"mimetypeapplication/epub": Kind.BOOK,
    b"mimetypeapplication/vnd.oasis.opendocument": Kind.OPENDOCUMENT,
}  # fmt: skip
_PACKED_FILE = re.compile(rb"PK\x03\x04.{26}(%s)" % b"|".join(_PACKED), re.DOTALL)
_HEADER = re.compile(rb"([!-9;-~]+):.*\n(?:[ \t].*\n)*")
_OF_MAIL = frozenset(
    {b"from", b"to", b"cc", b"subject", b"date", b"sender", b"reply-to", b"message-id", b"received"}
    | {b"mime-version", b"content-type", b"content-transfer-encoding", b"in-reply-to"}
)
_ENOUGH = 3  # of these headers, with which nothing but a mail begins
_PROLOG = re.compile(rb"(?:\s|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_XML_ROOT = re.compile(rb"<!DOCTYPE\s|<[A-Za-z][\w.-]*(?::\w|(?:\s[^<>]*)?\s(?:xmlns|version)[:=])")
_OTHER_MARKUP = re.compile(  # of manual pages, PostScript, archives of the web, directories
    rb"\.\\\"|'\\\"|\.(?:TH|Dd|TL|SH|so)\s|%!PS|WARC/1\.|(?:version: 1\s+)?dn: \w+="
)
_ARTICLE = re.compile(rb"<!doctype\s+article\b|<article[\s>]", re.IGNORECASE)
_DRAWING = re.compile(rb"<svg[\s>]", re.IGNORECASE)
_ANY_TEXT = frozenset({"txt", "text"})  # names that say nothing of the format
_SETTING = re.compile(rb"(?:export )?[A-Z_][A-Z0-9_]*=")  # as a shell reads it
_ARMOUR = re.compile(rb"-----BEGIN (?!PGP SIGNED)[A-Z0-9 ]+-----")
_COMPRESSIONS = {"gz": "gz", "gzip": "gz", "bz2": "bz2"}
START = 4_000  # bytes of a file that show its format


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
    if compression := _COMPRESSIONS.get(ending, ""):
        ending = rest[-1] if len(rest) > 1 else ""
    start = start.removeprefix(BOM_UTF8).lstrip()
    is_open = ending not in SUFFIXES or ending in _ANY_TEXT  # to what its first bytes say
    body = _PROLOG.sub(b"", start, count=1)
    is_html = is_open and looks_like_html(body.decode("ascii", "replace"))
    if ending in _UNREAD:
        sentence = f"Files that end in .{ending} are not read{_UNREAD[ending]}."
        raise RefusalError(Reason.UNSUPPORTED, sentence)
    if ending in _MARKUP or (is_open and _OTHER_MARKUP.match(start)):
        of_kind = f"Files that end in .{ending}" if ending in _MARKUP else "Files of this markup"
        sentence = f"{of_kind} are not read; convert it to Markdown, HTML or PDF."
        raise RefusalError(Reason.UNSUPPORTED, sentence)
    is_script = _CODE.fullmatch(ending) or start.startswith(b"#!")
    if is_script or (ending not in SUFFIXES and _is_code(start)):
        raise RefusalError(Reason.UNSUPPORTED, "It is source code or settings, not a text.")
    if is_open and not is_html and (start.startswith(b"<?xml") or _XML_ROOT.match(body)):
        ending, is_open = "xml", False
    if _ARMOUR.match(start):
        sentence = "It is a key, a certificate or a message that is encrypted, not a text."
        raise RefusalError(Reason.UNSUPPORTED, sentence)
    may_be_drawn = ending == "xml" or ending not in SUFFIXES
    if start.startswith(b"{\\rtf") or (may_be_drawn and _DRAWING.search(start)):
        raise RefusalError(Reason.UNSUPPORTED, "It is rich text or a drawing, which is not read.")
    if ending == "xml" and _ARTICLE.search(start):
        return Kind.ARTICLE, compression
    if is_html:
        return Kind.WEB, compression
    if is_open and (packed := _PACKED_FILE.search(start)):
        return _PACKED[packed[1]], compression
    if ending in SUFFIXES:
        return SUFFIXES[ending], compression
    for mark, kind in _FIRST_BYTES:
        if start[:16].lower().startswith(mark.lower()):
            return kind, compression
    return Kind.MAIL if _is_mail(start) else Kind.TEXT, compression


def _is_mail(start: bytes) -> bool:
    """Tell whether a file begins with headers of a mail, also below the line of a box."""
    place = start.find(b"\n") + 1 if start.startswith(b"From ") else 0
    names = set()
    while header := _HEADER.match(start, place):
        names.add(header[1].lower())
        place = header.end()
    return len(names & _OF_MAIL) >= _ENOUGH


def _is_code(start: bytes) -> bool:
    """Tell whether most lines, without the last, are as those of programs and of settings."""
    lines = [line.strip() for line in start.split(b"\n")[:-1] if line.strip()]
    code = [line for line in lines if line.endswith((b";", b"{")) or _SETTING.match(line)]
    return len(code) + lines.count(b"}") > len(lines) / 2
