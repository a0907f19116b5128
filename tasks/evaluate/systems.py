"""The systems that `--route` can measure, by name."""

from collections.abc import Sequence

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


class ExpertsAnswerer(BenchmarkAnswerer):
    """Answers with experts only, as `ask --route experts` does."""

    def __init__(
        self, edition: Edition, settings: Settings, home: Home, expert: str | None = None
    ) -> None:
        """Ask all experts of an edition, or one by its name."""
        self._edition, self._settings, self._home = edition, settings, home
        self._options = AskOptions("experts", expert=expert)
        self.name = f"experts {expert}" if expert else "experts"

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return the best answer to each question; one of its choices, if it has any."""
        answers = _asked(self._home, self._edition, self._settings, questions, self._options)
        return [Prediction(answer.answers, {"answer": answer.answerable}) for answer in answers]


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
    """Answers from the graph that a question names, as `ask --route ROUTE` does."""

    def __init__(
        self, edition: Edition, settings: Settings, home: Home, route: str, name: str
    ) -> None:
        """Take an edition with graphs; `name` is the system's name in tables."""
        self._edition, self._settings, self._home = edition, settings, home
        self._route, self.name = route, name

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return the best answer to each question; one of its choices, if it has any."""
        predictions = [Prediction()] * len(questions)
        for graph in dict.fromkeys(question.graph for question in questions):
            places = [n for n, question in enumerate(questions) if question.graph == graph]
            some = [questions[place] for place in places]
            options = AskOptions(self._route, graph or None)
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
    if route == "text":
        return lambda edition: TextAnswerer(edition, settings.engine)
    if route == "experts":
        return lambda edition: ExpertsAnswerer(edition, settings, home, expert)
    if route == "paths":
        return lambda edition: RouteAnswerer(edition, settings, home, route, route)
    if settings.engine.engine != "rules":  # the model writes programs, not the planner
        name = f"{route} {settings.engine.model.name}"
        return lambda edition: RouteAnswerer(edition, settings, home, route, name)
    if route == "programs":
        return lambda edition: ProgramAnswerer(edition, home if learned else None)
    return lambda edition: AutoAnswerer(edition, settings, home, learned=learned)
