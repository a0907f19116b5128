"""Reading an item: it ends in texts, refusals and removals, never in an error."""

import hashlib
from collections.abc import Iterator

from schemas.settings import ReadSettings
from tasks.reading import likeness
from tasks.reading.cleaning import clean, clean_line, decode
from tasks.reading.inputs import Item, Outcome, ReadText, Reason, Refusal, RefusalError
from tasks.reading.languages import detect_language
from tasks.reading.names import title_of_name
from tasks.reading.sources import open_item
from tasks.reading.titles import title_of_text

_SENTENCES = {
    Reason.NOT_A_FILE: "It is a pipe, a device or a socket; only files are read.",
    Reason.OUTSIDE_SOURCE: "It is a link that leads out of the source, or nowhere.",
}


def read_item(item: Item, settings: ReadSettings) -> Iterator[Outcome]:
    """Yield what an item holds: a text or refusal for each input in it, removals of a feed.

    Never raises for bad input. A refusal under the item's own uri means that it was not read to
    its end: records of it that did not come may still exist.
    """
    try:
        yield from _read(item, settings)
    except RefusalError as refused:
        yield Refusal(item.uri, refused.reason, refused.text)
    except OSError as error:
        text = f"It could not be opened or read: {error.strerror or type(error).__name__}."
        yield Refusal(item.uri, Reason.UNREADABLE, text)


def _read(item: Item, settings: ReadSettings) -> Iterator[Outcome]:
    if item.refusal is not None:
        raise RefusalError(item.refusal, _SENTENCES[item.refusal])
    if item.size > settings.max_file_bytes:
        raise RefusalError(Reason.TOO_LARGE, _too_large(item.size, settings.max_file_bytes))
    with open_item(item) as file:
        data = file.read(settings.max_file_bytes + 1)
    if len(data) > settings.max_file_bytes:
        raise RefusalError(Reason.TOO_LARGE, _too_large(len(data), settings.max_file_bytes))
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        text = clean(decode(data))
        yield make_text(item.uri, sha256, "", "", text, settings)
    except RefusalError as refused:
        yield Refusal(item.uri, refused.reason, refused.text, sha256)


def make_text(
    uri: str, sha256: str, version: str, title: str, text: str, settings: ReadSettings
) -> ReadText:
    """Return the finished text of an input from its cleaned text; raises `RefusalError`."""
    if len(text) > settings.max_text_chars:
        sentence = (
            f"Its text has {len(text):,} characters; {settings.max_text_chars:,} are allowed "
            "(max_text_chars in settings.toml)."
        )
        raise RefusalError(Reason.TOO_LONG, sentence)
    tokens = likeness.tokens_of(text)
    if not tokens:
        raise RefusalError(Reason.EMPTY, "It holds no words.")
    title = clean_line(title) or title_of_text(text) or title_of_name(uri)
    language = detect_language(text)
    return ReadText(
        uri, sha256, version, title, text, language, len(tokens), likeness.minhash(tokens)
    )


def _too_large(size: int, allowed: int) -> str:
    return f"It has {size:,} bytes; {allowed:,} are allowed (max_file_bytes in settings.toml)."
