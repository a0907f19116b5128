"""Known units of measurement and currencies, each with its short form and its spellings."""

import csv
import re
from functools import cache
from pathlib import Path

from tasks.text.values.value import listed

# Signs that stand before an amount of money; the longest first.
CURRENCY_SIGNS = {
    "US$": "USD", "HK$": "HKD", "NT$": "TWD", "A$": "AUD", "C$": "CAD", "R$": "BRL", "$": "USD",
    "£": "GBP", "€": "EUR", "₹": "INR", "₽": "RUB", "₩": "KRW",
    **{code: code for code in ("EUR", "USD", "GBP", "JPY", "CNY")},
}  # fmt: skip
SIGN = "|".join(map(re.escape, sorted((*CURRENCY_SIGNS, "¥", "￥"), key=len, reverse=True)))
# Yen and yuan share a sign, so the text's language decides.
YEN_OR_YUAN = {"en": "JPY", "zh": "CNY"}

# Chinese counting words, which follow a bare number (三个, 十一座).
CLASSIFIERS = listed(
    "个|座|部|所|家|种|条|次|枚|艘|架|辆|台|件|本|首|篇|幅|张|场|届|支|颗|项|类|层|间|栋|块|片|只|头|匹|株|棵|"
    "门|册|卷|集|句|字|步|国|省|市|县|区|个省|户|组|队|批|套|段|处|起|例|對|对|倍|個|項|種|條|隻|艘|級|级",
    "|",
)


@cache
def english_units() -> dict[str, str]:
    """Map English spellings to short forms.

    Symbols, which have up to three letters, keep their case (m is not M); words are in lower case.
    """
    units: dict[str, str] = {}
    for short, spellings, _ in _table():
        for spelling in spellings:
            word = spelling.rsplit(" ", 1)[-1]
            has_plural = len(word) > 3 and word.isalpha() and word.islower() and word[-1] != "s"
            for form in (spelling, f"{spelling}s") if has_plural else (spelling,):
                units.setdefault(form if len(form) <= 3 else form.lower(), short)
    return units


@cache
def chinese_units() -> dict[str, str]:
    """Map Chinese spellings and symbols, without spaces, to short forms."""
    return {
        spelling: short
        for short, english, chinese in _table()
        for spelling in (*chinese, *english)
        if " " not in spelling
        and (spelling in chinese or not spelling.isalpha() or len(spelling) <= 3)
    }


def short_form(unit: str) -> str:
    """Return the short form of a unit in any of its spellings; what is no known unit stays."""
    english = english_units().get(unit if len(unit) <= 3 else unit.lower())
    return english or chinese_units().get(unit, unit)


def _table() -> list[tuple[str, list[str], list[str]]]:
    """Return short form, English and Chinese spellings of each unit.

    `in` for inches is left out, since it is a word.
    """
    with Path(__file__).with_name("units.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return [
        (unit, [e for e in english.split("|") if e], [c for c in chinese.split("|") if c])
        for unit, english, chinese in rows
    ]
