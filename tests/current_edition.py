"""Reading the tables of a home's current edition, and the settings of the plainest engine."""

from pathlib import Path
from typing import Any

import schemas
from schemas.settings import EngineSettings, Settings
from warehouse.editions import Edition
from warehouse.home import Home

SETTINGS = Settings(engine=EngineSettings(encoder="none"), workers=1)


def current(home: Home | Path) -> Edition:
    edition = (home if isinstance(home, Home) else Home(home)).editions.current()
    assert edition is not None
    return edition


def rows(edition: Edition, row: type[schemas.Row]) -> list[dict[str, Any]]:
    return edition.table(row).to_pylist()
