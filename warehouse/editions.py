"""Editions: whole, checked, immutable sets of tables, of which one is current.

An edition is built in a folder beside the others, sealed by its manifest (written last), renamed
into place, and becomes current by one atomic change of the pointer. Readers pin an edition by a
shared lock on its manifest, so that pruning passes it over.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import DamageError, UsageError
from schemas.row import Row
from warehouse import durable

SCHEMA_VERSION = 1
DUCKDB_FILE = "almanac.duckdb"


@dataclass(frozen=True)
class Edition:
    """One sealed edition."""

    path: Path
    manifest: dict[str, Any]

    @property
    def id(self) -> str:
        """Its sequence number and the start of its content's hash."""
        return str(self.manifest["edition"])

    @property
    def sequence(self) -> int:
        """Its number; order is told by this, never by a clock."""
        return int(self.manifest["sequence"])

    @property
    def database(self) -> Path:
        """The DuckDB file with tables, views and indexes."""
        return self.path / DUCKDB_FILE

    def parquet(self, row: type[Row]) -> Path:
        """Return the Parquet file of a table."""
        return self.path / f"{row.table}.parquet"

    def table(self, row: type[Row]) -> pa.Table:
        """Return a table, checked against the manifest, older schema versions cast up."""
        path = self.parquet(row)
        self._check(path.name)
        return row.cast(pq.read_table(path))

    def rows(self, row: type[Row]) -> int:
        """Return a table's row count."""
        return int(self.manifest["tables"].get(row.table, {}).get("rows", 0))

    def damaged(self) -> list[str]:
        """Return the files that are not what the manifest says."""
        bad = []
        for name in self.manifest["files"]:
            try:
                self._check(name)
            except DamageError:
                bad.append(str(self.path / name))
        return bad

    def _check(self, name: str) -> None:
        path, sha256 = self.path / name, self.manifest["files"].get(name)
        if sha256 is None or not path.exists() or durable.sha256_file(path) != sha256:
            raise DamageError(
                f"The file {path} is not what the edition's manifest says. "
                "Go back with `almanac editions rollback`, or refresh to build a new edition."
            )

    @contextmanager
    def pinned(self) -> Iterator["Edition"]:
        """Keep the edition from being pruned while the body runs."""
        with (self.path / "manifest.json").open("rb") as manifest:
            fcntl.flock(manifest, fcntl.LOCK_SH)
            yield self


@dataclass(frozen=True)
class Building:
    """A folder in which the next edition is being built."""

    folder: Path
    edition_id: str
    sequence: int
    parent: Edition | None


class Editions:
    """The editions of a home and the pointer to the current one."""

    def __init__(self, folder: Path) -> None:
        """Look at the editions in a folder, which need not exist yet."""
        self.folder = folder
        self._pointer = folder / "current.json"

    # -- reading ----------------------------------------------------------------------------

    def pointer(self) -> dict[str, Any]:
        """Return the pointer: the current edition's id, the hold if any, and what was published."""
        if not self._pointer.exists():
            return {"edition": None, "hold": None, "published": []}
        pointer: dict[str, Any] = orjson.loads(self._pointer.read_bytes())
        return pointer

    def current(self) -> Edition | None:
        """Return the current edition, or None before the first is published."""
        edition = self.pointer()["edition"]
        return self.open(edition) if edition else None

    @contextmanager
    def reading(self) -> Iterator[Edition]:
        """Pin the current edition while the body runs, whatever is published meanwhile.

        Raises UsageError before the first edition is published.
        """
        while True:
            identity = self.pointer()["edition"]
            if identity is None:
                raise UsageError("Nothing is published here yet; run `almanac refresh SOURCE`.")
            try:
                manifest = (self.folder / identity / "manifest.json").open("rb")
            except FileNotFoundError:
                continue  # pruned since the pointer was read, so the pointer has moved
            with manifest:
                fcntl.flock(manifest, fcntl.LOCK_SH)
                yield Edition(self.folder / identity, orjson.loads(manifest.read()))
                return

    def open(self, edition_id: str) -> Edition:
        """Return an edition by its id or by an unambiguous start of it."""
        matches = [e for e in self.all() if e.id.startswith(edition_id)]
        exact = [e for e in matches if e.id == edition_id]
        if len(exact or matches) != 1:
            raise UsageError(
                f"There is no one edition {edition_id!r}. `almanac editions list` shows them."
            )
        return (exact or matches)[0]

    def all(self) -> list[Edition]:
        """Return all sealed editions, oldest first."""
        found = []
        for manifest in self.folder.glob("[0-9]*/manifest.json"):
            try:
                found.append(Edition(manifest.parent, orjson.loads(manifest.read_bytes())))
            except FileNotFoundError:
                continue  # pruned between listing and reading
        return sorted(found, key=lambda edition: edition.sequence)

    def state(self, edition: Edition) -> str:
        """Return current, published or candidate."""
        pointer = self.pointer()
        if pointer["edition"] == edition.id:
            return "current"
        return "published" if edition.id in pointer["published"] else "candidate"

    # -- writing (under the lease) ----------------------------------------------------------

    def begin(self, fingerprint: str) -> Building:
        """Return an empty folder to build in, after removing what died builders left.

        `fingerprint` is the hash of what the edition is built from; its start is part of the id.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob(".building-*"):
            shutil.rmtree(left)
        durable.remove_dead_temporaries(self.folder)
        folder = self.folder / f".building-{os.getpid()}"
        folder.mkdir()
        sequence = max((edition.sequence for edition in self.all()), default=0) + 1
        return Building(folder, f"{sequence:06d}-{fingerprint[:8]}", sequence, self.current())

    def seal(self, building: Building, facts: dict[str, Any]) -> Edition:
        """Write the manifest, sync everything and rename the folder into place."""
        folder = building.folder
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        checksums = {}
        for path in files:
            durable.sync_file(path)
            checksums[str(path.relative_to(folder))] = durable.sha256_file(path)
        manifest = {
            "edition": building.edition_id,
            "sequence": building.sequence,
            "parent": building.parent.id if building.parent else None,
            "schema_version": SCHEMA_VERSION,
            "built_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "tables": describe_tables(folder),
            "files": checksums,
            **facts,
        }
        durable.write_json(folder / "manifest.json", manifest)
        for inner in [*{path.parent for path in files}, folder]:
            durable.sync_folder(inner)
        final = self.folder / building.edition_id
        folder.rename(final)
        durable.sync_folder(self.folder)
        return Edition(final, manifest)

    def discard(self, building: Building) -> None:
        """Remove what was built and is not wanted."""
        shutil.rmtree(building.folder)

    def publish(self, edition: Edition) -> None:
        """Make an edition current by one atomic change of the pointer."""
        self._point_at(edition, self.pointer()["hold"])

    def roll_back(self, edition: Edition, *, hold: str | None) -> None:
        """Make an older edition current again; `hold` keeps refreshes from publishing."""
        since = datetime.now(UTC).isoformat(timespec="seconds")
        self._point_at(edition, {"reason": hold, "since": since} if hold else None)

    def _point_at(self, edition: Edition, hold: dict[str, str] | None) -> None:
        earlier = [e for e in self.pointer()["published"] if e != edition.id]
        pointer = {"edition": edition.id, "hold": hold, "published": [*earlier, edition.id]}
        durable.write_json(self._pointer, pointer)

    def release(self) -> None:
        """End a hold: the next refresh publishes again."""
        durable.write_json(self._pointer, {**self.pointer(), "hold": None})

    def prune(self, *, keep: int, days: float, dry_run: bool = False) -> list[Edition]:
        """Remove editions that are neither current, pinned, young nor among the last `keep`."""
        pointer, editions = self.pointer(), self.all()
        youngest = datetime.now(UTC) - timedelta(days=days)
        kept = {edition.id for edition in editions[-keep:]} if keep else set()
        removed = []
        for edition in editions:
            built = datetime.fromisoformat(edition.manifest["built_at"])
            if edition.id == pointer["edition"] or edition.id in kept or built > youngest:
                continue
            if dry_run or self._remove(edition):
                removed.append(edition)
        return removed

    def _remove(self, edition: Edition) -> bool:
        with (edition.path / "manifest.json").open("rb") as manifest:
            try:
                fcntl.flock(manifest, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            # Renamed first: a reader finds the edition whole or not at all.
            doomed = self.folder / f".building-pruned-{edition.id}"
            edition.path.rename(doomed)
            shutil.rmtree(doomed)
        return True


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
