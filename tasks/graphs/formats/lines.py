"""Read files as columns of lines, block by block; compressed files are decompressed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.errors import AlmanacError, UsageError
from tasks.graphs.formats.batch import GraphBatch
from tasks.ingest.formats.inputs import RefusalError
from tasks.ingest.formats.unpacking import decompress

BLOCK = 1 << 24  # bytes
MAX_LINE = 1 << 26  # bytes; Wikidata's longest entities take a few million
MAX_EXPANSION = 1_000  # graphs repeat themselves more than texts do
_BOM = b"\xef\xbb\xbf"
_MAGIC = {b"\x1f\x8b": "gz", b"BZ": "bz2"}


class Opened:
    """An open file with the progress of reading it."""

    def __init__(self, packed: BinaryIO, data: BinaryIO, size: int) -> None:
        """Keep the file as stored, its unpacked content, and its stored size in bytes."""
        self._packed, self.data, self.size = packed, data, size

    @property
    def done(self) -> int:
        """How many bytes of the stored file were read."""
        return self._packed.tell()


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """Open a file; gzip and bzip2, recognised by their first bytes, are unpacked.

    Raises UsageError if the file cannot be opened, AlmanacError if its compressed data are broken.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name the file, or a --mapping that names its files.")
    try:
        packed = path.open("rb")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    with packed:
        start = packed.read(3)
        packed.seek(0)
        compression = _MAGIC.get(start[:2], "") if start != b"BZ " else ""
        data = decompress(packed, compression, MAX_EXPANSION)
        try:
            yield Opened(packed, data, path.stat().st_size)
        except RefusalError as error:
            raise AlmanacError(f"{path} cannot be read to its end: {error.text}") from error


@dataclass(frozen=True)
class Lines:
    """Lines without their line ends, their numbers from 1, and a batch for the refused ones."""

    text: pa.StringArray
    numbers: np.ndarray
    batch: GraphBatch

    def where(self, mask: np.ndarray) -> "Lines":
        """Return the lines where the mask is true."""
        return Lines(self.text.filter(pa.array(mask)), self.numbers[mask], self.batch)


def blocks_of_lines(file: BinaryIO, block: int = BLOCK, *, empty: bool = False) -> Iterator[Lines]:
    """Yield the lines of a file, empty ones only with `empty`; refuse those that are not UTF-8."""
    rest, number, overlong = b"", 1, 0
    first = True
    old_mac = False
    while data := file.read(block):
        if first:
            data, first = data.removeprefix(_BOM), False
            old_mac = b"\r" in data and b"\n" not in data
        if old_mac:
            data = data.replace(b"\r", b"\n")
        end = data.rfind(b"\n") + 1
        if not end:
            rest += data
            if len(rest) > MAX_LINE:
                rest, overlong = rest[:1000], overlong + 1
            continue
        batch = GraphBatch()
        whole, rest = rest + data[:end], data[end:]
        if overlong:
            begin, _, whole = whole.partition(b"\n")
            batch.refuse(number, "too-long", begin.decode("utf-8", "replace"))
            number, overlong = number + 1, 0
        count = whole.count(b"\n")
        yield _lines(whole, number, batch, empty)
        number += count
    if rest:
        batch = GraphBatch()
        if overlong:
            batch.refuse(number, "too-long", rest.decode("utf-8", "replace"))
            rest = b""
        yield (
            _lines(rest + b"\n", number, batch, empty) if rest else Lines(_NONE, _NO_NUMBERS, batch)
        )


_NONE = pa.array([], pa.string())
_NO_NUMBERS = np.zeros(0, np.int64)


def _lines(whole: bytes, first: int, batch: GraphBatch, empty: bool) -> Lines:
    if b"\r" in whole:
        whole = whole.replace(b"\r\n", b"\n")
    data = np.frombuffer(whole, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends - np.arange(len(ends))
    kept = pa.py_buffer(data[data != ord("\n")])
    lines = pa.BinaryArray.from_buffers(pa.binary(), len(ends), [None, pa.py_buffer(offsets), kept])
    numbers = first + np.arange(len(ends))
    filled = np.diff(offsets) > 0
    if not (empty or filled.all()):
        lines, numbers = lines.filter(pa.array(filled)), numbers[filled]
    return _as_text(lines, numbers, batch)


def _as_text(lines: pa.BinaryArray, numbers: np.ndarray, batch: GraphBatch) -> Lines:
    try:
        return Lines(lines.cast(pa.string()), numbers, batch)
    except pa.ArrowInvalid:
        good = np.fromiter(map(_is_utf8, lines.to_pylist()), bool, len(lines))
    for number, line in zip(numbers[~good], lines.filter(pa.array(~good)).to_pylist(), strict=True):
        batch.refuse(int(number), "not-utf-8", line.decode("utf-8", "replace"))
    return Lines(lines.filter(pa.array(good)).cast(pa.string()), numbers[good], batch)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def split_lines(lines: Lines, separator: str, width: int, *, rest: bool = False) -> list[pa.Array]:
    """Return the columns of the lines with `width` fields; refuse the others in `lines`.

    The first column returned holds the places of these lines. With `rest` the last field may
    contain separators.
    """
    splits = pc.split_pattern(lines.text, separator, max_splits=width - 1 if rest else None)
    counts = pc.list_value_length(splits).to_numpy(zero_copy_only=False)
    good = counts == width
    if not good.all():
        lines.batch.refuse_all(
            lines.numbers[~good], f"not-{width}-fields", lines.text.filter(pa.array(~good))
        )
        splits = splits.filter(pa.array(good))
    fields = splits.flatten()
    places = np.arange(0, len(fields), width)
    columns = [fields.take(pa.array(places + column)) for column in range(width)]
    return [np.flatnonzero(good), *columns]
