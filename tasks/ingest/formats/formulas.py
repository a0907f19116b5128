"""Formulas of MathML 3 and of Office (OMML, ECMA-376 part 1, chapter 22) as one line of text.

They are written as one types them: `(a+b)/2`, `x^2`, `x_1`, `√(x)`, `∑_(i=1)^n`, `[a, b; c, d]`.
"""

import re
from collections.abc import Iterable
from typing import Any

from tasks.ingest.formats.xml_elements import local_name

_UNSEEN = {"annotation", "annotation-xml", "mphantom", "phant", "del", "moveFrom", "none"}
_ROLES = {  # of the parts of MathML's elements, by their names in OMML
    "mfrac": ("num", "den"), "mroot": ("e", "deg"), "msup": ("e", "sup"), "mover": ("e", "sup"),
    "msub": ("e", "sub"), "munder": ("e", "sub"), "msubsup": ("e", "sub", "sup"),
    "munderover": ("e", "sub", "sup"),
}  # fmt: skip
_SCRIPTED = {"sSup", "sSub", "sSubSup", "limLow", "limUpp", *_ROLES}
_ROWS = {"m": "mr", "mtable": "mtr"}
_ATOM = re.compile(r"[-+−]?\d+([.,]\d+)*|[^\W\d_]+|.|\([^()]*\)", re.DOTALL)
_PLAIN_MARKS = "′″‴°'"  # raised by their shape
_ACCENTS = dict(
    zip("¯‾^ˆ~˜→˙¨", "\u0305\u0305\u0302\u0302\u0303\u0303\u20d7\u0307\u0308", strict=True)
)
_APPLIED = re.compile(r"\u2061(?=\w)")  # a function to its argument
_INVISIBLE = {0x2061: None, 0x2062: None, 0x2063: ",", 0x2064: None, 0x2212: "-"}


def linear(formula: Any) -> str:
    """Return the formula of a `math`, `oMath` or `oMathPara` element as one line of text."""
    return " ".join(_APPLIED.sub(" ", _sequence(formula)).translate(_INVISIBLE).split())


def _sequence(elements: Iterable[Any]) -> str:
    """Return parts one after the other, apart where two numbers or names would become one."""
    text = last = ""
    was_run = False
    for element in elements:
        name = local_name(element)
        words = "" if name in _UNSEEN or name.endswith("Pr") else _words(element, name)
        ends = last[-1:] + words[:1]
        named = any(len(part) > 1 and part.isalpha() for part in (last, words))
        scripted = ends.isalpha() and ("^" in last or "_" in last)
        glued = scripted or ends.isdigit() or (named and ends.isalnum())
        if glued and len(ends) > 1 and not (was_run and name == "r"):
            text += " "
        text += words
        last, was_run = words or last, name == "r"
    return text


def _words(element: Any, name: str) -> str:
    if name in ("t", "mtext"):
        return element.text or "" if name == "t" else f" {element.text or ''} "
    if name in ("mi", "mn", "mo", "ms"):
        return (element.text or "").strip()
    if name in ("f", "mfrac"):
        return f"{_atom(_part(element, 'num'))}/{_atom(_part(element, 'den'))}"
    if name == "msqrt":
        return f"√({_sequence(element)})"
    if name in ("rad", "mroot"):
        base, degree = _part(element, "e"), _part(element, "deg")
        return f"({base})^(1/{_atom(degree)})" if degree else f"√({base})"
    if name in _SCRIPTED:
        low = _part(element, "sub", *["lim"] * (name == "limLow"))
        high = _part(element, "sup", *["lim"] * (name == "limUpp"))
        return _scripted(_part(element, "e"), low, high)
    if name in ("nary", "sPre"):
        sign = _property(element, "chr", "∫") if name == "nary" else ""
        signs = _scripted(sign, _part(element, "sub"), _part(element, "sup"))
        return f"{signs} {_part(element, 'e')}"
    if name == "mmultiscripts":
        return _multiscripts(element)
    if name == "func":
        return f"{_part(element, 'fName')} {_part(element, 'e')}"
    if name in ("acc", "bar"):
        return _part(element, "e") + _property(element, "chr", "\u0302\u0305"[name == "bar"])
    if name in ("d", "mfenced"):
        return _fenced(element, name)
    if name in _ROWS:
        rows = element.iterchildren(f"{{*}}{_ROWS[name]}", _ROWS[name])
        return f"[{'; '.join(', '.join(_sequence([cell]) for cell in row) for row in rows)}]"
    if name == "eqArr":
        return "; ".join(map(_sequence, element.iterchildren("{*}e")))
    return _sequence(element[:1] if name in ("semantics", "maction") else element)


def _part(element: Any, *roles: str) -> str:
    """Return the part of an element that has one of some roles; an empty string without it."""
    parts = [part for part in element if local_name(part)]
    if places := _ROLES.get(local_name(element)):
        return next(
            (_sequence([p]) for role, p in zip(places, parts, strict=False) if role in roles), ""
        )
    return next((_sequence(part) for part in parts if local_name(part) in roles), "")


def _scripted(base: str, low: str, high: str) -> str:
    high = high.replace("∘", "°")
    if base and high in _ACCENTS:
        base, high = base + _ACCENTS[high], ""
    high = f"^{_atom(high)}" if high.strip(_PLAIN_MARKS) else high
    return f"{base}_{_atom(low)}{high}" if low else base + high


def _multiscripts(element: Any) -> str:
    """Return a base with its pairs of lowered and raised parts, of which some may stand before."""
    names = [local_name(part) for part in element]
    texts = [_sequence([part]) for part in element]
    middle = names.index("mprescripts") if "mprescripts" in names else len(names)
    pairs = zip(texts[middle + 1 :: 2], texts[middle + 2 :: 2], strict=False)
    before = "".join(_scripted("", *pair) for pair in pairs)
    pairs = zip(texts[1:middle:2], texts[2:middle:2], strict=False)
    return f"{before} {''.join(texts[:1])}".lstrip() + "".join(
        _scripted("", *pair) for pair in pairs
    )


def _fenced(element: Any, name: str) -> str:
    if name == "mfenced":
        separator = element.get("separators", ",")[:1]
        inside = separator.join(_sequence([part]) for part in element)
        return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"
    inside = _property(element, "sepChr", "|").join(map(_sequence, element.iterchildren("{*}e")))
    return f"{_property(element, 'begChr', '(')}{inside}{_property(element, 'endChr', ')')}"


def _atom(text: str) -> str:
    """Return a text in parentheses unless it is one number, one name or one sign."""
    text = text.strip()
    return text if _ATOM.fullmatch(text) else f"({text})"


def _property(element: Any, name: str, default: str) -> str:
    """Return what an OMML element's properties say; a value that is stated may be empty."""
    for stated in element.iterfind(f"{{*}}{local_name(element)}Pr/{{*}}{name}"):
        return next(iter(stated.attrib.values()), "")
    return default
