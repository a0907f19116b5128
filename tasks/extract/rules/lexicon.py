"""The word lists of the English rules, read from lexicon.toml."""

import tomllib
from pathlib import Path
from typing import Any

_TEXT = Path(__file__).with_name("lexicon.toml").read_text("utf-8")
_WORDS: dict[str, Any] = tomllib.loads(_TEXT)


def _listed(name: str) -> frozenset[str]:
    return frozenset(_WORDS[name].split())


OPENERS = _listed("openers")
NEGATING = _listed("negating")
OFFICES = _listed("offices")
HANDLING = _listed("handling")
_PAIRS = iter(_WORDS["offices_in_full"].split())
OFFICE_IN_FULL = dict(zip(_PAIRS, _PAIRS, strict=True))
MODALITY_OF_WORD = {
    word: modality for modality, words in _WORDS["modality"].items() for word in words.split()
}
ARTEFACTS = _listed("artefacts")
KIND_OF_NOUN = dict.fromkeys(ARTEFACTS, "thing") | {
    noun: kind for kind, nouns in _WORDS["kinds"].items() for noun in nouns.split()
}
