"""Values stated in a text, and their spans."""

from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Literal

ValueType = Literal["text", "number", "quantity", "date", "year"]


@dataclass(frozen=True, slots=True)
class Value:
    """A typed value; its type is `text` if no other fits.

    `date` is ISO 8601 at the stated precision: 1934, 1934-07, 1934-07-04, -0044 (44 BC), a closed
    interval 1934/1940, or an open one 1999/.. or ../2003. `valid_from` and `valid_to` are the ends
    of an interval, or the time at which a quantity was measured (4.2 million in 2019).
    """

    value_type: ValueType
    number: float | None = None
    unit: str | None = None
    date: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def is_date(self) -> bool:
        """Whether it is a date or an interval."""
        return self.value_type in ("date", "year")

    @property
    def is_point(self) -> bool:
        """Whether it is a single date."""
        return self.is_date and self.date is not None and "/" not in self.date


TEXT = Value("text")

# (start, end, value); None marks a span that looks like a value but is not one.
ValueSpan = tuple[int, int, Value | None]


def listed(words: str, separator: str | None = None) -> tuple[str, ...]:
    """Return the words of a list that is written as one string, in order."""
    return tuple(words.split(separator))


def iso_date(year: int, month: int | None = None, day: int | None = None) -> str | None:
    """Return a date in ISO 8601, None if there is no such date; years BC are negative."""
    if not -9999 <= year <= 9999 or year == 0:
        return None
    text = f"{year:04d}" if year > 0 else f"-{-year:04d}"
    if month is None:
        return text
    if not 1 <= month <= 12:
        return None
    text += f"-{month:02d}"
    if day is None:
        return text
    # Every 29 February is accepted, since the calendars differ in early leap years.
    return f"{text}-{day:02d}" if 1 <= day <= monthrange(2000, month)[1] else None


def date_value(year: int, month: int | None = None, day: int | None = None) -> Value | None:
    """Return the value for a date, None if there is no such date."""
    date = iso_date(year, month, day)
    if date is None:
        return None
    return Value("year" if month is None else "date", date=date)


def interval(start: str | None, end: str | None) -> Value:
    """Return the value for an interval; an unknown end is None."""
    return Value("date", date=f"{start or '..'}/{end or '..'}", valid_from=start, valid_to=end)


def decade(first_year: int) -> Value:
    """Return the ten years from `first_year`."""
    return interval(iso_date(first_year), iso_date(first_year + 9))


def century(ordinal: int, *, before_christ: bool = False) -> Value | None:
    """Return the years of a century: the 19th is 1801 to 1900, the 2nd BC -0200 to -0101."""
    if not 1 <= ordinal <= 30:
        return None
    if before_christ:
        return interval(iso_date(-100 * ordinal), iso_date(-100 * ordinal + 99))
    return interval(iso_date(100 * ordinal - 99), iso_date(100 * ordinal))


def joined(start: Value, end: Value) -> Value | None:
    """Return the interval between two dates, None unless both are points in order."""
    if not (start.is_point and end.is_point) or start.date is None or end.date is None:
        return None
    return interval(start.date, end.date) if order(start.date) <= order(end.date) else None


def amount(number: float, unit: str | None) -> Value:
    """Return a quantity, or a number if there is no unit."""
    return Value("quantity", number, unit) if unit else Value("number", number)


def order(date: str) -> tuple[int, str]:
    """Return a sort key for ISO dates, years BC included."""
    if date.startswith("-"):
        return -int(date[1:5]), date[5:]
    return int(date[:4]), date[4:]


# Units that convert to another: how many of which.
_BASES = {
    "mm": (1e-3, "m"),
    "cm": (1e-2, "m"),
    "km": (1e3, "m"),
    "in": (0.0254, "m"),
    "ft": (0.3048, "m"),
    "mi": (1609.344, "m"),
    "g": (1e-3, "kg"),
    "t": (1e3, "kg"),
    "lb": (0.4536, "kg"),
    "ha": (1e4, "m²"),
    "km²": (1e6, "m²"),
    "mi²": (2.59e6, "m²"),
    "h": (60, "min"),
    "week": (7, "day"),
    "year": (12, "month"),
}


def in_base(value: Value) -> tuple[float, str | None]:
    """Return a number in the unit that others of its kind convert to, and that unit."""
    factor, unit = _BASES.get(value.unit or "", (1, value.unit))
    return (value.number or 0.0) * factor, unit


def measured_at(value: Value, when: Value) -> Value:
    """Return the same number with the date at which it was measured."""
    if when.is_point:
        return replace(value, valid_from=when.date, valid_to=when.date)
    return replace(value, valid_from=when.valid_from, valid_to=when.valid_to)


def claim(candidates: Iterable[ValueSpan], taken: list[ValueSpan]) -> list[ValueSpan]:
    """Add to `taken` the candidates that overlap no earlier span; return all in text order."""
    claimed = sorted(taken, key=itemgetter(0))
    for span in candidates:
        place = bisect_left(claimed, span[0], key=itemgetter(0))
        clear_before = place == 0 or claimed[place - 1][1] <= span[0]
        if clear_before and (place == len(claimed) or claimed[place][0] >= span[1]):
            claimed.insert(place, span)
    return claimed
