"""Fit the usefulness of statements to judged ones: python -m recipes.judged_statements.

`recipes/judged/statements.jsonl` has statements of the passages from which the judged facts were
read (`recipes/judged_facts.py`), and what readers, who knew neither rules nor confidence, thought
of them by docs/judging.md. A passage goes by a hash of its title and text. Statements that today's
rules do not make any more are left out. Per language a ridge logistic regression learns which are
useful; every figure is of corpora that its weights had not seen. Writes the weights to
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
    area,
    by_other_corpora,
    interval,
    judged_facts,
    passage_of,
    shares,
)
from recipes.ridge import calibration_error, fit, matrix
from tasks.extract.rules.chinese import extract_chinese
from tasks.extract.rules.english import extract_english
from tasks.extract.rules.usefulness import WEIGHTS, statement_features

JUDGED = Path(__file__).parent / "judged" / "statements.jsonl"
RIDGE = 8.0
RARE = 5  # a feature of fewer statements has no weight
REPORTED = (0.3, 0.4, 0.5, 0.6, 0.7)
WORDING = ("subject", "predicate", "object", "arguments")
NO_STATES = np.zeros(0)


def judged_passages(language: str) -> dict[str, dict[str, Any]]:
    """Return the rows of the passages with judged facts, by the hash that they go by."""
    rows = (passage_of(fact, language) for fact in judged_facts(language))
    return {
        key: {"headings": "", "subject": "", **row, "passage_id": key}
        for row in rows
        for key in [hashlib.sha256(f"{row['title']}\0{row['text']}".encode()).hexdigest()[:16]]
    }


def stated(language: str) -> Iterator[tuple[str, dict[str, Any], dict[str, float]]]:
    """Yield the passage, the row and the features of each statement of the judged passages."""
    passages = judged_passages(language)
    wanted = {row["passage"] for row in _judged()} & passages.keys()
    rows = [passages[key] for key in sorted(wanted)]
    read = extract_chinese(rows) if language == "zh" else extract_english(rows, None)
    for passage, extracted in zip(rows, read, strict=True):
        for row in extracted.statements:
            yield passage["passage_id"], row, statement_features(row, passage, language)


def judged_samples(language: str) -> list[Sample]:
    """Return the judged statements of a language that today's rules make."""
    verdicts = {_key(row["passage"], row): row for row in _judged()}
    samples = {}
    for passage, row, values in stated(language):
        known = verdicts.get(key := _key(passage, row))
        if known and key not in samples:
            samples[key] = Sample(known["corpus"], known["verdicts"][0], values, NO_STATES)
    return list(samples.values())


def _judged() -> list[dict[str, Any]]:
    return [json.loads(line) for line in JUDGED.read_text(encoding="utf-8").splitlines()]


def _key(passage: str, row: dict[str, Any]) -> str:
    return json.dumps([passage, *(row[part] for part in WORDING)])


def fit_language(language: str) -> dict[str, Any]:
    """Return the weights of a language, and figures of corpora that they were fitted without."""
    samples = judged_samples(language)
    names, x = matrix([sample.features for sample in samples], RARE)
    useful = np.array([sample.verdict == "useful" for sample in samples], float)
    wrong = np.array([sample.verdict == "wrong" for sample in samples], float)
    corpora = np.array([sample.corpus for sample in samples])
    p = by_other_corpora(samples, x, useful, RIDGE)
    figures = {
        "stated today": len(samples),
        "useful": round(float(useful.mean()), 3),
        "wrong": round(float(wrong.mean()), 3),
        "area under ROC, other corpora": round(area(p, useful), 3),
        "95 % of it": interval(p, useful, corpora),
        "calibration error, other corpora": round(calibration_error(p, useful), 3),
        "from": {str(least): shares(p >= least, useful, wrong) for least in REPORTED},
    }
    weights = zip(names, fit(x, useful, RIDGE), strict=True)
    return {
        "other corpora": figures,
        "weights": {name: round(float(weight), 4) for name, weight in weights},
    }


def main() -> None:
    """Fit, report, and write the weights of both languages."""
    parser_of(__doc__).parse_args()
    twice = list(agreement(_judged()))
    fitted = {language: fit_language(language) for language in ("en", "zh")}
    text = json.dumps(fitted, indent=1, ensure_ascii=False)
    WEIGHTS.write_text(text + "\n", encoding="utf-8")
    figures = {language: one["other corpora"] for language, one in fitted.items()}
    judged = {"judged twice": len(twice), "agree": round(float(np.mean(twice)), 3)}
    print(json.dumps(judged | figures, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    run_command(main)
