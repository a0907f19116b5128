"""The rewards of walks: reach, relatedness, conciseness (arXiv 2312.06185, equations 2 to 4).

All functions take a batch of walks as arrays. A walk of i steps from a source e_0 over relations
re_1 … re_i to nodes e_1 … e_i has the prefixes P_0 = e_0 and

    P_j = mean(e_0, re_1, e_1, …, re_j, e_j)        1 + 2 j vectors.

The paper gives neither the weights of the sum nor its W; the weights here are choices, and W is the
identity, since questions and graphs have one encoder.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.paths.path import Path, Rewards


@dataclass(frozen=True, slots=True)
class RewardWeights:
    """The weights λ1, λ2 and λ3 of reach, relatedness and conciseness."""

    reach: float = 1.0
    relatedness: float = 0.5
    conciseness: float = 0.3


DEFAULT_WEIGHTS = RewardWeights()


@dataclass(frozen=True, eq=False)
class WalkRewards:
    """The rewards of a batch of walks, float32 (walks,) each."""

    reach: np.ndarray
    relatedness: np.ndarray
    conciseness: np.ndarray
    total: np.ndarray

    def of(self, walk: int) -> Rewards:
        """Return the rewards of one walk."""
        return Rewards(
            reach=float(self.reach[walk]),
            relatedness=float(self.relatedness[walk]),
            conciseness=float(self.conciseness[walk]),
            total=float(self.total[walk]),
        )


def rewarded(
    paths: Sequence[Path],
    contexts: np.ndarray,
    nodes: np.ndarray,
    relations: np.ndarray,
    weights: RewardWeights = DEFAULT_WEIGHTS,
) -> list[Path]:
    """Return paths that reach their targets with their rewards.

    `contexts` are the vectors of their questions, (paths, d); `nodes` (nodes, d) and `relations`
    (relations, d) those of the graph.
    """
    if not paths:
        return []
    lengths = np.array([len(path.steps) for path in paths])
    most = max(int(lengths.max()), 1)
    ends = np.zeros((len(paths), most), np.int64)
    kinds = np.zeros((len(paths), most), np.int64)
    for row, path in enumerate(paths):
        ends[row, : lengths[row]] = [step.node for step in path.steps]
        kinds[row, : lengths[row]] = [step.relation for step in path.steps]
    starts = nodes[[path.start for path in paths]].astype(np.float32)
    rewards = walk_rewards(
        starts,
        relations[kinds].astype(np.float32),
        nodes[ends].astype(np.float32),
        lengths,
        np.ones(len(paths), bool),
        contexts,
        weights=weights,
    )
    return [replace(path, rewards=rewards.of(row)) for row, path in enumerate(paths)]


def walk_rewards(
    starts: np.ndarray,
    relations: np.ndarray,
    nodes: np.ndarray,
    lengths: np.ndarray,
    reached: np.ndarray,
    contexts: np.ndarray,
    *,
    weights: RewardWeights = DEFAULT_WEIGHTS,
) -> WalkRewards:
    """Return the rewards of walks, from the vectors of their nodes and relations.

    `starts` is (walks, d), `relations` and `nodes` (walks, steps, d), `lengths` the number of steps
    of each walk; vectors after the end are ignored. `reached` is bool (walks,), `contexts` is
    (walks, d).
    """
    by_step = relatedness_by_step(starts, relations, nodes, lengths, contexts)
    related = by_step[np.arange(len(lengths)), lengths]
    reach, concise = reach_rewards(reached), conciseness(lengths)
    total = weights.reach * reach + weights.relatedness * related + weights.conciseness * concise
    return WalkRewards(reach, related, concise, total.astype(np.float32))


def reach_rewards(reached: np.ndarray) -> np.ndarray:
    """Return +1 for each walk that reached its target and -1 for the others (equation 2)."""
    return np.where(reached, 1, -1).astype(np.float32)


def conciseness(lengths: np.ndarray) -> np.ndarray:
    """Return 1 / |P| (equation 4); a walk without a step earns nothing."""
    return ((lengths > 0) / np.maximum(lengths, 1)).astype(np.float32)


def relatedness_by_step(
    starts: np.ndarray,
    relations: np.ndarray,
    nodes: np.ndarray,
    lengths: np.ndarray,
    contexts: np.ndarray,
) -> np.ndarray:
    """Return float32 (walks, steps + 1): the mean of cos(P_j, c) over j = 0 … i (equation 3)."""
    likeness = _cosines(prefix_means(starts, relations, nodes), contexts)
    prefixes = np.arange(likeness.shape[1])
    means = likeness.cumsum(1) / (prefixes + 1)
    last = np.minimum(prefixes, lengths[:, None])
    return np.take_along_axis(means, last, 1).astype(np.float32)


def prefix_means(starts: np.ndarray, relations: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return the prefixes P_0 … P_i of walks: float32 (walks, steps + 1, d)."""
    parts = np.concatenate([starts[:, None], relations + nodes], axis=1, dtype=np.float32)
    counts = 1 + 2 * np.arange(parts.shape[1], dtype=np.float32)
    means: np.ndarray = parts.cumsum(1) / counts[:, None]
    return means


def _cosines(prefixes: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    dots = np.einsum("wjd,wd->wj", prefixes, contexts)
    norms = np.linalg.norm(prefixes, axis=2) * np.linalg.norm(contexts, axis=1)[:, None]
    return np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
