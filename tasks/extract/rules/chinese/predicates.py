"""Estimate how likely a word is the predicate of its clause.

The segmenter's dictionary gives a word one tag wherever it stands (物流与|采购|联合会 and
采购|物资), and Chinese marks neither verbs nor relative clauses by form. A logistic regression,
learned from treebanks (`recipes/chinese_predicates.py`), weighs the words and tags around a word
and its place among the verbs and 的 of its clause.
"""

import json
import math
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from tasks.text.chinese_words import HAN_OR_ZERO
from tasks.text.languages import word_set

WEIGHTS = Path(__file__).with_name("predicates.json")
# Our own tags beside those of the dictionary: of names that their writing shows, and of values.
WRITTEN = word_set("name work latin quote")
MARKED = WRITTEN | {"time", "number"}
PUNCTUATION = frozenset("，,；;：:。！？!?")
# Tags of words that may be predicates.
ACTED = word_set("v vn vd vg vq zg n a an ad b i l z")


class Word(Protocol):
    """The part of a token that the model uses."""

    text: str
    tag: str

    @property
    def nominal(self) -> bool:
        """Whether it can be part of a noun phrase."""


def may_lead(word: Word) -> bool:
    """Return whether a word can be a predicate by its tag in the dictionary."""
    return word.tag in ACTED and bool(HAN_OR_ZERO.match(word.text))


def leads(words: Sequence[Word], position: int, start: int, end: int) -> float:
    """Return the probability that the word at `position` is the predicate of its clause.

    The clause is `words[start:end]`.
    """
    weights = _weights()
    # `fsum` does not depend on the order of a set, which differs from process to process.
    total = math.fsum(weights.get(name, 0.0) for name in {*features(words, position, start, end)})
    return 1 / (1 + math.exp(-total - weights[""]))


@cache
def _weights() -> dict[str, float]:
    weights: dict[str, float] = json.loads(WEIGHTS.read_text("utf-8"))
    return weights


def clauses(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each stretch of words between punctuation marks."""
    start = 0
    for position, word in enumerate([*words, None]):
        if word is None or word.text in PUNCTUATION:
            if position > start:
                yield start, position
            start = position + 1


def features(words: Sequence[Word], position: int, start: int, end: int) -> Iterator[str]:
    """Yield the features of a word in the clause from `start` to `end`."""
    here, before, after = words[position], words[start:position], words[position + 1 : end]
    text, tag = here.text, here.tag
    (left, left_tag), (right, right_tag) = _at(words, position - 1), _at(words, position + 1)
    (far_left, far_left_tag), (far_right, far_right_tag) = (
        _at(words, position - 2),
        _at(words, position + 2),
    )
    yield from (f"w={text}", f"t={tag}", f"w-1={left}", f"w+1={right}")
    yield from (f"w-2={far_left}", f"w+2={far_right}", f"t-1={tag}|{left_tag}")
    yield from (f"t+1={tag}|{right_tag}", f"tt={tag}|{left_tag}|{right_tag}")
    yield from (f"t-2={far_left_tag}|{left_tag}", f"t+2={right_tag}|{far_right_tag}")
    yield from (f"first={text[0]}{tag}", f"last={text[-1]}{tag}", f"n={min(len(text), 4)}{tag}")
    yield from (f"{tag}|w-1={left}", f"{tag}|w+1={right}")
    shape_before, shape_after = _shape(before), _shape(after)
    yield from (f"b={shape_before[-4:]}|{tag[0]}", f"a={tag[0]}|{shape_after[:4]}")
    yield f"ab={shape_before[-2:]}|{tag[0]}|{shape_after[:2]}"
    verbs_before, verbs_after = _verbs(before), _verbs(after)
    yield f"verbs={min(verbs_before, 2)}|{min(verbs_after, 2)}|{tag}"
    yield f"place={min(len(before), 3)}|{min(len(after), 3)}|{tag}"
    yield from (f"opens={not verbs_before}|{text}", f"closes={not verbs_after}|{text}")
    if "D" in shape_after:
        first = shape_after.index("D")
        later, between = min(_verbs(after[first + 1 :]), 2), min(_verbs(after[:first]), 1)
        described = after[first + 1].tag[0] if first + 1 < len(after) else "$"
        yield f"D>{min(first, 4)}|{later}|{between}|{described}|{tag}"
        yield f"Dw={text}|{min(later, 1)}"
    last = shape_before.rfind("D")
    yield f"D<{last >= 0}|{min(_verbs(before[last + 1 :]), 2)}|{tag}"
    nouns = sum(word.nominal for word in before)
    yield f"nouns={min(nouns, 3)}|{min(len(after), 3)}|{tag}"
    adverbs = [word.text for word in before if word.tag == "d"]
    yield f"adverb={adverbs[-1] if adverbs else ''}|{left_tag[0] if before else '^'}|{tag}"
    led = [i for i, word in enumerate(before) if word.tag == "p"]
    far = min(len(before) - led[-1], 4) if led else 0
    yield f"led={before[led[-1]].text if led else ''}|{far}|{tag}"


def _at(words: Sequence[Word], position: int) -> tuple[str, str]:
    """Return the text and tag of a word; names and values have their tag as text."""
    if not 0 <= position < len(words):
        return ("^", "^") if position < 0 else ("$", "$")
    word = words[position]
    return f"<{word.tag}>" if word.tag in MARKED else word.text, word.tag


def _shape(words: Sequence[Word]) -> str:
    """Return the first letters of the words' tags, with D for 的."""
    return "".join("D" if word.text == "的" else word.tag[0] for word in words)


def _verbs(words: Sequence[Word]) -> int:
    return sum(word.tag == "v" for word in words)
