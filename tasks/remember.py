"""Remember a user's notes: each becomes a document of the corpus and can be queried at once.

Notes are files in the home's folder `remember/`, which is refreshed as the source `remember`: a
text is `<hash>.json` without a title, any other file keeps its name in a folder `<hash>/`. The hash
covers the words, so a text that is given twice is kept once. A note removed from the folder is
forgotten at the next refresh of that source.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

import schemas
from schemas.errors import AlmanacError, BusyError, UsageError
from schemas.labels import SENSITIVE, held_labels
from schemas.operations import Rejection
from schemas.settings import Settings
from tasks.ingest.formats.cleaning import clean, decode
from tasks.ingest.formats.formats import Kind, format_of
from tasks.ingest.formats.inputs import RefusalError
from tasks.ingest.formats.sources import NOTES, NOTES_SOURCE, labels_of_note
from tasks.progress import Report, silent
from tasks.refresh import refresh
from tasks.run import RunReport
from tasks.text.languages import HAN_OR_KANA_CLASS
from warehouse import durable
from warehouse.editions import Edition
from warehouse.home import Home

FACTS = 50  # the most shown per note
PATIENCE = 60.0  # seconds that a note waits for another run at least
_FIRST_BYTES = 65_536
# Chinese sentences have no spaces either.
_WORD = rf"[^\s\u3000-\u303f{HAN_OR_KANA_CLASS}\uff00-\uffef]"
_PATH = re.compile(rf"{_WORD}*/{_WORD}*|{_WORD}+\.[A-Za-z][A-Za-z0-9]{{0,5}}")


@dataclass(frozen=True)
class Note:
    """A kept note: its uri within the source, and whether it is new."""

    uri: str
    new: bool


@dataclass
class Remembered:
    """The result for a note: its document, and the facts extracted from it."""

    note: Note
    run: RunReport
    edition: str
    document_id: str
    facts: list[dict[str, Any]]


def remember(home: Home, note: Note, settings: Settings, report: Report = silent) -> Remembered:
    """Read the notes, extract facts and publish; return the document and facts of this note.

    Raises AlmanacError with a plain message; the note is kept unless it cannot be read at all.
    """
    try:
        run = refresh(home, [NOTES_SOURCE], settings, patience=PATIENCE, report=report)
    except BusyError as busy:
        kept = f"The note is kept in {home.path / NOTES}, and is read together with the next one"
        raise BusyError(f"{busy} {kept}, or by `almanac refresh {NOTES_SOURCE}`.") from busy
    edition = home.editions.current()
    document = _document(edition, note) if edition else None
    if edition is None or document is None:
        raise _not_read(home, note, run)
    facts = _facts(edition, document["document_id"])
    return Remembered(note, run, edition.id, document["document_id"], facts)


def keep_text(home: Home, text: str, settings: Settings, marks: Sequence[str] = ()) -> Note:
    """Keep a text as a note, only once; raises UsageError if it is empty.

    The labels among its `marks` replace those that it had, and `none` takes them away; it is
    `sensitive` for good. Raises ValueError for what cannot be a label.
    """
    text = clean(text).strip()
    words = " ".join(text.split())
    if not any(map(str.isalnum, words)):
        raise UsageError("There is nothing to remember: the text holds no words.")
    if len(text) > settings.read.max_text_chars:
        raise UsageError(
            f"The text has {len(text):,} characters; {settings.read.max_text_chars:,} are allowed "
            "(max_text_chars in settings.toml)."
        )
    path = home.path / NOTES / f"{_hash(words.encode())}.json"
    new = not path.exists()
    _mark(home, path.name, marks)
    if new:
        durable.write_json(path, {settings.read.text_column: text})
    return Note(path.name, new)


def keep_file(home: Home, file: Path, settings: Settings, marks: Sequence[str] = ()) -> Note:
    """Keep a file as a note, only once even under other names; plain text is kept like typed text.

    Raises as `keep_text` does, also if it is no file, is too large or has an unsupported format.
    """
    if not file.is_file():
        raise UsageError(f"{file} is not a file; give a text or one file, or refresh a folder.")
    size, allowed = file.stat().st_size, settings.read.max_file_bytes
    if size > allowed:
        raise UsageError(
            f"{file} has {size:,} bytes; {allowed:,} are allowed (max_file_bytes in settings.toml)."
        )
    data = file.read_bytes()
    try:
        kind, compression = format_of(file.name, data[:_FIRST_BYTES])
        if kind is Kind.TEXT and not compression:
            return keep_text(home, decode(data, settings.read.charset), settings, marks)
    except RefusalError as refused:
        raise UsageError(f"{file} was not kept: {refused.text}") from refused
    folder = home.path / NOTES / _hash(data)
    existing = next(iter(sorted(folder.glob("[!.]*"))), None)
    path = existing or folder / (file.name.lstrip(".") or "note")
    _mark(home, folder.name, marks)
    if existing is None:
        durable.write_bytes(path, data)
    return Note(f"{folder.name}/{path.name}", existing is None)


def looks_like_a_path(text: str) -> bool:
    """Tell whether the words look like the path of a file rather than a text."""
    return bool(_PATH.fullmatch(text.strip()))


def _mark(home: Home, uri: str, marks: Sequence[str]) -> None:
    """Write a note's labels before the note, so that no run reads it without them."""
    file, before = labels_of_note(home.path / NOTES, uri)
    labels = held_labels(mark for mark in marks if mark != SENSITIVE)
    after = sorted({*before, *marks} & {SENSITIVE} | {*(before if labels is None else labels)})
    if after != before:
        durable.write_json(file, after)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]


def _document(edition: Edition, note: Note) -> dict[str, Any] | None:
    """Return the document that holds a note; for a file of records, its first document."""
    table = edition.table(schemas.Document).select(["document_id", "source", "uri"])
    rows = table.filter(pc.field("source") == NOTES).to_pylist()
    return next((row for row in rows if row["uri"].partition("#")[0] == note.uri), None)


def _facts(edition: Edition, document_id: str) -> list[dict[str, Any]]:
    """Return the first triples that the document plainly asserts."""
    table = edition.table(schemas.Triple)
    is_plain = (pc.field("polarity") == "positive") & (pc.field("modality") == "asserted")
    own = table.filter((pc.field("document_id") == document_id) & is_plain)
    return own.slice(0, FACTS).select(["head", "relation", "tail", "confidence"]).to_pylist()


def _not_read(home: Home, note: Note, run: RunReport) -> AlmanacError:
    """Return why a note is missing from the edition; delete the note if it cannot be read."""
    rows, own = home.live.table(Rejection).to_pylist(), (run.run_id, note.uri)
    rejections = [row for row in rows if (row["run_id"], row["item_id"]) == own]
    if not rejections:
        return AlmanacError(
            f"The note {note.uri} is kept, but the edition does not hold it: another document "
            "says exactly the same, or it was excluded."
        )
    path = home.path / NOTES / note.uri
    path.unlink(missing_ok=True)
    if "/" in note.uri:
        path.parent.rmdir()
    reason = rejections[0]["text"] or rejections[0]["reason"]
    return AlmanacError(f"It was not remembered: {reason}")
