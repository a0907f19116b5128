"""Demonstrations for a policy: shortest paths, found by breadth-first search."""

from collections.abc import Iterator, Sequence

import numpy as np

from tasks.graphs.graph import Nodes
from tasks.paths.path import Path
from tasks.paths.policy.episodes import (
    Rules,
    VectorGraph,
    Walks,
    advance,
    begin,
    possible_actions,
    rewards_of,
)
from tasks.paths.policy.rewards import DEFAULT_WEIGHTS, RewardWeights

CELLS = 1 << 21  # distances in memory at a time; computing them takes some 50 MB
PATHS = 16  # shortest paths that are compared for each pair
FAR = 127


def distances(world: VectorGraph, targets: Nodes, steps: int) -> Iterator[tuple[Nodes, np.ndarray]]:
    """Yield batches of the targets, each with the distances of all nodes to these targets.

    Distances are numbers of edges, int8 (targets, nodes), and `FAR` if above `steps`.
    """
    from scipy.sparse import csr_array

    graph = world.graph
    joined = world.neighbours.matrix
    together = max(1, CELLS // max(graph.nodes, 1))
    for start in range(0, len(targets), together):
        part = targets[start : start + together]
        known = np.full((len(part), graph.nodes), FAR, np.int8)
        rows, nodes = np.arange(len(part)), part
        for step in range(steps + 1):
            known[rows, nodes] = step
            if step == steps:
                break
            sparse = (np.ones(len(rows), np.float32), (rows, nodes))
            spread = (csr_array(sparse, known.shape) @ joined).tocoo()
            rows, nodes = spread.coords
            new = known[rows, nodes] == FAR
            rows, nodes = rows[new], nodes[new]
        yield part, known


def distances_between(world: VectorGraph, sources: Nodes, targets: Nodes, steps: int) -> np.ndarray:
    """Return the distance of each source to its target, int8 (pairs,); `FAR` above `steps`."""
    result = np.full(len(sources), FAR, np.int8)
    for part, known in distances(world, np.unique(targets), steps):
        rows = np.flatnonzero(np.isin(targets, part))
        result[rows] = known[np.searchsorted(part, targets[rows]), sources[rows]]
    return result


def shortest_paths(
    world: VectorGraph,
    sources: Nodes,
    targets: Nodes,
    contexts: np.ndarray,
    rules: Rules,
    *,
    weights: RewardWeights = DEFAULT_WEIGHTS,
    projection: np.ndarray | None = None,
) -> list[Path | None]:
    """Return a shortest path for each pair of a source and a target; None if there is none.

    At most 16 shortest paths of a pair are compared, and the one with the highest total reward is
    returned. Edges at hubs that the rules do not offer are not walked.
    """
    paths: list[Path | None] = [None] * len(sources)
    for part, known in distances(world, np.unique(targets), rules.steps):
        pairs = np.flatnonzero(np.isin(targets, part) & (sources != targets))
        slots = np.searchsorted(part, targets[pairs])
        near = known[slots, sources[pairs]] != FAR
        pairs, slots = pairs[near], slots[near]
        walks = begin(sources[pairs], targets[pairs], contexts[pairs], rules)
        for row, pair in _best(
            world, *_spread(world, walks, known, slots, rules), weights, projection
        ):
            paths[pairs[pair]] = row
    return paths


def _spread(
    world: VectorGraph, walks: Walks, known: np.ndarray, slots: np.ndarray, rules: Rules
) -> tuple[Walks, np.ndarray]:
    """Return walks along shortest paths to their targets, and the number of each one's pair."""
    pairs = np.arange(len(walks))
    finished: list[tuple[Walks, np.ndarray]] = []
    for _ in range(rules.steps):
        actions = possible_actions(world, walks, rules)
        left = known[slots[pairs], walks.at]
        after = known[slots[pairs][:, None], actions.nodes]
        rows, columns = np.nonzero(actions.mask & (after == left[:, None] - 1))
        rank = np.arange(len(rows)) - np.searchsorted(pairs[rows], pairs[rows])
        rows, columns = rows[rank < PATHS], columns[rank < PATHS]
        walks, pairs = walks.rows(rows), pairs[rows]
        advance(walks, np.arange(len(walks)), actions.rows(rows), columns)
        done = walks.reached
        finished.append((walks.rows(np.flatnonzero(done)), pairs[done]))
        walks, pairs = walks.rows(np.flatnonzero(~done)), pairs[~done]
    arrived = [part for part, _ in finished]
    return arrived[0].with_others(*arrived[1:]), np.concatenate([part for _, part in finished])


def _best(
    world: VectorGraph,
    walks: Walks,
    pairs: np.ndarray,
    weights: RewardWeights,
    projection: np.ndarray | None,
) -> Iterator[tuple[Path, int]]:
    rewards = rewards_of(world, walks, weights, projection)
    order = np.lexsort((-rewards.total, pairs))
    firsts = order[np.unique(pairs[order], return_index=True)[1]]
    for row in firsts:
        yield walks.path(int(row), rewards.of(int(row))), int(pairs[row])


def as_walks(paths: Sequence[Path], targets: Nodes, contexts: np.ndarray, rules: Rules) -> Walks:
    """Return paths as finished walks."""
    walks = begin(np.array([path.start for path in paths], np.int32), targets, contexts, rules)
    for row, path in enumerate(paths):
        for step, taken in enumerate(path.steps):
            walks.relations[row, step] = taken.relation
            walks.inverse[row, step] = taken.inverse
            walks.visited[row, step + 1] = taken.node
        walks.lengths[row] = len(path.steps)
    walks.ended[:] = True
    return walks
