"""The process that parses untrusted files: its memory is bounded and it cannot write to disk.

A request over a socket names a format and carries an open file; the answer is a series of frames,
each four bytes of length and then JSON. The process knows no paths.
"""

import dataclasses
import os
import signal
import socket
import sys
import time
from typing import Any

import orjson

from tasks.ingest.formats.cleaning import clean, clean_line
from tasks.ingest.formats.dialects import read_dialects
from tasks.ingest.formats.formats import Kind
from tasks.ingest.formats.hidden_markup import drop_hidden_markup
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import html_tables_as_markdown
from tasks.ingest.formats.parsed_text import Parsed, Parser, ParserLimits

_WRITTEN = frozenset({Kind.JSON, Kind.LINES, Kind.CSV, Kind.PARQUET, Kind.NOTEBOOK})  # by people
_MEMORY = 1 << 30  # bytes of data that one parser may hold
_STACK_OF_CALLS = 3_000  # Python's recursion limit; input nested more deeply is refused
_HEARTBEAT = 1.0  # seconds between frames while a parser has no text to send


def main() -> None:
    """Serve parse requests on standard input's socket until it closes."""
    _confine()
    channel = socket.socket(fileno=os.dup(0))
    channel.setblocking(True)
    _send(channel, {"ready": True})
    while True:
        message, handles, _, _ = socket.recv_fds(channel, 65_536, 1)
        if not message:
            return
        request = orjson.loads(message)
        signal.alarm(0)
        with os.fdopen(handles[0], "rb") as file:
            file.seek(0)  # the position is shared with whoever opened the file
            limits = ParserLimits(**request["limits"])
            _answer(channel, Kind(request["kind"]), file, limits, request["seconds"])


def _confine() -> None:
    """Limit memory, files, core dumps and recursion to what parsing needs."""
    import resource

    for limit, value in (
        (resource.RLIMIT_DATA, _MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 128),
    ):
        _, hard = resource.getrlimit(limit)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.setrecursionlimit(_STACK_OF_CALLS)


def _answer(
    channel: socket.socket, kind: Kind, file: Any, limits: ParserLimits, seconds: float
) -> None:
    try:
        last = time.monotonic()
        for text in _parsed(kind, file, limits, seconds):
            if text is not None:
                _send(channel, dataclasses.asdict(text))
                last = time.monotonic()
            elif time.monotonic() - last > _HEARTBEAT:
                _send(channel, {"alive": True})
                last = time.monotonic()
        _send(channel, {"done": True})
    except RefusalError as error:
        _send(channel, {"refused": error.reason, "sentence": error.text})
    except MemoryError:
        sentence = "Its parser needed too much memory."
        _send(channel, {"refused": Reason.OUT_OF_MEMORY, "sentence": sentence})
        sys.exit(1)
    except RecursionError:
        _send(channel, {"refused": Reason.TOO_DEEP, "sentence": "It is nested too deeply."})
    except ImportError as error:
        _send(channel, {"broken": str(error)})
    # Hostile files make parsers fail in every possible way; each means a broken file.
    except Exception as error:
        sentence = f"Its parser found it broken ({type(error).__name__})."
        _send(channel, {"refused": Reason.BAD_FORMAT, "sentence": sentence})


def _parsed(kind: Kind, file: Any, limits: ParserLimits, seconds: float) -> Parsed:
    """Yield the parser's texts, cleaned; an alarm ends the process if the parser hangs."""
    alarm = int(seconds) + 5
    signal.alarm(alarm)
    for parsed in _parser_of(kind)(file, limits):
        signal.alarm(alarm)
        if parsed is None or parsed.reason:
            yield parsed
            continue
        text = parsed.text
        if len(text) > 2 * limits.max_text_chars:
            sentence = f"Its text has {len(text):,} characters."
            yield dataclasses.replace(parsed, text="", reason=Reason.TOO_LONG, sentence=sentence)
            continue
        if parsed.page_starts is None:
            text = drop_hidden_markup(clean(text))
            text = read_dialects(text) if kind in _WRITTEN else text
            text = html_tables_as_markdown(text).strip("\n")
        yield dataclasses.replace(parsed, title=clean_line(parsed.title), text=text)
    signal.alarm(0)


def _parser_of(kind: Kind) -> Parser:
    from tasks.ingest.formats import (
        article,
        delimited,
        epub,
        mail,
        notebook,
        opendocument,
        picture,
        records,
        slides,
        subtitles,
        webpage,
        wiki_dump,
        word,
        workbook,
    )

    if kind is Kind.RESTRUCTURED:  # docutils takes a tenth of a second to load
        from tasks.ingest.formats.restructured import parse_restructured

        return parse_restructured
    if kind is Kind.PDF:  # pdfium half of one
        from tasks.ingest.formats.pdf import parse_pdf

        return parse_pdf
    parsers: dict[Kind, Parser] = {
        Kind.WEB: webpage.parse_webpage,
        Kind.WORD: word.parse_word,
        Kind.SLIDES: slides.parse_slides,
        Kind.WORKBOOK: workbook.parse_workbook,
        Kind.BOOK: epub.parse_book,
        Kind.OPENDOCUMENT: opendocument.parse_opendocument,
        Kind.JSON: records.parse_json,
        Kind.LINES: records.parse_lines,
        Kind.CSV: delimited.parse_csv,
        Kind.PARQUET: records.parse_parquet,
        Kind.WIKI: wiki_dump.parse_wiki,
        Kind.WIKITEXT: wiki_dump.parse_wikitext,
        Kind.MAIL: mail.parse_mail,
        Kind.NOTEBOOK: notebook.parse_notebook,
        Kind.SUBTITLES: subtitles.parse_subtitles,
        Kind.ARTICLE: article.parse_article,
        Kind.PICTURE: picture.parse_picture,
    }
    return parsers[kind]


def _send(channel: socket.socket, frame: dict[str, Any]) -> None:
    data = orjson.dumps(frame)
    channel.sendall(len(data).to_bytes(4, "big") + data)


if __name__ == "__main__":
    main()
