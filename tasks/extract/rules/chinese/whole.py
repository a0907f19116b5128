"""Recognise Chinese sentences and phrases that are plain and complete; others make no facts.

Without a parser, a clause is only understood if each of its words has a function, so a phrase with
a verb, an adverb or a demonstrative out of place is a fragment of one that was not understood.
"""

from collections.abc import Collection
from dataclasses import dataclass

from tasks.extract.rules.chinese.acting import verb_positions
from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.lexicon import (
    AND,
    CLASSIFIERS,
    CONDITIONS,
    COPULAS,
    HEDGES,
    INDEFINITE,
    PERSON_ENDINGS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE_WORDS,
    SHORT_VERBS,
    SPEAKERS,
    STATING,
    VAGUE,
)
from tasks.extract.rules.chinese.naming import TypedName, is_name, looks_like_person
from tasks.extract.rules.chinese.passage import PassageReading
from tasks.extract.rules.chinese.predicates import MARKED
from tasks.extract.rules.chinese.tokens import PROPER_TAGS, Token, text_of
from tasks.extract.rules.kinds import GUESSED
from tasks.text.chinese_words import HAN_OR_ZERO, tag_of
from tasks.text.values import Value

LONGEST_SUBJECT = 20  # characters
LONGEST_OBJECT = 40
RESPECTIVELY = frozenset(["分别"])
SET_APART = MARKED | {"eng"}
# Quotation marks are only separate tokens around a quotation that is too long for a name.
QUOTES = frozenset("“”「」『』")
NARRATORS = frozenset(["我", "俺", "咱", "笔者"])  # narrators in the first person
NAMED_KINDS = frozenset(GUESSED)
COVERBS = frozenset("将把被")
OPENING = PREPOSITIONS | AND | CONDITIONS | {"其", "如"}
CLOSING = frozenset("是有为则也均乃亦即")
NOUNS = frozenset("njlis")  # the first letters of the tags of nouns and set phrases


def is_plain(tokens: list[Token]) -> bool:
    """Return whether a sentence is neither a question, nor a quotation, nor in the first person."""
    if tokens[-1].text.rstrip("”’」』）)")[-1:] in ("？", "?"):
        return False
    return not any(token.text in QUOTES or token.text in NARRATORS for token in tokens)


def is_addressed(tokens: list[Token]) -> bool:
    """Return whether a clause refers to its writer or reader, other than as in 为大家."""
    return any(
        token.text in SPEAKERS and not (before and before.tag == "p")
        for before, token in zip([None, *tokens], tokens, strict=False)
    )


def is_hedged(tokens: list[Token]) -> bool:
    """Return whether a clause has a hedge: it is possible, recommended, intended or an example."""
    return has_word(tokens, HEDGES)


def has_word(tokens: list[Token], listed: Collection[str]) -> bool:
    """Return whether a listed word occurs, except as a noun: 建议, but not 一份|建议."""
    named = ("的", "一份", "一个", "一项")
    before = ["", *(token.text for token in tokens)]
    return any(token.text in listed and before[i] not in named for i, token in enumerate(tokens))


def is_whole(phrase: list[Token]) -> bool:
    """Return whether a phrase is a complete name, value or noun phrase."""
    if not phrase or sum(len(token.text) for token in phrase) > LONGEST_OBJECT:
        return False
    first, last = phrase[0], phrase[-1]
    if first.text in AND:
        return False  # 宣布|与尼泊尔合作
    if len(phrase) == 1:
        return last.tag in SET_APART or (last.tag[0] in NOUNS and len(last.text) > 1)
    counts = first.tag in ("m", "number") and last.tag in ("m", "q")
    if not (counts or last.tag in SET_APART or last.tag[0] in NOUNS or last.tag in ("vn", "an")):
        return last.text == "之一"
    marked = max((i for i, token in enumerate(phrase) if token.text == "的"), default=0)
    return all(_fits(token, modifies=i < marked) for i, token in enumerate(phrase))


def _fits(token: Token, *, modifies: bool) -> bool:
    """Return whether a token can be in a noun phrase; verbs and adverbs only before 的."""
    if token.tag in SET_APART or token.text in AND or token.text in ("的", "之", "之一"):
        return True
    if token.tag[0] in "rxyeo" or token.text in COPULAS or token.tag in ("zg", "c", "un"):
        return False
    return modifies or not (token.tag[0] in "dp" or token.tag in ("v", "ul", "uz", "ug"))


def is_run_together(token: Token) -> bool:
    """Return whether an unknown noun is several words: 如对, 其分号, 展品中有, 和拉取."""
    unknown = token.tag == "n" and len(token.text) > 1 and not tag_of(token.text)
    return unknown and (token.text[0] in OPENING or token.text[-1] in CLOSING)


def is_term(phrase: list[Token], title: TypedName) -> bool:
    """Return whether a subject is a name, the document's subject or a term one could look up."""
    text = text_of(phrase)
    if len(phrase) > 1 and (phrase[0].tag[0] in "vpcdu" or phrase[0].text in RELATIVE_WORDS):
        return False
    if text != title.text and any(map(is_run_together, phrase)):
        return False
    if text == title.text or phrase[0].text in PRONOUNS:
        return True
    if is_name(phrase) and all(token.tag not in ("f", "t") for token in phrase):
        return True
    first, last = phrase[0], phrase[-1]
    if not is_whole(phrase) or len(text) > LONGEST_SUBJECT or (len(phrase) == 1 and text in VAGUE):
        return False
    if (
        last.tag in ("l", "i", "t")
        or first.tag in ("number", "m", "q", "v", "time", "f")
        or last.tag in ("m", "q", "f", "number")
    ):
        return False
    if any(token.tag in SET_APART or token.tag in PROPER_TAGS for token in phrase):
        return True
    # In a document about an entity of a known kind, a common noun is about it: 主体工程.
    leans = title.kind in NAMED_KINDS - {"thing"} and not first.text.endswith(PERSON_ENDINGS)
    return len(text) > 2 and not leans and bool(HAN_OR_ZERO.match(text))


def is_person(name: TypedName) -> bool:
    """Return whether a name is, or may be by its form, that of a person."""
    tagged = tag_of(name.text)[:2] == "nr"
    known = name.kind == "unknown" and looks_like_person(name.text, beside_role=tagged)
    return name.kind == "person" or known


def is_known(name: TypedName) -> bool:
    """Return whether a name's kind is known, or it may be the name of a person."""
    return name.kind in NAMED_KINDS or is_person(name)


def _is_simple(rest: list[Token]) -> bool:
    """Return whether no verb or preposition after the verb belongs to another predicate.

    In 英国国教设立的学校构成…, the first verb is part of the subject.
    """
    marks = [i for i, token in enumerate(rest) if token.text == "的"] or [len(rest)]
    behind = rest[marks[-1] + 1 :] if marks[-1] < len(rest) else rest
    if any(token.tag == "v" for token in behind[marks[-1] == marks[0] :]) and behind is not rest:
        return False
    prepositions = (token.tag == "p" and token.text not in AND for token in behind)
    return not has_word(rest, COVERBS) and not any(prepositions)


def is_understood(
    clause: Clause, heads: list[TypedName], title: TypedName, *, obliges: bool
) -> bool:
    """Return whether a clause was parsed completely and its verb yields facts about its subject.

    In a document about an entity of a known kind, any verb is accepted for subjects of known kinds.
    An obligation (`obliges`) is a fact about any subject.
    """
    shared = len(clause.second) > 1 and clause.second[0].tag in ("m", "number")
    if shared or not _is_simple(clause.rest):  # 该片|一半演员|是农民 is not about the whole
        return False
    verb = clause.verb
    if not verb or verb in STATING or verb.removesuffix("于") in STATING:
        return True
    if clause.preposition("被", "由") and (len(verb) > 1 or verb in SHORT_VERBS):
        return True
    if len(verb) == 1 and verb not in SHORT_VERBS:
        return False
    if obliges and clause.subject and clause.rest and not clause.second:
        return True
    happens = clause.times and not clause.rest  # 12月17日，返回器着陆
    known = all(is_known(head) for head in heads)
    acts = bool(clause.subject and clause.rest) and not clause.second and is_name(clause.subject)
    return (is_known(title) and bool(happens)) or (known and (is_known(title) or acts))


def words(tokens: list[Token]) -> str:
    """Return the text of a phrase, with titles of works without their brackets."""
    return "".join(t.text.strip("《》") if t.tag == "work" else t.text for t in tokens)


def without_indefinite(part: list[Token]) -> list[Token]:
    """Return a phrase without indefinite determiners (一种, 一个, 个) or particles at its ends."""
    while len(part) > 1 and (part[0].text in INDEFINITE or part[0].text in CLASSIFIERS):
        part = part[1:]
    while part and (part[-1].tag in ("c", "u", "y", "x") and part[-1].text != "之一"):
        part = part[:-1]
    while part and part[0].tag in ("d", "x", "c", "u"):
        part = part[1:]
    return part


def split_serial(rest: list[Token], *, pivot: bool = False) -> tuple[list[Token], list[Token]]:
    """Split the object from a second verb that follows it: 进入剑桥大学 | 学习.

    A verb before a 的 belongs to the object, unless the object of the first verb is the subject of
    the second (`pivot`).
    """
    for position in verb_positions(rest, 1, len(rest)):
        if pivot or not any(token.text == "的" for token in rest[position:]):
            return rest[:position], rest[position:]
    return rest, []


def split_coordination(tokens: list[Token]) -> list[list[Token]]:
    """Return the conjuncts of a phrase: A、B和C等地 gives three, 导弹和航天的奠基人 stays whole."""
    if tokens and tokens[0].text in AND:
        return [tokens]
    parts: list[list[Token]] = [[]]
    listed: list[Token] = []
    for position, token in enumerate(tokens):
        if token.text in ("等", "等等"):
            listed = tokens[position + 1 :]
            break
        modified = token.text != "、" and any(t.text == "的" for t in parts[-1])
        modifies = any(later.text == "的" for later in tokens[position:])
        if token.text in AND and not modified and not modifies:
            parts.append([])
        elif token.tag == "work" and parts[-1] and parts[-1][-1].tag == "work":
            parts.append([token])
        else:
            parts[-1].append(token)
    parts = [part for part in parts if part]
    # A、B两种元素, A和B九个省区: the phrase that counts the conjuncts is not one of them.
    if len(parts) > 1 or (parts and parts[-1][0].tag == "work"):
        counted = (i for i, token in enumerate(parts[-1]) if i and token.tag in ("number", "m"))
        cut = next(counted, len(parts[-1]))
        follow = len(parts[-1]) - cut
        if follow and (follow > 2 or parts[-1][0].tag in ("n", "vn", "v")):
            return [tokens]
        parts[-1] = parts[-1][:cut]
    alone = all(map(_is_alone, parts)) or _are_alike(parts)
    if (len(parts) > 1 or listed) and not (alone and (not listed or all(map(is_name, parts)))):
        return [tokens]
    return parts


def _is_alone(part: list[Token]) -> bool:
    """Return whether a conjunct is complete by itself, unlike those of 安全事故、水质|污染|机制."""
    word = part[0]
    known = word.tag in SET_APART | PROPER_TAGS or (len(word.text) > 1 and bool(tag_of(word.text)))
    known = known or (len(word.text) > 2 and "和" not in word.text[:-1])
    return is_name(part) or (len(part) == 1 and known and (word.nominal or word.tag == "time"))


def _are_alike(parts: list[list[Token]]) -> bool:
    """Return whether conjuncts have one structure: 社会|工作、行政|管理, 北宋文学家、书法家."""
    whole = all(is_whole(part) and all(token.nominal for token in part) for part in parts)
    ends = {part[-1].text[-1] for part in parts}
    return whole and (len({len(part) for part in parts}) == 1 or len(ends) == 1)


def is_coordination(part: list[Token]) -> bool:
    """Return whether a phrase is a coordination that cannot be split: 市和区、县财政局."""
    marks = [i for i, token in enumerate(part) if token.text == "的"]
    after = marks[-1] if marks else 0
    return any(token.text in AND for token in part[after:])


@dataclass(slots=True)
class ResolvedClause:
    """A clause whose subject is resolved.

    `heads` are the entities that are its subject or, with an `attribute`, its subject's possessors.
    """

    passage: PassageReading
    clause: Clause
    heads: list[TypedName]
    attribute: str
    span: tuple[int, int]

    @property
    def is_respective(self) -> bool:
        """Whether each of several subjects has its own object: 张伟和李强分别来自北京和上海."""
        several = len(self.heads) > 1 or has_word(self.clause.subject, AND)
        return several and has_word(self.clause.tokens, RESPECTIVELY)

    @property
    def when(self) -> Value | None:
        """The date that the clause gives, if any."""
        return self.clause.times[0].value if self.clause.times else None

    def add(
        self,
        pattern: str,
        relation: str,
        tail: str | TypedName,
        *,
        heads: list[TypedName] | None = None,
        when: Value | None = None,
        value: Value | None = None,
    ) -> None:
        """Add one triple for each head; none if each head has a tail of its own.

        What somebody was (曾是) is no role or measure of today.
        """
        if past := self.clause.past:
            if pattern in ("role", "attribute", "measure"):
                return
            relation = past + relation if pattern in ("copula", "object") else relation
        for head in () if self.is_respective else self.heads if heads is None else heads:
            self.passage.triple(pattern, head, relation, tail, self.span, when=when, value=value)

    def tail(self, part: list[Token], picked: TypedName | None = None) -> str | TypedName:
        """Return the tail that a phrase forms: a typed name or text, which is empty if unusable."""
        passage, part = self.passage, without_indefinite(part)
        if not part:
            return ""
        text = words(part)
        if picked is not None and (picked.kind in ("person", "work") or picked == passage.title):
            return picked
        if part[-1].tag == "number" and part[-1].text.endswith(("个", "种", "次")):
            return ""
        if not is_whole(part):
            return ""
        return passage.name_phrase(part) if is_name(part) else text
