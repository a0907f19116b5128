"""Compare the numbers and dates of a fact with those of its sentences, by value.

3 March 2019 is 2019-03-03, "12,000" and "twelve thousand" are 12000, 三十二万 is 320000.
"""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from tasks.text.function_words import any_of
from tasks.text.languages import HAN
from tasks.text.values import find_values, parse_value
from tasks.text.values.chinese_dates import DAY as CHINESE_DAY
from tasks.text.values.chinese_dates import MONTH as CHINESE_MONTH
from tasks.text.values.chinese_numerals import (
    DIGIT_CHARACTERS,
    DIGIT_VALUES,
    NUMERAL,
    read_numeral,
)
from tasks.text.values.english_dates import DAY, MONTH, MONTHS
from tasks.text.values.english_numbers import DIGITS, SCALES, WORDS, words_to_number

_FIGURES = re.compile(
    rf"(?P<digits>{DIGITS})(?:[ -]?(?P<scale>{any_of(SCALES)})\b)?", re.IGNORECASE
)
_MONTH_DAY = re.compile(
    rf"\b(?:(?P<day>{DAY})\s(?:of\s)?)?(?P<month>{MONTH})\b(?:\s(?P<after>{DAY})\b)?"
    rf"|{CHINESE_MONTH}\s?月(?:份|\s?{CHINESE_DAY}[日号])?"
)
_RELATIVE = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|now|ago|last|this|next|earlier|later|after|before|since|"
    r"current(?:ly)?|recent(?:ly)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|今|昨|明[天年日]|[前去后]年|[上本下]?[个]?[月周]|目前|现在|近日|[前后]",
    re.IGNORECASE,
)
_DIGITS = frozenset(DIGIT_CHARACTERS)


@dataclass(frozen=True)
class Amounts:
    """The numbers and dates of a text.

    `dates` are ISO 8601; those without a year begin with two hyphens: `--03-14`.
    """

    numbers: frozenset[float]
    dates: frozenset[str]

    def have_numbers(self, words: str) -> bool:
        """Return whether every number among the words is one of these."""
        return all(meant & self.numbers for _, _, meant in numbers_in(words))

    def have_date(self, date: str, years: frozenset[int]) -> bool:
        """Return whether a date is one of these, or follows from one; a text may leave out years.

        A date may be less exact than the text's; `years` are those that the text may mean.
        """
        if any(found == date or found.startswith(f"{date}-") for found in self.dates):
            return True
        year, _, day = date.partition("-")
        if not day:
            return year.isdigit() and float(year) in self.numbers
        known = int(year) in years or float(year) in self.numbers if year.isdigit() else False
        return known and any(
            found == f"--{day}" or found.startswith(f"--{day}-") for found in self.dates
        )


def numbers_in(text: str) -> Iterator[tuple[int, int, frozenset[float]]]:
    """Yield the numbers of a text in either language, with spans, and what each may mean."""
    for match in _FIGURES.finditer(text):
        if not _is_chinese(text, match.end("digits")):
            number = float(match["digits"].replace(",", "")[:20])
            scale = SCALES[match["scale"].lower()] if match["scale"] else 1
            yield *match.span(), frozenset([number, round(number * scale, 6)])
    for match in WORDS.finditer(text):
        if match["words"] and (spelled := words_to_number(match["words"])) is not None:
            yield *match.span("words"), frozenset([spelled])
    for match in NUMERAL.finditer(text) if HAN.search(text) else ():
        if not match[0].isascii() or _is_chinese(text, match.end()):
            read = _chinese(match[0])
            if read is not None:
                yield *match.span(), frozenset([round(read, 6)])


def _chinese(words: str) -> float | None:
    """Return the number in Chinese numerals; a row of digits is read one by one: 二〇一八."""
    if len(words) > 1 and set(words) <= _DIGITS:
        return float("".join(str(DIGIT_VALUES[digit]) for digit in words[:20]))
    return read_numeral(words)


def _is_chinese(text: str, at: int) -> bool:
    return bool(NUMERAL.match(text, at)) and not text[at].isascii()


def without_numbers(text: str) -> str:
    """Return a text with a space for each number."""
    words, end = [], 0
    for start, after, _ in sorted(numbers_in(text), key=lambda found: found[:2]):
        if start >= end:
            words.append(text[end:start])
            end = after
    return " ".join([*words, text[end:]])


@lru_cache(maxsize=4096)
def amounts_of(text: str, language: str) -> Amounts:
    """Return the numbers and dates of a text."""
    numbers = frozenset(n for _, _, meant in numbers_in(text) for n in meant)
    dates: set[str] = set()
    for _, _, value in find_values(text, language):
        if value.is_date:
            dates.update(points_of(value.date or ""))
    for match in _MONTH_DAY.finditer(text):
        dates.add(_without_year(match))
    return Amounts(numbers, frozenset(dates))


def _without_year(match: re.Match[str]) -> str:
    if match["month"]:
        month, day = MONTHS[match["month"].lower().rstrip(".")], match["day"] or match["after"]
        number = float(re.sub(r"\D", "", day)) if day else None
    else:
        month = int(read_numeral(match[4]) or 0)
        number = read_numeral(match[5]) if match[5] else None
    return f"--{month:02d}" + (f"-{int(number):02d}" if number else "")


def points_of(date: str) -> list[str]:
    """Return the date, or the known ends of an interval."""
    return [point for point in date.split("/") if point and point != ".."]


def days_between(one: str, other: str) -> float:
    """Return the days between two dates, each as exact as the other; infinite if there are none."""
    length = min(len(one), len(other), len("2019-03-05"))
    first, second = (day[:length] + "-01-01"[length - 4 :] for day in (one, other))
    try:
        return abs((datetime.date.fromisoformat(first) - datetime.date.fromisoformat(second)).days)
    except ValueError:
        return inf


def is_relative(text: str) -> bool:
    """Return whether a text says when by reference to its own date or to another: last year."""
    return bool(_RELATIVE.search(text))


def date_of(words: str, language: str) -> list[str]:
    """Return the date that words are, or the ends of an interval; none if they are no date."""
    value = parse_value(words, language)
    return points_of(value.date or "") if value.is_date else []
