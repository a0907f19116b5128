"""Imports libraries without others that they would load and we do not use."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any


class _Missing:
    """A finder for one thread, by which packages are not installed."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages, self._thread = packages, get_ident()

    def find_spec(self, name: str, *_: Any) -> None:
        if name in self._packages and get_ident() == self._thread:
            raise ModuleNotFoundError(f"{name} is left out", name=name)


@contextmanager
def without(*packages: str) -> Iterator[None]:
    """Let this thread import what can do without these packages; loaded ones stay loaded."""
    finder: Any = _Missing(packages)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
