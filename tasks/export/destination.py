"""Write a file or folder under a temporary name, and put it in place of nothing but an own one."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from schemas.errors import UsageError
from warehouse import durable

MARK = "Written by `almanac export`"  # near the start of each file
MANIFEST = "almanac-export.json"  # in each folder
_START = 300  # bytes in which the mark stands
_HIDDEN = ".almanac-export."


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Yield a path to write a file or a folder to, which becomes `out` if the body succeeds.

    Raises UsageError if something is there that an export did not write, or that was changed since.
    """
    out = out.resolve()
    _check_own(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    durable.remove_dead_temporaries(out.parent, f"{_HIDDEN}*.tmp")
    hidden = Path(tempfile.mkdtemp(f".{os.getpid()}.tmp", _HIDDEN, out.parent))
    try:
        written = hidden / out.name
        yield written
        if written.is_dir():
            files = sum(path.is_file() for path in written.rglob("*"))
            durable.write_synced(written / MANIFEST, orjson.dumps({"by": MARK, "files": files}))
            durable.sync_tree(written)
        else:
            durable.sync_file(written)
        _put(written, out, hidden / "before")
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _put(written: Path, out: Path, before: Path) -> None:
    """Move what was written to its place; a folder cannot replace another by one change."""
    if not (out.exists() and (out.is_dir() or written.is_dir())):
        durable.replace(written, out)
        return
    out.rename(before)
    try:
        durable.replace(written, out)
    except OSError:
        before.rename(out)
        raise


def _check_own(out: Path) -> None:
    """Raise UsageError unless there is nothing, or what an earlier export left there."""
    if not out.exists():
        return
    if out.is_dir():
        foreign = _foreign_in(out)
    else:
        with out.open("rb") as file:
            foreign = "" if MARK.encode() in file.read(_START) else out.name
    if foreign:
        raise UsageError(
            f"{out} is there already and was not written by an export, or was changed since "
            f"({foreign}). Name another --out, or remove it."
        )


def _foreign_in(folder: Path) -> str:
    """Return the name of something in a folder that an export did not write; else an empty text."""
    paths = [path for path in folder.rglob("*") if not path.is_dir()]
    manifest = folder / MANIFEST
    if not paths:
        return ""
    try:
        count, sealed = orjson.loads(manifest.read_bytes())["files"], manifest.stat().st_mtime_ns
    except (OSError, ValueError, KeyError, TypeError):
        return min(path.name for path in paths)
    changed = [path.name for path in paths if path.stat().st_mtime_ns > sealed]
    return min(changed, default="" if len(paths) == count + 1 else "files were added or removed")
