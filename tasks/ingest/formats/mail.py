"""Mails (RFC 5322 and MIME) and boxes of them (mbox): what was written, and who wrote it when."""

import re
from email.errors import MessageError
from email.header import decode_header
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from typing import Any, BinaryIO

from tasks.ingest.formats.cleaning import decode, decode_as_declared
from tasks.ingest.formats.inputs import Reason
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits, refused
from tasks.ingest.formats.unpacking import read_whole
from tasks.ingest.formats.webpage import read_chapter

_FROM = re.compile(rb"(?:\A|\n\r?\n)From [^\n]*\n")  # begins each mail of a box
_SIGNATURE = re.compile(r"^-- ?\r?$", re.MULTILINE)  # not an underline
_SOFT = re.compile(r"(?<=\S) \r?\n(?!>)")  # RFC 3676: a space before the end of a line that goes on
_LONGEST_HEADER = 5_000
_HEADERS = ("from", "to", "cc", "date", "reply-to", "organization", "keywords")


def parse_mail(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the text of a mail, or of each mail of a box under its number from 1."""
    data = read_whole(file, limits)
    if not data.startswith(b"From "):
        yield _read(data, "", limits.charset)
        return
    for number, mail in enumerate(_FROM.split(data)[1:], 1):
        yield _read(mail.replace(b"\n>From ", b"\nFrom "), str(number), limits.charset)


def _read(data: bytes, name: str, charset: str | None) -> ParsedText:
    """Return a mail's own text, its plain form if it has several, with its headers as metadata."""
    mail = BytesParser(EmailMessage, policy=default).parsebytes(data)
    body: Any = mail.get_body(("plain", "html"))
    if body is None:
        return refused(name, Reason.EMPTY, "It holds no words.")
    text = _SIGNATURE.sub("", _words(body, charset))
    if body.get_content_type() == "text/html":
        text = read_chapter(text)
    elif body.get_param("format") == "flowed":
        text = _SOFT.sub(" ", text)
    headers = {header.lower(): _decoded(value) for header, value in mail.raw_items()}
    fields: list[tuple[str, Any]] = [(header, headers.get(header)) for header in _HEADERS]
    fields.append(("attachments", [part.get_filename() for part in mail.iter_attachments()]))
    title = headers.get("subject", "")
    return ParsedText(name=name, title=title, text=text, metadata=described(fields))


def _words(part: Any, charset: str | None) -> str:
    data = part.get_payload(decode=True)
    try:
        return decode_as_declared(data, part.get_content_charset("utf-8"))
    except (LookupError, UnicodeError):
        return decode(data, charset)


def _decoded(header: Any) -> str:
    """Return a header with its encoded words (RFC 2047) decoded; one that is broken as it is."""
    try:
        return "".join(
            words if isinstance(words, str) else decode_as_declared(words, label or "utf-8")
            for words, label in decode_header(str(header)[:_LONGEST_HEADER])
        )
    except (LookupError, UnicodeError, MessageError):
        return str(header)
