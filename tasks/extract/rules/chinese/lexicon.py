"""The word lists of the Chinese rules, read from lexicon.toml."""

import json
import tomllib
from pathlib import Path
from typing import Any

_TEXT = Path(__file__).with_name("lexicon.toml").read_text("utf-8")
_WORDS: dict[str, Any] = tomllib.loads(_TEXT)


def _listed(name: str) -> tuple[str, ...]:
    return tuple(_WORDS[name].split())


def __getattr__(name: str) -> frozenset[str]:
    """Return the words of a list in lexicon.toml by its name in capitals, as `import` asks for it.

    The lists that other modules need in another form are below.
    """
    if name.lower() not in _WORDS:
        raise AttributeError(f"lexicon.toml has no list {name.lower()!r}")
    return frozenset(_listed(name.lower()))


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
ALIAS_RELATIONS = frozenset(_listed("alias_relations"))
MEASURES: dict[str, str] = _WORDS["measures"]
RELATIVE_YEARS: dict[str, int] = _WORDS["relative_years"]
ASPECTS = {aspect: tuple(words.split()) for aspect, words in _WORDS["aspects"].items()}
KIND_BY_ENDING = {
    ending: kind for kind, endings in _WORDS["kind_endings"].items() for ending in endings.split()
}
LONGEST_ENDING = max(map(len, KIND_BY_ENDING))
PERSON_ENDINGS = _listed("person_endings")

COPULAS = frozenset(_listed("copulas"))
CREATION = frozenset(_listed("creation"))
NAMING = frozenset(_listed("naming"))
INDEFINITE = frozenset(_listed("indefinite"))
CLASSIFIERS = frozenset(word[1:] for word in INDEFINITE if len(word) == 2)
DOCUMENT_ENDINGS = _listed("document_endings")
STATING = frozenset(_listed("stating")) | COPULAS | CREATION | NAMING | ALIAS_RELATIONS
MODALITY_OF_WORD = {
    word: modality for modality, words in _WORDS["modality"].items() for word in words.split()
}
