"""List a source: a file, a folder, a glob, or a URL that fsspec can open."""

import glob
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote

from schemas.documents import NOTES
from schemas.errors import UsageError
from schemas.extras import missing_library
from tasks.ingest.formats import local_files
from tasks.ingest.formats.inputs import Item, Listing, Reason, RefusalError
from tasks.ingest.formats.names import safe_uri
from tasks.ingest.formats.plug_in_readers import address_as_listing, reader_of_address
from tasks.ingest.formats.url_secrets import scrubbed, with_secrets, without_secrets

NOTES_SOURCE = f"{NOTES}:"  # the name under which a refresh reads it

FETCHED = 16  # files of a store that are fetched at a time, as each request mostly waits
MOST_FETCHED = 4 << 20  # bytes of a file that is fetched before it is read

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]+(::|://)")
_WITH_QUERY = re.compile("https?://[^/]*")  # in other URLs a question mark is part of a name
_WILDCARD = re.compile(r"[*?\[]")
# Stores' names for a value that changes with a file's content, best first.
_STAMPS = ("ETag", "etag", "checksum", "md5Hash", "crc32c", "content_md5", "LastModified", "mtime")


def scan(source: str, exclude: Sequence[str] = ()) -> Listing:
    """Return the files that a source holds now, sorted by uri; raises UsageError for "" alone.

    A folder is listed with all its sub-folders, without hidden files and those that a pattern of
    `exclude`, or of the folder's file `.almanacignore`, leaves out as `.gitignore` would. A file's
    uri is its path relative to the folder (to the fixed part of a glob; its name, for a single
    file), so it is the same on every scan. The listing is marked incomplete, with the reason, when
    any part of the source could not be listed; files missing from it do not count as deleted.
    """
    source = with_secrets(source)
    if not source.strip():
        raise UsageError("The source is empty; give a file, a folder, a glob or a URL.")
    if source.startswith(("file://", "local://")):
        return _scan_local(unquote(source.partition("://")[2]), exclude)
    if reader_of_address(source):
        return address_as_listing(source)
    return (_scan_remote if _URL.match(source) else _scan_local)(source, exclude)


def scan_notes(folder: Path) -> Listing:
    """Return the notes in a home's folder with their labels, as a source that is named alike."""
    errors: list[str] = []
    items = list(local_files.walk(NOTES, folder.resolve(), errors)) if folder.is_dir() else []
    for place, item in enumerate(items):
        _, own = labels_of_note(folder, item.uri)
        items[place] = replace(item, labels=own, fingerprint=f"{item.fingerprint}{own or ''}")
    return _finish(NOTES, items, errors)


def labels_of_note(folder: Path, uri: str) -> tuple[Path, list[str]]:
    """Return the file of a note's labels, and those in it, with `sensitive` if it is that."""
    file = folder / ".labels" / f"{uri.partition('/')[0].removesuffix('.json')}.json"
    return file, list(map(str, json.loads(file.read_bytes()))) if file.exists() else []


def open_item(item: Item) -> BinaryIO:
    """Open an item for reading; raises `RefusalError` or `OSError`."""
    if not _URL.match(item.root):
        return local_files.open_local(item)
    from fsspec.core import url_to_fs

    with _store_errors():
        opened: BinaryIO = url_to_fs(item.root)[0].open(item.path, "rb")
    return opened


def opened_ahead(items: Iterable[Item]) -> Iterator[tuple[Item, Callable[[], BinaryIO]]]:
    """Yield items in order, each with what opens it as `open_item` does.

    Small files of a store are fetched while those before them are read, a few at a time.
    """
    with ThreadPoolExecutor(FETCHED) as pool:
        waiting: deque[tuple[Item, Callable[[], BinaryIO]]] = deque()
        for item in items:
            small = _URL.match(item.root) and 0 <= item.size <= MOST_FETCHED
            fetched = small and not item.refusal and not reader_of_address(item.root)
            opens = pool.submit(_fetched, item).result if fetched else partial(open_item, item)
            waiting.append((item, opens))
            if len(waiting) > FETCHED:
                yield waiting.popleft()
        yield from waiting


def _fetched(item: Item) -> BinaryIO:
    with open_item(item) as opened, _store_errors():
        content = opened.read(MOST_FETCHED + 1)
    return BytesIO(content) if len(content) <= MOST_FETCHED else open_item(item)  # it has grown


def start_of(item: Item, opened: BinaryIO, size: int) -> bytes:
    """Return the first bytes of an open item and go back to its start; raises as `open_item`."""
    with _store_errors() if _URL.match(item.root) else nullcontext():
        start = opened.read(size)
        opened.seek(0)
    return start


def chunks_of(opened: BinaryIO) -> Iterator[bytes]:
    """Yield the content of a store's file in chunks; raises `RefusalError` if the store fails."""
    with _store_errors():
        while chunk := opened.read(1 << 20):
            yield chunk


@contextmanager
def _store_errors() -> Iterator[None]:
    """Turn a store's exceptions, which differ between stores, into a refusal."""
    try:
        yield
    except RefusalError:
        raise
    except Exception as error:
        sentence = f"The store could not deliver it ({type(error).__name__})."
        raise RefusalError(Reason.UNREADABLE, sentence) from error


def _scan_local(source: str, exclude: Sequence[str]) -> Listing:
    name = safe_uri(source)
    errors: list[str] = []
    try:
        path = Path(source).expanduser()
        if glob.has_magic(source) and not path.exists():
            return _scan_glob(path, exclude)
        name = safe_uri(str(path.resolve()))
        root = path.resolve(strict=True)
        if root.is_dir():
            items = list(local_files.walk(name, root, errors, exclude))
        else:
            item = local_files.describe(name, root.parent, root.name)
            items = [item] if item else []
    # No such user, a loop of links, a NUL.
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Listing(name, [], False, f"{name}: {reason}")
    return _finish(name, items, errors)


def _scan_glob(pattern: Path, exclude: Sequence[str]) -> Listing:
    """List the folder at the pattern's fixed part and keep the files that match the pattern."""
    from fsspec.utils import glob_translate

    parts = pattern.absolute().parts
    fixed = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    base = Path(*parts[:fixed])
    name = safe_uri(str(Path(base.resolve(), *parts[fixed:])))
    try:
        root = base.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        return Listing(name, [], False, f"{safe_uri(str(base))}: {error}")
    errors: list[str] = []
    # `**` stands for any folders, and `*` for what stays in one.
    stars = (part if part == "**" else re.sub(r"\*+", "*", part) for part in parts[fixed:])
    uris = re.compile(glob_translate("/".join(stars)))
    listed = local_files.walk(name, root, errors, exclude)
    items = [item for item in listed if uris.match(item.uri)]
    return replace(_finish(name, items, errors), unmatched=not items)


def _scan_remote(source: str, exclude: Sequence[str]) -> Listing:
    from fsspec.core import url_to_fs

    name = safe_uri(without_secrets(source))
    errors: list[str] = []
    is_left_out = local_files.left_out(exclude)
    try:
        system, path = url_to_fs(source)
        system.invalidate_cache()
        files = _find(system, path)
        items = [
            _remote_item(name, source, relative, info, system)
            for relative, info in files.items()
            if not is_left_out(relative)
        ]
    # Each store has its own exceptions, and any of them makes the listing incomplete.
    except Exception as error:
        # Over HTTP every failure is "not found"; its cause tells the status.
        cause = (error.__cause__ if isinstance(error, FileNotFoundError) else None) or error
        failed = f"{type(cause).__name__}: {safe_uri(scrubbed(str(cause), source))[:300]}"
        return Listing(name, [], False, f"{name}: {missing_library(error) or failed}")
    return replace(_finish(name, items, errors), unmatched=not items and _wildcard(path) >= 0)


def _find(system: Any, path: str) -> dict[str, dict[str, Any]]:
    """Return the details of the files under a path in a store, by relative path."""
    wildcard = _wildcard(path)
    if wildcard >= 0 and not system.exists(path):
        base = path[: path.rfind("/", 0, wildcard) + 1]
        system.ls(base)  # raises where a glob would find nothing and all files seem gone
        matches = system.glob(path, detail=True).items()
        return _visible({n: i for n, i in matches if i["type"] == "file"}, base)
    info = system.info(path)
    if info["type"] != "directory":
        place, question, query = path, "", ""
        if _WITH_QUERY.match(path):
            place, question, query = without_secrets(path).partition("?")
        return {place.rstrip("/").rpartition("/")[2] + question + query: info}
    files: dict[str, dict[str, Any]] = {}
    for _, _, inside in system.walk(path, detail=True, on_error="raise"):
        files |= {info["name"]: info for info in inside.values()}
    return _visible(files, path)


def _wildcard(path: str) -> int:
    """Return where a pattern's first wildcard is; -1 if there is none.

    The host and the query of a web address are no pattern.
    """
    host = _WITH_QUERY.match(path)
    end = path.find("?") if host else -1
    found = _WILDCARD.search(path, host.end() if host else 0, len(path) if end < 0 else end)
    return found.start() if found else -1


def _visible(files: dict[str, dict[str, Any]], base: str) -> dict[str, dict[str, Any]]:
    base = base.rstrip("/") + "/"
    relative = {name.removeprefix(base).lstrip("/"): info for name, info in files.items()}
    hidden = re.compile(r"(^|/)\.")
    return {name: info for name, info in relative.items() if name and not hidden.search(name)}


def _remote_item(name: str, source: str, relative: str, info: dict[str, Any], system: Any) -> Item:
    size = -1 if info.get("size") is None else int(info["size"])
    stamps = (str(info[key]) for key in _STAMPS if info.get(key))
    stamp = next(stamps, None) or system.ukey(info["name"])
    uri = without_secrets(relative) if _WITH_QUERY.match(info["name"]) else relative
    return Item(name, source, info["name"], safe_uri(uri), f"{size}-{stamp}", size)


def _finish(name: str, items: list[Item], errors: list[str]) -> Listing:
    items.sort(key=lambda item: item.uri)
    if not errors:
        return Listing(name, items)
    more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""
    return Listing(name, items, False, "; ".join(errors[:3]) + more)
