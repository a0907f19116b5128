"""Editions: complete, checked, immutable sets of tables, one of which is current.

An edition is built in a folder beside the others, sealed by its manifest (written last), renamed
into place, and made current by one atomic change of the pointer. Readers pin an edition with a
shared lock on its manifest, so that it is not pruned.
"""

import contextlib
import fcntl
import math
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import AlmanacError, DamageError, UsageError
from schemas.row import Row
from warehouse import durable
from warehouse.asserted import create_asserted
from warehouse.manifest import describe, forget_checked, is_untouched, note_checked

SCHEMA_VERSION = 2  # raise it where releases before and after cannot read each other's editions
DUCKDB_FILE = "almanac.duckdb"
VIEWS_FOLDER = "views"  # in an edition's folder: the rows of views as Parquet
_TABLES = "tables"  # beside the editions: for each that was current, a folder for every table
# When a file is opened, its SHA-256 is compared if it is smaller than this, which takes at most
# 0.1 s, otherwise only its size. DuckDB's blocks have checksums of their own.
CHECKED_BYTES = 64 << 20
_LISTED = "`almanac editions list` shows them."
NEW_POINTER: dict[str, Any] = {"edition": None, "hold": None, "published": []}
_LOST_POINTER = (
    "Remove it. Then `almanac editions list` shows the editions, and `almanac editions publish ID` "
    "makes one current; a hold on publishing is lost."
)
_SEALED = re.compile(r"\d+-.+")  # names of their folders
_FOR_READERS = "for-readers"  # the folder of what is made for readers with some labels
_LOST_MANIFEST = "Go back with `almanac editions rollback`, or refresh to build a new edition."


@dataclass(frozen=True)
class Edition:
    """One sealed edition."""

    path: Path
    manifest: dict[str, Any]

    @property
    def id(self) -> str:
        """Its sequence number and the start of the hash of its inputs."""
        return str(self.manifest["edition"])

    @property
    def sequence(self) -> int:
        """Its number, which alone determines the order of editions."""
        return int(self.manifest["sequence"])

    @property
    def built_at(self) -> datetime:
        """The time (UTC) at which it was sealed."""
        return datetime.fromisoformat(self.manifest["built_at"])

    @property
    def is_whole(self) -> bool:
        """Whether nothing is hidden in it, as in those for readers with some labels."""
        return "labels" not in self.manifest

    @property
    def is_of_this_version(self) -> bool:
        """Whether its indexes are laid out as this version of the program reads them."""
        return bool(self.manifest["schema_version"] == SCHEMA_VERSION)

    def check_version(self) -> None:
        """Raise AlmanacError if an older version made it, whose indexes cannot be read."""
        if not self.is_of_this_version:
            raise AlmanacError(
                f"An older version of Almanac made edition {self.id}. `almanac sql` reads it; to "
                "ask or search, make a new one by `almanac refresh SOURCE`."
            )

    @property
    def database(self) -> Path:
        """The DuckDB file with tables, views and indexes."""
        return self.path / DUCKDB_FILE

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the database, read-only, with the views of assertions that it may lack."""
        con = duckdb.connect(str(self.database), read_only=True)
        create_asserted(con, "temp")
        return con

    def check(self, *parts: str) -> None:
        """Raise DamageError unless these files, or the files in these folders, look unchanged."""
        for name in self.manifest["files"]:
            if name.startswith(parts):
                self.check_file(name, CHECKED_BYTES)

    def parquet(self, row: type[Row]) -> Path:
        """Return the Parquet file of a table, checked against the manifest."""
        path = self.path / f"{row.table}.parquet"
        self.check_file(path.name)
        return path

    def table(self, row: type[Row]) -> pa.Table:
        """Return a table, checked against the manifest, older schema versions cast up."""
        return row.cast(pq.read_table(self.parquet(row)))

    def rows(self, row: type[Row]) -> int:
        """Return a table's row count."""
        return int(self.manifest["tables"].get(row.table, {}).get("rows", 0))

    def damaged(self) -> list[str]:
        """Return the files that differ from the manifest."""
        return [str(self.path / name) for name in self.manifest["files"] if self._is_damaged(name)]

    def _is_damaged(self, name: str) -> bool:
        try:
            self.check_file(name)
        except DamageError:
            return True
        return False

    def check_file(self, name: str, hashed_below: float = math.inf) -> None:
        """Raise DamageError unless a file, by relative path, is what the manifest says."""
        path, sha256 = self.path / name, self.manifest["files"].get(name)
        size = path.stat().st_size if path.is_file() else None
        same = size is not None and size == self.manifest.get("sizes", {}).get(name, size)
        if same and size is not None and size < hashed_below:
            same = durable.sha256_file(path) == sha256
        if not same:
            forget_checked(self.path)
            broken = f"The file {path} is not what the edition's manifest says."
            raise DamageError(f"{broken} {_LOST_MANIFEST}")

    @contextmanager
    def pinned(self) -> Iterator["Edition"]:
        """Keep the edition from being pruned while the body runs."""
        with _lock_manifest(self.path):
            yield self


def _number(name: str) -> int:
    """Return the sequence number in the name of an edition's folder, which is its id."""
    return int(name.partition("-")[0])


@contextmanager
def _lock_manifest(folder: Path) -> Iterator[None]:
    """Hold a shared lock on an edition's manifest; raise DamageError if there is none."""
    try:
        manifest = (folder / "manifest.json").open("rb")
    except FileNotFoundError:
        raise DamageError(f"The edition {folder} has no manifest. {_LOST_MANIFEST}") from None
    with manifest:
        fcntl.flock(manifest, fcntl.LOCK_SH)
        yield


@dataclass(frozen=True)
class Building:
    """A folder in which the next edition is being built."""

    folder: Path
    edition_id: str
    sequence: int
    parent: Edition | None
    hashes: dict[str, str] = field(default_factory=dict)  # known SHA-256 of files, by path

    def earlier(self, path: Path) -> Path | None:
        """Return where the parent has a file or folder of this edition, whether or not it does."""
        return self.parent.path / path.relative_to(self.folder) if self.parent else None

    def take(self, files: Mapping[Path, Path | None]) -> bool:
        """Link (or copy) files from the parent, given by their places here and there.

        If one is not what the parent's manifest says, or is not in it, or an older version made
        the parent, returns False and leaves none of them.
        """
        if self.parent and all(self._take(self.parent, *places) for places in files.items()):
            return True
        for path in files:
            path.unlink(missing_ok=True)
        return False

    def _take(self, parent: Edition, path: Path, source: Path | None) -> bool:
        name = str(source.relative_to(parent.path)) if source else ""
        if name not in parent.manifest["files"] or source is None or not parent.is_of_this_version:
            return False
        if parent._is_damaged(name):
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        if durable.link_or_copy(source, path):
            self.hashes[str(path.relative_to(self.folder))] = parent.manifest["files"][name]
        return True


class Editions:
    """The editions of a home and the pointer to the current one."""

    def __init__(self, folder: Path, link: Path | None = None) -> None:
        """Open the editions in a folder, which need not exist yet.

        `link`, beside the folder, is kept leading to the tables of the current edition.
        """
        self.folder, self._link = folder, link
        self._pointer = folder / "current.json"
        self._same = folder / "same.json"

    # -- reading ----------------------------------------------------------------------------

    def pointer(self) -> dict[str, Any]:
        """Return the pointer: current edition's id, hold if any, and ids of published editions."""
        if not self._pointer.exists():
            return dict(NEW_POINTER)
        pointer = durable.read_sealed_json(self._pointer, _LOST_POINTER)
        if not pointer.keys() >= NEW_POINTER.keys():
            raise DamageError(f"The file {self._pointer} is not a pointer. {_LOST_POINTER}")
        return pointer

    def current(self) -> Edition | None:
        """Return the current edition, or None before the first is published."""
        with contextlib.ExitStack() as pins:
            return self._pin_current(pins)

    def _pin_current(self, pins: contextlib.ExitStack) -> Edition | None:
        while identity := self.pointer()["edition"]:
            try:
                pins.enter_context(_lock_manifest(self.folder / identity))
                return self._read(identity)
            except DamageError:
                if self.pointer()["edition"] == identity:
                    raise
                # Pruned since the pointer was read, so the pointer has moved.
        return None

    def newest_whole(self) -> Edition | None:
        """Return the current edition if it is undamaged, else the last published undamaged one."""
        pointer = self.pointer()
        for identity in [pointer["edition"], *reversed(pointer["published"])]:
            with contextlib.suppress(DamageError):
                edition = self._read(identity) if identity else None
                if edition and (is_untouched(edition.path) or not edition.damaged()):
                    note_checked(edition.path)
                    return edition
        return None

    def candidate_from(self, parent: Edition | None) -> Edition | None:
        """Return the newest edition if it is an undamaged candidate made from this parent."""
        for edition in self.all()[-1:]:
            made_from = edition.manifest["parent"] == (parent.id if parent else None)
            usable = made_from and edition.is_of_this_version
            if usable and self.state(edition) == "candidate" and not edition.damaged():
                return edition
        return None

    def is_result_of(self, edition: Edition, fingerprint: str) -> bool:
        """Return whether inputs with this hash are known to give an edition's tables."""
        same: bool = edition.manifest["fingerprint"] == fingerprint
        return same or durable.has_json(self._same, [edition.id, fingerprint])

    @contextmanager
    def reading(self) -> Iterator[Edition]:
        """Pin the current edition while the body runs, whatever is published meanwhile.

        Raises UsageError before the first edition is published.
        """
        with contextlib.ExitStack() as pins:
            edition = self._pin_current(pins)
            if edition is None:
                raise UsageError("Nothing is published here yet; run `almanac refresh SOURCE`.")
            yield edition

    def open(self, edition_id: str) -> Edition:
        """Return an edition by its id or by an unambiguous start of it."""
        matches = [name for name in self._names() if name.startswith(edition_id)]
        matches = [edition_id] if edition_id in matches else matches
        if len(matches) != 1:
            found = "Several editions begin with" if matches else "There is no edition"
            raise UsageError(f"{found} {edition_id!r}. {_LISTED}")
        return self._read(matches[0])

    def for_readers(self, edition: Edition) -> "Editions":
        """Return the editions made from one for readers who do not see all of it."""
        return Editions(self.folder / _FOR_READERS / edition.id)

    def find(self, edition_id: str) -> Edition | None:
        """Return the edition with exactly this id; None if there is none, or no manifest."""
        try:
            return self._read(edition_id)
        except (DamageError, FileNotFoundError):
            return None

    def all(self) -> list[Edition]:
        """Return all editions whose manifest is intact, oldest first."""
        editions = []
        for name in self._names():
            with contextlib.suppress(DamageError):  # or it was pruned since it was listed
                editions.append(self._read(name))
        return editions

    def _names(self) -> list[str]:
        """Return the folders of sealed editions, oldest first."""
        try:
            # Without permission a glob would return nothing instead of raising.
            names = [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(filter(_SEALED.fullmatch, names), key=lambda name: (_number(name), name))

    def history(self) -> list[Edition]:
        """Return the published editions up to the current one; those after it were rolled back."""
        pointer = self.pointer()
        return [
            edition
            for edition in self.all()
            if edition.id in pointer["published"]
            and edition.sequence <= _number(pointer["edition"])
        ]

    def one_before(self) -> Edition | None:
        """Return the published edition with the highest number below the current one's, if any."""
        current = self.pointer()["edition"]
        earlier = [edition for edition in self.history() if edition.id != current]
        return earlier[-1] if earlier else None

    def as_of(self, day: date) -> Edition | None:
        """Return the last edition of the history from a day (UTC) or before, if there is one."""
        built = [edition for edition in self.history() if edition.built_at.date() <= day]
        return built[-1] if built else None

    def _read(self, name: str) -> Edition:
        manifest = durable.read_sealed_json(self.folder / name / "manifest.json", _LOST_MANIFEST)
        if manifest.get("edition") != name:
            raise DamageError(f"The manifest in {self.folder / name} is another edition's.")
        durable.check_version(f"edition {name}", manifest["schema_version"], SCHEMA_VERSION)
        return Edition(self.folder / name, manifest)

    def state(self, edition: Edition) -> str:
        """Return current, published or candidate."""
        pointer = self.pointer()
        if pointer["edition"] == edition.id:
            return "current"
        return "published" if edition.id in pointer["published"] else "candidate"

    # -- writing (under the lease) ----------------------------------------------------------

    def begin(self, fingerprint: str, parent: Edition | None = None) -> Building:
        """Return an empty folder to build in, after removing the remains of dead builds.

        `fingerprint` is the hash of the edition's inputs; its start is part of the id.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.clean()
        folder = self.folder / f".building-{os.getpid()}"
        folder.mkdir()
        sequence = max(map(_number, self._names()), default=0) + 1
        return Building(folder, f"{sequence:06d}-{fingerprint[:8]}", sequence, parent)

    @contextmanager
    def building(self, fingerprint: str, parent: Edition | None) -> Iterator[Building]:
        """Begin a build; unless the body seals it, nothing of it stays to fill the disk."""
        building = self.begin(fingerprint, parent)
        try:
            yield building
        finally:
            shutil.rmtree(building.folder, ignore_errors=True)

    def clean(self) -> None:
        """Remove the remains of dead builds and prunings; lead the link where the pointer leads."""
        for folder in self.folder.glob(".building-*"):
            shutil.rmtree(folder)
        durable.remove_dead_temporaries(self.folder)
        identity = self.pointer()["edition"] if self._link else None
        if identity and (edition := self.find(identity)):
            self._lead_to(edition)

    def is_led_to(self, edition: Edition) -> bool:
        """Tell whether the link leads to an edition's tables, unless there can be no such link."""
        tables = self.folder / _TABLES / edition.id
        if self._link is None or not self._link.is_symlink():
            return self._link is None or self._link.exists() or not tables.exists()
        return self._link.readlink() == tables.relative_to(self._link.parent) and tables.exists()

    def _led_to(self) -> list[str]:
        """Return the editions that the link has led to, oldest first."""
        return [name for name in self._names() if (self.folder / _TABLES / name).exists()]

    def _lead_to(self, edition: Edition) -> None:
        """Let the link lead to an edition's tables, as `TABLE/*.parquet`, by one atomic change."""
        tables = self.folder / _TABLES / edition.id
        if self._link is None or (self._link.exists() and not self._link.is_symlink()):
            return  # there is something of the user's own
        with contextlib.suppress(PermissionError):  # of a disk without links
            if not tables.exists():
                building = self.folder / f".building-tables-{os.getpid()}"
                views = edition.path / VIEWS_FOLDER
                for file in (*edition.path.glob("*.parquet"), *views.glob("*.parquet")):
                    part = building / file.stem / "0.parquet"
                    part.parent.mkdir(parents=True)
                    part.symlink_to(Path("../../..", file.relative_to(self.folder)))
                tables.parent.mkdir(exist_ok=True)
                building.rename(tables)
            target = tables.relative_to(self._link.parent)
            if self._link.is_symlink() and self._link.readlink() == target:
                return
            fresh = self._link.with_name(f".{self._link.name}.tmp")
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(target)
            durable.replace(fresh, self._link)

    def seal(self, building: Building, facts: dict[str, Any]) -> Edition:
        """Write the manifest, sync everything and rename the folder into place."""
        folder = building.folder
        durable.give_usual_mode(folder)
        durable.sync_tree(folder)
        manifest = {
            "edition": building.edition_id,
            "sequence": building.sequence,
            "parent": building.parent.id if building.parent else None,
            "schema_version": SCHEMA_VERSION,
            "built_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            **describe(folder, building.hashes),
            **facts,
        }
        durable.write_sealed_json(folder / "manifest.json", manifest)
        final = self.folder / building.edition_id
        folder.rename(final)
        durable.sync_folder(self.folder)
        note_checked(final)
        return Edition(final, manifest)

    def note_result(self, edition: Edition, fingerprint: str) -> None:
        """Record the hash of inputs that gave an edition's tables again, for `is_result_of`."""
        durable.write_json(self._same, [edition.id, fingerprint])

    def publish(self, edition: Edition) -> None:
        """Make an edition current by one atomic change of the pointer."""
        self._point_at(edition, self.pointer()["hold"])

    def roll_back(self, edition: Edition, *, hold: str | None) -> None:
        """Make an older edition current again; `hold` keeps refreshes from publishing."""
        since = datetime.now(UTC).isoformat(timespec="seconds")
        self._point_at(edition, {"reason": hold, "since": since} if hold else None)

    def _point_at(self, edition: Edition, hold: dict[str, str] | None) -> None:
        published = self.pointer()["published"] or self._led_to()  # if the pointer was lost
        earlier = [e for e in published if e != edition.id]
        pointer = {"edition": edition.id, "hold": hold, "published": [*earlier, edition.id]}
        durable.write_sealed_json(self._pointer, pointer)
        self._lead_to(edition)  # after a kill in between, the next run does it

    def release(self) -> None:
        """End a hold, so that the next refresh publishes again."""
        durable.write_sealed_json(self._pointer, {**self.pointer(), "hold": None})

    def prune(self, *, keep: int, days: float, dry_run: bool = False) -> list[Edition]:
        """Remove editions that are neither current, pinned, young nor among the last `keep`.

        Published editions and candidates are counted apart: neither take the place of the others.
        """
        if not dry_run:
            self.clean()
        pointer, editions = self.pointer(), self.all()
        now = datetime.now(UTC)
        published = [edition for edition in editions if edition.id in pointer["published"]]
        candidates = [edition for edition in editions if edition not in published]
        kept = published[-keep:] + candidates[-keep:] if keep else []
        removed = []
        for edition in editions:
            young = (now - edition.built_at) / timedelta(days=1) < days
            if edition.id == pointer["edition"] or edition in kept or young:
                continue
            if dry_run or self._remove(edition):
                removed.append(edition)
        return removed

    def _remove(self, edition: Edition) -> bool:
        beside = self.for_readers(edition)
        with contextlib.ExitStack() as locks:
            for one in (edition, *beside.all()):
                manifest = locks.enter_context((one.path / "manifest.json").open("rb"))
                try:
                    fcntl.flock(manifest, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
            # Renamed first, so that a reader finds the edition whole or not at all.
            doomed = self.folder / f".building-pruned-{edition.id}"
            edition.path.rename(doomed)
            shutil.rmtree(doomed)
            shutil.rmtree(beside.folder, ignore_errors=True)
            shutil.rmtree(self.folder / _TABLES / edition.id, ignore_errors=True)
        return True
