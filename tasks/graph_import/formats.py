"""Which reader reads a file: as told, else as its name and first lines suggest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from schemas.errors import UsageError
from tasks.graph_import.batch import Batch
from tasks.graph_import.lines import Opened, opened
from tasks.graph_import.mapping import FileMapping
from tasks.graph_import.records import read_records
from tasks.graph_import.separated import DELIMITERS, read_separated
from tasks.graph_import.templates import Tables

FORMATS = (*DELIMITERS, "records")
Told = Callable[[int, int], None]  # bytes read, bytes in all


@dataclass(frozen=True)
class Reading:
    """One file, its format, and what was said of it."""

    path: Path
    format: str
    mapping: FileMapping | None
    languages: tuple[str, ...]
    tables: Tables = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # entities that a mapping's rules described


def read_file(reading: Reading, told: Told) -> Iterator[Batch]:
    """Yield a file's batches."""
    with opened(reading.path) as file:
        for batch in _reader(reading, file):
            told(file.done, file.size)
            yield batch


def _reader(reading: Reading, file: Opened) -> Iterator[Batch]:
    if reading.format in DELIMITERS:
        delimiter = (reading.mapping and reading.mapping.delimiter) or DELIMITERS[reading.format]
        return read_separated(file.data, delimiter, reading.mapping)
    if reading.format == "records" and reading.mapping:
        return read_records(file, reading.path, reading.mapping, reading.tables, reading.seen)
    raise UsageError(f"There is no reader for the format {reading.format}.")


def guess_format(path: Path) -> str:
    """Return the format of a file, by its name, else by its first lines."""
    with opened(path) as file:
        start = file.data.read(1 << 16)
    sample = [line for line in start.decode("utf-8", "replace").splitlines() if line][:20]
    for name, delimiter in (("nlpcc", "|||"), ("tsv", "\t"), ("pipe", "|")):
        if sample and sum(delimiter in line for line in sample) > len(sample) / 2:
            return name
    raise UsageError(f"It cannot be told how {path} is to be read; say so with --format.")
