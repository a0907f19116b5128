"""The home that a command works on, its settings, and the edition to read."""

import os
import re
from collections.abc import Collection
from datetime import date
from pathlib import Path

from flows import terminal
from schemas.errors import AlmanacError, UsageError
from schemas.ontology import ONTOLOGY_FILE
from schemas.settings import Settings, load_settings
from warehouse.editions import Edition
from warehouse.home import Home

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
UNUSABLE = frozenset("?\\")  # DuckDB takes what follows ? for a query, and a backslash for /


def home_in(folder: Path) -> Home:
    """Return the home in a folder; raise UsageError if the folder cannot be a home."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"The path of the home, {folder}, is not UTF-8 text, which its tables need. Rename "
            "the folder, or give the path of a link to it."
        ) from None
    first = Path(*folder.parts[:1])
    if _SCHEME.fullmatch(str(first)) and not first.exists():
        return _home_in_store(str(folder))
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; --home names the folder of an almanac.")
    place = os.path.realpath(folder)
    if UNUSABLE.intersection(place):
        raise UsageError(
            f"The path of the home, {place}, holds a question mark or a backslash, with which "
            "DuckDB finds no file. Rename the folder, or name another one."
        )
    return Home(folder)


def _home_in_store(path: str) -> Home:
    """Return the home in an object store, whose address lost a slash when it became a path."""
    from warehouse.object_store import SCHEMES

    scheme, _, rest = path.partition(":/")
    if scheme.lower() not in SCHEMES:
        raise UsageError(
            f"{scheme} is no kind of home: name a folder on this machine, or a place in an object "
            f"store such as s3://BUCKET/FOLDER ({', '.join(SCHEMES)})."
        )
    from warehouse.stored_home import working_folder

    home = Home(working_folder(f"{scheme}://{rest}"))
    if home.stored:
        home.stored.open()
    return home


def reading_settings_of(home: Home) -> Settings:
    """Return the settings for work that only reads, which an invalid ontology must not stop."""
    try:
        return load_settings(home.path, terminal.say)
    except ValueError as error:
        words = "; ".join(line.strip() for line in str(error).splitlines()[:3])
        raise UsageError(f"{home.path / 'settings.toml'} is invalid: {words}") from error


def settings_of(home: Home, given: Settings | None = None) -> Settings:
    """Return the home's settings, or those given instead, with the home's ontology.

    An ontology within the settings takes precedence. Raises UsageError if anything is invalid.
    """
    settings = given or reading_settings_of(home)
    if settings.engine.ontology or not (home.path / ONTOLOGY_FILE).exists():
        return settings
    from tasks.ontology.read import with_ontology

    return with_ontology(settings, home.path)


def edition_of(
    home: Home,
    edition_id: str | None,
    as_of: date | None = None,
    labels: Collection[str] | None = None,
) -> Edition:
    """Return the edition with this id, else that of a day, else the current one; raise if none.

    It is as a reader with these labels sees it; None is the owner, who sees everything.
    """
    whole = _whole_edition(home, edition_id, as_of)
    if labels is None:
        return whole
    from tasks.publish.for_reader import edition_for

    return edition_for(home, whole, [label.casefold() for label in labels])


def _whole_edition(home: Home, edition_id: str | None, as_of: date | None) -> Edition:
    if edition_id:
        return home.editions.open(edition_id)
    if as_of:
        return _edition_as_of(home, as_of)
    edition = home.editions.current()
    if edition is None and (held := home.editions.all()):
        raise AlmanacError(
            f"No edition in {home.address} is published. Look at {held[-1].id} with --edition; "
            f"`almanac editions publish {held[-1].id}` accepts it."
        )
    if edition is None:
        raise AlmanacError(
            f"There is no edition in {home.address} yet. Make one with `almanac refresh SOURCE`, "
            "or name the almanac's folder with --home."
        )
    return edition


def _edition_as_of(home: Home, day: date) -> Edition:
    edition = home.editions.as_of(day)
    if edition is None:
        raise UsageError(
            f"No edition that was published in {home.address} is from {day} or before; "
            "`almanac editions list` shows what there is."
        )
    return edition
