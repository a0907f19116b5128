"""A home in an object store, and the folder on this machine that mirrors it.

The folder is a cache and holds what is not sent yet. A file in it names the store, so whoever opens
the folder works on the store. One writer at a time holds the lease: an object with its holder, the
time at which others may try, and a fencing number. Each new lease has a higher number and writes it
into the pointer of editions; nothing that is written under a lower one is accepted from then on. So
clocks decide when somebody may try, and never what is published.
"""

import hashlib
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson

from schemas.errors import AlmanacError, BusyError, StoreError
from warehouse import durable
from warehouse.object_store import (
    STORE_MARK,
    Mirror,
    ObjectStore,
    State,
    checked_address,
    falling_back,
)
from warehouse.stored_editions import StoredEditions
from warehouse.stored_journal import StoredJournal

LEASE = "lease.json"
POLL_SECONDS = 1.0  # between looks at a lease that is waited for
LEASE_SECONDS = 60.0  # after the last sign of its holder, others may take the lease
SHARED = (
    "*.toml",
    "*.yaml",
    "*.jsonl",
    "tokens.json",
    "notes/**/*",
    "learned/**/*",
    "paths/p*/**/*",
)
_NOTED = ".shared.json"  # what `SHARED` files were like when they were last compared

_opened: dict[tuple[Path, int, str | None], "StoredHome"] = {}


def working_folder(address: str) -> Path:
    """Return the folder on this machine for a home in a store; make it if need be.

    It is in ALMANAC_CACHE, else in the user's cache, and nobody else may read it.
    """
    address = checked_address(address)
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "almanac"
    name = re.sub(r"[^\w.-]+", "-", address.partition("://")[2])[-60:]
    place = Path(os.environ.get("ALMANAC_CACHE") or caches).absolute()
    folder = place / f"{name}-{hashlib.sha256(address.encode()).hexdigest()[:8]}"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    if not (folder / STORE_MARK).exists():
        durable.write_json(folder / STORE_MARK, {"address": address, "folder": uuid4().hex})
    return folder


def stored_home(folder: Path) -> "StoredHome":
    """Return the store that a folder mirrors."""
    # A process that was forked needs connections of its own.
    key = (folder.absolute(), os.getpid(), os.environ.get("AWS_ENDPOINT_URL"))
    if key not in _opened:
        _opened[key] = StoredHome(folder)
    return _opened[key]


class StoredHome:
    """What the homes of one process share about a store."""

    def __init__(self, folder: Path) -> None:
        """Read which store it is; no request is made."""
        mark = orjson.loads((folder / STORE_MARK).read_bytes())
        self.folder, self._id = folder, mark["folder"]
        self.store = ObjectStore(mark["address"])
        self.mirror = Mirror(folder, self.store)
        self._is_open = False

    def journal(self, name: str, *, required: bool) -> StoredJournal:
        """Return the journal or the live records."""
        return StoredJournal(self.folder / name, self.mirror, required=required)

    @cached_property
    def editions(self) -> StoredEditions:
        """The editions, which all homes of this process share."""
        return StoredEditions(self.folder / "editions", self.mirror)

    def open(self) -> None:
        """Share files once in this process; without the store, go on with what is here."""
        if self._is_open:
            return
        self._is_open = True
        with falling_back(self.store, (self.folder / "editions").exists):
            self.share_files()

    # -- the lease ----------------------------------------------------------------------------

    @contextmanager
    def leased(self, who: dict[str, Any], wait_seconds: float) -> Iterator[None]:
        """Hold the store's lease while the body runs; this machine's lock is held already.

        Raises BusyError, with the holder, if it is not free in time.
        """
        self.mirror.fence = self._acquire(
            {**who, "folder": self._id}, time.monotonic() + wait_seconds
        )
        self.mirror.leases += 1
        ended = threading.Event()
        signs = threading.Thread(target=self._give_signs, args=(ended,), daemon=True)
        signs.start()
        try:
            self.editions.claim()
            self.share_files()
            yield
        finally:
            ended.set()
            signs.join()
            with suppress(AlmanacError):  # else it ends by itself, and files are shared later
                self.share_files()
                self._change_own(lambda state: {**state, "holder": None})
            self.mirror.fence = 0

    def _acquire(self, who: dict[str, Any], deadline: float) -> int:
        def change(state: State) -> State:
            holder = state.get("holder")
            # Whoever held it from this folder is dead, since its lock is ours.
            is_dead = holder and all(holder.get(k) == who.get(k) for k in ("folder", "host"))
            if holder and not is_dead and state["until"] > time.time():
                raise BusyError(
                    f"Refresh {holder['run_id']} has been running on {self.store.address} since "
                    f"{holder['since']} (process {holder['process']} on {holder['host']}). Wait "
                    "for it, or give --set publish.wait_seconds=60. If it died, its lease ends "
                    f"within {LEASE_SECONDS:.0f} seconds."
                )
            fence = state.get("fence", 0) + 1
            return {"fence": fence, "holder": who, "until": time.time() + LEASE_SECONDS}

        while True:
            try:
                return int(self.store.change(LEASE, change)["fence"])
            except BusyError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(random.uniform(0.1, 1.0) * POLL_SECONDS)

    def _give_signs(self, ended: threading.Event) -> None:
        while not ended.wait(LEASE_SECONDS / 4):
            try:
                self._change_own(lambda s: {**s, "until": time.time() + LEASE_SECONDS})
            except StoreError:
                continue  # the next sign may reach it
            except AlmanacError:
                return  # the lease is another's, which publishing will find

    def _change_own(self, change: Callable[[State], State]) -> None:
        def own(state: State) -> State:
            if state.get("fence") != self.mirror.fence:
                raise BusyError(f"The lease on {self.store.address} is another writer's.")
            return change(state)

        self.store.change(LEASE, own)

    # -- files of the user --------------------------------------------------------------------

    def share_files(self) -> None:
        """Bring settings, notes and learned files up to date here and in the store.

        What changed on one side since the last time replaces the other; if both did, the store's
        file stays and this machine's is kept beside it as `NAME.mine`.
        """
        noted: dict[str, list[str]] = {}
        with suppress(OSError, ValueError):
            noted = orjson.loads((self.folder / _NOTED).read_bytes())
        listed = self.store.listing("files/").items()
        there = {key.partition("/")[2]: etag for key, etag in listed}
        paths = (path for pattern in SHARED for path in self.folder.glob(pattern))
        here = {
            str(path.relative_to(self.folder)): durable.sha256_file(path)
            for path in paths
            if path.is_file() and not path.name.startswith(".") and path.name != STORE_MARK
        }
        new = dict(noted)
        for name in sorted(noted.keys() | there.keys() | here.keys()):
            sha256, etag = noted.get(name, (None, None))
            changed_here = here.get(name) != sha256
            if there.get(name) != etag:
                etag = self._take_file(name, name in there, changed_here)
            elif changed_here:
                etag = self._give_file(name, name in here)
            else:
                continue
            new.pop(name, None)
            if etag:
                new[name] = [durable.sha256_file(self.folder / name), etag]
        if new != noted:
            durable.write_json(self.folder / _NOTED, new)

    def _take_file(self, name: str, exists: bool, changed_here: bool) -> str | None:
        path = self.folder / name
        data, etag = (self.store.get(f"files/{name}") if exists else None) or (None, None)
        if changed_here and path.exists() and data != path.read_bytes():
            path.replace(path.with_name(f"{path.name}.mine"))
        if data is None:
            path.unlink(missing_ok=True)
        else:
            durable.write_bytes(path, data)
        return etag

    def _give_file(self, name: str, exists: bool) -> str | None:
        if exists:
            return self.store.put(f"files/{name}", (self.folder / name).read_bytes())
        self.store.delete([f"files/{name}"])
        return None
