"""The contents of an edition's manifest, and the comparison of two manifests.

`checked.json`, beside the editions, records the sizes and times of one edition's files when their
checksums were last verified, so that a refresh with nothing to do need not read them all.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq

from warehouse import durable

CHECKED = "checked.json"


def describe_tables(
    folder: Path, hashes: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    """Return file, rows and SHA-256 of each table in an edition's folder.

    `hashes` gives known SHA-256 by file name; these files are not read again.
    """
    return {
        path.stem: {
            "file": path.name,
            "rows": pq.read_metadata(path).num_rows,
            "sha256": (hashes or {}).get(path.name) or durable.sha256_file(path),
        }
        for path in sorted(folder.glob("*.parquet"))
    }


def same_content(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two editions' tables have the same content, but for what names the edition.

    A redirect has another `since` in each of two editions that would be the first with it.
    """
    return all(
        one.get(name, {}).get("sha256") == other.get(name, {}).get("sha256")
        for name in (one.keys() | other.keys()) - {"changes", "entity_redirects"}
    )


def describe(folder: Path, hashes: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return an edition's tables, and SHA-256 and size of each of its files, by relative path.

    `hashes` gives known SHA-256 by relative path; these files are not read again.
    """
    files = {str(p.relative_to(folder)): p for p in sorted(folder.rglob("*")) if p.is_file()}
    sums = {n: hashes.get(n) or durable.sha256_file(path) for n, path in files.items()}
    return {
        "tables": describe_tables(folder, sums),
        "files": sums,
        "sizes": {name: path.stat().st_size for name, path in files.items()},
    }


def is_untouched(folder: Path) -> bool:
    """Return whether an edition's files look the same as when they were last verified."""
    try:
        return bool(orjson.loads((folder.parent / CHECKED).read_bytes()) == _looks(folder))
    except (OSError, orjson.JSONDecodeError):
        return False


def note_checked(folder: Path) -> None:
    """Record sizes and times of an edition's files, whose checksums were just verified."""
    if not is_untouched(folder):
        durable.write_json(folder.parent / CHECKED, _looks(folder))


def forget_checked(folder: Path) -> None:
    """Make the next run verify all files, because one was found to be damaged."""
    with contextlib.suppress(OSError):  # a reader may have no permission to write
        (folder.parent / CHECKED).unlink(missing_ok=True)


def _looks(folder: Path) -> dict[str, list[int]]:
    """Return size, time and inode of each file, which change with the file unless a disk fails."""
    stats = {path: path.stat() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        str(path.relative_to(folder.parent)): [stat.st_size, stat.st_mtime_ns, stat.st_ino]
        for path, stat in stats.items()
    }
