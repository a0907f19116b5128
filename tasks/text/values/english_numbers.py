"""Numbers, quantities and money in English text."""

import re
from collections.abc import Iterator
from functools import cache

from tasks.text.english_words import is_plural
from tasks.text.languages import word_set
from tasks.text.values.units import CURRENCY_SIGNS, SIGN, YEN_OR_YUAN, english_units
from tasks.text.values.value import Value, ValueSpan, amount, listed

_ONES = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")
ONES = {word: number for number, word in enumerate(_ONES)}
TENS = {word: 10 * number for number, word in enumerate(_TENS, start=2)}
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
SHORT_SCALES = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12}

SCALE = "|".join(SCALES)
SMALL = "|".join((*ONES, *TENS))
DIGITS = (
    r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"
    r"|[0-9]+(?:\.[0-9]+(?:[eE][-+]?[0-9]{1,2}(?![\w.]))?)?"  # 1.5e3
)
# A minus sign counts only where nothing stands before it: 5-4 is not 5 and -4.
FIGURES = re.compile(
    rf"(?<![\w.,/:#&@–-])(?P<sign>(?<![^\s(])[-−–])?(?P<digits>{DIGITS})"
    rf"(?P<scale>(?:\s(?:{SCALE})\b)+|\s?(?-i:[mbt]n)\b|)",
    re.IGNORECASE,
)
WORDS = re.compile(
    rf"\b(?:(?P<half>half an?|a quarter of a) (?P<halved>million|billion|dozen)"
    rf"|(?P<words>(?:{SMALL}|an?(?=\s(?:{SCALE})\b))(?:[\s-](?:and\s(?=(?:{SMALL})\b))?"
    rf"(?:{SMALL}|{SCALE})\b)*))\b(?P<and_half> and a half(?: (?:{SCALE}))?)?",
    re.IGNORECASE,
)
MONEY = re.compile(
    rf"(?P<minus>(?<![^\s(])[-−–])?(?<!\w)(?P<sign>{SIGN})\s?(?P<loss>[-−])?(?P<digits>{DIGITS})"
    rf"(?:\s?(?P<scale>{SCALE})\b|\s?(?P<short>mn|bn|tn|[kmb])\b)?",
    re.IGNORECASE,
)
FEET_AND_INCHES = re.compile(
    r"(?<![\w.,-])([0-9]{1,2})\s?(?:ft|feet|foot|['′])\s?([0-9]{1,2}(?:\.[0-9])?)\s?"
    r"(?:in\b|inch(?:es)?\b|[\"″])"
)

# Words before a number that make it a label.
LABELS = word_set(
    "no note number nr version page pages p pp chapter volume vol part phase grade level room "
    "section article figure fig table type model line platform highway route interstate "
    "isbn issn doi area district psalm verse episode season unit channel gate op opus "
    "build release"
)
# Capitalised words before a number that do not make a name of it.
OPENERS = word_set(
    "in on at by of the a an and or but about around nearly almost over under since until "
    "from to between with for its their his her it they he she we there has had have was "
    "were is are some more less than only just after before during approximately roughly "
    "as population area height length elevation early late mid summer winter spring autumn "
    "fall at least most up down per when while where that this these those all both "
    "another every each"
)
BEFORE = re.compile(r"([A-Za-z][\w'’.-]*)\s*$")
# Directly after a number, these make it part of a code, a score, a time or a larger number.
GLUED = re.compile(r"[0-9]|[:/][0-9]|[.,][0-9]|[–-][0-9]|(?:st|nd|rd|th|D|K|G)\b|[-–][A-Z0-9]|\w")
PLURAL = re.compile(r"\s([a-z]{2,}s)\b")
YEAR_CUES = word_set("in since until from by to of the during before after and or")


@cache
def unit_pattern() -> re.Pattern[str]:
    """Return the pattern of a unit right after a number."""
    spellings = sorted(english_units(), key=lambda spelling: (-len(spelling), spelling))
    symbols = "|".join(re.escape(s) for s in spellings if len(s) <= 3)
    words = "|".join(re.escape(s) for s in spellings if len(s) > 3)
    return re.compile(rf"[\s-]?(?:(?P<word>(?i:{words}))|(?P<symbol>{symbols}))(?![\w²³^/])")


def find_amounts(text: str) -> list[ValueSpan]:
    """Return money, quantities and numbers; a number that may be a year is left to the dates."""
    lengths = [
        (*match.span(), Value("quantity", round(int(match[1]) + float(match[2]) / 12, 4), "ft"))
        for match in FEET_AND_INCHES.finditer(text)
    ]
    return [*_money(text), *lengths, *_figures(text), *_words(text)]


def words_to_number(words: str) -> float | None:
    """Return the number that number words spell, None if their order makes no sense."""
    total, current, last = 0.0, 0.0, 0.0
    for word in re.split(r"[\s-]+", words.lower()):
        if word in ("and", "a", "an"):
            current = max(current, 1) if word != "and" else current
        elif word in SCALES:
            scale = SCALES[word]
            if scale <= 100:
                current = max(current, 1) * scale
            else:
                total, current = total + max(current, 1) * scale, 0
            last = scale
        else:
            number = ONES.get(word, TENS.get(word, 0))
            if current % 100 and not (last in TENS.values() and 0 < number < 10):
                return None
            current, last = current + number, number
    return total + current


def _money(text: str) -> Iterator[ValueSpan]:
    for match in MONEY.finditer(text):
        number = _to_float(match["digits"])
        if number is None:
            continue
        if match["scale"]:
            number *= SCALES[match["scale"].lower()]
        elif match["short"]:
            number *= SHORT_SCALES[match["short"].lower()]
        if match["minus"] or match["loss"]:
            number = -number
        sign = match["sign"].upper()
        unit = YEN_OR_YUAN["en"] if sign in "¥￥" else CURRENCY_SIGNS[sign]
        yield match.start(), match.end(), Value("quantity", number, unit)


def _figures(text: str) -> Iterator[ValueSpan]:
    for match in FIGURES.finditer(text):
        digits, scales = match["digits"], match["scale"].split()
        number = _to_float(digits)
        if number is None:
            yield match.start(), match.end(), None
            continue
        for scale in scales:
            number *= (SCALES | SHORT_SCALES)[scale.lower()]
        unit, end = unit_after(text, match.end())
        if unit is None and not scales and _looks_like_year(text, match, digits):
            continue
        if unit == "lb" and scales and not text.startswith(" of ", end):
            unit = "GBP"  # millions of pounds are money unless they are pounds of something
        if match["sign"]:
            number = -number
        if unit is None and not scales and GLUED.match(text, match.end()):
            yield match.start(), match.end(), None
        elif is_label(text, match.start(), measured=bool(unit or scales)):
            yield match.start(), end, None
        else:
            yield match.start(), end, amount(number, unit)


def _words(text: str) -> Iterator[ValueSpan]:
    for match in WORDS.finditer(text):
        number = _spelled(match)
        if number is None:
            continue
        unit, end = unit_after(text, match.end())
        first = match[0].split()[0]
        paid = unit in CURRENCY_SIGNS.values() and text[end - 1] == "s"  # Ten Thousand Euros
        after = text[match.end() : match.end() + 2]
        named = first[0].isupper() and not paid and re.match(r"\s[A-Z]", after)
        # "one" and "a dozen of them" are rarely numbers; capitalised ones are often names.
        if named or (match[0].lower() == "one" and unit is None):
            continue
        yield match.start(), end, amount(number, unit)


def _spelled(match: re.Match[str]) -> float | None:
    if match["half"]:
        share = 0.25 if match["half"].lower().startswith("a") else 0.5
        return share * SCALES[match["halved"].lower()]
    number = words_to_number(match["words"])
    if number is None or not match["and_half"]:
        return number
    scale = match["and_half"].split()[-1].lower()
    return (number + 0.5) * SCALES.get(scale, 1)


def unit_after(text: str, position: int) -> tuple[str | None, int]:
    """Return the unit at `position` and its end; (None, position) if there is none."""
    match = unit_pattern().match(text, position)
    if match is None or match.end() == position:
        return None, position
    spelling = match["symbol"] or match["word"].lower()
    glued = text[position] not in " -\u00a0"
    # 4K, 5G and 3D are names; 5 K is a temperature.
    if glued and spelling in ("K", "h", "s", "t", "g", "V", "J", "L", "l"):
        return None, position
    return english_units()[spelling], match.end()


def _looks_like_year(text: str, match: re.Match[str], digits: str) -> bool:
    if match["sign"] or len(digits) != 4 or not 1000 <= float(digits) <= 2100:
        return False
    before = BEFORE.search(text, max(0, match.start() - 30), match.start())
    after = PLURAL.match(text, match.end())
    counted = after is not None and is_plural(after[1])
    return not (counted and before is not None and before[1].lower() not in YEAR_CUES)


def is_label(text: str, start: int, *, measured: bool) -> bool:
    """Return whether the word before a number makes it a label or part of a name: Windows 2000.

    A `measured` number, which has a unit or a scale, is part of no name.
    """
    before = BEFORE.search(text, max(0, start - 40), start)
    if before is None:
        return False
    word = before[1].rstrip(".").lower()
    if word in LABELS:
        return True
    return before[1][0].isupper() and word not in OPENERS and not measured


def _to_float(digits: str) -> float | None:
    # Longer figures are identifiers, not amounts.
    return float(digits.replace(",", "")) if len(digits) <= 20 else None
