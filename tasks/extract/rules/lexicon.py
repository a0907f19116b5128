"""The word lists of the English rules, read from lexicon.toml."""

import tomllib
from pathlib import Path
from typing import Any

_TEXT = Path(__file__).with_name("lexicon.toml").read_text("utf-8")
_WORDS: dict[str, Any] = tomllib.loads(_TEXT)


def __getattr__(name: str) -> frozenset[str]:
    """Return the words of a list in lexicon.toml by its name in capitals, as `import` asks for it.

    The lists that other modules need in another form are below.
    """
    if name.lower() not in _WORDS:
        raise AttributeError(f"lexicon.toml has no list {name.lower()!r}")
    return frozenset(_WORDS[name.lower()].split())


_PAIRS = iter(_WORDS["offices_in_full"].split())
OFFICE_IN_FULL = dict(zip(_PAIRS, _PAIRS, strict=True))
MODALITY_OF_WORD = {
    word: modality for modality, words in _WORDS["modality"].items() for word in words.split()
}
CLASSES = frozenset(" ".join(_WORDS["kinds"].values()).split())  # may end a name: Hubble telescope
KIND_OF_NOUN = dict.fromkeys(_WORDS["artefacts"].split(), "thing") | {
    noun: kind for kind, nouns in _WORDS["kinds"].items() for noun in nouns.split()
}
