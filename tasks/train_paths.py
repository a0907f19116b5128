"""Train a policy to walk one graph, from questions with answers, and publish it (KnowGPT)."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import orjson

from schemas.errors import UsageError
from schemas.extras import check_extra
from schemas.paths import PolicyTraining
from schemas.settings import Settings
from tasks.paths.path import GroundedQuestion
from tasks.paths.path_graph import PathGraph, open_path_graph, policies_folder, training_folder
from tasks.paths.pictures import draw_training
from tasks.paths.policy.demonstrations import FAR, distances_between
from tasks.paths.policy.episodes import Choose, begin, choose_at_random, walk_all
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.store import PolicyManifest, load_policy, save_policy
from tasks.paths.policy.train import Episodes, TrainedPolicy, train_policy
from tasks.progress import Report, RunStage, run_plainly, silent
from tasks.publish.publish import PUBLISHING
from tasks.questions.question import Benchmark, BenchmarkQuestion
from tasks.questions.splits import sample, split
from tasks.run import RunReport, Stages, Work, publishing_run, run_stages
from warehouse import durable
from warehouse.home import Home

PATIENCE = 600.0  # seconds that a finished training waits for the lease at least
HELD_OUT = 10  # one question in this many is held out
MOST_SOURCES, MOST_TARGETS = 4, 3  # most nodes of a question, and of its answers, that are paired


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of source and target with the vector of their question, from `questions` questions."""

    sources: np.ndarray
    targets: np.ndarray
    contexts: np.ndarray
    questions: int


def train_paths(
    home: Home,
    questions: Sequence[BenchmarkQuestion],
    settings: Settings,
    *,
    graph: str,
    limit: int | None = None,
    encoder: str = "",
    plan: PolicyPlan | None = None,
    report: Report = silent,
    run_stage: RunStage = run_plainly,
) -> tuple[RunReport, dict[str, Any]]:
    """Train a policy on a graph of the current edition; return the run and the policy's summary.

    Right answers are the targets that it learns to reach from the entities that questions name; a
    tenth of the questions is held out to measure it. `limit` takes that many questions of a seeded
    shuffle. A training that was killed resumes when the same call is made again. Raises UsageError
    if there is no such graph, or if no question that is not held out names a node of it and has an
    answer there.
    """
    check_extra("paths")
    edition, before = home.require_edition(), RunReport(run_id="")
    with edition.pinned() as pinned:
        work = _PolicyRun(
            home,
            settings,
            before,
            report,
            graph=graph,
            edition=edition.id,
            paths=open_path_graph(home, pinned, graph, encoder),
            questions=sample(questions, limit or len(questions)),
            plan=plan or PolicyPlan(),
        )
        run_stages(work, TRAINING, run_stage)
    with publishing_run(home, "train_paths", settings, PATIENCE) as run:
        run.seconds, run.counts, work.run = before.seconds, before.counts, run
        run_stages(work, REGISTERING, run_stage)
    shown = work.row.model_dump(
        mode="json", exclude={"training_id", "action", "run_id", "plan", "trained_at"}
    )
    return run, {**shown, "picture": home.relative(work.folder.with_suffix(".png"))}


@dataclass(kw_only=True)
class _PolicyRun(Work):
    """The state that the stages of a training share."""

    graph: str
    edition: str
    paths: PathGraph
    questions: Sequence[BenchmarkQuestion]
    plan: PolicyPlan
    training: _Pairs = field(init=False)
    held_out: _Pairs = field(init=False)
    policy: TrainedPolicy = field(init=False)
    reached: tuple[int, float | None] = field(init=False)
    reached_at_random: tuple[int, float | None] = field(init=False)
    sha: str = field(init=False)
    folder: Path = field(init=False)
    row: PolicyTraining = field(init=False)

    def pair(self) -> None:
        """Pair the nodes that questions name with those of their right answers; hold some out."""
        chosen = self.questions
        self.held_out = _pairs(self.paths, chosen[::HELD_OUT])
        self.training = _pairs(self.paths, [q for n, q in enumerate(chosen) if n % HELD_OUT])
        if len(self.held_out.sources) and not len(self.training.sources):
            raise UsageError(
                "Every tenth question, the first among them, is held out to measure the policy; of "
                f"these {len(chosen)}, none is left to learn from. Give more questions."
            )
        if not len(self.training.sources):
            raise UsageError(
                f"None of the {len(chosen)} questions names a node of the graph {self.graph!r} and "
                "has an answer there. Is it the graph that they are about?"
            )
        self.run.counts["train"] = {
            "questions": self.training.questions,
            "pairs": len(self.training.sources),
        }

    def train(self) -> None:
        """Learn to walk from the sources to the targets; resumes a training that was killed."""
        pairs = self.training
        self.policy = train_policy(
            self.paths.world,
            Episodes(pairs.sources, pairs.targets, pairs.contexts),
            self.plan,
            training_folder(self.home, self.graph),
            report=self.report,
        )

    def score(self) -> None:
        """Walk between the pairs held out, by the policy and at random."""
        by_policy = self.policy.network.greedy(self.paths.world)
        at_random = choose_at_random(self.plan.seed)
        self.reached = _reached(self.paths, self.held_out, self.plan, by_policy)
        self.reached_at_random = _reached(self.paths, self.held_out, self.plan, at_random)

    def save(self) -> None:
        """Store the policy in a folder named after its hash, with its training curve beside it."""
        aside = policies_folder(self.home, self.graph) / f".new-{uuid4().hex[:12]}"
        self.sha = save_policy(aside, self.policy, self.graph, self.paths.vectors.space)
        self.folder = aside.with_name(self.sha[:12])
        if self.folder.exists():
            shutil.rmtree(aside)
        else:
            durable.replace(aside, self.folder)
        draw_training(self.graph, self.policy.curve, self.folder.with_suffix(".png"))

    def register(self) -> None:
        """Make the policy known by a row in the journal."""
        manifest: PolicyManifest = load_policy(self.folder, self.sha)[1]
        plan = orjson.dumps(self.plan.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
        self.row = PolicyTraining(
            training_id=uuid4().hex,
            action="train",
            run_id=self.run.run_id,
            graph=self.graph,
            version=self.sha[:12],
            path=self.home.relative(self.folder),
            sha256=self.sha,
            encoder=self.paths.vectors.encoder_name,
            parameters=manifest.parameters,
            plan=plan.decode(),
            questions=self.training.questions,
            pairs=len(self.training.sources),
            held_out=self.reached[0],
            reached=self.reached[1],
            reached_at_random=self.reached_at_random[1],
            trained_on=self.edition,
            trained_at=datetime.now(UTC),
        )
        self.home.journal.append({PolicyTraining: PolicyTraining.to_table([self.row])})
        shutil.rmtree(training_folder(self.home, self.graph), ignore_errors=True)


TRAINING: Stages[_PolicyRun] = (  # holds no lease, since it takes long
    ("pair", _PolicyRun.pair, "questions -> pairs of a node they name and a right answer"),
    ("train", _PolicyRun.train, "pairs -> a policy that walks from one to the other"),
    ("score", _PolicyRun.score, "pairs held out -> the share that walks reach"),
    ("save", _PolicyRun.save, "the policy -> its folder, and a picture of its training"),
)
REGISTERING: Stages[_PolicyRun] = (
    ("register", _PolicyRun.register, "the folder -> a row in the journal"),
    *PUBLISHING,
)


def training_questions(benchmark: Benchmark) -> list[BenchmarkQuestion]:
    """Return the questions with answers, from the training part if there are parts."""
    training, others = split(benchmark, learn=False)
    return [question for question in training or others if question.answers]


def _pairs(paths: PathGraph, questions: Sequence[BenchmarkQuestion]) -> _Pairs:
    """Return the pairs of a node that a question names and a node of its right answers."""
    grounded = paths.ground(
        [question.question for question in questions],
        [question.choices or question.answers for question in questions],
    )
    rows = [
        (number, source, target)
        for number, (question, named) in enumerate(zip(questions, grounded, strict=True))
        for source, target in product(
            named.sources[:MOST_SOURCES].tolist(), _right(question, named)[:MOST_TARGETS]
        )
        if source != target
    ]
    numbers, sources, targets = np.array(rows, np.int64).reshape(-1, 3).T
    contexts = np.stack([named.context for named in grounded]) if grounded else np.zeros((0, 1))
    return _Pairs(
        sources.astype(np.int32),
        targets.astype(np.int32),
        contexts[numbers].astype(np.float32),
        len(set(numbers.tolist())),
    )


def _right(question: BenchmarkQuestion, named: GroundedQuestion) -> list[int]:
    """Return the nodes of a question's right answers."""
    offered = question.choices or question.answers
    nodes = [
        nodes.tolist()
        for answer, nodes in zip(offered, named.targets, strict=True)
        if answer in question.answers
    ]
    return list(dict.fromkeys(node for some in nodes for node in some))


def _reached(
    paths: PathGraph, pairs: _Pairs, plan: PolicyPlan, choose: Choose
) -> tuple[int, float | None]:
    """Return how many pairs a path connects, and the share of these whose target walks reach."""
    if not len(pairs.sources):
        return 0, None
    apart = distances_between(paths.world, pairs.sources, pairs.targets, plan.steps)
    joined = np.flatnonzero(apart < FAR)
    if not len(joined):
        return 0, None
    walks = begin(pairs.sources[joined], pairs.targets[joined], pairs.contexts[joined], plan.rules)
    walk_all(paths.world, walks, plan.rules, choose)
    return len(joined), round(float(walks.reached.mean()), 4)
