"""Fit the probabilities of sections to judged ones: python -m recipes.judged_sections [--write].

`recipes/judged/sections.jsonl` has a row for each question about ten corpora and each reader: the
measures of the sections that were found (`TrainedReader.shares_of_sections`), and which answer the
question. Two in three were judged by a reader who saw the question, its answer and the section; the
others answer it if they share most words with the passage from which the answer was written. Two
questions in seven have no answer. The weights are those of a conditional logit with "none of them"
(McFadden 1974), with a ridge. Printed are the shares of right and wrong answers and of answered
questions without an answer, by weights fitted to the other corpora.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from recipes.command import parser_of, run_command
from tasks.models.span_reader.reader import SHIPPED

JUDGED = Path(__file__).parent / "judged" / "sections.jsonl"
CARDS = {"both": SHIPPED / "both.json", "minilm": SHIPPED / "minilm.json"}
SCALES = np.array([5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])  # of the measures; margins vary most
RIDGE = 0.3
LEAST = (0.5, 0.6, 0.7)


@dataclass(frozen=True, slots=True)
class Judged:
    """A question's sections: scaled measures (sections, 8) that end with a 1, and which answer."""

    corpus: str
    answerable: bool
    measures: np.ndarray
    right: np.ndarray

    def shares(self, weights: np.ndarray) -> np.ndarray:
        """Return the probabilities of "none" and of each section."""
        values = np.concatenate([[0.0], self.measures @ weights])
        shares: np.ndarray = np.exp(values - np.logaddexp.reduce(values))
        return shares


def judged_sections(reader: str) -> list[Judged]:
    """Return the questions whose sections a reader measured: `both` networks, or `minilm`."""
    rows = map(json.loads, JUDGED.read_text(encoding="utf-8").splitlines())
    return [
        Judged(
            row["corpus"],
            row["answerable"],
            np.array([[*(np.array(one) / SCALES), 1.0] for one in row["measures"]]).reshape(-1, 8),
            np.array(row["right"], bool),
        )
        for row in rows
        if row["reader"] == reader
    ]


def fitted(rows: Sequence[Judged]) -> np.ndarray:
    """Return the weights (8,) that make the right sections, or none, likeliest."""

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = 0.0, np.zeros(8)
        for row in rows:
            shares = row.shares(weights)
            meant = shares * np.concatenate([[not row.right.any()], row.right])
            total -= float(np.log(max(meant.sum(), 1e-12)))
            slope += row.measures.T @ (shares - meant / max(meant.sum(), 1e-12))[1:]
        slopes = np.append(weights[:-1], 0.0)
        return total + RIDGE * float(slopes @ slopes) / 2, slope + RIDGE * slopes

    weights: np.ndarray = minimize(loss, np.zeros(8), jac=True).x
    return weights


def figures(rows: Sequence[Judged]) -> dict[str, Any]:
    """Return what is answered from each probability on, by weights of the other corpora."""
    best = []
    for corpus in sorted({row.corpus for row in rows}):
        weights = fitted([row for row in rows if row.corpus != corpus])
        for row in (row for row in rows if row.corpus == corpus and len(row.right)):
            shares = row.shares(weights)[1:]
            best.append((row.answerable, float(shares.max()), bool(row.right[shares.argmax()])))
    answerable = sum(row.answerable for row in rows)
    return {
        str(least): {
            "right": round(sum(p >= least and y for _, p, y in best) / answerable, 3),
            "wrong": round(sum(a and p >= least and not y for a, p, y in best) / answerable, 3),
            "answered without an answer": round(
                sum(not a and p >= least for a, p, _ in best) / (len(rows) - answerable), 3
            ),
        }
        for least in LEAST
    }


def main() -> None:
    """Run it."""
    options = parser_of(__doc__, write=False).parse_args()
    for reader, path in CARDS.items():
        rows = judged_sections(reader)
        weights = fitted(rows)
        print(json.dumps({"reader": reader, "questions": len(rows), "from": figures(rows)}))
        if options.write:
            measures = [round(float(one), 4) for one in weights[:-1] / SCALES]
            card = json.loads(path.read_text(encoding="utf-8"))
            card["sections"] = {"measures": measures, "intercept": round(float(weights[-1]), 4)}
            path.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run_command(main)
