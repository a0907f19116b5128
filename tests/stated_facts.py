"""How stated facts are measured: by pairs of Re-DocRED, tuples of WiRe57, words of the document."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from tasks.evaluate.own_texts import TOKEN
from tasks.extract.extracted import Mention
from tasks.text.names import normalise_name

REQUIRED = 3

# Subject, relation, first object, further objects: the words of each part.
Parts = tuple[Counter[str], Counter[str], Counter[str], Counter[str]]


def words(text: str) -> Counter[str]:
    """Return the words of a part with their number."""
    return Counter(text.lower().replace(",", " ").split())


def match(gold: Parts, found: Parts) -> tuple[float, float]:
    """Return precision and recall of one extraction against one tuple; zero if they don't match."""
    shared = [(g & f).total() for g, f in zip(gold, found, strict=True)]
    if not all(n or not g for n, g in zip(shared[:REQUIRED], gold, strict=False)):
        return 0.0, 0.0
    both, of_found = sum(shared), sum(part.total() for part in found)
    of_gold = sum(part.total() for part in gold)
    return both / max(of_found, 1), both / max(of_gold, 1)


def score(gold: dict[str, list[Parts]], found: dict[str, list[Parts]]) -> dict[str, float]:
    """Return precision, recall and F1 of a system's extractions."""
    precision = recall = 0.0
    for name, tuples in gold.items():
        mine = found.get(name, [])
        pairs = [
            (_f1(*scores), *scores, g, f)
            for g, f in product(range(len(tuples)), range(len(mine)))
            if all(scores := match(tuples[g], mine[f]))
        ]
        taken: set[tuple[str, int]] = set()
        for _, p, r, g, f in sorted(pairs, reverse=True):
            ends = {("gold", g), ("found", f)}
            if taken.isdisjoint(ends):
                precision, recall = precision + p, recall + r
                taken |= ends
    precision /= max(1, sum(map(len, found.values())))
    recall /= max(1, sum(map(len, gold.values())))
    figures = {"precision": precision, "recall": recall, "f1": _f1(precision, recall)}
    return {name: round(figure, 3) for name, figure in figures.items()}


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


_BEFORE = re.compile(r" (?=[.,;:!?)\]%’]|'s\b|n't\b)")

_BEHIND = re.compile(r"(?<=[(\[$]) ")

_QUOTED = re.compile(r'" ([^"]*) "')


def text_of(sentences: Iterable[list[str]]) -> str:
    """Return tokens as running text."""
    text = " ".join(" ".join(words) for words in sentences)
    return _QUOTED.sub(r'"\1"', _BEHIND.sub("", _BEFORE.sub("", text)))


def pairs_of(document: dict[str, Any]) -> set[frozenset[int]]:
    """Return the pairs of entities that annotators related, without directions."""
    return {frozenset((label["h"], label["t"])) for label in document["labels"]}


def stated(document: dict[str, Any], triples: Iterable[Mention]) -> set[frozenset[int]]:
    """Return the pairs of a document's entities that are the ends of a triple."""
    entities: dict[str, set[int]] = {}
    for number, mentions in enumerate(document["vertexSet"]):
        for mention in mentions:
            name = normalise_name(text_of([mention["name"].split()]))
            entities.setdefault(name, set()).add(number)
    found = set()
    for triple in triples:
        ends = (entities.get(normalise_name(triple[end]), set()) for end in ("head", "tail"))
        found |= {frozenset(pair) for pair in product(*ends)}
    return found


def ungrounded(words: Mapping[str, str], document: str, texts: Iterable[str]) -> set[str]:
    """Return content words of the texts that the document does not have in any form."""
    present = set(TOKEN.findall(document.lower())) | set(words.values())
    return {part for text in texts for part in TOKEN.findall(text.lower())} - present
