"""What the style sheets inside a web page hide from readers at an ordinary screen.

A rule hides only where it holds for each of them: not in print, on narrow screens or for a
preference. What shows an element again counts wherever it may hold, in the order of the cascade
(https://www.w3.org/TR/css-cascade-4/#cascade-sort).
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tasks.ingest.formats.hidden_markup import hides, plain_style

_NEVER, _SOMETIMES, _ALWAYS = range(3)  # when a condition holds on an ordinary screen
_WIDTH = 1_280  # pixels of that screen
_LONGEST_SHEET = 200_000
_UNREAD = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->|\"[^\"\n]*\"|'[^'\n]*'", re.DOTALL)
_PART = re.compile(r"([^{}]*)([{}])")
_NAME = r"(?:[\w-]|\\.)+"
_COMPOUND = re.compile(rf"(?:{_NAME}|\*)?(?:[.#]{_NAME})*")
_NEEDED = re.compile(rf"[.#]?{_NAME}")
_COMBINED = re.compile(r"\s*>\s*|\s+")
_BOUND = re.compile(r"\((max|min)-(?:device-)?width ?: ?(\d{1,5})(?:\.\d*)? ?(px|r?em)\)")
_OTHER_MEDIUM = re.compile(r"(?:only )?(?!(?:screen|all|not|only)\b)[a-z]|not (?:screen|all)\b")
_MOVED = frozenset({"opacity", "visibility", "transform"})  # brought into view by an animation
_INHERITED = frozenset({"visibility", "font-size", "font"})

_Style = dict[str, str]  # values by property


class _Rule(NamedTuple):
    """What a selector needs, as tag, `.class` or `#id`; its weight in the cascade; its style."""

    around: list[set[str]]  # of the elements around
    own: set[str]
    weight: tuple[int, ...]
    style: _Style

    def fits(self, names: set[str], element: Any) -> bool:
        return self.own <= names and all(
            any(needed <= _names(outer) for outer in element.iterancestors())
            for needed in self.around
        )


class StyleSheets:
    """The rules of a page's own style sheets that hide elements, or show those again."""

    def __init__(self, page: Any) -> None:
        """Read the style sheets inside a page."""
        parts = [
            part
            for sheet in page.iter("style")
            if sheet.getparent().tag != "noscript"
            for part in _parts((sheet.text or "")[:_LONGEST_SHEET], sheet.get("media") or "")
        ]
        hiding = [words for _, words, holds in parts if holds is _ALWAYS and hides(words)]
        properties = {name for words in hiding for name in _hiding(_style(words))}
        self._rules: dict[str, list[_Rule]] = {}  # by one name that their elements need
        self._hiding: set[str] = set()  # those names of which a rule hides
        for place, (selectors, words, holds) in enumerate(parts):
            if any(name in words for name in properties):
                for rule in _rules(selectors, place, _style(words), holds):
                    name = min(rule.own)  # rarely a tag
                    self._rules.setdefault(name, []).append(rule)
                    if _hiding(rule.style):
                        self._hiding.add(name)

    def hide(self, element: Any) -> bool:
        """Tell whether an element's style, or its attribute `hidden`, hides its words."""
        own = element.get("style") or element.get("hidden") is not None
        if not own and self._hiding.isdisjoint(_names(element)):
            return False
        if not _hiding(self._style_of(element, alone=True)):
            return False  # selectors that name elements around it can only show it
        style = self._style_of(element)
        hiding = _hiding(style)
        if any(name.endswith("animation") and value != "none" for name, value in style.items()):
            hiding -= _MOVED
        if not hiding or not hiding <= _INHERITED:
            return bool(hiding)
        inside = map(self._style_of, element.iterdescendants())
        return not any(style.keys() & hiding and not _hiding(style) for style in inside)

    def _style_of(self, element: Any, *, alone: bool = False) -> _Style:
        """Return an element's style, without rules that can neither hide nor show."""
        names = _names(element)
        found = [rule for name in names for rule in self._rules.get(name, ())]
        rules = [r for r in found if not (alone and r.around) and r.fits(names, element)]
        rules.sort(key=lambda rule: rule.weight)
        hidden = {"display": "none"} if element.get("hidden") is not None else {}
        plain: _Style = {}
        important: _Style = {}
        own = _style(element.get("style") or "")
        for style in (hidden, *(rule.style for rule in rules), own):
            for name, value in style.items():
                (important if "!" in value else plain)[name] = value
        return plain | important


def _names(element: Any) -> set[str]:
    names = {element.tag, f"#{element.get('id')}"}
    if classes := element.get("class"):
        names.update(f".{name}" for name in classes.split())
    return names


def _style(declarations: str) -> _Style:
    pairs = (part.partition(":") for part in plain_style(declarations).split(";"))
    return {name.strip().lower(): value.strip() for name, _, value in pairs if value}


def _hiding(style: _Style) -> set[str]:
    """Return the properties by which a style hides."""
    return {name for name, value in style.items() if hides(f"{name}: {value}")}


def _parts(sheet: str, media: str) -> Iterator[tuple[str, str, int]]:
    """Yield the selectors, the declarations and the condition of a style sheet's rules."""
    opened = [("", _media(media))]  # what stands before each open brace, and if it holds
    for words, brace in _PART.findall(_UNREAD.sub("", sheet)):
        if brace == "{":
            prelude = words.rpartition(";")[2].strip()
            name, _, condition = prelude.partition(" ")
            holds = _media(condition if name == "@media" else "")
            if name[:1] == "@" and name not in ("@media", "@supports", "@layer"):
                holds = _NEVER  # as @keyframes, or not known
            opened.append((prelude, min(holds, opened[-1][1])))
        elif len(opened) > 1:
            prelude, holds = opened.pop()
            if holds is not _NEVER and not prelude.startswith("@"):
                yield prelude, words, holds


def _media(queries: str) -> int:
    """Return when one of several media queries holds on an ordinary screen."""
    return max(map(_query, " ".join(queries.lower().split()).split(",")))


def _query(query: str) -> int:
    query = query.strip()
    if _OTHER_MEDIUM.match(query):
        return _ALWAYS if query == "not print" else _NEVER
    for bound, number, unit in _BOUND.findall(query):
        width = int(number) * (1 if unit == "px" else 16)
        if (width < _WIDTH) == (bound == "max") and width != _WIDTH:
            return _NEVER
    return _SOMETIMES if "(" in query else _ALWAYS


def _rules(selectors: str, place: int, style: _Style, holds: int) -> Iterator[_Rule]:
    """Yield a rule for each selector, of which only those without ancestors hide.

    Selectors of other forms, such as `:hover`, are left out.
    """
    shows = {name: value for name, value in style.items() if not hides(f"{name}: {value}")}
    for selector in selectors.split(","):
        compounds = _COMBINED.split(selector.strip())
        *around, own = (
            {name.replace("\\", "") for name in _NEEDED.findall(part)} for part in compounds
        )
        if own and all(map(_COMPOUND.fullmatch, compounds)):
            marks = "".join(name[0] for needed in (*around, own) for name in needed)
            weight = (marks.count("#"), marks.count("."), len(marks), place)
            yield _Rule(around, own, weight, shows if around or holds is _SOMETIMES else style)
