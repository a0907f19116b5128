"""The policy network, which chooses among the edges at a node (arXiv 2312.06185, section 4.2).

    logit(a) = MLP(s) · U [re_a; e_a; direction; features of a]

The MLP has the layers of DeepPath (arXiv 1707.06690), 512 and 1,024 wide. It reads the state,
the walk so far and the context of the question. Its inputs are vectors and measures of the graph's
structure, never the number of a node or relation, so that it works on any graph whose vectors come
from the same encoder.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from schemas.errors import UsageError
from tasks.paths.policy.episodes import (
    STOP,
    Actions,
    Choose,
    VectorGraph,
    Walks,
    units,
)
from tasks.paths.policy.rewards import prefix_means

FEATURES = (
    "likeness of the node to the target",
    "likeness of the node to the context",
    "likeness of the relation to the context",
    "likeness of the longer path to the context",
    "whether the node is the target",
    "whether the node is next to the target",
    "whether the node is two edges from the target",
    "logarithm of the node's degree",
    "whether the edge is walked from its tail to its head",
    "whether the walk stops",
)


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """The sizes of a network: the length of vectors, the hidden layers, and the inputs it reads."""

    dimensions: int
    hidden: tuple[int, int] = (512, 1_024)
    reads_context: bool = True
    lookahead: int = 2  # distance to the target, in edges, up to which the network sees it

    @property
    def inputs(self) -> int:
        """The length of the MLP's input."""
        return (4 if self.reads_context else 3) * self.dimensions + 2

    @property
    def actions(self) -> int:
        """The length of an action's vector."""
        return 3 * self.dimensions + len(FEATURES)

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The shape of each weight by its name."""
        first, second = self.hidden
        return {
            "first.weight": (first, self.inputs),
            "first.bias": (first,),
            "second.weight": (second, first),
            "second.bias": (second,),
            "action.weight": (self.actions, second),
            "action.bias": (self.actions,),
        }


@dataclass(eq=False)
class PolicyNetwork:
    """The weights of a policy, and the action probabilities that they give."""

    shape: NetworkShape
    weights: dict[str, Any]  # float32 tensors

    @classmethod
    def untrained(cls, shape: NetworkShape, seed: int) -> "PolicyNetwork":
        """Return a network with random weights by Xavier initialisation and zero biases."""
        import torch

        generator = torch.Generator().manual_seed(seed)
        weights = {name: torch.zeros(size) for name, size in shape.weights.items()}
        for weight in weights.values():
            if weight.dim() == 2:
                torch.nn.init.xavier_uniform_(weight, generator=generator)
        return cls(shape, weights)

    def log_probabilities(
        self, world: VectorGraph, walks: Walks, actions: Actions, dropout: float = 0.0
    ) -> Any:
        """Return the log-probabilities log π(a | s) as a tensor (walks, most actions).

        They are -inf where masked, which is everywhere for a walk without actions. `dropout` is the
        dropout rate of the MLP's inputs and first layer.
        """
        import torch
        from torch.nn.functional import dropout as drop
        from torch.nn.functional import linear, relu

        inputs = _Inputs(world, walks, actions, self.shape)
        weights, width = self.weights, self.shape.dimensions
        hidden = drop(torch.from_numpy(inputs.states), dropout)
        hidden = relu(linear(hidden, weights["first.weight"], weights["first.bias"]))
        hidden = drop(hidden, dropout)
        hidden = relu(linear(hidden, weights["second.weight"], weights["second.bias"]))
        # h · U x is (Uᵀ h) · x, with one product per walk and none per action.
        wanted = linear(hidden, weights["action.weight"], weights["action.bias"])
        forward, backward, node, features = wanted.split(
            [width, width, width, len(FEATURES)], dim=1
        )
        rows = torch.from_numpy(inputs.rows)
        kinds = torch.from_numpy(inputs.relations)
        relations = torch.cat([forward, backward]) @ torch.from_numpy(inputs.relation_vectors).T
        sides = rows + len(walks) * torch.from_numpy(inputs.inverse)
        flat = relations[sides, kinds]
        flat = flat + (node[rows] * torch.from_numpy(inputs.nodes)).sum(1)
        flat = flat + (features[rows] * torch.from_numpy(inputs.features)).sum(1)
        mask = torch.from_numpy(actions.mask)
        logits = torch.full(actions.mask.shape, -torch.inf).masked_scatter(mask, flat)
        normal = torch.log_softmax(logits.masked_fill(~mask.any(1, keepdim=True), 0), dim=1)
        return normal.masked_fill(~mask, -torch.inf)

    def greedy(self, world: VectorGraph) -> Choose:
        """Return the policy that always chooses the most probable action."""
        import torch

        def choose(walks: Walks, actions: Actions) -> np.ndarray:
            with torch.inference_mode():
                likely: np.ndarray = self.log_probabilities(world, walks, actions).numpy()
            return likely.argmax(1)

        return choose


class _Inputs:
    """The network's inputs for a batch: arrays by walk, and arrays by valid action."""

    def __init__(
        self, world: VectorGraph, walks: Walks, actions: Actions, shape: NetworkShape
    ) -> None:
        if world.nodes.shape[1] != shape.dimensions:
            raise UsageError(
                f"The policy reads vectors of length {shape.dimensions}, and those of the graph "
                f"{world.graph.name} have {world.nodes.shape[1]}. Use the encoder it was trained "
                "with."
            )
        self._world, self._walks, self._shape = world, walks, shape
        self.rows = np.repeat(np.arange(len(walks)), actions.mask.sum(1))
        self._ends = actions.nodes[actions.mask]
        self._kinds = actions.relations[actions.mask]
        self.inverse = actions.inverse[actions.mask].astype(np.int64)

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        kinds, places = np.unique(self._kinds, return_inverse=True)
        return kinds, places

    @property
    def relations(self) -> np.ndarray:
        """The row of each action in `relation_vectors`."""
        return self._distinct[1]

    @cached_property
    def relation_vectors(self) -> np.ndarray:
        return units(self._world.relation_vectors(self._distinct[0]))

    @cached_property
    def nodes(self) -> np.ndarray:
        return self._world.units(self._ends)

    @cached_property
    def _contexts(self) -> np.ndarray:
        return units(self._walks.contexts)

    @cached_property
    def _walked(self) -> tuple[np.ndarray, np.ndarray]:
        """The sum of the walked relations, backward ones negative, and the mean of the path."""
        walks, world = self._walks, self._world
        real = np.arange(walks.relations.shape[1]) < walks.lengths[:, None]
        relations = world.relation_vectors(walks.relations) * real[:, :, None]
        signs = np.where(walks.inverse, -1, 1)[:, :, None]
        nodes = world.vectors(walks.visited[:, 1:]) * real[:, :, None]
        starts = world.vectors(walks.visited[:, 0])
        means = prefix_means(starts, relations, nodes)
        return (relations * signs).sum(1), means[np.arange(len(walks)), walks.lengths]

    @cached_property
    def states(self) -> np.ndarray:
        """The MLP's inputs (walks, inputs): s_t, relations walked, context, steps done and left."""
        walks = self._walks
        at, target = self._world.units(walks.at), self._world.units(walks.targets)
        parts = [at, target - at, self._walked[0]]
        if self._shape.reads_context:
            parts.append(self._contexts)
        steps = np.stack([walks.lengths, walks.relations.shape[1] - walks.lengths], axis=1)
        # Components of vectors of length one are near 1 / sqrt(d), which learns slowly.
        vectors = np.concatenate(parts, axis=1) * self._shape.dimensions**0.5
        return np.concatenate([vectors, steps], axis=1, dtype=np.float32)

    @cached_property
    def features(self) -> np.ndarray:
        """The features of actions (actions, features), in the order of `FEATURES`."""
        world, walks, rows, ends = self._world, self._walks, self.rows, self._ends
        targets = walks.targets[rows]
        contexts = self._contexts if self._shape.reads_context else 0 * self._contexts
        to_context = contexts @ self.relation_vectors.T
        count = 1 + 2 * walks.lengths[rows][:, None]
        step = world.vectors(ends) + world.relation_vectors(self._kinds)
        longer = units(self._walked[1][rows] * count + step)
        unseen, lookahead = np.zeros(len(ends)), self._shape.lookahead
        columns = [
            _dots(self.nodes, self._world.units(walks.targets)[rows]),
            _dots(self.nodes, contexts[rows]),
            to_context[rows, self.relations],
            _dots(longer, contexts[rows]),
            ends == targets,
            world.adjacent(ends, targets) if lookahead > 0 else unseen,
            world.bridged(ends, targets) if lookahead > 1 else unseen,
            np.log1p(world.degrees[ends]) / 5,
            self.inverse,
            self._kinds == STOP,
        ]
        return np.stack(columns, axis=1).astype(np.float32)


def _dots(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.einsum("ad,ad->a", some, others)
