"""Triples, aliases and descriptions from the clauses of a Chinese sentence."""

from dataclasses import dataclass, field

from tasks.rules.chinese.asides import read_asides
from tasks.rules.chinese.clauses import Clause, parse_clause, split_clauses, split_coordination
from tasks.rules.chinese.lexicon import (
    ALIAS_RELATIONS,
    COPULAS,
    CREATION,
    EMPTY_VERBS,
    KIN,
    MEASURES,
    NAMING,
    PERSON_ENDINGS,
    PRONOUNS,
    ROLES,
)
from tasks.rules.chinese.naming import Name, is_name, is_native, looks_like_person
from tasks.rules.chinese.passage import GENERIC, Passage
from tasks.rules.chinese.predicates import (
    Statement,
    state_copula,
    state_measure,
    state_passive,
    state_verb,
    words,
)
from tasks.rules.chinese.tokens import Sentence, Token

# Verbs by which an attribute without a copula gets its value: 总部设在深圳.
OWNING = ("有", "包括", "设在", "位于", "设于")


@dataclass(slots=True)
class Thread:
    """What one sentence carries from clause to clause."""

    sentence: Sentence
    subjects: list[Name]
    times: list[Token] = field(default_factory=list)
    met: bool = False  # a person: the first one is who the next sentence calls 他


def read_sentence(passage: Passage, sentence: Sentence) -> None:
    """Add the facts of one sentence, clause by clause, the subject carried along."""
    clauses, asides = split_clauses(sentence.tokens)
    read_asides(passage, asides, sentence)
    thread = Thread(sentence, [passage.topic or passage.title])
    for number, tokens in enumerate(clauses):
        if number and tokens[0].text in ALIAS_RELATIONS and len(tokens) > 1:
            made = passage.verb in CREATION or passage.verb == "组成"
            named = passage.object if made and passage.object else thread.subjects[0]
            state_other_name(passage, named, tokens, (sentence.start, tokens[-1].end))
        else:
            _read_tokens(passage, thread, tokens, first=number == 0)


def _read_tokens(passage: Passage, thread: Thread, tokens: list[Token], *, first: bool) -> None:
    """One clause: find its parts and its subject, add its facts, hand its subject on."""
    clause = parse_clause(tokens)
    clause.times = clause.times or thread.times
    thread.times = clause.times if not (clause.verb or clause.subject) else []
    whole = (thread.sentence.start, clause.end)
    if clause.subject and not clause.verb and not clause.second:
        if clause.subject[0].tag in ("number", "m"):
            return
        if not first and not any(token.tag == "number" for token in tokens):
            state_nominal(passage, clause, thread.subjects[0], whole)
            return
    own = resolve_subject(passage, clause, _carried(passage, clause, thread.subjects))
    if own is None:
        return
    named, attribute = own
    leans = not clause.subject or (not first and clause.subject[0].text in PRONOUNS)
    if not clause.negated:
        span = whole if leans else (clause.start, clause.end)
        read_clause(passage, Statement(clause, named, attribute, span, carried=not clause.subject))
    passage.verb = clause.verb
    if not (attribute or clause.temporal or (not first and is_part(clause, named[0]))):
        _hand_on(passage, thread, clause, named)


def _hand_on(passage: Passage, thread: Thread, clause: Clause, named: list[Name]) -> None:
    """Make a clause's subject that of the clauses and sentences after it."""
    thread.subjects = named
    if clause.subject and is_name(clause.subject):
        passage.subjects.setdefault(thread.sentence.start, named[0])
    theirs = len(clause.subject) > 1 and clause.subject[0].text in PRONOUNS
    if not theirs and speaks(passage, clause, named[0], thread.met):
        thread.met = thread.met or named[0].kind == "person"
        passage.spoke_of(named[0])


def speaks(passage: Passage, clause: Clause, name: Name, met: bool) -> bool:
    """Whether later pronouns may mean this subject."""
    if name.kind == "person" and name != passage.title:
        return not met
    return name == passage.title or not clause.subject or is_name(clause.subject)


def is_part(clause: Clause, name: Name) -> bool:
    """Whether a subject is a thing at hand (大坝工程) that the next clause will not be about."""
    return (
        name.kind in ("unknown", "thing") and bool(clause.subject) and not is_name(clause.subject)
    )


def _carried(passage: Passage, clause: Clause, subjects: list[Name]) -> list[Name]:
    """The subject of a clause that has none; 被称为 and 即 speak of what was just introduced."""
    if clause.subject:
        return subjects
    if clause.verb in ("即", "即是") and passage.object is not None:
        return [passage.object]
    naming = clause.verb in NAMING or clause.verb in ALIAS_RELATIONS
    return [passage.introduced] if naming and passage.introduced is not None else subjects


def resolve_subject(
    passage: Passage, clause: Clause, carried: list[Name]
) -> tuple[list[Name], str] | None:
    """Whom a clause is about and, if it is about something of theirs, what: (鲁迅, 夫人).

    None if the subject is a pronoun or a common noun that cannot be told for sure.
    """
    tokens = clause.subject
    if not tokens:
        return carried, ""
    text = "".join(token.text for token in tokens)
    if tokens[0].text in PRONOUNS and len(tokens) == 1:
        return _one(passage.pronoun(text))
    if text in GENERIC:
        return _one(passage.pronoun(text) or Name(text, "unknown"))
    if (
        text in ALIAS_RELATIONS
        or text in ROLES
        or text in MEASURES
        or text.endswith(("人口", "面积"))
    ):
        return carried, text
    if clause.verb in ("是", "为", "有", "设在", "位于", "包括") and _is_common(tokens):
        return carried, text
    while len(tokens) > 1 and (tokens[-1].text in MEASURES or tokens[-1].text == "的"):
        tokens = tokens[:-1]
    owner, attribute = _possession(passage, tokens, carried)
    if owner is not None:
        return [owner], attribute
    if tokens[0].tag[0] == "r" and not (tokens[0].text in PRONOUNS and tokens[1].text == "的"):
        return _one(_demonstrated(passage, text))
    return _members(passage, tokens), ""


def _is_common(tokens: list[Token]) -> bool:
    """Whether a subject is a common noun that needs an owner: 官方语言, 主要支流."""
    return (
        sum(len(token.text) for token in tokens) <= 6
        and all(token.tag in ("n", "b", "a", "vn", "m") for token in tokens)
        and tokens[-1].tag == "n"
        and not tokens[-1].text.endswith(PERSON_ENDINGS)
    )


def _demonstrated(passage: Passage, text: str) -> Name | None:
    """该铁路, 这座城市: the last name that ends like it."""
    noun = text.lstrip("该这那个座条部所项种位本此家")
    if noun in ("书", "小说", "影片", "片", "剧", "作品", "诗") and passage.object is not None:
        return passage.object if passage.object.kind == "work" else None
    for name in (passage.object, passage.topic, passage.title, passage.thing):
        if noun and name is not None and name.text.endswith(noun[-1]):
            return name
    return None


def _one(name: Name | None) -> tuple[list[Name], str] | None:
    return None if name is None else ([name], "")


def _possession(
    passage: Passage, tokens: list[Token], carried: list[Name]
) -> tuple[Name | None, str]:
    """A的B and 其B: who has it, and what it is."""
    if tokens[0].text == "其" and len(tokens) > 1:
        return carried[0], "".join(token.text for token in tokens[1:])
    places = [i for i, token in enumerate(tokens) if token.text == "的"]
    if len(places) != 1 or places[0] in (0, len(tokens) - 1):
        return None, ""
    before, after = tokens[: places[0]], tokens[places[0] + 1 :]
    if len(after) > 2 or any(t.tag in ("work", "name", "nr", "quote", "time") for t in after):
        return None, ""
    attribute = "".join(token.text for token in after)
    if before[0].text in PRONOUNS:
        return passage.pronoun(before[0].text), attribute
    if is_name(before) or "".join(t.text for t in before) in GENERIC:
        return passage.pronoun("".join(t.text for t in before)) or passage.name_phrase(
            before
        ), attribute
    return None, ""


def _members(passage: Passage, tokens: list[Token]) -> list[Name]:
    """The names of a subject: each member of a list; a title before a person's name is dropped."""
    return [pick_name(passage, part) for part in split_coordination(tokens)]


def pick_name(passage: Passage, part: list[Token]) -> Name:
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
        known = passage.pronoun(owner[0].text) if owner[0].text in PRONOUNS else None
        owned = words(last[:-1])
        if known or is_name(owner):
            span = (part[0].start, part[-1].end)
            passage.triple("owned_work", known or passage.name_phrase(owner), owned, name, span)
    return name


def _described_name(passage: Passage, part: list[Token], owner: list[Token]) -> Name | None:
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
    # A pen name that the dictionary takes for a noun: 作家|老舍.
    person = person or (
        last.tag in ("n", "nz", "a") and len(last.text) in (2, 3) and _titled(before)
    )
    if last.tag != "work" and not (person and role):
        return None
    name = passage.name_phrase([last])
    name = Name(name.text, "work" if last.tag == "work" else "person")
    span = (before[0].start, last.end)
    if before[-1].text in KIN:
        whose = passage.topic
        if owner:
            known = passage.pronoun(owner[0].text) if owner[0].text in PRONOUNS else None
            whose = known or passage.name_phrase(owner)
        if whose is not None and whose.text != name.text:
            passage.triple("kin", whose, before[-1].text, name, span)
    else:
        passage.triple("apposition", name, "是", described, span)
        where = (before[0].start, before[-1].end)
        passage.description(name, described, where, "apposition")
    return name


def _titled(before: list[Token]) -> bool:
    return before[-1].text.endswith(("家", "诗人", "教授", "学者", "院士")) and len(before) == 1


def read_clause(passage: Passage, statement: Statement) -> None:
    """Add the facts of one clause whose subject is known."""
    clause = statement.clause
    if state_measure(passage, statement) or (clause.rest and clause.rest[0].text == "的"):
        return
    if clause.verb in ALIAS_RELATIONS or statement.attribute in ALIAS_RELATIONS:
        if clause.verb in ALIAS_RELATIONS and statement.attribute:
            whole = "".join(token.text for token in clause.subject)
            statement.heads = [Name(whole, "unknown")]
        _state_alias(passage, statement)
    elif statement.attribute and clause.verb in (*COPULAS, *OWNING):
        for part in split_coordination(clause.rest):
            tail = statement.tail(passage, part, pick_name(passage, part))
            for owner in statement.heads:
                passage.triple(
                    "attribute",
                    owner,
                    statement.attribute,
                    tail,
                    statement.span,
                    carried=statement.carried,
                )
    elif not clause.verb:
        return
    elif clause.preposition("被", "由", "受", "获"):
        state_passive(passage, statement)
    elif clause.verb in COPULAS:
        state_copula(passage, statement)
    elif clause.verb not in EMPTY_VERBS:
        state_verb(passage, statement)
    elif clause.verb == "有" and clause.rest:
        name = pick_name(passage, split_coordination(clause.rest)[-1])
        passage.person = name if name.kind == "person" else passage.person


def _state_alias(passage: Passage, statement: Statement) -> None:
    """简称北大, 正式名称是…"""
    clause = statement.clause
    relation = statement.attribute or clause.verb
    if clause.verb in ALIAS_RELATIONS:
        relation = clause.verb
    for head in statement.heads[:1]:
        for part in split_coordination(clause.rest):
            state_name(passage, head, relation, words(part), statement.span)


def state_other_name(
    passage: Passage, head: Name, tokens: list[Token], span: tuple[int, int]
) -> None:
    """A clause that begins with what it gives: 原名周樟寿, 字舍予, 简称“京”."""
    relation = tokens[0].text
    if len(relation) == 1 and sum(len(token.text) for token in tokens[1:]) > 5:
        return
    for part in split_coordination(tokens[1:]):
        state_name(passage, head, relation, words(part), span)


def state_name(
    passage: Passage, head: Name, relation: str, other: str, span: tuple[int, int]
) -> None:
    """Another name, as a triple and as an alias."""
    other = other.lstrip("为是作：:")
    passage.triple("alias", head, relation, other, span)
    passage.alias(head, other, span, "alias")


def state_nominal(passage: Passage, clause: Clause, topic: Name, span: tuple[int, int]) -> None:
    """A clause that is only a noun phrase says what its subject is: 鲁迅，…，浙江绍兴人."""
    for part in split_coordination(clause.subject):
        text = "".join(token.text for token in part).removesuffix("之一")
        if is_native(part):
            passage.triple("native", topic, "籍贯", text[:-1], span, carried=True)
        elif part[0].text == "祖籍" and len(part) > 1:
            passage.triple("native", topic, "祖籍", words(part[1:]), span, carried=True)
        elif text in ("男", "女"):
            passage.triple("nominal", topic, "性别", text, span, carried=True)
        elif text.endswith(PERSON_ENDINGS) and topic.kind in ("person", "unknown"):
            passage.triple("nominal", topic, "是", text, span, carried=True)
