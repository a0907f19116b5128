"""A journal in an object store: each commit is an object that one writer alone can create.

`commits/000000000007.json` is the line of commit 7 in `commits.jsonl`, and parts have the names
that they have in the folder. A commit is first written to `unsent/` on this machine, then its parts
are put, then its object; the writer who finds the number taken reads what he lacks and takes the
next. What could not be sent is sent by the next append or run, once: it is known by its token.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson
import pyarrow as pa

from schemas.errors import DamageError, StoreError
from schemas.row import Row
from warehouse import durable
from warehouse.journal import Journal, Part

if TYPE_CHECKING:
    from warehouse.stored_home import StoredHome

log = logging.getLogger(__name__)


class StoredJournal(Journal):
    """The append-only tables of one folder in a store, mirrored on this machine."""

    def __init__(self, folder: Path, stored: "StoredHome", *, required: bool) -> None:
        """Make no request yet; rows that are not `required` may wait unsent without an error."""
        self._stored, self._store, self._required = stored, stored.store, required
        self._prefix = folder.name
        self._unsent = folder / "unsent"
        self._numbers: dict[str, int] = {}  # of commits, by token
        self._pulled = -1  # the lease under which the store was last looked at
        self._here: set[str] = set()
        super().__init__(folder)

    # -- writing ----------------------------------------------------------------------------

    def append(self, tables: Mapping[type[Row], pa.Table]) -> int:
        """Add rows to several tables in one commit of the store and return its number.

        Raises StoreError if the store cannot take it, which then waits on this machine; rows that
        are not required wait with a warning, and 0 is returned.
        """
        filled = {row: row.cast(table) for row, table in tables.items() if len(table)}
        if not filled:
            return 0
        token = self._keep(filled)
        try:
            return self._send()[token]
        except StoreError as error:
            if self._required:
                raise
            log.warning("%s", error)
            return 0

    def _keep(self, filled: Mapping[type[Row], pa.Table]) -> str:
        """Write a commit to the folder of what is unsent, and return its token."""
        self._unsent.mkdir(parents=True, exist_ok=True)
        written = [self._write_aside(row, table) for row, table in filled.items()]
        for entry, temporary in written:
            durable.replace(temporary, self._waiting(entry))
        token = uuid4().hex
        commit = {"token": token, "parts": [entry for entry, _ in written]}
        durable.write_json(self._unsent / f"{token}.json", commit)
        return token

    def _waiting(self, entry: dict[str, Any]) -> Path:
        return self._unsent / f"{entry['table']}-{Path(entry['file']).stem}.part"

    def _send(self) -> dict[str, int]:
        """Send what is unsent, in order of time, and return the numbers of commits by token."""
        waiting = sorted(self._unsent.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        commits = [orjson.loads(path.read_bytes()) for path in waiting]
        entries = [entry for commit in commits for entry in commit["parts"]]
        self._store.all_of(self._put_part, entries)
        with self._locked():
            self.pull(locked=True)
            for commit, path in zip(commits, waiting, strict=True):
                self._commit(commit)
                for entry in commit["parts"]:
                    self._settle(entry)
                path.unlink(missing_ok=True)
            return self._numbers

    def _put_part(self, entry: dict[str, Any]) -> None:
        path = self._waiting(entry)
        if path.exists():  # else another process of this machine has sent it
            self._store.put(f"{self._prefix}/{entry['file']}", path)

    def _commit(self, commit: dict[str, Any]) -> None:
        """Create the object of a commit under the first free number; the lock is held."""
        while commit["token"] not in self._numbers:
            numbered = {"commit": self._commits + 1, **commit}
            line = self._sealed(numbered)
            if self._store.create(self._key(numbered["commit"]), line):
                self._append_lines(line + b"\n")
                self._refresh()
            else:
                self._take_new()

    def _settle(self, entry: dict[str, Any]) -> None:
        """Move a part that was sent to its place."""
        path, final = self._waiting(entry), self.folder / entry["file"]
        if path.exists():
            final.parent.mkdir(parents=True, exist_ok=True)
            durable.replace(path, final)

    def clean(self) -> int:
        """Send what is unsent, and remove remains of dead processes; return how many."""
        if next(self._unsent.glob("*.json"), None):
            self._send()
        self.pull()
        return super().clean()

    def set_aside_damage(self) -> list[str]:
        """Remove damaged files of this machine, which are then read from the store again."""
        self.pull()
        for part in self._parts:
            path = self.folder / part.file
            if path.exists() and not self._is_whole(part):
                path.unlink()
        return []

    # -- reading ----------------------------------------------------------------------------

    def pull(self, *, locked: bool = False) -> None:
        """Take the commits that the store has and this machine lacks."""
        self._pulled = self._stored.leases
        self.folder.mkdir(parents=True, exist_ok=True)
        if locked:
            self._take_new()
            return
        with self._locked():
            self._take_new()

    def _take_new(self) -> None:
        """Append the store's new commits to the log; the lock is held."""
        try:
            self._last_whole_commit()
        except DamageError:  # of this machine's copy alone
            self._log.unlink(missing_ok=True)
            self._lock.write_bytes(b"")
            self._begin()
        last = self._commits
        found = self._store.listing(f"{self._prefix}/commits/", after=self._key(max(last - 1, 0)))
        if last and (not found or found[0].key != self._key(last)):
            raise DamageError(
                f"{self._store.address} lacks commit {last} of its {self._prefix}, which this "
                f"machine has. Restore it from a backup, or remove {self._stored.folder} to go on "
                "with what the store has."
            )
        lines = self._store.all_of(
            self._line, [one.key for one in found if one.key > self._key(last)]
        )
        if lines:
            self._append_lines(b"".join(line + b"\n" for line in lines))
            self._refresh()

    def _line(self, key: str) -> bytes:
        found = self._store.get(key)
        if found is None:
            raise DamageError(f"{self._store.address}/{key} is missing. Restore it from a backup.")
        return found[0]

    def _key(self, number: int) -> str:
        return f"{self._prefix}/commits/{number:012d}.json"

    def _refresh(self) -> None:
        """Read the new commits, at first and after each lease also those of other machines."""
        if self._pulled != self._stored.leases:
            try:
                self.pull()
            except StoreError as error:
                if not self._log.exists():
                    raise
                log.warning("%s Read is what this machine has.", error)
        super()._refresh()

    def _take(self, line: bytes) -> None:
        super()._take(line)
        self._numbers[orjson.loads(line)["token"]] = self._commits

    def path(self, part: Part) -> Path:
        """Return a part's path; what is missing or damaged here is read from the store.

        Who reads a part soon reads the later ones of its table, so these are fetched with it.
        """
        if part.file not in self._verified and part.file not in self._here:
            later = {
                one.file: one
                for one in self._parts
                if one.table == part.table and one.commit >= part.commit
            }
            absent = [one for one in later.values() if not (self.folder / one.file).exists()]
            self._store.all_of(self._fetch, absent)
            if not self._is_whole(part):
                self._fetch(part)
            self._here.update(later)
        return super().path(part)

    def _fetch(self, part: Part) -> None:
        key = f"{self._prefix}/{part.file}"
        try:
            self._store.fetch(key, self.folder / part.file, part.sha256)
        except FileNotFoundError:
            raise DamageError(
                f"{self._store.address}/{key} is missing. Restore it from a backup."
            ) from None

    def damaged(self) -> list[str]:
        """Return the parts that the store lacks, and files of this machine that are damaged."""
        self.pull()
        there = {found.key for found in self._store.listing(f"{self._prefix}/")}
        lost = [p.file for p in self._parts if f"{self._prefix}/{p.file}" not in there]
        bad = [p for p in self._parts if (self.folder / p.file).exists() and not self._is_whole(p)]
        places = [f"{self._store.address}/{self._prefix}/{file}" for file in lost]
        return [*places, *(str(self.folder / part.file) for part in bad)]
