"""Formulas of MathML 3 and of Office (OMML, ECMA-376 part 1, chapter 22) as one line of text.

They are written as one types them: `(a+b)/2`, `x^2`, `x_1`, `√(x)`, `∑_(i=1)^n`, `[a, b; c, d]`.
Elements are known by their local names, since web pages, OpenDocument and the two editions of Open
XML have namespaces of their own.
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
_SCRIPTED = {"sSup", "sSub", "sSubSup", "limLow", "limUpp"}
_ROWS = {"m": "mr", "mtable": "mtr"}
_ATOM = re.compile(r"[-+−]?\d+([.,]\d+)*|[^\W\d_]+|.|\([^()]*\)", re.DOTALL)
_PLAIN_MARKS = "′″‴°'"  # raised by their shape
_ACCENTS = {
    "¯": "\u0305", "‾": "\u0305", "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303",
    "→": "\u20d7", "˙": "\u0307", "¨": "\u0308",
}  # fmt: skip
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
    if name in ("t", "mi", "mn", "mo", "ms", "mtext"):
        own = element.text or ""
        return f" {own} " if name == "mtext" else own if name == "t" else own.strip()
    parts = [part for part in element if local_name(part)]
    if name in _ROLES:
        by_role = dict(zip(_ROLES[name], (_sequence([part]) for part in parts), strict=False))
    else:
        by_role = {local_name(part): _sequence(part) for part in parts}
    if name in ("f", "mfrac"):
        return f"{_atom(by_role.get('num', ''))}/{_atom(by_role.get('den', ''))}"
    if name in ("rad", "msqrt", "mroot"):
        under = by_role.get("e", "") if name != "msqrt" else _sequence(parts)
        degree = by_role.get("deg")
        return f"({under})^(1/{_atom(degree)})" if degree else f"√({under})"
    if name in _SCRIPTED or name in _ROLES:
        low = by_role.get("sub") or (by_role.get("lim") if name == "limLow" else "")
        high = by_role.get("sup") or (by_role.get("lim") if name == "limUpp" else "")
        return _scripted(by_role.get("e", ""), low, high)
    if name == "nary":
        sign = _scripted(_property(element, "chr", "∫"), by_role.get("sub"), by_role.get("sup"))
        return f"{sign} {by_role.get('e', '')}"
    if name == "sPre":
        return f"{_scripted('', by_role.get('sub'), by_role.get('sup'))} {by_role.get('e', '')}"
    if name == "mmultiscripts":
        return _multiscripts(parts)
    if name == "func":
        return f"{by_role.get('fName', '')} {by_role.get('e', '')}"
    if name in ("acc", "bar"):
        return by_role.get("e", "") + _property(element, "chr", "\u0302\u0305"[name == "bar"])
    if name in ("d", "mfenced"):
        return _fenced(element, name, parts)
    if name in _ROWS:
        rows = [row for row in parts if local_name(row) == _ROWS[name]]
        return f"[{'; '.join(', '.join(_sequence([cell]) for cell in row) for row in rows)}]"
    if name == "eqArr":
        return "; ".join(_sequence(part) for part in parts if local_name(part) == "e")
    return _sequence(parts[:1] if name in ("semantics", "maction") else parts)


def _scripted(base: str, low: str | None, high: str | None) -> str:
    high = {"∘": "°"}.get(high or "", high)
    if high in _ACCENTS and base:
        base, high = base + _ACCENTS[high], ""
    if high and high.strip(_PLAIN_MARKS):
        high = f"^{_atom(high)}"
    return f"{base}{f'_{_atom(low)}' if low else ''}{high or ''}"


def _multiscripts(parts: list[Any]) -> str:
    """Return a base with its pairs of lowered and raised parts, of which some may stand before."""
    names = [local_name(part) for part in parts]
    before = names.index("mprescripts") if "mprescripts" in names else len(parts)
    texts = ["" if local_name(part) == "none" else _sequence([part]) for part in parts]
    first = "".join(
        _scripted("", *pair)
        for pair in zip(texts[before + 1 :: 2], texts[before + 2 :: 2], strict=False)
    )
    after = zip(texts[1:before:2], texts[2:before:2], strict=False)
    return f"{first} {texts[0]}".lstrip() + "".join(_scripted("", *pair) for pair in after)


def _fenced(element: Any, name: str, parts: list[Any]) -> str:
    if name == "d":
        ends = [
            _property(element, f"{place}Chr", sign) for place, sign in (("beg", "("), ("end", ")"))
        ]
        separator = _property(element, "sepChr", "|")
        texts = [_sequence(part) for part in parts if local_name(part) == "e"]
    else:
        ends = [element.get("open", "("), element.get("close", ")")]
        separator = element.get("separators", ",")[:1]
        texts = [_sequence([part]) for part in parts]
    return f"{ends[0]}{separator.join(texts)}{ends[1]}"


def _atom(text: str) -> str:
    """Return a text in parentheses unless it is one number, one name or one sign."""
    text = text.strip()
    return text if _ATOM.fullmatch(text) else f"({text})"


def _property(element: Any, name: str, default: str) -> str:
    """Return what an OMML element's properties say; a value that is stated may be empty."""
    for stated in element.iterfind(f"{{*}}{local_name(element)}Pr/{{*}}{name}"):
        return next(iter(stated.attrib.values()), "")
    return default
