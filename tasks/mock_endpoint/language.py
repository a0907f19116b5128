"""Which of the two languages that the engine knows a text is in."""

import re

_LETTER = re.compile(r"[^\W\d_]")
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def language_of(text: str) -> str:
    """Return zh for a text most of whose letters are Chinese, else en."""
    return "zh" if 2 * len(_CJK.findall(text)) > len(_LETTER.findall(text)) else "en"
