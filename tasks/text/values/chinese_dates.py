"""Dates in Chinese text."""

import re
from collections.abc import Iterator

from tasks.text.values.chinese_numerals import DIGIT_CHARACTERS, DIGIT_VALUES, read_numeral
from tasks.text.values.english_dates import ISO_DATE
from tasks.text.values.value import Value, ValueSpan, century, date_value, decade, interval

ERA = "(公元前|西元前|公元|西元)?"
YEAR = f"([0-9]{{1,4}}|[{DIGIT_CHARACTERS}]{{2,4}})"
MONTH = "([0-9]{1,2}|十[一二]?|[一二三四五六七八九])"
DAY = "([0-9]{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"

# Many put a space between figures and characters: 2018 年 8 月.
FULL = re.compile(rf"{ERA}{YEAR} ?年(?!度)(?: ?{MONTH} ?月(?:份| ?{DAY} ?[日号號])?)?")
REPUBLIC = re.compile(
    rf"(?:中[华華])?民[国國] ?(元|[0-9]{{1,3}}|[{DIGIT_CHARACTERS}十]{{1,3}}) ?年(?![度代])"
    rf"(?: ?{MONTH} ?月(?:份| ?{DAY} ?[日号號])?)?"
)
_BEFORE_REPUBLIC = 1911
_LIKELY_OF_REPUBLIC = range(100, 130)  # years with a month, where no era is named
ISO = re.compile(rf"{ISO_DATE}(?![0-9-])")
CENTURY = re.compile(
    rf"{ERA}([0-9]{{1,2}}|[一二三四五六七八九十]{{1,3}}) ?世纪"
    "(?: ?([一二三四五六七八九1-9])[十0] ?年代)?(?:初期|末期|中期|前期|后期|中叶|初|末)?"
)
DECADE = re.compile(f"([12][0-9]{{2}}0|[{DIGIT_CHARACTERS}]{{4}}) ?年代")
# 12月17日 without its year, 60年代 without its century, 于9.30开馆 as a time of day.
UNFINISHED = re.compile(
    rf"(?<![0-9]){MONTH} ?月(?:份| ?{DAY} ?[日号號])|[0-9一二三四五六七八九][0十] ?年代"
    r"|(?<=于)[0-2]?[0-9]\.[0-5][0-9](?= ?[开闭关结])"
)
# Before these words 1000年 is a duration, not a date.
LASTING = re.compile(" ?(?:的)?(?:历史|歷史|之久|以上|左右|间|来|前|后|多|的时间)")
YEAR_ALONE = re.compile(r"(?<![\w.,$/%-])(?:1[0-9]{3}|20[0-9]{2}|2100)(?![\w%°]|[.,][0-9])")
YEARS_APART = re.compile(r"(?<![0-9.,-])([12][0-9]{3})\s?[-–—－至~～]\s?([12][0-9]{3}) ?年")


def find_dates(text: str) -> list[ValueSpan]:
    """Return dates that need no cue; bare years do (see `bare_years`)."""
    spans: list[ValueSpan] = []
    for match in ISO.finditer(text):
        day = int(match[3]) if match[3] else None
        spans.append((*match.span(), date_value(int(match[1]), int(match[2]), day)))
    spans += [(*match.span(), _century(match)) for match in CENTURY.finditer(text)]
    spans += [(*match.span(), decade(_digits(match[1]))) for match in DECADE.finditer(text)]
    for match in YEARS_APART.finditer(text):
        if match[1] < match[2] and text[match.end() : match.end() + 1] not in tuple("0123456789"):
            spans.append((*match.span(), interval(match[1], match[2])))
    spans += [(*match.span(), _of_republic(match)) for match in REPUBLIC.finditer(text)]
    return [*spans, *_years(text), *((*m.span(), None) for m in UNFINISHED.finditer(text))]


def bare_years(text: str) -> Iterator[ValueSpan]:
    """Yield years without 年, as in parentheses: （1881—1936）."""
    for match in YEAR_ALONE.finditer(text):
        before = text[max(0, match.start() - 1) : match.start()]
        after = text[match.end() : match.end() + 1]
        if (before in "（(" or before in "-—–~～－") and after in "）)-—–~～－，, ":
            yield match.start(), match.end(), Value("year", date=match[0])


def _years(text: str) -> Iterator[ValueSpan]:
    for match in FULL.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if before in DIGIT_CHARACTERS + "0123456789.,第" and before and not match[1]:
            continue
        era, month, day = match[1] or "", match[3], match[4]
        year = _digits(match[2])
        if not era and not month and not _is_year(text, match, year):
            continue
        if not era and month and year < 100:
            continue
        if not era and year in _LIKELY_OF_REPUBLIC:
            yield *match.span(), None
            continue
        value = _date(-year if era.endswith("前") else year, month, day)
        yield match.start(), match.end(), value


def _of_republic(match: re.Match[str]) -> Value | None:
    year, month, day = match.groups()
    number = read_numeral(year) if "十" in year else year == "元" or _digits(year)
    return _date(_BEFORE_REPUBLIC + int(number), month, day) if number else None


def _date(year: int, month: str | None, day: str | None) -> Value | None:
    return date_value(
        year,
        int(read_numeral(month) or 0) if month else None,
        int(read_numeral(day) or 0) if day else None,
    )


def _is_year(text: str, match: re.Match[str], year: int) -> bool:
    if not 1000 <= year <= 2100 or len(match[2]) != 4:
        return False
    return not (year % 100 == 0 and LASTING.match(text, match.end()))


def _digits(text: str) -> int:
    """Read years digit by digit: 1912, 一九一二, 二〇二〇."""
    return int("".join(str(DIGIT_VALUES.get(c, c)) for c in text))


def _century(match: re.Match[str]) -> Value | None:
    ordinal = int(read_numeral(match[2]) or 0)
    before_christ = (match[1] or "").endswith("前")
    if not match[3]:
        return century(ordinal, before_christ=before_christ)
    first = (ordinal - 1) * 100 + 10 * int(read_numeral(match[3]) or 0)
    return decade(first) if 0 < first < 2100 and not before_christ else None
