"""Measures a system and the baselines on a benchmark, in one run over one home."""

import json
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from schemas.settings import Settings, changed_settings
from tasks.ask.keep_answers import check_answers_file
from tasks.evaluate.answerer import BenchmarkAnswerer, Prediction, System, without_gold
from tasks.evaluate.baselines.choose import BASELINES, baseline, check_baselines
from tasks.evaluate.baselines.prompted import PROMPTED, PromptedAnswerer
from tasks.evaluate.found_documents import DocumentSearch
from tasks.evaluate.metrics import score
from tasks.evaluate.own_texts import EditionPerQuestion, OwnTextsAnswerer
from tasks.evaluate.report import Measured, figures, gain_over, record_figures
from tasks.evaluate.systems import AskAnswerer, system_for
from tasks.prepare_benchmark import prepared
from tasks.progress import Report, Warn, silent
from tasks.questions.formats import read_benchmark
from tasks.questions.question import Benchmark, BenchmarkQuestion
from tasks.questions.splits import demonstrated, sample, split
from tasks.text.english_words import counted
from warehouse.disk_errors import warned_of_refusals
from warehouse.editions import Edition
from warehouse.home import Home

QUESTIONS_A_REPORT = 256  # of progress
Sides = tuple[list[BenchmarkQuestion], list[BenchmarkQuestion]]
COMPARED = 2000  # questions for the baselines, enough to know a share to about 0.02


@dataclass(frozen=True)
class Measurement:
    """How a benchmark is measured.

    Questions are asked of `graph`, else of their own graphs, which may be missing if it is empty.
    `limit` takes the first questions of a seeded shuffle. With `learn` the system learns from the
    training part, or from a seeded half; without it, all questions are test questions. `divide`
    returns the training and the test questions instead. `zero_shot` also measures the system before
    it learns, `parts` each route of the query alone and the query without each of its parts, on at
    most `COMPARED` questions. A model that answers from experts' texts or as a baseline is shown
    this many `demonstrations` of the training part before each question. `answers` is the file to
    which every answer is written, one JSON object per line.
    """

    graph: str | None = None
    limit: int | None = None
    learn: bool = True
    divide: Callable[[Benchmark], Sides] | None = None
    zero_shot: bool = False
    demonstrations: int = 0
    parts: bool = False
    baselines: Sequence[str] = BASELINES
    answers: Path | None = None


def evaluate(
    home: Home,
    path: Path,
    format: str,
    system: System,
    settings: Settings,
    how: Measurement | None = None,
    report: Report = silent,
    warn: Warn = warnings.warn,
) -> dict[str, Any]:
    """Measure a system on the questions of a file or folder; return what `--json` prints.

    The figures become live records of the home; `warn` is called if the disk refuses them, and if
    answers are not the model's. Graphs beside the questions are imported into an empty home. Raises
    UsageError for invalid arguments, AlmanacError if there are no questions to ask.
    """
    how = how or Measurement()
    check_baselines(how.baselines, settings.engine)
    if how.answers:
        check_answers_file(how.answers, path)
    benchmark = read_benchmark(path, format)
    if any(question.context for question in benchmark.questions):
        _check_without_prompts(how)
        measured = _from_own_texts(home, benchmark, system, settings, how, report)
        edition, learned = None, 0
    else:
        edition, benchmark = prepared(home, benchmark, settings, how.graph, report)
        train, test = how.divide(benchmark) if how.divide else split(benchmark, learn=how.learn)
        test, learned = sample(test, how.limit), len(train) if how.learn else 0
        test = demonstrated(test, train, how.demonstrations)
        with edition.pinned() as pinned:
            measured = _measure(home, pinned, system, settings, how, train, test, report)
    first, *others = map(figures, measured)
    result = {
        "dataset": benchmark.name,
        **first,
        "learned_from": learned,
        "edition": edition.id if edition else None,
        "baselines": others,
        "gains": [gain_over(other, measured[0]) for other in measured[1:]],
    }
    _warn_of_the_unread(measured, warn)
    record_figures(home, result, warn)
    if how.answers:
        with warned_of_refusals(how.answers, "the answers were not written.", warn):
            _write_answers(how.answers, measured)
    return result


def _warn_of_the_unread(measured: Sequence[Measured], warn: Warn) -> None:
    """Tell of answers by the embedded reader where a model was to read."""
    for system in measured:
        unread = sum(not prediction.stages.get("model", True) for prediction in system.predictions)
        if unread:
            warn(
                f"{system.system}: the embedded reader answered {unread} of "
                f"{counted(len(system.predictions), 'question')} instead of the model (its calls: "
                "the table model_calls)."
            )


def _check_without_prompts(how: Measurement) -> None:
    """Raise UsageError for baselines that do not apply to questions with their own texts."""
    prompted = [name for name in how.baselines if name in PROMPTED]
    if prompted:
        raise UsageError(
            f"The baseline {prompted[0]} is for questions without texts of their own. "
            "In a checkout, `python -m benchmarks.knowledge_gain` measures a model with and "
            "without the texts that questions bring."
        )


def _measure(
    home: Home,
    edition: Edition,
    system: System,
    settings: Settings,
    how: Measurement,
    train: Sequence[BenchmarkQuestion],
    test: Sequence[BenchmarkQuestion],
    report: Report,
) -> list[Measured]:
    """Return the system's answers first, then its zero-shot answers and those of the baselines.

    If there are more than `COMPARED` questions, the baselines get a seeded sample.
    """
    answerer, others = system(edition), []
    if how.zero_shot and how.learn:
        before = ask_system(answerer, test, report)
        others.append(replace(before, system=f"{answerer.name} zero-shot"))
    if how.learn and train:
        answerer.learn(train, report)
    first = _with_found(ask_system(answerer, test, report), edition, settings)
    compared = sample(test, COMPARED) if len(test) > COMPARED else test
    if how.parts:
        assert isinstance(answerer, AskAnswerer)
        others += [ask_system(variant, compared, report) for variant in answerer.variants(compared)]
    graphs = sorted({question.graph for question in compared} - {""})
    for name in how.baselines:
        baseline_answerer: BenchmarkAnswerer
        if name in PROMPTED:
            baseline_answerer = PromptedAnswerer(name, home, edition, settings)
        elif graphs:
            baseline_answerer = baseline(name, edition, graphs, settings, report)
        else:
            continue
        if how.learn:
            baseline_answerer.learn(train, report)
        others.append(ask_system(baseline_answerer, compared, report))
    return [first, *others]


def _with_found(measured: Measured, edition: Edition, settings: Settings) -> Measured:
    """Return the predictions with the documents that search finds, where some are to be found."""
    if not any(question.gold for question in measured.questions):
        return measured
    search = DocumentSearch(edition, settings.engine)
    predictions = [
        replace(prediction, found=search.found(question)) if question.gold else prediction
        for question, prediction in zip(measured.questions, measured.predictions, strict=True)
    ]
    return replace(measured, predictions=predictions)


def _from_own_texts(
    home: Home,
    benchmark: Benchmark,
    system: System,
    settings: Settings,
    how: Measurement,
    report: Report,
) -> list[Measured]:
    """Answer every question from its own texts; the baseline is to read them."""
    test = sample(benchmark.questions, how.limit)
    with tempfile.TemporaryDirectory(prefix="almanac-evaluate-") as folder:
        editions = EditionPerQuestion(Path(folder), settings)
        first = ask_system(OwnTextsAnswerer(system, editions), test, report, batch=1)
        if first.system == "text" or not how.baselines:
            return [first]
        embedded = changed_settings(settings, {"engine.engine": "rules"})
        read = OwnTextsAnswerer(system_for("text", embedded, home), editions)
        return [first, ask_system(read, test, report, batch=1)]


def ask_system(
    answerer: BenchmarkAnswerer,
    questions: Sequence[BenchmarkQuestion],
    report: Report,
    batch: int = QUESTIONS_A_REPORT,
) -> Measured:
    """Put questions to a system without gold answers; return what it answers, and the time."""
    began = time.perf_counter()
    predictions: list[Prediction] = []
    for start in range(0, len(questions), batch):
        visible = [without_gold(question) for question in questions[start : start + batch]]
        predictions += answerer.answer_all(visible)
        report(answerer.name, len(predictions), len(questions))
    return Measured(answerer.name, questions, predictions, time.perf_counter() - began)


def _write_answers(path: Path, measured: Sequence[Measured]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for answered in measured:
            for question, prediction in zip(answered.questions, answered.predictions, strict=True):
                row = {
                    "system": answered.system,
                    "id": question.id,
                    "question": question.question,
                    "gold": question.answers,
                    "answers": prediction.answers[:100],
                    "scores": score(question, prediction),
                    "stages": prediction.stages,
                }
                file.write(f"{json.dumps(row, ensure_ascii=False)}\n")
