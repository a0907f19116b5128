"""How benchmarks split and count questions."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from tasks.evaluate.answerer import Prediction
from tasks.evaluate.report import Measured, figures
from tasks.experts.verbalize.wordings import name_forms
from tasks.questions.question import Benchmark, BenchmarkQuestion
from tasks.questions.splits import SEED


def seat_of(question: BenchmarkQuestion, seats: Iterable[str]) -> str:
    """Return the seat with the longest name that the question says; empty if it says none."""
    forms = {form: seat for seat in seats for form in name_forms(seat) if form in question.question}
    return forms[max(forms, key=len)] if forms else ""


def exact(questions: Sequence[BenchmarkQuestion], texts: Sequence[str]) -> dict[str, Any]:
    """Return the figures of answers, in all and by the kind of race."""
    measured = Measured("expert", questions, [Prediction([text]) for text in texts], 0.0)
    found = figures(measured)
    kept = {name: found["metrics"][name] for name in ("em", "em_low", "em_high", "f1")}
    by = {kind: part["metrics"]["em"] for kind, part in found["by"].get("kind", {}).items()}
    return {"items": found["items"], **kept, "em_by_kind": by}


FOLDS = 4  # of relations


def split_by_relation(
    benchmark: Benchmark, fold: int
) -> tuple[list[BenchmarkQuestion], list[BenchmarkQuestion]]:
    """Return training and test questions such that only the latter mean a relation of a fold.

    Test questions are those with such a relation on their gold path. The relations are dealt out in
    a seeded order; a relation and its inverse are in one fold. Questions without gold relations are
    in neither part.
    """
    questions = [question for question in benchmark.questions if question.gold]
    relations = {_one_name(relation) for question in questions for relation in question.gold}
    held_out = set(sorted(relations, key=_shuffled)[fold::FOLDS])
    tests = [not held_out.isdisjoint(map(_one_name, question.gold)) for question in questions]
    sides = list(zip(questions, tests, strict=True))
    return [q for q, is_test in sides if not is_test], [q for q, is_test in sides if is_test]


def _one_name(relation: str) -> str:
    return relation.removesuffix("_inverse")


def _shuffled(relation: str) -> bytes:
    return blake2b(f"{SEED}:{relation}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
