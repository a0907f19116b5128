"""Find the values in a text, and parse the tail of a triple as a value."""

import re
import unicodedata
from dataclasses import replace
from types import ModuleType

from tasks.text.languages import HAN_CLASS, word_set
from tasks.text.values import chinese_dates, chinese_numbers, english_dates, english_numbers
from tasks.text.values.chinese_numerals import read_numeral
from tasks.text.values.units import SIGN
from tasks.text.values.value import TEXT, Value, ValueSpan, claim, interval, joined, measured_at

LONGEST_TAIL = 200  # characters; a longer tail is no value
LONGEST_TEXT = 100_000  # characters of a text that are searched

# Full-width figures and signs, replaced one for one so that offsets stay valid.
NARROW = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0xFF10, 0xFF1A), 0xFF05, 0xFF0E, 0xFF04, 0xFFE1, 0x00A0)
}

BETWEEN = {
    "en": re.compile(r"\s?(?:[–—-]|to|until|till|through|and|or)\s?"),
    "zh": re.compile(r"\s?(?:[-–—－~～]{1,2}|至|到|直到|直至)\s?"),
}
OPENS = {"en": re.compile(r"\b(?:from|between)\s$", re.I), "zh": re.compile("[从自由]$")}
SINCE = {
    "en": re.compile(r"\b(?:since|from)\s$", re.IGNORECASE),
    "zh": re.compile("[自从]$"),
}
UNTIL = {
    "en": re.compile(r"\b(?:until|till|up to)\s$", re.IGNORECASE),
    "zh": re.compile("(?:直到|直至|截至)$"),
}
SINCE_AFTER = {
    "en": re.compile(r"\s?(?:[–—-]\s?|to (?:the )?|until )(?:present|today|now)\b", re.I),
    "zh": re.compile("(?:以来|以來|起|开始|至今|以后|[-–—－~～至到](?:今|现在))"),
}
UNTIL_AFTER = {"en": re.compile("(?!)"), "zh": re.compile("(?:为止|為止|以前)")}

LEAD = {
    "en": re.compile(
        r"(?:(?:in|on|at|by|about|around|approximately|roughly|nearly|almost|over|under|above|"
        r"below|more than|less than|fewer than|at least|at most|up to|some|of|the year|the|circa|"
        r"ca?\.|a total of|only|just|as of|aged|c\.|est\.)\s+|[~≈(])+",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "(?:大约|约|将近|近|超过|多于|少于|至少|至多|共有|共|总计|达到|达|为|于|在|年龄|[(（≈])+"
    ),
}
TRAIL = {
    "en": re.compile(
        r"[\s.,;)]*(?:or so|in total|old|tall|high|long|wide|deep|each|ago|above sea level)?"
        r"[\s.,;)]*"
    ),
    "zh": re.compile("(?:左右|以上|以下|上下|多|余|高|长|宽|深)?[\\s。，；)）]*"),
}
WHEN = {
    "en": re.compile(r"\s?[,(]?\s?(?:in|as of|at|during|since|\()?\s?$"),
    "zh": re.compile(r"\s?[（(，,]?(?:截至|在|于)?$"),
}
# A few words that may follow a count: "three children", "12 member states".
COUNTED = {
    "en": re.compile(r"\s(?!of\b|in\b|and\b)[a-z]+(?:\s(?!of\b|in\b)[a-z]+){0,2}s?[.\s]*"),
    "zh": re.compile(f"[{HAN_CLASS}]{{1,6}}[。\\s]*"),
}
# "1.000,50" is 1,000.50 before or after a euro, and in languages that write numbers so.
_EUROPEAN_LANGUAGES = word_set("cs da de es fi fr it nl no pl pt ro ru sv tr uk")
_EUROPEAN = re.compile(
    r"(?:(?P<before>(?:€|\bEUR)\s?)|(?<![A-Za-z0-9_.,]))(?P<digits>[0-9]+,[0-9]{1,2}(?![.,]?[0-9])"
    r"|[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]{1,2})?(?![.,]?[0-9])"
    r"(?!\s?(?:(?:mill|bill|trill)ion|[mbt]n\b|[km]\b|per lit|[万亿])))"
    r"(?P<after>(?:\s?(?:million|billion|[万亿]))?\s?(?:€|EUR\b|euros?\b|[欧歐]元))?",
    re.IGNORECASE,
)
_EURO = re.compile("€|EUR|[欧歐]元", re.IGNORECASE)
_COMMA_AND_PERIOD = str.maketrans(",.", ".,")
_CODE = re.compile("0[0-9]|[0-9]{16}")  # a float does not hold every number of 16 digits
# "(1,250.00)", "($1.5m)", "(12%)" and "€(3)" are amounts below zero in accounts.
_LOSS = re.compile(
    rf"((?:{SIGN})?)[(（]((?:{SIGN})\s?[0-9][0-9.,]*\w*|[0-9][0-9.,]*\s?%?)[)）](\s?[^\s0-9.,]*)"
)
_NUMERIC = re.compile(r"元年|[\d零〇一二两三四五六七八九十百千万亿兩萬億]")


def find_values(text: str, language: str) -> list[tuple[int, int, Value]]:
    """Return the values in the first `LONGEST_TEXT` characters, each with its span, in text order.

    Every language except `zh` is read as English. Spans do not overlap.
    """
    tongue = "zh" if language == "zh" else "en"
    text = _in_english_notation(text[:LONGEST_TEXT].translate(NARROW), language)
    if tongue == "zh" and not _NUMERIC.search(text):
        return []
    dates: ModuleType = chinese_dates if tongue == "zh" else english_dates
    amounts: ModuleType = chinese_numbers if tongue == "zh" else english_numbers
    found = amounts.find_amounts(text)
    numbers = ((a, b, None if _CODE.match(text, a) else value) for a, b, value in found)
    spans = claim(numbers, claim(dates.find_dates(text), []))
    years = (y for y in dates.bare_years(text) if tongue == "zh" or not _named(text, y[0]))
    return _joined_dates(text, claim(years, spans), tongue)


def parse_value(text: str, language: str) -> Value:
    """Return the value of a tail that states nothing else; any other tail is text."""
    if not text or len(text) > LONGEST_TAIL:
        return TEXT
    tongue = "zh" if language == "zh" else "en"
    body = text.translate(NARROW).strip()
    if loss := _LOSS.fullmatch(body):
        value = parse_value("".join(loss.groups()), language)
        return replace(value, number=-value.number) if value.number else value
    if lead := LEAD[tongue].match(body):
        body = body[lead.end() :]
    values = find_values(body, language)
    if not values:
        return _plain(body, tongue)
    start, end, value = values[0]
    if start:
        return TEXT
    if len(values) == 2 and not value.is_date and values[1][2].is_date:
        between, last = body[end : values[1][0]], values[1][1]
        if WHEN[tongue].fullmatch(between) and TRAIL[tongue].fullmatch(body, last):
            return measured_at(value, values[1][2])
    if len(values) > 1:
        return TEXT
    is_complete = (
        TRAIL[tongue].fullmatch(body, end)
        or (value.value_type == "number" and COUNTED[tongue].fullmatch(body, end))
        or (tongue == "en" and value.unit and re.fullmatch(r"\sof\s[a-z]+[.\s]*", body[end:]))
    )
    return value if is_complete else TEXT


def _in_english_notation(text: str, language: str) -> str:
    """Return a text, of the same length, with decimal points for commas in European numbers."""
    european = language in _EUROPEAN_LANGUAGES

    def written(number: re.Match[str]) -> str:
        in_euros = number["before"] or number["after"]
        return number[0].translate(_COMMA_AND_PERIOD) if in_euros or european else number[0]

    return _EUROPEAN.sub(written, text) if european or _EURO.search(text) else text


def _plain(body: str, tongue: str) -> Value:
    """Return a bare number or year; within a text these would need a cue."""
    body = body.rstrip(" .。,，;；")
    if re.fullmatch("1[0-9]{3}|20[0-9]{2}|2100", body):
        return Value("year", date=body)
    if tongue == "en":
        return Value("number", 1.0) if body.lower() == "one" else TEXT
    is_word = body in chinese_numbers.WORDS_OF_NUMERALS or _CODE.match(body)
    number = None if is_word else read_numeral(body)
    return TEXT if number is None else Value("number", number)


def _named(text: str, start: int) -> bool:
    """Return whether a number follows a word that makes it part of a name: Windows 2000."""
    return english_numbers.is_label(text, start, measured=False)


def _joined_dates(text: str, spans: list[ValueSpan], tongue: str) -> list[tuple[int, int, Value]]:
    """Return the values, with dates joined to intervals: from 1999 to 2003, since 1999."""
    result: list[tuple[int, int, Value]] = []
    skip = False
    for (start, end, value), after in zip(spans, [*spans[1:], None], strict=False):
        if skip or value is None:
            skip = False
            continue
        both = _range(text, (start, end, value), after, tongue) if value.is_date else None
        result.append(both or _open_interval(text, start, end, value, tongue))
        skip = both is not None
    return result


def _range(
    text: str, first: tuple[int, int, Value], second: ValueSpan | None, tongue: str
) -> tuple[int, int, Value] | None:
    """Return the interval between two dates if the text means one."""
    start, end, value = first
    if second is None or second[2] is None or second[0] - end > 9:
        return None
    between = text[end : second[0]]
    if not BETWEEN[tongue].fullmatch(between):
        return None
    opened = OPENS[tongue].search(text, max(0, start - 9), start)
    # "1934 and 1940" is an interval only after "between".
    if between.strip() in ("and", "or") and not (opened and opened[0].lower().startswith("betw")):
        return None
    both = joined(value, second[2])
    if both is None:
        return None
    return (opened.start() if opened else start), second[1], both


def _open_interval(
    text: str, start: int, end: int, value: Value, tongue: str
) -> tuple[int, int, Value]:
    if not value.is_point:
        return start, end, value
    for words_before, words_after, open_interval in (
        (SINCE, SINCE_AFTER, interval(value.date, None)),
        (UNTIL, UNTIL_AFTER, interval(None, value.date)),
    ):
        before = words_before[tongue].search(text, max(0, start - 8), start)
        after = words_after[tongue].match(text, end)
        if before or after:
            first, last = before.start() if before else start, after.end() if after else end
            return first, last, open_interval
    return start, end, value
