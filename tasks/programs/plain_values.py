"""Makes the values of a program plain before they leave its interpreter.

Outside, a value is converted to Python's own; a set of a tuple that stands in itself many times
would then be hashed for ever, in our process. So arguments and results are first copied as texts,
numbers and lists of bounded size, by code that runs with the program under its limits. The program
cannot reach past that code: it cannot know its names, which are drawn at random, nor replace the
built-ins that it uses, which are looked up beforehand.
"""

import ast

from tasks.programs.syntax_tree import syntax_tree

RESULT = "_last_value"
LARGEST_ARGUMENTS = 4_000_000  # characters of one call, counted as those of a result

# A list may stand in others a million times without taking memory, so each time counts: as 8
# characters beside its own.
_CODE = """
answers, {result} = [], None
def {hidden}(
    value, left, isinstance=isinstance, str=str, repr=repr, abs=abs, getattr=getattr, type=type,
    int=int, bytes=bytes, dict=dict, same=(bool, float), infinite=float("inf"),
    lists=(list, tuple, set, frozenset),
):
    def plain(value, depth):
        nonlocal left
        left -= 8
        if value is None or left <= 0 or depth > 4:
            return None
        if isinstance(value, same):
            return value
        if isinstance(value, int):
            return value if abs(value) < 1 << 63 else infinite
        if isinstance(value, (str, bytes)):
            text = value[:left] if isinstance(value, str) else repr(value[:100])
            left -= len(text)
            return text
        kind, depth = type(value).__name__, depth + 1
        if isinstance(value, lists) or kind == "deque":
            return [plain(item, depth) for item in value if left > 0]
        if isinstance(value, dict):
            items = value.items()
            return {{str(plain(key, depth)): plain(item, depth) for key, item in items if left > 0}}
        fields = getattr(value, "__dataclass_fields__", None) if kind != "type" else None
        if fields is None:
            return str(value)[:1_000]
        fields = plain({{name: getattr(value, name, None) for name in fields}}, depth - 1) or {{}}
        fields = [f"{{name}}={{field!r}}" for name, field in fields.items()]
        return f"{{kind}}({{', '.join(fields)}})"[:1_000]
    return plain(value, 0), left
def {hidden}_taking(call, copy={hidden}, ValueError=ValueError):
    def taking(*args, **kwargs):
        args, left = copy(args, {largest})
        kwargs, left = copy(kwargs, left)
        if left <= 0:
            raise ValueError("the arguments are too large")
        return call(*args, **kwargs)
    return taking
"""


def plain_prelude(hidden: str, functions: list[str]) -> str:
    """Return the code to run before a program, so that it calls our functions by name.

    `hidden` is a name that the program does not know: that of the function that copies a value,
    given the characters it may have, and the beginning of those of our functions.
    """
    code = _CODE.format(hidden=hidden, largest=LARGEST_ARGUMENTS, result=RESULT)
    for name in functions:
        # `locals()` shows a function of ours as long as a name stands for it.
        code += f"{name} = {hidden}_taking({hidden}_{name})\n{hidden}_{name} = None\n"
    return code


def keeping_its_value(code: str) -> str:
    """Return a program that assigns the value of its last line to RESULT.

    A program that our Python cannot parse stays as it is: it is wrong, or has newer syntax.
    """
    try:
        last = syntax_tree(code).body[-1:]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    if not last or not isinstance(last[0], ast.Expr):
        return code
    lines = code.encode().splitlines(keepends=True)
    row, column = last[0].lineno - 1, last[0].col_offset
    lines[row] = lines[row][:column] + f"{RESULT} = ".encode() + lines[row][column:]
    return b"".join(lines).decode()
