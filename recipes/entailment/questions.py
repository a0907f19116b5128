"""Pairs made from questions that a text answers: the question and an answer become a claim.

Most changes that make a claim false are also made to its evidence, so that a claim is supported in
one pair and refuted in another (as Schuster et al. 2019 did by hand) and the verdict cannot be
predicted from the claim or the evidence alone. If the evidence does not bear on the claim, the
verdict is unknown.
"""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from recipes.entailment.pair import LONGEST, Pair, Verdict, in_reported_half
from recipes.entailment.statements import statement
from recipes.entailment.words import families, negated, other_number
from tasks.text.sentences import sentences

FILES = ("squad2_dev_en", "xquad_en", "squadshift_wiki_en", "covidqa_windows_en")


def question_pairs(data: Path, parse: Any, seed: int = 0, limit: int | None = None) -> list[Pair]:
    """Return pairs made from the reading-comprehension sets under `data`.

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
    return pairs


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
    held_out = in_reported_half(question["title"])

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
        return other_number(answer, random)
    for source in (title, ""):
        for candidate in random.sample(others[source, shape], min(8, len(others[source, shape]))):
            candidate = candidate.strip(" .,;:")
            small, large = sorted((candidate.lower(), answer.lower()), key=len)
            if small and small not in large and candidate.lower() not in evidence.lower():
                return candidate
    return None


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
