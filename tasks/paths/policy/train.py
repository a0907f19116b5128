"""Training of a policy: imitation of shortest paths, then learning from rewards (REINFORCE).

    ∇J ≈ Σ_t (G_t - b_t) ∇ log π(a_t | s_t) + β ∇ H(π(· | s_t))

G_t is the return from step t on, b_t its moving average over earlier batches, H the entropy.
"""

import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path as File
from typing import Any

import numpy as np

from schemas.errors import AlmanacError
from tasks.graphs.graph import Nodes
from tasks.models.checkpoint import CHECKPOINT, load_checkpoint, save_checkpoint
from tasks.models.one_thread import one_thread
from tasks.paths.path import Path
from tasks.paths.policy.demonstrations import as_walks, shortest_paths
from tasks.paths.policy.episodes import (
    STOP,
    Actions,
    Rules,
    VectorGraph,
    Walks,
    begin,
    possible_actions,
    rewards_of,
    walk_all,
)
from tasks.paths.policy.network import NetworkShape, PolicyNetwork
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.rewards import fit_projection, prefix_means
from tasks.progress import Report, silent
from warehouse import durable

CHECKPOINT_SECONDS = 30.0
LONGEST_GRADIENT = 1.0


@dataclass(frozen=True, eq=False)
class Episodes:
    """Pairs of a source and a target to walk between, with the vectors of their questions.

    `demonstrations` are the paths to imitate, None for pairs without one; by default, shortest
    paths are imitated.
    """

    sources: Nodes
    targets: Nodes
    contexts: np.ndarray  # float32 (pairs, d)
    demonstrations: Sequence[Path | None] | None = None

    def digest(self) -> str:
        """Return a hash of all fields."""
        digest = blake2b(digest_size=16)
        for array in (self.sources, self.targets, self.contexts):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(repr(self.demonstrations and list(self.demonstrations)).encode())
        return digest.hexdigest()


@dataclass
class PolicyProgress:
    """The progress of a training; the curve has a row of figures per batch."""

    batches: int = 0
    baseline: list[float] = field(default_factory=list)  # by step of a walk
    curve: list[dict[str, float | str]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class TrainedPolicy:
    """A policy with its plan, its W or None, and its training curve."""

    network: PolicyNetwork
    plan: PolicyPlan
    projection: np.ndarray | None
    curve: list[dict[str, float | str]]


def train_policy(
    world: VectorGraph,
    episodes: Episodes,
    plan: PolicyPlan,
    state: File | None = None,
    *,
    report: Report = silent,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> TrainedPolicy:
    """Train a policy; with a folder `state`, the same call resumes after a kill.

    The same call gives the same weights on the same machine, resumed or not. Raises AlmanacError if
    no target can be reached, or if the training diverges, for which `state` is removed; DamageError
    for a checkpoint that cannot be read.
    """
    import torch

    with torch.random.fork_rng(), one_thread():
        training = _Training(world, episodes, plan, state, report, checkpoint_seconds)
        training.run()
    return TrainedPolicy(training.network, plan, training.projection, training.progress.curve)


class _Training:
    def __init__(
        self,
        world: VectorGraph,
        episodes: Episodes,
        plan: PolicyPlan,
        state: File | None,
        report: Report,
        checkpoint_seconds: float,
    ) -> None:
        import torch

        self.world, self.episodes, self.plan = world, episodes, plan
        self.state, self.report, self.pause = state, report, checkpoint_seconds
        self.projection: np.ndarray | None = None
        self.demonstrations = self._demonstrations()
        shape = NetworkShape(world.nodes.shape[1], plan.hidden, plan.reads_context, plan.lookahead)
        self.network = PolicyNetwork.untrained(shape, plan.seed)
        for weight in self.network.weights.values():
            weight.requires_grad_()
        self.optimizer = torch.optim.AdamW(
            list(self.network.weights.values()),
            lr=plan.learning_rate,
            weight_decay=plan.weight_decay,
        )
        self.progress = PolicyProgress(baseline=[0.0] * plan.steps)

    def _demonstrations(self) -> Walks:
        """Return the walks to imitate; fit W to their paths if the plan asks for it."""
        episodes, plan, world = self.episodes, self.plan, self.world
        pairs = (episodes.sources, episodes.targets, episodes.contexts)
        paths = episodes.demonstrations or shortest_paths(
            world, *pairs, plan.rules, weights=plan.reward_weights
        )
        walks = self._as_walks(paths)
        if plan.ridge is None or not len(walks):
            return walks
        means = prefix_means(
            world.vectors(walks.visited[:, 0]),
            *_real(
                walks, world.relation_vectors(walks.relations), world.vectors(walks.visited[:, 1:])
            ),
        )
        self.projection = fit_projection(
            means[np.arange(len(walks)), walks.lengths], walks.contexts, plan.ridge
        )
        if episodes.demonstrations:
            return walks
        weights = plan.reward_weights
        return self._as_walks(
            shortest_paths(world, *pairs, plan.rules, weights=weights, projection=self.projection)
        )

    def _as_walks(self, paths: Sequence[Path | None]) -> Walks:
        known = [
            (row, path)
            for row, path in enumerate(paths)
            if path and 0 < len(path.steps) <= self.plan.steps
        ]
        if not known:
            raise AlmanacError(
                f"No target of the questions can be reached within {self.plan.steps} steps in the "
                f"graph {self.world.graph.name}; there is nothing to learn."
            )
        rows = np.array([row for row, _ in known])
        return as_walks(
            [path for _, path in known],
            self.episodes.targets[rows],
            self.episodes.contexts[rows],
            self.plan.rules,
        )

    def run(self) -> None:
        """Train on the batches that are left."""
        import torch

        if self.state:
            self._begin_or_go_on(self.state)
        plan = self.plan
        order = [
            (stage, epoch, part)
            for stage, epochs, rows in (
                ("imitation", plan.cloning_epochs, len(self.demonstrations)),
                ("rewards", plan.epochs, len(self.episodes.sources)),
            )
            for epoch in range(epochs)
            for part in range(-(-rows // plan.batch))
        ]
        saved = time.monotonic()
        for number in range(self.progress.batches, len(order)):
            stage, epoch, part = order[number]
            # Every batch has its own seed, so that a resumed training draws the same numbers.
            torch.manual_seed(plan.seed * 1_000_003 + number)
            random = np.random.default_rng([plan.seed, number])
            rows = len(self.demonstrations if stage == "imitation" else self.episodes.sources)
            shuffled = np.random.default_rng([plan.seed, epoch, rows]).permutation(rows)
            batch = shuffled[part * plan.batch : (part + 1) * plan.batch]
            lesson = self._imitate(batch) if stage == "imitation" else self._walk(batch, random)
            if lesson:
                self._update(stage, number, *lesson)
            self.progress.batches += 1
            self.report(stage, number + 1, len(order))
            if self.state and time.monotonic() - saved >= self.pause:
                self._save(self.state)
                saved = time.monotonic()
        if self.state:
            self._save(self.state)
        for weight in self.network.weights.values():
            weight.requires_grad_(False)

    def _update(self, stage: str, number: int, loss: Any, figures: dict[str, float]) -> None:
        import torch

        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(self.network.weights.values()), LONGEST_GRADIENT)
        self.optimizer.step()
        if not all(bool(weight.isfinite().all()) for weight in self.network.weights.values()):
            if self.state:  # a resumed training would end here, too
                shutil.rmtree(self.state, ignore_errors=True)
            raise AlmanacError(
                f"The training diverged in batch {number + 1}: weights are no longer finite. Train "
                "with smaller weights of the rewards, or a lower learning rate."
            )
        about: dict[str, float | str] = {"stage": stage, "batch": number, **figures}
        self.progress.curve.append({**about, "loss": float(loss.detach())})

    def _imitate(self, rows: np.ndarray) -> tuple[Any, dict[str, float]] | None:
        """Return the cross-entropy loss of imitating demonstrations, and its figures.

        Return None if the rules offer none of their steps.
        """
        demonstrations = self.demonstrations.rows(rows)
        before, actions, choice = steps_of(self.world, demonstrations, self.plan.rules)
        if not len(before):
            return None
        likely = self.network.log_probabilities(self.world, before, actions, self.plan.dropout)
        chosen = likely[np.arange(len(before)), choice]
        loss = -chosen.mean()
        return loss, {"alike": float((likely.detach().argmax(1).numpy() == choice).mean())}

    def _walk(self, rows: np.ndarray, random: np.random.Generator) -> tuple[Any, dict[str, float]]:
        """Return the REINFORCE loss of walks that are sampled from the policy, and its figures."""
        import torch

        plan, episodes = self.plan, self.episodes
        walks = begin(
            episodes.sources[rows], episodes.targets[rows], episodes.contexts[rows], plan.rules
        )
        taken: list[tuple[np.ndarray, Any, Any]] = []  # rows, log-probability, entropy

        def choose(going: Walks, actions: Actions) -> np.ndarray:
            likely = self.network.log_probabilities(self.world, going, actions, plan.dropout)
            noise = random.gumbel(size=actions.mask.shape).astype(np.float32)
            choice: np.ndarray = (likely.detach().numpy() + noise).argmax(1)
            able = np.flatnonzero(actions.mask.any(1))
            real = likely[able]
            finite = real.masked_fill(torch.isinf(real), 0)
            entropy = -(finite.exp() * finite * ~torch.isinf(real)).sum(1)
            going_rows = np.flatnonzero(~walks.ended)[able]
            taken.append((going_rows, real[np.arange(len(able)), choice[able]], entropy))
            return choice

        walk_all(self.world, walks, plan.rules, choose)
        rewards = rewards_of(self.world, walks, plan.reward_weights, self.projection)
        to_go = rewards.to_go
        loss, entropies = torch.zeros(()), torch.zeros(())
        actions_taken = 0
        for step, (moved, likely, entropy) in enumerate(taken):
            earned = to_go[moved, step]
            advantage = torch.from_numpy(earned - np.float32(self.progress.baseline[step]))
            loss = loss - (advantage * likely).sum()
            entropies = entropies + entropy.sum()
            actions_taken += len(moved)
            if len(moved):
                share = 1 - plan.momentum
                self.progress.baseline[step] += share * float(
                    earned.mean() - self.progress.baseline[step]
                )
        count = max(actions_taken, 1)
        loss = (loss - plan.entropy * entropies) / count
        if plan.teacher:
            size = min(len(rows), len(self.demonstrations))
            some = random.choice(len(self.demonstrations), size, replace=False)
            if lesson := self._imitate(some):
                loss = loss + plan.teacher * lesson[0]
        return loss, {
            "reward": float(rewards.total.mean()),
            "reached": float(walks.reached.mean()),
            "relatedness": float(rewards.relatedness.mean()),
            "length": float(walks.lengths.mean()),
            "entropy": float(entropies.detach() / count),
        }

    def _begin_or_go_on(self, state: File) -> None:
        """Load the checkpoint in the folder if it is from the same training, else remove it."""
        graph, edges = self.world.graph, blake2b(digest_size=16)
        for array in (graph.out_offsets, graph.out_relations, graph.out_tails):
            edges.update(np.ascontiguousarray(array).data)
        identity = {
            "plan": self.plan.model_dump(mode="json"),
            "episodes": self.episodes.digest(),
            "graph": [graph.name, graph.relations, edges.hexdigest()],
        }
        path = state / "training.json"
        state.mkdir(parents=True, exist_ok=True)
        durable.remove_dead_temporaries(state, ".*.tmp")
        if not durable.has_json(path, identity):
            (state / CHECKPOINT).unlink(missing_ok=True)
            durable.write_json(path, identity)
        else:
            saved = load_checkpoint(
                state, self.network.weights, self.optimizer, lambda read: PolicyProgress(**read)
            )
            self.progress = saved or self.progress

    def _save(self, state: File) -> None:
        save_checkpoint(state, asdict(self.progress), self.network.weights, self.optimizer)


def steps_of(world: VectorGraph, walks: Walks, rules: Rules) -> tuple[Walks, Actions, np.ndarray]:
    """Return the states before each step of finished walks, the possible actions, and those taken.

    Unless the rules are for simple walks, stopping at the end is a step, too. Steps that the rules
    do not offer, such as some at hubs, are left out.
    """
    stopping = 0 if rules.simple else (walks.lengths < rules.steps).astype(int)
    counts = walks.lengths + stopping
    rows = np.repeat(np.arange(len(walks)), counts)
    step = np.arange(len(rows)) - np.repeat(counts.cumsum() - counts, counts)
    before = walks.rows(rows)
    columns = np.minimum(step, rules.steps - 1)
    stops = step == walks.lengths[rows]
    relation = np.where(stops, STOP, before.relations[np.arange(len(rows)), columns])
    inverse = ~stops & before.inverse[np.arange(len(rows)), columns]
    node = before.visited[np.arange(len(rows)), np.where(stops, step, columns + 1)]
    later = np.arange(rules.steps + 1) > step[:, None]
    before.visited[later] = -1
    before.relations[later[:, 1:]] = -1
    before.inverse[later[:, 1:]] = False
    before.lengths = step
    before.ended[:] = False
    actions = possible_actions(world, before, rules)
    taken = (
        actions.mask
        & (actions.relations == relation[:, None])
        & (actions.inverse == inverse[:, None])
        & (actions.nodes == node[:, None])
    )
    offered = np.flatnonzero(taken.any(1))
    return before.rows(offered), actions.rows(offered), taken[offered].argmax(1)


def _real(walks: Walks, *vectors: np.ndarray) -> list[np.ndarray]:
    """Return vectors of steps, with zeros after the end of each walk."""
    real = np.arange(walks.relations.shape[1]) < walks.lengths[:, None]
    return [array * real[:, :, None] for array in vectors]
