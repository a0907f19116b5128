"""Predict the form of answer that a question asks for from its words."""

import re
from dataclasses import dataclass
from typing import Literal

from tasks.text.chinese_words import segmenter, simplified, tag_of
from tasks.text.function_words import AUXILIARIES, QUESTION_WORDS, any_of
from tasks.text.languages import HAN, is_chinese, word_set
from tasks.text.stems import english_stem, stem
from tasks.text.values.units import chinese_units

Form = Literal["name", "date", "number", "yes"]


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The form of the answer; empty `kinds` or `units` allow any."""

    form: Form
    kinds: frozenset[str] = frozenset()  # of entities, for a name
    noun: str = ""  # the type of the answer, or what is counted
    units: frozenset[str] = frozenset()  # for a number


_PERSON = frozenset({"person", "organisation"})
_PLACE = frozenset({"place"})
_NOUN_KINDS = {
    "place": "country city town village place river nation state province island continent capital "
    "mountain lake sea ocean county region district street port harbour birthplace",
    "person": "person man woman author writer actor actress singer composer director player king "
    "queen president physicist chemist astronomer scientist novelist poet painter founder father "
    "mother son daughter wife husband child sibling brother sister character leader teacher",
    "organisation": "company university college school organisation organization band club team "
    "party agency institution",
}
# By the noun's own stem: `directed` belongs to the same word family as `director` but is no person.
_KIND_OF = {
    english_stem(noun): kind for kind, nouns in _NOUN_KINDS.items() for noun in nouns.split()
}
_DATE_NOUNS = word_set("year date day month decade century time")

_LENGTHS = word_set("mm cm m km in ft yd mi")
_TIMES = word_set("s min h day week month yr")
_MASSES = word_set("mg g kg t lb oz")
_AREAS = word_set("m² km² ha acre ft² mi²")
_SPEEDS = word_set("km/h m/s km/s mi/h mph kn")
_TEMPERATURES = word_set("°C °F K")
_UNITS_OF_MEASURE = {
    **dict.fromkeys(("wide", "tall", "high", "deep", "far"), _LENGTHS),
    "long": _LENGTHS | _TIMES,
    "heavy": _MASSES,
    "old": _TIMES,
    "fast": _SPEEDS,
    "hot": _TEMPERATURES,
    "cold": _TEMPERATURES,
    **dict.fromkeys(("many", "much", "big", "large"), frozenset()),
}
_UNITS_OF_NOUN = {
    **dict.fromkeys(("height", "width", "depth", "diameter", "distance", "altitude"), _LENGTHS),
    "length": _LENGTHS | _TIMES,
    "weight": _MASSES,
    "mass": _MASSES,
    "area": _AREAS,
    "speed": _SPEEDS,
    "temperature": _TEMPERATURES,
    **dict.fromkeys(("number", "population", "size", "age", "price", "percentage"), frozenset()),
}
_WH = re.compile(rf"\b({any_of(QUESTION_WORDS)})\b", re.I)
# May is a month and a name, too: neither is followed by a noun phrase.
_ASKS_YES = re.compile(
    rf"(?:{any_of(AUXILIARIES - {'may'})})\b"
    rf"|may\s+(?!(?:{any_of(AUXILIARIES)})\b)(?:(?-i:[a-z])|[A-Z](?!.*(?::|{_WH.pattern})))",
    re.I,
)
# `Tidewater: place of birth?`, as relations are asked for
_RELATION = re.compile(r": ([a-z][a-z ]*)(?: \([^()]*\))?\?$", re.I)
# What any number or date contains at least one of, however it is written; 万元 is a unit.
_NUMBER_WORD = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundreds?|thousands?|(?:m|b|tr)illions?|half|once|twice|thrice|no|none|dozens?|single"
    r"|quarter|third)\b|[零〇一二两三四五六七八九十半無无]|(?<=[^\W百千万亿])[百千万亿]",
    re.I,
)
_TIME_WORD = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun|birth|to|yester)days?|spring|summer|autumn|fall|winter|midnight|noon|morning|afternoon|evening|night"
    r"|annual\w*|(?:dai|week|month|quarter|year)ly|now|today|christmas|easter"
    r"|(?:year|month|week|day|decade|centur|age|era|period|epoch|dynast|war|reign)(?:y|s|ies)?)\b"
    r"|\d|[零〇一二两三四五六七八九十]{2}|民国|^[早晚]?[商秦汉晋隋唐宋元明清]{1,2}$",
    re.I,
)
# The last characters of Chinese words for times; in names and verbs they mean something else.
_TIME_ENDING = re.compile("(?:[年月日天周旬季时节代朝纪世期春夏秋冬夜晨点前后初末]|[期年夜]间)$")
_TIMELESS_TAGS = ("nr", "ns", "v")

_CHINESE_UNIT = re.compile(r"(?:多少|几)(?:个)?(" + "|".join(map(re.escape, chinese_units())) + ")")
_CHINESE_LENGTH = re.compile("多[高长宽深远]|身高|海拔|高度|长度|宽度|深度|距离|口径|直径")
_CHINESE_FORMS: tuple[tuple[Form, str, re.Pattern[str]], ...] = (
    ("yes", "", re.compile("吗[？?]?$|是否|是不是|有没有|相同|同一")),
    (
        "date",
        "",
        re.compile(
            "什么时候|何时|哪[一几]?[年天]|[在于]几年|是几年(?=[^前后的期制内以？?])|几月|哪个?月"
            "|年份|日期"
        ),
    ),
    ("number", "", re.compile("多少|几[个位座条所本次岁人公米年天]|多[高长大远深重宽]")),
    ("name", "person", re.compile("谁|哪位|哪一位|什么人|哪个人")),
    (
        "name",
        "place",
        re.compile("哪里|哪儿|何处|何地|什么地方|哪[座个一]*(?:城市|国家|省|市|县|地)"),
    ),
    ("name", "organisation", re.compile("哪所|哪家|哪个(?:公司|大学|学校|机构)")),
)


def expected_answer(question: str) -> ExpectedAnswer:
    """Return the form of answer that a question in English or Chinese asks for."""
    question = question.strip()
    if is_chinese(question):
        return _chinese_answer(question)
    if _ASKS_YES.match(question):
        return ExpectedAnswer("yes")
    word = asking_word(question)
    if not word:
        relation = _RELATION.search(question)
        return _by_noun(relation[1].lower().split()) if relation else ExpectedAnswer("name")
    return _by_wh_word(word[1].lower(), re.findall(r"[\w-]+", question[word.end() :].lower()))


def may_have_form(text: str, form: Form) -> bool:
    """Return whether a text may be a number or a date, if one of these is the form."""
    if form == "number" or (form == "date" and not HAN.search(text)):
        return bool(_NUMBER_WORD.search(text) or (form == "date" and _TIME_WORD.search(text)))
    if form == "date":
        plain = simplified(text)
        return bool(_TIME_WORD.search(plain)) or any(map(_is_time, segmenter().cut(plain)))
    return True


def _is_time(word: str) -> bool:
    """Return whether a Chinese word may be, or end, words for a time."""
    tag = tag_of(word)
    return tag == "t" or bool(_TIME_ENDING.search(word) and not tag.startswith(_TIMELESS_TAGS))


def asking_word(question: str) -> re.Match[str] | None:
    """Return the question word: the first if it is near the start, else the last of the others.

    A later `who`, as in `the man who …`, may be a relative pronoun, so `what`, `which` and `how`
    are preferred; without them the last `who` counts, as in `… was founded by who?`.
    """
    matches = list(_WH.finditer(question))
    if not matches or len(question[: matches[0].start()].split()) <= 2:
        return matches[0] if matches else None
    certain = [match for match in matches if match[1].lower() in ("what", "which", "how")]
    return (certain or matches)[-1]


def _chinese_answer(question: str) -> ExpectedAnswer:
    question = simplified(question)
    for form, kind, pattern in _CHINESE_FORMS:
        if pattern.search(question):
            unit = _CHINESE_UNIT.search(question)
            units = frozenset({chinese_units()[unit[1]]}) if unit else frozenset[str]()
            if not units and _CHINESE_LENGTH.search(question):
                units = _LENGTHS
            return ExpectedAnswer(form, frozenset({kind} if kind else ()), units=units)
    return ExpectedAnswer("name")


def _by_wh_word(wh: str, after: list[str]) -> ExpectedAnswer:
    if wh in ("who", "whom", "whose"):
        return ExpectedAnswer("name", _PERSON)
    if wh == "where":
        return ExpectedAnswer("name", _PLACE)
    if wh == "when":
        return ExpectedAnswer("date")
    if wh == "how" and after[:1] and after[0] in _UNITS_OF_MEASURE:
        counted = after[1] if after[0] == "many" and len(after) > 1 else ""
        units = _UNITS_OF_MEASURE[after[0]]
        return ExpectedAnswer("number", noun=stem(counted) if counted else "", units=units)
    return _by_noun(after)


def _by_noun(after: list[str]) -> ExpectedAnswer:
    """Decide by the noun asked for: `which year`, `what is the capital of …`, `what company …`."""
    copula = after[:1] and after[0] in ("is", "was", "are", "were")
    for word in after[1:5] if copula else after[:4]:
        if word in _DATE_NOUNS:
            return ExpectedAnswer("date")
        if word in _UNITS_OF_NOUN:
            return ExpectedAnswer("number", units=_UNITS_OF_NOUN[word])
        if english_stem(word) in _KIND_OF:
            return ExpectedAnswer("name", frozenset({_KIND_OF[english_stem(word)]}), stem(word))
        if word in ("of", "is", "was", "are", "were", "did", "does", "do", "has", "have", "that"):
            break
    return ExpectedAnswer("name")
