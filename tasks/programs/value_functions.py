"""Functions with which programs compare and compute dates, numbers and quantities in texts.

Programs get them beside the three functions of the knowledge base, so that "226 cm" is not
compared with "1.54 m" letter by letter (a failure that KnowledGPT reports).
"""

import csv
import datetime
import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import takewhile
from typing import Any

from tasks.programs.limits import SandboxError
from tasks.text.languages import language_of
from tasks.text.values import Value, find_values, parse_value
from tasks.text.values.units import short_form
from tasks.text.values.value import TEXT

LONGEST_TEXT = 300  # characters that are read of a text
MOST_VALUES = 5_000  # per call
MOST_CHARACTERS = 60_000  # per call

# Timestamps in graphs: +1997-06-05T00:00:00Z; an unknown month or day is 00. 2019-20 is a season.
_TIMESTAMP = re.compile(
    r"^\+?(?P<year>-?\d{4})(?:-(?P<month>0\d|1[0-2])(?:-(?P<day>[0-2]\d|3[01]))?)?"
    r"(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?$"
)
# What graphs write and texts rarely do, as texts write it. Each holds at the beginning alone, where
# it is the value, and not two that stand side by side.
_NOTATIONS = (
    (re.compile(r"^([12]\d{3})([/.-])(\d{1,2})\2(\d{1,2})(?![\d/.-])"), r"\1-0\3-0\4"),
    (re.compile(r"^([12]\d{3}-)0?(\d\d-)0?(\d\d)(?=\D|$)"), r"\1\2\3"),
    (re.compile(r"^minus (?=\d)", re.I), "-"),
    (re.compile(r"^([-−]?\d+),(\d{1,2})(?=\s*(?:[^\W\d_]|[%°€$]|$))"), r"\1.\2"),
)
_SPACED = re.compile(r"^[-−]?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)")  # 1 000 000
# Factor and offset to kelvin.
_TEMPERATURES = {"K": (1.0, 0.0), "°C": (1.0, 273.15), "°F": (5 / 9, 459.67 * 5 / 9)}


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in the base unit of its kind, with the unit it was stated in."""

    number: float
    kind: str
    unit: str


def value_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions by the names that programs call them by."""
    numbers = (to_number, parse_date, value_of, compare, sort_values)
    sums = (total, average, difference, years_between)
    return {function.__name__: function for function in (*numbers, *sums)}


def to_number(value: Any, unit: str = "") -> float | None:
    """Return the number that a text states, in a unit if one is given; None if it states none."""
    amount = _amount(_read(value))
    if amount is None:
        return None
    wanted = short_form(unit) or amount.unit
    if to_base(1, wanted)[1] != amount.kind:
        return None
    return _rounded(from_base(amount.number, wanted))


def parse_date(value: Any) -> str | None:
    """Return the date that a text states as ISO 8601, as exact as stated; None if it states none.

    For an interval it is the beginning, or the end if only that is known.
    """
    return _date(_read(value))


def value_of(value: Any) -> float | None:
    """Return a number by which dates, and quantities of one kind, sort; None for other texts."""
    read = _read(value)
    date = _date(read)
    if date is not None:
        year, month, day, *_ = (*_parts(date), 1, 1)
        return year + (month - 1) / 12 + (day - 1) / 372
    amount = _amount(read)
    return None if amount is None else amount.number


def compare(left: Any, right: Any) -> int | None:
    """Return -1, 0 or 1 as the left value is less, equal or more; None if they do not compare.

    Dates are compared at the coarser precision of the two; a number without a unit has the other's.
    """
    first, second = _read(left), _read(right)
    dates = [_parts(date) for date in (_date(first), _date(second)) if date is not None]
    if len(dates) == 2:
        exact = min(map(len, dates))
        return _order(dates[0][:exact], dates[1][:exact])
    a, b = _amount(first), _amount(second)
    if a is None or b is None:
        return None
    if a.kind != b.kind and a.unit and b.unit:
        return None
    if not (a.unit and b.unit):  # one without a unit: as stated
        return _order(from_base(a.number, a.unit), from_base(b.number, b.unit))
    return _order(_rounded(a.number), _rounded(b.number))


def sort_values(values: Any) -> list[str]:
    """Return texts from the least to the greatest, earliest to latest; others last."""
    texts = _texts(values)
    keys = {text: value_of(text) for text in texts}
    return sorted(texts, key=lambda text: (keys[text] is None, keys[text] or 0.0))


def total(values: Any) -> str | None:
    """Return the sum of values with their unit; None if they are not of one kind."""
    amounts = _amounts(values)
    if not amounts:
        return None
    # Each in the unit of the first: degrees have no common zero in which they could be added.
    number = sum(from_base(amount.number, amounts[0].unit) for amount in amounts)
    return f"{_written(number)} {amounts[0].unit}".strip()


def average(values: Any) -> str | None:
    """Return the mean of values with their unit; None if they are not of one kind."""
    amounts = _amounts(values)
    number = sum(amount.number for amount in amounts) / max(len(amounts), 1)
    return _with_unit(number, amounts[0]) if amounts else None


def difference(left: Any, right: Any) -> str | None:
    """Return the distance of two values: with their unit, or in years or days for dates."""
    first, second = parse_date(left), parse_date(right)
    if first is not None and second is not None:
        try:
            days = datetime.date.fromisoformat(first) - datetime.date.fromisoformat(second)
        except ValueError:  # not exact, or before the year 1
            return f"{years_between(left, right)} years"
        return f"{abs(days.days)} days"
    amounts = _amounts([left, right])
    if len(amounts) != 2:
        return None
    distance = abs(amounts[0].number - amounts[1].number)
    if amounts[0].kind == "K" and amounts[0].unit != "K":
        distance = from_base(distance, amounts[0].unit) - from_base(0, amounts[0].unit)
        return f"{_written(distance)} {amounts[0].unit}"
    return _with_unit(distance, amounts[0])


def years_between(left: Any, right: Any) -> int | None:
    """Return the full years between two dates, as for an age; None if one is no date."""
    dates = parse_date(left), parse_date(right)
    if dates[0] is None or dates[1] is None:
        return None
    first, last = sorted((_parts(dates[0]), _parts(dates[1])))
    years = last[0] - first[0] - (first[0] < 0 < last[0])  # there was no year 0
    exact = min(len(first), len(last))
    return years - (last[1:exact] < first[1:exact])


# -- reading ------------------------------------------------------------------------------------


def _read(value: Any) -> Value:
    """Return the value that a text states as a whole, else the first one in it."""
    if value is None or isinstance(value, bool):
        return TEXT
    if isinstance(value, int | float):
        return Value("number", number=float(value))
    if not isinstance(value, str):
        raise SandboxError(f"a value must be a text or a number, not {type(value).__name__}")
    return _read_text(value[:LONGEST_TEXT].strip())


@lru_cache(maxsize=1 << 12)
def _read_text(text: str) -> Value:
    text = _SPACED.sub(lambda number: "".join(number[0].split()), text)
    for notation, usual in _NOTATIONS:
        text = notation.sub(usual, text)
    stamp = _TIMESTAMP.match(text)
    if stamp and (len(text) > 5 or text.startswith(("-", "+"))):
        return _stamped(stamp)
    language = language_of(text)
    whole = parse_value(text, language)
    if whole.value_type != "text":
        return whole
    return next((value for _, _, value in find_values(text, language)), TEXT)


def _stamped(stamp: re.Match[str]) -> Value:
    known = list(takewhile(lambda part: part not in (None, "00"), stamp.groups()))
    year, month, day = (*map(int, known), 1, 1)[:3]
    if day > monthrange(abs(year) % 400 + 400, month)[1]:
        return TEXT
    return Value("year" if len(known) == 1 else "date", date="-".join(known))


def _date(value: Value) -> str | None:
    if not value.is_date or value.date is None:
        return None
    return next((end for end in value.date.split("/") if end != ".."), None)


def _amount(value: Value) -> Amount | None:
    if value.value_type == "year" and value.date is not None:
        return Amount(float(value.date), "", "")
    if value.number is None:
        return None
    number, kind = to_base(value.number, value.unit)
    return Amount(number, kind, value.unit or "")


def _amounts(values: Any) -> list[Amount]:
    """Return the amounts of values, none unless all are amounts of one kind."""
    amounts = [_amount(_read(value)) for value in _listed(values)]
    known = [amount for amount in amounts if amount is not None]
    kinds = {amount.kind for amount in known}
    if len(known) < len(amounts) or len(kinds) > 1:
        return []
    return known


def _listed(values: Any) -> Sequence[Any]:
    if not isinstance(values, list | tuple):
        raise SandboxError(f"values must be a list, not {type(values).__name__}")
    if len(values) > MOST_VALUES:
        raise SandboxError(f"{len(values)} values; {MOST_VALUES} are the most")
    if sum(min(len(v), LONGEST_TEXT) for v in values if isinstance(v, str)) > MOST_CHARACTERS:
        raise SandboxError(f"values of more than {MOST_CHARACTERS} characters")
    return values


def _texts(values: Any) -> list[str]:
    return [value if isinstance(value, str) else _written(value) for value in _listed(values)]


def _parts(date: str) -> tuple[int, ...]:
    sign = -1 if date.startswith("-") else 1
    year, *rest = date.lstrip("-").split("-")
    return (sign * int(year), *map(int, rest))


# -- units -----------------------------------------------------------------------------------------


@cache
def _factors() -> dict[str, tuple[str, float]]:
    """Return the base unit of each short form in `tasks.text.values`, and its size in that unit."""
    text = files(__package__).joinpath("unit_factors.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {row["unit"]: (row["base"], float(row["factor"])) for row in rows}


def to_base(number: float, unit: str | None) -> tuple[float, str]:
    """Return a quantity in the base unit of its kind; units that are their own kind stay."""
    if unit in _TEMPERATURES:
        factor, offset = _TEMPERATURES[unit]
        return number * factor + offset, "K"
    base, factor = _factors().get(unit or "", (unit or "", 1.0))
    return number * factor, base


def from_base(number: float, unit: str) -> float:
    """Return a number of base units in another unit of that kind."""
    if unit in _TEMPERATURES:
        factor, offset = _TEMPERATURES[unit]
        return (number - offset) / factor
    return number / _factors().get(unit, ("", 1.0))[1]


# -- writing ------------------------------------------------------------------------------------


def _order(left: Any, right: Any) -> int:
    return (left > right) - (left < right)


def _rounded(number: float) -> float:
    """Return a number without the last digits, which are errors of conversion."""
    return float(f"{number:.12g}")


def _written(number: Any) -> str:
    if not isinstance(number, int | float):
        return str(number)
    rounded = _rounded(number)
    return str(int(rounded)) if rounded.is_integer() and abs(rounded) < 1e15 else str(rounded)


def _with_unit(number: float, like: Amount) -> str:
    """Return a number of base units in the unit that an amount was stated in."""
    return f"{_written(from_base(number, like.unit))} {like.unit}".strip()
