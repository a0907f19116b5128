"""Questions and relations as bags of hashed n-grams, and how much the two overlap.

The planner and the policy of paths share these features, and what they do with them.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np

from tasks.graphs.graph import Graph
from tasks.programs.planner.topics import SLOT, Topic
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import HAN, is_chinese
from tasks.text.stems import english_stem

MOST_GRAMS = 160  # per question
NAME_FEATURES = 5
NAME_WEIGHTS = (4.0, 1.0, 1.0, 0.5, 0.5)  # first weights of these
FEW = 2.0  # examples that meant a hop; with so many, what was learned of it has half its weight
_TOKEN = re.compile(rf"{SLOT}|\w+|[^\w\s]")
_CHINESE_TOKEN = re.compile(rf"{SLOT}|[a-z0-9]+|[^\s]")
_WORDS = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1 << 12)
def question_features(masked: str) -> np.ndarray:
    """Return the hashed n-grams of a masked question, int64 (n-grams,)."""
    tokens = ["<", *_tokens(masked), ">"]
    longest = 4 if is_chinese(masked) else 3
    grams = [
        " ".join(tokens[i : i + n])
        for n in range(1, longest + 1)
        for i in range(len(tokens) - n + 1)
    ]
    return np.array([_hash(gram) for gram in grams[:MOST_GRAMS]], np.int64)


def content_features(masked: str) -> np.ndarray:
    """Return the hashes of a masked question's content words, int64 (words,)."""
    words = [t for t in _tokens(masked) if _WORDS.fullmatch(t) and t not in FUNCTION_WORDS]
    return np.array([_hash(word) for word in words], np.int64)


def name_features(topic: Topic, graph: Graph) -> np.ndarray:
    """Return numbers about the name that a question is about, float32 (NAME_FEATURES,).

    How much of the question it covers, whether it is quoted, its length, whether it is capitalised,
    and the edges of its first nodes. Zeros for nodes that the question does not name.
    """
    if not topic.name:
        return np.zeros(NAME_FEATURES, np.float32)
    some = topic.nodes[:20]
    degree = (graph.out_offsets[some + 1] - graph.out_offsets[some]).sum()
    features = (
        topic.share,
        topic.quoted,
        np.log1p(len(topic.name)) / 4,
        any(character.isupper() for character in topic.name),
        np.log1p(degree) / 10,
    )
    return np.array(features, np.float32)


@lru_cache(maxsize=1 << 16)
def relation_features(relation: str, inverse: bool) -> tuple[int, ...]:
    """Return the hashed words and character n-grams of a relation's name in one direction."""
    sign = "~" if inverse else "="
    words = list(relation_words(relation))
    text = "".join(words)
    grams = [*words, *(text[i : i + n] for n in (1, 2) for i in range(len(text) - n + 1))]
    if not HAN.search(text):
        grams = [*words, " ".join(words)]
    return tuple(_hash(sign + gram) for gram in dict.fromkeys([*grams, "whole " + relation]))


@lru_cache(maxsize=1 << 16)
def relation_words(relation: str) -> tuple[str, ...]:
    """Return the stems of the words in a relation's name; Chinese words stay unchanged."""
    return tuple(english_stem(word.lower()) for word in _WORDS.findall(relation))


OVERLAPS = 5


def overlap(masked: str, relation: str) -> tuple[float, ...]:
    """Return how much of a relation's name a question contains: `OVERLAPS` numbers from 0 to 1.

    Whether it contains the whole name; the share of the name's words, of its characters if they are
    Chinese (any question has most letters), and of its pairs of characters; and the share of its
    longest substring in the question.
    """
    return _overlap(_plain(masked), relation)


@lru_cache(maxsize=1 << 17)
def _overlap(question: str, relation: str) -> tuple[float, ...]:
    words = relation_words(relation)
    name = "".join(words)
    if not name:
        return (0.0,) * OVERLAPS
    joined = question.replace(" ", "")
    pairs = [name[i : i + 2] for i in range(len(name) - 1)] or [name]
    longest = next(
        n
        for n in range(len(name), -1, -1)
        if any(name[i : i + n] in joined for i in range(len(name) - n + 1))
    )
    return (
        float(name in joined),
        _share_of(words, question),
        sum(character in joined for character in name) / len(name) if HAN.search(name) else 0.0,
        sum(pair in joined for pair in pairs) / len(pairs),
        longest / len(name),
    )


@lru_cache(maxsize=1 << 17)
def named_share(masked: str, relation: str) -> float:
    """Return the share of a relation's content words that a question contains.

    A Chinese relation is one word, so that its pairs of characters count: a question about
    `最喜欢的运动` may contain `喜欢` and `运动`.
    """
    words = relation_words(relation)
    content_words = tuple(word for word in words if word not in FUNCTION_WORDS) or words
    if not content_words:
        return 0.0
    question = _plain(masked)
    pairs = [
        a + b for a, b in pairwise(relation) if HAN.match(a) and HAN.match(b) and "的" not in a + b
    ]
    joined = question.replace(" ", "")
    by_pairs = sum(pair in joined for pair in pairs) / len(pairs) if pairs else 0.0
    return max(_share_of(content_words, question), by_pairs)


def bags_in_a_row(bags: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the n-grams of all bags, one bag after the other, and where each begins: int64."""
    begins = np.cumsum([0, *(len(bag) for bag in bags)])[:-1]
    return np.concatenate([np.zeros(0, np.int64), *bags]), begins


def log_sums(scores: Any, owners: Any, count: int) -> Any:
    """Return the logarithms of the sums of exponentials of each owner's scores: (count,)."""
    import torch

    top = torch.full((count,), -1e9).scatter_reduce(0, owners, scores.detach(), "amax")
    sums = torch.zeros(count).index_add(0, owners, (scores - top[owners]).exp())
    return sums.clamp(min=1e-30).log() + top


def _share_of(words: tuple[str, ...], question: str) -> float:
    known, joined = set(question.split()), question.replace(" ", "")
    matches = (word in known or bool(HAN.search(word) and word in joined) for word in words)
    return sum(matches) / len(words)


@lru_cache(maxsize=1 << 12)
def _plain(masked: str) -> str:
    return " ".join(english_stem(token) for token in _tokens(masked) if token != SLOT)


def _tokens(masked: str) -> list[str]:
    text = masked.lower()
    return (_CHINESE_TOKEN if is_chinese(text) else _TOKEN).findall(text)


def _hash(gram: str) -> int:
    return crc32(gram.encode("utf-8", "surrogatepass"))
