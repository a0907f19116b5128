"""Resolve the subject of a Chinese clause: names, pronouns, possessors, appositions."""

from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.lexicon import (
    ALIAS_RELATIONS,
    AND,
    ATTRIBUTES,
    COPULAS,
    DEMONSTRATIVES,
    KIN,
    KIND_BY_ENDING,
    MEASURES,
    PERSON_ENDINGS,
    PRONOUNS,
    ROLES,
    VAGUE,
)
from tasks.extract.rules.chinese.naming import (
    TypedName,
    described_kind,
    is_name,
    kind_of,
    looks_like_person,
)
from tasks.extract.rules.chinese.passage import GENERIC, PassageReading
from tasks.extract.rules.chinese.tokens import NAME_TAGS, PERSON_TAGS, Token, text_of
from tasks.extract.rules.chinese.whole import (
    is_coordination,
    is_known,
    is_term,
    is_whole,
    split_coordination,
    words,
)
from tasks.text.chinese_words import HAN_OR_ZERO, tag_of

PERSONS = PERSON_TAGS | {"name"}
BEFORE_VALUES = frozenset(["的", "约", "大约", "近", "达", "共", "共计", "超过"])


def resolve_subject(
    passage: PassageReading, clause: Clause, carried: list[TypedName]
) -> tuple[list[TypedName], str] | None:
    """Return the entities that a subject refers to and the attribute that it names: (鲁迅, 夫人).

    The attribute is empty if the subject is the entities themselves. Return None if the subject is
    a pronoun or a common noun that cannot be resolved reliably.
    """
    tokens = clause.subject
    if not tokens:
        return carried, ""
    text = text_of(tokens)
    if text in PRONOUNS or text in GENERIC:
        return _one(passage.pronoun(text))
    relational = text in ALIAS_RELATIONS | ROLES | ATTRIBUTES | MEASURES.keys()
    if relational or (text.endswith(("人口", "面积")) and "的" not in text):
        return carried, text
    if clause.verb in ("是", "为", "有", "设在", "位于", "包括") and _is_common(tokens):
        named = is_known(carried[0]) or carried[0] == passage.title
        if named and carried[0].text and text not in VAGUE:
            return carried, text
    while len(tokens) > 1 and (
        tokens[-1].text in BEFORE_VALUES or tokens[-1].text.removesuffix("约") in MEASURES
    ):
        tokens = tokens[:-1]  # 珠峰|全长|约
    owner, attribute = _possession(passage, tokens, carried)
    if owner is None and clause.verb in COPULAS:
        owner, attribute = _bare_possession(passage, tokens, clause.rest)
    if owner is not None:
        return [owner], attribute
    if tokens[0].tag[0] == "r" and not (
        tokens[0].text in PRONOUNS and text_of(tokens[1:2]) == "的"
    ):
        return _one(_demonstrated(passage, text))
    parts = split_coordination(tokens)
    if len(parts) == 1 and is_coordination(parts[0]):
        return None
    titled = any(text_of(part) == passage.title.text for part in parts)
    if not all(is_whole(part) if titled else is_term(part, passage.title) for part in parts):
        return None
    return [pick_name(passage, part) for part in parts], ""


def _is_common(tokens: list[Token]) -> bool:
    """Return whether a subject is a common noun that needs a possessor: 官方语言, 主要支流."""
    return (
        sum(len(token.text) for token in tokens) <= 6
        and all(token.tag in ("n", "b", "a", "vn", "m") for token in tokens)
        and tokens[-1].tag == "n"
        and bool(tag_of(tokens[-1].text))  # 壹岐岛 is a name
        and not (tokens[-1].text.endswith(PERSON_ENDINGS) and tokens[-1].text != "人物")
    )


def _demonstrated(passage: PassageReading, text: str) -> TypedName | None:
    """Return the antecedent of 该铁路 or 这座城市: a name of the same ending or kind, or None."""
    if text[0] not in DEMONSTRATIVES:
        return None
    noun = text.lstrip("该这那个座条部所项种位本此家")
    for name in (passage.object, passage.topic, passage.title, passage.thing):
        if noun and name is not None and name.text.endswith(noun[-1]):
            return name
    kind = described_kind(noun) if noun else "unknown"
    last = passage.person if kind == "person" else passage.topic
    return last if last is not None and last.kind == kind != "unknown" else None


def _one(name: TypedName | None) -> tuple[list[TypedName], str] | None:
    return None if name is None else ([name], "")


def _possession(
    passage: PassageReading, tokens: list[Token], carried: list[TypedName]
) -> tuple[TypedName | None, str]:
    """Return the possessor and the attribute of A的B or 其B; None and "" for other phrases."""
    if tokens[0].text == "其" and len(tokens) > 1:
        return carried[0], text_of(tokens[1:])
    places = [i for i, token in enumerate(tokens) if token.text == "的"]
    if len(places) != 1 or places[0] in (0, len(tokens) - 1):
        return None, ""
    before, after = tokens[: places[0]], tokens[places[0] + 1 :]
    if len(after) > 2 or any(t.tag in ("work", "name", "nr", "quote", "time") for t in after):
        return None, ""
    if after[-1].tag in NAME_TAGS - {"nr"}:
        return None, ""  # 李娜的弟弟|李强, but 公司的|北京|总部
    attribute = text_of(after)
    if before[0].text in PRONOUNS:
        return passage.pronoun(before[0].text), attribute
    if before[0].text[0] in DEMONSTRATIVES:
        return _demonstrated(passage, text_of(before)), attribute
    if is_name(before):
        return passage.name_phrase(before), attribute
    return None, ""


def _bare_possession(
    passage: PassageReading, tokens: list[Token], value: list[Token]
) -> tuple[TypedName | None, str]:
    """Return the possessor and the role or label of AB without 的: 海河公司|前身.

    A role must be held by a name, since it may also end one: 青山总部是一家公司.
    """
    *before, last = tokens
    held = last.text not in ROLES or (bool(value) and is_name(value))
    relational = len(last.text) > 1 and last.text in ALIAS_RELATIONS | ROLES
    if relational and held and before and is_name(before):
        return passage.name_phrase(before), last.text
    return None, ""


def pick_name(passage: PassageReading, part: list[Token]) -> TypedName:
    """Return the name in a phrase; words before a person or a work describe it (作家老舍)."""
    places = [i for i, token in enumerate(part) if token.text == "的"]
    last = part[places[-1] + 1 :] if places else part
    if not last:
        return passage.name_phrase(part)
    owner = part[: places[-1]] if places else []
    name = _described_name(passage, last, owner)
    if name is None:
        # 美国的阿波罗11号 is 阿波罗11号, but 中国的首都 stays whole.
        return passage.name_phrase(last if places and is_name(last) else part)
    if places and name.kind == "work" and len(last) > 1:
        known = _meant(passage, owner)
        if known or is_name(owner):
            span, owned = (part[0].start, part[-1].end), words(last[:-1])
            passage.triple("owned_work", known or passage.name_phrase(owner), owned, name, span)
    return name


def _described_name(
    passage: PassageReading, part: list[Token], owner: list[Token]
) -> TypedName | None:
    """Return the person or work that a phrase ends with, or None; add a triple for kinship."""
    last = part[-1]
    if len(part) < 2:
        return None
    theirs = not owner or owner[0].text in PRONOUNS
    if part[0].text in ROLES - KIN and passage.topic and theirs:
        name = passage.name_phrase(part[1:])
        passage.triple("kin", passage.topic, part[0].text, name, (part[0].start, last.end))
        return name
    before = part[:-1]
    role = before[-1].text.endswith(PERSON_ENDINGS[:-1]) or before[-1].text in KIN
    tagged = before[-1].text in KIN or last.tag in ("nr", "nrt", "nrfg")
    person = last.tag == "name" or (tagged and looks_like_person(last.text, beside_role=role))
    plain = all(token.nominal or token.text in ("的", *AND) for token in before)
    if not plain or (last.tag != "work" and not (person and role)):
        return None
    kind = "work" if last.tag == "work" else "person"
    name = TypedName(passage.name_phrase([last]).text, kind)
    span = (before[0].start, last.end)
    if before[-1].text in KIN:
        whose = passage.topic
        if owner:
            whose = _meant(passage, owner) or passage.name_phrase(owner)
        if whose is not None and whose.text != name.text:
            passage.triple("kin", whose, before[-1].text, name, span)
    return name


def read_offices(passage: PassageReading, tokens: list[Token]) -> None:
    """Add the facts of appositions before names: 甲公司总裁|李安国, 小说|《春秋》.

    They hold whatever else the sentence states.
    """
    for position, token in enumerate(tokens):
        before = _office(tokens, position)
        if not before:
            continue
        kind = "work" if token.tag == "work" else "person"
        name = TypedName(passage.name_phrase([token]).text, kind)
        owner = before[:-2]
        owned = text_of(before[-2:-1]) == "的" and (is_name(owner) or kind_of(owner) != "unknown")
        office = words(owner) + before[-1].text if owned else words(before)
        passage.triple("apposition", name, "是", office, (before[0].start, token.end))
        if len(office) > 3:
            where = (before[0].start, before[-1].end)
            passage.description(name, words(before), where, "apposition")


def _office(tokens: list[Token], end: int) -> list[Token]:
    """Return the apposition before the person or work at `end`; empty if it is uncertain."""
    token, start = tokens[end], end
    while start and tokens[start - 1].text not in AND and _says_who(tokens[start - 1]):
        start -= 1
    if start and tokens[start - 1].tag[0] in "vp":  # 出席|峰会的|老挝副主席
        start += max((i + 1 for i, t in enumerate(tokens[start:end]) if t.text == "的"), default=0)
    while start < end and (tokens[start].text in ("的", "前") or tokens[start].tag == "t"):
        start += 1
    before, last = tokens[start:end], tokens[start - 1 : start] if start else []
    whole = is_whole([t for t in before if t.text != "驻"])
    if not whole or sum(t.text == "的" for t in before) > 1:
        return []
    if last and last[0].text in AND and last[0].text != "、":
        if tokens[start - 2].tag not in PERSONS and before[0].tag not in ("ns", "name"):
            return []  # 发展与|新闻部部长
    elif last and not (last[0].text in AND or last[0].tag[0] in "xpcvdu" or last[0].tag == "time"):
        return []
    if last and last[0].tag == "d" and start > 1 and tokens[start - 2].tag in NAME_TAGS:
        return []  # 白水|大同|中学的校长: the name is cut
    role = before[-1]
    if token.tag == "work":
        known = role.tag == "n" and tag_of(role.text) and role.text not in ROLES
        # 第三次会议《…的决定》, 公安部《…规范》: the meeting and the ministry made them.
        known = known and KIND_BY_ENDING.get(role.text, "work") in ("work", "thing")
        return before if known else []
    office = role.text.endswith(PERSON_ENDINGS[:-1]) and role.text not in KIN | {"国家"}
    says_more = sum(t.nominal and t.tag not in "abmq" for t in before) > 1
    office = office and (says_more or role.text.endswith(("学家", "作家", "诗人")))
    after = tokens[end + 1 : end + 2]
    unknown = bool(after) and HAN_OR_ZERO.match(after[0].text) and not tag_of(after[0].text)
    cut = unknown or (bool(after) and after[0].tag in PERSONS | {"zg", "g", "ng"})
    person = token.tag in PERSONS and looks_like_person(token.text, beside_role=True)
    return before if office and person and not cut else []


def _says_who(token: Token) -> bool:
    """Return whether a token may be part of an apposition before a name."""
    noun = token.nominal and token.tag not in ("time", "number", "f")
    return noun or token.text in ("的", "驻", "前", "原")


def _meant(passage: PassageReading, owner: list[Token]) -> TypedName | None:
    """Return the entity that a possessor refers to if it begins with a pronoun, else None."""
    return passage.pronoun(owner[0].text) if owner[0].text in PRONOUNS else None
