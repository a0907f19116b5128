"""What a manifest says of an edition's folder, and what it tells of two editions."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from warehouse import durable


def describe_tables(folder: Path) -> dict[str, dict[str, Any]]:
    """Return file, rows and SHA-256 of each table of an edition's folder."""
    return {
        path.stem: {
            "file": path.name,
            "rows": pq.read_metadata(path).num_rows,
            "sha256": durable.sha256_file(path),
        }
        for path in sorted(folder.glob("*.parquet"))
    }


def same_content(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two editions' tables hold the same, less what only tells of the parent."""
    return all(
        one.get(name, {}).get("sha256") == other.get(name, {}).get("sha256")
        for name in (one.keys() | other.keys()) - {"changes"}
    )


def describe_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the SHA-256 and the size of every file of an edition's folder, by relative path."""
    files = {str(p.relative_to(folder)): p for p in sorted(folder.rglob("*")) if p.is_file()}
    return {
        "files": {name: durable.sha256_file(path) for name, path in files.items()},
        "sizes": {name: path.stat().st_size for name, path in files.items()},
    }
