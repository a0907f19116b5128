"""Where everything of one almanac lies."""

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
    def exists(self) -> bool:
        """Whether anything was ever written here."""
        return self.journal.folder.exists() or self.editions.folder.exists()
