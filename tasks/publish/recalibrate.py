"""Recalibrate the confidence of a home's engines by people's verdicts: Platt scaling, shrunk.

Per kind of fact and engine, P(useful) = sigmoid(intercept + slope * log odds of the engine's
confidence) (Platt 1999); a statement's confidence says only that it is right, so P(not wrong). What
the rules take from tables and labels has one confidence and tells nothing about sentences, so it
has a line of its own. Intercept and slope have normal priors around 0 and 1. For the rules, the
priors are as wide as the spread of lines fitted to single corpora on which the weights were not
trained (`python -m benchmarks.corpus_lines`). The prior for language models is wide, because none
of their facts have been judged and their confidence depends only on the form of their match.
"""

import math
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from tasks.extract.extracted import STATED

SPREAD_OF_RULES = (0.35, 0.1)  # standard deviations of intercept and slope
SPREAD_OF_MODELS = (1.0, 0.5)
FEW = 5  # so many verdicts count half: a few are of one sitting, or on facts that caught the eye
CLOSE = 1e-9  # Newton's method ends at a step of at most this size
MOST_STEPS = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A linear correction of log odds; `verdicts` is the number from which it was learned."""

    intercept: float
    slope: float
    verdicts: int

    def correct(self, confidence: float) -> float:
        """Return the corrected confidence."""
        return 1 / (1 + math.exp(-(self.intercept + self.slope * _log_odds(confidence))))


def recalibrations(verdicts: pa.Table) -> pa.Table:
    """Return the lines of the verdicts in force.

    Columns: fact_kind, engine, laid_out (from tables and labels), intercept, slope, verdicts.
    """
    rows = sorted(verdicts.to_pylist(), key=_line_of)
    found = []
    for (kind, engine, laid_out), group in groupby(rows, _line_of):
        judged, right = list(group), kind == "statement"
        line = fit_line(
            [row["engine_confidence"] for row in judged],
            [row["verdict"] != "wrong" if right else row["verdict"] == "useful" for row in judged],
            SPREAD_OF_RULES if engine == "rules" else SPREAD_OF_MODELS,
        )
        found.append((kind, engine, laid_out, line.intercept, line.slope, line.verdicts))
    names = ["fact_kind", "engine", "laid_out", "intercept", "slope", "verdicts"]
    types = [pa.string(), pa.string(), pa.bool_(), pa.float64(), pa.float64(), pa.int64()]
    columns = list(zip(*found, strict=True)) or [()] * len(names)
    return pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=names)


def _line_of(row: dict[str, Any]) -> tuple[str, str, bool]:
    laid_out = row["engine"] == "rules" and row["engine_confidence"] == STATED
    return row["fact_kind"], row["engine"], laid_out


def fit_line(confidences: list[float], useful: list[bool], spread: tuple[float, float]) -> Line:
    """Return the likeliest line that does not fall, under priors of these standard deviations.

    A falling line would reverse the order of facts, for which there are too few verdicts.
    """
    odds = np.array([_log_odds(confidence) for confidence in confidences])
    y = np.array(useful, float)
    intercept, slope = _most_likely(odds, y, spread)
    if slope < 0:
        (intercept, _), slope = _most_likely(0 * odds, y, spread), 0.0
    return Line(float(intercept), float(slope), len(useful))


def _most_likely(odds: np.ndarray, y: np.ndarray, spread: tuple[float, float]) -> np.ndarray:
    """Return intercept and slope by Newton's method; the posterior is concave, so there is one."""
    x = np.column_stack([np.ones(len(odds)), odds])
    prior, precision = np.array([0.0, 1.0]), 1 / np.square(spread)
    weight = len(y) ** 2 / (len(y) ** 2 + FEW**2)

    def log_posterior(line: np.ndarray) -> float:
        z = x @ line
        return float(
            weight * (y @ z - np.logaddexp(0, z).sum()) - precision @ (line - prior) ** 2 / 2
        )

    line = prior
    for _ in range(MOST_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ line, -30, 30)))
        gradient = weight * x.T @ (y - p) - precision * (line - prior)
        curvature = weight * (x.T * (p * (1 - p))) @ x + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        while log_posterior(line + step) < log_posterior(line) and np.abs(step).max() > CLOSE:
            step = step / 2
        line = line + step
        if np.abs(step).max() <= CLOSE:
            break
    return line


def _log_odds(confidence: float) -> float:
    bounded = min(max(confidence, 0.001), 0.999)
    return math.log(bounded / (1 - bounded))
