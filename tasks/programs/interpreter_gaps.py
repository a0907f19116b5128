"""Rewrites Python that models write and the sandbox's interpreter does not support.

The interpreter's built-ins cannot wait for a call of our functions inside `key=`, `map` or
`filter`; methods of its own types cannot be passed as values (`key=heights.get`); a generator is a
list, which `next` does not accept; there is no `del`. Programs are rewritten on their syntax tree.
They are parsed, never run, outside of the sandbox.
"""

import ast
import re

from tasks.programs.limits import SandboxError
from tasks.programs.syntax_tree import syntax_tree

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

_MAY_HAVE_GAPS = re.compile(r"\b(?:del|key|map|filter)\b")
_MODULES = frozenset(("math", "re", "random", "datetime", "json", "itertools", "functools"))
_TYPES = frozenset(("str", "list", "dict", "set", "tuple", "int", "float", "bytes"))


def adapted(code: str) -> str:
    """Return an equivalent program in the interpreter's Python.

    A program that our Python cannot parse stays as it is: the interpreter says what is wrong with
    it, or knows newer syntax. Raises SandboxError for one that is nested too deeply to be parsed.
    """
    if not _MAY_HAVE_GAPS.search(code):
        return code
    try:
        return ast.unparse(_Gaps().visit(syntax_tree(code)))
    except SyntaxError:
        return code
    except (RecursionError, MemoryError):
        raise SandboxError("RecursionError: the program is nested too deeply") from None
    except ValueError:
        raise SandboxError("the program has characters that no program can have") from None


def prelude_for(code: str) -> str:
    """Return the code to run before a program: imports that it forgot, and built-ins it needs."""
    named = (module for module in ("datetime", "math", "random", "re") if f"{module}." in code)
    imports = "".join(f"import {module}\n" for module in named)
    return imports + (BUILT_INS if _NEEDS_BUILT_INS.search(code) else "")


class _Gaps(ast.NodeTransformer):
    """Rewrites a tree."""

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        """Rewrite `del`: a name becomes None, an item is popped, a slice becomes empty."""
        self.generic_visit(node)
        return [statement for target in node.targets for statement in _deletions(target)]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """Rewrite `rows.sort(key=…)` as `rows[:] = sorted(rows, key=…)`."""
        self.generic_visit(node)
        match node.value:
            case ast.Call(ast.Attribute(owner, "sort"), [], keywords) if keywords:
                return ast.Assign(
                    [ast.Subscript(owner, ast.Slice())],
                    ast.Call(ast.Name("sorted"), [owner], keywords),
                    lineno=node.lineno,
                )
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Rewrite a method that is passed to a built-in as a function that calls it."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("map" | "filter"), [ast.Attribute() as method, _]):
                node.args[0] = self._as_function(method)
            case ast.Call(ast.Name("sorted" | "max" | "min") | ast.Attribute(attr="sort")):
                for keyword in node.keywords:
                    if keyword.arg == "key" and isinstance(keyword.value, ast.Attribute):
                        keyword.value = self._as_function(keyword.value)
        return node

    def _as_function(self, method: ast.Attribute) -> ast.expr:
        item = ast.Name("_item")
        match method.value:
            case ast.Name(name) if name in _MODULES:
                return method
            case ast.Name(name) if name in _TYPES:
                body = ast.Call(ast.Attribute(item, method.attr), [], [])
            case ast.Name() | ast.Attribute() | ast.Subscript():
                body = ast.Call(method, [item], [])
            case _:
                return method
        arguments = ast.arguments([], [ast.arg("_item")], None, [], [], None, [])
        return ast.Lambda(arguments, body)


def _deletions(target: ast.expr) -> list[ast.stmt]:
    """Return the statements that stand for the deletion of one target."""
    match target:
        case ast.Tuple(parts) | ast.List(parts):
            return [statement for part in parts for statement in _deletions(part)]
        case ast.Name():
            return [ast.Assign([target], ast.Constant(None), lineno=target.lineno)]
        case ast.Subscript(_, ast.Slice()):
            return [ast.Assign([target], ast.List([]), lineno=target.lineno)]
        case ast.Subscript(owner, key):
            return [ast.Expr(ast.Call(ast.Attribute(owner, "pop"), [key], []))]
    return [ast.Delete([target])]
