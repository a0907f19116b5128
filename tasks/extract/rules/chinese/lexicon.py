"""The word lists of the Chinese rules, read from lexicon.toml."""

import json
import tomllib
from pathlib import Path
from typing import Any

_TEXT = Path(__file__).with_name("lexicon.toml").read_text("utf-8")
_WORDS: dict[str, Any] = tomllib.loads(_TEXT)


def _listed(name: str) -> tuple[str, ...]:
    return tuple(_WORDS[name].split())


TRANSLITERATION = "".join(_listed("transliteration"))
SURNAMES = frozenset("".join(_listed("surnames")))
# Learned by recipes/chinese_tags.py; the tags in lexicon.toml override them.
_LEARNED: dict[str, str] = json.loads(Path(__file__).with_name("tags.json").read_text("utf-8"))
TAGS = {
    word: tag
    for tags in (_LEARNED, _WORDS["tags"])
    for tag, words in tags.items()
    for word in words.split()
}
ATTRIBUTES = frozenset(_listed("attributes"))
TAGS |= dict.fromkeys(ATTRIBUTES, "n")
LANGUAGES = frozenset(_listed("languages"))
ALIAS_RELATIONS = frozenset(_listed("alias_relations"))
MEASURES: dict[str, str] = _WORDS["measures"]
RELATIVE_YEARS: dict[str, int] = _WORDS["relative_years"]
ASPECTS = {aspect: tuple(words.split()) for aspect, words in _WORDS["aspects"].items()}
KIND_BY_ENDING = {
    ending: kind for kind, endings in _WORDS["kind_endings"].items() for ending in endings.split()
}
LONGEST_ENDING = max(map(len, KIND_BY_ENDING))
PERSON_ENDINGS = _listed("person_endings")

ROLES = frozenset(_listed("roles"))
KIN = frozenset(_listed("kin"))
COPULAS = frozenset(_listed("copulas"))
PREPOSITIONS = frozenset(_listed("prepositions"))
AND = frozenset(_listed("and"))
CREATION = frozenset(_listed("creation"))
PRONOUNS = frozenset(_listed("pronouns"))
NEGATIONS = frozenset(_listed("negations"))
EMPTY_VERBS = frozenset(_listed("empty_verbs"))
PIVOTS = frozenset(_listed("pivots"))
NAMING = frozenset(_listed("naming"))
USING = frozenset(_listed("using"))
FOLLOWING = frozenset(_listed("following"))
GOING = frozenset(_listed("going"))
COMPLEMENTS = frozenset(_listed("complements"))
AFTER_TIME = frozenset(_listed("after_time"))
PLACE_ENDS = frozenset(_listed("place_ends"))
WHILE = frozenset(_listed("while"))
INDEFINITE = frozenset(_listed("indefinite"))
CLASSIFIERS = frozenset(word[1:] for word in INDEFINITE if len(word) == 2)
LASTING = frozenset(_listed("lasting"))
OWNING = frozenset(_listed("owning"))
GOVERNING = frozenset(_listed("governing"))
CLAUSAL = frozenset(_listed("clausal"))
LIGHT = frozenset(_listed("light"))
GIVEN = frozenset(_listed("given"))
DOCUMENT_ENDINGS = _listed("document_endings")
PUBLISHING = frozenset(_listed("publishing"))
APPOINTING = frozenset(_listed("appointing"))
CONDITIONS = frozenset(_listed("conditions"))
LEANING = frozenset(_listed("leaning"))
HEDGES = frozenset(_listed("hedges"))
SPEAKERS = frozenset(_listed("speakers"))
STATING = frozenset(_listed("stating")) | COPULAS | CREATION | NAMING | ALIAS_RELATIONS
SHORT_VERBS = frozenset(_listed("short_verbs"))
RELATIVE_WORDS = frozenset(_listed("relative_words"))
VAGUE = frozenset(_listed("vague"))
SAYING = frozenset(_listed("saying"))
BELIEVING = frozenset(_listed("believing"))
MODALITY_OF_WORD = {
    word: modality for modality, words in _WORDS["modality"].items() for word in words.split()
}
