"""Write files whole or not at all: to a temporary file, which is synced and renamed.

The order matters: a rename may reach the disk before the file's data (Pillai et al., OSDI 2014),
so the data are synced first and the folder last.
"""

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import AlmanacError, DamageError


def sync_file(path: Path) -> None:
    """Force a file's data to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Force a folder's entries to disk."""
    sync_file(path)


def sync_tree(folder: Path) -> None:
    """Force all files below a folder to disk, then the folders that name them."""
    paths = sorted(folder.rglob("*"))
    for path in paths:
        if path.is_file():
            sync_file(path)
    for path in [*paths, folder]:
        if path.is_dir():
            sync_folder(path)


def give_usual_mode(folder: Path) -> None:
    """Let files below a folder be read by whoever may read the folder.

    Libraries that write to temporary files leave them to their owner alone.
    """
    usual = folder.stat().st_mode & 0o666
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_mode & 0o666 != usual:
            path.chmod(usual)


def replace(temporary: Path, final: Path) -> None:
    """Move a file that was written and synced to its final place, durably."""
    temporary.replace(final)
    sync_folder(final.parent)


def link_or_copy(source: Path, target: Path) -> bool:
    """Hard-link a file that never changes; return False if it had to be copied."""
    try:
        target.hardlink_to(source)
    except OSError:  # another disk, a file system without links, too many links
        shutil.copyfile(source, target)
        return False
    return True


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file and force it to disk; if that fails, as on a full disk, nothing stays."""
    try:
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise


def write_bytes(path: Path, data: bytes) -> None:
    """Write a small file so that a reader sees the old or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    write_synced(temporary, data)
    replace(temporary, path)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file so that a reader sees the old or the new one, never a part."""
    write_bytes(path, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


def has_json(path: Path, value: Any) -> bool:
    """Return whether a file by `write_json` has this value."""
    try:
        return bool(orjson.loads(path.read_bytes()) == orjson.loads(orjson.dumps(value)))
    except (OSError, orjson.JSONDecodeError):
        return False


def write_sealed_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON object with a checksum of itself, whole or not at all."""
    write_json(path, {**value, "checksum": checksum(value)})


def read_sealed_json(path: Path, advice: str) -> dict[str, Any]:
    """Read an object by `write_sealed_json`; raise DamageError with the advice if it is damaged.

    An object without a checksum was written by an older release and is accepted.
    """
    try:
        value = orjson.loads(path.read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        raise DamageError(f"The file {path} is damaged or missing. {advice}") from None
    sealed = value.pop("checksum", None) if isinstance(value, dict) else ""
    if sealed is not None and sealed != checksum(value):
        raise DamageError(f"The file {path} is not what was written. {advice}")
    return dict(value)


def check_version(what: str, written: int, known: int) -> None:
    """Raise AlmanacError for what a later release wrote in a form that this one does not know."""
    if written > known:
        raise AlmanacError(
            f"A newer version of Almanac made {what}, so this one cannot read it. Nothing is "
            "damaged: use that version."
        )


def checksum(value: Any, seed: str = "") -> str:
    """Return a checksum of a seed and a JSON value, 32 hex digits."""
    data = seed.encode() + orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(data).hexdigest()[:32]


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_dead_temporaries(folder: Path, pattern: str = "**/*.tmp") -> int:
    """Remove files and folders `*.<process id>.tmp` of dead processes; return how many."""
    removed = 0
    for path in folder.glob(pattern):
        process = path.name.split(".")[-2]
        if process.isdigit() and not _is_alive(int(process)):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            removed += 1
    return removed


def _is_alive(process: int) -> bool:
    if process == os.getpid():
        return False  # a dead process that had the same id
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
