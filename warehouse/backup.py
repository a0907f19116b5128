"""Copy a home while others work on it: the copy is what a kill at some moment could have left.

What names other files is copied so that these are there: the pointer after the edition, the logs of
the ledger before the journal that takes their entries, the journal after the editions made from it
and before the notes and experts that it names; the files of the journal are pinned meanwhile.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import DamageError, UsageError
from warehouse import durable
from warehouse.home import Home
from warehouse.journal import Journal

MARK = ".backup"  # by which a folder is known as a copy, even one that was not finished
# Copied in an order of their own, or made anew.
APART = {MARK, "journal", "live", "ledger", "editions", "current", "cache", "refresh.lock"}


@dataclass
class Copied:
    """What a backup had to copy; what was there is not copied again."""

    files: int = 0
    bytes: int = 0

    def file(self, source: Path, target: Path) -> None:
        """Copy a file, unless one of the same size and time is there."""
        stat = source.stat()
        if target.exists():
            there = target.stat()
            if (there.st_size, there.st_mtime_ns) == (stat.st_size, stat.st_mtime_ns):
                return
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        shutil.copy2(source, temporary)
        durable.sync_file(temporary)
        durable.replace(temporary, target)
        self.files, self.bytes = self.files + 1, self.bytes + stat.st_size


def back_up(home: Home, target: Path) -> Copied:
    """Copy a home to a folder, or bring an earlier copy in it up to date.

    Raises UsageError if there is no home, or the folder holds something else or is in the home.
    """
    _check(home, target)
    copied = Copied()
    _copy_editions(home, target, copied)
    _copy_all(home.path, target, home.path.glob("ledger/*.log"), copied)
    for journal in (home.journal, home.live):
        _copy_journal(journal, target / journal.folder.name, copied)
    others = [path for path in home.path.iterdir() if path.name not in APART]
    files = (file for path in others for file in (path, *sorted(path.rglob("*"))))
    _copy_all(home.path, target, files, copied)
    Home(target).editions.clean()
    return copied


def _check(home: Home, target: Path) -> None:
    if home.stored:
        raise UsageError(
            f"{home.stored.store.address} is in an object store, which keeps copies itself: switch "
            "on the versions of its objects, or copy the objects to another bucket."
        )
    if not home.exists:
        raise UsageError(f"There is no almanac in {home.address}.")
    if target.resolve().is_relative_to(home.path.resolve()):
        raise UsageError(f"{target} is in the home that is to be copied; name a folder outside.")
    is_ours = not any(target.glob("*")) or (target / MARK).exists()
    if not (is_ours and all(_goes_on(journal, target) for journal in (home.journal, home.live))):
        raise UsageError(
            f"{target} is neither empty nor an earlier copy of {home.path} that nobody has written "
            "into; name another folder."
        )
    durable.write_bytes(target / MARK, b"")


def _goes_on(journal: Journal, target: Path) -> bool:
    """Return whether a journal begins with every commit that its copy has."""
    logs = (folder / "commits.jsonl" for folder in (journal.folder, target / journal.folder.name))
    ours, theirs = (log.read_bytes() if log.exists() else b"" for log in logs)
    return ours.startswith(theirs)


def _copy_editions(home: Home, target: Path, copied: Copied) -> None:
    """Copy the editions that stay meanwhile, and the pointer if its edition does."""
    pointer, editions = home.editions.pointer(), Home(target).editions
    for edition in home.editions.all():
        with suppress(DamageError, FileNotFoundError), edition.pinned():  # else it was pruned
            _copy_all(home.path, target, sorted(edition.path.rglob("*")), copied)
    if pointer["edition"]:
        if editions.find(pointer["edition"]) is None:  # so many were published meanwhile
            return _copy_editions(home, target, copied)
        durable.write_sealed_json(editions.folder / "current.json", pointer)
    return None


def _copy_journal(journal: Journal, target: Path, copied: Copied) -> None:
    with journal.pinned():
        log, files = journal.listing()
        for name in files:
            copied.file(journal.folder / name, target / name)
    if log:
        durable.write_bytes(target / "commits.jsonl", log)


def _copy_all(home: Path, target: Path, paths: Iterable[Path], copied: Copied) -> None:
    """Copy files of the home but for temporary ones; what has gone meanwhile is left out."""
    for path in paths:
        if path.is_file() and not path.is_symlink() and path.suffix != ".tmp":
            with suppress(FileNotFoundError):
                copied.file(path, target / path.relative_to(home))
