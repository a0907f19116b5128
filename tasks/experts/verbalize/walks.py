"""Random walks over a graph that visit no node twice."""

from dataclasses import dataclass

import numpy as np

from tasks.graphs.graph import Graph

TRIES = 8  # draws of an edge before a walk ends at its node


@dataclass(frozen=True, slots=True)
class Walks:
    """Walks: `starts` int32 (walks,), and `edges` int64 (walks, hops), -1 after a walk's end."""

    starts: np.ndarray
    edges: np.ndarray


def random_walks(graph: Graph, starts: np.ndarray, hops: int, rng: np.random.Generator) -> Walks:
    """Return one walk along outgoing edges from each start, int32 (walks,).

    Each hop is uniform over the outgoing edges to nodes that the walk has not visited. A walk ends
    if `TRIES` draws give no such edge.
    """
    edges = np.full((len(starts), hops), -1, np.int64)
    visited = np.full((len(starts), hops + 1), -1, np.int32)
    visited[:, 0] = starts
    going = np.arange(len(starts))
    for hop in range(hops):
        chosen = _fresh_edges(graph, visited[going], hop, rng)
        going, chosen = going[chosen >= 0], chosen[chosen >= 0]
        edges[going, hop] = chosen
        visited[going, hop + 1] = graph.out_tails[chosen]
    return Walks(starts, edges)


def _fresh_edges(
    graph: Graph, visited: np.ndarray, hop: int, rng: np.random.Generator
) -> np.ndarray:
    """Return an edge to an unvisited node for each walk; -1 if none was drawn."""
    nodes = visited[:, hop]
    first = graph.out_offsets[nodes]
    degrees = graph.out_offsets[nodes + 1] - first
    chosen = np.full(len(nodes), -1, np.int64)
    open_walks = np.flatnonzero(degrees > 0)
    for _ in range(TRIES):
        if not len(open_walks):
            break
        drawn = first[open_walks] + (rng.random(len(open_walks)) * degrees[open_walks]).astype(
            np.int64
        )
        tails = graph.out_tails[drawn]
        fresh = ~(visited[open_walks, : hop + 1] == tails[:, None]).any(axis=1)
        chosen[open_walks[fresh]] = drawn[fresh]
        open_walks = open_walks[~fresh]
    return chosen
