"""A journal in an object store: each commit is an object that one writer alone can create.

`commits/000000000007.json` is the line of commit 7 in `commits.jsonl`, and parts have the names
that they have in the folder. A commit is first written to `unsent/` on this machine, then its parts
are put, then its object; the writer who finds the number taken reads what he lacks and takes the
next. What could not be sent is sent by the next append or run, once: it is known by its token.
"""

import logging
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import pyarrow as pa

from schemas.errors import DamageError, StoreError
from schemas.row import Row
from warehouse import durable
from warehouse.journal import Journal, Part
from warehouse.object_store import KEPT, Mirror, doing_without, falling_back

log = logging.getLogger(__name__)


class StoredJournal(Journal):
    """The append-only tables of one folder in a store, mirrored on this machine."""

    def __init__(self, folder: Path, mirror: Mirror, *, required: bool) -> None:
        """Make no request yet; rows that are not `required` may wait unsent without an error."""
        self._mirror, self._store, self._required = mirror, mirror.store, required
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
        self.folder.mkdir(parents=True, exist_ok=True)
        written = [self._write_aside(row, table) for row, table in filled.items()]
        with nullcontext() if self._required else doing_without():
            return self._sent(written)

    def _sent(self, written: list[tuple[dict[str, Any], Path]]) -> int:
        """Send a commit, as `append` says; return its number."""
        failure: StoreError | None = None
        try:
            self._store.all_of(self._put_part, written)
        except StoreError as error:
            failure = error
        token = self._keep(written)
        try:
            if failure:
                raise failure
            return self._send(token)
        except StoreError as error:
            if self._required:
                raise
            log.warning("%s %s", error, KEPT)
            return 0

    def _keep(self, written: list[tuple[dict[str, Any], Path]]) -> str:
        """Move a commit to what is unsent, and return its token."""
        self._unsent.mkdir(parents=True, exist_ok=True)
        for entry, temporary in written:
            durable.replace(temporary, self._waiting(entry))
        token = uuid4().hex
        commit = {"token": token, "parts": [entry for entry, _ in written]}
        durable.write_json(self._unsent / f"{token}.json", commit)
        return token

    def _waiting(self, entry: dict[str, Any]) -> Path:
        return self._unsent / f"{entry['table']}-{Path(entry['file']).stem}.part"

    def _put_part(self, one: tuple[dict[str, Any], Path]) -> None:
        entry, path = one
        self._store.put(f"{self._prefix}/{entry['file']}", path)

    def _send(self, token: str = "") -> int:
        """Commit what is unsent, in order of time; return the number of the commit with the token.

        The parts of that one are in the store already.
        """
        with self._locked():
            self._last_whole_commit()
            waiting = sorted(self._unsent.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
            for path in waiting:
                commit = orjson.loads(path.read_bytes())
                if commit["token"] not in self._numbers:
                    left = () if commit["token"] == token else commit["parts"]
                    there = [
                        (one, self._waiting(one)) for one in left if self._waiting(one).exists()
                    ]
                    self._store.all_of(self._put_part, there)
                    self._append_line(commit)
                for entry in commit["parts"]:
                    self._settle(entry)
                path.unlink()
        return self._numbers.get(token, 0)

    def _append_line(self, commit: dict[str, Any]) -> None:
        """Create the object of a commit under the first free number; the lock is held.

        Raises StoreError if it merges files, and another machine has merged some meanwhile.
        """
        merged, seen = [e for e in commit["parts"] if "commits" in e], self._merged_at
        self._store.all_of(self._put_part, [(e, self.folder / e["file"]) for e in merged])
        while True:
            numbered = {"token": uuid4().hex, **commit, "commit": self._commits + 1}
            line = self._sealed(numbered)
            if self._store.create(self._key(numbered["commit"]), line):
                self._append_lines(line + b"\n")
                self._refresh()
                return
            self._last_whole_commit()
            if merged and self._merged_at != seen:
                raise StoreError(
                    f"Another machine is compacting {self._store.address}. Nothing is lost; what "
                    "is left is compacted the next time."
                )

    def _settle(self, entry: dict[str, Any]) -> None:
        """Move a part that was sent to its place."""
        path, final = self._waiting(entry), self.folder / entry["file"]
        if path.exists():  # else another commit with the same rows had it
            final.parent.mkdir(parents=True, exist_ok=True)
            durable.replace(path, final)

    def clean(self) -> int:
        """Send what is unsent, and remove remains of dead processes; return how many."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._send()
        return super().clean()

    def set_aside_damage(self) -> list[str]:
        """Remove damaged files of this machine, which are then read from the store again."""
        self.pull()
        for part in self._files_listed():
            path = self.folder / part.file
            if path.exists() and not self._is_whole(part):
                path.unlink()
        return []

    # -- reading ----------------------------------------------------------------------------

    def pull(self) -> None:
        """Take the commits that the store has and this machine lacks."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._locked():
            self._last_whole_commit()

    def _last_whole_commit(self) -> int:
        """Return the number of the store's last commit, once its log is here; the lock is held."""
        self._pulled = self._mirror.leases
        try:
            super()._last_whole_commit()
        except DamageError:  # of this machine's copy alone
            self._log.unlink(missing_ok=True)
            self._lock.write_bytes(b"")
            self._begin()
        last = self._commits
        found = self._store.listing(f"{self._prefix}/commits/", after=self._key(max(last - 1, 0)))
        if last and self._key(last) not in found:
            raise DamageError(
                f"{self._store.address} lacks commit {last} of its {self._prefix}, which this "
                f"machine has. Restore it from a backup, or remove {self._mirror.folder} to go on "
                "with what the store has."
            )
        lines = self._store.all_of(self._line, (key for key in found if key > self._key(last)))
        if lines:
            self._append_lines(b"".join(line + b"\n" for line in lines))
            self._refresh()
        return self._commits

    def _line(self, key: str) -> bytes:
        found = self._store.get(key)
        if found is None:
            raise DamageError(f"{self._store.address}/{key} is missing. Restore it from a backup.")
        return found[0]

    def _key(self, number: int) -> str:
        return f"{self._prefix}/commits/{number:012d}.json"

    def _refresh(self) -> None:
        """Read the new commits, at first and after each lease also those of other machines."""
        if self._pulled != self._mirror.leases:
            # A writer goes on with all that others wrote, or not at all.
            with falling_back(self._store, lambda: self._log.exists() and not self._mirror.fence):
                self.pull()
        super()._refresh()

    def _take(self, line: bytes) -> None:
        super()._take(line)
        self._numbers[orjson.loads(line).get("token")] = self._commits

    def _path(self, part: Part) -> Path:
        """Return the path of a part's file; what is missing or damaged here is read from the store.

        Who reads a part soon reads the later ones of its table, so these are fetched with it.
        """
        if part.file not in self._verified and part.file not in self._here:
            later = [
                one
                for one in self._files_listed()
                if one.table == part.table and one.commit >= part.commit
            ]
            absent = [one for one in later if not (self.folder / one.file).exists()]
            self._store.all_of(self._fetch, absent)
            if not self._is_whole(part):
                self._fetch(part)
            self._here.update(one.file for one in later)
        return super()._path(part)

    def _fetch(self, part: Part) -> None:
        key = f"{self._prefix}/{part.file}"
        try:
            self._store.fetch(key, self.folder / part.file, part.file_sha256)
        except FileNotFoundError:
            raise DamageError(
                f"{self._store.address}/{key} is missing. Restore it from a backup."
            ) from None

    def damaged(self) -> list[str]:
        """Return the parts that the store lacks, and files of this machine that are damaged."""
        self.pull()
        there = self._store.listing(f"{self._prefix}/")
        listed = self._files_listed()
        lost = [p.file for p in listed if f"{self._prefix}/{p.file}" not in there]
        bad = [p for p in listed if (self.folder / p.file).exists() and not self._is_whole(p)]
        places = [f"{self._store.address}/{self._prefix}/{file}" for file in lost]
        return [*places, *(str(self.folder / part.file) for part in bad)]
