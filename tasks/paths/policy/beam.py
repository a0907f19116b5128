"""Beam search with a policy: the best walks between pairs of a source and a target."""

from dataclasses import dataclass

import numpy as np

from tasks.graphs.graph import Nodes
from tasks.paths.path import Path
from tasks.paths.policy.episodes import (
    BRIDGES,
    Rules,
    VectorGraph,
    Walks,
    advance,
    begin,
    best_of_groups,
    end_walks,
    possible_actions,
    rewards_of,
)
from tasks.paths.policy.network import PolicyNetwork
from tasks.paths.policy.rewards import DEFAULT_WEIGHTS, RewardWeights

PAIRS = 256  # searched at a time


@dataclass(frozen=True, slots=True)
class BeamOptions:
    """Options for the search and the ranking of paths.

    After each step, the `width` most probable walks of each pair are continued, and as many that
    have ended are kept. Paths are ranked by total reward plus `likelihood` times their
    log-probability.
    """

    width: int = 5
    likelihood: float = 0.1


DEFAULT_BEAM = BeamOptions()


@dataclass(frozen=True, slots=True)
class RankedPath:
    """A path with its rewards, and the score by which it is ranked."""

    path: Path
    score: float


@dataclass(eq=False)
class _Beam:
    """Walks, each with the number of its pair and its log-probability."""

    walks: Walks
    pairs: np.ndarray
    likely: np.ndarray

    def rows(self, rows: np.ndarray) -> "_Beam":
        return _Beam(self.walks.rows(rows), self.pairs[rows], self.likely[rows])

    def best(self, most: int) -> "_Beam":
        """Return the `most` most probable walks of each pair, in the order of pairs."""
        return self.rows(best_of_groups(self.pairs, self.likely, most))


def search_paths(
    world: VectorGraph,
    network: PolicyNetwork,
    sources: Nodes,
    targets: Nodes,
    contexts: np.ndarray,
    rules: Rules,
    *,
    options: BeamOptions = DEFAULT_BEAM,
    weights: RewardWeights = DEFAULT_WEIGHTS,
    projection: np.ndarray | None = None,
) -> list[list[RankedPath]]:
    """Return the paths of each pair of a source and a target, best first.

    Only paths that reach the target within the maximum number of steps are returned. A pair of a
    node with itself has no paths unless the rules allow walks to return to a node.
    """
    paths: list[list[RankedPath]] = [[] for _ in sources]
    for start in range(0, len(sources), PAIRS):
        part = slice(start, start + PAIRS)
        walks = begin(sources[part], targets[part], contexts[part], rules)
        ended = _search(world, network, walks, rules, options.width)
        if not len(ended.walks):
            continue
        rewards = rewards_of(world, ended.walks, weights, projection)
        score = rewards.total + options.likelihood * ended.likely
        for row in best_of_groups(ended.pairs, score, options.width).tolist():
            path = ended.walks.path(row, rewards.of(row))
            paths[start + int(ended.pairs[row])].append(RankedPath(path, float(score[row])))
    return paths


def _search(
    world: VectorGraph, network: PolicyNetwork, walks: Walks, rules: Rules, width: int
) -> _Beam:
    """Return walks that have reached their targets, at most `width` for each pair."""
    going = _Beam(walks, np.arange(len(walks)), np.zeros(len(walks), np.float32))
    if rules.simple:
        going = going.rows(np.flatnonzero(walks.at != walks.targets))
    ended = going.rows(np.zeros(0, np.int64))
    for step in range(rules.steps):
        going = _longer(world, network, going, rules, left=rules.steps - step - 1)
        done = going.walks.ended
        arrived = going.rows(np.flatnonzero(done & going.walks.reached))
        ended = _joined(ended, arrived).best(width)
        going = going.rows(np.flatnonzero(~done)).best(width)
        if not len(going.walks):
            break
    return ended


def _longer(
    world: VectorGraph, network: PolicyNetwork, beam: _Beam, rules: Rules, *, left: int
) -> _Beam:
    """Return all walks that are one action longer and can still reach their targets."""
    import torch

    actions = possible_actions(world, beam.walks, rules)
    rows, columns = np.nonzero(actions.mask)
    able = _may_arrive(world, actions.nodes[rows, columns], beam.walks.targets[rows], left)
    rows, columns = rows[able], columns[able]
    kept, rows = np.unique(rows, return_inverse=True)
    beam, actions = beam.rows(kept), actions.rows(kept)
    with torch.inference_mode():
        likely = network.log_probabilities(world, beam.walks, actions).numpy()
    longer = _Beam(beam.walks.rows(rows), beam.pairs[rows], beam.likely[rows])
    longer.likely = longer.likely + likely[rows, columns]
    advance(longer.walks, np.arange(len(rows)), actions.rows(rows), columns)
    end_walks(longer.walks, rules)
    return longer


def _may_arrive(world: VectorGraph, nodes: Nodes, targets: Nodes, left: int) -> np.ndarray:
    """Return whether nodes may be within `left` edges of their targets, bool; False is certain."""
    if left > 2:
        return np.ones(len(nodes), bool)
    near = nodes == targets
    if left > 0:
        near |= world.adjacent(nodes, targets)
    if left > 1:
        degrees = np.minimum(*(world.neighbours.degrees[ends] for ends in (nodes, targets)))
        near |= world.bridged(nodes, targets) | (degrees > BRIDGES)
    return near


def _joined(some: _Beam, others: _Beam) -> _Beam:
    return _Beam(
        some.walks.with_others(others.walks),
        np.concatenate([some.pairs, others.pairs]),
        np.concatenate([some.likely, others.likely]),
    )
