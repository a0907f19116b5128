"""Triples, aliases and descriptions from the clauses of a Chinese sentence."""

from tasks.rules.chinese.asides import read_asides
from tasks.rules.chinese.clauses import Clause, parse_clause, split_clauses, split_coordination
from tasks.rules.chinese.lexicon import (
    ALIAS_RELATIONS,
    COPULAS,
    EMPTY_VERBS,
    KIN,
    MEASURES,
    PERSON_ENDINGS,
    PRONOUNS,
    ROLES,
)
from tasks.rules.chinese.naming import Name, is_name, looks_like_person
from tasks.rules.chinese.passage import GENERIC, Passage
from tasks.rules.chinese.predicates import (
    Statement,
    state_copula,
    state_measure,
    state_passive,
    state_verb,
)
from tasks.rules.chinese.tokens import Sentence, Token


def read_sentence(passage: Passage, sentence: Sentence) -> None:
    """Add the facts of one sentence, clause by clause, the subject carried along."""
    clauses, asides = split_clauses(sentence.tokens)
    read_asides(passage, asides, sentence)
    subjects: list[Name] = [passage.topic or passage.title]
    for number, tokens in enumerate(clauses):
        clause = parse_clause(tokens)
        if number and not clause.verb and clause.subject and not clause.second:
            state_nominal(passage, clause, subjects[0], (sentence.start, clause.end))
            continue
        own = resolve_subject(passage, clause, subjects)
        if own is None:
            continue
        named, attribute = own
        if not clause.negated:
            span = (sentence.start if not clause.subject else clause.start, clause.end)
            if number and clause.subject and clause.subject[0].text in PRONOUNS:
                span = (sentence.start, clause.end)
            statement = Statement(clause, named, attribute, span, carried=not clause.subject)
            read_clause(passage, statement)
        subjects = named
        if not attribute:
            passage.spoke_of(named[0])


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
    owner, attribute = _possession(passage, tokens, carried)
    if owner is not None:
        return [owner], attribute
    if tokens[0].tag[0] == "r":
        return None
    return _members(passage, tokens), ""


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
    last = part[-1]
    person = last.tag in ("nr", "nrt", "name", "nrfg") and (
        last.tag == "name" or looks_like_person(last.text)
    )
    if len(part) > 1 and (last.tag == "work" or person):
        name = passage.name_phrase([last])
        before = part[:-1]
        described = "".join(token.text for token in before)
        ends_in_role = before[-1].text.endswith(PERSON_ENDINGS) or described in KIN
        if last.tag == "work" or ends_in_role:
            span = (before[0].start, last.end)
            if described in KIN and passage.topic and passage.topic != name:
                passage.triple("kin", passage.topic, described, name, span)
            elif "的" not in described:
                passage.triple("apposition", name, "是", described, span)
                passage.description(
                    name, described, (before[0].start, before[-1].end), "apposition"
                )
            return Name(name.text, "work" if last.tag == "work" else "person")
    return passage.name_phrase(part)


def read_clause(passage: Passage, statement: Statement) -> None:
    """Add the facts of one clause whose subject is known."""
    clause = statement.clause
    if state_measure(passage, statement):
        return
    if clause.verb in ALIAS_RELATIONS or statement.attribute in ALIAS_RELATIONS:
        _state_alias(passage, statement)
    elif statement.attribute and clause.verb in (*COPULAS, "有", "包括"):
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


def _state_alias(passage: Passage, statement: Statement) -> None:
    """简称北大, 原名周樟寿, 正式名称是…"""
    clause = statement.clause
    relation = statement.attribute or clause.verb
    tokens = [token for token in clause.rest if token.text not in ("为", "是", "作", "“", "”")]
    # A first name may follow without a verb: 字舍予.
    for part in split_coordination(tokens):
        other = "".join(token.text for token in part)
        head = statement.heads[0]
        passage.triple("alias", head, relation, other, statement.span, carried=statement.carried)
        passage.alias(head, other, statement.span, "alias")


def state_nominal(passage: Passage, clause: Clause, topic: Name, span: tuple[int, int]) -> None:
    """A clause that is only a noun phrase says what its subject is: 鲁迅，…，浙江绍兴人."""
    for part in split_coordination(clause.subject):
        text = "".join(token.text for token in part).removesuffix("之一")
        if text.endswith("人") and any(token.tag == "ns" for token in part):
            passage.triple("native", topic, "籍贯", text[:-1], span, carried=True)
        elif part[0].text in ALIAS_RELATIONS or part[0].text == "祖籍":
            relation, rest = part[0].text, "".join(token.text for token in part[1:])
            passage.triple("alias", topic, relation, rest, span, carried=True)
            if relation != "祖籍":
                passage.alias(topic, rest, span, "alias")
        elif text in ("男", "女"):
            passage.triple("nominal", topic, "性别", text, span, carried=True)
        elif text.endswith(PERSON_ENDINGS) and topic.kind in ("person", "unknown"):
            passage.triple("nominal", topic, "是", text, span, carried=True)
