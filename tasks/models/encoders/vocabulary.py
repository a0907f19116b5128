"""MiniLM's tokeniser and vectors of words, with the Chinese characters that they lack."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tasks.models.encoders.minilm import minilm_folder, word_rows

CHINESE_MODEL = Path(__file__).with_name("chinese_model")
_CHARACTERS = CHINESE_MODEL / "characters.txt"  # they follow the packaged vocabulary


def own_characters() -> list[str]:
    """Return the characters beyond the packaged vocabulary, in the order of their vectors."""
    return _CHARACTERS.read_text("utf-8").split()


@cache
def load_tokenizer(longest: int | None = None) -> Any:
    """Return the tokeniser; it cuts texts after `longest` tokens, and never pads."""
    from tokenizers import Tokenizer

    recipe = json.loads((minilm_folder() / "tokenizer.json").read_text("utf-8"))
    vocabulary = recipe["model"]["vocab"]
    for character in own_characters():
        vocabulary.setdefault(character, len(vocabulary))
    tokenizer = Tokenizer.from_str(json.dumps(recipe))
    tokenizer.no_padding()
    if longest is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(longest)
    return tokenizer


def word_vectors(ids: list[int], own_words: np.ndarray) -> np.ndarray:
    """Return float32 (tokens, 384), the packaged rows of tokens or those of own characters."""
    packaged = word_rows()
    own = np.array(ids) - len(packaged)
    words: np.ndarray = packaged[np.where(own < 0, ids, 0)]
    words[own >= 0] = own_words[own[own >= 0]]
    return words
