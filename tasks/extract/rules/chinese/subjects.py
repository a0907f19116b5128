"""Whom a clause is about: names, pronouns, possessors, what is described in passing."""

from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.lexicon import (
    ALIAS_RELATIONS,
    AND,
    ATTRIBUTES,
    KIN,
    MEASURES,
    PERSON_ENDINGS,
    PRONOUNS,
    ROLES,
    VAGUE,
)
from tasks.extract.rules.chinese.naming import TypedName, is_name, looks_like_person
from tasks.extract.rules.chinese.passage import GENERIC, PassageReading
from tasks.extract.rules.chinese.statement import is_coordination, split_coordination, words
from tasks.extract.rules.chinese.tokens import SegmentedSentence, Token, text_of
from tasks.extract.rules.chinese.whole import is_known, is_person, is_term, is_whole
from tasks.text.chinese_words import tag_of

HE = ("他", "她")
BEFORE_VALUES = frozenset(["的", "约", "大约", "近", "达", "共", "共计", "超过"])


def resolve_subject(
    passage: PassageReading, clause: Clause, carried: list[TypedName]
) -> tuple[list[TypedName], str] | None:
    """Whom a clause is about and, if it is about something of theirs, what: (鲁迅, 夫人).

    None if the subject is a pronoun or a common noun that cannot be told for sure.
    """
    tokens = clause.subject
    if not tokens:
        return carried, ""
    text = text_of(tokens)
    if text in PRONOUNS or text in GENERIC:
        return _one(passage.pronoun(text))
    relational = text in ALIAS_RELATIONS | ROLES | ATTRIBUTES | MEASURES.keys()
    if relational or text.endswith(("人口", "面积")):
        return carried, text
    if clause.verb in ("是", "为", "有", "设在", "位于", "包括") and _is_common(tokens):
        named = is_known(carried[0]) or carried[0] == passage.title
        if named and carried[0].text and text not in VAGUE:
            return carried, text
    while len(tokens) > 1 and _leads_to_value(tokens[-1].text):
        tokens = tokens[:-1]
    if text_of(tokens) in PRONOUNS:
        return _one(passage.pronoun(text_of(tokens)))
    owner, attribute = _possession(passage, tokens, carried)
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


def _leads_to_value(word: str) -> bool:
    """Whether a word stands between a subject and its measure: 全长, 约, 全长约."""
    return word in BEFORE_VALUES or word.removesuffix("约") in MEASURES


def _is_common(tokens: list[Token]) -> bool:
    """Whether a subject is a common noun that needs an owner: 官方语言, 主要支流."""
    return (
        sum(len(token.text) for token in tokens) <= 6
        and all(token.tag in ("n", "b", "a", "vn", "m") for token in tokens)
        and tokens[-1].tag == "n"
        and bool(tag_of(tokens[-1].text))  # 壹岐岛 is a name
        and not (tokens[-1].text.endswith(PERSON_ENDINGS) and tokens[-1].text != "人物")
    )


def _demonstrated(passage: PassageReading, text: str) -> TypedName | None:
    """该铁路, 这座城市: the last name that ends like it."""
    if text[0] not in "该这那此本":
        return None
    noun = text.lstrip("该这那个座条部所项种位本此家")
    for name in (passage.object, passage.topic, passage.title, passage.thing):
        if noun and name is not None and name.text.endswith(noun[-1]):
            return name
    return None


def _one(name: TypedName | None) -> tuple[list[TypedName], str] | None:
    return None if name is None else ([name], "")


def _possession(
    passage: PassageReading, tokens: list[Token], carried: list[TypedName]
) -> tuple[TypedName | None, str]:
    """A的B and 其B: who has it, and what it is."""
    if tokens[0].text == "其" and len(tokens) > 1:
        return carried[0], text_of(tokens[1:])
    places = [i for i, token in enumerate(tokens) if token.text == "的"]
    if len(places) != 1 or places[0] in (0, len(tokens) - 1):
        return None, ""
    before, after = tokens[: places[0]], tokens[places[0] + 1 :]
    if len(after) > 2 or any(t.tag in ("work", "name", "nr", "quote", "time") for t in after):
        return None, ""
    attribute = text_of(after)
    if before[0].text in PRONOUNS:
        return passage.pronoun(before[0].text), attribute
    if is_name(before):
        return passage.name_phrase(before), attribute
    return None, ""


def pick_name(passage: PassageReading, part: list[Token]) -> TypedName:
    """The name in a phrase; what stands before a person or a work describes it (作家老舍)."""
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
    """The person or work that a phrase ends with, its description noted; None if it does not."""
    last = part[-1]
    if len(part) < 2:
        return None
    if part[0].text in ROLES - KIN and passage.topic and all(t.text != "的" for t in part):
        name = passage.name_phrase(part[1:])
        passage.triple("kin", passage.topic, part[0].text, name, (part[0].start, last.end))
        return name
    before = part[:-1]
    described = words(before)
    role = before[-1].text.endswith(PERSON_ENDINGS[:-1]) or before[-1].text in KIN
    tagged = before[-1].text in KIN or last.tag in ("nr", "nrt", "nrfg")
    person = last.tag == "name" or (tagged and looks_like_person(last.text))
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
    else:
        if owner and is_name(owner):
            described = text_of(owner) + described  # 小米的CEO雷军
        passage.triple("apposition", name, "是", described, span)
        where = (before[0].start, before[-1].end)
        if len(described) > 3:
            passage.description(name, words(before), where, "apposition")
    return name


def _meant(passage: PassageReading, owner: list[Token]) -> TypedName | None:
    """Whom an owner means that begins with a pronoun."""
    return passage.pronoun(owner[0].text) if owner[0].text in PRONOUNS else None


def last_person(passage: PassageReading, sentence: SegmentedSentence) -> TypedName | None:
    """The person whom the sentence before is about, if this one goes on in its paragraph."""
    between = passage.text[passage.last_end : sentence.start]
    return passage.last if between.strip(" \u3000") in ("", "\n") else None


def next_person(
    sentence: SegmentedSentence, names: list[TypedName], last: TypedName | None
) -> TypedName | None:
    """Whom the next sentence may call 他, if this one has the subjects `names`.

    A sentence with one person among its subjects is about that one; one that names nobody goes on
    about whom the one before was about (`last`); any other leaves nobody.
    """
    people = [name for name in names if is_person(name)]
    if people:
        several = any(name.text != people[0].text for name in people)
        return None if several or any(name.text in HE for name in names) else people[0]
    named = {t.text for t in sentence.tokens if t.tag in ("nr", "nrt", "nrfg")}
    return last if last is not None and named <= {last.text} else None


def pointed_at(
    last: TypedName | None, names: list[TypedName], subject: list[Token]
) -> tuple[list[TypedName], str] | None:
    """Whom 他 means, if no other person was named since."""
    if last is None or text_of(subject) not in HE or any(map(is_person, names)):
        return None
    return [last], ""
