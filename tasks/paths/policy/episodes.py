"""Walks over a graph as a Markov decision process, in batches (arXiv 2312.06185).

A walk starts at a source and looks for a target. Its state is s_t = (e_t, e_target - e_t)
(equation 1); its actions are the edges at its node, in both directions. Transitions are
deterministic.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.neighbours import Neighbours, expanded
from tasks.paths.path import Path, Rewards, Step
from tasks.paths.policy.rewards import DEFAULT_WEIGHTS, RewardWeights, WalkRewards, walk_rewards

STOP = -1  # the relation of the action that ends a walk at its target
COMPARED = 1_024  # edges of a hub, about, whose other ends are compared with a target
COMPARED_TOGETHER = 1 << 17  # edges of several hubs
WIDENED = 1 << 25  # components of a graph's vectors up to which they are kept in float32
BRIDGES = 64  # neighbours of the smaller of two nodes up to which they are examined


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of walks.

    A walk has at most `steps` steps (K). A simple walk visits no node twice and ends at its target.
    Other walks may revisit nodes, pass their target and choose where to stop: some questions ask
    for the parents of somebody's children. At a node with more than `most_actions` edges, those to
    the target and to its neighbours are offered first, then those to the nodes whose vectors are
    most similar to the target's; ties are broken by the order of edges.
    """

    steps: int = 3
    most_actions: int = 64
    simple: bool = True


@dataclass(frozen=True, eq=False)
class VectorGraph:
    """A graph with vectors of its nodes (nodes, d) and relations (relations, d), of any float type.

    Neighbours are computed unless `known_neighbours` are given.
    """

    graph: Graph
    nodes: np.ndarray
    relations: np.ndarray
    known_neighbours: Neighbours | None = None

    @classmethod
    def of(cls, graph: Graph, vectors: GraphVectors) -> "VectorGraph":
        """Return a graph with its mapped vectors and neighbours."""
        return cls(graph, vectors.nodes, vectors.relations, vectors.neighbours)

    @cached_property
    def degrees(self) -> np.ndarray:
        """The number of edges at each node, int64 (nodes,)."""
        degrees: np.ndarray = np.diff(self.graph.out_offsets) + np.diff(self.graph.in_offsets)
        return degrees

    @cached_property
    def neighbours(self) -> Neighbours:
        """The neighbours of each node in the undirected graph."""
        return self.known_neighbours or Neighbours.of(self.graph)

    @cached_property
    def _joined(self) -> np.ndarray:
        """The pairs of different adjacent nodes, as sorted int64 numbers."""
        neighbours = self.neighbours
        some = np.repeat(np.arange(self.graph.nodes), neighbours.degrees)
        once = some < neighbours.nodes
        return self._pairs(some[once], neighbours.nodes[once])

    def _pairs(self, some: Nodes, others: Nodes) -> np.ndarray:
        low, high = np.minimum(some, others), np.maximum(some, others)
        pairs: np.ndarray = low.astype(np.int64) * self.graph.nodes + high
        return pairs

    def adjacent(self, some: Nodes, others: Nodes) -> np.ndarray:
        """Return whether the nodes of each pair, which must differ, are adjacent: bool."""
        if not len(self._joined):
            return np.zeros(len(some), bool)
        pairs = self._pairs(some, others)
        places = np.searchsorted(self._joined, pairs).clip(max=len(self._joined) - 1)
        adjacent: np.ndarray = self._joined[places] == pairs
        return adjacent

    def bridged(self, some: Nodes, others: Nodes) -> np.ndarray:
        """Return whether the nodes of each pair have a common neighbour: bool.

        It is False for pairs of hubs, for which it would be uninformative.
        """
        degrees = self.neighbours.degrees
        first = degrees[some] <= degrees[others]
        near, far = np.where(first, some, others), np.where(first, others, some)
        small = np.flatnonzero(degrees[near] <= BRIDGES)
        rows, ends = self.neighbours.around(near[small])
        rows = small[rows]
        bridged = np.zeros(len(some), bool)
        bridged[rows[self.adjacent(ends, far[rows])]] = True
        return bridged

    def vectors(self, nodes: Nodes) -> np.ndarray:
        """Return the vectors of nodes, float32 (…, d)."""
        return np.asarray(self._wide[nodes], np.float32)

    @cached_property
    def _wide(self) -> np.ndarray:
        """The vectors of all nodes, as float32 unless there are too many."""
        return self.nodes if self.nodes.size > WIDENED else self.nodes.astype(np.float32)

    def units(self, nodes: Nodes) -> np.ndarray:
        """Return the unit vectors of nodes, float32 (…, d); zeros stay zeros."""
        return units(self.vectors(nodes)) if self._units is None else self._units[nodes]

    @cached_property
    def _units(self) -> np.ndarray | None:
        """The unit vectors of all nodes; None if there are too many."""
        return None if self.nodes.size > WIDENED else units(self._wide)

    def relation_vectors(self, relations: np.ndarray) -> np.ndarray:
        """Return the vectors of relations, float32 (…, d); negative relations have zeros."""
        padded = np.concatenate([self.relations, np.zeros_like(self.relations[:1])])
        return np.asarray(padded[np.maximum(relations, -1)], np.float32)

    def edges_at(self, nodes: Nodes) -> tuple[np.ndarray, np.ndarray, np.ndarray, Nodes]:
        """Return the edges at all nodes: (row of the node, relation, inverse, other end)."""
        graph = self.graph
        leaving = graph.out_offsets[nodes + 1] - graph.out_offsets[nodes]
        counts = self.degrees[nodes]
        rows = np.repeat(np.arange(len(nodes)), counts)
        within = np.arange(len(rows)) - np.repeat(counts.cumsum() - counts, counts)
        inverse = within >= leaving[rows]
        edges = graph.out_offsets[nodes][rows] + within
        entering = (graph.in_offsets[nodes] - leaving)[rows] + within
        edges[inverse] = graph.in_edges[entering[inverse]]
        ends = np.where(inverse, graph.heads[edges], graph.out_tails[edges])
        return rows, graph.out_relations[edges], inverse, ends


@dataclass(eq=False)
class Walks:
    """A batch of walks: their nodes and relations so far.

    `visited` is int32 (walks, K + 1), `relations` int32 and `inverse` bool (walks, K); after the
    end of a walk, nodes and relations are -1. `contexts` are the vectors of the questions, float32
    (walks, d).
    """

    targets: Nodes
    contexts: np.ndarray
    visited: np.ndarray
    relations: np.ndarray
    inverse: np.ndarray
    lengths: np.ndarray  # int64
    ended: np.ndarray  # bool

    def __len__(self) -> int:
        """Return the number of walks."""
        return len(self.targets)

    @property
    def at(self) -> Nodes:
        """The current node of each walk."""
        at: np.ndarray = self.visited[np.arange(len(self)), self.lengths]
        return at

    @property
    def reached(self) -> np.ndarray:
        """Whether each walk is at its target after at least one step: bool."""
        reached: np.ndarray = (self.at == self.targets) & (self.lengths > 0)
        return reached

    def rows(self, rows: np.ndarray) -> "Walks":
        """Return copies of some of the walks, in that order."""
        return Walks(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def with_others(self, *others: "Walks") -> "Walks":
        """Return these walks followed by others."""
        batches = (self, *others)
        names = [field.name for field in fields(self)]
        return Walks(
            *(np.concatenate([getattr(batch, name) for batch in batches]) for name in names)
        )

    def path(self, row: int, rewards: Rewards | None = None) -> Path:
        """Return one walk as a path."""
        length = int(self.lengths[row])
        steps = zip(
            self.relations[row, :length].tolist(),
            self.inverse[row, :length].tolist(),
            self.visited[row, 1 : length + 1].tolist(),
            strict=True,
        )
        return Path(int(self.visited[row, 0]), tuple(Step(*step) for step in steps), rewards)


@dataclass(frozen=True, eq=False)
class Actions:
    """The possible actions of a batch of walks: arrays (walks, most actions), valid by `mask`."""

    relations: np.ndarray  # int32; STOP ends the walk
    inverse: np.ndarray  # bool
    nodes: np.ndarray  # int32
    mask: np.ndarray  # bool

    def rows(self, rows: np.ndarray) -> "Actions":
        """Return the actions of some of the walks, in that order."""
        return Actions(*(getattr(self, field.name)[rows] for field in fields(self)))


def units(vectors: np.ndarray) -> np.ndarray:
    """Return vectors normalised to length one, float32; zeros stay zeros."""
    lengths = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))[..., None]
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def begin(sources: Nodes, targets: Nodes, contexts: np.ndarray, rules: Rules) -> Walks:
    """Return walks that start at their sources."""
    walks = len(sources)
    visited = np.full((walks, rules.steps + 1), -1, np.int32)
    visited[:, 0] = sources
    return Walks(
        targets=np.asarray(targets, np.int32),
        contexts=np.asarray(contexts, np.float32),
        visited=visited,
        relations=np.full((walks, rules.steps), -1, np.int32),
        inverse=np.zeros((walks, rules.steps), bool),
        lengths=np.zeros(walks, np.int64),
        ended=np.zeros(walks, bool),
    )


def possible_actions(world: VectorGraph, walks: Walks, rules: Rules) -> Actions:
    """Return the possible actions of walks that have not ended."""
    at = walks.at
    hubs = world.degrees[at] > rules.most_actions
    few, many = np.flatnonzero(~hubs), np.flatnonzero(hubs)
    places, *edges = world.edges_at(at[few])
    parts = [(few[places], *edges)]
    if len(many):
        parts.append(_edges_at_hubs(world, walks, many, rules))
    rows, relations, inverse, nodes = (np.concatenate(part) for part in zip(*parts, strict=True))
    if rules.simple:
        new = ~(walks.visited[rows] == nodes[:, None]).any(1)
        rows, relations, inverse, nodes = rows[new], relations[new], inverse[new], nodes[new]
    else:
        stops = np.flatnonzero(walks.reached)
        rows = np.concatenate([rows, stops])
        relations = np.concatenate([relations, np.full(len(stops), STOP)])
        inverse = np.concatenate([inverse, np.zeros(len(stops), bool)])
        nodes = np.concatenate([nodes, at[stops]])
    return _padded(len(walks), rows, relations, inverse, nodes)


def _edges_at_hubs(
    world: VectorGraph, walks: Walks, rows: np.ndarray, rules: Rules
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Nodes]:
    """Return the edges that walks at hubs may take, compared once per pair of hub and target."""
    ends = np.stack([walks.at[rows], walks.targets[rows]])
    (hubs, targets), pair_of = np.unique(ends, axis=1, return_inverse=True)
    together = world.degrees[hubs].cumsum() // COMPARED_TOGETHER
    chunks = [np.flatnonzero(together == number) for number in np.unique(together)]
    best = [_best_edges(world, hubs[chunk], targets[chunk], rules) for chunk in chunks]
    counts, relations, inverse, nodes = (np.concatenate(part) for part in zip(*best, strict=True))
    places, owners = expanded(np.concatenate([[0], counts.cumsum()]), pair_of)
    if rules.simple:
        new = ~(walks.visited[rows][owners] == nodes[places][:, None]).any(1)
        places, owners = places[new], owners[new]
    rank = np.arange(len(owners)) - np.searchsorted(owners, owners)
    places, owners = places[rank < rules.most_actions], owners[rank < rules.most_actions]
    return rows[owners], relations[places], inverse[places], nodes[places]


def _best_edges(
    world: VectorGraph, hubs: Nodes, targets: Nodes, rules: Rules
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Nodes]:
    """Return the number of edges that each hub keeps, and these edges, best first by the rules.

    For simple walks, `steps` more edges are kept, since they may lead to visited nodes.
    """
    owners, relations, inverse, ends = world.edges_at(hubs)
    near = world.adjacent(ends, targets[owners]) + 2 * (ends == targets[owners])
    strides = -(-world.degrees[hubs] // COMPARED)
    within = np.arange(len(owners)) - np.searchsorted(owners, owners)
    kept = np.flatnonzero((near > 0) | (within % strides[owners] == 0))
    owners = owners[kept]
    likeness = np.einsum("ed,ed->e", world.units(ends[kept]), world.units(targets)[owners])
    most = rules.most_actions + (rules.steps if rules.simple else 0)
    best = best_of_groups(owners, likeness + 4 * near[kept], most)
    counts = np.bincount(owners[best], minlength=len(hubs))
    chosen = kept[best]
    return counts, relations[chosen], inverse[chosen], ends[chosen]


def best_of_groups(groups: np.ndarray, scores: np.ndarray, most: int) -> np.ndarray:
    """Return the rows with the `most` highest scores of each group, best first; ties by row."""
    order = np.lexsort((-scores, groups))
    ordered = groups[order]
    rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    best: np.ndarray = order[rank < most]
    return best


def _padded(
    walks: int, rows: np.ndarray, relations: np.ndarray, inverse: np.ndarray, nodes: Nodes
) -> Actions:
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=walks)
    most = int(counts.max(initial=1))
    mask = np.arange(most) < counts[:, None]

    def column(values: np.ndarray, kind: type) -> np.ndarray:
        padded: np.ndarray = np.zeros((walks, most), kind)
        padded[mask] = values[order]
        return padded

    return Actions(
        column(relations, np.int32), column(inverse, bool), column(nodes, np.int32), mask
    )


def advance(walks: Walks, rows: np.ndarray, actions: Actions, choice: np.ndarray) -> None:
    """Move the walks in `rows`, whose actions are given, by one action each, in place.

    `choice` is the column of each walk's action. Walks without possible actions end.
    """
    able = actions.mask.any(1)
    walks.ended[rows[~able]] = True
    picked = np.flatnonzero(able)
    relations = actions.relations[picked, choice[picked]]
    stops = relations == STOP
    walks.ended[rows[picked[stops]]] = True
    picked, relations = picked[~stops], relations[~stops]
    moved, columns = rows[picked], choice[picked]
    step = walks.lengths[moved]
    walks.relations[moved, step] = relations
    walks.inverse[moved, step] = actions.inverse[picked, columns]
    walks.visited[moved, step + 1] = actions.nodes[picked, columns]
    walks.lengths[moved] += 1


def end_walks(walks: Walks, rules: Rules) -> None:
    """End the walks that have no step left, and simple ones at their targets, in place."""
    walks.ended |= walks.lengths == rules.steps
    if rules.simple:
        walks.ended |= walks.reached


Choose = Callable[[Walks, Actions], np.ndarray]  # a column of the actions for each walk


def walk_all(world: VectorGraph, walks: Walks, rules: Rules, choose: Choose) -> None:
    """Continue all walks until they end, in place."""
    for _ in range(rules.steps):
        rows = np.flatnonzero(~walks.ended)
        if not len(rows):
            return
        going = walks.rows(rows)
        actions = possible_actions(world, going, rules)
        advance(walks, rows, actions, choose(going, actions))
        end_walks(walks, rules)


def choose_at_random(seed: int) -> Choose:
    """Return a policy that chooses all actions with equal probability."""
    random = np.random.default_rng(seed)

    def choose(walks: Walks, actions: Actions) -> np.ndarray:
        return np.where(actions.mask, random.random(actions.mask.shape), -1).argmax(1)

    return choose


def rewards_of(
    world: VectorGraph,
    walks: Walks,
    weights: RewardWeights = DEFAULT_WEIGHTS,
    projection: np.ndarray | None = None,
) -> WalkRewards:
    """Return the rewards of walks as if they ended now."""
    return walk_rewards(
        world.vectors(walks.visited[:, 0]),
        world.relation_vectors(walks.relations),
        world.vectors(walks.visited[:, 1:]),
        walks.lengths,
        walks.reached,
        walks.contexts,
        weights=weights,
        projection=projection,
    )
