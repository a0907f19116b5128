"""Relation paths: the nodes that they lead to, and the paths around an entity."""

from collections.abc import Iterable, Iterator

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.programs.planner.topics import Topic

Hop = tuple[int, bool]  # relation number; whether it is walked from tail to head
Path = tuple[Hop, ...]

MOST_NODES = 20_000  # from which the next hop is walked
SAMPLED = 400  # nodes whose relations are read to list the next hops
MOST_SHORT = 400  # paths of two hops from one topic
LARGEST = 2_000  # nodes of a first hop; from more no second hop is walked


def walk(graph: Graph, start: Nodes, path: Path) -> Nodes:
    """Return the nodes that a path leads to, once each (see `follow`)."""
    nodes = start
    for hop in path:
        nodes = follow(graph, start, nodes, hop)
    return nodes


def follow(graph: Graph, start: Nodes, nodes: Nodes, hop: Hop) -> Nodes:
    """Return the nodes that one more hop leads to.

    They do not include the start, unless there are no others: a question for the films that share
    a director with a film means other films.
    """
    return _others(graph.step(nodes[:MOST_NODES], hop[0], inverse=hop[1]), start)


def onward(graph: Graph, start: Nodes, nodes: Nodes) -> Iterator[tuple[Hop, Nodes]]:
    """Yield every hop that leads on from any of the nodes, and the result of `follow`."""
    for hop, reached in graph.fan(nodes[:MOST_NODES]):
        yield hop, _others(reached, start)


def _others(reached: Nodes, start: Nodes) -> Nodes:
    """Return the nodes without the start, or all of them if there are no others."""
    known = reached == start[0] if len(start) == 1 else np.isin(reached, start)
    others = reached[~known]
    return others if len(others) else reached


def hops_from(graph: Graph, nodes: Nodes) -> list[Hop]:
    """Return the hops that lead on from any of the nodes."""
    if len(nodes) > SAMPLED:
        nodes = nodes[:: len(nodes) // SAMPLED + 1]
    return graph.relations_around(nodes)


def paths_from(
    graph: Graph, start: Nodes, longest: int, largest: int = MOST_NODES
) -> Iterator[tuple[Path, Nodes]]:
    """Yield paths of up to `longest` hops with their end nodes, the shorter ones first.

    A path is not followed beyond `largest` nodes.
    """
    level: list[tuple[Path, Nodes]] = [((), start)]
    for _ in range(longest):
        following = []
        for path, nodes in level:
            if path and len(nodes) > largest:
                continue
            for hop, reached in onward(graph, start, nodes):
                yield (*path, hop), reached
                following.append(((*path, hop), reached))
        level = following


def short_paths(graph: Graph, topic: Topic, longest: int) -> Iterator[tuple[Path, Nodes]]:
    """Yield the paths of one hop and, if `longest` allows, of two, with their end nodes."""
    count = 0
    for path, nodes in paths_from(graph, topic.nodes, longest, LARGEST):
        count += len(path) > 1
        if count > MOST_SHORT:
            return
        yield path, nodes


def known_paths(graph: Graph, topic: Topic, paths: Iterable[Path]) -> Iterator[tuple[Path, Nodes]]:
    """Yield the paths that lead anywhere from a topic; shared prefixes are walked only once."""
    walked: dict[Path, Nodes] = {(): topic.nodes}
    for path in paths:
        for place, hop in enumerate(path):
            if path[: place + 1] not in walked:
                nodes = walked[path[:place]]
                reached = follow(graph, topic.nodes, nodes, hop) if len(nodes) else nodes
                walked[path[: place + 1]] = reached
        if len(walked[path]):
            yield path, walked[path]
