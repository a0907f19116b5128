"""Training of a policy: the answers become likely, whichever trail leads to them.

The loss of a question is -log Σ fit(τ) · π(τ), over the trails τ that lead to its answers: the
logarithm of the expected reward, summed exactly instead of sampled as in REINFORCE. Where several
trails fit a question, the other questions decide which are meant; the more do, the less it counts.
"""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path as File
from typing import Any

import numpy as np

from schemas.errors import AlmanacError
from tasks.graphs.graph import Graph, Nodes
from tasks.models.checkpoint import CHECKPOINT, load_checkpoint, save_checkpoint
from tasks.models.one_thread import one_thread
from tasks.paths.policy.lessons import Lesson, Teacher, lesson_of
from tasks.paths.policy.network import (
    QUESTION_BUCKETS,
    GraphPolicy,
    NetworkShape,
    PolicyNetwork,
    States,
)
from tasks.paths.policy.plan import PolicyPlan
from tasks.programs.planner.features import log_sums, question_features
from tasks.progress import Report, silent
from warehouse import durable

CHECKPOINT_SECONDS = 30.0
LONGEST_GRADIENT = 5.0
Figures = dict[str, float | str]


@dataclass(frozen=True, eq=False)
class Example:
    """A question, the nodes of each of its answers, and those of each wrong choice."""

    question: str
    answers: tuple[Nodes, ...]
    others: tuple[Nodes, ...] = ()


@dataclass(frozen=True, eq=False)
class TrainedPolicy:
    """A policy with its plan, the number of questions it learned from, and its training curve.

    The curve has a row of figures per batch.
    """

    network: PolicyNetwork
    plan: PolicyPlan
    curve: list[Figures] = field(default_factory=list)
    learned_from: int = 0


def train_policy(
    graph: Graph,
    relations: np.ndarray,
    examples: Sequence[Example],
    plan: PolicyPlan,
    state: File | None = None,
    *,
    report: Report = silent,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> TrainedPolicy:
    """Train a policy; with a folder `state`, the same call resumes after a kill.

    `relations` are the vectors of the graph's relations, (relations, d). The same call gives the
    same weights on the same machine, resumed or not. Raises AlmanacError if no answer can be
    reached, or if the training diverges, for which `state` is removed; DamageError for a checkpoint
    that cannot be read.
    """
    import torch

    shape = NetworkShape(relations.shape[1], plan.width, plan.steps)
    policy = GraphPolicy(PolicyNetwork.untrained(shape, plan.seed), graph, relations)
    chosen = np.random.default_rng(plan.seed).permutation(len(examples))[: plan.questions]
    teacher, found = Teacher(graph, plan.steps), []
    for number, place in enumerate(np.sort(chosen), 1):
        example = examples[place]
        if meanings := teacher.meanings(example.question, example.answers, example.others):
            found.append(meanings)
        report("search for answers", number, len(chosen))
    if not found:
        raise AlmanacError(
            f"No answer of the questions can be reached within {plan.steps} steps from a name in "
            f"its question in the graph {graph.name}; there is nothing to learn."
        )
    for meanings in found:
        hops = [2 * relation + inverse for relation, inverse in meanings.hops]
        policy.network.weights["uses"][policy.names[hops]] += 1
    lessons = [lesson_of(policy, meanings, plan.steps) for meanings in found]
    with torch.random.fork_rng(), one_thread():
        training = _Training(policy, lessons, plan, state, report, checkpoint_seconds)
        training.run()
    return TrainedPolicy(policy.network, plan, training.curve, len(lessons))


@dataclass(eq=False)
class _Training:
    policy: GraphPolicy
    lessons: list[Lesson]
    plan: PolicyPlan
    state: File | None
    report: Report
    checkpoint_seconds: float
    curve: list[Figures] = field(default_factory=list)

    def __post_init__(self) -> None:
        import torch

        self.weights = self.policy.network.weights
        self.learned = [weight for name, weight in self.weights.items() if name != "uses"]
        for weight in self.learned:
            weight.requires_grad_()
        self.optimizer = torch.optim.Adam(self.learned, lr=self.plan.learning_rate)

    def run(self) -> None:
        """Train on the batches that are left."""
        import torch

        if self.state:
            self._begin_or_go_on(self.state)
        plan, count = self.plan, len(self.lessons)
        of_epoch = -(-count // plan.batch)
        total, saved = plan.epochs * of_epoch, time.monotonic()
        for number in range(len(self.curve), total):
            # Every batch has its own seed, so that a resumed training draws the same numbers.
            random = np.random.default_rng([plan.seed, number])
            epoch, part = divmod(number, of_epoch)
            order = np.random.default_rng([plan.seed, epoch, count]).permutation(count)
            batch = [self.lessons[n] for n in order[part * plan.batch :][: plan.batch]]
            for group in self.optimizer.param_groups:
                group["lr"] = plan.learning_rate * max(1 - number / total, 0.05)
            self.optimizer.zero_grad()
            loss = self._loss(batch, random)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.learned, LONGEST_GRADIENT)
            self.optimizer.step()
            self._check(number, loss)
            self.curve.append({"stage": "answers", "batch": number, "loss": float(loss.detach())})
            self.report("learn", number + 1, total)
            if self.state and time.monotonic() - saved >= self.checkpoint_seconds:
                self._save(self.state)
                saved = time.monotonic()
        if self.state:
            self._save(self.state)
        for weight in self.learned:
            weight.requires_grad_(False)

    def _check(self, number: int, loss: Any) -> None:
        if bool(loss.isfinite()):
            return
        if self.state:  # a resumed training would end here, too
            shutil.rmtree(self.state, ignore_errors=True)
        raise AlmanacError(
            f"The training diverged in batch {number + 1}: its loss is no longer finite. Train "
            "with a lower learning rate."
        )

    def _loss(self, lessons: Sequence[Lesson], random: np.random.Generator) -> Any:
        """Return the mean of -log Σ fit(τ) · π(τ); a question counts less if it may mean much."""
        import torch

        forgotten = random.random(2 * len(self.policy.graph.relations)) < self.plan.forgotten
        readings = [reading for lesson in lessons for reading in lesson.readings]
        lost = random.random(QUESTION_BUCKETS) < self.plan.forgotten
        bags = [question_features(reading.masked) for reading in readings]
        grams = [bag[~lost[bag % QUESTION_BUCKETS]] for bag in bags]
        firsts = np.cumsum([0, *(len(lesson.readings) for lesson in lessons)])
        states, actions = _joined(lessons, firsts)
        likely = self.policy.log_probabilities(grams, states, forgotten)
        # A row of zeros is what actions after the end of a trail add.
        padded = torch.cat([likely, torch.zeros(1)])
        trails = padded[torch.from_numpy(actions)].sum(1)
        counts = np.diff(firsts)
        owners = torch.from_numpy(np.repeat(np.arange(len(lessons)), counts))
        read = self.policy.log_readings(readings, owners, len(lessons))
        places = np.concatenate(
            [lesson.trails + first for lesson, first in zip(lessons, firsts, strict=False)]
        )
        fits = torch.from_numpy(np.concatenate([lesson.fits for lesson in lessons]))
        asked = np.repeat(np.arange(len(lessons)), [len(lesson.fits) for lesson in lessons])
        scores = trails + read[torch.from_numpy(places)] + fits.log()
        likely = log_sums(scores, torch.from_numpy(asked), len(lessons))
        sure = torch.tensor([1 / len(lesson.fits) for lesson in lessons])
        return -(likely * sure).sum() / sure.sum()

    def _begin_or_go_on(self, state: File) -> None:
        """Load the checkpoint in the folder if it is from the same training, else remove it."""
        digest = blake2b(digest_size=16)
        for lesson in self.lessons:
            digest.update(repr([reading.masked for reading in lesson.readings]).encode())
            for array in (lesson.actions, lesson.fits, lesson.states.hops):
                digest.update(np.ascontiguousarray(array).data)
        identity = {
            "plan": self.plan.model_dump(mode="json"),
            "graph": [self.policy.graph.name, self.policy.graph.relations],
            "lessons": digest.hexdigest(),
        }
        path = state / "training.json"
        state.mkdir(parents=True, exist_ok=True)
        durable.remove_dead_temporaries(state, ".*.tmp")
        if not durable.has_json(path, identity):
            (state / CHECKPOINT).unlink(missing_ok=True)
            durable.write_json(path, identity)
        else:
            saved = load_checkpoint(state, self.weights, self.optimizer, lambda read: read["curve"])
            self.curve = saved or []

    def _save(self, state: File) -> None:
        save_checkpoint(state, {"curve": self.curve}, self.weights, self.optimizer)


def _joined(lessons: Sequence[Lesson], firsts: np.ndarray) -> tuple[States, np.ndarray]:
    """Return the states of several lessons together, and the actions of all their trails."""
    states, actions, earlier, acted = [], [], 0, 0
    for lesson, first in zip(lessons, firsts, strict=False):
        own = lesson.states
        states.append((own.readings + first, own.owners + earlier))
        actions.append(np.where(lesson.actions < 0, -1, lesson.actions + acted))
        earlier, acted = earlier + len(own.lengths), acted + len(own.hops)
    return (
        States(
            np.concatenate([readings for readings, _ in states]),
            np.concatenate([lesson.states.walked for lesson in lessons]),
            np.concatenate([lesson.states.lengths for lesson in lessons]),
            np.concatenate([owners for _, owners in states]),
            np.concatenate([lesson.states.hops for lesson in lessons]),
            np.concatenate([lesson.states.shared for lesson in lessons]),
        ),
        np.concatenate(actions),
    )
