"""How much knowledge helps a model, per data set, and how well a proxy predicts this."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tasks.evaluate.metrics import Scores, summarise
from tasks.questions.question import BenchmarkQuestion

KNOWN = 0.5  # minimum score of an answer that counts as known
_FEWEST_SETS = 3  # data sets over which gains are correlated


def gain_figures(model: str, questions: Sequence[BenchmarkQuestion]) -> dict[str, Any]:
    """Return a model's mean scores without and with knowledge, the gain, and how often it helps.

    All have 95 % intervals, with questions of one topic resampled together; they are given over all
    questions and per data set.
    """
    rows = [
        (question, *figures) for question in questions if (figures := scores_of(model, question))
    ]
    names = sorted({question.dataset for question, *_ in rows})
    by = {name: [row for row in rows if row[0].dataset == name] for name in names}
    return {
        "system": model,
        **_part(rows),
        "by": {"dataset": {name: _part(part) for name, part in by.items()}},
    }


def scores_of(model: str, question: BenchmarkQuestion) -> tuple[float, float] | None:
    """Return a model's scores on a question without and with knowledge; None if unknown."""
    known = (figures for name, *figures in question.outcomes if name == model)
    pair = next(known, None)
    return (pair[0], pair[1]) if pair else None


def agreement(proxy: str, model: str, questions: Sequence[BenchmarkQuestion]) -> dict[str, Any]:
    """Return how well a proxy's outcomes agree with a model's; undefined figures are None.

    An outcome is whether the model is right without knowledge and with it. `equal_outcomes` is the
    share of questions on which both models have the same outcome, `equal_by_chance` the share that
    would be expected if the two were independent, and `kappa` is Cohen's (1960).
    `gain_correlation` is the rank correlation of the two models' gains over data sets,
    `question_correlation` that of their gains over questions.
    """
    both = [
        (question.dataset, mine, other)
        for question in questions
        if (mine := scores_of(proxy, question)) and (other := scores_of(model, question))
    ]
    figures: dict[str, Any] = {"proxy": proxy, "model": model, "items": len(both)}
    if not both:
        return figures
    kinds = np.array([[_kind(mine), _kind(other)] for _, mine, other in both])
    shares = [np.bincount(kinds[:, side], minlength=4) / len(kinds) for side in (0, 1)]
    equal, chance = float((kinds[:, 0] == kinds[:, 1]).mean()), float(shares[0] @ shares[1])
    gains = np.array([[after - before for before, after in pair] for _, *pair in both])
    sets = np.array([name for name, *_ in both])
    means = np.array([gains[sets == name].mean(0) for name in np.unique(sets)])
    by_set = rank_correlation(means[:, 0], means[:, 1]) if len(means) >= _FEWEST_SETS else None
    return figures | {
        "equal_outcomes": round(equal, 4),
        "equal_by_chance": round(chance, 4),
        "kappa": round((equal - chance) / (1 - chance), 4) if chance < 1 else None,
        "gain_correlation": by_set,
        "question_correlation": rank_correlation(gains[:, 0], gains[:, 1]),
    }


def rank_correlation(left: np.ndarray, right: np.ndarray) -> float | None:
    """Return Spearman's correlation, with mean ranks for ties; None if one side is constant."""
    from scipy.stats import spearmanr

    if np.ptp(left) == 0 or np.ptp(right) == 0:
        return None
    return round(float(spearmanr(left, right).statistic), 4)


def _kind(figures: tuple[float, float]) -> int:
    without, helped = figures
    return 2 * (without >= KNOWN) + (helped >= KNOWN)


def _part(rows: Sequence[tuple[BenchmarkQuestion, float, float]]) -> dict[str, Any]:
    scores: list[Scores] = [
        {
            "without_knowledge": without,
            "with_knowledge": helped,
            "knowledge_gain": helped - without,
            "helped": float(helped > without),
            "harmed": float(helped < without),
        }
        for _, without, helped in rows
    ]
    clusters = [question.split_key or question.id for question, *_ in rows]
    return {"items": len(rows), "metrics": summarise(scores, clusters)}
