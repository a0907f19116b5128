"""Asks all rows of the study the same questions, each model in turn."""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from benchmarks.experts_study.configurations import TEXT, Configuration, configurations
from benchmarks.experts_study.shared import SharedTools
from benchmarks.knowledge_gain.asked_models import ENDPOINT
from schemas.answers import Answer
from schemas.errors import UsageError
from schemas.settings import EngineSettings, ExpertSettings, Settings
from tasks.ask import experts_route
from tasks.ask.asker import Asker
from tasks.ask.route import AskOptions, QuestionHints, Resources
from tasks.evaluate.answerer import Prediction, without_gold
from tasks.evaluate.baselines.prompted import PROMPTED, PromptedAnswerer
from tasks.evaluate.report import Measured
from tasks.evaluate.systems import system_for
from tasks.experts.registry import active_experts
from tasks.programs.knowledge_bases.edition_graph import edition_graphs
from tasks.progress import Report, silent
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample
from warehouse.editions import Edition
from warehouse.home import Home

EMBEDDED = "embedded"


@dataclass(frozen=True)
class StudyRow:
    """The answers and decisions of one configuration with one model, question by question."""

    model: str
    configuration: Configuration
    measured: Measured
    answers: Sequence[Answer] = ()

    @property
    def name(self) -> str:
        """The row's name in tables."""
        return self.configuration.name

    def of_dataset(self, dataset: str) -> "StudyRow":
        """Return the row restricted to the questions of one data set."""
        measured = self.measured
        places = [n for n, q in enumerate(measured.questions) if q.dataset == dataset]
        seconds = measured.seconds * len(places) / max(len(measured.questions), 1)
        part = Measured(
            measured.system,
            [measured.questions[n] for n in places],
            [measured.predictions[n] for n in places],
            seconds,
        )
        answers = [self.answers[n] for n in places] if self.answers else ()
        return StudyRow(self.model, self.configuration, part, answers)


def drawn(
    questions: Sequence[BenchmarkQuestion], limit: int | None, datasets: Sequence[str] = ()
) -> list[BenchmarkQuestion]:
    """Return at most `limit` questions of each data set, in a seeded shuffle; UsageError for none.

    A data set is a file of the benchmark; `datasets` restricts them. Training parts are left out.
    """
    by_dataset: dict[str, list[BenchmarkQuestion]] = defaultdict(list)
    for question in questions:
        if question.part != "train":
            by_dataset[question.dataset].append(question)
    if missing := [name for name in datasets if name not in by_dataset]:
        known = ", ".join(by_dataset)
        raise UsageError(f"There is no data set {missing[0]!r} among the questions: {known}.")
    chosen = [name for name in by_dataset if not datasets or name in datasets]
    return [question for name in chosen for question in sample(by_dataset[name], limit)]


def with_model(settings: Settings, name: str) -> Settings:
    """Return settings with another answering model: embedded, endpoint:NAME, or a local one."""
    if name == EMBEDDED:
        engine: dict[str, Any] = {"engine": "rules"}
    else:
        local = not name.startswith(ENDPOINT)
        model = settings.engine.model.model_copy(update={"name": name.removeprefix(ENDPOINT)})
        engine = {"engine": "transformers" if local else "openai", "model": model}
    return settings.model_copy(update={"engine": settings.engine.model_copy(update=engine)})


def model_name(engine: EngineSettings) -> str:
    """Return the name of an answering model in tables."""
    return EMBEDDED if engine.engine == "rules" else engine.model.name


def run_study(
    home: Home,
    edition: Edition,
    questions: Sequence[BenchmarkQuestion],
    settings: Sequence[Settings],
    groups: Sequence[str],
    report: Report = silent,
) -> list[StudyRow]:
    """Return the rows of all models; each of `settings` names one.

    Texts that experts write are shared by all rows, so that a further row costs only its model's
    answers. Evidence comes from the edition only. Raises UsageError if the edition has no experts.
    """
    experts = [expert.name for expert in active_experts(home, edition)]
    if not experts:
        raise UsageError(f"There are no experts in {home.path} that may be asked.")
    rows = []
    shared = SharedTools(
        Resources(home, edition, settings[0], AskOptions("experts"), edition_graphs(edition))
    )
    plans = [
        (each, configuration)
        for each in settings
        for configuration in configurations(
            experts, groups, with_model=each.engine.engine != "rules"
        )
    ]
    for done, (each, configuration) in enumerate(plans, 1):
        rows.append(_row(home, edition, questions, each, configuration, shared))
        report(f"{rows[-1].model}: {rows[-1].name}", done, len(plans))
    return rows


def _row(
    home: Home,
    edition: Edition,
    questions: Sequence[BenchmarkQuestion],
    settings: Settings,
    configuration: Configuration,
    shared: SharedTools,
) -> StudyRow:
    began = time.perf_counter()
    visible = [without_gold(question) for question in questions]
    answers: Sequence[Answer] = ()
    if configuration.name == TEXT:
        predictions = system_for(TEXT, settings, home)(edition).answer_all(visible)
    elif configuration.baseline in PROMPTED:
        answerer = PromptedAnswerer(configuration.baseline, home, edition, settings)
        predictions = answerer.answer_all(visible)
    else:
        answers = _asked(home, edition, visible, settings, configuration, shared)
        predictions = [Prediction(answer.answers) for answer in answers]
    name, seconds = model_name(settings.engine), time.perf_counter() - began
    measured = Measured(f"{name}: {configuration.name}", questions, predictions, seconds)
    return StudyRow(name, configuration, measured, answers)


def _asked(
    home: Home,
    edition: Edition,
    questions: Sequence[BenchmarkQuestion],
    settings: Settings,
    configuration: Configuration,
    shared: SharedTools,
) -> list[Answer]:
    experts = ExpertSettings(**{**settings.experts.model_dump(), **configuration.changes})
    gate = settings.gate.model_copy(update={"use": False})
    changed = settings.model_copy(update={"experts": experts, "gate": gate})
    options = AskOptions("experts", expert=configuration.expert)
    hints = [QuestionHints(choices=question.choices) for question in questions]
    with (
        patch.object(experts_route, "ExpertTools", lambda resources: shared),
        Asker(home, edition, changed, options) as asker,
    ):
        return asker.answer_all([question.question for question in questions], hints)
