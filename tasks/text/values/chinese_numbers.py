"""Numbers, quantities and money in Chinese text."""

import re
from collections.abc import Iterator
from functools import cache

from tasks.text.languages import word_set
from tasks.text.values.chinese_numerals import NUMERAL_CHARACTERS, SMALL_SCALES, read_numeral
from tasks.text.values.units import CLASSIFIERS, CURRENCY_SIGNS, SIGN, YEN_OR_YUAN, chinese_units
from tasks.text.values.value import Value, ValueSpan, amount

FIGURES = r"[0-9]{1,3}(?:[,，][0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?"
SCALES = "(?:[十百万萬亿億兆]|千(?![克瓦米赫帕卡]))*"
ROUGHLY = "(?:[多余餘]|来)?"
NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.,，:/#第号-])(?P<sign>(?:零下|负|[-−–])(?=[0-9]))?"
    rf"(?P<figures>(?:{FIGURES}){SCALES})(?P<roughly>{ROUGHLY}[万亿]?)"
    rf"|(?<![第初{NUMERAL_CHARACTERS}])"
    rf"(?P<words>[{NUMERAL_CHARACTERS}]+(?:点[{NUMERAL_CHARACTERS}]+)?)"
    rf"(?P<rough_words>[多余餘几][万亿]?)?"
)
PERCENT = re.compile(
    rf"(?P<base>百|千|万|[{NUMERAL_CHARACTERS}0-9]{{1,4}})分之"
    rf"(?P<part>[{NUMERAL_CHARACTERS}]+(?:点[{NUMERAL_CHARACTERS}]+)?|{FIGURES})"
)
MONEY = re.compile(
    rf"(?P<minus>(?<![^\s(（])[-−–])?(?P<sign>{SIGN})\s?(?P<loss>[-−])?"
    rf"(?P<figures>(?:{FIGURES}){SCALES})"
)
# 五号, 24号, 三班: the text after the number makes a name of it.
NAMING = re.compile(
    " ?(?:[号號班路街]|年级|月)|世纪|年代|[:：/][0-9]|[-–][0-9A-Za-z]|[A-Za-z0-9_]|[.,][0-9]"
)
# A number without unit counts only after one of these words.
CUES = re.compile("(?:[为是约達达至到有共计於于过近]|大约|超过|排名|[:：＝=]) ?$")
# Single numerals that are part of common words and names: 三峡, 四川, 一种, 九龙.
SAFE_AFTER_ONE_NUMERAL = word_set(
    "个 座 部 所 种 条 次 枚 艘 架 辆 台 件 本 首 篇 幅 张 項 "
    "项 名 位 人 年 天 周 岁 个月 小时 分钟"
)
WORDS_OF_NUMERALS = word_set("千万 万一 万千 百万 千百 百千 十一 千千万万 十十 两千 万万")


@cache
def unit_pattern() -> re.Pattern[str]:
    """Return the pattern of a unit or classifier right after a number."""
    spellings = sorted({*chinese_units(), *CLASSIFIERS}, key=lambda form: (-len(form), form))
    return re.compile(rf"\s?(?:{'|'.join(map(re.escape, spellings))})(?![A-Za-z0-9²³目])")


def find_amounts(text: str) -> list[ValueSpan]:
    """Return money, shares, quantities and counts."""
    numbers = (span for match in NUMBER.finditer(text) for span in _number(text, match))
    return [*_money(text), *_shares(text), *numbers]


def unit_after(text: str, position: int) -> tuple[str | None, int]:
    """Return the unit (empty for a classifier) at `position` and its end."""
    match = unit_pattern().match(text, position)
    if match is None:
        return None, position
    return chinese_units().get(match[0].strip(), ""), match.end()


def _money(text: str) -> Iterator[ValueSpan]:
    for match in MONEY.finditer(text):
        number = read_numeral(match["figures"])
        sign = match["sign"]
        unit = YEN_OR_YUAN["zh"] if sign in "¥￥" else CURRENCY_SIGNS[sign]
        if number is not None:
            number = -number if match["minus"] or match["loss"] else number
            yield match.start(), match.end(), Value("quantity", number, unit)


def _shares(text: str) -> Iterator[ValueSpan]:
    for match in PERCENT.finditer(text):
        part, base = read_numeral(match["part"]), read_numeral(match["base"])
        if part is None or not base:
            continue
        unit = {100: "%", 1000: "‰"}.get(int(base))
        value = Value("quantity", part, unit) if unit else Value("number", part / base)
        yield match.start(), match.end(), value


def _number(text: str, match: re.Match[str]) -> Iterator[ValueSpan]:
    digits = match["figures"] or match["words"]
    number = read_numeral(digits)
    roughly = match["roughly"] if match["figures"] else match["rough_words"]
    if number is None:
        return
    # 300多万: the scale follows the word for "more than".
    if roughly and roughly[-1] in "万亿":
        number *= 10_000 if roughly[-1] == "万" else 100_000_000
    unit, end = unit_after(text, match.end())
    if NAMING.match(text, match.end()) and not (unit and end > match.end()):
        yield match.start(), match.end() + 1, None
        return
    if match["figures"]:
        scaled = not digits[-1].isdigit() or "," in digits
        cued = CUES.search(text, max(0, match.start() - 4), match.start()) is not None
        if unit is None and not scaled and not cued:
            yield match.start(), match.end(), None
            return
    elif not _is_count(text, digits, unit, match.end(), end):
        return
    if match["sign"]:
        number = -number
    yield match.start(), end, amount(number, unit)


def _is_count(text: str, words: str, unit: str | None, start: int, end: int) -> bool:
    """Return whether written-out numerals count something; they may be part of a word instead."""
    if len(words) == 1:
        return (
            unit is not None
            and words in "二两兩三四五六七八九十"
            and (unit not in ("", "people", "yr") or text[start:end] in SAFE_AFTER_ONE_NUMERAL)
        )
    if words in WORDS_OF_NUMERALS:
        return bool(unit) or (words == "十一" and unit is not None)
    return unit is not None or (
        words[-1] in "万萬亿億" and not SMALL_SCALES.keys().isdisjoint(words)
    )
