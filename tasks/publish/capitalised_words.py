"""Find words that owe their capital to a heading, a menu or a form, and words of a template.

A logistic regression over the uses of a name in Latin letters in the whole corpus, and over its
words, gives the probability that it is a name. It is fitted to judged names
(`python -m recipes.judged_names`). Chinese has no capitals: a Chinese name is left out only if
it hardly occurs outside the lines that a quarter of all documents share.
"""

import math
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from tasks.extract.rules.confidence import rarities
from tasks.text.english_words import is_word
from tasks.text.languages import HAN
from warehouse.derivation import Derivation

WEIGHTS = {
    "constant": -9.26,
    "after_digit": -5.762,
    "opening": -2.879,
    "labelling": -6.098,
    "rarest word": 0.541,
    "commonest word": 0.358,
    "words": 0.848,
    "plain words": -1.06,
    "small letters": -0.956,
    "inner capital": 1.448,
    "documents": 1.003,
}
ROWS_AT_ONCE = 10_000  # that are Python objects
LEAST_PROBABILITY = 0.35
"""The probability of being a name below which a word is left out."""

_MANY, _RARELY = 10, 4  # documents with a word of a template; one in 4 at most has it elsewhere
_RAREST = 8.4  # the logarithm of the rank of a word that is not among the common words
_NO_WORD = -3.0  # the log ratio of lower-case uses of a name that is not a single word


def capitalised_words(derivation: Derivation) -> pa.Array:
    """Return the ids of resolved entities that are probably capitalised words, not names."""
    derivation.step("name_uses")
    batches = derivation.table("name_uses").to_batches(ROWS_AT_ONCE)
    rows = (row for batch in batches for row in batch.to_pylist())
    return pa.array([row["entity_id"] for row in rows if not is_name(row)], pa.string())


def is_name(row: dict[str, Any]) -> bool:
    """Tell whether a row of the table `name_uses` describes a name."""
    if row["own_documents"] * _RARELY <= row["documents"] >= _MANY:
        return False
    return HAN.match(row["name"]) is not None or probability(features(row)) >= LEAST_PROBABILITY


def features(row: dict[str, Any]) -> dict[str, float]:
    """Return the features that distinguish a name from a word, for a row of `name_uses`.

    They are shares of its mentions, and for its words: the logarithms of their frequency ranks,
    whether all are in the dictionary, and for a single word how often it is in lower case.
    """
    return dict(_features(row))


def _features(row: dict[str, Any]) -> Iterator[tuple[str, float]]:
    name = row["name"]
    words = [word for word in name.split() if any(map(str.isalpha, word))]
    plain = bool(words) and not name.isupper() and all(is_word(word.lower()) for word in words)
    # Units follow numbers, and so do plain headings; 20 is also the number of a house.
    yield "after_digit", row["after_digit"] if plain or " " not in name else 0.0
    yield "opening", row["opening"] if plain else 0.0  # a rare word is no name less for it
    yield "labelling", row["labelling"]
    rare = [_RAREST] if name.isupper() else rarities(name)  # IT is not "it"
    small = math.log((row["lower_case"] + 0.5) / (row["capitalised"] + 0.5))
    yield "rarest word", max(rare)
    yield "commonest word", min(rare)
    yield "words", min(len(name.split()), 5)
    yield "plain words", float(plain)
    yield "small letters", _NO_WORD if len(words) != 1 or name.isupper() else small
    yield (
        "inner capital",
        float(any(a.islower() and b.isupper() for a, b in zip(name, name[1:], strict=False))),
    )
    yield "documents", math.log1p(row["own_documents"])


def probability(values: dict[str, float]) -> float:
    """Return the probability that these features describe a name."""
    odds = WEIGHTS["constant"] + sum(WEIGHTS[name] * value for name, value in values.items())
    return 1 / (1 + math.exp(-odds))
