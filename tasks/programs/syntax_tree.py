"""Parses the Python of programs, never to run it here."""

import ast
from threading import Lock

_PARSING = Lock()


def syntax_tree(code: str) -> ast.Module:
    """Return the tree of a program; one thread parses at a time.

    CPython 3.11 counts how deep trees are nested for all threads together, and fails when two build
    theirs at once (python/cpython#106905). Raises SyntaxError, ValueError, RecursionError or
    MemoryError for what it cannot parse.
    """
    with _PARSING:
        return ast.parse(code)
