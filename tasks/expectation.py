"""What kind of answer a question asks for, told from its words."""

import re
from dataclasses import dataclass
from typing import Literal

from tasks.segment import is_chinese
from tasks.stems import stem

Form = Literal["name", "date", "number", "yes"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """The shape of the answer; `kinds` of entity that fit, empty if any may; `noun` it must be."""

    form: Form
    kinds: frozenset[str] = frozenset()
    noun: str = ""


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
_KIND_OF = {stem(noun): kind for kind, nouns in _NOUN_KINDS.items() for noun in nouns.split()}
_DATE_NOUNS = {"year", "date", "day", "month", "decade", "century", "time"}
_NUMBER_NOUNS = frozenset(
    [
        "number",
        "population",
        "height",
        "length",
        "width",
        "depth",
        "weight",
        "mass",
        "area",
        "size",
        "age",
        "distance",
        "speed",
        "price",
        "temperature",
        "diameter",
        "percentage",
        "share",
    ]
)
_MEASURES = frozenset(
    [
        "many",
        "much",
        "long",
        "wide",
        "tall",
        "high",
        "deep",
        "far",
        "old",
        "big",
        "large",
        "heavy",
        "fast",
        "hot",
    ]
)
_ASKS_YES = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.I
)
_WH = re.compile(r"\b(who|whom|whose|when|where|which|what|how|why)\b", re.I)
_CHINESE = (
    ("date", "", re.compile("什么时候|何时|哪一?年|哪一?天|几年|几月|哪个?月|年份|日期")),
    ("number", "", re.compile("多少|几[个位座条所本次岁人公米]|多[高长大远深重宽]")),
    ("name", "person", re.compile("谁|哪位|哪一位|什么人|哪个人")),
    ("name", "place", re.compile("哪里|哪儿|何处|何地|什么地方|哪座?个?(?:城市|国家|省|市|县|地)")),
    ("name", "organisation", re.compile("哪所|哪家|哪个(?:公司|大学|学校|机构)")),
    ("yes", "", re.compile("吗[？?]?$|是否|是不是|有没有|相同|同一")),
)


def expect(question: str) -> Expectation:
    """Return what kind of answer a question in English or Chinese asks for."""
    question = question.strip()
    if is_chinese(question):
        for form, kind, pattern in _CHINESE:
            if pattern.search(question):
                return Expectation(form, frozenset({kind} if kind else ()))  # type: ignore[arg-type]
        return Expectation("name")
    found = _WH.search(question)
    if _ASKS_YES.match(question) and (not found or found.start() > 0):
        return Expectation("yes")
    if not found:
        return Expectation("name")
    return _by_wh_word(found[1].lower(), re.findall(r"[\w-]+", question[found.end() :].lower()))


def _by_wh_word(wh: str, after: list[str]) -> Expectation:
    if wh in ("who", "whom", "whose"):
        return Expectation("name", _PERSON)
    if wh == "where":
        return Expectation("name", _PLACE)
    if wh == "when":
        return Expectation("date")
    if wh == "how" and after[:1] and after[0] in _MEASURES:
        counted = after[1] if after[0] == "many" and len(after) > 1 else ""
        return Expectation("number", noun=stem(counted) if counted else "")
    return _by_noun(after)


def _by_noun(after: list[str]) -> Expectation:
    """Go by the noun asked for: `which year`, `what is the capital of …`, `what company …`."""
    words = after[2:] if after[:2] in (["is", "the"], ["was", "the"], ["are", "the"]) else after
    for word in words[:4]:
        if word in ("of", "is", "was", "did", "does", "do", "has", "have", "that"):
            break
        if word in _DATE_NOUNS:
            return Expectation("date")
        if word in _NUMBER_NOUNS:
            return Expectation("number")
        if stem(word) in _KIND_OF:
            kind = _KIND_OF[stem(word)]
            return Expectation("name", frozenset({kind}), stem(word))
    return Expectation("name")
