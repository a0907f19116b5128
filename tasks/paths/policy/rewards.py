"""The rewards of walks: reach, relatedness, conciseness (arXiv 2312.06185, equations 2 to 4).

A walk of i steps from a source e_0 over relations re_1 … re_i to nodes e_1 … e_i has the prefixes
P_0 = e_0 and

    P_j = mean(e_0, re_1, e_1, …, re_j, e_j)        1 + 2 j vectors.

The paper gives neither the weights of the sum nor its W; the weights here are choices (see
`PolicyPlan`), and W is the identity, since questions and graphs have one encoder.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tasks.paths.path import Path, Rewards
from tasks.paths.policy.plan import PolicyPlan

DEFAULT = PolicyPlan()


def rewarded(
    paths: Sequence[Path],
    contexts: np.ndarray,
    nodes: np.ndarray,
    relations: np.ndarray,
    plan: PolicyPlan = DEFAULT,
) -> list[Path]:
    """Return paths with their rewards.

    All reach their targets, so that equation 2 gives each 1. `contexts` are the vectors of their
    questions, (paths, d), or one for all, (d,); `nodes` (nodes, d) and `relations` (relations, d)
    those of the graph.
    """
    most = max((len(path.steps) for path in paths), default=0)
    ends = np.zeros((len(paths), most), np.int64)
    kinds = np.zeros((len(paths), most), np.int64)
    for row, path in enumerate(paths):
        ends[row, : len(path.steps)] = [step.node for step in path.steps]
        kinds[row, : len(path.steps)] = [step.relation for step in path.steps]
    starts = nodes[np.array([path.start for path in paths], np.int64)].astype(np.float32)
    walked = relations[kinds].astype(np.float32), nodes[ends].astype(np.float32)
    related = relatedness_by_step(starts, *walked, contexts)
    valued = []
    for row, path in enumerate(paths):
        length = len(path.steps)
        relatedness = float(related[row, length])
        concise = 1 / length if length else 0.0  # equation 4; a walk without a step earns nothing
        total = plan.reach + plan.relatedness * relatedness + plan.conciseness * concise
        valued.append(replace(path, rewards=Rewards(1.0, relatedness, concise, total)))
    return valued


def relatedness_by_step(
    starts: np.ndarray, relations: np.ndarray, nodes: np.ndarray, contexts: np.ndarray
) -> np.ndarray:
    """Return float32 (walks, steps + 1): the mean of cos(P_j, c) over j = 0 … i (equation 3).

    `starts` is (walks, d), `relations` and `nodes` are (walks, steps, d).
    """
    parts = np.concatenate([starts[:, None], relations + nodes], axis=1, dtype=np.float32)
    prefixes = parts.cumsum(1) / (1 + 2 * np.arange(parts.shape[1], dtype=np.float32))[:, None]
    dots = (prefixes * contexts[..., None, :]).sum(2)
    norms = np.linalg.norm(prefixes, axis=2) * np.linalg.norm(contexts, axis=-1)[..., None]
    cosines = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
    means: np.ndarray = cosines.cumsum(1) / np.arange(1, parts.shape[1] + 1, dtype=np.float32)
    return means
