"""Beam search with a policy: the likeliest trails of a question; a beam of one walks greedily."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.graphs.graph import Nodes
from tasks.paths.policy.network import GraphPolicy
from tasks.paths.policy.trails import Trail
from tasks.programs.planner.features import question_features
from tasks.programs.planner.topics import Topic

WIDTH = 20


@dataclass(frozen=True, slots=True)
class LikelyTrail:
    """A trail and the logarithm of its probability, log π."""

    trail: Trail
    likely: float


def search_trails(
    policy: GraphPolicy, readings: Sequence[Topic], width: int = WIDTH
) -> list[LikelyTrail]:
    """Return the likeliest trails from the names in a question, the best first, at most `width`.

    After each hop, the `width` likeliest trails are continued. The policy decides where they stop.
    A hop that other questions meant and that a trail's end lacks has its share all the same, so
    that no other hop is likely because the right one is missing.
    """
    import torch

    if not readings:
        return []
    with torch.inference_mode():
        one = torch.zeros(len(readings), dtype=torch.int64)
        read = policy.log_readings(readings, one, 1).tolist()
    going = [(n, LikelyTrail(Trail.begin(r), read[n])) for n, r in enumerate(readings)]
    ended: list[LikelyTrail] = []
    grams = [question_features(reading.masked) for reading in readings]
    for step in range(policy.network.shape.steps):
        longer = [found.trail.longer(policy.graph) for _, found in going]
        rows = [
            (n, found.trail.hops, policy.choices(trail.hops[-1] for trail in trails))
            for (n, found), trails in zip(going, longer, strict=True)
            if trails or found.trail.hops
        ]
        if not rows:
            break
        states = policy.states(readings, rows)
        with torch.inference_mode():
            likely = policy.log_probabilities(grams, states).numpy()
        of_rows = iter(np.split(likely, np.flatnonzero(np.diff(states.owners)) + 1))
        following = []
        for (n, found), trails in zip(going, longer, strict=True):
            if not (trails or found.trail.hops):
                continue
            shares = next(of_rows).tolist()  # of its hops, of those it lacks, and of stopping
            following += [
                (n, LikelyTrail(trail, found.likely + share))
                for trail, share in zip(trails, shares, strict=False)
            ]
            if found.trail.hops:
                ended.append(LikelyTrail(found.trail, found.likely + shares[-1]))
        following.sort(key=lambda one: -one[1].likely)
        going = following[:width]
        if step + 1 == policy.network.shape.steps:
            ended += [found for _, found in going]
    ended.sort(key=lambda found: -found.likely)
    return ended[:width]


@dataclass(frozen=True, eq=False)
class Proposal:
    """Nodes that may together be the answer, how likely that is, and the likeliest trail there."""

    nodes: Nodes
    probability: float
    trail: Trail


def proposals(policy: GraphPolicy, found: Sequence[LikelyTrail]) -> list[Proposal]:
    """Return the ends of trails, the likeliest first, with the sum of their trails' probability.

    The probability is less where little of the question's wording is known to the policy.
    """
    by_ends: dict[bytes, list[LikelyTrail]] = {}
    for likely in found:
        by_ends.setdefault(likely.trail.ends.tobytes(), []).append(likely)
    proposed = []
    for same in by_ends.values():
        best = same[0].trail
        share = float(np.exp([likely.likely for likely in same]).sum())
        proposed.append(Proposal(best.ends, min(share, 1.0) * policy.familiar(best), best))
    return sorted(proposed, key=lambda proposal: -proposal.probability)
