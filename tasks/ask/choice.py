"""Chooses among the answers of routes: the best supported one is given, not the first.

A route says how likely its answer is right. Its trust turns that into log-odds, which add up over
the routes that agree on an answer, as if they erred independently; answers that differ compete
with each other and with "none of these" (a conditional logit, McFadden 1974). Trust is learned from
labelled questions by `almanac learn`; without it, a route is believed as it speaks. A route that
holds its own answer for likelier wrong than right says nothing against others that give the same.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from schemas.answers import Route
from tasks.ask.route import RouteResult
from tasks.text.names import normalise_name

UNSAID: Mapping[Route, float] = {  # of answers whose route cannot tell how likely they are
    "programs": 0.9,
    "paths": 0.5,
    "text": 0.6,
    "experts": 0.5,
    "none": 0.3,
}
NEAREST_TO_CERTAIN = 0.995  # no route is believed beyond this, so that others can outweigh it
RIDGE = 1.0  # pulls trust to what is believed without learning


@dataclass(frozen=True, slots=True)
class Trust:
    """How a route's own probability is read: its log-odds times `scale`, plus `shift`."""

    shift: float = 0.0
    scale: float = 1.0


Trusts = Mapping[str, Trust]  # by route; others are believed as they speak
USUAL = Trust()


def choose(results: Sequence[RouteResult], trusts: Trusts, least: float = 0.0) -> list[RouteResult]:
    """Return results of routes in the order in which they count, the one that is given last.

    Its probability is what all routes together say, and the places of those that agree follow its
    own. Answers for which the routes that give them speak with less than `least` are withheld.
    Without an answer, the result with the best evidence comes last, for that is shown.
    """
    answered = [result for result in results if result.answerable]
    groups = agreeing(answered)
    supports = [_support_of(group, trusts) for group in groups]
    if not groups or (least and max(supports) < _log_odds(least)):
        silent = [replace(result, answers=(), probability=None) for result in results]
        return sorted(silent, key=lambda one: max((e.score for e in one.evidence), default=0.0))
    shares = _shares(supports)
    best = max(range(len(groups)), key=lambda place: shares[place])
    members = sorted(groups[best], key=lambda one: support(one, trusts))
    given = members[-1]
    others = [result for result in results if result is not given]
    if len(answered) > 1 or trusts:
        given = replace(given, probability=round(shares[best], 4))
    places = [place for one in reversed(members) for place in one.evidence]
    return [*others, replace(given, evidence=list({repr(p): p for p in places}.values()))]


def is_settled(results: Sequence[RouteResult], trusts: Trusts, enough: float) -> bool:
    """Return whether the answer that would be given is as likely as `enough`."""
    answered = [result for result in results if result.answerable]
    if not answered:
        return False
    groups = agreeing(answered)
    return max(_shares([_support_of(group, trusts) for group in groups])) >= enough


def _support_of(group: Sequence[RouteResult], trusts: Trusts) -> float:
    return sum(support(one, trusts) for one in _speakers(group))


def _speakers(group: Sequence[RouteResult]) -> list[RouteResult]:
    """Return the surest of routes that agree, and those that are likelier right than wrong."""
    surest = max(group, key=log_odds)
    return [one for one in group if one is surest or log_odds(one) > 0]


def support(result: RouteResult, trusts: Trusts) -> float:
    """Return the log-odds that a route's trust gives to its answer."""
    trust = trusts.get(result.route, USUAL)
    return trust.shift + trust.scale * log_odds(result)


def log_odds(result: RouteResult) -> float:
    """Return the log-odds of a route's own probability, or of what is usual for its kind."""
    return _log_odds(UNSAID[result.route] if result.probability is None else result.probability)


def _log_odds(probability: float) -> float:
    likely = min(max(probability, 1 - NEAREST_TO_CERTAIN), NEAREST_TO_CERTAIN)
    return math.log(likely / (1 - likely))


def agreeing(results: Sequence[RouteResult]) -> list[list[RouteResult]]:
    """Return results with answers in groups that mean the same, in the order of their first."""
    groups: list[list[RouteResult]] = []
    for result in results:
        same = next((group for group in groups if _agree(group[0], result)), None)
        if same is None:
            groups.append([result])
        else:
            same.append(result)
    return groups


def _agree(one: RouteResult, other: RouteResult) -> bool:
    """Return whether one route gives all answers of another, in whatever order and form.

    A text that holds one of several answers does not give them; it must hold all.
    """
    few, many = sorted(
        ([f" {normalise_name(answer)} " for answer in result.answers] for result in (one, other)),
        key=len,
    )
    matched = all(any(_mean_the_same(first, second) for second in many) for first in few)
    if all(any(first in second for second in many) for first in few):
        return matched
    return matched and all(any(_mean_the_same(one, two) for one in few) for two in many)


def _mean_the_same(one: str, other: str) -> bool:
    """Return whether two names between spaces are equal, or one holds the other's words."""
    return one == other or bool(one.strip() and other.strip()) and (one in other or other in one)


def _shares(supports: Sequence[float]) -> list[float]:
    """Return the probability of each answer beside the others and beside none of them."""
    highest = max(0.0, *supports)
    weights = [math.exp(one - highest) for one in supports]
    whole = math.exp(-highest) + sum(weights)
    return [weight / whole for weight in weights]


def learn_trusts(
    results: Sequence[Sequence[RouteResult]], right: Sequence[Sequence[bool]]
) -> dict[str, Trust]:
    """Return the trust of each route that makes the right answers of questions likeliest.

    `results` are those of each question with an answer, `right` says of each whether it is right.
    The penalised likelihood is concave, so that its maximum does not depend on the start.
    """
    from scipy.optimize import minimize

    routes = sorted({one.route for some in results for one in some})
    if not routes:
        return {}
    usual = np.array([(USUAL.shift, USUAL.scale)] * len(routes)).ravel()
    questions = [_options(some, marks, routes) for some, marks in zip(results, right, strict=True)]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the penalised negative log-likelihood, and its gradient."""
        far = weights - usual
        value, gradient = RIDGE * far @ far / 2, RIDGE * far
        for features, target in questions:
            scores = features @ weights
            scores -= scores.max()
            logs = scores - math.log(np.exp(scores).sum())
            value -= target @ logs
            gradient = gradient + features.T @ (np.exp(logs) - target)
        return float(value), gradient

    pairs = minimize(loss, usual, jac=True).x.reshape(-1, 2).tolist()
    return {route: Trust(*map(float, pair)) for route, pair in zip(routes, pairs, strict=True)}


def _options(
    results: Sequence[RouteResult], right: Sequence[bool], routes: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of each answer and of none, and how the truth is shared among them."""
    groups = agreeing(results)
    marks = {id(result): mark for result, mark in zip(results, right, strict=True)}
    features = np.zeros((len(groups) + 1, 2 * len(routes)))
    target = np.zeros(len(groups) + 1)
    for place, group in enumerate(groups):
        target[place] = any(marks[id(result)] for result in group)
        for result in _speakers(group):
            first = 2 * routes.index(result.route)
            features[place, first] += 1
            features[place, first + 1] += log_odds(result)
    target[-1] = not target.any()
    return features, target / target.sum()
