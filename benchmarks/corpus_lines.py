"""How corpora differ in confidence, and what an audit mends: python -m benchmarks.corpus_lines.

Every judged triple (`recipes/judged_facts.py`) gets the probability of weights that were fitted
without its corpus. Platt's line of each corpus over these shows how far lines spread: the
priors of `tasks/publish/recalibrate.py`. Then verdicts of each corpus that has at least LEAST are
drawn as an audit draws them, and the line they give is held against the rest of the corpus: the
distance between the share expected useful and the share that is.
"""

from itertools import product
from typing import Any

import numpy as np

from benchmarks.command import parser_of, report, run_command
from recipes.judged_facts import (
    RARE,
    RIDGE,
    by_other_corpora,
    columns_of,
    judged_facts,
    judged_samples,
)
from tasks.publish.recalibrate import SPREAD_OF_RULES, fit_line

SPREADS = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
VERDICTS = (0, 10, 30, 50)
LEAST = 95  # judged triples of a corpus, so that enough are left to compare with
DRAWS = 40

Corpus = tuple[np.ndarray, np.ndarray]  # probabilities, and 1 for useful


def by_corpus(language: str, most: int | None) -> list[Corpus]:
    """Return the triples of each corpus of a language, or of `most`, weighed without it."""
    samples = judged_samples(judged_facts(language, most))
    _, x, _ = columns_of(samples, RARE[language])
    y = np.array([sample.verdict == "useful" for sample in samples], float)
    p = by_other_corpora(samples, x, y, RIDGE[language])
    names = np.array([sample.corpus for sample in samples])
    return [(p[names == name], y[names == name]) for name in np.unique(names)]


def evidence(corpora: list[Corpus], spread: tuple[float, float]) -> float:
    """Return the log likelihood of all verdicts under priors, by Laplace's approximation."""
    total = 0.0
    for p, y in corpora:
        line = fit_line(list(p), list(y == 1), spread)
        bounded = np.clip(p, 0.001, 0.999)
        x = np.column_stack([np.ones(len(p)), np.log(bounded / (1 - bounded))])
        z = x @ np.array([line.intercept, line.slope])
        away = np.array([line.intercept, line.slope - 1]) / spread
        shares = 1 / (1 + np.exp(-z))
        curvature = (x.T * (shares * (1 - shares))) @ x + np.diag(1 / np.square(spread))
        total += float(y @ z - np.logaddexp(0, z).sum() - away @ away / 2)
        total -= float(np.log(spread).sum() + np.linalg.slogdet(curvature)[1] / 2)
    return total


def distance(corpora: list[Corpus], verdicts: int) -> float:
    """Return the mean distance between expected and true shares after so many verdicts."""
    random = np.random.default_rng(1)
    distances = []
    for p, y in corpora:
        for _ in range(DRAWS):
            order = random.permutation(len(p))
            judged, rest = order[:verdicts], order[verdicts:]
            line = fit_line(list(p[judged]), list(y[judged] == 1), SPREAD_OF_RULES)
            expected = np.mean([line.correct(float(value)) for value in p[rest]])
            distances.append(abs(expected - y[rest].mean()))
    return float(np.mean(distances))


def main() -> None:
    """Measure and report."""
    parser = parser_of(__doc__)
    parser.add_argument("--corpora", type=int, metavar="N", help="of each language (all)")
    most = parser.parse_args().corpora
    corpora = [corpus for language in ("en", "zh") for corpus in by_corpus(language, most)]
    large = [corpus for corpus in corpora if len(corpus[0]) >= LEAST]
    figures: dict[str, Any] = {
        "corpora": len(corpora),
        "likeliest standard deviations of intercept and slope": max(
            product(SPREADS, SPREADS), key=lambda spread: evidence(corpora, spread)
        ),
        "corpora with enough triples": len(large),
        "distance of expected and true shares after verdicts": {
            str(verdicts): round(distance(large, verdicts), 3) for verdicts in VERDICTS
        },
    }
    report("corpus-lines", figures)


if __name__ == "__main__":
    run_command(main)
