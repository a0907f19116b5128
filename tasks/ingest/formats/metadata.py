"""Collect the metadata of files: under common names, of bounded size, and without secrets."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from email.utils import parseaddr, parsedate_to_datetime
from itertools import islice
from typing import Any

from schemas.labels import as_label
from tasks.ingest.formats.cleaning import clean_line
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.url_secrets import is_secret, without_secret_urls
from tasks.ingest.front_matter import LABELS, hides_labels, read_front_matter
from tasks.text.values import find_values

Metadata = dict[str, Any]

_NAMES = {
    "author": "author author_name authors creator creators byline by "
    "writer writers from dc:creator "
    "dcterms:creator article:author citation_author",
    "date": "date published pubdate published_at publish_date publishdate date_published created "
    "created_at creation_date datepublished datecreated issued article:published_time dc:date "
    "dcterms:date dcterms:created dcterms:issued citation_publication_date sent",
    "modified": "modified updated updated_at last_updated lastmod last_modified last_modified_at "
    "revdate datemodified article:modified_time dcterms:modified og:updated_time",
    "tags": "tags tag keywords news_keywords categories category labels topics topic article:tag "
    "dc:subject dcterms:subject",
    "language": "language lang inlanguage dc:language dcterms:language content-language",
    "description": "description summary abstract excerpt dc:description og:description",
    "publisher": "publisher dc:publisher dcterms:publisher og:site_name",
    "license": "license licence rights copyright dc:rights dcterms:license",
}
_UNREAD = (
    "It seems to name labels, which cannot be read. Write `labels: [one, two]` on a line of its "
    "own in valid YAML of at most 16,000 characters, between two lines of `---` that open the text."
)
_COMMON = {name: common for common, names in _NAMES.items() for name in names.split()}
KNOWN = frozenset(_COMMON)
_TITLES = frozenset(["title", "headline", "subject", "og:title", "dc:title", "dcterms:title"])
_DUBLIN_CORE = re.compile(r"^(dc|dcterms)\.")
_LISTED = re.compile(r"[,;，、；\n]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}")
_ISO = re.compile(r"\d{4}(-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?)?)?")
_LENGTH_OF_DAY = 10  # "2020-01-05"
_MOST_READ = 1_000  # fields
_MOST_FIELDS = 40
_MOST_PARTS = 50  # authors, or tags
_LONGEST_NAME = 60
_LONGEST_VALUE = 500
_MOST_BITS = 1_000  # of a whole number; Python refuses to write very long ones
_TYPES = (str, int, float, bool)


def described(fields: Iterable[tuple[str, Any]], *, only_known: bool = False) -> Metadata:
    """Return fields as the metadata of a document: strings, and a list under `tags`.

    Author, date, modified, tags, language, description, publisher and license have these names
    whatever the file calls them; authors are joined by "; ", dates are ISO 8601. Other
    fields keep their names, unless only known ones are wanted. Titles, secrets, dates that are none
    and whatever is neither a word nor a list of words are left out.
    """
    metadata: Metadata = {}
    authors: list[str] = []
    tags: list[str] = []
    for name, value in _flat(islice(fields, _MOST_READ)):
        name = clean_line(str(name), _LONGEST_NAME).lower()
        common = _COMMON.get(_DUBLIN_CORE.sub(r"\1:", name.replace(" ", "_")))
        if name in _TITLES or not name or (only_known and common is None):
            continue
        words = [word for word in _words(value) if not is_secret(name, word)]
        if common == "author":
            authors += [person for word in words if (person := _person(word))]
        elif common == "tags":
            split = words if isinstance(value, list) else _LISTED.split(" ".join(words))
            tags += filter(None, map(str.strip, split))
        elif words and len(metadata) < _MOST_FIELDS and (value := _value(common, words)):
            metadata.setdefault(common or name, value)
    if authors:
        metadata["author"] = "; ".join(dict.fromkeys(authors[:_MOST_PARTS]))[:_LONGEST_VALUE]
    if tags:
        metadata["tags"] = list(dict.fromkeys(tags[:_MOST_PARTS]))
    return {name: value for name, value in sorted(metadata.items()) if value}


def with_front_matter(given: Metadata, text: str) -> Metadata:
    """Return the given metadata, else those of a text's front matter, with a list under `labels`.

    The fields `label` and `labels` decide who sees it; elsewhere, as in records, they are tags.
    Raises `RefusalError` if they seem to be there and cannot be read.
    """
    fields = read_front_matter(text)
    own: set[str] = set()
    for value in [fields.pop(name, []) for name in LABELS]:
        words = value if isinstance(value, list) else [value]
        try:
            parts = [part for word in words for part in _LISTED.split(word)]
            own |= {as_label(part) for part in parts if part.strip()}
        except (TypeError, ValueError):  # what is no text cannot be split
            raise RefusalError(Reason.BAD_FORMAT, _UNREAD) from None
    if hides_labels(text):
        raise RefusalError(Reason.BAD_FORMAT, _UNREAD)
    return (given or described(fields.items())) | ({"labels": sorted(own)} if own else {})


def _flat(fields: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield fields and, of a group such as `[taxonomies]`, those whose names are known."""
    for name, value in fields:
        yield name, value
        if isinstance(value, dict) and "name" not in value:
            yield from ((key, part) for key, part in value.items() if key in KNOWN)


def _words(value: Any) -> Iterator[str]:
    """Yield the texts of a value: its own, its members', or the name that a mapping gives."""
    if isinstance(value, dict):
        value = value.get("name")
    if isinstance(value, (list, tuple)):
        for member in value[:_MOST_PARTS]:
            if not isinstance(member, (list, tuple)):
                yield from _words(member)
    elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return
    elif value is not None and (isinstance(value, _TYPES) or hasattr(value, "isoformat")):
        plain = value.isoformat() if hasattr(value, "isoformat") else str(value)
        if words := without_secret_urls(clean_line(plain, _LONGEST_VALUE)):
            yield words


def _value(common: str | None, words: list[str]) -> str:
    if common in ("date", "modified"):
        return iso_date(words[0])
    if common == "language":
        return words[0] if _LANGUAGE.fullmatch(words[0]) else ""
    return "; ".join(words)[:_LONGEST_VALUE]


def _person(words: str) -> str:
    """Return a person's name, without the address of a mail or a page."""
    if "@" not in words:
        return "" if words.startswith(("http:", "https:")) else words
    name, address = parseaddr(words)
    return name or address


def iso_date(words: str) -> str:
    """Return the date that words state in ISO 8601, as exactly as they do; "" if there is none."""
    try:
        if not _ISO.fullmatch(words):
            return parsedate_to_datetime(words).isoformat()
        datetime.fromisoformat(f"{words}-01-01"[: max(len(words), _LENGTH_OF_DAY)])
        return words
    except (ValueError, TypeError, IndexError):
        values = [value for tongue in ("en", "zh") for *_, value in find_values(words, tongue)]
        return max((value.date or "" for value in values if value.is_date), key=len, default="")
