"""Fit the usefulness of statements to judged ones: python -m recipes.judged_statements.

`recipes/judged/statements.jsonl` has statements and what readers, who knew neither rules nor
confidence, thought of them by docs/judging.md. They are from the passages of judged facts
(`recipes/judged_facts.py`), by a hash of their title and text, and from passages that were drawn
whatever they hold, which are quoted or located as facts are. Statements that today's rules do not
make any more are left out. Per language a ridge logistic regression learns which are useful; every
figure is of corpora that its weights had not seen. Writes the weights to
tasks/extract/rules/usefulness.json.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from recipes.command import parser_of, run_command
from recipes.judged_facts import (
    Sample,
    agreement,
    by_other_corpora,
    figures_of,
    judged_facts,
    passage_of,
)
from recipes.ridge import fit, matrix
from tasks.extract.rules.chinese import extract_chinese
from tasks.extract.rules.english import extract_english
from tasks.extract.rules.usefulness import WEIGHTS, statement_features

JUDGED = Path(__file__).parent / "judged" / "statements.jsonl"
RIDGE = 8.0
RARE = 5  # a feature of fewer statements has no weight
WORDING = ("subject", "predicate", "object", "arguments")
NO_STATES = np.zeros(0)


def judged_statements(language: str) -> list[dict[str, Any]]:
    """Return the judged statements of a language, each with the row of its `passage`."""
    lines = JUDGED.read_text(encoding="utf-8").splitlines()
    of_facts = {
        _hash(row): row for row in (passage_of(f, language) for f in judged_facts(language))
    }
    statements = []
    for statement in map(json.loads, lines):
        if statement["corpus"].startswith("zh_") != (language == "zh"):
            continue
        known = statement.get("passage")
        passage = of_facts[known] if known else passage_of(statement, language)
        statements.append({**statement, "passage": {"headings": "", "subject": "", **passage}})
    return statements


def _hash(passage: dict[str, Any]) -> str:
    words = f"{passage['title']}\0{passage['text']}"
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def judged_samples(language: str) -> Iterator[Sample]:
    """Yield the judged statements of a language that today's rules make, with their features."""
    verdicts: dict[str, dict[str, Any]] = {}
    passages: dict[str, dict[str, Any]] = {}
    for judged in judged_statements(language):
        key = _hash(judged["passage"])
        passages[key] = judged["passage"] | {"passage_id": key}
        verdicts.setdefault(_key(key, judged), judged)
    rows = list(passages.values())
    read = extract_chinese(rows) if language == "zh" else extract_english(rows, None)
    for passage, extracted in zip(rows, read, strict=True):
        for row in extracted.statements:
            found = verdicts.pop(_key(passage["passage_id"], row), None)
            if found:
                values = statement_features(row, passage, language)
                yield Sample(found["corpus"], found["verdicts"][0], values, NO_STATES)


def _key(passage: str, row: dict[str, Any]) -> str:
    return json.dumps([passage, *(row[part] for part in WORDING)])


def fit_language(language: str) -> dict[str, Any]:
    """Return the weights of a language, and figures of corpora that they were fitted without."""
    samples = list(judged_samples(language))
    names, x = matrix([sample.features for sample in samples], RARE)
    useful = np.array([sample.verdict == "useful" for sample in samples], float)
    p = by_other_corpora(samples, x, useful, RIDGE)
    weights = zip(names, fit(x, useful, RIDGE), strict=True)
    return {
        "other corpora": figures_of(samples, p),
        "weights": {name: round(float(weight), 4) for name, weight in weights},
    }


def main() -> None:
    """Fit, report, and write the weights of both languages."""
    parser_of(__doc__).parse_args()
    judged = [statement for code in ("en", "zh") for statement in judged_statements(code)]
    twice = list(agreement(judged))
    fitted = {language: fit_language(language) for language in ("en", "zh")}
    text = json.dumps(fitted, indent=1, ensure_ascii=False)
    WEIGHTS.write_text(text + "\n", encoding="utf-8")
    figures = {language: one["other corpora"] for language, one in fitted.items()}
    agreed = {"judged twice": len(twice), "agree": round(float(np.mean(twice)), 3)}
    print(json.dumps(agreed | figures, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    run_command(main)
