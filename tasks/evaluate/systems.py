"""The systems that `--route` can measure, by name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from schemas.answers import Answer
from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.ask.answer import is_by_model
from tasks.ask.asker import Asker
from tasks.ask.parts import PARTS, LearnedQuery, Part
from tasks.ask.route import AskOptions, QuestionHints
from tasks.evaluate.answerer import BenchmarkAnswerer, Paths, Prediction, System
from tasks.graphs.graph import graphs_of
from tasks.programs.planner.learn import Example, learn
from tasks.programs.planner.planner import Planner
from tasks.progress import Report, silent
from tasks.questions.question import BenchmarkQuestion
from warehouse.editions import Edition
from warehouse.home import Home

if TYPE_CHECKING:
    from tasks.paths.policy.train import TrainedPolicy


class AskAnswerer(BenchmarkAnswerer):
    """Answers as `ask` does, by all routes or by one; from the graph that a question names.

    Routes that read no graph are asked whatever graph a question names.
    """

    def __init__(
        self,
        edition: Edition,
        settings: Settings,
        home: Home,
        options: AskOptions,
        name: str,
        planners: Mapping[str, Planner] | None = None,
        learned: LearnedQuery | None = None,
        policies: "Mapping[str, TrainedPolicy] | None" = None,
    ) -> None:
        """Take the options; `name` is the system's in tables.

        `planners`, `policies` and what was `learned` of the query replace the home's.

        What is learned here stays here.
        """
        self._edition, self._settings, self._home = edition, settings, home
        self._options, self.name = options, name
        self._planners, self._policies, self.learned = planners, policies, learned

    def learn(self, questions: Sequence[BenchmarkQuestion], report: Report = silent) -> None:
        """Learn a planner for each graph that questions name; for the route `paths`, a policy."""
        if self._options.route == "paths":
            from tasks.train_paths import policies_for

            policies = policies_for(self._home, self._edition, questions, report)
            self._policies = {**(self._policies or {}), **policies}
            return
        if planners := learned_planners(self._edition, questions, report):
            self._planners = {**(self._planners or {}), **planners}

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return the best answer to each question; one of its choices, if it has any."""
        programs = self._options.route in ("auto", "programs")
        return [_prediction(*asked, programs) for asked in self._asked(questions)]

    def answers(self, questions: Sequence[BenchmarkQuestion]) -> list[Answer]:
        """Return the answers to questions, in order, as `ask` gives them."""
        return [answer for answer, *_ in self._asked(questions)]

    def _asked(self, questions: Sequence[BenchmarkQuestion]) -> list["_Asked"]:
        """Return the answers, each with the paths that its question may mean, if any are sought."""
        found: dict[int, _Asked] = {}
        graphs = ["" if self._options.route == "experts" else q.graph for q in questions]
        for graph in dict.fromkeys(graphs):
            places = [place for place, other in enumerate(graphs) if other == graph]
            some = [questions[place] for place in places]
            hints = [
                QuestionHints(choices=q.choices, demonstrations=q.demonstrations) for q in some
            ]
            texts = [question.question for question in some]
            with self._asker(graph or None) as asker:
                answers = asker.answer_all(texts, hints)
                found |= {
                    place: _Asked(answer, self._paths(asker, answer, text, graph), asker.reads)
                    for place, answer, text in zip(places, answers, texts, strict=True)
                }
        return [found[place] for place in range(len(questions))]

    def _paths(self, asker: Asker, answer: Answer, question: str, graph: str) -> Paths | None:
        match self._options.route:
            case "programs":
                return asker.planned_paths(question, graph)
            case "paths":
                walked = (tuple(place.path.relations) for place in answer.evidence if place.path)
                return tuple(dict.fromkeys(walked))
            case _:
                return None

    def parts(self, questions: Sequence[BenchmarkQuestion]) -> list[Part]:
        """Return the parts of the query that questions meet and that can be left out."""
        met = set()
        for graph in dict.fromkeys(question.graph or None for question in questions):
            with self._asker(graph) as asker:
                met |= set(asker.parts)
        return [part for part in PARTS if part in met]

    def variants(self, questions: Sequence[BenchmarkQuestion]) -> list["AskAnswerer"]:
        """Return the query with each route alone, then without each of its parts."""
        parts = self.parts(questions)
        alone = [self._variant(f"{name} alone", route=name) for name in parts if name in ROUTES]
        return [*alone, *map(self.lacking, parts)]

    def lacking(self, *parts: str) -> "AskAnswerer":
        """Return the query without some of its parts."""
        without = self._options.without.union(parts)
        return self._variant(f"{self.name} without {', '.join(parts)}", without=without)

    def _variant(self, name: str, **changes: Any) -> "AskAnswerer":
        options = replace(self._options, **changes)
        place = (self._edition, self._settings, self._home)
        return AskAnswerer(*place, options, name, self._planners, self.learned, self._policies)

    def _asker(self, graph: str | None) -> Asker:
        options = self._options
        if options.graph is None and graph is not None:
            options = replace(options, graph=graph, beside_graph=True)
        place = (self._home, self._edition, self._settings, options)
        return Asker(*place, planners=self._planners, learned=self.learned, policies=self._policies)


class _Asked(NamedTuple):
    """An answer, the paths that its question may mean, and whether a model was to read."""

    answer: Answer
    paths: Paths | None
    reads: bool


def _prediction(answer: Answer, paths: Paths | None, reads: bool, programs: bool) -> Prediction:
    stages = {"program": bool(answer.program)} if programs else {}
    stages |= {"answer": answer.answerable}
    return Prediction(
        answer.answers,
        stages | ({"model": is_by_model(answer)} if reads else {}),
        paths=paths,
        tokens=answer.usage.tokens_in + answer.usage.tokens_out,
    )


def learned_planners(
    edition: Edition, questions: Sequence[BenchmarkQuestion], report: Report = silent
) -> dict[str, Planner]:
    """Return a planner for each graph that questions are asked of, by its name."""
    planners = {}
    for name, graph in graphs_of(edition).items():
        own = [q for q in questions if q.graph == name and q.answers]
        examples = [Example(q.question, q.answers) for q in own]
        if examples:
            learned = learn(graph, examples, report)
            known = (graph, learned.model, learned.paths)
            planners[name] = Planner(*known, worded=learned.worded, examples=learned.examples)
    return planners


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
    name = f"experts {expert}" if expert else route
    if route in ("auto", "programs", "text") and engine.engine != "rules":
        name = f"{route} {engine.model.name}"
    options = AskOptions(route, expert=expert)
    place = (settings, home, options, name)
    if learned:
        return lambda edition: AskAnswerer(edition, *place)
    return lambda edition: AskAnswerer(edition, *place, {}, LearnedQuery(), {})
