"""Mails (RFC 5322 and MIME) and boxes of them (mbox): what was written, and who wrote it when."""

import io
import re
from codecs import BOM_UTF8
from dataclasses import replace
from email.errors import MessageError
from email.header import decode_header
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from typing import Any, BinaryIO

from tasks.ingest.formats.cleaning import decode, decode_as_declared, encoding_of
from tasks.ingest.formats.delimited import parse_csv
from tasks.ingest.formats.formats import START, Kind, format_of
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.likeness import has_words, tokens_of
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.names import title_of_name, title_of_text
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits, refused
from tasks.ingest.formats.unpacking import read_whole
from tasks.ingest.formats.webpage import parse_webpage, read_chapter

# Begins each mail of a box: an address, a date, and then its headers.
_FROM = re.compile(
    rb"\AFrom [^\n]*\n|\nFrom \S*(?: at \S+)? +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b[^\n]*\n"
    rb"(?=[!-9;-~]+:)"
)
_LENGTH = re.compile(rb"(\d{1,12}) *\r?\n")  # above a mail that Apple's program keeps
_SIGNATURE = re.compile(r"^-- ?$", re.MULTILINE)  # not an underline
_SOFT = re.compile(r"(?<=\S)( *) \n(?!>)")  # RFC 3676: a space before the end of a line goes on
_SEALED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_PGP = re.compile(r"-----BEGIN PGP MESSAGE-----.*?(?:-----END PGP MESSAGE-----|\Z)", re.DOTALL)
_WRITTEN = ("text/plain", "text/html")
_TEXTS = (*_WRITTEN, "text/markdown", "text/csv", "text/tab-separated-values")
_FIELD = (
    r"(?:- )?\*?(?:From|Sent|Date|To|Cc|Subject|Von|Gesendet|Datum|An|Betreff|De|Envoyé|À|Objet"
    r"|发件人|寄件者|发送时间|日期|收件人|抄送|主题|主旨)\*? ?[:：]"
)
_FIELDS = re.compile(rf"^{_FIELD}.*(?:(?:\n.+){{0,2}}?\n\s*{_FIELD}.*){{2,}}", re.MULTILINE)
_OF_MAIL = re.compile(
    r"^(?:- )?\*?(?:Subject|Sent|Betreff|Gesendet|Objet|Envoyé|主题|主旨|发送时间)", re.MULTILINE
)
_LINE = re.compile("^(?=.)", re.MULTILINE)
_ADDRESS = re.compile(r"\b\w+://\S+")
_LONGEST_HEADER = 5_000
_HEADERS = ("from", "to", "cc", "date", "reply-to", "organization", "keywords")


def parse_mail(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the text of a mail, or of each mail of a box under its number from 1.

    Mails and texts that are attached to it have numbers of their own: 1, or 2.1 in a box.
    """
    data = read_whole(file, limits).removeprefix(BOM_UTF8).lstrip()
    if length := _LENGTH.match(data):
        data = data[length.end() :][: int(length[1])]
    if not data.startswith(b"From "):
        yield from _read(_parsed(data), "", limits)
        return
    for number, mail in enumerate(_FROM.split(data)[1:], 1):
        yield from _read(_parsed(mail.replace(b"\n>From ", b"\nFrom ")), str(number), limits)


def _parsed(data: bytes) -> EmailMessage:
    return BytesParser(EmailMessage, policy=default).parsebytes(data)


def _read(mail: Any, name: str, limits: ParserLimits) -> Parsed:
    """Yield a mail's own text with its headers as metadata, and then what is attached to it."""
    attached: list[Any] = []
    try:
        whole = _text(mail, limits.charset, attached)
    except RefusalError as error:
        yield refused(name, error.reason, error.text)
        return
    texts = [
        text
        for number, part in enumerate(attached, 1)
        for text in _attached(part, f"{name}.{number}".lstrip("."), limits)
    ]
    text = _PGP.sub("", whole)
    if has_words(text):
        headers = {header.lower(): _decoded(value) for header, value in mail.raw_items()}
        fields: list[tuple[str, Any]] = [(header, headers.get(header)) for header in _HEADERS]
        fields.append(("attachments", [part.get_filename() for part in attached]))
        title = headers.get("subject", "")
        yield ParsedText(name=name, title=title, text=text, metadata=described(fields))
    elif text != whole or any(part.get_content_type() in _SEALED for part in attached):
        yield refused(name, Reason.ENCRYPTED, "Its words are encrypted or sealed (PGP, S/MIME).")
    elif not texts:
        unread = "; its attachments are of kinds that are not read" if attached else ""
        yield refused(name, Reason.EMPTY, f"It holds no words{unread}.")
    yield from texts


def _text(part: Any, charset: str | None, attached: list[Any]) -> str:
    """Return the words of a part that readers see; parts that are attached are added to a list.

    Of alternatives it is the one with the most words, the plain one if they have as many.
    """
    kind, parts = part.get_content_type(), list(part.iter_parts())
    if part.is_attachment() or kind in _SEALED or part.get_content_maintype() == "message":
        attached.append(part)
        return ""
    if kind == "multipart/related" and parts:
        start = part.get_param("start")
        root = next((p for p in parts if start and p["content-id"] == start), parts[0])
        attached += [other for other in parts if other is not root]
        return _text(root, charset, attached)
    if parts:
        texts = [_text(inner, charset, attached) for inner in parts]
        if kind == "multipart/alternative":
            return max(texts, key=lambda text: len(tokens_of(_ADDRESS.sub("", text))))
        return "\n\n".join(filter(None, texts))
    if part.get_content_maintype() == "multipart" and part.get_payload():
        raise RefusalError(Reason.BAD_FORMAT, "Its parts are not divided as its headers say.")
    if kind not in _WRITTEN:
        attached.append(part)
        return ""
    text = _SIGNATURE.sub("", _words(part, charset))
    if kind == "text/html":
        text = read_chapter(text)
    elif part.get_param("format") == "flowed":
        text = _SOFT.sub(r"\1" if part.get_param("delsp") == "yes" else r"\1 ", text)
    return _FIELDS.sub(_quoted, text)


def _quoted(fields: re.Match[str]) -> str:
    """Return the headers of another mail as a quotation, so that they do not describe this one."""
    return _LINE.sub("> ", fields[0]) + "\n" if _OF_MAIL.search(fields[0]) else fields[0]


def _attached(part: Any, name: str, limits: ParserLimits) -> Parsed:
    """Yield the mails or texts in a part that is attached; of any other kind of file nothing."""
    file_name = part.get_filename("")
    if part.get_content_type() == "message/rfc822":
        for mail in part.iter_parts():
            encoding = part["content-transfer-encoding"]
            if encoding and not mail.keys():  # encoded, which some programs do and RFC 2046 forbids
                mail["content-transfer-encoding"] = encoding
                mail = _parsed(mail.get_payload(decode=True))
            yield from _read(mail, name, limits)
    elif part.get_content_type() in _TEXTS and (file_name or part.is_attachment()):
        try:
            data = _words(part, limits.charset).encode()
            parse = _PARSERS.get(format_of(file_name, data[:START])[0])
            plain = replace(limits, name=file_name, compression="", charset="utf-8")
            for text in parse(io.BytesIO(data), plain) if parse else ():
                if text is not None:
                    named = file_name and title_of_name(file_name)
                    title = text.title or title_of_text(text.text) or named
                    own = f"{name}.{text.name}".rstrip(".")
                    yield replace(text, name=own, title=title)
        except RefusalError as error:
            yield refused(name, error.reason, error.text)


def _parse_text(file: BinaryIO, limits: ParserLimits) -> Parsed:
    yield ParsedText(text=decode(read_whole(file, limits)))


_PARSERS = {
    Kind.TEXT: _parse_text,
    Kind.MAIL: parse_mail,
    Kind.WEB: parse_webpage,
    Kind.CSV: parse_csv,
}


def _words(part: Any, charset: str | None) -> str:
    data = part.get_payload(decode=True)
    try:
        text = decode_as_declared(data, part.get_content_charset() or encoding_of(data))
    except (LookupError, UnicodeError):
        text = decode(data, charset)
    return text.replace("\r\n", "\n")


def _decoded(header: Any) -> str:
    """Return a header with its encoded words (RFC 2047) decoded; one that is broken as it is."""
    try:
        return "".join(
            words if isinstance(words, str) else decode_as_declared(words, label or "utf-8")
            for words, label in decode_header(str(header)[:_LONGEST_HEADER])
        )
    except (LookupError, UnicodeError, MessageError):
        return str(header)
