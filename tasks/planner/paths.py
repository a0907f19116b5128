"""Relation paths: what they lead to, which of them there are around an entity."""

from collections.abc import Iterator

import numpy as np

from tasks.graphs.graph import Graph, Nodes

Hop = tuple[int, bool]  # relation number; whether it is walked from tail to head
Path = tuple[Hop, ...]

MOST_NODES = 20_000  # a hop that leads to more is walked from so many of them
LOOKED_AT = 400  # nodes whose relations are looked at to see how a path may go on


def walk(graph: Graph, start: Nodes, path: Path) -> Nodes:
    """Return the nodes that a path leads to, once each (see `follow`)."""
    nodes = start
    for hop in path:
        nodes = follow(graph, start, nodes, hop)
    return nodes


def follow(graph: Graph, start: Nodes, nodes: Nodes, hop: Hop) -> Nodes:
    """Return the nodes that one more hop leads to.

    Who asks for those that share a director with a film means others than the film, if there are.
    """
    reached = graph.step(nodes[:MOST_NODES], hop[0], inverse=hop[1])
    others = reached[~np.isin(reached, start)]
    return others if len(others) else reached


def hops_from(graph: Graph, nodes: Nodes) -> list[Hop]:
    """Return the hops that lead on from any of the nodes."""
    if len(nodes) > LOOKED_AT:
        nodes = nodes[:: len(nodes) // LOOKED_AT + 1]
    return graph.relations_around(nodes)


def paths_from(
    graph: Graph, start: Nodes, longest: int, largest: int = MOST_NODES
) -> Iterator[tuple[Path, Nodes]]:
    """Yield paths of up to `longest` hops and where they end, the shorter ones first.

    A path is not followed beyond `largest` nodes.
    """
    level: list[tuple[Path, Nodes]] = [((), start)]
    for _ in range(longest):
        following = []
        for path, nodes in level:
            if path and len(nodes) > largest:
                continue
            for hop in hops_from(graph, nodes):
                reached = follow(graph, start, nodes, hop)
                longer = (*path, hop)
                if len(reached):
                    yield longer, reached
                    following.append((longer, reached))
        level = following
