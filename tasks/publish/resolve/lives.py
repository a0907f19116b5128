"""What documents tell of a person's life, and whether two lives can be one person's."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from babel import Locale

from tasks.text.languages import HAN

SLIP = 2  # years by which two sources may differ about one person, which is a conflict of facts


@dataclass(slots=True)
class Life:
    """When and where a person was born and died, and whom or what else the person is related to.

    `places` are the places of birth, `near` other bearers' places of birth to which the corpus
    relates one of these: it may lie in them. `ties` are employers, relatives, works and the like.
    """

    dates: dict[str, str] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)
    near: set[str] = field(default_factory=set)
    ties: set[str] = field(default_factory=set)

    def add(self, other: "Life") -> None:
        """Add what is told of the same person elsewhere; the more exact date stays."""
        for what, date in other.dates.items():
            self.dates[what] = max(self.dates.get(what, ""), date, key=len)
        self.places |= other.places
        self.near |= other.near
        self.ties |= other.ties

    def has_other_dates(self, other: "Life") -> bool:
        """Tell whether two dates of birth, or of death, are further apart than sources err."""
        return any(
            abs(_year(self.dates[what]) - _year(date)) > SLIP
            for what, date in other.dates.items()
            if what in self.dates
        )

    def began_elsewhere(self, other: "Life") -> bool:
        """Tell whether no place of birth can be, or lie in, one of the other life's.

        Lives that agree in a date are one, whatever places are stated.
        """
        if not self.places or not other.places or self.dates.keys() & other.dates.keys():
            return False
        if self.places & other.near or other.places & self.near:
            return False
        return not any(_may_be_one(one, two) for one in self.places for two in other.places)


def read_life(row: dict[str, Any]) -> Life | None:
    """Return what a row of `local_names` tells of a life, None if it tells neither date nor place.

    The row has born and died (dates or years) and the lists birth_places, near_places and ties.
    """
    dates = {what: row[what] for what in ("born", "died") if row.get(what)}
    if not dates and not row.get("birth_places"):
        return None
    places, near, ties = (
        set(row.get(what) or ()) for what in ("birth_places", "near_places", "ties")
    )
    return Life(dates, places, near, ties)


def _year(date: str) -> int:
    """Return the year of a date or year, negative before the first."""
    sign, digits = (-1, date[1:]) if date.startswith("-") else (1, date)
    return sign * int(digits.partition("-")[0])


def joined(lives: list[Life]) -> Life | None:
    """Return the lives as one, None if there is none."""
    if len(lives) < 2:
        return lives[0] if lives else None
    whole = Life()
    for life in lives:
        whole.add(life)
    return whole


def _may_be_one(one: str, two: str) -> bool:
    """Tell whether two names of places may mean one, or one may lie in the other.

    Names in two scripts may be translations; the corpus need not say which country a town is in.
    """
    if (one in _countries()) != (two in _countries()):
        return True
    chinese = bool(HAN.search(one))
    if chinese != bool(HAN.search(two)):
        return True
    if chinese:
        return one in two or two in one
    words, more = (set(name.casefold().replace(",", " ").split()) for name in (one, two))
    return words <= more or more <= words


@cache
def _countries() -> frozenset[str]:
    """Return the names of countries and continents in English and Chinese."""
    return frozenset(name for code in ("en", "zh") for name in Locale(code).territories.values())
