"""The policy network, which chooses among the hops at a trail's end (KnowGPT's P_RL).

    logit(hop) = trust · u(question, hops so far) · r(hop) + w · shared(question, hop)

u is an MLP of the question's n-grams and the hops taken, r the n-grams of the relation's name with
its vector, `shared` how much the wording of question and relation have in common. A relation that
no training question meant is trusted little, and judged by the shared words. The paper's state has
the target (arXiv 2312.06185, equation 1); here the policy does not know where the answer is, so
that it can look for the answers of open questions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tasks.graphs.graph import Graph
from tasks.paths.policy.trails import Trail
from tasks.programs.planner.features import (
    FEW,
    NAME_FEATURES,
    NAME_WEIGHTS,
    OVERLAPS,
    bags_in_a_row,
    content_features,
    log_sums,
    name_features,
    named_share,
    overlap,
    relation_features,
)
from tasks.programs.planner.paths import Hop
from tasks.programs.planner.topics import Topic

QUESTION_BUCKETS = 1 << 14
RELATION_BUCKETS = 1 << 11
SHARED = OVERLAPS + 1
WALKED = 3  # whether the hop undoes the last one, repeats it, or takes a relation again
STOP = -1


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """The sizes of a network: the graph's vectors, those that are learned, the longest walk."""

    dimensions: int
    width: int
    steps: int

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The shape of each weight by its name."""
        width, steps = self.width, self.steps
        return {
            "question": (QUESTION_BUCKETS, width),
            "relation": (RELATION_BUCKETS, width),
            "vector": (2, self.dimensions, width),
            "place": (steps, width, width),
            "hidden.weight": (2 * width, 3 * width + steps),
            "hidden.bias": (2 * width,),
            "wanted.weight": (width, 2 * width),
            "stop": (width,),
            "stop_bias": (steps,),
            "shared": (SHARED,),
            "unseen": (SHARED,),
            "walked": (WALKED,),
            "read": (NAME_FEATURES,),
            "uses": (RELATION_BUCKETS,),
        }


@dataclass(eq=False)
class States:
    """Trails between which and their next hops a policy chooses, as arrays.

    `owners` and `hops` are the actions: the place of the trail, and the number of the hop, 2 r +
    inverse, or STOP.
    """

    readings: np.ndarray  # int64 (states,): places among the readings
    walked: np.ndarray  # int64 (states, K): hops so far, STOP after them
    lengths: np.ndarray  # int64 (states,)
    owners: np.ndarray  # int64 (actions,)
    hops: np.ndarray  # int64 (actions,)
    shared: np.ndarray  # float32 (actions, SHARED)


@dataclass(eq=False)
class PolicyNetwork:
    """The weights of a policy, float32 tensors by name."""

    shape: NetworkShape
    weights: dict[str, Any]

    @classmethod
    def untrained(cls, shape: NetworkShape, seed: int) -> "PolicyNetwork":
        """Return a network that knows nothing but which words question and relation share."""
        import torch

        random = torch.Generator().manual_seed(seed)
        weights = {name: torch.zeros(size) for name, size in shape.weights.items()}
        for name in ("relation", "vector", "stop"):
            weights[name] = 0.1 * torch.randn(shape.weights[name], generator=random)
        torch.nn.init.xavier_uniform_(weights["hidden.weight"], generator=random)
        weights["place"] += torch.eye(shape.width)
        weights["shared"] += 1
        weights["stop_bias"] += 1
        weights["read"] = torch.tensor(NAME_WEIGHTS)
        return cls(shape, weights)


@dataclass(eq=False)
class GraphPolicy:
    """A network on one graph, with the vectors of its relations, (relations, d)."""

    network: PolicyNetwork
    graph: Graph
    vectors: np.ndarray

    @cached_property
    def _bags(self) -> list[np.ndarray]:
        """The n-grams of each hop's name; the last is that of the whole name."""
        names = self.graph.relations
        grams = [relation_features(name, inverse) for name in names for inverse in (False, True)]
        return [np.array(bag, np.int64) % RELATION_BUCKETS for bag in grams]

    @cached_property
    def names(self) -> np.ndarray:
        """The bucket of each hop's whole name, int64 (hops,)."""
        return np.array([bag[-1] for bag in self._bags], np.int64)

    @cached_property
    def _learned(self) -> list[Hop]:
        meant = self.network.weights["uses"].numpy()[self.names] > 0
        return [(hop // 2, bool(hop % 2)) for hop in np.flatnonzero(meant).tolist()]

    def choices(self, there: Iterable[Hop]) -> list[Hop]:
        """Return the hops that are there, then the others that questions meant.

        These have their share of the probability, so that no hop is likely only because the one
        that is meant is missing.
        """
        return list(dict.fromkeys([*there, *self._learned]))

    def states(
        self, readings: Sequence[Topic], rows: Sequence[tuple[int, tuple[Hop, ...], list[Hop]]]
    ) -> States:
        """Return states as arrays: the place of a reading, the hops so far, and those possible.

        A trail of at least one hop may also stop; that is its last action.
        """
        walked = np.full((len(rows), self.network.shape.steps), STOP, np.int64)
        owners, hops, shared = [], [], []
        for place, (reading, taken, possible) in enumerate(rows):
            walked[place, : len(taken)] = [2 * r + inverse for r, inverse in taken]
            earlier = {relation for relation, _ in taken}
            for relation, inverse in possible:
                hops.append(2 * relation + inverse)
                masked, name = readings[reading].masked, self.graph.relations[relation]
                known = (*overlap(masked, name), named_share(masked, name))
                # Words that occur once count for one hop.
                shared.append((0.0,) * SHARED if relation in earlier else known)
            if taken:
                hops.append(STOP)
                shared.append((0.0,) * SHARED)
            owners += [place] * (len(possible) + bool(taken))
        return States(
            np.array([reading for reading, _, _ in rows], np.int64),
            walked,
            np.array([len(taken) for _, taken, _ in rows], np.int64),
            np.array(owners, np.int64),
            np.array(hops, np.int64),
            np.array(shared, np.float32).reshape(-1, SHARED),
        )

    def log_probabilities(
        self, grams: Sequence[np.ndarray], states: States, forgotten: np.ndarray | None = None
    ) -> Any:
        """Return log π of each action, a tensor (actions,); `grams` are those of the readings.

        Nothing learned counts for the hops that are `forgotten`, bool (hops,).
        """
        import torch
        from torch.nn.functional import embedding_bag, linear, relu

        weights = self.network.weights
        questions = _bag_sums(weights["question"], grams, "sum") / 4
        used, place_of = np.unique(
            np.concatenate([states.hops, states.walked.ravel()]), return_inverse=True
        )
        real = used[used != STOP]
        in_a_row = bags_in_a_row([self._bags[hop] for hop in real])
        bags, offsets = map(torch.from_numpy, in_a_row)
        named = embedding_bag(bags, weights["relation"], offsets, mode="mean")
        vectors = torch.from_numpy(self.vectors[real // 2].astype(np.float32))
        both = torch.einsum("hd,sdw->shw", vectors, weights["vector"])
        sides = torch.from_numpy(real % 2)
        named = named + both[sides, torch.arange(len(real))]
        uses = weights["uses"][torch.from_numpy(self.names[real])]
        trust = uses / (uses + FEW)
        if forgotten is not None:
            trust = trust * torch.from_numpy(~forgotten[real])
        has_stop = len(real) < len(used)  # STOP is the lowest number
        stop = weights["stop"][None]
        table = torch.cat([stop, named]) if has_stop else named
        trusted = torch.cat([torch.ones(1), trust]) if has_stop else trust
        actions = torch.from_numpy(place_of[: len(states.hops)])
        walked = torch.from_numpy(place_of[len(states.hops) :].reshape(states.walked.shape))
        taken = torch.from_numpy(states.walked != STOP)
        lengths = torch.from_numpy(states.lengths)
        sums = (table[walked] * taken[:, :, None]).sum(1)
        rows = torch.arange(len(lengths))
        last = table[walked[rows, (lengths - 1).clamp(min=0)]] * (lengths > 0)[:, None]
        own = questions[torch.from_numpy(states.readings)]
        steps = torch.nn.functional.one_hot(lengths, self.network.shape.steps).float()
        hidden = torch.cat([own, last, sums, steps], 1)
        hidden = relu(linear(hidden, weights["hidden.weight"], weights["hidden.bias"]))
        wanted = linear(hidden, weights["wanted.weight"])
        wanted = wanted + torch.einsum("sd,sde->se", own, weights["place"][lengths])
        owners = torch.from_numpy(states.owners)
        shared = torch.from_numpy(states.shared)
        sure = trusted[actions]
        logits = (wanted[owners] * table[actions]).sum(1) * sure
        logits = logits + shared @ weights["shared"]
        logits = logits + (shared @ weights["unseen"]) * (1 - sure)
        logits = logits + torch.from_numpy(_walked(states)) @ weights["walked"]
        stops = torch.from_numpy(states.hops == STOP)
        logits = logits + stops * weights["stop_bias"][lengths[owners]]
        return log_shares(logits, owners, len(lengths))

    def log_readings(self, readings: Sequence[Topic], owners: Any, questions: int) -> Any:
        """Return the log-probability of each reading among those of its question, a tensor."""
        import torch

        features = torch.from_numpy(
            np.stack([name_features(reading, self.graph) for reading in readings])
        )
        return log_shares(features @ self.network.weights["read"], owners, questions)

    def familiar(self, trail: Trail) -> float:
        """Return how much of a question's wording is known, 0 to 1.

        It is the share of its content words that were learned from or, if that is more, the least
        share of the words of a hop's relation that the question contains.
        """
        rows = self.network.weights["question"][
            content_features(trail.reading.masked) % QUESTION_BUCKETS
        ]
        known = float((rows != 0).any(1).float().mean()) if len(rows) else 1.0
        masked, names = trail.reading.masked, self.graph.relations
        named = min((named_share(masked, names[r]) for r, _ in trail.hops), default=0.0)
        return max(known, named)


def _walked(states: States) -> np.ndarray:
    """Return whether each hop undoes the last one, repeats it, or takes a relation again."""
    walked, lengths = states.walked[states.owners], states.lengths[states.owners]
    last = walked[np.arange(len(walked)), np.maximum(lengths - 1, 0)]
    is_hop = (states.hops != STOP) & (lengths > 0)
    again = ((walked // 2 == states.hops[:, None] // 2) & (walked != STOP)).any(1)
    columns = [states.hops == (last ^ 1), states.hops == last, again]
    return np.stack([column & is_hop for column in columns], 1).astype(np.float32)


def log_shares(scores: Any, owners: Any, count: int) -> Any:
    """Return scores as logarithms of shares among those of the same owner, of which are `count`."""
    return scores - log_sums(scores, owners, count)[owners]


def _bag_sums(table: Any, bags: Sequence[np.ndarray], mode: str) -> Any:
    import torch
    from torch.nn.functional import embedding_bag

    in_a_row = bags_in_a_row([bag % len(table) for bag in bags])
    grams, offsets = map(torch.from_numpy, in_a_row)
    return embedding_bag(grams, table, offsets, mode=mode)
