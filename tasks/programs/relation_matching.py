"""Matches the aliases in a program with the names of an entity's relations.

An exact name wins. Otherwise names are compared by their words, characters and synonyms. Where
these tell nothing, vectors decide, above a threshold (KnowledGPT, algorithm 1, compares all names
by vectors and always takes the nearest).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from rapidfuzz import fuzz

from tasks.models.encoders.load import Encoder
from tasks.text.languages import is_chinese, word_set
from tasks.text.names import normalise_name
from tasks.text.relations.forms import form_of
from tasks.text.relations.vocabulary import ENDS, known_relations, meaning_of, wordings_of_all
from tasks.text.stems import stems_of

INVERSE_OF = "inverse of "
LONGEST_CACHED = 64  # characters of a cached name: those of a hostile program may be long
LONGEST_COMPARED = 200  # characters of a name that are compared
LEAST_SIMILARITY = 0.46
LEAST_OF_EVERY = 0.6
SYNONYM = 0.96  # similarity of synonyms that share no word
TYPING_ERROR = 0.9  # share of letters above which two names are the same
LEAST_COSINE = 0.55  # of relations that share no word and are no synonyms
MOST_ENCODED = 200  # relations of an entity that are compared by vectors
MARGIN = 0.02  # relations this close to the best count like it

_SMALL = word_set("a an and by for from has have in is of on the to was were with")
_WHEN_OR_WHERE = word_set("in on at since during before after until near")
_DOER = re.compile(r"(?:er|or)(?: of)?$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SIGNS = re.compile(r"[_/.:\-]+")


@dataclass(frozen=True, slots=True)
class Match:
    """A relation that aliases mean, and their similarity, 0 to 1."""

    relation: str
    similarity: float


def split_inverse(alias: str) -> tuple[str, bool]:
    """Return the relation that an alias names, and whether it means the heads of triples."""
    text = alias.strip()
    inverse = text.casefold().startswith(INVERSE_OF)
    return (text[len(INVERSE_OF) :].strip(), True) if inverse else (alias, False)


def match_relations(
    aliases: Sequence[str],
    relations: Iterable[str],
    *,
    every: bool = False,
    turned: bool | None = None,
) -> list[Match]:
    """Return the relations that the aliases mean, the most similar first.

    For relations of the vocabulary, `turned` restricts the direction: False allows only relations
    that the aliases express from the same end, True only those that they express from the other end
    ("son" and "child of"). With `every`, return all relations above a threshold (for personal
    knowledge bases, whose relations were not aligned), not only the best and those about as
    similar.
    """
    names = list(dict.fromkeys(relations))
    if not names or not aliases:
        return []
    exact = [name for name in names if name in aliases and not turned]
    if exact and not every:
        return [Match(name, 1.0) for name in exact]
    scores = [max(similarity(alias, name, turned) for alias in aliases) for name in names]
    return _best(names, scores, LEAST_OF_EVERY if every else LEAST_SIMILARITY, every=every)


def nearest_relations(
    aliases: Sequence[str], relations: Iterable[str], encoder: Encoder, *, every: bool = False
) -> list[Match]:
    """Return the relations whose names mean nearly the same as an alias, the most similar first.

    Names are compared by the cosines of their vectors, all relations with all aliases at once, but
    not two that the vocabulary tells apart: those who own a thing did not produce it. With
    `every`, return all above the threshold, not only the best and those about as similar.
    """
    names = list(dict.fromkeys(relations))[:MOST_ENCODED]
    if not names or not aliases:
        return []
    vectors = encoder.encode([spelt_out(name)[:LONGEST_COMPARED] for name in (*aliases, *names)])
    cosines = vectors[len(aliases) :] @ vectors[: len(aliases)].T
    for row, name in enumerate(names):
        for column, alias in enumerate(aliases):
            if _are_known_apart(alias, name):
                cosines[row, column] = 0.0
    return _best(names, cosines.max(axis=1).tolist(), LEAST_COSINE, every=every)


def _best(names: list[str], scores: list[float], least: float, *, every: bool) -> list[Match]:
    """Return the matches with a score of at least `least`: `every` one, or the best ones."""
    least = least if every else max(least, max(scores) - MARGIN)
    matches = [
        Match(name, round(score, 4))
        for name, score in zip(names, scores, strict=True)
        if score >= least
    ]
    return sorted(matches, key=lambda match: -match.similarity)


def spelt_out(relation: str) -> str:
    """Return a relation's name as words: `/people/person/birthPlace` as `birth place`."""
    return (_spelt_out_once if len(relation) <= LONGEST_CACHED else _spelt_out)(relation)


def _spelt_out(relation: str) -> str:
    last = relation.rstrip("/#").rsplit("/", 1)[-1].rsplit("#", 1)[-1] or relation
    words = _SIGNS.sub(" ", _CAMEL.sub(" ", last)).strip()
    return words.lower() or relation


def similarity(left: str, right: str, turned: bool | None = None) -> float:
    """Return the similarity of two relation names by their words and characters, 0 to 1.

    Wordings of one relation of the vocabulary are synonyms if they express it from the same end or,
    with `turned`, from different ends; None allows either.
    """
    if max(len(left), len(right)) <= LONGEST_CACHED:
        return _similarity_once(left, right, turned)
    return _similarity(left[:LONGEST_COMPARED], right[:LONGEST_COMPARED], turned)


def _similarity(left: str, right: str, turned: bool | None = None) -> float:
    alike = _mean_alike(left, right, turned)
    if alike is not None:
        return SYNONYM if alike and left != right else float(alike)
    a, b = normalise_name(spelt_out(left)), normalise_name(spelt_out(right))
    if a == b:
        return 1.0
    if _groups().get(a, frozenset()) & _groups().get(b, frozenset()):
        return SYNONYM
    if is_chinese(a) or is_chinese(b):
        return 0.95 * _dice(set(a), set(b))
    if _differ_in_end(left, right):
        return 0.0
    letters = fuzz.ratio(a, b) / 100
    # A single letter distinguishes short words, such as height and weight.
    return max(0.95 * _dice(_content(a), _content(b)), letters if letters >= TYPING_ERROR else 0)


def _are_known_apart(left: str, right: str) -> bool:
    """Return whether two names are wordings of different relations of the vocabulary."""
    if _differ_in_end(left, right):
        return True
    this, that = (
        {known.name for end in ENDS if (known := meaning_of(wording, end))}
        for wording in (left, right)
    )
    return bool(this and that) and this.isdisjoint(that)


def _differ_in_end(left: str, right: str) -> bool:
    """Return whether one name leads to who does it, the other to when or where: "built in"."""
    for one, other in ((left, right), (right, left)):
        if form_of(one).kind == "verb" and one.split()[-1].lower() in _WHEN_OR_WHERE:
            doer = form_of(other)
            passive = doer.kind == "verb" and doer.turned
            if passive or (doer.kind == "noun" and _DOER.search(doer.words)):
                return True
    return False


def _mean_alike(left: str, right: str, turned: bool | None) -> bool | None:
    """Tell whether two names express one relation in the direction that `turned` requires.

    They express one relation according to the vocabulary, or if they have the same form; return
    None if they do not.
    """
    found = directions(left, right)
    return None if not found else turned is None or turned in found


def directions(left: str, right: str) -> frozenset[bool]:
    """Return whether two names express one relation from the same end (False) or the other (True).

    Either if it is symmetric; neither if nothing but their spelling tells that it is one relation.
    """
    this, that = form_of(left), form_of(right)
    directions: set[bool] = set()
    differ = this.modifiers and that.modifiers and this.modifiers != that.modifiers
    if this.kind != "phrase" and this.undirected == that.undirected and not differ:
        directions.add(this.turned != that.turned)
    for end in ENDS:
        one, other = meaning_of(left, end), meaning_of(right, end)
        if one and other and one.name == other.name:
            if known_relations()[one.name].symmetric:
                return frozenset({False, True})
            directions.add(one.turned != other.turned)
    return frozenset(directions)


@cache
def known_names() -> tuple[str, ...]:
    """Return all names of relations in the vocabulary and among the synonyms, spelt out."""
    return tuple(dict.fromkeys([*_groups(), *wordings_of_all()]))


@cache
def _groups() -> dict[str, frozenset[int]]:
    """Return the groups of synonyms that names, in their normal form, belong to."""
    text = files(__package__).joinpath("relation_synonyms.txt").read_text(encoding="utf-8")
    groups: dict[str, set[int]] = {}
    for number, line in enumerate(text.splitlines()):
        for name in line.split("|") if not line.startswith("#") else ():
            groups.setdefault(normalise_name(spelt_out(name)), set()).add(number)
    return {name: frozenset(numbers) for name, numbers in groups.items()}


def _content(name: str) -> frozenset[str]:
    return (_content_once if len(name) <= LONGEST_CACHED else _content_words)(name)


def _content_words(name: str) -> frozenset[str]:
    words = [word for word in name.split() if word not in _SMALL] or name.split()
    return frozenset(word for _, _, word in stems_of(" ".join(words)))


def _dice(left: set[str] | frozenset[str], right: set[str] | frozenset[str]) -> float:
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


_spelt_out_once = lru_cache(maxsize=1 << 15)(_spelt_out)
_similarity_once = lru_cache(maxsize=1 << 16)(_similarity)
_content_once = lru_cache(maxsize=1 << 15)(_content_words)
