"""The program's version, and the number that decides whether derived tables may be reused."""

from functools import cache
from importlib.metadata import version

# Raise it whenever the same journal would give other tables of an edition or other arrays of a
# graph; the next refresh then derives them again. `tests/test_versions.py` notices a change.
DERIVATION_VERSION = 18


@cache
def code_version() -> str:
    """Return the release and the number of the derivation, for people: `0.1.0+1`."""
    return f"{version('almanac-kb')}+{DERIVATION_VERSION}"
