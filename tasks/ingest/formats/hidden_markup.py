"""Find markup that hides words from readers, in web pages and inside other texts."""

import re
from bisect import bisect_right

_NONE = r"0?(\.0+)?%?\s?\)"  # an alpha of nothing, as the last part of a colour
_UNSEEN_STYLE = re.compile(
    r"text-decoration(-line)? ?: ?[a-z ]*line-through"
    r"|(?<![\w-])(display ?: ?none|visibility ?: ?(hidden|collapse)"
    r"|opacity ?: ?0?(\.0\d*)?%? ?(;|!|$))|font-size ?: ?[0-2]?(\.\d+)? ?(px|pt|%)"
    r"|font-size ?: ?(0|0?\.[01]\d*) ?(r?em|;|!|$)|(?<![\w-])font ?: ?([a-z-]+ )*0(px|pt)?[ /;]"
    r"|clip ?: ?rect\( ?[01](px)?[ ,]|clip-path ?: ?(inset\( ?(50|100)%|circle\( ?0)"
    r"|(left|right|top|bottom|text-indent) ?: ?-(\d{4}|\d{3,} ?(r?em|v[wh]))"
    r"|scale[xyz3d]{0,2}\( ?0(\.0+)? ?[,)]|translate[xyz3d]{0,2}\( ?-\d{4}"
    r"|(?<![\w-])color ?: ?(transparent|#([\da-f]{3}|[\da-f]{6}0)0\b"
    rf"|(rgb|hsl)a?\( ?([\d.]+(%|deg)? ?[ ,/] ?){{3}}{_NONE})",
    re.IGNORECASE,
)
# White, and what differs from it by five of 255 at most.
_WHITE = re.compile(
    r"(?<![\w-])color ?: ?(#f{3,4}\b|#(f[a-f]){3,4}\b|white\b|rgba?\( ?(25[0-5]\b ?[ ,]? ?){3}"
    r"|rgba?\( ?((99|100)% ?[ ,]? ?){3}|hsla?\( ?[\d.]+(deg)? ?[ ,] ?[\d.]+% ?[ ,] ?(99|100)%)",
    re.IGNORECASE,
)
_STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STYLE_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE)
_STRUCK = frozenset({"del", "s", "strike"})
_TAG = re.compile(r"(?<!\\)<([A-Za-z][A-Za-z0-9]{0,15})(?=[\s/>])([^<>]*)>")
_CLOSING = re.compile(r"</([A-Za-z][A-Za-z0-9]{0,15})>")
_STYLE = re.compile(r"\bstyle\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE)
_HIDDEN = re.compile(r"(^|\s)hidden(\s|=|/|$)|aria-hidden\s*=\s*[\"']?true", re.IGNORECASE)
_HTML = re.compile(
    r"\s*<(!doctype\s+html|(html|head|body|meta|p|div|span|article|section|h[1-6]|table|ul|ol|br)"
    r"(?=[\s/>]))",
    re.IGNORECASE,
)


def looks_like_html(text: str) -> bool:
    """Tell whether a text begins like HTML."""
    return bool(_HTML.match(text[:200]))


def hides(style: str) -> bool:
    """Tell whether an element's style hides it on any background."""
    return bool(_UNSEEN_STYLE.search(plain_style(style)))


def is_white(style: str) -> bool:
    """Tell whether a style makes text white without giving it a background of its own."""
    style = plain_style(style)
    return bool(_WHITE.search(style)) and "background" not in style.lower()


def plain_style(style: str) -> str:
    """Return a style as a browser reads it: without comments and escapes, with single spaces."""
    if "/*" in style or "\\" in style:
        style = _STYLE_ESCAPE.sub(_unescaped, _STYLE_COMMENT.sub("", style))
    return " ".join(style.split())


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1] or "0", 16)
    return chr(code) if 0 < code < 0x110000 else escape[2] or ""


def drop_hidden_markup(text: str) -> str:
    """Return a text without HTML comments, hidden and struck elements, otherwise unchanged.

    Markdown may contain both, and text that a reader cannot see must not become knowledge. Comments
    and elements that are never closed stay.
    """
    if "<!--" in text:
        text = _drop_comments(text)
    if "<" not in text:
        return text
    closings: dict[str, list[int]] = {}
    for closing in _CLOSING.finditer(text):
        closings.setdefault(closing[1].lower(), []).append(closing.end())
    kept, place = [], 0
    for tag in _TAG.finditer(text):
        ends = closings.get(tag[1].lower(), [])
        if tag.start() < place or not ends or not _is_hidden(tag[1].lower(), tag[2]):
            continue
        nearest = bisect_right(ends, tag.end())
        if nearest < len(ends):
            kept.append(text[place : tag.start()])
            place = ends[nearest]
    return "".join((*kept, text[place:]))


def _is_hidden(name: str, attributes: str) -> bool:
    if name in _STRUCK or _HIDDEN.search(attributes):
        return True
    style = _STYLE.search(attributes)
    return style is not None and (hides(style[1].strip("\"'")) or is_white(style[1]))


def _drop_comments(text: str) -> str:
    kept, place = [], 0
    while (start := text.find("<!--", place)) >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            break
        kept.append(text[place:start])
        place = end + 3
    return "".join((*kept, text[place:]))
