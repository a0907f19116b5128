"""Recognise Chinese names and the kinds of entities that they name."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tasks.extract.rules.chinese.lexicon import (
    DOCUMENT_ENDINGS,
    KIND_BY_ENDING,
    LONGEST_ENDING,
    PERSON_ENDINGS,
    PRONOUNS,
    SURNAMES,
    TRANSLITERATION,
)
from tasks.extract.rules.chinese.predicates import PUNCTUATION
from tasks.extract.rules.chinese.tokens import Token, text_of
from tasks.extract.rules.kinds import writing
from tasks.text.chinese_words import HAN_OR_ZERO, tag_of
from tasks.text.english_words import is_word

BRACKETS = "《》“”「」『』‘’\"'〈〉 "
PLACE_TAIL = "市省县区州"
# A note in parentheses, and the number of a section: 3.5 财务制度.
BESIDE_NAME = re.compile(
    rf"\s*[（(][^（）()]*[)）]$|^\d{{1,2}}(?:\.\d{{1,2}})+\.?\s+(?={HAN_OR_ZERO.pattern})"
)
HEADLINE = re.compile("[，。；：！？!?]")
TRANSLITERATED = re.compile(f"[{TRANSLITERATION}·•・‧-]+")


@dataclass(frozen=True, slots=True)
class TypedName:
    """A name as facts use it, with the kind of its entity."""

    text: str
    kind: str


def clean(text: str) -> str:
    """Return a name without the brackets and quotation marks around it."""
    text = text.strip(BRACKETS + "、，。；：")
    for opening, closing in ("“”", "「」", "『』", "《》"):
        if text.count(opening) != text.count(closing):
            text = text.replace(opening, "").replace(closing, "")
    return text


def short_forms(title: str, text: str) -> list[str]:
    """Return the short forms of a title in a text: 图灵 for 艾伦·图灵, 北京 for 北京市."""
    forms: list[str] = []
    parts = re.split("[·•・‧]", title)
    if len(parts) > 1 and len(parts[-1]) > 1:
        forms.append(parts[-1])
    if len(title) > 2 and title[-1] in PLACE_TAIL:
        forms.append(title[:-1])
    return [form for form in forms if form in text]


def plain_title(title: str) -> str:
    """Return a title without its disambiguator in parentheses and its number."""
    return clean(BESIDE_NAME.sub("", title)) or title


def names_document(title: str) -> bool:
    """Return whether a title names a law, a notice or an article rather than its subject."""
    headline = bool(HEADLINE.search(title)) or title.startswith("关于")
    return len(title) > 3 and (headline or title.endswith(DOCUMENT_ENDINGS))


def kind_of(tokens: list[Token]) -> str:
    """Return the kind of entity that a phrase names, by its tags and its ending."""
    last = tokens[-1]
    if last.tag == "work":
        return "work"
    text = text_of(tokens)
    if last.tag in ("nr", "nrt", "nrfg") and len(tokens) == 1 and looks_like_person(text):
        return "person"
    if last.tag == "name" and re.search("[·•・‧]", last.text) and len(tokens) == 1:
        return "person"
    kind = kind_by_ending(text)
    by_tag = {"ns": "place", "nt": "organisation"}
    return by_tag.get(last.tag, kind) if kind == "unknown" else kind


def looks_like_person(text: str, *, beside_role: bool = False) -> bool:
    """Return whether a word can be a person's name: after a surname, or transliterated.

    Of most words that begin with a surname (水和油, 石拱桥, 经审查) a logistic regression tells by
    their characters that they name nobody; recipes/chinese_persons.py learned it. A word
    `beside_role` is likelier one: 作家|茅盾.
    """
    if len(text) not in (2, 3) or text[0] not in SURNAMES:
        return len(text) > 1 and TRANSLITERATED.fullmatch(text) is not None
    weights = _person_weights()
    score = math.fsum(weights.get(feature, 0.0) for feature in ("", *person_features(text)))
    return score > (-ROLE_BONUS if beside_role else 0)


def person_features(name: str) -> set[str]:
    """Return the features of a word of two or three characters that begins with a surname."""
    size = len(name)
    features = {
        f"{size} characters",
        f"surname {name[0]}",
        f"surname {name[0]} of {size}",
        f"known as {tag_of(name)} of {size}",
        f"first as {tag_of(name[0])}",
        f"given as {tag_of(name[1:])} of {size}",
        f"last {name[-1]}",
        f"last as {tag_of(name[-1])}",
        f"ending of {kind_by_ending(name)}",
        *(f"given {character}" for character in name[1:]),
    }
    if size > 2:
        features |= {f"begins as {tag_of(name[:2])}", f"middle as {tag_of(name[1])}"}
    if TRANSLITERATED.fullmatch(name):
        features.add(f"foreign of {size}")
    return features


@cache
def _person_weights() -> dict[str, float]:
    weights: dict[str, float] = json.loads(PERSON_WEIGHTS.read_text("utf-8"))
    return weights


def kind_by_ending(text: str) -> str:
    """Return the kind that the ending of a name or description shows, else `unknown`."""
    text = text.removesuffix("之一")
    for length in range(min(len(text) - 1, LONGEST_ENDING), 0, -1):
        if (kind := KIND_BY_ENDING.get(text[-length:])) is not None:
            return kind
    return "unknown"


def described_kind(description: str) -> str:
    """Return the kind of entity with a description: 英国数学家 a person, 中国最长的河流 a place."""
    description = description.removesuffix("之一")
    if description.endswith(PERSON_ENDINGS):
        return "person"
    return kind_by_ending("x" + description)


def is_name(tokens: list[Token]) -> bool:
    """Return whether a phrase names one entity rather than describing it."""
    if any(token.text in ("的", "之一") or token.tag == "v" for token in tokens):
        return False
    last = tokens[-1]
    if last.tag in ("work", "name", "latin", "nt", "ns", "nz", "nr", "nrt", "nrfg", "quote", "j"):
        return last.text not in PRONOUNS
    named = any(token.tag in ("ns", "nt", "nr", "nz", "name", "nrt") for token in tokens[:-1])
    kind = kind_by_ending(text_of(tokens))
    return named and kind != "unknown"


def is_native(tokens: list[Token]) -> bool:
    """Return whether a phrase gives somebody's place of origin: 浙江绍兴人, but not 中国诗人."""
    *places, last = tokens
    if last.text[-1] != "人" or not all(token.tag == "ns" for token in places):
        return False
    place = last.text[:-1]
    return bool(places) if not place else tag_of(place) == "ns"


WEIGHTS = Path(__file__).with_name("kind_weights.safetensors")
PERSON_WEIGHTS = Path(__file__).with_name("persons.json")
ROLE_BONUS = 2.5  # what an office or a relative before a word adds to the score that it is a person
_AROUND = 3  # words on each side
_MIDDLE_DOT = re.compile("[·•・‧]")


def mention_features(tokens: Sequence[Token], first: int, last: int) -> dict[str, float]:
    """Return the features of the name at the tokens from `first` up to `last` of a sentence."""
    before, after = tokens[:first], tokens[last:]
    features = [
        f"before: {_at(before, -1)}",
        f"after: {_at(after, 0)}",
        f"before: {_tag(before, -1)}",
        f"after: {_tag(after, 0)}",
        f"before: {_tag(before, -2)} {_tag(before, -1)}",
        f"after: {_tag(after, 0)} {_tag(after, 1)}",
        f"before ends in {_at(before, -1)[-1:]}",
        f"after begins with {_at(after, 0)[:1]}",
        *(f"near before: {_word(token)}" for token in before[-_AROUND:]),
        *(f"near after: {_word(token)}" for token in after[:_AROUND]),
        *_predicate(tokens, first, last),
    ]
    return name_features(tokens[first:last]) | dict.fromkeys(features, 1.0)


def name_features(own: Sequence[Token]) -> dict[str, float]:
    """Return the features of a name's tokens, independent of its context."""
    name = clean(text_of(own)) or text_of(own)
    han = bool(HAN_OR_ZERO.search(name))
    script = "no Han" if not han else "mixed" if name[0].isascii() else "Han"
    features = [
        f"{min(len(name), 8)} characters, {script}",
        f"{min(len(own), 4)} words, {script}",
        f"tags {' '.join(token.tag for token in own[-3:])}",
        f"known as {tag_of(name)}",
        f"first {name[0]}",
        f"first {name[:2]}",
        f"last {name[-1]}",
        f"last {name[-2:]}",
        f"last {name[-3:]}",
        f"ending of {kind_by_ending(name)}",
    ]
    if han:
        features += [f"characters {name[at : at + 2]}" for at in range(len(name) - 1)]
        features += [f"begins as {tag_of(name[:2])}", f"ends as {tag_of(name[-2:])}"]
        features.append(f"without the first {tag_of(name[1:])}")
    else:
        words = name.lower().split()
        plain = "plain" if is_word(words[-1]) else "no plain"
        features += [f"last word {words[-1]}", f"{min(len(words), 4)} Latin words, {plain} last"]
    if HAN_OR_ZERO.match(name) and name[0] in SURNAMES:
        features.append(f"a surname of {min(len(name), 4)}")
    values = dict.fromkeys(features, 1.0) | writing(name)
    values["foreign characters"] = float(TRANSLITERATED.fullmatch(name) is not None)
    values["a middle dot"] = float(bool(_MIDDLE_DOT.search(name)))
    return {feature: value for feature, value in values.items() if value}


def _predicate(tokens: Sequence[Token], first: int, last: int) -> list[str]:
    """Return the feature of the clause's likeliest predicate and the mention's side of it."""
    start = max((i + 1 for i in range(first) if tokens[i].text in PUNCTUATION), default=0)
    end = next((i for i in range(last, len(tokens)) if tokens[i].text in PUNCTUATION), len(tokens))
    places = [i for i in (*range(start, first), *range(last, end)) if tokens[i].leads]
    best = max(places, key=lambda i: tokens[i].leads, default=None)
    if best is None:
        return []
    return [f"{'before' if best >= last else 'after'} its verb {tokens[best].text}"]


def _at(tokens: Sequence[Token], place: int) -> str:
    inside = -len(tokens) <= place < len(tokens)
    return _word(tokens[place]) if inside else "nothing"


def _tag(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].tag if -len(tokens) <= place < len(tokens) else "nothing"


def _word(token: Token) -> str:
    """Return the text of a word, or its tag for names, times and numbers."""
    marked = token.tag in ("time", "number", "work", "name", "latin", "quote")
    return f"<{token.tag}>" if marked else token.text
