"""Train a policy to walk one graph, from questions with answers, and publish it (KnowGPT)."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import orjson

from schemas.errors import UsageError
from schemas.extras import check_extra
from schemas.knowledge import CORPUS
from schemas.learning import PolicyTraining
from schemas.settings import Settings
from tasks.experts.line_picture import draw_lines, smoothed
from tasks.graphs.graph import Nodes
from tasks.paths.path_graph import PathGraph, open_path_graph, policies_folder, training_folder
from tasks.paths.policy.beam import proposals, search_trails
from tasks.paths.policy.network import GraphPolicy, PolicyNetwork
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.store import PolicyManifest, load_policy, save_policy
from tasks.paths.policy.trails import Trail, readings_of
from tasks.paths.policy.train import Example, TrainedPolicy, train_policy
from tasks.progress import Report, RunStage, run_plainly, silent
from tasks.publish.publish import PUBLISHING
from tasks.questions.question import Benchmark, BenchmarkQuestion
from tasks.questions.splits import sample, split
from tasks.run import RunReport, Stages, Work, publishing_run, run_stages
from warehouse import durable
from warehouse.editions import Edition
from warehouse.home import Home

PATIENCE = 600.0  # seconds that a finished training waits for the lease at least
HELD_OUT = 10  # one question in this many is held out


def train_paths(
    home: Home,
    questions: Sequence[BenchmarkQuestion],
    settings: Settings,
    *,
    graph: str,
    encoder: str = "",
    plan: PolicyPlan | None = None,
    report: Report = silent,
    run_stage: RunStage = run_plainly,
) -> tuple[RunReport, dict[str, Any]]:
    """Train a policy on a graph of the current edition; return the run and the policy's summary.

    It learns to walk from the entities that questions name to their right answers; a tenth of the
    questions is held out to measure it. A training that was killed resumes when the same call is
    made again. Raises UsageError if there is no such graph, or if no question that is not held out
    names a node of it and has an answer there.
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
            questions=sample(questions, len(questions)),
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
    training: list[Example] = field(init=False)
    held_out: list[Example] = field(init=False)
    policy: TrainedPolicy = field(init=False)
    reached: tuple[int, float | None] = field(init=False)
    reached_at_random: float | None = field(init=False)
    sha: str = field(init=False)
    folder: Path = field(init=False)
    row: PolicyTraining = field(init=False)

    def pair(self) -> None:
        """Find the nodes of right answers and of wrong choices; hold some questions out."""
        chosen = self.questions
        self.held_out = examples_of(self.paths, chosen[::HELD_OUT])
        self.training = examples_of(self.paths, [q for n, q in enumerate(chosen) if n % HELD_OUT])
        if self.held_out and not self.training:
            raise UsageError(
                "Every tenth question, the first among them, is held out to measure the policy; of "
                f"these {len(chosen)}, none is left to learn from. Give more questions."
            )
        if not self.training:
            raise UsageError(
                f"None of the {len(chosen)} questions names a node of the graph {self.graph!r} and "
                "has an answer there. Is it the graph that they are about?"
            )
        self.run.counts["train"] = {"questions": len(self.training)}

    def train(self) -> None:
        """Learn to walk from names to answers; resumes a training that was killed."""
        self.policy = train_policy(
            self.paths.graph,
            self.paths.vectors.relations,
            self.training,
            self.plan,
            training_folder(self.home, self.graph),
            report=self.report,
        )

    def score(self) -> None:
        """Walk from the names in questions held out, by the policy and at random."""
        self.reached = _reached(self.paths, self.held_out, self.policy.network)
        self.reached_at_random = _reached_at_random(self.paths, self.held_out, self.plan)

    def save(self) -> None:
        """Store the policy in a folder named after its hash, with its training curve beside it."""
        aside = policies_folder(self.home, self.graph) / f".new-{uuid4().hex[:12]}"
        self.sha = save_policy(aside, self.policy, self.graph, self.paths.vectors.space)
        self.folder = aside.with_name(self.sha[:12])
        if self.folder.exists():
            shutil.rmtree(aside)
        else:
            durable.replace(aside, self.folder)
        losses = smoothed([(row["batch"], row["loss"]) for row in self.policy.curve])
        picture = self.folder.with_suffix(".png")
        draw_lines(f"Policy of the graph {self.graph}", {"loss": losses}, "batches", picture)

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
            questions=len(self.training),
            pairs=self.policy.learned_from,
            held_out=self.reached[0],
            reached=self.reached[1],
            reached_at_random=self.reached_at_random,
            trained_on=self.edition,
            trained_at=datetime.now(UTC),
        )
        self.home.journal.append({PolicyTraining: PolicyTraining.to_table([self.row])})
        shutil.rmtree(training_folder(self.home, self.graph), ignore_errors=True)


TRAINING: Stages[_PolicyRun] = (  # holds no lease, since it takes long
    ("pair", _PolicyRun.pair, "questions -> the nodes of their answers"),
    ("train", _PolicyRun.train, "questions -> a policy that walks from names to answers"),
    ("score", _PolicyRun.score, "questions held out -> the share whose likeliest walk is right"),
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


def policies_for(
    home: Home,
    edition: Edition,
    questions: Sequence[BenchmarkQuestion],
    report: Report = silent,
) -> dict[str, TrainedPolicy]:
    """Return a policy for each graph that questions name, learned from them and kept nowhere.

    A graph in which no answer can be reached has none.
    """
    policies = {}
    for name in sorted({question.graph for question in questions} - {"", CORPUS}):
        paths = open_path_graph(home, edition, name)
        own = examples_of(paths, [question for question in questions if question.graph == name])
        if own:
            relations = paths.vectors.relations
            policies[name] = train_policy(paths.graph, relations, own, PolicyPlan(), report=report)
    return policies


def examples_of(paths: PathGraph, questions: Sequence[BenchmarkQuestion]) -> list[Example]:
    """Return what a policy can learn from: questions that name nodes and have answers there."""
    examples = []
    for question in questions:
        wrong = [choice for choice in question.choices if choice not in question.answers]
        answers, others = (_named(paths, names) for names in (question.answers, wrong))
        if answers and readings_of(question.question, paths.graph):
            examples.append(Example(question.question, answers, others))
    return examples


def _named(paths: PathGraph, names: Sequence[str]) -> tuple[Nodes, ...]:
    """Return the nodes of each name that has any: its bearers, else those in a longer text."""
    nodes = [paths.graph.bearers(name) for name in names]
    unknown = [name for name, known in zip(names, nodes, strict=True) if not len(known)]
    nodes += [run.nodes for runs in paths.grounder.mentions(unknown) for run in runs]
    return tuple(known for known in nodes if len(known))


def _reached(
    paths: PathGraph, examples: Sequence[Example], network: PolicyNetwork
) -> tuple[int, float | None]:
    """Return the number of questions, and the share whose likeliest walks end at right answers."""
    if not examples:
        return 0, None
    policy = GraphPolicy(network, paths.graph, paths.vectors.relations)
    right = 0
    for example in examples:
        found = proposals(policy, search_trails(policy, readings_of(example.question, paths.graph)))
        gold = np.concatenate(example.answers)
        right += bool(found) and int(found[0].nodes[0]) in gold
    return len(examples), round(right / len(examples), 4)


def _reached_at_random(
    paths: PathGraph, examples: Sequence[Example], plan: PolicyPlan
) -> float | None:
    """Return the share of questions for which a random walk ends at a right answer."""
    random, right = np.random.default_rng(plan.seed), 0
    for example in examples:
        readings = readings_of(example.question, paths.graph)
        trail = Trail.begin(readings[random.integers(len(readings))])
        for step in range(plan.steps):
            ways = [*trail.longer(paths.graph), *([trail] if step else [])]
            chosen = ways[random.integers(len(ways))] if ways else trail
            if chosen is trail:
                break
            trail = chosen
        right += bool(trail.hops) and random.choice(trail.ends) in np.concatenate(example.answers)
    return round(right / len(examples), 4) if examples else None
