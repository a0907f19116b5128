"""Copies of a home that share the files that nobody writes twice."""

import os
import shutil
from pathlib import Path

# The tables, arrays and indexes of editions, and the parts of journals.
NEVER_CHANGED = {
    ".arrow",
    ".duckdb",
    ".fast",
    ".fieldnorm",
    ".idx",
    ".npy",
    ".npz",
    ".parquet",
    ".pos",
    ".store",
    ".term",
}


def copied_home(home: Path, place: Path) -> Path:
    """Copy a home to a place that is not there yet; a test that damages files copies them whole."""
    return Path(shutil.copytree(home, place, symlinks=True, copy_function=_link_or_copy))


def _link_or_copy(source: str, target: str) -> None:
    if Path(source).suffix in NEVER_CHANGED:
        os.link(source, target)
    else:
        shutil.copy2(source, target)
