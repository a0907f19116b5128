"""Programs as models write them, made readable for an interpreter.

Only typography is corrected: a Markdown fence, curly quotes and full-width signs in code, tabs, and
a body without its `def search():`. Texts between quotes stay as they are.
"""

import re

from tasks.programs.sandbox import SEARCH

_FENCE = re.compile(r"\A\s*```[a-zA-Z]*[ \t]*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_DOUBLE, _SINGLE = "“”„‟＂", "‘’‚‛＇"
_CLOSERS = {**dict.fromkeys(_DOUBLE, "“”„‟＂"), **dict.fromkeys(_SINGLE, "‘’‚‛＇")}
_WIDE = str.maketrans("（）［］｛｝，：；＝＋－＊／＜＞．\u3000\u00a0", "()[]{},:;=+-*/<>.  ")
_AFTER_A_TEXT = re.compile(
    r"\s*(?:$|[,)\]}:=+;#.]|[，）］｝：；]|(?:in|and|or|if|else|for|is|not)\b)"
)
_RETURN = re.compile(r"^return\b", re.MULTILINE)


def readable_code(code: str) -> str:
    """Return a program with the quotes and signs of Python."""
    fenced = _FENCE.match(code)
    text = (fenced.group(1) if fenced else code).replace("\r\n", "\n").replace("\r", "\n")
    text = _corrected(text.expandtabs(4)) if not text.isascii() else text.expandtabs(4)
    if not SEARCH.search(text) and _RETURN.search(text):
        body = "\n".join(f"    {line}" if line.strip() else line for line in text.splitlines())
        text = f"def search():\n{body}"
    return text.strip("\n")


def quoted_texts(code: str) -> list[str]:
    """Return the texts between quotes in a program, once each, in their order."""
    texts: dict[str, None] = {}
    at = 0
    while at < len(code):
        start, at = at, at + 1
        if code[start] in "'\"":
            at = _end_of_text(code, start)
            texts[code[start:at].strip(code[start])] = None
        elif code[start] == "#":
            at = _end_of_line(code, start)
    return [text for text in texts if text.strip()]


def _corrected(code: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(code):
        sign, end = code[at], at + 1
        if sign in _CLOSERS:
            end = _end_of_curly(code, at)
            inner = code[at + 1 : end - 1]
            quote = "'" if sign in _SINGLE else '"'
            inner = inner.replace("\\", "\\\\").replace(quote, "\\" + quote)
            parts.append(f"{quote}{inner}{quote}")
        elif sign in "'\"#":
            end = _end_of_line(code, at) if sign == "#" else _end_of_text(code, at)
            parts.append(code[at:end])
        else:
            parts.append(sign.translate(_WIDE))
        at = end
    return "".join(parts)


def _end_of_text(code: str, start: int) -> int:
    """Return the end of a string literal that begins with a straight quote.

    A literal without triple quotes ends at the end of its line at the latest.
    """
    quote = code[start]
    if code.startswith(quote * 3, start):
        end = code.find(quote * 3, start + 3)
        return len(code) if end < 0 else end + 3
    at = start + 1
    while at < len(code) and code[at] != "\n":
        if code[at] == "\\":
            at += 1
        elif code[at] == quote:
            return at + 1
        at += 1
    return min(at, len(code))


def _end_of_curly(code: str, start: int) -> int:
    """Return the end of a string in curly quotes: the first closing quote that code may follow."""
    closers = _CLOSERS[code[start]]
    last = _end_of_line(code, start)
    for at in range(start + 1, last):
        if code[at] in closers and _AFTER_A_TEXT.match(code, at + 1, last):
            return at + 1
    return last


def _end_of_line(code: str, start: int) -> int:
    end = code.find("\n", start)
    return len(code) if end < 0 else end
