"""Unpack compressed inputs and packages within bounds, so that bombs are refused in time."""

import bz2
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.parsed_text import ParserLimits

# Bytes up to which a high ratio is harmless: a short text may repeat itself.
_FREE = 1_000_000
_START_OF_XML = 65_536  # bytes in which entities are declared
_OLE = b"\xd0\xcf\x11\xe0"  # the old container, which also wraps encrypted office files


class _Bounded(io.RawIOBase):
    """A decompressed stream that raises `RefusalError` beyond a ratio to its compressed size."""

    def __init__(self, packed: BinaryIO, inner: BinaryIO, ratio: int) -> None:
        super().__init__()
        self._packed, self._inner, self._ratio = packed, inner, ratio
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        try:
            data = self._inner.read(len(buffer))
        except (EOFError, OSError, zlib.error, ValueError) as error:
            raise RefusalError(Reason.BAD_FORMAT, "Its compressed data are broken.") from error
        self._given += len(data)
        if self._given > _FREE and self._given > self._ratio * self._packed.tell():
            sentence = f"It grows more than {self._ratio} times when decompressed."
            raise RefusalError(Reason.TOO_EXPANDING, sentence)
        buffer[: len(data)] = data
        return len(data)


def decompress(file: BinaryIO, compression: str, ratio: int) -> BinaryIO:
    """Return the decompressed stream; reading it raises `RefusalError` if broken or a bomb."""
    if not compression:
        return file
    inner = gzip.GzipFile(fileobj=file) if compression == "gz" else bz2.BZ2File(file)
    return io.BufferedReader(_Bounded(file, inner, ratio), 1 << 18)  # type: ignore[arg-type]


def read_at_most(file: BinaryIO, allowed: int, reason: Reason, sentence: str) -> bytes:
    """Return the file's content; raises `RefusalError` if it exceeds `allowed` bytes."""
    data = file.read(allowed + 1)
    if len(data) > allowed:
        raise RefusalError(reason, sentence)
    return data


def read_whole(file: BinaryIO, limits: ParserLimits) -> bytes:
    """Return all of a file, decompressed; raises `RefusalError` beyond the limits."""
    stream = decompress(file, limits.compression, limits.max_expansion)
    sentence = f"It has more than {limits.max_file_bytes:,} bytes when decompressed."
    return read_at_most(stream, limits.max_file_bytes, Reason.TOO_EXPANDING, sentence)


def open_package(file: BinaryIO, limits: ParserLimits, format_name: str) -> zipfile.ZipFile:
    """Open a zip package; raises `RefusalError` if it is invalid, locked or unpacks too large."""
    data = read_whole(file, limits)
    if data.startswith(_OLE):
        sentence = f"It needs a password, or is older than {format_name}."
        raise RefusalError(Reason.ENCRYPTED, sentence)
    try:
        package = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise RefusalError(Reason.BAD_FORMAT, f"It is not {format_name}.") from error
    entries = package.infolist()
    # zipfile reads no more of an entry than the size it declares, so the sum bounds the memory.
    size = sum(entry.file_size for entry in entries)
    if size > max(_FREE, min(limits.max_expansion * len(data), limits.max_file_bytes)):
        sentence = f"It unpacks to {size:,} bytes, more than is allowed."
        raise RefusalError(Reason.TOO_EXPANDING, sentence)
    if any(entry.flag_bits & 1 for entry in entries):
        raise RefusalError(Reason.ENCRYPTED, "It needs a password.")
    return package


def parse_entry(package: zipfile.ZipFile, name: str) -> Any:
    """Parse an entry as XML (`parse_xml`); return an empty element if there is no such entry."""
    data = package.read(name) if name in package.namelist() else b"<none/>"
    return parse_xml(data, name)


def stream_entry(package: zipfile.ZipFile, name: str, *names: str) -> Iterator[Any]:
    """Yield the elements of some local names of a large entry; each is emptied after its turn.

    Raises `RefusalError` as `parse_xml` does; no entity is expanded.
    """
    from lxml import etree

    with package.open(name) as start:
        if b"<!ENTITY" in start.read(_START_OF_XML):
            raise RefusalError(Reason.BAD_FORMAT, f"{name} declares entities.")
    tags = [f"{{*}}{one}" for one in names]
    with package.open(name) as stream:
        try:
            for _, element in etree.iterparse(
                stream,
                tag=tags,
                resolve_entities=False,
                no_network=True,
                remove_comments=True,
                remove_pis=True,
            ):
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise _broken_xml(error, name) from error


def parse_xml(data: bytes, name: str) -> Any:
    """Parse XML into an element of lxml, without comments and processing instructions.

    Raises `RefusalError` for broken XML, and for declared entities, so that none can expand.
    """
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _broken_xml(error, name) from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise RefusalError(Reason.BAD_FORMAT, f"{name} declares entities.")
    return root


def _broken_xml(error: SyntaxError, name: str) -> RefusalError:
    deep = "depth" in str(error)
    sentence = f"{name} is {'nested too deeply' if deep else f'broken XML ({error})'}."
    return RefusalError(Reason.TOO_DEEP if deep else Reason.BAD_FORMAT, sentence)
