"""Compaction: the many small parts of a journal become few files, while others read and write.

Rows stay in the order of the commits that added them, with the number of the commit in a column.
So every position of the journal can be read as before, and an edition's inputs have the same hash.
No row is dropped: of what is superseded, a reader with labels, an edition in store or a text that
comes back may still need any, and model replies are paid for.

The newest files of a table are merged back to the first that is much larger than all after it
(as in a log-structured merge tree; O'Neil et al., Acta Informatica 1996), so that a row is written
again a few times only, however long a home lives. Each file is listed as soon as it is written: a
run that is killed has done a part of the work, and the next does the rest.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, groupby

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import BusyError
from schemas.row import Row
from warehouse import durable
from warehouse.journal import COMMIT, Journal, Part

LARGE = 64 << 20  # bytes of a file that is left as it is
TIMES = 4  # a file that is so many times larger than all after it is left, too
GROUP_BYTES = 16 << 20  # of a row group, before it is compressed
GROUP_ROWS = 122_880  # as many as DuckDB reads at a time


@dataclass(frozen=True)
class Extent:
    """How much disk a journal takes: its files of rows, and their bytes and those of its log."""

    files: int
    bytes: int


def extent(journal: Journal) -> Extent:
    """Return how much disk a journal takes, with files that are no longer listed."""
    sizes = [path.stat().st_size for path in journal.folder.glob("*/*.parquet")]
    return Extent(len(sizes), sum(sizes) + journal.size)


def is_due(journal: Journal, rows: Iterable[type[Row]], files: int) -> bool:
    """Return whether a table would have so many files less."""
    return any(_spared(_groups(journal, row)) >= files for row in rows)


def compact(journal: Journal, rows: Iterable[type[Row]], files: int = 1) -> None:
    """Merge the small parts of each table that will then have so many files less.

    Files that are no longer listed go, now or, if somebody may still read them, at the next time.
    Raises DamageError if a part is damaged, BusyError if another compaction is at work.
    """
    if not journal.size:
        return
    with (journal.folder / "compaction.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"Another process is compacting {journal.folder}.") from None
        durable.remove_dead_temporaries(journal.folder, "*-merged.*.tmp")
        for row in rows:
            groups = _groups(journal, row)
            if _spared(groups) >= files:
                for group in groups:
                    _merge(journal, row, [part for file in group for part in file.parts])
        journal.remove_unlisted()


@dataclass(frozen=True)
class _File:
    parts: tuple[Part, ...]
    size: int


def _spared(groups: list[list[_File]]) -> int:
    return sum(len(group) - 1 for group in groups)


def _groups(journal: Journal, row: type[Row]) -> list[list[_File]]:
    """Return the files of a table that are to be merged, each time two or more."""
    groups: list[list[_File]] = [[]]
    for file in _newest(_files(journal, row)):
        if file.size >= LARGE or sum(f.size for f in groups[-1]) >= LARGE:
            groups.append([])
        if file.size < LARGE:
            groups[-1].append(file)
    return [group for group in groups if len(group) > 1]


def _files(journal: Journal, row: type[Row]) -> list[_File]:
    """Return the files of a table in the order of their commits."""
    files = []
    for name, parts in groupby(journal.parts(row), lambda part: part.file):
        path = journal.folder / name
        # What is missing is found out when it is read.
        files.append(_File(tuple(parts), path.stat().st_size if path.exists() else 0))
    return files


def _newest(files: list[_File]) -> list[_File]:
    """Return the newest files, back to the first that is much larger than all after it."""
    after = list(accumulate((file.size for file in reversed(files)), initial=0))[-2::-1]
    for place, (file, rest) in enumerate(zip(files, after, strict=True)):
        if file.size <= TIMES * rest:
            return files[place:]
    return []


def _merge(journal: Journal, row: type[Row], parts: list[Part]) -> None:
    """Write the rows of consecutive parts to one file and list it in the place of theirs."""
    temporary = journal.folder / f"{row.table}-merged.{os.getpid()}.tmp"
    names = [*row.model_fields, COMMIT]
    schema = row.arrow_schema().append(pa.field(COMMIT, pa.int64(), nullable=False))
    tables = journal.tables(row, names, after=parts[0].commit - 1, upto=parts[-1].commit)
    try:
        with pq.ParquetWriter(
            temporary, schema, compression="zstd", write_page_checksum=True
        ) as writer:
            for group in _row_groups(tables):
                writer.write_table(group.cast(schema), row_group_size=GROUP_ROWS)
        durable.sync_file(temporary)
        journal.put_in_place(parts, temporary, durable.sha256_file(temporary))
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _row_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the rows in tables of about a row group."""
    held: list[pa.Table] = []
    size = rows = 0
    for table in tables:
        held.append(table)
        size, rows = size + table.nbytes, rows + len(table)
        if size >= GROUP_BYTES or rows >= GROUP_ROWS:
            yield pa.concat_tables(held)
            held, size, rows = [], 0, 0
    if held:
        yield pa.concat_tables(held)
