"""The systems that `--route` can measure, by name."""

from collections.abc import Sequence
from dataclasses import replace

from schemas.answers import Answer
from schemas.errors import UsageError
from schemas.knowledge import CORPUS
from schemas.settings import EngineSettings, Settings
from tasks.ask.asker import Asker
from tasks.ask.route import AskOptions, QuestionHints
from tasks.evaluate.answerer import BenchmarkAnswerer, Prediction, System
from tasks.evaluate.program_answerer import ProgramAnswerer
from tasks.progress import Report, silent
from tasks.questions.question import BenchmarkQuestion
from tasks.reader.passage_reader import PassageReader
from tasks.text.question import analyse
from warehouse.editions import Edition
from warehouse.home import Home


class AutoAnswerer:
    """Answers by programs over the graph that a question names, otherwise as `ask` does."""

    name = "auto"

    def __init__(
        self, edition: Edition, settings: Settings, home: Home, *, learned: bool = False
    ) -> None:
        """Open the edition's graphs; with `learned`, use what the home has learned about them."""
        self._programs = ProgramAnswerer(edition, home if learned else None)
        self._edition, self._settings, self._home = edition, settings, home

    def learn(self, questions: Sequence[BenchmarkQuestion], report: Report = silent) -> None:
        """Learn a planner for each graph that a question names."""
        self._programs.learn(questions, report)

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return an answer to each question, in order."""
        planned = [question for question in questions if question.graph not in ("", CORPUS)]
        by_programs = iter(self._programs.answer_all(planned) if planned else [])
        free = [question for question in questions if question.graph in ("", CORPUS)]
        by_asking = iter(self._ask(free) if free else [])
        return [next(by_asking if q.graph in ("", CORPUS) else by_programs) for q in questions]

    def _ask(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        answers = _asked(self._home, self._edition, self._settings, questions, AskOptions())
        return [
            Prediction(
                answer.answers, {"program": bool(answer.program), "answer": answer.answerable}
            )
            for answer in answers
        ]


def _asked(
    home: Home,
    edition: Edition,
    settings: Settings,
    questions: Sequence[BenchmarkQuestion],
    options: AskOptions,
) -> list[Answer]:
    hints = [QuestionHints(choices=question.choices) for question in questions]
    with Asker(home, edition, settings, options) as asker:
        return asker.answer_all([question.question for question in questions], hints)


class RouteAnswerer(BenchmarkAnswerer):
    """Answers as `ask` does by a route, from the graph that a question names.

    Experts are asked whatever graph a question names.
    """

    def __init__(
        self, edition: Edition, settings: Settings, home: Home, options: AskOptions, name: str
    ) -> None:
        """Take the route's options; `name` is the system's name in tables."""
        self._edition, self._settings, self._home = edition, settings, home
        self._options, self.name = options, name

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return the best answer to each question; one of its choices, if it has any."""
        predictions = [Prediction()] * len(questions)
        graphs = ["" if self._options.route == "experts" else q.graph for q in questions]
        for graph in dict.fromkeys(graphs):
            places = [place for place, other in enumerate(graphs) if other == graph]
            options = replace(self._options, graph=graph or None)
            some = [questions[place] for place in places]
            answers = _asked(self._home, self._edition, self._settings, some, options)
            for place, answer in zip(places, answers, strict=True):
                predictions[place] = Prediction(answer.answers, {"answer": answer.answerable})
        return predictions


class TextAnswerer(BenchmarkAnswerer):
    """Answers from the passages of an edition, whatever graphs it has."""

    name = "text"

    def __init__(self, edition: Edition, settings: EngineSettings) -> None:
        """Open the edition's indexes."""
        self._reader = PassageReader(edition, settings)

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return an answer to each question."""
        return [Prediction(self._reader.answer(analyse(q.question)).answers) for q in questions]


ROUTES = ("auto", "programs", "paths", "text", "experts")


def system_for(
    route: str,
    settings: Settings,
    home: Home,
    *,
    learned: bool = False,
    expert: str | None = None,
) -> System:
    """Return the function that opens the system of a route on an edition.

    With `learned` the system uses the results of `almanac learn` in the home; `expert` is the one
    that the route `experts` asks. Raises UsageError for an unknown route, and for an expert beside
    another route.
    """
    route = "experts" if expert is not None and route == "auto" else route
    if route not in ROUTES:
        raise UsageError(f"There is no route {route!r}. The routes: {', '.join(ROUTES)}.")
    if expert is not None and route != "experts":
        raise UsageError(f"The route {route} asks no experts; use --route experts.")
    engine = settings.engine
    if route == "text":
        return lambda edition: TextAnswerer(edition, engine)
    if route in ("experts", "paths") or engine.engine != "rules":  # a model writes programs
        name = f"experts {expert}" if expert else route
        name = name if route in ("experts", "paths") else f"{route} {engine.model.name}"
        options = AskOptions(route, expert=expert)
        return lambda edition: RouteAnswerer(edition, settings, home, options, name)
    if route == "programs":
        return lambda edition: ProgramAnswerer(edition, home if learned else None)
    return lambda edition: AutoAnswerer(edition, settings, home, learned=learned)
