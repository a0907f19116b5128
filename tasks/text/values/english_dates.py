"""Dates in English text."""

import re
from collections.abc import Callable, Iterator

from tasks.text.values.value import (
    Value,
    ValueSpan,
    century,
    date_value,
    decade,
    interval,
    iso_date,
    listed,
)

MONTHS = {
    name: number
    for number, names in enumerate(
        listed(
            "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|"
            "september sept sep|october oct|november nov|december dec",
            "|",
        ),
        start=1,
    )
    for name in names.split()
}
MONTH = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
DAY = "[0-3]?[0-9](?:st|nd|rd|th)?"
ERA = r"(?:\s?(BCE?\b|B\.C\.E?\.?|CE\b|AD\b|A\.D\.))"
YEAR = r"(?:[0-9]{1,2}(?=\s?(?:BC|B\.C|CE|AD|A\.D))|[0-9]{3,4})"

ORDINALS = listed(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first"
)

# "13/14 October 1885": from one day to the next, or one of the two.
DAYS = rf"(?P<first>{DAY})\s?[–—/-]\s?(?P<last>{DAY})"
DAYS_APART = re.compile(rf"\b{DAYS}\s(?P<month>{MONTH}),?\s(?P<year>{YEAR})\b")
MONTH_AND_DAYS = re.compile(rf"\b(?P<month>{MONTH})\s{DAYS},?\s(?P<year>{YEAR})\b")
DAY_FIRST = re.compile(rf"\b(?:the )?({DAY})\s(?:of\s)?({MONTH}),?\s({YEAR})\b{ERA}?")
MONTH_FIRST = re.compile(rf"\b({MONTH})\s({DAY}),?\s({YEAR})\b(?!,[0-9]){ERA}?")
MONTH_YEAR = re.compile(rf"\b({MONTH}),?\s(?:of\s)?({YEAR})\b(?!,[0-9]){ERA}?")
# A time of a day that exists may follow: 2020-05-17T09:30:00Z.
ISO_DATE = (
    r"(?<![\w-])([12][0-9]{3})-([01][0-9])(?:-([0-3][0-9])(?:(?<!-1[3-9]-..)[T ]"
    r"[0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?)?"
)
ISO = re.compile(rf"{ISO_DATE}(?![\w-])")
# With periods the day stands first; with slashes that is unclear.
DOTTED = re.compile(r"(?<![\w.,-])([0-3]?[0-9])\.([01]?[0-9])\.([12][0-9]{3})(?![\w-]|[.,][0-9])")
ERA_LAST = re.compile(rf"(?<![\w.,-])([0-9]{{1,4}}){ERA}")
ERA_FIRST = re.compile(r"\bAD\s([0-9]{1,4})\b")
DECADE = re.compile(r"\b(?:the )?(?:(?:early|mid|late)[ -])?([12][0-9]{2}0)['’]?s\b")
CENTURY = re.compile(
    rf"\b(?:the )?(?:(?:early|mid|late)[ -])?([1-9][0-9]?(?:st|nd|rd|th)|{'|'.join(ORDINALS)})"
    rf"[ -]centur(?:y|ies)\b{ERA}?",
    re.IGNORECASE,
)
SHORT_RANGE = re.compile(r"(?<![\w.,/–-])([12][0-9]{3})[–/-]([0-9]{2})(?![\w–/-])")
# A day of a month without a year, and dates in figures, whose order is unclear.
UNFINISHED = re.compile(
    rf"\b(?:{DAY}\s(?:of\s)?{MONTH}|{MONTH}\s{DAY})\b(?!\s?million|,[0-9])"
    r"|\b[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2,4}\b"
)
# A time of day: "9.30 a.m.", "from 9.30 to 11.00 o'clock", "at 9.30 on Sundays". The digit stands
# first, as a pattern that begins with a class is searched for faster.
PAST_HOUR = r"(?:(?<=[012])[0-9])?\.[0-5][0-9]"
TIME = re.compile(
    rf"[0-9](?:(?<![\w.,].){PAST_HOUR}(?:\s?(?:[–—-]|to|and|until)\s?[0-9]{PAST_HOUR})?"
    r"(?=\s?(?:o['’]?clock|[ap]\.?m\b|Uhr\b))"
    rf"|(?<=\bat .){PAST_HOUR}"
    r"(?=[.,;)](?![0-9])|\s(?:on|in|for|with|and|every|sharp|to|until)\b|\s*\Z))"
)

YEAR_ALONE = re.compile(r"(?<![\w.,$£€¥/%])(?:1[0-9]{3}|20[0-9]{2}|2100)(?![\w%°]|[.,][0-9])")


def find_dates(text: str) -> list[ValueSpan]:
    """Return dates that need no cue; bare years do (see `bare_years`)."""
    exact = ((*m.span(), read(m)) for pattern, read in _READERS for m in pattern.finditer(text))
    short = [(match, match[1][:2] + match[2]) for match in SHORT_RANGE.finditer(text)]
    ranges = [(*match.span(), interval(match[1], end)) for match, end in short if end > match[1]]
    no_dates = (m for pattern in (UNFINISHED, TIME) for m in pattern.finditer(text))
    return [*exact, *ranges, *((*match.span(), None) for match in no_dates)]


def bare_years(text: str) -> Iterator[ValueSpan]:
    """Yield numbers of four digits that can be years."""
    for match in YEAR_ALONE.finditer(text):
        yield *match.span(), Value("year", date=match[0])


def _days(match: re.Match[str]) -> Value | None:
    year, month = int(match["year"]), _month(match["month"])
    start, end = (iso_date(year, month, _day(match[group])) for group in ("first", "last"))
    return interval(start, end) if start and end else None


def _century(match: re.Match[str]) -> Value | None:
    ordinal = match[1].lower()
    number = ORDINALS.index(ordinal) + 1 if ordinal in ORDINALS else int(ordinal[:-2])
    return century(number, before_christ=_before_christ(match[2]))


def _month(name: str) -> int:
    return MONTHS[name.rstrip(".").lower()]


def _day(text: str) -> int:
    return int(text.rstrip("sthndr"))


def _year(digits: str, era: str | None) -> int:
    return -int(digits) if _before_christ(era) else int(digits)


def _before_christ(era: str | None) -> bool:
    return era is not None and era.startswith("B")


# Earlier patterns win where matches overlap.
_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Value | None]], ...] = (
    (DAYS_APART, _days),
    (MONTH_AND_DAYS, _days),
    (ISO, lambda m: date_value(int(m[1]), int(m[2]), int(m[3]) if m[3] else None)),
    (DOTTED, lambda m: date_value(int(m[3]), int(m[2]), int(m[1]))),
    (DAY_FIRST, lambda m: date_value(_year(m[3], m[4]), _month(m[2]), _day(m[1]))),
    (MONTH_FIRST, lambda m: date_value(_year(m[3], m[4]), _month(m[1]), _day(m[2]))),
    (MONTH_YEAR, lambda m: date_value(_year(m[2], m[3]), _month(m[1]))),
    (CENTURY, _century),
    (ERA_LAST, lambda m: date_value(_year(m[1], m[2]))),
    (ERA_FIRST, lambda m: date_value(int(m[1]))),
    (DECADE, lambda m: decade(int(m[1]))),
)
