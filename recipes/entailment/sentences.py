"""Pairs made from the sentences of an encyclopedia: shortened, changed, or joined with others."""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from recipes.entailment.changed import (
    Made,
    doubted,
    exchanged_roles,
    invented_cause,
    invented_detail,
    mixed,
    moved_phrase,
    phrases_of,
    subject_of,
)
from recipes.entailment.pair import LONGEST, Pair, in_reported_half
from recipes.entailment.statements import shortened
from recipes.entailment.words import families, negated, other_number

SENTENCES_FROM = 1500  # articles whose sentences are used
LONGEST_START = 700  # characters of an article
SENTENCES = 5  # of an article
EACH = 4  # pairs of a sentence
PRONOUNS = ("It", "He", "She", "They")


def sentence_pairs(path: Path, parse: Any, seed: int = 0, limit: int | None = None) -> list[Pair]:
    """Return pairs of an encyclopedia's sentences and claims that are made from them.

    `parse` is a spaCy pipeline with tags, dependencies and names. Half of the evidence stands
    between its neighbours or below the article's title.
    """
    random, pairs = Random(seed), list[Pair]()
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        documents = json.load(stream)[: min(limit or SENTENCES_FROM, SENTENCES_FROM)]
    texts = [_plain(document["text"]) for document in documents]
    swaps, details = _Swaps(), ["in that year"]
    for document, doc in zip(documents, parse.pipe(texts), strict=True):
        held_out = in_reported_half(document["title"])
        spans = [span for span in doc.sents if 30 < len(span.text) < LONGEST][:SENTENCES]
        claims = [shortened(span, random) or span.text.strip() for span in spans]
        for span, claim in zip(spans, claims, strict=True):
            around = [other for other in spans if other is not span]
            made = list(_changes(span, claim, swaps, random))
            if around and (reason := shortened(around[0], random)):
                made += invented_cause(span.text.strip(), claim, reason, random)
                made.append((around[0].text.strip(), claim, "unknown", "neighbour"))
                made += mixed(span, around[0], (claim, claims[spans.index(around[0])]), random)
            made += invented_detail(span.text.strip(), claim, random.choice(details), random)
            details = [*details[-200:], *phrases_of(span)]
            title = document["title"]
            if (subject := subject_of(span)) in PRONOUNS and claim.startswith(subject):
                whole = title + claim[len(subject) :]
                made.append((f"{title}\n{span.text.strip()}", whole, "support", "title"))
                made.append((span.text.strip(), whole, "unknown", "title"))
            for evidence, words, verdict, how in random.sample(made, min(EACH, len(made))):
                if random.random() < 0.5 and how != "neighbour":
                    evidence = _surrounded(evidence, title, around, random)
                pairs.append(Pair(evidence, words, verdict, how, held_out))
    return pairs


def _changes(span: Any, claim: str, swaps: "_Swaps", random: Random) -> Iterator[Made]:
    """Yield what can be made of one sentence and its claim."""
    evidence = span.text.strip()
    for old, new, how in swaps.of(span, claim, random)[:2]:
        wrong, changed = claim.replace(old, new), evidence.replace(old, new)
        yield evidence, claim, "support", how
        yield evidence, wrong, "refute", how
        yield changed, wrong, "support", how
        yield changed, claim, "refute", how
        bare = " ".join(evidence.replace(old, "").split())
        yield bare, random.choice([claim, wrong]), "unknown", "withheld"
    denied, denied_evidence = negated(claim, random), negated(evidence, random)
    if denied and denied_evidence:
        yield evidence, denied, "refute", "negation"
        yield denied_evidence, denied, "support", "negation"
        yield denied_evidence, claim, "refute", "negation"
    if moved := moved_phrase(claim, span):
        yield evidence, moved, "support", "moved"
    yield from exchanged_roles(evidence, claim, span, random)
    yield from doubted(evidence, claim, random)


def _surrounded(evidence: str, title: str, around: list[Any], random: Random) -> str:
    """Return evidence with neighbours before and after it, some of them below a title."""
    before, after = (random.choice(["", *(span.text.strip() for span in around)]) for _ in range(2))
    text = " ".join(filter(None, (before, evidence, after)))
    return f"{title}\n{text}" if random.random() < 0.5 else text


def _plain(text: str) -> str:
    """Return the first sentences of an article; texts of odd length lose their parentheses."""
    text = re.sub(r"\([^()]{0,200}\)" if len(text) % 2 else r"\s+", " ", text)
    text = re.sub(r'(?<=\w)"(?=\w)', "'", text)  # the corpus has "s for 's
    return " ".join(text.split())[:LONGEST_START].rsplit(". ", 1)[0] + "."


class _Swaps:
    """Replacements for names (by names seen earlier), numbers, and words that have opposites."""

    def __init__(self) -> None:
        self._seen: dict[str, list[str]] = defaultdict(list)

    def of(self, span: Any, claim: str, random: Random) -> list[tuple[str, str, str]]:
        """Return (old, new, kind) for replacements of words that are in both sentence and claim."""
        changes: list[tuple[str, str, str]] = []
        for name in span.ents:
            seen, text = self._seen[name.label_][-200:], span.text
            earlier = [other for other in seen if other not in text]
            if name.text in claim and earlier and name.start > span.start:
                changes.append((name.text, random.choice(earlier), "name"))
            self._seen[name.label_].append(name.text)
        for number in re.findall(r"\b\d+\b", claim):
            other = other_number(number, random)
            if other and re.search(rf"\b{number}\b", span.text):
                changes.append((number, other, "number"))
        for word in re.findall(r"[A-Za-z]+", claim):
            if word.lower() in families() and f" {word}" in span.text:
                family = random.choice(families()[word.lower()])
                new = random.choice(sorted(family - {word.lower()}))
                new = new.capitalize() if word[0].isupper() else new
                changes.append((f" {word}", f" {new}", "opposite"))
        random.shuffle(changes)
        return changes
