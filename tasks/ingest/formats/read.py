"""Read an item into texts, refusals and removals; bad input never raises an error."""

import dataclasses
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import BinaryIO

from schemas.errors import AlmanacError
from schemas.settings import ReadSettings
from tasks.ingest.blocks import BlockKind, blocks_of
from tasks.ingest.formats import likeness
from tasks.ingest.formats.cleaning import charset_meant, clean, clean_line, decode
from tasks.ingest.formats.dialects import read_dialects
from tasks.ingest.formats.formats import START, STREAMED, Kind, format_of
from tasks.ingest.formats.hidden_markup import drop_hidden_markup
from tasks.ingest.formats.inputs import (
    Item,
    Outcome,
    ReadText,
    Reason,
    Refusal,
    RefusalError,
    Removal,
)
from tasks.ingest.formats.markdown import html_tables_as_markdown
from tasks.ingest.formats.metadata import with_front_matter
from tasks.ingest.formats.names import title_of_name, title_of_text
from tasks.ingest.formats.parsed_text import ParsedText, ParserLimits
from tasks.ingest.formats.parser_pool import parse_apart
from tasks.ingest.formats.plug_in_readers import read_with, reader_of_address, reader_of_file
from tasks.ingest.formats.sources import chunks_of, open_item, start_of
from tasks.ingest.formats.unpacking import decompress, read_at_most, read_whole
from tasks.ingest.front_matter import front_matter_end

_SENTENCES = {
    Reason.NOT_A_FILE: "It is a pipe, a device or a socket; only files are read.",
    Reason.OUTSIDE_SOURCE: "It is a link that leads out of the source, or nowhere.",
}
_AT_START = 8  # bytes: a mark of the encoding and a fence
_MOSTLY = 0.5  # of the characters outside tags stand in HTML
_TAG = re.compile(r"<[^<>]{1,500}>")
_SCRIPT = re.compile(r"^ {0,3}<(?:script|style)\b", re.IGNORECASE | re.MULTILINE)
_PRIVATE_KEY = re.compile(  # with its letters, which an example that is cut short lacks
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----).){0,400}?[A-Za-z0-9+/]{40}"
    r"|^Private-Lines: \d",
    re.DOTALL | re.MULTILINE,
)
_OPENS = re.compile(
    r"\s*<(?:p|div|h[1-6]|section|article|main|header|figure|table|ul|ol|blockquote|center)\b",
    re.IGNORECASE,
)


def read_item(
    item: Item, settings: ReadSettings, opens: Callable[[], BinaryIO] | None = None
) -> Iterator[Outcome]:
    """Yield a text or refusal for each input in an item, and the removals of a change feed.

    `opens` opens the item in place of `open_item`, as `opened_ahead` gives it.

    Never raises for bad input, but AlmanacError where no input can be read. A refusal under the
    item's own uri means that the item was not read to its end, so records that were not yielded may
    still exist. A record's uri is `file#record`; in a change feed it is that which the feed gives.
    """
    sha256 = ""
    try:
        if item.refusal is not None:
            raise RefusalError(item.refusal, _SENTENCES[item.refusal])
        if address := reader_of_address(item.root):
            for parsed in read_with(address, item.root):
                yield _outcome(item, parsed, "", settings)
            return
        with opens() if opens else open_item(item) as opened:
            if plug_in := reader_of_file(item.file_name):
                for parsed in read_with(plug_in, opened):
                    yield _outcome(item, parsed, "", settings)
                return
            kind, limits = _format(item, opened, settings)
            with _on_disk(opened, _allowed(kind, settings)) as file:
                # Hashing a dump would mean reading all of it a second time.
                sha256 = "" if kind in STREAMED else _sha256(file)
                for parsed in _parsed(file, kind, limits, settings):
                    yield _outcome(item, parsed, sha256, settings)
    except RefusalError as refused:
        yield Refusal(item.uri, refused.reason, refused.text, sha256)
    except OSError as error:
        text = f"It could not be opened or read: {error.strerror or type(error).__name__}."
        yield Refusal(item.uri, Reason.UNREADABLE, text)
    except AlmanacError:
        raise
    except Exception as error:  # whatever a document makes a library raise must not end a run
        text = f"Its reader failed ({type(error).__name__})."
        yield Refusal(item.uri, Reason.BAD_FORMAT, text, sha256)


def _format(item: Item, opened: BinaryIO, settings: ReadSettings) -> tuple[Kind, ParserLimits]:
    """Return the format of an open item; raises `RefusalError` if it is too large."""
    kind, compression = format_of(item.file_name, start_of(item, opened, START))
    allowed = _allowed(kind, settings)
    if item.size > allowed:
        sentence = f"It has {item.size:,} bytes; {allowed:,} are allowed (settings.toml)."
        raise RefusalError(Reason.TOO_LARGE, sentence)
    limits = ParserLimits(
        item.file_name,
        compression,
        settings.max_file_bytes,
        settings.max_text_chars,
        settings.max_expansion,
        settings.text_column,
        settings.charset and charset_meant(settings.charset),
    )
    return kind, limits


def _allowed(kind: Kind, settings: ReadSettings) -> int:
    return settings.max_dump_bytes if kind in STREAMED else settings.max_file_bytes


def _on_disk(opened: BinaryIO, allowed: int) -> BinaryIO:
    """Return the file itself if it is local, else a temporary copy of at most `allowed` bytes."""
    try:
        opened.fileno()
        return opened
    except (OSError, AttributeError):
        copy = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    size = 0
    for chunk in chunks_of(opened):
        size += len(chunk)
        if size > allowed:
            copy.close()
            sentence = f"It has more than {allowed:,} bytes (settings.toml)."
            raise RefusalError(Reason.TOO_LARGE, sentence)
        copy.write(chunk)
    copy.seek(0)
    return copy


def _sha256(file: BinaryIO) -> str:
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    file.seek(0)
    return digest


def _parsed(
    file: BinaryIO, kind: Kind, limits: ParserLimits, settings: ReadSettings
) -> Iterator[ParsedText]:
    """Yield the texts of the file; plain text is decoded here, the rest by a worker process."""
    if kind is not Kind.TEXT:
        page = _fenced_page(file, limits) if kind is Kind.WEB else ""
        if page:
            yield from _with_page(page, front_matter_end(page), limits, settings)
        else:
            yield from parse_apart(file, kind, limits, settings.max_seconds)
        return
    allowed = min(settings.max_file_bytes, 4 * settings.max_text_chars + 4)
    stream = decompress(file, limits.compression, limits.max_expansion)
    sentence = (
        f"It has more than {settings.max_text_chars:,} characters "
        "(max_text_chars in settings.toml)."
    )
    data = read_at_most(stream, allowed, Reason.TOO_LONG, sentence)
    text = read_dialects(drop_hidden_markup(clean(decode(data, limits.charset))))
    text = _without_scripts(text)
    body = front_matter_end(text)
    if has_html_body(text, body):
        yield from _with_page(text, body, limits, settings)
    else:
        yield ParsedText(text=html_tables_as_markdown(text))


def _fenced_page(file: BinaryIO, limits: ParserLimits) -> str:
    """Return a webpage that has front matter, as generators of sites read it, else ""."""
    stream = decompress(file, limits.compression, limits.max_expansion)
    is_fenced = stream.read(_AT_START).lstrip(b"\xef\xbb\xbf").startswith((b"---", b"+++"))
    file.seek(0)
    text = clean(decode(read_whole(file, limits), limits.charset)) if is_fenced else ""
    file.seek(0)
    return text if front_matter_end(text) else ""


def _without_scripts(text: str) -> str:
    """Return a text without the blocks of scripts and styles in it; code that shows them stays."""
    if not _SCRIPT.search(text):
        return text
    kept, place = [], 0
    for block in blocks_of(text):
        if block.kind is BlockKind.MARKUP and _SCRIPT.match(text, block.start):
            kept.append(text[place : block.start])
            place = block.end
    return "".join((*kept, text[place:]))


def _with_page(
    text: str, body: int, limits: ParserLimits, settings: ReadSettings
) -> Iterator[ParsedText]:
    """Yield a text whose body is HTML, with the words of that page below its front matter."""
    with tempfile.TemporaryFile() as file:
        file.write(text[body:].encode())
        file.seek(0)
        plain = dataclasses.replace(limits, compression="", charset="utf-8")
        for page in parse_apart(file, Kind.WEB, plain, settings.max_seconds):
            words = f"{text[:body]}\n\n{page.text}"
            yield dataclasses.replace(page, title="", text=words, metadata={})


def _outcome(item: Item, parsed: ParsedText, sha256: str, settings: ReadSettings) -> Outcome:
    name = parsed.name
    uri = name if parsed.feed else f"{item.uri}#{name}" if name else item.uri
    if parsed.removed:
        return Removal(uri, parsed.version)
    sha256 = parsed.sha256 or sha256
    if parsed.reason:
        return Refusal(uri, Reason(parsed.reason), parsed.sentence, sha256)
    try:
        return _finish(uri, dataclasses.replace(parsed, sha256=sha256), settings)
    except RefusalError as refused:
        return Refusal(uri, refused.reason, refused.text, sha256)


def _finish(uri: str, parsed: ParsedText, settings: ReadSettings) -> ReadText:
    """Return the cleaned text with its title.

    Raises `RefusalError` for one that is too long, empty, or has a private key or unread labels.
    """
    text = parsed.text
    if len(text) > settings.max_text_chars:
        sentence = (
            f"Its text has {len(text):,} characters; {settings.max_text_chars:,} are allowed "
            "(max_text_chars in settings.toml)."
        )
        raise RefusalError(Reason.TOO_LONG, sentence)
    if not likeness.has_words(text):
        raise RefusalError(Reason.EMPTY, "It holds no words.")
    if _PRIVATE_KEY.search(text):
        sentence = "It holds a private key, which answers would show; keep the key elsewhere."
        raise RefusalError(Reason.UNSUPPORTED, sentence)
    title = clean_line(parsed.title)
    if not title and parsed.page_starts is None:  # text of a paged file marks no headings
        title = title_of_text(text)
    return ReadText(
        uri=uri,
        sha256=parsed.sha256 or hashlib.sha256(text.encode()).hexdigest(),
        version=parsed.version,
        title=title or title_of_name(uri),
        text=text,
        page_starts=parsed.page_starts,
        metadata=with_front_matter(parsed.metadata, text),
    )


def has_html_body(text: str, body: int) -> bool:
    """Return whether a text is HTML from `body` on, of which a reader of Markdown loses most.

    It begins with an element, and most of its words stand in blocks of markup, or indented within
    an element, which Markdown takes for code.
    """
    if not _OPENS.match(text, body):
        return False
    lost = 0
    for block in blocks_of(text):
        words = text[block.start : block.end]
        indented = block.kind is BlockKind.CODE and not words.startswith(("```", "~~~"))
        if block.kind is BlockKind.MARKUP or (indented and "</" in words):
            lost += _length(words)
    return lost > _MOSTLY * _length(text[body:])


def _length(markup: str) -> int:
    """Return how many characters stand outside tags, without white space."""
    return len("".join(_TAG.sub(" ", markup).split()))
