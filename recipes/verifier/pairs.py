"""Pairs of evidence and claim with a known verdict, made from questions that a text answers.

Most changes that make a claim false are also made to its evidence, so that a claim is supported in
one pair and refuted in another (as Schuster et al. 2019 did by hand) and the verdict cannot be
predicted from the claim or the evidence alone. If the evidence does not bear on the claim, the
verdict is unknown.
"""

import gzip
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from recipes.verifier.statements import shortened, statement
from tasks.experts.filters.alignment import families
from tasks.text.sentences import sentences

Verdict = Literal["support", "refute", "unknown"]
VERDICTS: tuple[Verdict, ...] = ("support", "refute", "unknown")
FILES = ("squad2_dev_en", "xquad_en", "squadshift_wiki_en", "covidqa_windows_en")
HELD_OUT = 10  # one title in ten is held out
LONGEST = 400  # characters of evidence
SENTENCES_FROM = 2500  # articles whose sentences are used
LONGEST_START = 500  # characters of an article


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, its evidence and the verdict.

    `made` names the way in which the pair was made; a `held_out` pair is not trained on.
    """

    evidence: str
    claim: str
    verdict: Verdict
    made: str
    held_out: bool


def made_pairs(data: Path, parse: Any, seed: int = 0, limit: int | None = None) -> list[Pair]:
    """Return pairs made from the reading-comprehension sets under `data`, in a random order.

    `parse` is a spaCy pipeline with tags and dependencies.
    """
    random = Random(seed)
    questions = [q for name in FILES for q in _questions(data / f"more/rc/{name}.jsonl.gz")]
    random.shuffle(questions)
    questions = questions[:limit]
    others = _answers_by_form(questions)
    pairs: list[Pair] = []
    parsed = parse.pipe(q["question"].strip() for q in questions)
    for question, doc in zip(questions, parsed, strict=True):
        pairs.extend(_pairs_of(question, doc, others, random))
    pairs.extend(_sentence_pairs(data / "multihop/2wiki_corpus.json.gz", parse, random, limit))
    random.shuffle(pairs)
    return pairs


def climate_pairs(path: Path, *, reported: bool) -> list[Pair]:
    """Return the pairs of the training half of Climate-FEVER, or of the reported half.

    A claim's half depends on the hash of its id. The verdicts were given by human annotators.
    """
    names = {"SUPPORTS": "support", "REFUTES": "refute", "NOT_ENOUGH_INFO": "unknown"}
    pairs = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if in_reported_half(row["claim_id"]) != reported:
                continue
            for piece in row["evidences"]:
                verdict: Any = names[piece["evidence_label"]]
                text = f"{piece['article']}\n{piece['evidence']}"
                pairs.append(Pair(text, row["claim"], verdict, "climate", held_out=False))
    return pairs


def in_reported_half(key: str) -> bool:
    """Tell whether an item belongs to the half of its data set that is only reported on."""
    return hashlib.sha1(key.encode(), usedforsecurity=False).digest()[0] % 2 == 1


def _sentence_pairs(path: Path, parse: Any, random: Random, limit: int | None) -> Iterator[Pair]:
    """Yield pairs of an encyclopedia's sentences, or neighbours, and their shortened forms."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        documents = json.load(stream)[: min(limit or SENTENCES_FROM, SENTENCES_FROM)]
    texts = [_plain(document["text"]) for document in documents]
    swaps = _Swaps()
    for document, doc in zip(documents, parse.pipe(texts), strict=True):
        held_out = sum(map(ord, document["title"])) % HELD_OUT == 0
        spans = [span for span in doc.sents if 40 < len(span.text) < LONGEST]
        for place, span in enumerate(spans[:3]):
            claim, evidence = shortened(span, random), span.text
            if claim is None:
                continue
            changes = swaps.of(span, claim, random)
            for old, new, made in changes[:2]:
                wrong, changed = claim.replace(old, new), evidence.replace(old, new)
                yield Pair(evidence, claim, "support", made, held_out)
                yield Pair(evidence, wrong, "refute", made, held_out)
                yield Pair(changed, wrong, "support", made, held_out)
                yield Pair(changed, claim, "refute", made, held_out)
                if random.random() < 0.3:
                    bare = " ".join(evidence.replace(old, "").split())
                    yield Pair(bare, random.choice([claim, wrong]), "unknown", "withheld", held_out)
            denied = negated(claim, random)
            if denied and random.random() < 0.35:
                yield Pair(evidence, denied, "refute", "negation", held_out)
                denied_evidence = negated(evidence, random)
                if denied_evidence and random.random() < 0.6:
                    yield Pair(denied_evidence, denied, "support", "negation", held_out)
                    yield Pair(denied_evidence, claim, "refute", "negation", held_out)
            if len(spans) > place + 1 and random.random() < 0.5:
                yield Pair(spans[place + 1].text, claim, "unknown", "neighbour", held_out)


def _plain(text: str) -> str:
    """Return the first sentences of an article; texts of odd length lose their parentheses."""
    text = re.sub(r"\([^()]{0,200}\)" if len(text) % 2 else r"\s+", " ", text)
    return " ".join(text.split())[:LONGEST_START].rsplit(". ", 1)[0] + "."


class _Swaps:
    """Replacements for names (by names seen earlier), numbers, and words that have opposites."""

    def __init__(self) -> None:
        self._seen: dict[str, list[str]] = defaultdict(list)

    def of(self, span: Any, claim: str, random: Random) -> list[tuple[str, str, str]]:
        """Return (old, new, kind) for replacements of words that are in both sentence and claim."""
        changes: list[tuple[str, str, str]] = []
        for name in span.ents:
            earlier = [other for other in self._seen[name.label_] if other not in span.text]
            if name.text in claim and earlier and name.start > span.start:
                changes.append((name.text, random.choice(earlier[-200:]), "name"))
            self._seen[name.label_].append(name.text)
        for number in re.findall(r"\b\d+\b", claim):
            other = _other_number(number, random)
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


def _questions(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["answerable"] and len(row["answers"][0]["text"].split()) <= 8:
                yield row


def form(answer: str) -> str:
    """Return the form of an answer; answers of one form are equally plausible."""
    if re.fullmatch(r"(1[0-9]|20)\d\d", answer):
        return "year"
    if re.search(r"\d", answer):
        return "number"
    if all(w[:1].isupper() for w in answer.split() if len(w) > 3):
        return f"name{min(3, len(answer.split()))}"
    return "words" if len(answer.split()) > 1 else "word"


def _answers_by_form(questions: Iterable[dict[str, Any]]) -> dict[tuple[str, str], list[str]]:
    by_form: dict[tuple[str, str], list[str]] = defaultdict(list)
    for question in questions:
        answer = question["answers"][0]["text"]
        for title in (question["title"], ""):
            by_form[title, form(answer)].append(answer)
    return by_form


def _pairs_of(
    question: dict[str, Any], doc: Any, others: dict[tuple[str, str], list[str]], random: Random
) -> Iterator[Pair]:
    answer = question["answers"][0]["text"].strip(" .,;:")
    claim = statement(doc, answer)
    spans = sentences(question["context"], "en")
    start = question["answers"][0]["start"]
    place = next((n for n, (a, b) in enumerate(spans) if a <= start < b), None)
    if claim is None or place is None or answer not in claim:
        return
    texts = [question["context"][a:b] for a, b in spans]
    evidence = texts[place]
    if random.random() < 0.3 and place:
        evidence = f"{texts[place - 1]} {evidence}"
    if len(evidence) > LONGEST or answer not in evidence:
        return
    held_out = sum(map(ord, question["title"])) % HELD_OUT == 0

    def pair(evidence: str, claim: str, verdict: Verdict, made: str) -> Pair:
        return Pair(" ".join(evidence.split()), claim, verdict, made, held_out)

    other = _other(answer, question["title"], evidence, others, random)
    if other is not None:
        wrong, changed = claim.replace(answer, other), evidence.replace(answer, other)
        yield pair(evidence, claim, "support", "answer")
        yield pair(evidence, wrong, "refute", "answer")
        if random.random() < 0.6:
            yield pair(changed, wrong, "support", "answer")
            yield pair(changed, claim, "refute", "answer")
    yield from (pair(*made) for made in _opposite_pairs(evidence, claim, random))
    denied = negated(claim, random)
    if denied and random.random() < 0.35:
        yield pair(evidence, denied, "refute", "negation")
    for text, made in _uninformative(texts, place, answer, evidence, random):
        shown = claim if other is None or random.random() < 0.5 else claim.replace(answer, other)
        yield pair(text, shown, "unknown", made)


def _other(
    answer: str,
    title: str,
    evidence: str,
    others: dict[tuple[str, str], list[str]],
    random: Random,
) -> str | None:
    """Return another answer of the same form, from the same title if possible; None without any.

    Years and numbers are mostly changed at random instead.
    """
    shape = form(answer)
    if shape in ("year", "number") and random.random() < 0.7:
        return _other_number(answer, random)
    for source in (title, ""):
        for candidate in random.sample(others[source, shape], min(8, len(others[source, shape]))):
            candidate = candidate.strip(" .,;:")
            small, large = sorted((candidate.lower(), answer.lower()), key=len)
            if small and small not in large and candidate.lower() not in evidence.lower():
                return candidate
    return None


def _other_number(answer: str, random: Random) -> str | None:
    """Return the answer with one of its numbers changed; None if it has none."""
    numbers = list(re.finditer(r"\d+", answer))
    if not numbers:
        return None
    chosen = random.choice(numbers)
    value, width = int(chosen.group()), len(chosen.group())
    step = random.choice([1, 2, 3, 5, 7, 10, 11, 20, 50, 100][: 4 + 2 * min(3, width)])
    changed = value - step if random.random() < 0.5 and value > step else value + step
    return answer[: chosen.start()] + str(changed).zfill(width) + answer[chosen.end() :]


def _opposite_pairs(
    evidence: str, claim: str, random: Random
) -> Iterator[tuple[str, str, Verdict, str]]:
    """Yield pairs in which a shared word is replaced by another of its family.

    It is replaced in the claim, in the evidence, in both and in neither.
    """
    shared = [
        word
        for word in re.findall(r"[A-Za-z]+", claim)
        if word.lower() in families() and re.search(rf"\b{word}\b", evidence)
    ]
    if not shared:
        return
    word = random.choice(shared)
    family = random.choice(families()[word.lower()])
    new = random.choice(sorted(family - {word.lower()}))
    new = new.capitalize() if word[0].isupper() else new
    swap = re.compile(rf"\b{word}\b")
    wrong, changed = swap.sub(new, claim), swap.sub(new, evidence)
    yield evidence, wrong, "refute", "opposite"
    yield changed, claim, "refute", "opposite"
    yield changed, wrong, "support", "opposite"
    yield evidence, claim, "support", "opposite"


def _uninformative(
    texts: list[str], place: int, answer: str, evidence: str, random: Random
) -> Iterator[tuple[str, str]]:
    """Yield evidence that leaves the claim open: another sentence, or one without the answer."""
    rest = [t for n, t in enumerate(texts) if n != place and answer not in t and len(t) < LONGEST]
    if rest and random.random() < 0.6:
        words = set(evidence.lower().split())
        likest = max(rest, key=lambda t: len(words & set(t.lower().split())))
        yield (likest if random.random() < 0.6 else random.choice(rest)), "neighbour"
    if random.random() < 0.35:
        blank = "" if form(answer) in ("year", "number") else random.choice(["something", "it"])
        gap = re.compile(
            rf"(?:\b(?:in|on|at|by|of|to)\s+)?{re.escape(answer)}"
            if not blank
            else re.escape(answer)
        )
        yield " ".join(gap.sub(blank, evidence).split()), "withheld"


def negated(claim: str, random: Random) -> str | None:
    """Return the claim with its first auxiliary negated, or None where there is none."""
    auxiliary = re.search(
        r"\b(is|are|was|were|can|could|will|would|did|does|do|has|have|had)\b", claim
    )
    if not auxiliary:
        return None
    word = auxiliary.group()
    ways = [f"{word} not", f"{word} never"]
    if word in ("is", "are", "was", "were"):
        ways += [f"{word}n't", f"{word} no longer"]
    return claim[: auxiliary.start()] + random.choice(ways) + claim[auxiliary.end() :]
