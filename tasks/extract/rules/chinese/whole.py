"""What of a Chinese text is said plainly and can be read whole; the rest makes no facts.

Without a parser a clause is only understood if every word of it has a place, so a phrase with a
verb, an adverb or a demonstrative out of place is a fragment of one that was not understood.
"""

from collections.abc import Collection

from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.lexicon import (
    AND,
    COPULAS,
    HEDGES,
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
from tasks.extract.rules.chinese.tokens import Token, text_of
from tasks.text.chinese_words import HAN_OR_ZERO

LONGEST_SUBJECT = 20  # characters
LONGEST_OBJECT = 40
MARKED = frozenset(["work", "quote", "latin", "name", "time", "number", "eng"])
# What is left of a quotation too long for a name: somebody's words.
QUOTES = frozenset("“”「」『』")
NARRATORS = frozenset(["我", "俺", "咱", "笔者"])  # what they tell is theirs
NAMED_KINDS = frozenset(["person", "place", "organisation", "work", "event", "thing"])
HANDLING = frozenset("将把被")
NAMES = frozenset(["ns", "nt", "nr", "nz", "nrt", "nrfg", "j"])
ENDS = frozenset("njlis")  # the first letters of the tags of nouns and set phrases


def is_plain(tokens: list[Token]) -> bool:
    """Whether a sentence states something: no question, none of somebody's words."""
    if tokens[-1].text.rstrip("”’」』）)")[-1:] in ("？", "?"):
        return False
    return not any(token.text in QUOTES or token.text in NARRATORS for token in tokens)


def is_addressed(tokens: list[Token]) -> bool:
    """Whether a clause speaks of who writes or reads."""
    return any(token.text in SPEAKERS for token in tokens)


def is_hedged(tokens: list[Token]) -> bool:
    """Whether a clause says what may, should or is meant to be, or gives an example."""
    return has_word(tokens, HEDGES)


def has_word(tokens: list[Token], listed: Collection[str]) -> bool:
    """Whether one of the listed words is there, but not as a noun: 建议, but no 一份|建议."""
    named = ("的", "一份", "一个", "一项")
    before = ["", *(token.text for token in tokens)]
    return any(token.text in listed and before[i] not in named for i, token in enumerate(tokens))


def is_whole(phrase: list[Token], *, defines: bool = False) -> bool:
    """Whether a phrase is a name, a value or a noun phrase from its first word to its last.

    `defines`: after 是, where a noun phrase may begin with a verb (开发工具).
    """
    if not phrase or sum(len(token.text) for token in phrase) > LONGEST_OBJECT:
        return False
    first, last = phrase[0], phrase[-1]
    if len(phrase) == 1:
        return last.tag in MARKED or (last.tag[0] in ENDS and len(last.text) > 1)
    counts = first.tag in ("m", "number") and last.tag in ("m", "q")
    if not (counts or last.tag in MARKED or last.tag[0] in ENDS or last.tag in ("vn", "an")):
        return last.text == "之一"
    if (
        first.tag == "f"
        or first.text == "的"
        or (first.tag == "vn" and len(phrase) > 2 and not defines)
    ):
        return False
    return all(_fits(phrase, position, defines=defines) for position in range(len(phrase)))


def _fits(phrase: list[Token], position: int, *, defines: bool) -> bool:
    token = phrase[position]
    if token.tag in MARKED or token.text in AND or token.text in ("的", "之", "之一"):
        return True
    if (
        token.tag[0] == "r"
        or token.text in COPULAS
        or token.tag in ("zg", "x", "y", "e", "o", "c", "un")
    ):
        return False
    modifies = any(later.text == "的" for later in phrase[position + 1 :])
    if token.tag[0] in "dp" or token.tag in ("ul", "uz", "ug"):
        return modifies
    if token.tag == "v":
        compound = len(token.text) == 2 and position == len(phrase) - 2
        between = position > 0 and phrase[position - 1].tag[0] in "ne"
        return modifies or (compound and defines and (between or position == 0))
    return True


def is_term(phrase: list[Token], title: TypedName) -> bool:
    """Whether a subject is a name, the document's subject or a term one could look up."""
    text = text_of(phrase)
    if text.endswith("时") and len(phrase) > 1:
        return False
    if len(phrase) > 1 and (phrase[0].tag[0] in "vpcdu" or phrase[0].text in RELATIVE_WORDS):
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
    if any(token.tag in MARKED or token.tag in NAMES for token in phrase):
        return True
    # Beside a subject of a known kind, a noun without a name is about that: 主体工程.
    leans = title.kind in NAMED_KINDS - {"thing"} and not first.text.endswith(PERSON_ENDINGS)
    return len(text) > 2 and not leans and bool(HAN_OR_ZERO.match(text))


def is_person(name: TypedName) -> bool:
    """Whether a name is of a person, or may be by its form."""
    return name.kind == "person" or (name.kind == "unknown" and looks_like_person(name.text))


def is_known(name: TypedName) -> bool:
    """Whether a name is of something whose kind is known, or may be of a person."""
    return name.kind in NAMED_KINDS or is_person(name)


def _has_purpose(tokens: list[Token]) -> bool:
    """Whether a clause says what something is done for: 为了回应…, 为保证…."""
    tokens = [token for token in tokens if token.tag != "d"]
    pairs = zip(tokens, tokens[1:], strict=False)
    return any(
        word.text == "为了" or (word.text == "为" and after.tag == "v" and word.tag == "p")
        for word, after in pairs
    )


def _is_simple(rest: list[Token], *, defines: bool) -> bool:
    """Whether what follows the verb has no verb or preposition that belongs elsewhere.

    In 英国国教设立的学校构成…, the first verb is part of the subject.
    """
    if (
        not defines
        and len(rest) > 1
        and rest[0].tag == "v"
        and rest[0].text not in PREPOSITIONS
        and any(token.text == "的" for token in rest)
    ):
        return False  # 首次独立执导的《少林足球》
    modified = 0  # where the last 的 ends what stands before its noun
    for position, token in enumerate(rest):
        if token.text == "的":
            modified = position
    relative = next((i for i, token in enumerate(rest) if token.text == "的"), len(rest))
    for position, token in enumerate(rest):
        if position > relative + 1 and position > modified and token.tag == "v":
            return False
        if token.text in HANDLING:
            return False
        if position > modified and token.tag == "p" and token.text not in AND:
            return False
    return True


def is_understood(clause: Clause, heads: list[TypedName], title: TypedName) -> bool:
    """Whether all of a clause was read, and its verb is one to state facts of its subject with.

    In a document about somebody, a place or the like, known names do whatever it says they do.
    """
    if clause.unread or (clause.verb != "为" and _has_purpose(clause.tokens)):
        return False
    if not _is_simple(clause.rest, defines=clause.verb in COPULAS):
        return False
    verb = clause.verb
    if not verb or verb in STATING or verb.removesuffix("于") in STATING:
        return True
    if clause.preposition("被", "由") and (len(verb) > 1 or verb in SHORT_VERBS):
        return True
    if len(verb) == 1 and verb not in SHORT_VERBS:
        return False
    happens = clause.times and not clause.rest  # 12月17日，返回器着陆
    known = all(is_known(head) for head in heads)
    return (is_known(title) and bool(happens)) or (known and (is_known(title) or _acts(clause)))


def _acts(clause: Clause) -> bool:
    """Whether a clause names its own subject, says what was done, and has no more in it."""
    return bool(clause.subject and clause.rest) and not clause.second and is_name(clause.subject)
