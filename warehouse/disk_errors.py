"""Describe errors of the machine in plain words: what failed, where, and what to do.

These are errors of the file system, and optional libraries that are not installed.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import AlmanacError
from schemas.extras import missing_library

_FULL = (errno.ENOSPC, errno.EDQUOT)
_REFUSED = {
    errno.EROFS: "{place} is on a disk that is mounted for reading only. Mount it for writing, "
    "or name another folder.",
    errno.EACCES: "You have no permission for {place}. Ask whoever owns it for access (`ls -ld` "
    "names the owner), or name another folder.",
    errno.ENOTDIR: "{place} needs a folder where there is a file. Move the file away, or name "
    "another folder.",
    errno.EEXIST: "{place} is a file where a folder is needed. Move it away, or name another "
    "folder.",
    errno.EISDIR: "{place} is a folder where a file is needed. Move it away, or name another file.",
    errno.ENAMETOOLONG: "The name {place} is longer than the disk allows. Use a shorter one.",
    errno.ELOOP: "The links at {place} lead in a circle. Name the folder itself.",
    errno.EFBIG: "A file at {place} would grow beyond what the system allows. Raise the limit "
    "(`ulimit -f`), or use another disk.",
    errno.EMFILE: "This process may not open more files. Raise the limit (`ulimit -n`).",
    errno.EIO: "The disk failed at {place}. Check the disk; `almanac doctor` lists damaged files.",
    errno.ENOENT: "{place} does not exist, or cannot be made there. Check the path.",
}
_REFUSED[errno.EPERM] = _REFUSED[errno.EACCES]


def refusal_in_words(error: BaseException, folder: Path, target: Path | None = None) -> str | None:
    """Return a message for an error of the file system or a missing library; None for any other.

    `folder` is named if the error names no file; of a full disk, the fuller of its own and that of
    the `target` outside it to which something is written. DuckDB, Arrow and tantivy have errors of
    their own, which quote the system's words.
    """
    if isinstance(error, ImportError):
        return missing_library(error)
    number = getattr(error, "errno", None)
    if number is None:
        words = str(error)
        numbers = [*_FULL, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.EIO]
        number = next((n for n in numbers if os.strerror(n) in words), None)
    elif not isinstance(error, OSError):
        return None
    named = getattr(error, "filename", None)
    place = os.fsdecode(named) if isinstance(named, str | bytes) else str(folder)
    if number in _FULL:
        if isinstance(named, str | bytes) and not Path(place).is_relative_to(folder):
            target = Path(place)
        full = min(folder, target or folder, key=_free)
        free = _free(full)
        if full != folder:
            return f"The disk under {full} is full ({free >> 20} MiB are free). Make room there."
        several = len([*(folder / "editions").glob("*/manifest.json")]) > 1
        prune = " `almanac editions prune` frees some." if several else ""
        return (
            f"The disk under {folder} is full ({free >> 20} MiB are free). What is published is as "
            f"it was, and the next refresh goes on from what was done. Free some space.{prune}"
        )
    return _REFUSED[number].format(place=place) if number in _REFUSED else None


def _free(path: Path) -> int:
    """Return how many bytes are free on the disk of a path, which need not exist yet."""
    path = path.absolute()
    return shutil.disk_usage(next(p for p in (path, *path.parents) if p.exists())).free


@contextmanager
def refusals_in_words(folder: Path, target: Path | None = None) -> Iterator[None]:
    """Turn errors of the machine in the body into AlmanacError with a plain message."""
    try:
        yield
    except AlmanacError:
        raise
    except Exception as error:
        words = refusal_in_words(error, folder, target)
        if words is None:
            raise
        raise AlmanacError(words) from error


@contextmanager
def warned_of_refusals(folder: Path, loss: str, warn: Callable[[str], None]) -> Iterator[None]:
    """Call `warn` with the loss and its reason if the body raises a file-system error."""
    try:
        yield
    except OSError as error:
        warn(f"Warning: {loss} {refusal_in_words(error, folder) or error}")
