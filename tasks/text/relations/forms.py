"""Reduce the wording of a relation to a form without tense, voice, copula and modifiers.

Two wordings with the same form express the same relation, perhaps in opposite directions:
"directed", "has directed" and "directs" say that the head directs, "directed by" and "was directed
by" that the tail does. Negations, modals and words such as "former" are part of a form.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from tasks.text.english_words import noun_lemma, verb_forms, verb_lemma
from tasks.text.function_words import (
    ARTICLES,
    FORMS_OF_BE,
    FORMS_OF_DO,
    FORMS_OF_HAVE,
    MODALS,
    POSSESSIVES,
    PREPOSITIONS,
)
from tasks.text.languages import is_chinese, word_set

# Words before an office that make another one, or none, of it.
RANKS = word_set("acting deputy vice assistant 代理 副 助理")
FORMER = word_set("former formerly ex 前 前任")
# Words that distinguish relations, wherever they stand in a wording.
_MARKS = (MODALS | RANKS | FORMER) | word_set(
    "not never no without cannot previously originally initially once future"
)
BEFORE_VERBS = MODALS | FORMS_OF_DO | {"cannot"}
_AUXILIARIES = FORMS_OF_BE | FORMS_OF_HAVE
_DETERMINERS = ARTICLES | POSSESSIVES
_ADVERBS = word_set("also currently later subsequently soon then eventually finally first")
# Whoever became, or served as, something was it.
_ROLE_VERBS = word_set("become appoint elect name crown")
_ROLE_VERBS_WITH_AS = _ROLE_VERBS | {"serve", "work"}
# Words before a noun that do not change the relation, though some tell labels apart: "last name".
TELLING = word_set(
    "first second third fourth fifth sixth seventh eighth ninth tenth last eldest elder oldest "
    "older younger youngest middle illegitimate legitimate legitimated natural new final late "
    "posthumous twin young"
)
_MODIFIERS = TELLING | word_set(
    "only sole surviving current present incumbent longtime fellow own known and"
)
_NUMBERED = re.compile(
    r"(?:\d+(?:st|nd|rd|th)|1\d{3}|20\d\d)$"
)  # "45th president of", "1997 album by"
# A school's district is where it stands; "a district of Oslo" is said of a part of Oslo.
_CONTAINERS = word_set(
    "city commune county district division municipality parish province region suburb town village"
)
_SPACES = re.compile(r"[\s_]+")
_LONGEST = 200  # characters of a wording that are looked at

_CHINESE_ASPECT = re.compile(r"(?<=.)[了着过]$|^[曾已](?:经)?(?=.)")
_CHINESE_PASSIVE = re.compile(r"^(?:(?:被|由)…?所?|为…?所)(?=.)")


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a wording, which is the same for wordings that express the same relation.

    `kind` is verb, noun or phrase. A `turned` wording leads from the tail to the head. `modifiers`
    of a label may tell it from others: "last" of "last name".
    """

    kind: str
    words: str
    marks: tuple[str, ...] = ()
    turned: bool = False
    modifiers: tuple[str, ...] = ()

    @property
    def undirected(self) -> tuple[str, str, tuple[str, ...]]:
        """The form without its direction: equal for wordings of one relation, turned or not."""
        return self.kind, self.words, self.marks


@lru_cache(maxsize=1 << 16)
def form_of(wording: str) -> Form:
    """Return the form of a wording; one that is neither verb nor noun keeps its words."""
    text = _SPACES.sub(" ", wording.strip())[:_LONGEST]
    if is_chinese(text):
        return _chinese(text)
    form = _english(text.split(" "))
    words = form.words.split()  # none of "-", as the head of a column may be
    if form.kind != "noun" or not (form.turned and words) or words[-1] in PREPOSITIONS:
        return form
    left_out = [word for word in text.lower().split() if word not in words]
    return replace(form, modifiers=tuple(word for word in left_out if word in TELLING))


def bare_words(form: Form) -> str:
    """Return a form's words without a final preposition, which is optional before a time."""
    words = form.words.split()
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in PREPOSITIONS else words)


def _chinese(text: str) -> Form:
    bare = _CHINESE_ASPECT.sub("", _CHINESE_ASPECT.sub("", text))
    active = _CHINESE_PASSIVE.sub("", bare)
    # "被称为" and the like: a verb with a complement has no active form with a single object.
    turned = active != bare and len(active) > 1 and active[-1] not in "为成是作于"
    return Form("phrase", active if turned else bare, (), turned)


def _english(tokens: list[str]) -> Form:
    kept_apart = {token.lower() for token in tokens} & (_MARKS | BEFORE_VERBS)
    marks = tuple(sorted(kept_apart))
    rest = [token for token in tokens if token.lower() not in kept_apart]
    while _goes(rest, _ADVERBS | _DETERMINERS | _MODIFIERS):
        rest.pop(0)
    if BEFORE_VERBS.intersection(marks) and rest and verb_forms(rest[0].lower(), "VBZ"):
        return Form("verb", " ".join(rest).lower(), marks)  # "may cause", "does not cause"
    if _is_gerund(rest):  # "founding member of" is a noun, "was founding" a verb
        return _noun_form(rest, marks)
    leading = _AUXILIARIES
    while len(rest) > 1 and rest[0].lower() in leading:
        if rest[0].lower() in FORMS_OF_BE or _verb(rest[1].lower()):
            leading = _AUXILIARIES | _DETERMINERS  # "is the", "has been"
        elif leading is _AUXILIARIES:  # "has population"
            return _noun_form(rest[1:], marks)
        rest.pop(0)
    if not rest or rest[0].lower() in FORMS_OF_BE | _DETERMINERS:
        return Form("phrase", " ".join(tokens).lower())
    return _after_copula(rest, marks)


def _is_gerund(words: list[str]) -> bool:
    """Return whether words begin with a verb in -ing that is, or modifies, a noun."""
    first, *more = [word.lower() for word in words] or [""]
    if not first.endswith("ing") or not _verb(first):
        return False
    return more[0] not in PREPOSITIONS if more else bool(noun_lemma(first, known=True))


def _goes(words: list[str], without_meaning: frozenset[str]) -> bool:
    """Return whether the first word can be removed; "second" in "second of" cannot."""
    return (
        len(words) > 1
        and words[0].lower() in without_meaning
        and words[1].lower() not in PREPOSITIONS
    )


def _after_copula(tokens: list[str], marks: tuple[str, ...]) -> Form:
    lower = [token.lower() for token in tokens]
    lemma = _verb(lower[0].removeprefix("co-")) if tokens[0][:1].islower() else None
    if lemma and lower[1:] == ["of"] and noun_lemma(lower[0], known=True):  # "types of"
        lemma = None
    if lemma:
        if tokens[1:] != lower[1:]:  # with a name in it
            return Form("phrase", " ".join(tokens), marks)
        roles = _ROLE_VERBS_WITH_AS if lower[1:2] == ["as"] else _ROLE_VERBS
        if lemma in roles and (role := _role(tokens[1:])):
            return _noun_form(role, marks)
        if lower[1:] == ["by"] and _is_participle(lower[0], lemma):
            return Form("verb", lemma, marks, turned=True)
        passive = _only_participle(lower[0], lemma)
        return Form("verb", " ".join([lower[0] if passive else lemma, *lower[1:]]), marks)
    # "comedy film starring", "film directed by": the verb after the noun is the relation.
    last = tokens[-2:] if lower[-1] == "by" else tokens[-1:]
    lemma = _verb(last[0].lower())
    if (
        lemma
        and len(tokens) > len(last)
        and last[0].islower()
        and not set(lower) & PREPOSITIONS - {"by"}
    ):
        if lower[-1] == "by" and _is_participle(last[0], lemma):
            return Form("verb", lemma, marks, turned=True)
        if last[0].endswith("ing") and not noun_lemma(last[0], known=True):  # "imdb rating"
            return Form("verb", lemma, marks)
    return _noun_form(tokens, marks)


def _role(tokens: list[str]) -> list[str]:
    """Return the role that "served as president of" gives; nothing if there is none."""
    rest = list(tokens)
    while rest and rest[0].lower() in _DETERMINERS | {"as"}:
        rest.pop(0)
    return rest if len(rest) > 1 and rest[0].lower() not in PREPOSITIONS else []


def _noun_form(tokens: list[str], marks: tuple[str, ...]) -> Form:
    """Return the form of "capital of" or, turned, "capital", which names what the head has."""
    words = list(tokens)
    with_preposition = len(words) > 1 and words[-1].lower() in PREPOSITIONS
    noun = next(
        (at for at, word in enumerate(words) if at and word.lower() in PREPOSITIONS), len(words)
    )
    common_noun = words[noun - 1][:1].islower()
    while noun > 1 and (
        words[0].lower() in _MODIFIERS | _DETERMINERS
        or _NUMBERED.match(words[0])
        or (common_noun and words[0][:1].isupper())
    ):
        words.pop(0)
        noun -= 1
    end = len(words) - with_preposition
    if noun < end or not words[noun - 1][:1].isalpha():
        return Form("phrase", " ".join(words).lower(), marks)
    if words[-1] == "by":  # "studio album by" relates as "album by" does
        words = words[-2:]
        end = 1
    words = [word.lower() for word in words]
    words[end - 1] = noun_lemma(words[end - 1]).removeprefix("co-")
    if with_preposition:
        kept = words[:-1] if words[-1] == "of" else words
        return Form("noun", " ".join(kept), marks)
    bare = " ".join(words)
    return Form("phrase" if bare in _CONTAINERS else "noun", bare, marks, bare not in _CONTAINERS)


@lru_cache(maxsize=1 << 14)
def _verb(word: str) -> str | None:
    """Return the base form of an inflected verb or a word that can only be a verb, else None."""
    for tag in ("VBZ", "VBD", "VBN", "VBG"):
        lemma = verb_lemma(word, tag)
        if lemma != word and word in verb_forms(lemma, tag):
            return lemma
    only_verb = verb_forms(word, "VBZ") and not noun_lemma(word, known=True)
    return word if only_verb else None


def _is_participle(word: str, lemma: str) -> bool:
    return word.removeprefix("co-") in verb_forms(lemma, "VBN")


def _only_participle(word: str, lemma: str) -> bool:
    return _is_participle(word, lemma) and word not in verb_forms(lemma, "VBD")
