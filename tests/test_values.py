"""Values: a table of what texts state, and properties that hold for any text."""

from datetime import date
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.text.values import Value, find_values, parse_value
from tasks.text.values.chinese_numerals import read_numeral
from tasks.text.values.english_numbers import words_to_number

ENGLISH_NUMBERS = {
    "three": (3, None), "1,934": (1934, None), "3.14": (3.14, None), "two million": (2e6, None),
    "1.5 billion": (1.5e9, None), "a dozen": (12, None), "half a million": (5e5, None),
    "two and a half million": (2.5e6, None), "one hundred and twenty-five": (125, None),
    "three children": (3, None), "30%": (30, "%"), "30 percent": (30, "%"), "$4.25": (4.25, "USD"),
    "£3 million": (3e6, "GBP"), "24 billion pounds": (24e9, "GBP"),
    "7.5 million pounds of thrust": (7.5e6, "lb"), "US$3.5bn": (3.5e9, "USD"), "¥500": (500, "JPY"),
    "20 euros": (20, "EUR"), "8,848.86 m above sea level": (8848.86, "m"),
    "16,410 km²": (16410, "km²"), "16410 square kilometres": (16410, "km²"),
    "90 sq km": (90, "km²"), "24,000 sq metres": (24000, "m²"), "10km": (10, "km"),
    "100-metre": (100, "m"),
    "5 ft 11 in": (5.9167, "ft"), "25 °C": (25, "°C"), "-40 °C": (-40, "°C"),
    "70 miles per hour": (70, "mph"), "3 hours": (3, "h"), "22 years old": (22, "yr"),
    "75 kg": (75, "kg"), "5 million tonnes of coal": (5e6, "t"), "1934 people": (1934, "people"),
    "about 2,000 inhabitants": (2000, "people"),
    "145 inhabitants per square kilometre": (145, "people/km²"),
    "40 ms": (40, "ms"), "56 kbps": (56, "kbit/s"), "32 psi": (32, "psi"), "2 bars": (2, None),
    "two millennia": (2, "millennium"), "512 MiB": (512, "MiB"), "80 decibels": (80, "dB"),
    "€ 1.000": (1000, "EUR"), "1.000,50 EUR": (1000.5, "EUR"), "EUR 12,50": (12.5, "EUR"),
    "€1,000": (1000, "EUR"), "€1.250 million": (1.25e6, "EUR"), "$1.000": (1, "USD"),
    "-$5": (-5, "USD"), "$-5": (-5, "USD"), "−£3,400.50": (-3400.5, "GBP"), "12 bn": (1.2e10, None),
    "1.5e3 t": (1500, "t"), "2.5e-3": (0.0025, None),
    "(1,250.00)": (-1250, None), "($1.5m)": (-1.5e6, "USD"), "(12%)": (-12, "%"),
    "€(3)": (-3, "EUR"), "(5 km)": (5, "km"), "USD 5 million": (5e6, "USD"),
    "€ 1,5 million": (1.5e6, "EUR"), "1.234.567 euros": (1234567, "EUR"), "1.000 km": (1, "km"),
}  # fmt: skip

CHINESE_NUMBERS = {
    "三百二十万": (3.2e6, None), "一亿三千万": (1.3e8, None), "三千万亿": (3e15, None),
    "三点一四": (3.14, None), "1.4亿": (1.4e8, None), "十一个": (11, None), "三个孩子": (3, None),
    "三分之一": (1 / 3, None), "百分之三十": (30, "%"), "30％": (30, "%"),
    "-¥300": (-300, "CNY"), "（1,250.00）": (-1250, None),
    "1.5亿元": (1.5e8, "CNY"), "¥300万": (3e6, "CNY"), "50美元": (50, "USD"),
    "三千多年": (3000, "yr"), "300多万人": (3e6, "people"), "1,400,000人": (1.4e6, "people"),
    "１４００人": (1400, "people"), "约16410平方公里": (16410, "km²"), "2250万千瓦": (2.25e7, "kW"),
    "8848.86米": (8848.86, "m"), "五千米": (5000, "m"), "21.5千克": (21.5, "kg"),
    "三个世纪": (3, "century"), "5000毫安时": (5000, "mAh"),
    "零下40摄氏度": (-40, "°C"), "€ 1.000": (1000, "EUR"), "1.000,50欧元": (1000.5, "EUR"),
}  # fmt: skip

ENGLISH_DATES = {
    "4 July 1934": "1934-07-04", "the 4th of July 1934": "1934-07-04", "July 4, 1934": "1934-07-04",
    "July 1934": "1934-07", "1934": "1934", "in 1934": "1934", "1934-07-04": "1934-07-04",
    "2020-05-17T09:30:00Z": "2020-05-17", "2020-05-17 09:30:00+00:00": "2020-05-17",
    "31.12.1999": "1999-12-31",
    "44 BC": "-0044", "15 March 44 BC": "-0044-03-15", "AD 79": "0079", "the 1930s": "1930/1939",
    "the late 19th century": "1801/1900", "the fifth century BC": "-0500/-0401",
    "1934–1940": "1934/1940", "1934–40": "1934/1940", "from 1999 to 2003": "1999/2003",
    "between 1914 and 1918": "1914/1918", "July 1914 – November 1918": "1914-07/1918-11",
    "4–6 July 1934": "1934-07-04/1934-07-06", "4/5 July 1934": "1934-07-04/1934-07-05",
    "July 4-6, 1934": "1934-07-04/1934-07-06", "since 1999": "1999/..",
    "1999 to the present": "1999/..", "until 2003": "../2003",
}  # fmt: skip

CHINESE_DATES = {
    "1912年6月23日": "1912-06-23", "1912年6月": "1912-06", "1912年": "1912", "1912": "1912",
    "一九一二年": "1912", "一九○二年": "1902", "二〇二〇年十二月一日": "2020-12-01",
    "公元前221年": "-0221", "公元79年": "0079", "20世纪30年代": "1930/1939",
    "1960年代": "1960/1969", "十九世纪末": "1801/1900", "1912年—1954年": "1912/1954",
    "1934-1940年": "1934/1940", "1881年9月25日—1936年10月19日": "1881-09-25/1936-10-19",
    "从1999年到2003年": "1999/2003", "自1999年起": "1999/..", "1999年以来": "1999/..",
    "民国二十三年": "1934", "民國 45 年 6 月 23 日": "1956-06-23", "中华民国元年": "1912",
    "民国17年—民国20年": "1928/1931", "民国三八年": "1949",
    "1999年至今": "1999/..", "2020-05-17 09:30:00": "2020-05-17",
}  # fmt: skip

NO_VALUES = {
    "en": [
        "9.30 o'clock", "9.30 a.m.", "from 9.30 to 11.00 am", "the gate opens at 9.30 on Sundays",
        "Apollo 11", "the Boeing 747-400", "Windows 2000", "iPhone 15", "ISBN 978-3-16-148410-0",
        "Three Mile Island", "one of the founders", "12:30", "4 July", "31 February 1934",
        "04/07/1934", "Python 3.11", "192.168.1.10", "a 3D film", "F-16", "007", "+592",
        "31.13.1999", "a city in England", "12(3)", "(206) 555-0100", "9007199254740993", "",
    ],
    "zh": [
        "于9.30开馆",
        "阿波罗11号",
        "嫦娥五号",
        "第29届",
        "007",
        "三峡",
        "四川",
        "万一",
        "12月17日",
        "波音747",
        "一种",
        "111年2月",
        "民国20年代",
        "民国二二十年",
        "“523项目”",
        "",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "language", "number", "unit"),
    [(t, "en", *v) for t, v in ENGLISH_NUMBERS.items()]
    + [(t, "zh", *v) for t, v in CHINESE_NUMBERS.items()],
)
def test_numbers_and_quantities(text: str, language: str, number: float, unit: str | None) -> None:
    value = parse_value(text, language)
    assert (value.value_type, value.unit) == ("quantity" if unit else "number", unit)
    assert value.number == pytest.approx(number)


@pytest.mark.parametrize(
    ("text", "language", "stated"),
    [(t, "en", d) for t, d in ENGLISH_DATES.items()]
    + [(t, "zh", d) for t, d in CHINESE_DATES.items()],
)
def test_dates_are_as_exact_as_stated(text: str, language: str, stated: str) -> None:
    value = parse_value(text, language)
    assert value.date == stated
    bare = stated.lstrip("-").isdigit()
    assert value.value_type == ("year" if bare else "date")
    if "/" in stated:
        start, end = stated.split("/")
        assert value.valid_from == (None if start == ".." else start)
        assert value.valid_to == (None if end == ".." else end)


@pytest.mark.parametrize(
    ("text", "language"), [(t, language) for language, texts in NO_VALUES.items() for t in texts]
)
def test_names_and_codes_are_text(text: str, language: str) -> None:
    assert parse_value(text, language) == Value("text")


def test_a_quantity_knows_when_it_was_measured() -> None:
    value = parse_value("4.2 million people (2019)", "en")
    assert (value.number, value.unit) == (4.2e6, "people")
    assert value.valid_from == value.valid_to == "2019"


def test_values_are_found_where_they_stand() -> None:
    text = "In 1934 he moved with 3 brothers to a 1,200 m high town. Apollo 11 flew in July 1969."
    found = [(text[start:end], value.value_type) for start, end, value in find_values(text, "en")]
    types = {"1934": "year", "3": "number", "1,200 m": "quantity", "July 1969": "date"}
    assert found == [*types.items()]


def test_chinese_values_are_found_where_they_stand() -> None:
    text = "紫禁城（1406年—1420年）占地约72万平方米，有九千多间房屋，三峡与它无关。"
    found = [text[start:end] for start, end, _ in find_values(text, "zh")]
    assert found == ["1406年—1420年", "72万平方米", "九千多间"]
    [(*_, price)] = find_values("售价为1.000,50欧元，于9.30开馆。", "zh")
    assert (price.number, price.unit) == (1000.5, "EUR")


def test_the_language_decides_what_period_and_comma_mean() -> None:
    found = {lang: find_values("1.000 km, 3,5 km", lang)[0][2].number for lang in ("de", "en")}
    assert found == {"de": 1000, "en": 1}


def test_what_is_counted_tells_a_number_from_a_year() -> None:
    texts = ("Their 1990 census began.", "Their 1990 windows broke.")
    assert [find_values(text, "en")[0][2].value_type for text in texts] == ["year", "number"]


@given(st.dates(date(1000, 1, 1), date(2100, 12, 31)))
def test_dates_survive_every_way_of_writing_them(day: date) -> None:
    month = day.strftime("%B")
    iso = day.isoformat()
    for text in (f"{day.day} {month} {day.year:04d}", f"{month} {day.day}, {day.year:04d}", iso):
        assert parse_value(text, "en").date == iso
    assert parse_value(f"{day.year}年{day.month}月{day.day}日", "zh").date == iso


@given(st.integers(0, 999_999_999_999))
def test_whole_numbers_survive_their_separators(number: int) -> None:
    for language in ("en", "zh"):
        value = parse_value(f"{number:,}", language)
        stated = value.number if value.value_type == "number" else float(value.date or -1)
        assert stated == number


@given(st.integers(1, 9_999_999_999))
def test_chinese_numerals_survive(number: int) -> None:
    assert read_numeral(spelled(number)) == number


def spelled(number: int) -> str:
    """Chinese numerals the long way: 10 is 一十, zeros between are 零."""
    for scale, name in ((10**8, "亿"), (10**4, "万"), (1000, "千"), (100, "百"), (10, "十")):
        if number >= scale:
            rest = number % scale
            gap = "零" if 0 < rest < scale // 10 else ""
            return spelled(number // scale) + name + gap + (spelled(rest) if rest else "")
    return "零一二三四五六七八九"[number]


def test_number_words_out_of_order_are_no_number() -> None:
    assert words_to_number("two three") is None
    assert words_to_number("twenty thirteen") is None


SIGNS = "0123456789.,-–—/:%$£¥ 年月日号万亿千百十一二三点分之公里元世纪代前至到自起第BCADs"
TEXTS = st.text(st.sampled_from(SIGNS) | st.characters(), max_size=60)


@given(TEXTS, st.sampled_from(["en", "zh", "und"]))
@example("公元前年", "zh")
@example("0年", "zh")
@example("三点点", "zh")
@example("9" * 400, "en")
def test_any_text_gives_spans_in_order_inside_it(text: str, language: str) -> None:
    parse_value(text, language)
    last = 0
    for start, end, value in find_values(text, language):
        assert last <= start < end <= len(text)
        assert value.value_type != "text"
        last = end


def test_long_texts_take_linear_time() -> None:
    started = process_time()
    for unit in ("1", "1 ", "from 1999 to ", "1999年", ","):
        for language in ("en", "zh"):
            find_values(unit * (50_000 // len(unit)), language)
    assert process_time() - started < 20


def test_figures_with_an_odd_end_are_refused_at_once() -> None:
    started = process_time()
    assert read_numeral("1" * 23 + "x") is None
    assert process_time() - started < 0.1
