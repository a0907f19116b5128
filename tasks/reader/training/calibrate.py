"""Fit probabilities: `python -m tasks.reader.training.calibrate FOLDER --data DATA`.

Answerable questions of the documents kept to choose with are asked of eight passages, as retrieval
gives them: their own among those most like the question, or, for every fifth question, without it,
so that nothing there answers it. Whether the best span was right is fitted to its margins (Platt
1999).
"""

import argparse
import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from tasks.models.encoders.minilm import MiniLM
from tasks.models.span_reader.reader import TrainedReader
from tasks.reader.trained.answers import find_answers
from tasks.reader.training.examples import Question, all_questions, part_of
from tasks.reader.training.score import f1
from tasks.text.question import analyse

PASSAGES = 8
RIGHT = 0.5  # least word overlap (F1) with an answer that counts as right


def judged(
    rows: list[Question], reader: TrainedReader, most: int
) -> list[tuple[float, float, bool, bool]]:
    """Return margin, gap, whether it is right, and whether there was an answer, per question."""
    drawn = random.Random(5)
    contexts = sorted({row.context for row in rows})
    encoder = MiniLM()
    vectors = encoder.encode(contexts)
    place = {context: number for number, context in enumerate(contexts)}
    rows = [row for row in rows if row.answers]
    chosen = drawn.sample(rows, min(most, len(rows)))
    question_vectors = encoder.encode([row.question for row in chosen])
    results = []
    for number, (row, vector) in enumerate(zip(chosen, question_vectors, strict=True)):
        likeness = vectors @ vector
        own = place[row.context]
        answerable = number % 5 > 0
        likeness[own] = 9.0 if answerable else -9.0
        texts = [contexts[n] for n in np.argsort(-likeness)[:PASSAGES]]
        answers = find_answers(analyse(row.question), texts, reader, lambda name: ())
        if answers:
            best = answers[0]
            golds = [row.context[start:end] for start, end in row.answers] if answerable else []
            right = bool(golds) and f1(best.text, golds) >= RIGHT
            results.append((best.span.margin, best.gap, right, answerable))
    return results


def fit(results: list[tuple[float, float, bool, bool]]) -> dict[str, float]:
    """Return the weights of a logistic regression of right on margin and gap."""
    rows = np.array([(margin, min(gap, 8.0), 1.0) for margin, gap, _, _ in results])
    right = np.array([float(row[2]) for row in results])

    def loss(weights: np.ndarray) -> float:
        values = rows @ weights
        return float(np.mean(np.logaddexp(0.0, values) - right * values) + 1e-4 * weights @ weights)

    weights = minimize(loss, np.zeros(3)).x
    return dict(zip(("margin", "gap", "intercept"), map(float, weights.round(4)), strict=True))


def calibration(results: list[tuple[float, float, bool, bool]], reader: TrainedReader) -> Any:
    """Return the calibration error, and what answers above each probability are like."""
    chances = np.array([reader.probability(margin, gap) for margin, gap, _, _ in results])
    right = np.array([row[2] for row in results])
    answerable = np.array([row[3] for row in results])
    bins = np.minimum((chances * 10).astype(int), 9)
    error = sum(
        abs(chances[bins == n].mean() - right[bins == n].mean()) * np.mean(bins == n)
        for n in set(bins.tolist())
    )
    above = {}
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        kept = chances >= least
        above[str(least)] = {
            "right": round(float(np.mean(kept & right)), 3),
            "wrong": round(float(np.mean(kept & ~right)), 3),
            "answerable answered": round(float(kept[answerable].mean()), 3),
            "unanswerable refused": round(float(1 - kept[~answerable].mean()), 3),
        }
    return {"questions": len(results), "calibration error": round(float(error), 3), "from": above}


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=os.environ.get("ALMANAC_DATA"))
    parser.add_argument("--most", type=int, default=400, help="questions of each part")
    parser.add_argument("--report", action="store_true", help="measure on the report part, too")
    options = parser.parse_args()
    card = options.folder / "reader.json"
    card.write_text('{"margin": 1.0, "gap": 0.0, "intercept": 0.0}\n')
    rows = all_questions(options.data)
    parts = {name: [row for row in rows if part_of(row.title) == name] for name in
             ("choose", "report")}  # fmt: skip
    results = judged(parts["choose"], TrainedReader(options.folder), options.most)
    card.write_text(json.dumps(fit(results)) + "\n")
    reader = TrainedReader(options.folder)
    print(json.dumps({"choose": calibration(results, reader)}))
    if options.report:
        results = judged(parts["report"], reader, options.most)
        print(json.dumps({"report": calibration(results, reader)}))


if __name__ == "__main__":
    main()
