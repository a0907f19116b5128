"""Fit probabilities to questions about homes, as `almanac ask` reads them.

    python -m recipes.reader.calibrate CARD HOME=QUESTIONS [HOME=QUESTIONS ...] [--encoder NAME]
        [--alone]

QUESTIONS is a file with a JSON object a line: `question`, and `answers`, any of which is right, an
empty list if nothing answers it. In the file CARD, the weights for the languages of the questions
are written, for the reader with both networks or for that on MiniLM alone.

In each language, and across both for questions in another than their texts, an answer's worth is
its margin plus a weight times the share of the question that its sentence covers; its probability
follows from its worth and its gap to the next answer (Platt 1999). Both are ridge logistic
regressions, fitted to words that answer and to sentences that contain the answer. The printed
figures are of questions about homes left out of the fit.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from scipy.optimize import minimize

from recipes.command import parser_of, run_command
from recipes.reader.score import f1
from schemas.settings import EngineSettings
from tasks.models.span_reader.reader import (
    WIDEST_GAP,
    TrainedReader,
    Unit,
    both_readers,
    minilm_reader,
)
from tasks.reader.answers import FoundAnswer, alike, find_answers, find_sentences, lone_gap
from tasks.reader.candidates import candidates
from tasks.reader.passage_reader import PassageReader
from tasks.text.question import analyse
from warehouse.home import Home

UNITS: tuple[Unit, ...] = get_args(Unit)
RIDGE = 0.3  # of the sum of the losses; intercepts are not shrunk
LEAST_SLOPE = 0.02  # of the margin, by which the weight of the share is divided
LEAST_SHARED = 0.6
UNANSWERABLE = 0.15  # of the questions in use, supposed; more of those in training are
LEAST = (0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Found:
    """An answer that was found, its margin, the share covered, and whether it is right."""

    answer: FoundAnswer
    margin: float
    covered: float
    right: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A question about a home, whether it has an answer, and what was found.

    `languages` are those of the question and of the text nearest to it (`TrainedReader.languages`).
    """

    home: str
    languages: str
    answerable: bool
    found: dict[Unit, list[Found]]


@dataclass(frozen=True, slots=True)
class Best:
    """The best answer to a question: its worth, its gap to the next, and whether it is right."""

    worth: float
    gap: float
    right: bool
    answerable: bool


def is_right(given: str, answers: Sequence[str]) -> bool:
    """Return whether a text contains one of the answers, or the greater part of a long one.

    Case and punctuation do not count. The greater part is an F1 of words from `LEAST_SHARED` on.
    """
    contained = any(_letters(answer) and _letters(answer) in _letters(given) for answer in answers)
    return contained or bool(answers) and f1(given, list(answers)) >= LEAST_SHARED


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def read(home: Path, questions: Path, reader: TrainedReader, encoder: str) -> Iterator[Row]:
    """Yield the questions of a file with what is found in the latest edition of a home."""
    edition = Home(home).editions.current()
    if edition is None:
        raise SystemExit(f"{home} has no edition: run `almanac refresh` first")
    source = PassageReader(edition, EngineSettings(encoder=encoder))
    for line in questions.read_text("utf-8").splitlines():
        entry = json.loads(line)
        question, right = analyse(entry["question"]), entry["answers"]
        texts = source.near(question)
        words = [text.words for text in texts]
        found: dict[Unit, list[Found]] = {unit: [] for unit in UNITS}
        languages = [reader.languages(question.text, text) for text in words]
        *_, rows = candidates(question, texts, source, reader)
        for span, part, covered in ((row.span, row.part, row.covered) for row in rows):
            stated = [(part.evidence.text, span, 0.0)]
            for answer in find_answers(question, words, [(span, 0.0)], source.kinds_of):
                one = Found(answer, span.margin, covered, is_right(answer.text, right))
                found["words"].append(one)
            for answer in find_sentences(question, stated):
                one = Found(answer, span.sentence_margin, covered, is_right(answer.text, right))
                found["sentence"].append(one)
        if languages:
            yield Row(str(home), languages[0], bool(right), found)


def fit(
    features: list[list[float]], right: list[bool], counts: list[float] | None = None
) -> np.ndarray:
    """Return the weights of a logistic regression of `right` on features that end with a 1.

    `counts` says how often each example counts, once by default.
    """
    x, y = np.array(features), np.array(right, float)
    times = np.ones(len(y)) if counts is None else np.array(counts)

    def loss(weights: np.ndarray) -> float:
        values = x @ weights
        misfit = (times * (np.logaddexp(0.0, values) - y * values)).sum()
        return float(misfit + RIDGE * weights[:-1] @ weights[:-1] / 2)

    weights: np.ndarray = minimize(loss, np.zeros(x.shape[1])).x
    return weights


def best_of(row: Row, unit: Unit, weights: dict[str, float]) -> Best | None:
    """Return the answer to a question with the highest worth."""

    def worth(found: Found) -> float:
        return found.margin + weights["covered"] * found.covered

    ranked = sorted(row.found[unit], key=worth, reverse=True)
    if not ranked:
        return None
    first = ranked[0]
    others = [worth(found) for found in ranked if not alike(found.answer, first.answer)]
    gap = worth(first) - others[0] if others else lone_gap(worth(first))
    return Best(worth(first), min(gap, WIDEST_GAP), first.right, row.answerable)


def fitted(rows: list[Row], unit: Unit) -> dict[str, float]:
    """Return the weights of an answer's worth, and those of its probability."""
    found = [one for row in rows if row.answerable for one in row.found[unit]]
    features = [[one.margin, one.covered, 1.0] for one in found]
    margin, covered, _ = fit(features, [one.right for one in found])
    weights = {"covered": max(covered, 0.0) / max(margin, LEAST_SLOPE)}
    best = [one for one in (best_of(row, unit, weights) for row in rows) if one]
    answerable = sum(row.answerable for row in rows)
    rare = UNANSWERABLE / (1 - UNANSWERABLE) * answerable / max(len(rows) - answerable, 1)
    chance = fit(
        [[one.worth, one.gap, 1.0] for one in best],
        [one.right for one in best],
        [1.0 if one.answerable else min(rare, 1.0) for one in best],
    )
    weights |= dict(zip(("worth", "gap", "intercept"), chance, strict=True))
    return {name: round(float(weight), 4) for name, weight in weights.items()}


def left_out(rows: list[Row], unit: Unit) -> list[tuple[float, Best]]:
    """Return the best answers with their probabilities, fitted to the other homes."""
    results = []
    for home in sorted({row.home for row in rows}):
        weights = fitted([row for row in rows if row.home != home], unit)
        for best in (best_of(row, unit, weights) for row in rows if row.home == home):
            if best:
                value = weights["worth"] * best.worth + weights["gap"] * best.gap
                results.append((1 / (1 + np.exp(-value - weights["intercept"])), best))
    return results


def figures(rows: list[Row], unit: Unit) -> dict[str, Any]:
    """Return the calibration error, and the results of answering from each probability on."""
    results = left_out(rows, unit)
    chances = np.array([chance for chance, _ in results])
    right = np.array([best.right for _, best in results])
    answerable = np.array([best.answerable for _, best in results])
    bins = np.minimum((chances * 10).astype(int), 9)
    error = sum(
        abs(chances[bins == n].mean() - right[bins == n].mean()) * np.mean(bins == n)
        for n in set(bins.tolist())
    )
    answerable_rows = max(sum(row.answerable for row in rows), 1)
    others = max(sum(not row.answerable for row in rows), 1)
    above = {
        least: {
            "right": round(float((right & (chances >= least)).sum() / answerable_rows), 3),
            "wrong": round(
                float((~right & answerable & (chances >= least)).sum() / answerable_rows), 3
            ),
            "unanswerable refused": round(
                float(1 - (~answerable & (chances >= least)).sum() / others), 3
            ),
        }
        for least in LEAST
    }
    return {"questions": len(rows), "calibration error": round(float(error), 3), "from": above}


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("card", type=Path)
    parser.add_argument("homes", nargs="+", metavar="HOME=QUESTIONS")
    parser.add_argument("--encoder", default=EngineSettings().encoder, help="of the homes' texts")
    parser.add_argument("--alone", action="store_true", help="the reader on MiniLM alone")
    options = parser.parse_args()
    reader = minilm_reader() if options.alone else both_readers()
    pairs = (pair.partition("=") for pair in options.homes)
    rows = [
        row
        for home, _, file in pairs
        for row in read(Path(home), Path(file), reader, options.encoder)
    ]
    card: dict[str, Any] = json.loads(options.card.read_text()) if options.card.exists() else {}
    for languages in sorted({row.languages for row in rows}):
        spoken = [row for row in rows if row.languages == languages]
        if len({row.home for row in spoken}) < 2:
            raise SystemExit(f"questions in {languages} about at least two homes are needed")
        card[languages] = {unit: fitted(spoken, unit) for unit in UNITS}
        for unit in UNITS:
            print(json.dumps({"languages": languages, "unit": unit, **figures(spoken, unit)}))
    options.card.write_text(json.dumps(card, indent=1) + "\n")


if __name__ == "__main__":
    run_command(main)
