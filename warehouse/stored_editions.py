"""Editions in an object store: files by content, and a pointer that only the lease's holder moves.

`current.json` is the pointer, and lists where each edition is described. A description has the
edition's manifest, and the keys of its files by their SHA-256. A file that an edition of the list
has is not sent again. Keys hold the fencing number of the lease under which they were written, so
nothing that one writer removes can be what another relies on. On this machine an edition is a
folder, at first with its manifest alone; its files are fetched when it is read.
"""

import fcntl
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import BusyError, DamageError
from warehouse import durable
from warehouse.editions import NEW_POINTER, Building, Edition, Editions
from warehouse.object_store import Mirror, State, doing_without, falling_back

POINTER = "current.json"
LOOK_SECONDS = 5.0  # between looks at the pointer
CACHE_GB = 20.0  # of editions on this machine, unless ALMANAC_CACHE_GB says otherwise


@dataclass(frozen=True)
class StoredEdition(Edition):
    """An edition whose files are fetched from the store when it is first read."""

    editions: "StoredEditions" = field(compare=False)

    @property
    def database(self) -> Path:
        """The DuckDB file with tables, views and indexes."""
        self.editions.complete(self)
        return super().database

    @contextmanager
    def pinned(self) -> Iterator[Edition]:
        """Keep the edition on this machine while the body runs."""
        with super().pinned():
            self.editions.complete(self)
            yield self

    def check_file(self, name: str, hashed_below: float = math.inf) -> None:
        """Raise DamageError unless a file is what the manifest says; fetch what is not here."""
        if not (self.path / name).is_file():
            self.editions.complete(self, anew=True)
        super().check_file(name, hashed_below)


class StoredEditions(Editions):
    """The editions of a home in a store."""

    def __init__(self, folder: Path, mirror: Mirror) -> None:
        super().__init__(folder)
        self._mirror, self._store = mirror, mirror.store
        self._described = folder / "in-store"
        self._looked = (-LOOK_SECONDS, -1)  # when, and under which lease
        self._complete: set[str] = set()

    # -- reading ----------------------------------------------------------------------------

    def pointer(self) -> dict[str, Any]:
        """Return the pointer, which is looked up in the store every few seconds.

        While the store fails, that of this machine is returned, with a warning.
        """
        when, lease = self._looked
        known = lease == self._mirror.leases and self._pointer.exists()
        if not known or time.monotonic() - when >= LOOK_SECONDS:
            self._looked = time.monotonic(), self._mirror.leases
            with falling_back(self._store, self._pointer.exists):
                self._look()
        return super().pointer()

    def _look(self) -> None:
        etag = super().pointer().get("etag")
        found = self._store.get(POINTER, unless=etag)
        if found:
            self._take_over(self._store.state(POINTER, found[0]), found[1])

    def _take_over(self, state: State, etag: str | None = None) -> None:
        """Make the store's pointer that of this machine, unless a newer one is here."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "pointer.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            here = super().pointer()
            if here.get("version", 0) > state["version"]:
                return
            listed = state.get("editions", {})
            self._store.all_of(lambda one: self._describe(*one), listed.items())
            for described in self._described.glob("*.json"):
                edition = None if described.stem in listed else self.find(described.stem)
                if edition and self._remove(edition):
                    described.unlink()
            durable.write_sealed_json(self._pointer, {**NEW_POINTER, **state, "etag": etag})

    def _describe(self, identity: str, key: str) -> None:
        """Write the description of an edition, and its manifest unless the edition is here."""
        path = self._described / f"{identity}.json"
        if not path.exists():
            found = self._store.get(key)
            if found is None:
                return  # pruned since the pointer was read
            durable.write_bytes(path, found[0])
        if not (self.folder / identity).exists():
            self._write_manifest(identity)

    def _write_manifest(self, identity: str) -> None:
        building = self.folder / f".{identity}.{os.getpid()}.tmp"
        manifest = self._description(identity)["manifest"]
        durable.write_sealed_json(building / "manifest.json", manifest)
        try:
            building.rename(self.folder / identity)
        except OSError:  # another process was faster
            shutil.rmtree(building)

    def _description(self, identity: str) -> dict[str, Any]:
        return dict(orjson.loads((self._described / f"{identity}.json").read_bytes()))

    def _names(self) -> list[str]:
        self.pointer()
        return super()._names()

    def _read(self, name: str) -> Edition:
        edition = super()._read(name)
        return StoredEdition(edition.path, edition.manifest, self)

    def _pin_current(self, pins: ExitStack) -> Edition | None:
        edition = super()._pin_current(pins)
        if edition:
            self.complete(edition)
        return edition

    def open(self, edition_id: str) -> Edition:
        """Return an edition by its id or by an unambiguous start of it, with its files."""
        edition = super().open(edition_id)
        self.complete(edition)
        return edition

    def complete(self, edition: Edition, *, anew: bool = False) -> None:
        """Fetch the files of an edition that are not here; raise DamageError if one is lost.

        A file that another edition here has is linked. Each is compared with its SHA-256.
        """
        if edition.id in self._complete and not anew:
            return
        files = edition.manifest["files"]
        missing = {n: sha for n, sha in files.items() if not (edition.path / n).is_file()}
        with suppress(OSError):
            os.utime(edition.path)  # the time of the last use
        if missing:
            keys = self._description(edition.id)["keys"]
            here = self._files_here()

            def fetch(name: str) -> None:
                path, sha256 = edition.path / name, missing[name]
                if not (sha256 in here and _linked(here[sha256], path, sha256)):
                    self._store.fetch(keys[sha256], path, sha256)

            try:
                self._store.all_of(fetch, missing)
            except FileNotFoundError:
                raise DamageError(
                    f"The edition {edition.id} is no longer in {self._store.address}. Read the "
                    "current one, or choose another; `almanac editions list` shows them."
                ) from None
            self._make_room(edition)
        self._complete.add(edition.id)

    def damaged_in_store(self) -> list[str]:
        """Return the keys of files of listed editions that the store lacks, or has cut short."""
        damaged = set()
        with doing_without():
            there = self._store.sizes("editions/")
        for identity in self.pointer().get("editions", {}):
            described = self._description(identity)
            for name, size in described["manifest"].get("sizes", {}).items():
                key = described["keys"][described["manifest"]["files"][name]]
                if there.get(key) != size:
                    damaged.add(key)
        return sorted(damaged)

    def _files_here(self) -> dict[str, Path]:
        """Return the files of editions on this machine, by SHA-256."""
        paths = ((e.path / n, sha) for e in self.all() for n, sha in e.manifest["files"].items())
        return {sha: path for path, sha in paths if path.is_file()}

    def _make_room(self, used: Edition) -> None:
        """Remove the files of the editions unused for longest, beyond what may be kept here."""
        room = float(os.environ.get("ALMANAC_CACHE_GB") or CACHE_GB) * 1e9
        pointer = super().pointer()
        by_use = sorted(self.all(), key=lambda e: e.path.stat().st_mtime, reverse=True)
        for edition in by_use:
            names = [n for n in edition.manifest["files"] if (edition.path / n).is_file()]
            room -= sum(edition.manifest.get("sizes", {}).get(name, 0) for name in names)
            in_store = edition.id in pointer.get("editions", {})
            kept = (used.id, pointer["edition"])
            spare = room < 0 and names and in_store and edition.id not in kept
            if spare and self._remove(edition):
                self._complete.discard(edition.id)
                self._write_manifest(edition.id)

    # -- writing (under the lease) ------------------------------------------------------------

    def claim(self) -> None:
        """Write the fencing number of this lease into the pointer, which ends earlier ones."""

        def change(state: State) -> State:
            if state.get("fence", 0) > self._mirror.fence:
                raise self._overtaken()
            return {**NEW_POINTER, "editions": {}, **state, "fence": self._mirror.fence}

        self._take_over(self._store.change(POINTER, change))

    def _move(self, change: Callable[[State], State]) -> State:
        """Change the pointer in the store and here; raise BusyError if the lease was lost."""

        def fenced(state: State) -> State:
            if state.get("fence") != self._mirror.fence:
                raise self._overtaken()
            return change(state)

        state = self._store.change(POINTER, fenced)
        self._take_over(state)
        return state

    def _overtaken(self) -> BusyError:
        return BusyError(
            f"Another writer has taken over {self._store.address}, because this one gave no sign "
            "for too long. Nothing was published here; what was read and extracted is kept. Run "
            "the command again."
        )

    def seal(self, building: Building, facts: dict[str, Any]) -> Edition:
        """Seal the edition on this machine and send it to the store, where it is a candidate."""
        edition = super().seal(building, facts)
        self._send(edition)
        return edition

    def _send(self, edition: Edition) -> None:
        """Send the files of an edition that no listed one has, then its description."""
        listed = super().pointer().get("editions", {})
        if edition.id in listed:
            return
        known: dict[str, str] = {}
        for identity in listed:
            known.update(self._description(identity)["keys"])
        paths = {sha: edition.path / n for n, sha in edition.manifest["files"].items()}
        new = {sha: f"editions/{self._mirror.fence:08d}/{sha}" for sha in paths.keys() - known}
        self._store.all_of(lambda sha: self._store.put(new[sha], paths[sha]), new)
        keys = {sha: new.get(sha) or known[sha] for sha in paths}
        described = f"editions/{self._mirror.fence:08d}/{edition.id}.json"
        data = orjson.dumps({"manifest": edition.manifest, "keys": keys})
        self._store.put(described, data)
        durable.write_bytes(self._described / f"{edition.id}.json", data)
        self._move(lambda s: {**s, "editions": {**s["editions"], edition.id: described}})

    def _point_at(self, edition: Edition, hold: dict[str, str] | None) -> None:
        self._send(edition)  # which a run that was killed may not have done
        self._move(
            lambda s: {
                **s,
                "edition": edition.id,
                "hold": hold,
                "published": [*(e for e in s["published"] if e != edition.id), edition.id],
            }
        )

    def release(self) -> None:
        """End a hold, so that the next refresh publishes again."""
        self._move(lambda state: {**state, "hold": None})

    def prune(self, *, keep: int, days: float, dry_run: bool = False) -> list[Edition]:
        """Remove editions here and in the store, as `Editions.prune` chooses them."""
        removed = super().prune(keep=keep, days=days, dry_run=dry_run)
        if removed and not dry_run:
            gone = {edition.id for edition in removed}
            state = self._move(
                lambda s: {
                    **s,
                    "editions": {e: key for e, key in s["editions"].items() if e not in gone},
                }
            )
            self._remove_unlisted(state["editions"])
        return removed

    def _remove_unlisted(self, listed: dict[str, str]) -> None:
        """Remove objects that no listed edition has, but for those of later leases."""
        wanted = set(listed.values())
        for identity in listed:
            wanted.update(self._description(identity)["keys"].values())
        there = self._store.listing("editions/")
        mine = f"editions/{self._mirror.fence:08d}/~"
        self._store.delete(key for key in there if key not in wanted and key < mine)


def _linked(source: Path, path: Path, sha256: str) -> bool:
    """Link or copy a file of another edition; return False if it is not what it should be."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        durable.link_or_copy(source, temporary)
        if durable.sha256_file(temporary) != sha256:
            return False
        temporary.replace(path)
        return True
    except OSError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
