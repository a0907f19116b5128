"""Plug-ins: what other packages add by entry points, such as readers, engines and formats.

A fault of a plug-in becomes an error that names it and its package. None is loaded before its name
is asked for, and names of our own come first.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from schemas.errors import AlmanacError


@dataclass(frozen=True)
class PlugIn:
    """One entry point, which is loaded by its first use."""

    point: EntryPoint

    def __str__(self) -> str:
        """Return its name and its package's."""
        package = self.point.dist.name if self.point.dist else self.point.module
        return f"The plug-in {self.point.name!r} ({self.point.group}) of the package {package}"

    def load(self) -> Any:
        """Import it; raises AlmanacError if that fails."""
        try:
            return self.point.load()
        except Exception as error:
            raise AlmanacError(
                f"{self} cannot be loaded ({_in_words(error)}). Update or uninstall the package."
            ) from error

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Turn any error of the plug-in's code in the body into an AlmanacError that names it."""
        try:
            yield
        except AlmanacError:
            raise
        except Exception as error:
            raise AlmanacError(f"{self} failed ({_in_words(error)}).") from error


def plug_in(group: str, name: str) -> PlugIn | None:
    """Return a group's plug-in of a name; raises AlmanacError if two packages have one."""
    found = plug_ins(group).get(name, [])
    if len(found) > 1:
        both = " ".join(f"{one}." for one in found)
        raise AlmanacError(f"Two plug-ins have the same name; uninstall one of them. {both}")
    return found[0] if found else None


@cache
def plug_ins(group: str) -> dict[str, list[PlugIn]]:
    """Return the plug-ins of a group by name; the installed packages are looked through once."""
    found: dict[str, list[PlugIn]] = {}
    for point in entry_points(group=group):
        found.setdefault(point.name, []).append(PlugIn(point))
    return found


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
