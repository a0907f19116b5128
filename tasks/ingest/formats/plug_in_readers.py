"""Sources and files that other packages read: databases, feeds, and formats by their ending.

The name of a plug-in is the scheme of an address, such as `notes` for `notes://…`, or an ending
with its dot, such as `.toy`. It is called with the address, or with the open file, and yields
`ParsedText`s. It runs in this process, with its rights.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO
from uuid import uuid4

from schemas.errors import AlmanacError
from schemas.plug_ins import PlugIn, plug_in
from tasks.ingest.formats.formats import SUFFIXES
from tasks.ingest.formats.inputs import Item, Listing, Reason, RefusalError
from tasks.ingest.formats.names import safe_uri
from tasks.ingest.formats.parsed_text import ParsedText
from tasks.ingest.formats.url_secrets import without_secrets

GROUP = "almanac.readers"


def reader_of_address(source: str) -> PlugIn | None:
    """Return the plug-in for an address' scheme, unless that is one of a store."""
    scheme, mark, _ = source.partition("://")
    if not mark:
        return None
    from fsspec.registry import known_implementations

    return None if scheme in known_implementations else plug_in(GROUP, scheme.lower())


def reader_of_file(name: str) -> PlugIn | None:
    """Return the plug-in for a file's ending, unless we read that."""
    ending = PurePosixPath(name).suffix.lower()
    return plug_in(GROUP, ending) if ending and ending[1:] not in SUFFIXES else None


def address_as_listing(source: str) -> Listing:
    """Return an address as one item, which is read each time: only its reader knows what is new."""
    name = safe_uri(without_secrets(source))
    uri = name.rstrip("/").rpartition("/")[2]
    return Listing(name, [Item(name, source, source, uri, uuid4().hex, -1)])


def read_with(found: PlugIn, source: str | BinaryIO) -> Iterator[ParsedText]:
    """Yield what a plug-in reads; raises `RefusalError`, which names it, if it fails."""
    try:
        with found.at_work():
            for parsed in found.load()(source):
                if not isinstance(parsed, ParsedText):
                    raise TypeError(f"it yields {type(parsed).__name__}, not ParsedText")
                yield parsed
    except AlmanacError as error:
        raise RefusalError(Reason.UNREADABLE, str(error)) from error
