"""What the answers to a question are: people, places, times, numbers, or other things.

The graph's own kinds of entities decide first, then the form of the answers (dates, numbers), then
the name of the relation: by the vocabulary of common relations, by the noun that it asks for, and
in Chinese by its last character.
"""

import re
from collections.abc import Sequence
from functools import cache

from tasks.experts.verbalize.phrasing import AnswerKind, relation_words
from tasks.text.expected_answer import expected_answer, may_have_form
from tasks.text.languages import is_chinese
from tasks.text.relations.vocabulary import kinds_of_tails
from tasks.text.values.find import parse_value

_OF_VALUE: dict[str, AnswerKind] = {
    "date": "time",
    "year": "time",
    "number": "number",
    "quantity": "number",
}
# The last character of Chinese relations, as in 创办者, 主持人, 演员, 作曲家, 校长.
_CHINESE_NOUNS: tuple[tuple[AnswerKind, re.Pattern[str]], ...] = (
    ("person", re.compile(r"(?:[者员师手演唱剧]|(?<![国独])家|(?<![全身总周])长|(?<!法)人)$")),
    ("place", re.compile(r"(?:[省市县州]|地点|地址|地区|位置|产地|[生在源]地|总部|国家|城市)$")),
    ("time", re.compile(r"(?:时间|日期|时期|时代|年代|年份|生日)$")),
    ("number", re.compile(r"(?:[数量率重径]|人口|面积|票房|[长高宽深]度?|价格?)$")),
)


def kind_of_answers(
    relation: str, tails: Sequence[str], kinds: Sequence[str | None], language: str
) -> AnswerKind:
    """Return what the tails of a head and relation are; `kinds` are those of their entities."""
    known = {kind for kind in kinds if kind not in (None, "unknown")}
    if known == {"person"}:
        return "person"
    if known == {"place"}:
        return "place"
    values = {_OF_VALUE.get(parse_value(tail, language).value_type, "thing") for tail in tails}
    if len(values) == 1 and (kind := values.pop()) != "thing":
        return kind
    expected = "thing" if known else _kind_of_relation(relation)
    if expected == "time":
        return expected if all(may_have_form(tail, "date") for tail in tails) else "thing"
    if expected == "number":
        return expected if all(may_have_form(tail, "number") for tail in tails) else "thing"
    return expected


@cache
def _kind_of_relation(relation: str) -> AnswerKind:
    """Return the kind of tails that a relation's name leads one to expect."""
    words = relation_words(relation)
    listed = kinds_of_tails(words)
    if "person" in listed:
        return "person"
    if listed == {"place"}:
        return "place"
    if is_chinese(words):
        return next((kind for kind, nouns in _CHINESE_NOUNS if nouns.search(words)), "thing")
    expected = expected_answer(f"X: {words}?")
    if expected.form in ("date", "number"):
        return "time" if expected.form == "date" else "number"
    if "person" in expected.kinds:
        return "person"
    return "place" if "place" in expected.kinds else "thing"
