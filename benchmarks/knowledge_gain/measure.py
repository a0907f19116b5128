"""Measures models on questions without and with knowledge (the Thrust paper's table 6)."""

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

from benchmarks.knowledge_gain.asked_models import AskedModel, model_of_settings
from benchmarks.knowledge_gain.figures import agreement, gain_figures
from schemas.errors import UsageError
from schemas.settings import EngineSettings
from tasks.evaluate.report import record_figures
from tasks.progress import Report, Warn, silent
from tasks.questions.answer_patterns import is_whole
from tasks.questions.formats import read_benchmark
from tasks.questions.normalise import bare_words, token_f1
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample
from warehouse.disk_errors import warned_of_refusals
from warehouse.home import Home

_FIELDS = (
    "id", "question", "answers", "choices", "language", "dataset", "hops", "topic", "kind", "gold",
    "label", "knowledge", "task", "popularity", "patterns",
)  # fmt: skip


def write_outcomes(path: Path, questions: Sequence[BenchmarkQuestion]) -> None:
    """Write one JSON object per line, without the fields that a question lacks."""
    with path.open("w", encoding="utf-8") as file:
        for question in questions:
            file.write(f"{json.dumps(_row(question), ensure_ascii=False)}\n")


def _keep_outcomes(path: Path | None, questions: Sequence[BenchmarkQuestion], warn: Warn) -> None:
    if path:
        with warned_of_refusals(path, "the outcomes were not written.", warn):
            write_outcomes(path, questions)


def _row(question: BenchmarkQuestion) -> dict[str, Any]:
    row = {name: getattr(question, name) for name in _FIELDS}
    row["outcomes"] = {model: figures for model, *figures in question.outcomes}
    row["own_answers"] = dict(question.own_answers)
    row["uncertainties"] = dict(question.uncertainties)
    return {name: value for name, value in row.items() if value not in (None, "", (), {})}


Opener = Callable[[str], AskedModel]


@dataclass(frozen=True)
class GainMeasurement:
    """Which models are asked, and how many questions.

    `models` are opened by name; without any, the outcomes in the questions' file are used or, if
    it has none, the model of the settings is asked. `proxy` is a model that is asked as well, or
    that has outcomes in the file: the report says how well it predicts each of the others. `limit`
    takes the first questions of a seeded shuffle. `out` is the file to which the questions are
    written with their outcomes.
    """

    models: Sequence[str] = ()
    proxy: str | None = None
    limit: int | None = None
    out: Path | None = None


def measure_gain(
    home: Home,
    path: Path,
    format: str,
    open_model: Opener,
    how: GainMeasurement,
    settings: EngineSettings,
    report: Report = silent,
    warn: Warn = warnings.warn,
) -> dict[str, Any]:
    """Ask each model each question without and with its passage; return what `--json` prints.

    Models are opened one after another; if none is named and the file has no outcomes, the model of
    the settings is asked. The figures become live records of the home; `warn` is called if the disk
    refuses them or the outcomes. Raises UsageError if there is nothing to ask or to measure,
    AlmanacError if no further call of the model can succeed.
    """
    if how.out and not how.out.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {how.out.absolute().parent} for the outcomes.")
    benchmark = read_benchmark(path, format)
    brought = {model for question in benchmark.questions for model, _, _ in question.outcomes}
    models = _models(how, brought, settings)
    usable = _usable(benchmark.questions, with_passage=bool(models))
    questions = sample(usable, how.limit)
    began = time.perf_counter()
    names = []
    for name in models:
        model = open_model(name)
        if model.name in names:
            raise UsageError(f"Two models are called {model.name}. Rename one's folder.")
        names.append(model.name)
        questions = _ask(model, questions, report)
        _keep_outcomes(how.out, questions, warn)  # a failure of the next model loses nothing
    proxy = names[-1] if how.proxy and how.proxy not in brought else how.proxy
    shown = [*names, *sorted(brought - set(names))]
    if not models:
        _keep_outcomes(how.out, questions, warn)
    first, *others = (gain_figures(name, questions) for name in shown)
    result = {
        "dataset": benchmark.name,
        **first,
        "baselines": others,
        "left_out": len(benchmark.questions) - len(usable),
        "agreement": [agreement(proxy, o, questions) for o in shown if o != proxy] if proxy else [],
        "seconds": round(time.perf_counter() - began, 2),
    }
    record_figures(home, result, warn)
    return result


def _models(how: GainMeasurement, brought: set[str], settings: EngineSettings) -> list[str]:
    """Return the models to ask, with the proxy last unless the file has its outcomes."""
    named = how.models or ([] if brought else [model_of_settings(settings)])
    others = [name for name in dict.fromkeys(named) if name != how.proxy]
    return [*others, how.proxy] if how.proxy and how.proxy not in brought else others


def _usable(
    questions: Sequence[BenchmarkQuestion], *, with_passage: bool
) -> list[BenchmarkQuestion]:
    usable = [q for q in questions if q.answers and (q.knowledge if with_passage else q.outcomes)]
    if not usable:
        raise UsageError(
            "None of the questions has both answers and a passage of knowledge to answer from."
            if with_passage
            else "None of the questions has both answers and outcomes."
        )
    return usable


def _ask(
    model: AskedModel, questions: Sequence[BenchmarkQuestion], report: Report
) -> list[BenchmarkQuestion]:
    alone = model.answers(questions, [None] * len(questions), report)
    helped = model.answers(questions, [question.knowledge for question in questions], report)
    return [
        replace(
            question,
            outcomes=(
                *(row for row in question.outcomes if row[0] != model.name),
                (
                    model.name,
                    answer_score(question, before.text),
                    answer_score(question, after.text),
                ),
            ),
            own_answers=(
                *(row for row in question.own_answers if row[0] != model.name),
                (model.name, before.text),
            ),
            uncertainties=(
                *(row for row in question.uncertainties if row[0] != model.name),
                *([] if isnan(before.uncertainty) else [(model.name, before.uncertainty)]),
            ),
        )
        for question, before, after in zip(questions, alone, helped, strict=True)
    ]


def answer_score(question: BenchmarkQuestion, answer: str) -> float:
    """Return the score of an answer, 0 to 1 (the paper's section 4).

    A choice is right or wrong. The score of an open answer is its highest word F1 with any gold
    answer, and 1 if an answer pattern matches all of it.
    """
    if not answer:
        return 0.0
    if question.choices:
        return float(any(bare_words(answer) == bare_words(gold) for gold in question.answers))
    if any(is_whole(pattern, answer) for pattern in question.patterns):
        return 1.0
    return max(token_f1(answer, gold) for gold in question.answers)
