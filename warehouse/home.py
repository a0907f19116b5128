"""Where everything of one almanac lies."""

import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from warehouse.editions import Editions
from warehouse.journal import Journal


@dataclass(frozen=True)
class Home:
    """A folder with a journal, live records, editions and settings."""

    path: Path

    @cached_property
    def journal(self) -> Journal:
        """What was observed: the source of every edition."""
        return Journal(self.path / "journal")

    @cached_property
    def live(self) -> Journal:
        """Runs, answers, calls and refusals: readable at once, beside any edition."""
        return Journal(self.path / "live")

    @cached_property
    def editions(self) -> Editions:
        """What was derived and published."""
        return Editions(self.path / "editions")

    @property
    def spill(self) -> Path:
        """Where large steps of a build put what does not fit into memory."""
        return self.path / ".spill"

    def clean(self) -> None:
        """Remove what died runs left; the lease is held."""
        shutil.rmtree(self.spill, ignore_errors=True)
        self.journal.clean()
        self.live.clean()

    @property
    def exists(self) -> bool:
        """Whether anything was ever written here."""
        return self.journal.folder.exists() or self.editions.folder.exists()
