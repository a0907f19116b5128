"""Helpers for the APIs of all wikis: parameters, errors within replies, page titles."""

import re
from collections.abc import Mapping
from typing import Any

from tasks.programs.knowledge_bases.remote_call import RemoteCall, RemoteRefusal, line, rows, table

MOST_IDS = 50  # values per request, the most without special rights
LONGEST_SEARCH = 250  # bytes of a page's name are 255, characters of a search 300
_PASSING = {"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryError"}
_NO_TITLE = re.compile(r"[#<>\[\]{}|]")


def api_call(url: str, keep: bool = True, **params: str) -> RemoteCall:
    """Return a call of the Action API in its current JSON form."""
    common: Mapping[str, str] = {"format": "json", "formatversion": "2"}
    return RemoteCall(url, {**common, **params}, refusal=refusal, keep=keep)


def refusal(reply: Any) -> RemoteRefusal | None:
    """Return the error in a reply, whichever of the API's forms it has."""
    errors = [table(reply, "error"), *map(table, rows(table(reply).get("errors")))]
    for error in errors:
        if code := line(error.get("code")):
            words = line(error.get("info")) or line(error.get("text")) or code
            return RemoteRefusal(words.rstrip("."), passing=code in _PASSING)
    return None if isinstance(reply, dict | list) else RemoteRefusal("the reply has another form")


def searchable(name: str) -> str:
    """Return a name in the form that a search accepts."""
    return line(name, LONGEST_SEARCH)


def as_title(name: str) -> str:
    """Return a name as the title of a page; empty if no page can have that title."""
    title = searchable(name)
    fits = title and not _NO_TITLE.search(title) and len(title.encode()) <= 255
    return title if fits else ""
