"""Metrics of answers, per question and as means with bootstrap intervals."""

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tasks.evaluate.answerer import Prediction
from tasks.questions.answer_patterns import holds, is_whole
from tasks.questions.normalise import bare_words, contains, same_name, set_f1, token_f1
from tasks.questions.question import BenchmarkQuestion

RESAMPLES = 1000
DRAWS_AT_ONCE = 10_000  # for small samples, a call for each resample is what costs
LOW, HIGH = 2.5, 97.5  # percentiles: a 95 % interval
SEED = 7
_ANSWER_IS = re.compile(r"(?i)\banswer is:?\s+|答案是[:：]?")  # CooK scores what follows the last

Scores = dict[str, float]
Form = Callable[[str], str]


def score(question: BenchmarkQuestion, prediction: Prediction) -> Scores:
    """Return the metrics of one answer, each from 0 to 1.

    `f1` is the data set's own: over answers if they are a set, over words if they are text. A text
    is `right` if it contains a gold answer or matches an answer pattern. If a question has no gold
    answer, giving no answer is right. Documents and paths to find are measured beside the answer.
    """
    return _answer_scores(question, prediction) | _of_gold(question, prediction)


def _answer_scores(question: BenchmarkQuestion, prediction: Prediction) -> Scores:
    answers, gold = prediction.answers, question.answers
    if not gold:
        return {"refused": float(not answers), "right": float(not answers)}
    if question.scoring == "choice":
        return _choice(question, answers) | _around(gold, prediction)
    over_answers = set_f1(answers, gold)
    first, patterns = answers[0] if answers else "", question.patterns
    final = _ANSWER_IS.split(first)[-1] if question.scoring == "text" else first
    over_words = max(token_f1(final, g) for g in gold) if final else 0.0
    scores: Scores = {"hits@1": _first_is_gold(answers, gold, same_name), "set_f1": over_answers}
    if question.scoring == "set":
        scores |= {"em": float(over_answers == 1.0), "f1": over_answers, "token_f1": over_words}
    else:
        exact = _first_is_gold([final], gold, bare_words) or _matched(final, patterns, is_whole)
        whole = bool(answers) and any(contains(first, g) for g in gold)
        contained = exact or float(whole) or _matched(first, patterns, holds)
        scores |= {"em": exact, "f1": over_words, "contained": contained, "right": contained}
    return scores | _around(gold, prediction)


def rightness(question: BenchmarkQuestion, prediction: Prediction) -> float:
    """Return how right an answer is, 0 to 1, by the one metric that every kind of question has."""
    scores = score(question, prediction)
    names = ("accuracy", "right", "hits@1")
    return next(scores[name] for name in names if name in scores)


def paired_gain(pairs: Sequence[tuple[float, float]], clusters: Sequence[str]) -> Scores:
    """Return the mean gain of one system over another, from how right both are on each question.

    `gain_low` and `gain_high` are the ends of its 95 % interval, over resampled clusters.
    """
    return summarise([{"gain": one - other} for one, other in pairs], clusters)


def summarise(scores: Sequence[Scores], clusters: Sequence[str]) -> Scores:
    """Return the mean of each metric, with `_low` and `_high` for the ends of its 95 % interval.

    Questions of one cluster are resampled together, because they share their topic. A metric that
    only some questions have is averaged over those.
    """
    names = list(dict.fromkeys(name for row in scores for name in row))
    if not scores:
        return {}
    values = np.array([[row.get(name, np.nan) for name in names] for row in scores])
    cluster, size = _numbered(clusters)
    present = ~np.isnan(values)
    sums, counts = np.zeros((size, len(names))), np.zeros((size, len(names)))
    np.add.at(sums, cluster, np.where(present, values, 0.0))
    np.add.at(counts, cluster, present.astype(float))
    drawn = _resampled(sums, counts)
    means = sums.sum(0) / counts.sum(0)
    return _with_intervals(names, means, drawn)


def summarise_classes(
    gold: Sequence[str], chosen: Sequence[str], clusters: Sequence[str]
) -> Scores:
    """Return balanced accuracy and macro-F1 of classes, with intervals as in `summarise`.

    Balanced accuracy is the mean recall of the classes, macro-F1 their mean F1; the classes are
    those in `gold`. A choice that is not a class is wrong.
    """
    classes = {name: place for place, name in enumerate(sorted(set(gold)))}
    (cluster, size), other = _numbered(clusters), len(classes)
    tables = np.zeros((size, other, other + 1))  # per cluster: right class, chosen class
    places = ([classes[name] for name in gold], [classes.get(name, other) for name in chosen])
    np.add.at(tables, (cluster, np.array(places[0]), np.array(places[1])), 1.0)
    tables_drawn = (table for drawn in _resamples(size) for table in np.tensordot(drawn, tables, 1))
    drawn = np.array([_of_classes(table) for table in tables_drawn])
    return _with_intervals(("balanced_accuracy", "macro_f1"), _of_classes(tables.sum(0)), drawn)


def _of_classes(table: np.ndarray) -> tuple[float, float]:
    """Return balanced accuracy and macro-F1 of a table of counts (right, chosen)."""
    right, items, chosen = table.diagonal(), table.sum(1), table.sum(0)[:-1]
    present = items > 0
    recall = right[present] / items[present]
    f1 = 2 * right[present] / (items + chosen)[present]
    return float(recall.mean()), float(f1.mean())


def _numbered(clusters: Sequence[str]) -> tuple[np.ndarray, int]:
    """Return the number of each item's cluster, and how many clusters there are."""
    _, cluster = np.unique(np.array(clusters, dtype=object).astype(str), return_inverse=True)
    return cluster, int(cluster.max()) + 1


def _resamples(clusters: int) -> Iterator[np.ndarray]:
    """Yield how often each cluster is drawn, float64 (some resamples, clusters), until all are."""
    rng = np.random.default_rng(SEED)
    at_once = max(1, DRAWS_AT_ONCE // clusters)
    for first in range(0, RESAMPLES, at_once):
        rows = min(at_once, RESAMPLES - first)
        drawn = rng.integers(clusters, size=(rows, clusters)) + clusters * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(float)


def _with_intervals(names: Sequence[str], means: Sequence[float], drawn: np.ndarray) -> Scores:
    """Return means by name, with the ends of their 95 % intervals by resampled means."""
    low, high = np.nanpercentile(drawn, [LOW, HIGH], axis=0)
    summary: Scores = {}
    for place, name in enumerate(names):
        summary[name] = round(float(means[place]), 4)
        summary[f"{name}_low"] = round(float(low[place]), 4)
        summary[f"{name}_high"] = round(float(high[place]), 4)
    return summary


def _resampled(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return resampled means (resamples, metrics) of the sums and counts of clusters."""
    means = []
    for weights in _resamples(len(sums)):
        total = weights @ counts
        unknown = np.full(total.shape, np.nan)
        means.append(np.divide(weights @ sums, total, out=unknown, where=total > 0))
    return np.concatenate(means)


def _around(gold: Sequence[str], prediction: Prediction) -> Scores:
    """Return the metrics other than correctness: whether there was an answer, and how it arose."""
    scores: Scores = {"answered": float(bool(prediction.answers))}
    if prediction.retrieved is not None:
        names = {same_name(name) for name in prediction.retrieved}
        scores["retrieved"] = float(any(same_name(g) in names for g in gold))
    if prediction.coverage is not None:
        scores["coverage"] = prediction.coverage
    return scores


def _of_gold(question: BenchmarkQuestion, prediction: Prediction) -> Scores:
    """Return how much of what leads to the answer was found: gold documents, or the gold path."""
    gold = [same_name(name) for name in question.gold]
    scores: Scores = {}
    if gold and prediction.found is not None:
        found = {same_name(name) for name in prediction.found}
        recall = sum(name in found for name in gold) / len(gold)
        scores |= {"recall@8": recall, "perfect_retrieval@8": float(recall == 1)}
    if gold and prediction.paths is not None and question.hops in (None, len(gold)):
        paths = [[same_name(relation) for relation in path] for path in prediction.paths]
        scores |= {f"gold_path@{k}": float(gold in paths[:k]) for k in (1, 5)}
    return scores


def _choice(question: BenchmarkQuestion, answers: Sequence[str]) -> Scores:
    """Score the chosen answer by its words, so that each copy of a repeated choice counts."""
    choice = chosen_text(question, answers)
    right = bool(choice) and any(bare_words(choice) == bare_words(g) for g in question.answers)
    return {"accuracy": float(right)}


def chosen_text(question: BenchmarkQuestion, answers: Sequence[str]) -> str:
    """Return the first answer, or the choice that it names by its letter; empty without answers."""
    choice = answers[0].strip() if answers else ""
    place = ord(choice.upper()) - ord("A") if len(choice) == 1 else -1
    return question.choices[place] if 0 <= place < len(question.choices) else choice


def _first_is_gold(answers: Sequence[str], gold: Sequence[str], form: Form) -> float:
    return float(bool(answers) and form(answers[0]) in {form(g) for g in gold})


def _matched(answer: str, patterns: Sequence[str], test: Callable[[str, str], bool]) -> float:
    return float(bool(answer) and any(test(pattern, answer) for pattern in patterns))
