"""The journal: append-only tables as Parquet parts, and a log of commits that lists them.

A commit adds rows to several tables at once or not at all. Its parts are written to temporary files
and synced without a lock; under a short lock they are renamed into place and one line is appended
to `commits.jsonl`. A part that no commit lists does not exist; a torn last line is no commit.
Any number of processes can append at the same time.

Many small parts become one file by a line of their own (`warehouse/compaction.py`). What a commit
added keeps its number and its hash; only the file that holds it is another. Whoever uses paths for
longer pins them, so that files that are no longer listed stay.
"""

import contextlib
import fcntl
import hashlib
import os
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import accumulate, count, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import DamageError
from schemas.row import Row
from warehouse import durable

SCHEMA_VERSION = 1  # of its files; a release refuses to read what a later one wrote in another form
DAMAGED = "damaged"  # the folder of parts that were set aside
COMMIT = "commit"  # the column, in merged files and for SQL, of the commit that added a row
PINS = "readers"  # the folder of the locks by which files stay that somebody may still read
_number = attrgetter("commit")


@dataclass(frozen=True, slots=True)
class Part:
    """What one commit added to one table: `rows` rows of a Parquet file, from `start` on.

    `sha256` is the hash of the file that the commit wrote. It stands for these rows, whatever file
    holds them now; a merged file has a hash of its own, and the column `commit`.
    """

    table: str
    file: str
    rows: int
    sha256: str
    commit: int
    schema_version: int
    file_sha256: str
    start: int = 0

    @property
    def is_merged(self) -> bool:
        """Whether its file holds the rows of several commits."""
        return self.file_sha256 != self.sha256


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
        self._parts: dict[str, list[Part]] = {}  # by table, in the order of the commits
        self._merged_at = 0  # the last commit that put files in the place of others
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
        return _entry(row.table, len(table), sha256), temporary

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

    def put_in_place(self, parts: Sequence[Part], file: Path, sha256: str) -> bool:
        """List a file with the rows of consecutive parts of a table instead of their files.

        It lies in the journal's folder under a temporary name. Returns False, and removes it, if
        others were put in the place of these parts meanwhile.
        """
        table, first, last = parts[0].table, parts[0].commit, parts[-1].commit
        entry = _entry(table, sum(part.rows for part in parts), sha256)
        entry["commits"] = [first, last]  # older releases refuse it rather than to lose these rows
        with self._locked():
            number = self._last_whole_commit() + 1
            if self._parts[table][self._places(table, first - 1, last)] != list(parts):
                file.unlink()
                return False
            durable.replace(file, self.folder / entry["file"])
            self._append_line({"commit": number, "parts": [entry]})
        return True

    def clean(self) -> int:
        """Remove parts that no commit lists and remains of dead processes; return how many."""
        if not self.folder.exists():
            return 0
        return durable.remove_dead_temporaries(self.folder) + self.remove_unlisted()

    def remove_unlisted(self) -> int:
        """Remove the parts that no commit lists, and return how many.

        While somebody may read by an older list, none is removed.
        """
        removed = 0
        with self._locked():
            self._last_whole_commit()
            listed = {part.file for part in self._listed()}
            for path in () if self._is_pinned() else self.folder.glob("*/*.parquet"):
                if f"{path.parent.name}/{path.name}" not in listed:
                    path.unlink()
                    removed += 1
        return removed

    def _is_pinned(self) -> bool:
        """Return whether a reader holds a list older than the last merging; else forget the pins.

        The log's lock is held, so nobody merges meanwhile, and no new reader takes an older list.
        """
        for path in (self.folder / PINS).glob("*.lock"):
            if int(path.stem) < self._merged_at:
                with path.open("rb") as pin:
                    try:
                        fcntl.flock(pin, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        return True
                    path.unlink()
        return False

    def set_aside_damage(self) -> list[str]:
        """Take damaged files out of the journal, which goes on without them; say what is lost.

        What is left of them stays beside it. For records that nothing is derived from.
        """
        if not self.folder.exists():
            return []
        try:
            with self._locked():
                number = self._last_whole_commit() + 1
                lost = [part for part in self._files_listed() if not self._is_whole(part)]
                for part in lost:
                    self._move_aside(part)
                if lost:
                    rows = {part.file: self._rows_in(part) for part in lost}
                    self._append_line({"commit": number, "parts": [], "lost": list(rows)})
        except DamageError as damage:
            aside = self._free_name()
            self.folder.rename(aside)
            self._begin()
            return [f"{str(damage).partition('. ')[0]}. Everything in it was set aside in {aside}."]
        return [
            f"The file {self.folder / part.file} is damaged or missing: {rows[part.file]} rows of "
            f"the table {part.table} are lost. What is left is in {self.folder / DAMAGED}."
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
            for line in whole.splitlines():
                self._take(line)
            self._read_bytes += len(whole)
            if self._read_bytes < needed:
                raise self._log_damage("has lost its end")

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
            number, parts = commit["commit"], commit["parts"]
            for entry in parts:
                self._take_part(number, **entry)
            lost = frozenset(commit.get("lost", ()))
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
            raise self._log_damage(f"is damaged near commit {self._commits + 1}") from None
        if lost:
            for table, known in self._parts.items():
                self._parts[table] = [part for part in known if part.file not in lost]
            self._verified -= lost
        self._commits, self._chain = number, check

    def _take_part(
        self, number: int, *, table: str, commits: Sequence[int] = (), **entry: Any
    ) -> None:
        """List what a commit added, or the file that now holds the parts of earlier commits."""
        durable.check_version(f"files of {self.folder}", entry["schema_version"], SCHEMA_VERSION)
        known = self._parts.setdefault(table, [])
        if not commits:
            known.append(Part(table, commit=number, file_sha256=entry["sha256"], **entry))
            return
        first, last = commits
        places = self._places(table, first - 1, last)
        *starts, rows = accumulate((part.rows for part in known[places]), initial=0)
        if rows != entry["rows"]:
            raise KeyError(entry["file"])
        file, sha256 = entry["file"], entry["sha256"]
        known[places] = [
            replace(part, file=file, file_sha256=sha256, start=start)
            for part, start in zip(known[places], starts, strict=True)
        ]
        self._merged_at = number

    def _places(self, table: str, after: int, upto: int) -> slice:
        """Return where the parts of a table from the commits in (after, upto] are listed."""
        known = self._parts.get(table, [])
        return slice(
            bisect_right(known, after, key=_number), bisect_right(known, upto, key=_number)
        )

    def _listed(self) -> Iterator[Part]:
        for parts in self._parts.values():
            yield from parts

    def _files_listed(self) -> list[Part]:
        """Return one part of each file."""
        return list({part.file: part for part in self._listed()}.values())

    def _rows_in(self, one: Part) -> int:
        return sum(part.rows for part in self._parts[one.table] if part.file == one.file)

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

    def listing(self) -> tuple[bytes, list[str]]:
        """Return the log's commits as they are written, and the files that they list."""
        self._refresh()
        data = self._log.read_bytes()[: self._read_bytes] if self.size else b""
        return data, [part.file for part in self._files_listed()]

    @property
    def size(self) -> int:
        """The size of the commit log in bytes, a cheap way to see that nothing was appended."""
        try:
            return self._log.stat().st_size
        except FileNotFoundError:
            return 0

    def parts(self, row: type[Row], *, after: int = 0, upto: int | None = None) -> list[Part]:
        """Return what the commits in (after, upto] added to a table, oldest first."""
        self._refresh()
        end = self._commits if upto is None else upto
        return self._parts.get(row.table, [])[self._places(row.table, after, end)]

    def path(self, part: Part) -> Path:
        """Return the path of the file that holds a part's rows now, among those of other commits.

        The file is compared with its commit at the first use. It may go after it was merged with
        others, unless it is `pinned`.
        """
        return self._path(self._now(part))

    def _now(self, part: Part) -> Part:
        """Return a part as it is listed now, if it is."""
        known = self._parts.get(part.table, [])
        found = known[self._places(part.table, part.commit - 1, part.commit)]
        return found[0] if found else part

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

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Keep the files that are listed now, or later, while the body runs.

        A reader who may not write into the home takes no pin unless another reader made its file.
        """
        with ExitStack() as pins:
            while self.size:
                self._refresh()
                seen = self._merged_at
                with contextlib.suppress(OSError):
                    pins.enter_context(self._pin(seen))
                self._refresh()
                if self._merged_at == seen:
                    break
                pins.close()  # the files may have been removed before the lock was held
            yield

    @contextmanager
    def _pin(self, merged_at: int) -> Iterator[None]:
        path = self.folder / PINS / f"{merged_at}.lock"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.touch()
        with path.open("rb") as pin:
            fcntl.flock(pin, fcntl.LOCK_SH)
            yield

    def tables(
        self,
        row: type[Row],
        columns: Sequence[str] | None = None,
        *,
        after: int = 0,
        upto: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[pa.Table]:
        """Yield the rows that the commits in (after, upto] added to a table, file by file.

        The rows of each file are in the order of the commits; files are too, or in the reverse
        order. `columns` are those wanted, all by default; `commit` may be among them.
        """
        with self.pinned():
            parts = self.parts(row, after=after, upto=upto)
            for run in _by_file(reversed(parts) if newest_first else parts):
                yield self._rows(row, sorted(run, key=_number), columns)

    def part_table(self, row: type[Row], part: Part) -> pa.Table:
        """Return the rows of a part, an older schema version cast up."""
        with self.pinned():
            return self._rows(row, [self._now(part)])

    def _rows(
        self, row: type[Row], run: Sequence[Part], columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return the rows of consecutive parts that one file holds."""
        with pq.ParquetFile(self._path(run[0])) as file:  # a third of the time of `read_table`
            known = [name for name in file.schema_arrow.names if name != COMMIT]
            table = _read(file, run, [n for n in known if columns is None or n in columns])
        schema = row.arrow_schema()
        if not table.schema.equals(schema):
            table = row.cast(table)
        if columns is None:
            return table
        if COMMIT in columns:
            numbers = [pa.repeat(pa.scalar(part.commit, pa.int64()), part.rows) for part in run]
            table = table.append_column(COMMIT, pa.concat_arrays(numbers))
        return table.select(columns)

    def table(self, row: type[Row], *, upto: int | None = None) -> pa.Table:
        """Return all rows of a table, older schema versions cast up, in commit order."""
        tables = list(self.tables(row, upto=upto))
        return pa.concat_tables(tables) if tables else row.arrow_schema().empty_table()

    def damaged(self) -> list[str]:
        """Return the listed files that differ from their commits."""
        try:
            self._refresh()
        except DamageError:
            return [str(self._log)]
        listed = self._files_listed()
        return [str(self.folder / part.file) for part in listed if not self._is_whole(part)]

    def _is_whole(self, part: Part) -> bool:
        path = self.folder / part.file
        return path.exists() and durable.sha256_file(path) == part.file_sha256


def _entry(table: str, rows: int, sha256: str) -> dict[str, Any]:
    """Return what the log says of a file."""
    file = f"{table}/{sha256[:32]}.parquet"
    return dict(table=table, file=file, rows=rows, sha256=sha256, schema_version=SCHEMA_VERSION)


def _by_file(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Yield runs of consecutive parts that one file holds one behind the other."""
    # A file that is not merged may be what two commits added alike.
    for _, run in groupby(parts, lambda p: (p.file, None if p.is_merged else p.commit)):
        yield list(run)


def _read(file: pq.ParquetFile, run: Sequence[Part], columns: list[str]) -> pa.Table:
    """Read the rows of consecutive parts from their file, and no more row groups than needed."""
    start, rows = run[0].start, sum(part.rows for part in run)
    if rows == file.metadata.num_rows:
        return file.read(columns)
    sizes = (file.metadata.row_group(n).num_rows for n in range(file.num_row_groups))
    begins = list(accumulate(sizes, initial=0))
    first = bisect_right(begins, start) - 1
    table = file.read_row_groups(range(first, bisect_left(begins, start + rows)), columns)
    return table.slice(start - begins[first], rows)
