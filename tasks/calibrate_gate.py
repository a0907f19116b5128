"""Calibrate the gate of a task from a file of questions and publish an edition with it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import numpy as np

from schemas.errors import UsageError
from schemas.learning import GateCalibration
from schemas.settings import Settings
from tasks.gates.calibrate import Calibration, GateChoice, calibrate, journal_rows
from tasks.gates.crossfit import BUDGETS, threshold
from tasks.gates.gate import PopularityGate, make_gate
from tasks.gates.questions import DUMMY, GateQuestions, kind_of_answer
from tasks.gates.subject_popularity import GraphPopularity, open_popularity
from tasks.gates.uncertainty import answer_uncertainty
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.load import open_question_encoder
from tasks.models.encoders.store import VectorStore
from tasks.progress import Report, RunStage, run_plainly, silent
from tasks.publish.publish import PUBLISHING
from tasks.questions.formats import read_benchmark
from tasks.questions.question import BenchmarkQuestion
from tasks.run import RunReport, Stages, Work, publishing_run, run_stages
from tasks.text.question import analyse, with_choices
from warehouse.home import Home

SEEDS = 200  # the paper's
DRAW_SEED = 42
OF_A_MODEL = frozenset({"answers", "gains"})  # columns that differ between models
_NAME = re.compile(r"[\w.-]{1,64}")


@dataclass(frozen=True)
class Seeding:
    """The choice of seeds: `count` questions of a file, sampled with the random seed `draw`.

    `model` names the model whose outcomes and answers are used if the file has several models'.
    """

    count: int = SEEDS
    draw: int = DRAW_SEED
    model: str | None = None


def calibrate_gate(
    home: Home,
    questions: Path,
    settings: Settings,
    *,
    task: str,
    format: str = "jsonl",
    choice: GateChoice | None = None,
    seeding: Seeding | None = None,
    report: Report = silent,
    run_stage: RunStage = run_plainly,
) -> tuple[RunReport, dict[str, Any]]:
    """Calibrate the gate of a task and publish an edition with it; return the run and a summary.

    If the file holds several tasks or data sets, only the questions of the one with the task's name
    are used; without such a one, all are, and the run notes that they are of several tasks. An
    earlier calibration of the task is replaced. Raises UsageError, before anything has changed, if
    the arguments or the file are wrong.
    """
    benchmark = read_benchmark(questions, format).questions
    named = [q for q in benchmark if task in (q.task, q.dataset)]
    run, summaries = calibrate_gates(
        home, {task: named or benchmark}, settings, choice, seeding, report, run_stage
    )
    tasks = sorted({question.task for question in benchmark if question.task})
    if len(tasks) > 1 and not named:
        run.notes.append(
            f"No question is of the task {task!r}, so the gate was calibrated with questions of "
            f"all tasks: {', '.join(tasks)}"
        )
    return run, summaries[0]


def calibrate_gates(
    home: Home,
    questions: Mapping[str, Sequence[BenchmarkQuestion]],
    settings: Settings,
    choice: GateChoice | None = None,
    seeding: Seeding | None = None,
    report: Report = silent,
    run_stage: RunStage = run_plainly,
) -> tuple[RunReport, list[dict[str, Any]]]:
    """Calibrate the gates of several tasks, by task, and publish one edition with all of them.

    Raises as `calibrate_gate`.
    """
    choice, seeding = choice or GateChoice(), seeding or Seeding()
    for task in questions:
        check_task(task)
    gate = make_gate(choice.gate, **choice.options)
    if seeding.model is not None and not gate.needs & OF_A_MODEL:
        raise UsageError(
            f"The gate {choice.gate} reads no model's outcomes, so there are none of "
            f"{seeding.model!r} to choose."
        )

    calibrations: list[Calibration] = []

    def calibrate_all(work: Work) -> None:
        @cache
        def store_of(chosen: EncoderChoice) -> VectorStore:
            encoder = open_question_encoder(chosen, settings.engine, home, work.run.run_id)
            return VectorStore(home.journal, encoder, report)

        popularity: GraphPopularity | None = None
        if isinstance(gate, PopularityGate) and gate.popularity_of is not None:
            popularity = open_popularity(home.editions.current(), gate.popularity_of)
        for task, candidates in questions.items():
            drawn = draw_seeds(candidates, seeding)
            drawn = popularity.with_popularity(drawn) if popularity else drawn
            by = choice.encoder.for_questions(question.question for question in drawn)
            store = store_of(by)
            model = _model_of(drawn, seeding.model) if gate.needs & OF_A_MODEL else None
            seeds = seed_questions(drawn, store.encode([q.question for q in drawn]), model)
            if "uncertainty" in gate.needs:
                prompts = [with_choices(analyse(q.question), q.choices).text for q in drawn]
                uncertainty = answer_uncertainty(
                    prompts, settings.engine, home, work.run.run_id, report
                )
                seeds = replace(seeds, uncertainty=uncertainty)
            calibrations.append(calibrate(task, replace(choice, encoder=by), store.id, seeds))
        home.journal.append(journal_rows(calibrations, work.run.run_id))
        work.run.counts["calibrate"] = {
            "seeds": sum(len(calibration.seeds) for calibration in calibrations),
            "clusters": sum(len(calibration.clusters) for calibration in calibrations),
        }

    stages: Stages[Work] = (
        ("calibrate", calibrate_all, "questions -> vectors, clusters, cross-fitted thresholds"),
        *PUBLISHING,
    )
    with publishing_run(home, "calibrate_gate", settings) as run:
        run_stages(Work(home, settings, run, report), stages, run_stage)
    return run, list(map(_summary, calibrations))


def remove_gate(home: Home, task: str, settings: Settings, *, report: Report = silent) -> RunReport:
    """Publish an edition without the gate of a task; raises UsageError if the task has none."""
    with publishing_run(home, "calibrate_gate", settings) as run:
        last = {row["task"]: row for row in home.journal.table(GateCalibration).to_pylist()}
        calibrated = [name for name, row in last.items() if row["action"] == "calibrate"]
        if task not in calibrated:
            tasks = f"there are {', '.join(calibrated)}" if calibrated else "none is calibrated"
            raise UsageError(f"There is no gate of a task {task!r}; {tasks}.")
        removal = {
            "calibration_id": uuid4().hex,
            "action": "remove",
            "run_id": run.run_id,
            "calibrated_at": datetime.now(UTC),
        }
        row = GateCalibration(**{**last[task], **removal})
        home.journal.append({GateCalibration: GateCalibration.to_table([row])})
        run_stages(Work(home, settings, run, report), PUBLISHING)
    return run


def check_task(task: str) -> None:
    """Raise UsageError for a text that cannot be a task's name."""
    if not _NAME.fullmatch(task):
        raise UsageError(
            f"{task!r} cannot be a task's name: up to 64 letters, digits, dots, - and _ can."
        )


def draw_seeds(questions: Sequence[BenchmarkQuestion], seeding: Seeding) -> list[BenchmarkQuestion]:
    """Return the seeds: distinct questions, from the training part if there is one."""
    train = [question for question in questions if question.part == "train"]
    distinct = list({question.question: question for question in train or questions}.values())
    Random(seeding.draw).shuffle(distinct)
    return distinct[: seeding.count]


def _summary(calibration: Calibration) -> dict[str, Any]:
    """Return the summary of a calibration that commands print."""
    return {
        "task": calibration.task,
        "gate": calibration.choice.gate,
        "encoder": calibration.encoder_id,
        "seeds": len(calibration.seeds),
        "classes": len(set(calibration.seeds.labels)),
        "clusters": len(calibration.clusters),
        "thresholds": {
            name: threshold(calibration.scores, share) for name, share in BUDGETS.items()
        },
    }


def seed_questions(
    drawn: Sequence[BenchmarkQuestion], vectors: np.ndarray, model: str | None
) -> GateQuestions:
    """Return seeds in columns, with the answers and gains of `model` if it has them for all."""
    popularity = np.array([np.nan if q.popularity is None else q.popularity for q in drawn])
    outcomes = [{name: with_ - without for name, without, with_ in q.outcomes} for q in drawn]
    own = [dict(q.own_answers) for q in drawn]
    answers = gains = None
    if model and all(model in answer for answer in own):
        kinds = [kind_of_answer(a[model], q.choices) for a, q in zip(own, drawn, strict=True)]
        answers = np.array(kinds, dtype=object)
    if model and all(model in outcome for outcome in outcomes):
        gains = np.array([outcome[model] for outcome in outcomes], float)
    return GateQuestions(
        [question.question for question in drawn],
        [question.label or DUMMY for question in drawn],
        vectors.astype(np.float64),
        popularity=None if np.isnan(popularity).all() else np.array(popularity),
        answers=answers,
        gains=gains,
    )


def _model_of(drawn: Sequence[BenchmarkQuestion], model: str | None) -> str | None:
    """Return the model whose outcomes are used: the named one, else the only one.

    Raises UsageError if there is no such model, or if several have outcomes and none is named.
    """
    models = sorted({name for question in drawn for name, _, _ in question.outcomes})
    if model is not None and model not in models:
        others = f"only of {', '.join(models)}" if models else "nor of any other model"
        raise UsageError(f"The questions have no outcomes of {model!r}, {others}.")
    if model is None and len(models) > 1:
        raise UsageError(
            f"Choose the model whose outcomes count: --set outcomes_of={'|'.join(models)}"
        )
    return model or next(iter(models), None)
