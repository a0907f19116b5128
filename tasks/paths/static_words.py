"""Text vectors as means of word vectors, at a hundred thousand texts a second.

The vectors are the packaged MiniLM's own input embeddings of tokens. Rare tokens have more
weight, by their rank in the vocabulary, which is sorted by frequency; the mean text and the most
common direction are removed (Arora et al. 2017, "A simple but tough-to-beat baseline for sentence
embeddings"), and the next DIMENSIONS directions are kept. None of this depends on a graph, so all
graphs share one space. Chinese characters, which the model hardly knows, and other unknown words
have random vectors, so that only equal ones are similar.
"""

from functools import cache, cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sparse

from tasks.models.encoders.minilm import MINILM_WEIGHTS, minilm_folder
from tasks.paths.name_words import NameWords
from tasks.text.languages import HAN

DIMENSIONS = 128
_COMMON = 1e-4  # a token of this probability has half the weight of a rare one
_FIRST_WORD = 1996  # its rank in the vocabulary, after signs and single characters
_UNKNOWN = 8192  # rows for unknown words
_UNKNOWN_TOKEN = "[UNK]"


class StaticWords:
    """Encodes texts by their words, without regard to their order."""

    dimensions = DIMENSIONS
    id = f"static-{MINILM_WEIGHTS[:8]}-1"

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return vectors of texts, float32 (texts, DIMENSIONS), of length one; zeros without words.

        Raises AlmanacError if the packaged weights are not installed.
        """
        means, _ = self.means(NameWords.of(texts))
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        vectors: np.ndarray = means / np.maximum(lengths, 1e-9)
        return vectors

    def means(self, words: NameWords) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted means of the words of names, float32 (names, d), and the weights."""
        return self.means_of(self.tokens(words))

    def means_of(self, tokens: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted means, as `means` does, from rows of `tokens`."""
        weighted, of_tokens = _table()
        weights, sums = tokens @ of_tokens, tokens @ weighted
        return sums / np.maximum(weights, 1e-9)[:, None], weights

    def tokens(self, words: NameWords) -> Any:
        """Return the counts of tokens in names, sparse float32 (names, tokens)."""
        lists = self._tokens_of(words.words)
        shape = (len(lists), len(_table()[1]))
        of_words = _counted([len(tokens) for tokens in lists], np.concatenate([[], *lists]), shape)
        of_names = _counted(
            np.diff(words.offsets), words.places, (len(words.offsets) - 1, len(lists))
        )
        return of_names @ of_words

    def _tokens_of(self, words: list[str]) -> list[list[int]]:
        known = len(_table()[1]) - _UNKNOWN
        if not words:
            return []
        encodings = self._tokenizer.encode_batch(words, add_special_tokens=False)
        lists = []
        for word, encoding in zip(words, encodings, strict=True):
            if word.isascii():
                lists.append(encoding.ids)
            elif HAN.search(word):
                pieces = [*word, *map("".join, zip(word, word[1:], strict=False))]
                lists.append([known + _bucket(piece) for piece in pieces])
            elif _UNKNOWN_TOKEN in encoding.tokens:
                lists.append([known + _bucket(word)])
            else:
                lists.append(encoding.ids)
        return lists

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


@cache
def _table() -> tuple[np.ndarray, np.ndarray]:
    """The weighted vectors of tokens, float32 (tokens, d), and the weights (tokens,)."""
    from safetensors import safe_open

    with safe_open(str(minilm_folder() / "model.safetensors"), "np") as file:
        vectors = file.get_tensor("embeddings.word_embeddings.weight")
    ranks = np.maximum(np.arange(len(vectors)) - _FIRST_WORD + 1, 0)
    shares = np.where(ranks > 0, 1 / np.maximum(ranks, 1), 1e-3)  # Zipf's law
    shares /= shares.sum()
    weights = (_COMMON / (_COMMON + shares)).astype(np.float32)
    expected = (shares * weights) @ vectors / (shares @ weights)
    vectors = (vectors - expected.astype(np.float32)) * weights[:, None]
    words = vectors[ranks > 0]
    _, directions = np.linalg.eigh(words.T @ words)  # the strongest last
    vectors = vectors @ directions[:, -2 : -2 - DIMENSIONS : -1]
    usual = np.sqrt((vectors[ranks > 0] ** 2).sum(1).mean() / DIMENSIONS)
    unknown = np.random.default_rng(0).normal(0, usual, (_UNKNOWN, DIMENSIONS))
    return (
        np.concatenate([vectors, unknown]).astype(np.float32),
        np.concatenate([weights, np.ones(_UNKNOWN, np.float32)]),
    )


def _bucket(piece: str) -> int:
    return int.from_bytes(blake2b(piece.encode(), digest_size=4).digest(), "little") % _UNKNOWN


def _counted(counts: Any, columns: np.ndarray, shape: tuple[int, int]) -> Any:
    """Return a sparse float32 array of ones, with `counts` entries per row."""
    ends = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return sparse.csr_array(
        (np.ones(len(columns), np.float32), np.asarray(columns, np.int32), ends), shape
    )
