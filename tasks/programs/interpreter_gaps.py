"""Rewrites Python that models write and the sandbox's interpreter does not support.

The interpreter's built-ins cannot wait for a call of our functions inside `key=`, `map` or
`filter`; methods cannot be passed as values (`key=heights.get`); a generator is a list, which
`next` does not accept; there is no `del`. Programs are rewritten line by line, so that the line
numbers of errors stay correct.
"""

import re

# Pure Python for the built-ins that call a function.
BUILT_INS = """
_sorted, _max, _min, _next, _map, _filter = sorted, max, min, next, map, filter
def sorted(items, /, *, key=None, reverse=False):
    if key is None:
        return _sorted(items, reverse=reverse)
    items = list(items)
    keys = [key(item) for item in items]
    order = _sorted(range(len(items)), key=lambda at: keys[at], reverse=reverse)
    return [items[at] for at in order]
def _extreme(pick, items, key, default):
    if key is None:
        return pick(*items, **default)
    items = list(items[0]) if len(items) == 1 else list(items)
    if not items:
        return pick(items, **default)
    keys = [key(item) for item in items]
    return items[keys.index(pick(keys))]
def max(*items, key=None, **default):
    return _extreme(_max, items, key, default)
def min(*items, key=None, **default):
    return _extreme(_min, items, key, default)
def map(call, *lists):
    return [call(*item) for item in zip(*lists)]
def filter(keep, items):
    return [item for item in items if (keep(item) if keep is not None else item)]
def next(items, *default):
    if isinstance(items, list):
        items = iter(items)
    return _next(items, *default)
"""
_NEEDS_BUILT_INS = re.compile(r"\bkey\s*=|\b(?:map|filter|next)\s*\(|\.sort\s*\(")

_METHOD_AS_VALUE = re.compile(
    r"(?P<before>\bkey\s*=\s*|\b(?:map|filter)\(\s*)(?P<owner>[A-Za-z_]\w*)\.(?P<method>[a-z_]\w*)"
    r"(?=\s*[,)])"
)
_MODULES = frozenset(("math", "re", "random", "datetime", "json", "itertools", "functools"))
_TYPES = frozenset(("str", "list", "dict", "set", "tuple", "int", "float", "bytes"))
_SORT = re.compile(r"^(?P<indent>[ ]*)(?P<owner>[A-Za-z_][\w.]*)\.sort\((?P<rest>.*)\)[ ]*$", re.M)
_DELETE_ITEM = re.compile(
    r"^(?P<indent>[ ]*)del (?P<owner>[A-Za-z_][\w.]*)\[(?P<key>[^\[\]:]+)\][ ]*$", re.M
)
_DELETE_NAME = re.compile(r"^(?P<indent>[ ]*)del (?P<name>[A-Za-z_]\w*)[ ]*$", re.M)


def adapted(code: str) -> str:
    """Return an equivalent program in the interpreter's Python."""
    code = _METHOD_AS_VALUE.sub(_as_lambda, code)
    code = _SORT.sub(_as_sorted, code)
    code = _DELETE_ITEM.sub(r"\g<indent>\g<owner>.pop(\g<key>)", code)
    return _DELETE_NAME.sub(r"\g<indent>\g<name> = None", code)


def prelude_for(code: str) -> str:
    """Return the code to run before a program: imports that it forgot, and built-ins it needs."""
    named = (module for module in ("datetime", "math", "random", "re") if f"{module}." in code)
    imports = "".join(f"import {module}\n" for module in named)
    return imports + (BUILT_INS if _NEEDS_BUILT_INS.search(code) else "")


def _as_lambda(match: re.Match[str]) -> str:
    before, owner, method = match["before"], match["owner"], match["method"]
    if owner in _MODULES:
        return match.group()
    call = f"_item.{method}()" if owner in _TYPES else f"{owner}.{method}(_item)"
    return f"{before}(lambda _item: {call})"


def _as_sorted(match: re.Match[str]) -> str:
    owner, rest = match["owner"], match["rest"].strip()
    return f"{match['indent']}{owner}[:] = sorted({owner}{', ' if rest else ''}{rest})"
