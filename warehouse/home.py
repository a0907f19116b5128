"""The folder of one almanac and its parts."""

import logging
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import DamageError, UsageError
from warehouse import durable
from warehouse.editions import Edition, Editions
from warehouse.journal import Journal
from warehouse.ledger import Ledger, seal_logs_of_the_dead
from warehouse.object_store import STORE_MARK
from warehouse.scratch import Scratch

if TYPE_CHECKING:
    from warehouse.stored_home import StoredHome


@dataclass(frozen=True)
class Home:
    """A folder with a journal, live records, editions and settings."""

    path: Path

    @cached_property
    def stored(self) -> "StoredHome | None":
        """The object store that the folder mirrors, if it does."""
        if not (self.path / STORE_MARK).is_file():
            return None
        from warehouse.stored_home import stored_home

        return stored_home(self.path)

    @property
    def address(self) -> str:
        """Where it is in words for people: the address of its store, else its folder."""
        return self.stored.store.address if self.stored else str(self.path)

    @cached_property
    def journal(self) -> Journal:
        """All observations, from which every edition is derived."""
        if self.stored:
            return self.stored.journal("journal", required=True)
        return Journal(self.path / "journal")

    @cached_property
    def live(self) -> Journal:
        """Runs, answers, calls and refusals, readable at once beside any edition."""
        if self.stored:
            return self.stored.journal("live", required=False)
        return Journal(self.path / "live")

    @cached_property
    def editions(self) -> Editions:
        """The derived and published editions."""
        if self.stored:
            return self.stored.editions
        return Editions(self.path / "editions", self.path / "current")

    def require_edition(self) -> Edition:
        """Return the current edition; raise UsageError if there is none yet."""
        edition = self.editions.current()
        if edition is None:
            raise UsageError(
                f"There is no edition in {self.address}. Make one with `almanac refresh`."
            )
        return edition

    @cached_property
    def ledger(self) -> Ledger:
        """The calls to language models and their replies."""
        return Ledger(self.path / "ledger", self.journal, self.live)

    @property
    def spill(self) -> Path:
        """The folder for data of large build steps that does not fit into memory."""
        return self.path / ".spill"

    @cached_property
    def scratch(self) -> Scratch:
        """Databases in memory, in which editions are derived."""
        return Scratch(self.spill)

    def relative(self, path: Path) -> str:
        """Return a path within the home as tables store it, from the home's folder on."""
        # Worker processes return absolute paths even if the home's own is relative.
        return str(path.absolute().relative_to(self.path.absolute()))

    def set_damage_aside(self) -> None:
        """Go on without damaged live records, with a warning; the caller must hold the lease.

        Raises DamageError, before anything is moved, if the journal has lost commits.
        """
        self._check_journal()
        for words in self.live.set_aside_damage():
            logging.getLogger(__name__).warning("%s", words)

    def clean(self) -> None:
        """Remove the remains of dead runs; the caller must hold the lease.

        Raises DamageError, before anything is removed, if the journal has lost commits.
        """
        self._check_journal()
        durable.remove_dead_temporaries(self.path, ".refresh.holder.json.*.tmp")
        self.scratch.close()
        shutil.rmtree(self.spill, ignore_errors=True)
        self.editions.clean()
        self.journal.clean()
        self.live.clean()
        seal_logs_of_the_dead(self.path / "ledger", self.journal, self.live)

    def _check_journal(self) -> None:
        """Raise DamageError if an edition was built from more commits than the journal has."""
        position = self.journal.position
        needed = max(
            (e.manifest.get("journal_position", 0) for e in self.editions.all()), default=0
        )
        if position < needed:
            raise DamageError(
                f"The journal in {self.journal.folder} has {position} commits, but an edition was "
                f"made from {needed}. Restore the folder from a backup, or begin a new home; the "
                "published editions can be read as before."
            )

    @property
    def exists(self) -> bool:
        """Return whether anything was ever written to the home."""
        if self.stored:
            return self.journal.position > 0
        return self.journal.folder.exists() or self.editions.folder.exists()
