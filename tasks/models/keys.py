"""Keeps API keys of endpoints out of everything that is written, shown or stored."""

import base64
import json
import logging
import os
import re
from functools import lru_cache
from urllib.parse import quote

HIDDEN = "[key]"
SHORTEST = 8  # characters; shorter values of such variables are words, not keys
_KEY_VARIABLE = re.compile(r"(?:^|_)(?:API_KEY|SECRET|TOKEN|SECRET_ACCESS_KEY|PASSWORD)$")
_LOOKS_LIKE_A_KEY = re.compile(r"\bsk-[A-Za-z0-9_-]{8,}")
_LOGGERS = ("openai", "httpx2", "httpcore2", "httpx", "httpcore")


def scrub(text: str) -> str:
    """Return a text in which every key, in any common encoding, is masked."""
    for form in _forms(_keys()):
        text = text.replace(form, HIDDEN)
    return _LOOKS_LIKE_A_KEY.sub(HIDDEN, text)


def holds_secret(text: str) -> bool:
    """Return whether a text contains a key from the environment, in any common encoding."""
    return any(form in text for form in _forms(_keys()))


def quieten_clients() -> None:
    """Keep the libraries that call endpoints from logging requests, at any log level."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


def _keys() -> tuple[str, ...]:
    return tuple(
        sorted(
            value
            for name, value in os.environ.items()
            if _KEY_VARIABLE.search(name.upper()) and len(value) >= SHORTEST
        )
    )


@lru_cache(maxsize=8)
def _forms(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys plain and in base64, hex, URL and JSON encoding, longest first."""
    forms: set[str] = set()
    for key in keys:
        data = key.encode()
        forms |= {key, data.hex(), data.hex().upper(), quote(key, safe="")}
        forms |= {json.dumps(key)[1:-1], *_base64(data)}
    return tuple(sorted(forms, key=len, reverse=True))


def _base64(data: bytes) -> set[str]:
    """Return the base64 encodings of the bytes at each of the three alignments."""
    forms = set()
    for lead in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            whole = encode(b"\0" * lead + data).decode().rstrip("=")
            # The first and last digits also depend on the neighbours.
            forms.add(whole[-(-lead * 4 // 3) : len(whole) - (1 if (lead + len(data)) % 3 else 0)])
    return forms
