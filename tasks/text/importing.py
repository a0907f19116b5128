"""Import libraries without optional dependencies that we do not use."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any


class _Missing:
    """A finder that makes packages appear not to be installed, for one thread."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages, self._thread = packages, get_ident()

    def find_spec(self, name: str, *_: Any) -> None:
        if name in self._packages and get_ident() == self._thread:
            raise ModuleNotFoundError(f"{name} is left out", name=name)


@contextmanager
def without(*packages: str) -> Iterator[None]:
    """Hide packages from the imports of this thread; those already loaded stay loaded."""
    finder: Any = _Missing(packages)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
