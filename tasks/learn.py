"""Learns from labelled questions all that can be learned of them: planners, then gates."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.calibrate_gate import calibrate_gates
from tasks.evaluation.formats import read_benchmark
from tasks.evaluation.question import Benchmark, BenchmarkQuestion
from tasks.learn_planners import learn_planners
from tasks.refresh import Report, silent
from warehouse.home import Home

FEWEST = 50  # different questions of a task, of which its gate is worth having


def learn(
    home: Home,
    questions: Path,
    format: str,
    settings: Settings,
    graph: str | None = None,
    *,
    gates: bool = True,
    report: Report = silent,
) -> list[dict[str, Any]]:
    """Learn from questions and return what was learned, a planner or a gate an item.

    Questions that no graph answers still calibrate a gate, and too few for a gate still teach a
    planner; UsageError, with the planner's reason, if neither can be.
    """
    tasks = _tasks(read_benchmark(questions, format)) if gates else {}
    try:
        planners = learn_planners(home, questions, format, settings, graph, report)
    except UsageError:
        if not tasks or graph is not None:
            raise
        planners = []
    learned = [{"learned": "planner", **planner} for planner in planners]
    if tasks:
        _, calibrated = calibrate_gates(home, tasks, settings, report=report)
        learned += [{"learned": "gate", **gate} for gate in calibrated]
    return learned


def _tasks(benchmark: Benchmark) -> dict[str, list[BenchmarkQuestion]]:
    """Return the questions of each task that has enough; those that name none are the file's."""
    tasks: dict[str, list[BenchmarkQuestion]] = defaultdict(list)
    for question in benchmark.questions:
        tasks[question.task or benchmark.name].append(question)
    return {
        task: asked
        for task, asked in tasks.items()
        if len({question.question for question in asked}) >= FEWEST
    }
