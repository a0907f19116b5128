"""Decides by measurement which parts of the query are in use, on questions kept apart.

Of labelled questions half teach, a quarter tell how far each route is to be trusted, and the last
quarter measures the query with and without each of its parts. Questions of one key stay together.
Every answer to a question that has none is wrong.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from schemas.settings import Settings, changed_settings
from tasks.ask.choice import Trust, learn_trusts
from tasks.ask.parts import LearnedQuery, MeasuredPart, Part, reader_name, save_learned_query
from tasks.ask.route import AskOptions, RouteResult
from tasks.evaluate.answerer import Prediction, without_gold
from tasks.evaluate.evaluate import ask_system
from tasks.evaluate.metrics import rightness
from tasks.evaluate.report import Measured, gain_over
from tasks.evaluate.systems import AskAnswerer
from tasks.programs.planner.planner import Planner
from tasks.progress import Report
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample
from warehouse.editions import Edition
from warehouse.home import Home

FEWEST = 40  # questions with different keys; fewer leave fewer than ten to measure with
MOST_ASKED = 400  # of each of the two quarters that are asked
# Parts that the query is worse without by design, or that spare calls: they stay unless they harm.
# The others cost time for what they bring, and must show that they bring it, or that without all
# of them that do not the query is worse.
STANDING: frozenset[Part] = frozenset(("programs", "text", "planner", "gate", "filters"))


@dataclass(frozen=True)
class Folds:
    """Questions to teach, to learn trust from, and to measure with; no key is in two of them."""

    teaching: list[BenchmarkQuestion]
    trusting: list[BenchmarkQuestion]
    measuring: list[BenchmarkQuestion]

    def asked_of(self, graph: str) -> "Folds":
        """Return the folds with all questions asked of one graph."""
        folds = (self.teaching, self.trusting, self.measuring)
        return Folds(*([replace(one, graph=graph) for one in fold] for fold in folds))


def folds_of(questions: Sequence[BenchmarkQuestion]) -> Folds | None:
    """Return the folds of labelled questions; None if too few have answers to measure with."""
    by_key: dict[str, list[BenchmarkQuestion]] = defaultdict(list)
    for question in questions:
        by_key[question.split_key or question.question].append(question)
    if sum(any(question.answers for question in some) for some in by_key.values()) < FEWEST:
        return None
    keys = sorted(by_key, key=lambda key: blake2b(key.encode("utf-8", "surrogatepass")).digest())
    half, quarter = len(keys) // 2, len(keys) // 4
    parts = (keys[:half], keys[half : half + quarter], keys[half + quarter :])
    return Folds(*([question for key in part for question in by_key[key]] for part in parts))


def decide_parts(
    home: Home, edition: Edition, settings: Settings, folds: Folds, report: Report
) -> dict[str, Any]:
    """Measure the parts of the query, keep which are to be in use, and return the figures.

    What `almanac learn` published was learned from `folds.teaching` alone; the planners of graphs
    that questions name are learned here once more from these, so that none has seen those that
    measure. Where questions name no graph, the home's planners have learned from others.
    """
    model = reader_name(settings)
    if settings.experts.use is None:  # what is never asked could never be measured
        settings = changed_settings(settings, {"experts.use": True})
    questions = sample(folds.measuring, MOST_ASKED)
    place = (edition, settings, home)
    planners: dict[str, Planner] | None = {} if any(q.graph for q in folds.teaching) else None
    whole = AskAnswerer(*place, AskOptions(), "the whole query", planners, LearnedQuery())
    whole.learn(folds.teaching, report)
    trusts = _trusts(whole, sample(folds.trusting, MOST_ASKED), report)
    whole.learned = LearnedQuery(trusts=trusts)
    with_all = ask_system(whole, questions, report)
    parts: dict[str, MeasuredPart] = {}
    for part in whole.parts(questions):
        lacking = ask_system(whole.lacking(part), questions, report)
        parts[part] = _measured(part, with_all, lacking)
    learned = LearnedQuery(parts, trusts)
    decided = ask_system(whole.lacking(*learned.off), questions, report)
    if _share(decided) < _share(with_all):  # parts may help together that help little alone
        parts = {name: replace(part, use=part.high >= 0) for name, part in parts.items()}
        learned = LearnedQuery(parts, trusts)
        decided = ask_system(whole.lacking(*learned.off), questions, report)
    save_learned_query(home, model, learned)
    return {
        "learned": "parts",
        "model": model,
        "questions": len(questions),
        "taught": len(folds.teaching),
        "right_with_all": _share(with_all),
        "right_as_decided": _share(decided),
        "seconds_with_all": round(with_all.seconds / len(questions), 4),
        "seconds_as_decided": round(decided.seconds / len(questions), 4),
        "parts": [
            {"part": name, "use": part.use, "gain": part.gain, "low": part.low, "high": part.high}
            for name, part in parts.items()
        ],
    }


def _trusts(
    whole: AskAnswerer, questions: Sequence[BenchmarkQuestion], report: Report
) -> dict[str, Trust]:
    """Return how far each route is to be trusted, from what all say to the same questions."""
    results: list[list[RouteResult]] = []
    rights: list[list[bool]] = []
    answers = whole.answers(list(map(without_gold, questions)))
    for question, answer in zip(questions, answers, strict=True):
        routes = answer.way.routes if answer.way else []
        given = [(one.route, [one.answer], one.probability) for one in routes if one.answer]
        results.append([RouteResult(name, words, probability=p) for name, words, p in given])
        rights.append([rightness(question, Prediction(words)) > 0 for _, words, _ in given])
    report("trust", len(questions), len(questions))
    return learn_trusts(results, rights)


def _measured(part: Part, with_all: Measured, lacking: Measured) -> MeasuredPart:
    figures = gain_over(lacking, with_all)
    gain, low, high = (figures[name] for name in ("gain", "gain_low", "gain_high"))
    use = high >= 0 if part in STANDING else low > 0
    return MeasuredPart(use, gain, low, high, len(with_all.questions))


def _share(measured: Measured) -> float:
    rights = map(rightness, measured.questions, measured.predictions)
    return round(sum(rights) / len(measured.questions), 4)
