"""The journal: append-only tables as Parquet parts, and a log of commits that lists them.

A commit adds rows to several tables at once or not at all. Its parts are written to temporary files
and synced without a lock; under a short lock they are renamed into place and one line is appended
to `commits.jsonl`. A part that no commit lists does not exist; a torn last line is no commit.
Any number of processes can append at the same time.
"""

import contextlib
import fcntl
import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import DamageError
from schemas.row import Row
from warehouse import durable

SCHEMA_VERSION = 1
DAMAGED = "damaged"  # the folder of parts that were set aside
FEW_ROWS = 2000  # of a table that is loaded into DuckDB instead of being viewed


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of one table, named by its content."""

    table: str
    file: str
    rows: int
    sha256: str
    commit: int
    schema_version: int


class Journal:
    """The append-only tables under one folder."""

    def __init__(self, folder: Path) -> None:
        """Open the journal in a folder, which need not exist yet."""
        self.folder = folder
        self._log = folder / "commits.jsonl"
        self._lock = folder / "commits.lock"
        self._verified: set[str] = set()
        self._reading = threading.Lock()  # model calls read it from their own thread
        self._begin()

    def _begin(self) -> None:
        self._parts: list[Part] = []
        self._read_bytes = 0
        self._chain = self.folder.name
        self._commits = 0

    # -- writing ----------------------------------------------------------------------------

    def append(self, tables: Mapping[type[Row], pa.Table]) -> int:
        """Add rows to several tables in one commit and return the commit's number.

        Empty tables are left out; a commit without rows is not made and returns 0.
        """
        filled = {row: row.cast(table) for row, table in tables.items() if len(table)}
        if not filled:
            return 0
        self.folder.mkdir(parents=True, exist_ok=True)
        written = [self._write_aside(row, table) for row, table in filled.items()]
        with self._locked():
            number = self._last_whole_commit() + 1
            for entry, temporary in written:
                final = self.folder / entry["file"]
                final.parent.mkdir(parents=True, exist_ok=True)
                durable.replace(temporary, final)
            self._append_line({"commit": number, "parts": [entry for entry, _ in written]})
        return number

    def _write_aside(self, row: type[Row], table: pa.Table) -> tuple[dict[str, Any], Path]:
        buffer = BytesIO()
        pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
        data = buffer.getvalue()
        sha256 = hashlib.sha256(data).hexdigest()
        temporary = self.folder / f"{row.table}-{sha256[:16]}.{os.getpid()}.tmp"
        durable.write_synced(temporary, data)
        entry = {
            "table": row.table,
            "file": f"{row.table}/{sha256[:32]}.parquet",
            "rows": len(table),
            "sha256": sha256,
            "schema_version": SCHEMA_VERSION,
        }
        return entry, temporary

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock.open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _last_whole_commit(self) -> int:
        """Return the number of the last commit, cutting off a torn line; the lock is held."""
        self._refresh()
        if self._log.exists() and self._log.stat().st_size > self._read_bytes:
            with self._log.open("r+b") as log:
                log.truncate(self._read_bytes)
                os.fsync(log.fileno())
        return self._commits

    def _append_line(self, commit: dict[str, Any]) -> None:
        self._append_lines(self._sealed(commit) + b"\n")

    def _sealed(self, commit: dict[str, Any]) -> bytes:
        return orjson.dumps({**commit, "check": durable.checksum(commit, self._chain)})

    def _append_lines(self, lines: bytes) -> None:
        new = not self._log.exists()
        with self._log.open("ab") as log:
            log.write(lines)
            log.flush()
            os.fsync(log.fileno())
            size = log.tell()
        if new:
            durable.sync_folder(self.folder)
        # This only helps to notice that the log lost its end; the commit is valid without it.
        with contextlib.suppress(OSError):
            self._lock.write_bytes(b"%020d %020d" % (size, size))

    def clean(self) -> int:
        """Remove parts that no commit lists and remains of dead processes; return how many."""
        if not self.folder.exists():
            return 0
        removed = durable.remove_dead_temporaries(self.folder)
        with self._locked():
            self._last_whole_commit()
            listed = {part.file for part in self._parts}
            for path in self.folder.glob("*/*.parquet"):
                if f"{path.parent.name}/{path.name}" not in listed:
                    path.unlink()
                    removed += 1
        return removed

    def set_aside_damage(self) -> list[str]:
        """Take damaged files out of the journal, which goes on without them; say what is lost.

        What is left of them stays beside it. For records that nothing is derived from.
        """
        if not self.folder.exists():
            return []
        try:
            with self._locked():
                number = self._last_whole_commit() + 1
                lost = [part for part in self._parts if not self._is_whole(part)]
                for part in lost:
                    self._move_aside(part)
                if lost:
                    files = list(dict.fromkeys(part.file for part in lost))
                    self._append_line({"commit": number, "parts": [], "lost": files})
        except DamageError as damage:
            aside = self._free_name()
            self.folder.rename(aside)
            self._begin()
            return [f"{str(damage).partition('. ')[0]}. Everything in it was set aside in {aside}."]
        return [
            f"The file {self.folder / part.file} is damaged or missing: {part.rows} rows of the "
            f"table {part.table} are lost. What is left is in {self.folder / DAMAGED}."
            for part in lost
        ]

    def _move_aside(self, part: Part) -> None:
        path, aside = self.folder / part.file, self.folder / DAMAGED
        aside.mkdir(exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            path.rename(aside / f"{part.table}-{path.name}.damaged")

    def _free_name(self) -> Path:
        names = (self.folder.with_name(f"{self.folder.name}-{DAMAGED}-{n}") for n in count(1))
        return next(name for name in names if not name.exists())

    # -- reading ----------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Read the commits appended since the last look; raise DamageError if the log changed."""
        with self._reading:
            needed = max(self._read_bytes, self._length_noted())  # noted before the log is read
            data = b""
            if self._log.exists():
                with self._log.open("rb") as log:
                    log.seek(self._read_bytes)
                    data = log.read()
            whole = data[: data.rfind(b"\n") + 1]
            if self._read_bytes + len(whole) < needed:
                raise self._log_damage("has lost its end")
            for line in whole.splitlines():
                self._take(line)
            self._read_bytes += len(whole)

    def _length_noted(self) -> int:
        """Return the log's length after its last commit, 0 if unknown."""
        try:
            noted = self._lock.read_bytes().split()
        except FileNotFoundError:
            return 0
        # Written twice, so that a damaged note is recognised and ignored.
        return int(noted[0]) if len(noted) == 2 and noted[0] == noted[1] else 0

    def _take(self, line: bytes) -> None:
        """Apply one line of the log, whose chained checksum covers all lines before it."""
        try:
            commit = orjson.loads(line)
            noted = commit.pop("check", None)
            check = durable.checksum(commit, self._chain)
            if noted not in (None, check):
                raise self._log_damage(f"is damaged near commit {self._commits + 1}")
            parts = [Part(commit=commit["commit"], **part) for part in commit["parts"]]
            lost = frozenset(commit.get("lost", ()))
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
            raise self._log_damage(f"is damaged near commit {self._commits + 1}") from None
        if lost:
            self._parts = [part for part in self._parts if part.file not in lost]
            self._verified -= lost
        self._parts += parts
        self._commits, self._chain = commit["commit"], check

    def _log_damage(self, what: str) -> DamageError:
        return DamageError(
            f"The file {self._log} {what}. Restore {self.folder} from a backup, or begin a new "
            "home; the published editions can be read as before."
        )

    @property
    def position(self) -> int:
        """The number of the last commit, 0 for an empty journal."""
        self._refresh()
        return self._commits

    @property
    def size(self) -> int:
        """The size of the commit log in bytes, a cheap way to see that nothing was appended."""
        try:
            return self._log.stat().st_size
        except FileNotFoundError:
            return 0

    def parts(self, row: type[Row], *, after: int = 0, upto: int | None = None) -> list[Part]:
        """Return a table's parts from the commits in (after, upto], oldest first."""
        self._refresh()
        end = self._commits if upto is None else upto
        return [p for p in self._parts if p.table == row.table and after < p.commit <= end]

    def _files_listed(self) -> list[Part]:
        """Return one part of each file."""
        return list({part.file: part for part in self._parts}.values())

    def path(self, part: Part) -> Path:
        """Return a part's path; the file is compared with its commit at the first use."""
        return self._path(part)

    def _path(self, part: Part) -> Path:
        path = self.folder / part.file
        if part.file not in self._verified:
            if not self._is_whole(part):
                raise DamageError(
                    f"The journal's file {path} is damaged or missing. "
                    "Restore it from a backup; `almanac doctor` lists all damaged files."
                )
            self._verified.add(part.file)
        return path

    def part_table(self, row: type[Row], part: Part) -> pa.Table:
        """Return the rows of a part, an older schema version cast up."""
        with pq.ParquetFile(self.path(part)) as file:  # a third of the time of `read_table`
            table = file.read()
        return table if table.schema.equals(row.arrow_schema()) else row.cast(table)

    def table(self, row: type[Row], *, upto: int | None = None) -> pa.Table:
        """Return all rows of a table, older schema versions cast up, in commit order."""
        tables = [self.part_table(row, part) for part in self.parts(row, upto=upto)]
        return pa.concat_tables(tables) if tables else row.arrow_schema().empty_table()

    def damaged(self) -> list[str]:
        """Return the listed files that differ from their commits."""
        try:
            self._refresh()
        except DamageError:
            return [str(self._log)]
        return [str(self.folder / part.file) for part in self._parts if not self._is_whole(part)]

    def _is_whole(self, part: Part) -> bool:
        path = self.folder / part.file
        return path.exists() and durable.sha256_file(path) == part.sha256


def register(journal: Journal, rows: Iterable[type[Row]], con: Any, upto: int) -> None:
    """Create in DuckDB a view `j_<table>` of each journal table, with the commit of each row.

    The order of rows is given by `commit`, never by a clock. Columns that older parts lack are
    null. Tables of few rows are read at once, as DuckDB takes longer to bind a view of files than
    to read them.
    """
    for row in rows:
        parts = journal.parts(row, upto=upto)
        name, empty = f"j_{row.table}", row.arrow_schema().append(pa.field("commit", pa.int64()))
        if sum(part.rows for part in parts) <= FEW_ROWS:
            tables = [empty.empty_table(), *(_with_commit(journal, row, part) for part in parts)]
            con.register(name, pa.concat_tables(tables))
            continue
        con.register(f"{name}_none", empty.empty_table())
        files = [str(journal.path(part)) for part in parts]
        commits = pa.table({"filename": files, "commit": [part.commit for part in parts]})
        con.register(f"{name}_commits", commits)
        files = list(dict.fromkeys(files))  # a part is named by its content, and may come again
        con.read_parquet(files, filename=True, union_by_name=True).create_view(f"{name}_parts")
        # Names of tables take no parameters; they come from the classes in `schemas`.
        con.sql(_JOINED.replace("NAME", name)).create_view(name)


def _with_commit(journal: Journal, row: type[Row], part: Part) -> pa.Table:
    table = journal.part_table(row, part)
    return table.append_column("commit", pa.array([part.commit] * len(table), pa.int64()))


_JOINED = """
select * exclude (filename) from NAME_parts join NAME_commits using (filename)
union all by name
select * from NAME_none
"""
