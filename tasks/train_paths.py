"""Train a policy to walk one graph, from questions with answers, and publish it (KnowGPT)."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
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
from tasks.run import RunReport, Work, publishing_run, run_stages
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
    plan, edition = plan or PolicyPlan(), home.require_edition()
    chosen = sample(questions, limit or len(questions))
    state = training_folder(home, graph)
    with edition.pinned() as pinned:
        paths = open_path_graph(home, pinned, graph, encoder)
        held_out = _pairs(paths, chosen[::HELD_OUT])
        training = _pairs(paths, [q for n, q in enumerate(chosen) if n % HELD_OUT])
        if len(held_out.sources) and not len(training.sources):
            raise UsageError(
                "Every tenth question, the first among them, is held out to measure the policy; of "
                f"these {len(chosen)}, none is left to learn from. Give more questions."
            )
        if not len(training.sources):
            raise UsageError(
                f"None of the {len(chosen)} questions names a node of the graph {graph!r} and has "
                "an answer there. Is it the graph that they are about?"
            )
        episodes = Episodes(training.sources, training.targets, training.contexts)
        trained: list[TrainedPolicy] = []
        run_stage(
            "train",
            lambda: trained.append(train_policy(paths.world, episodes, plan, state, report=report)),
        )
        policy = trained[0]
        reached = _reached(paths, held_out, plan, policy.network.greedy(paths.world))
        at_random = _reached(paths, held_out, plan, choose_at_random(plan.seed))
        aside = policies_folder(home, graph) / f".new-{uuid4().hex[:12]}"
        sha = save_policy(aside, policy, graph, paths.vectors.space)
    folder = aside.with_name(sha[:12])
    if folder.exists():
        shutil.rmtree(aside)
    else:
        durable.replace(aside, folder)
    with publishing_run(home, "train_paths", settings, PATIENCE) as run:
        run.counts["train"] = {"questions": training.questions, "pairs": len(training.sources)}
        vectors_by = paths.vectors.encoder_name
        row = _row(
            *(home, folder, sha, graph, vectors_by, plan, training, reached, at_random),
            *(edition.id, run),
        )
        home.journal.append({PolicyTraining: PolicyTraining.to_table([row])})
        shutil.rmtree(state, ignore_errors=True)
        run_stages(Work(home, settings, run, report), PUBLISHING, run_stage)
    picture = folder.with_suffix(".png")
    draw_training(graph, policy.curve, picture)
    shown = row.model_dump(
        mode="json", exclude={"training_id", "action", "run_id", "plan", "trained_at"}
    )
    return run, {**shown, "picture": home.relative(picture)}


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


def _row(
    home: Home,
    folder: Path,
    sha: str,
    graph: str,
    encoder: str,
    plan: PolicyPlan,
    training: _Pairs,
    reached: tuple[int, float | None],
    at_random: tuple[int, float | None],
    edition: str,
    run: RunReport,
) -> PolicyTraining:
    manifest: PolicyManifest = load_policy(folder, sha)[1]
    return PolicyTraining(
        training_id=uuid4().hex,
        action="train",
        run_id=run.run_id,
        graph=graph,
        version=sha[:12],
        path=home.relative(folder),
        sha256=sha,
        encoder=encoder,
        parameters=manifest.parameters,
        plan=orjson.dumps(plan.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS).decode(),
        questions=training.questions,
        pairs=len(training.sources),
        held_out=reached[0],
        reached=reached[1],
        reached_at_random=at_random[1],
        trained_on=edition,
        trained_at=datetime.now(UTC),
    )
