"""The words of a PDF that two other readers find: pdfminer.six and pypdf, each a reader of its own.

`pip install pdfminer.six` adds the first.
"""

import re
import signal
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST = 30  # seconds for a file; some of those that test readers never end
_UNKNOWN = re.compile(r"\(cid:\d+\)")
_HYPHENATED = re.compile(r"(?<=[a-z\u00df-\u00ff])-[ \t]*\n(?=[a-z\u00df-\u00ff])")


def words_of_pdf(path: Path) -> str | None:
    """Return the words that both readers find, however ordered; None if one of them fails."""
    found = [_text(reader, path) for reader in (_by_pdfminer, _by_pypdf)]
    if None in found:
        return None
    first, second = (Counter(text.split()) for text in found if text is not None)
    return " ".join((first & second).elements())


def _text(reader: Callable[[Path], str], path: Path) -> str | None:
    """Return what a reader finds, with words hyphenated at line ends joined; None if it fails."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        text = reader(path)
    except Exception:  # these readers raise errors of every kind
        return None
    finally:
        signal.alarm(0)
    return unicodedata.normalize("NFKC", _HYPHENATED.sub("", _UNKNOWN.sub(" ", text)))


def _by_pdfminer(path: Path) -> str:
    from pdfminer.high_level import extract_text

    return str(extract_text(path))


def _by_pypdf(path: Path) -> str:
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(path).pages)
