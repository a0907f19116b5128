"""Which home a command works on, and the edition in it that is asked for."""

import argparse
import os
from pathlib import Path

from schemas.errors import AlmanacError, UsageError
from schemas.settings import Settings, load_settings
from warehouse.editions import Edition
from warehouse.home import Home


def home_of(arguments: argparse.Namespace) -> Home:
    """Return the home that --home, else ALMANAC_HOME, names."""
    return Home(Path(arguments.home or os.environ.get("ALMANAC_HOME") or "almanac-home"))


def settings_of(home: Home) -> Settings:
    """Return the home's settings; raise UsageError if its file does not make sense."""
    try:
        return load_settings(home.path)
    except ValueError as error:
        words = "; ".join(line.strip() for line in str(error).splitlines()[:3])
        raise UsageError(f"{home.path / 'settings.toml'} does not work: {words}") from error


def edition_of(home: Home, edition_id: str | None) -> Edition:
    """Return the edition with this id, else the current one; raise if there is none."""
    if edition_id:
        return home.editions.open(edition_id)
    edition = home.editions.current()
    if edition is None:
        raise AlmanacError(
            f"There is no edition in {home.path} yet. Make one with `almanac refresh SOURCE`, or "
            "say with --home where the almanac lies."
        )
    return edition
