"""Claims written by hand over short sources: how many are marked, borne out or not.

    python -m benchmarks.claims

`in view` are those of `tests/golden/claims.jsonl`, which the check of answers was developed with;
`unseen` are those of `unseen_claims.jsonl`, over passages of the corpora in `more`, written before
anything was measured on them. `area` is that of the entailment model's support over English claims,
which the check does not use.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.command import parser_of, report, run_command
from tasks.ask.context import Context
from tasks.ask.marks import BRACKET
from tasks.ask.verification import Verification
from tasks.models.entailment.entailment import SUPPORT, shipped_entailment
from tasks.models.prompts.replies import CitedAnswer
from tasks.text.question import analyse
from tests.test_claims import FILE, items

FILES = {"in view": FILE, "unseen": Path(__file__).with_name("unseen_claims.jsonl")}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim with its language, whether it is borne out, whether it was marked, its quotations."""

    words: str
    language: str
    borne_out: bool
    marked: bool
    quoted: str


def main() -> None:
    """Measure and write the results."""
    parser_of(__doc__).parse_args()
    report("claims", {name: _figures(list(_outcomes(path))) for name, path in FILES.items()})


def _outcomes(path: Path) -> Iterator[Outcome]:
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        context = Context()
        context.add(items(row["sources"]), 10_000)
        for claim in row["claims"]:
            reply = CitedAnswer.model_validate(
                {"quotes": claim["quotes"], "found": "yes", "answer": claim["claim"]}
            )
            question = analyse(claim.get("question", row["question"]))
            checked = Verification(reply, context, question).checked()
            quoted = "\n".join(words for _, words in claim["quotes"])
            words = BRACKET.sub("", claim["claim"])
            marked = bool(checked.unsupported)
            yield Outcome(words, row["language"], claim["borne_out"], marked, quoted)


def _figures(outcomes: list[Outcome]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for language in ("en", "zh"):
        chosen = [outcome for outcome in outcomes if outcome.language == language]
        good = np.array([outcome.borne_out for outcome in chosen])
        marked = np.array([outcome.marked for outcome in chosen])
        figures[language] = {
            "borne out": int(good.sum()),
            "marked of these": round(float(marked[good].mean()), 2),
            "not borne out": int((~good).sum()),
            "marked of those": round(float(marked[~good].mean()), 2),
        }
    english = [outcome for outcome in outcomes if outcome.language == "en"]
    support = shipped_entailment().judge([(o.quoted, o.words) for o in english])[:, SUPPORT]
    truth = [outcome.borne_out for outcome in english]
    figures["en"]["area"] = round(float(roc_auc_score(truth, support)), 2)
    return figures


if __name__ == "__main__":
    run_command(main)
