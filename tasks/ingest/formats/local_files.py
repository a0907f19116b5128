"""List local files without following links; open them without leaving the folder or blocking."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from schemas.errors import UsageError
from tasks.ingest.formats.inputs import Item, Reason, RefusalError
from tasks.ingest.formats.names import safe_uri

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


IGNORED = ".almanacignore"  # in a source's folder: patterns of paths that are left out


def left_out(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return whether patterns like those of .gitignore leave out a path; folders end in `/`.

    Raises UsageError for a pattern that is none.
    """
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except ValueError as error:
        raise UsageError(f"A pattern of files to leave out is wrong: {error}.") from error


def walk(source: str, root: Path, errors: list[str], exclude: Sequence[str] = ()) -> Iterator[Item]:
    """Yield an item for every visible file under the folder; add paths that fail to `errors`.

    What the patterns and those in the folder's `.almanacignore` leave out is not listed. Links to
    folders are not followed: a target inside the root is listed in its own place.
    """
    ignored = root / IGNORED
    own = ignored.read_text("utf-8", "replace").splitlines() if ignored.is_file() else []
    is_left_out = left_out([*own, *exclude]) if own or exclude else None
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(root / folder) as listed:
                entries = list(listed)
        except OSError as error:
            errors.append(f"{safe_uri(folder) or '.'}: {error.strerror}")
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_left_out is not None and is_left_out(f"{path}/" if is_folder else path):
                continue
            if is_folder:
                folders.append(path)
                continue
            try:
                item = describe(source, root, path)
            except OSError as error:
                errors.append(f"{safe_uri(path)}: {error.strerror}")
                continue
            if item is not None:
                yield item


def describe(source: str, root: Path, path: str) -> Item | None:
    """Return the item of a path below the root; None for a link to a folder inside the root."""
    full = root / path
    info = full.lstat()
    refusal = None
    if stat.S_ISLNK(info.st_mode):
        target = _target(root, full)
        if target is None:
            refusal = Reason.OUTSIDE_SOURCE
        else:
            info = target.lstat()
            if stat.S_ISDIR(info.st_mode):
                return None
            path = str(target.relative_to(root))
    if refusal is None and not stat.S_ISREG(info.st_mode):
        refusal = Reason.NOT_A_FILE
    uri = safe_uri(full.relative_to(root).as_posix())
    fingerprint = f"{info.st_size}-{info.st_mtime_ns}"
    return Item(source, str(root), path, uri, fingerprint, info.st_size, refusal)


def open_local(item: Item) -> BinaryIO:
    """Open an item for reading; raises `RefusalError` for anything but a file below its root.

    Each part of the path is opened without following links, so a link that appears after the
    listing leads nowhere, and without blocking, so a pipe cannot hang the reader.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    *folders, name = parts = Path(item.path).parts
    if ".." in parts or Path(item.path).is_absolute():
        raise RefusalError(Reason.OUTSIDE_SOURCE, "Its path leads out of the source.")
    handle = os.open(item.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = os.open(folder, flags | os.O_DIRECTORY, dir_fd=handle)
            os.close(handle)
            handle = inner
        opened = os.open(name, flags | os.O_NONBLOCK, dir_fd=handle)
    finally:
        os.close(handle)
    kind = stat.S_IFMT(os.fstat(opened).st_mode)
    if kind != stat.S_IFREG:
        os.close(opened)
        sentence = f"It is {_KINDS.get(kind, 'no file')}; only files are read."
        raise RefusalError(Reason.NOT_A_FILE, sentence)
    return os.fdopen(opened, "rb")


def _target(root: Path, link: Path) -> Path | None:
    """Return where a link leads, or None if that is outside the root or nowhere."""
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return target if target.is_relative_to(root) else None
