"""Claims written by hand over short sources: those that nothing bears out are marked, others not.

Each line of `golden/claims.jsonl` has sources, and claims with the quotations that a strong model
gave, whether they are borne out, and what is done in them: a date in another form, a negation
dropped, an amount changed. They were written before the check was.
"""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tasks.ask.context import Context, Item
from tasks.ask.verification import Verification
from tasks.models.prompts.replies import CitedAnswer
from tasks.text.question import analyse
from tests.test_cited_answers import fact, passage

FILE = Path(__file__).parent / "golden" / "claims.jsonl"


def items(sources: list[list[str]]) -> list[Item]:
    return [
        fact(text) if form else passage(text, f"d{number}", title=title)
        for number, (title, text, *form) in enumerate(sources)
    ]


@cache
def outcomes() -> dict[tuple[bool, str, str], Counter[bool]]:
    """Return how many claims were marked and how many not, by truth, language and kind."""
    counts: dict[tuple[bool, str, str], Counter[bool]] = {}
    for row in map(json.loads, FILE.read_text(encoding="utf-8").splitlines()):
        context = Context()
        context.add(items(row["sources"]), 10_000)
        for claim in row["claims"]:
            reply = CitedAnswer.model_validate(
                {"quotes": claim["quotes"], "found": "yes", "answer": claim["claim"]}
            )
            question = analyse(claim.get("question", row["question"]))
            checked = Verification(reply, context, question).checked()
            assert checked.found == checked.quoted, claim["claim"]
            key = claim["borne_out"], row["language"], claim["kind"]
            counts.setdefault(key, Counter())[bool(checked.unsupported)] += 1
    return counts


def share_marked(borne_out: bool, language: str, *kinds: str) -> float:
    counts = sum(
        (
            count
            for (truth, tongue, kind), count in outcomes().items()
            if truth == borne_out and tongue == language and (not kinds or kind in kinds)
        ),
        Counter[bool](),
    )
    return counts[True] / counts.total()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_claims_that_are_borne_out_are_hardly_ever_marked(language):
    assert share_marked(True, language) <= 0.05


@pytest.mark.parametrize(("language", "least"), [("en", 0.6), ("zh", 0.7)])
def test_most_claims_that_nothing_bears_out_are_marked(language, least):
    assert share_marked(False, language) >= least


@pytest.mark.parametrize("language", ["en", "zh"])
def test_changed_numbers_places_negations_and_doubts_are_marked(language):
    kinds = "number", "date", "place", "negation", "certainty", "other source"
    assert share_marked(False, language, *kinds) >= 0.8
