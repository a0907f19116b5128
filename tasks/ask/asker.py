"""Opens what questions are answered with: one edition, its graphs, the gate, routes, a model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args
from uuid import uuid4

from schemas.answers import Answer
from schemas.errors import AlmanacError, UsageError
from schemas.knowledge import CORPUS
from schemas.learning import Expert, PathPolicy, TaskGate
from schemas.settings import Settings, changed_settings
from tasks.ask.answer import is_by_model
from tasks.ask.parts import PARTS, LearnedQuery, Part, check_parts, load_learned_query, reader_name
from tasks.ask.query import Means, Query, answer_questions
from tasks.ask.route import (
    NO_HINTS,
    AnswerRoute,
    AskOptions,
    QuestionHints,
    QuestionState,
    Resources,
    RouteName,
    Turn,
    Watcher,
)
from tasks.ask.spending import Spending
from tasks.programs.knowledge_bases.choose import open_web
from tasks.programs.knowledge_bases.edition_graph import edition_graphs
from tasks.text.question import Question, analyse
from tasks.tracing import span
from warehouse.editions import Edition
from warehouse.home import Home

if TYPE_CHECKING:
    from tasks.ask.cited_reader import CitedReader
    from tasks.ask.gatekeeper import Gatekeeper
    from tasks.paths.policy.train import TrainedPolicy
    from tasks.programs.planner.planner import Planner
    from tasks.programs.written_program import Conversation

# The routes that `--route` may name, besides `auto`.
ROUTES: tuple[RouteName, ...] = get_args(RouteName)
AUTO: tuple[RouteName, ...] = ("programs", "text", "paths", "experts", "none")  # may be asked
SLOW: tuple[RouteName, ...] = ("experts", "none")  # asked only where the others are not sure
NO_FILTERS = {f"experts.{name}": False for name in ("relevance", "pruning", "factuality")}
ROUNDS = 2  # how often a model reads, unless the options say otherwise


class Asker:
    """Answers questions; a context manager, which closes the model and remote knowledge bases."""

    def __init__(
        self,
        home: Home,
        edition: Edition,
        settings: Settings,
        options: AskOptions | None = None,
        planners: "Mapping[str, Planner] | None" = None,
        learned: LearnedQuery | None = None,
        policies: "Mapping[str, TrainedPolicy] | None" = None,
    ) -> None:
        """Open the edition. Raises UsageError if a route, graph, expert or part does not exist.

        Raises AlmanacError if an older version made the edition.
        `planners` and `policies`, by graph, and what was `learned` of the query, may be given in
        the place of the home's.
        """
        options = options or AskOptions()
        settings = settings.model_copy(update={"engine": settings.engine.for_answers})
        if options.route not in ("auto", *ROUTES):
            known = ", ".join(("auto", *ROUTES))
            raise UsageError(f"There is no route {options.route!r}. The routes: {known}.")
        edition.check_version()
        graphs = edition_graphs(edition, open_only=settings.engine.withholds_sensitive)
        if options.graph is not None and options.graph not in graphs:
            known = ", ".join(graphs) or "none"
            raise UsageError(f"There is no graph {options.graph!r}. The graphs: {known}.")
        if options.route == "experts" or options.expert is not None:
            _check_experts(home, edition, options)
        documents = _documents(edition, options)
        self._learned = learned or load_learned_query(home, reader_name(settings))
        off = self._learned.off if options.route == "auto" else frozenset()
        options = replace(options, without=check_parts(options.without) | off)
        if "filters" in options.without:
            settings = changed_settings(settings, NO_FILTERS)
        self.edition = edition
        self._run_id = f"ask-{uuid4().hex[:12]}"
        self._resources = Resources(
            home,
            edition,
            settings,
            options,
            graphs,
            planners=planners,
            policies=policies,
            documents=documents,
        )
        self._spending = Spending(home.live, settings.ask)
        self._gatekeeper = self._open_gatekeeper()
        self._unserved: list[str] = []
        self._asked = self._unread = 0  # questions; those of them that the model did not answer
        self._open = ExitStack()

    def __enter__(self) -> "Asker":
        """Open the connections to the model and to the web, if the settings have them."""
        if self._gatekeeper:
            self._open.callback(self._gatekeeper.close)
        home, settings = self._resources.home, self._resources.settings
        model = None
        if settings.engine.engine != "rules":
            from tasks.models.client import BlockingClient
            from tasks.models.transports import open_client

            client = open_client(home, settings.engine, self._run_id)
            self._open.callback(home.ledger.seal)
            model = self._open.enter_context(BlockingClient(client))
        web = open_web(home.path, settings.knowledge_bases)
        web = self._open.enter_context(web) if web else None
        self._resources = replace(self._resources, model=model, web=web)
        return self

    def __exit__(self, *_: object) -> None:
        """Close everything and record the cost of calls."""
        self._open.close()

    def answer(
        self,
        question: str,
        choices: Sequence[str] = (),
        history: Sequence[Turn] = (),
        watcher: Watcher | None = None,
    ) -> Answer:
        """Return the answer with its evidence; `answerable` is false if no route knows one.

        With `choices` it is one of them. `history` are the turns of a conversation before it, of
        which the last few tell what the question means. A `watcher` is told what a model writes. If
        the endpoint fails, the embedded reader answers, and a warning says so.
        """
        turns = self._resources.settings.ask.turns
        latest = tuple(history)[-turns:] if turns else ()
        hints = QuestionHints(choices=tuple(choices))
        with span("almanac.ask", edition=self.edition.id) as timed:
            state = QuestionState(hints, latest, watcher=watcher)
            try:
                [answer] = self._answered([question], [state])
            except AlmanacError as error:
                answer = self._answered_without(error, question, state)
            if timed:
                timed.set_attributes({"route": answer.route, "answerable": answer.answerable})
        return answer

    def _answered_without(self, error: AlmanacError, question: str, state: QuestionState) -> Answer:
        """Return the embedded reader's answer where an endpoint failed; else raise the error.

        Of many questions, which go on from there, none is answered by another reader.
        """
        from tasks.models.limits import RESUME, EndpointError

        resources = self._resources
        if not isinstance(error, EndpointError) or resources.options.route not in ("auto", "text"):
            raise error
        self._unserved = [
            f"{str(error).removesuffix(RESUME)}The embedded reader answered instead of the model."
        ]
        embedded = changed_settings(
            resources.settings, {"engine.engine": "rules", "engine.answer_model": None}
        )
        with Asker(resources.home, self.edition, embedded, resources.options) as asker:
            [answer] = asker._answered([question], [replace(state, watcher=None, decisions=[])])
        return answer

    def answer_all(
        self, questions: Sequence[str], hints: Sequence[QuestionHints] = ()
    ) -> list[Answer]:
        """Return the answers in order; with a model, several questions are answered at once.

        `hints` are one per question; where they have choices, the answer is one of them.
        """
        states = [QuestionState(hint) for hint in hints or [NO_HINTS] * len(questions)]
        with span("almanac.ask", edition=self.edition.id, questions=len(questions)):
            return self._answered(questions, states)

    def _answered(self, questions: Sequence[str], states: Sequence[QuestionState]) -> list[Answer]:
        queries = [
            Query(analyse(question), replace(state, conversation=self._conversation()))
            for question, state in zip(questions, states, strict=True)
        ]
        options = self._resources.options
        with self._workers() as mapped:
            means = Means(
                self._resources,
                self._routes,
                self._usual_routes,
                self._gatekeeper,
                self._gate_decides,
                self._reader,
                self._spending,
                [name for name in self._usual_routes if name in SLOW and name != options.route],
                {} if "trust" in options.without else self._learned.trusts,
                mapped,
            )
            answers = answer_questions(means, queries)
        self._asked += len(answers)
        self._unread += sum(not is_by_model(answer) for answer in answers) if self.reads else 0
        return answers

    def gate_scores(
        self, questions: Sequence[str], hints: Sequence[QuestionHints]
    ) -> list[float | None]:
        """Return the scores that the gate gives to questions, without a decision; None for none."""
        if self._gatekeeper is None:
            return [None] * len(questions)
        states = self._gatekeeper.ask(
            [analyse(question) for question in questions],
            [QuestionState(hint) for hint in hints],
            decides=False,
            mapped=map,
        )
        return [state.gating.score if state.gating else None for state in states]

    def own_answers(
        self, questions: Sequence[str], choices: Sequence[Sequence[str]]
    ) -> list[tuple[str, float | None]]:
        """Return the model's answers without knowledge, as the route `experts` asks for them.

        `choices` are those of each question, if they have any; a small model is not shown them,
        because the surprise of its free answer counts. An answer is empty if there is none. With it
        comes a small model's surprise in nats per token, or None for other models.
        """
        from tasks.ask.model_route import answer_alone

        with self._workers() as mapped:
            talks = [self._conversation() for _ in questions]
            return list(mapped(answer_alone, map(analyse, questions), choices, talks))

    def planned_paths(self, question: str, graph: str) -> tuple[tuple[str, ...], ...] | None:
        """Return what `ProgramsRoute.planned_paths` does; None if that route is not asked."""
        from tasks.ask.programs_route import ProgramsRoute

        route = self._routes.get("programs")
        if not isinstance(route, ProgramsRoute):
            return None
        return route.planned_paths(analyse(question), graph)

    def _conversation(self) -> "Conversation | None":
        """Return a new conversation with the model; None, and nothing imported, without one."""
        if self._resources.model is None:
            return None
        from tasks.programs.written_program import Conversation

        return Conversation(self._resources.model)

    @property
    def warnings(self) -> list[str]:
        """Warnings of the model, the gate and the routes, in plain words."""
        gate = self._gatekeeper.warnings if self._gatekeeper else []
        routes = [words for route in self._routes.values() for words in route.warnings]
        return [*self._unserved, *self._unusable_replies, *self._spending.warnings, *gate, *routes]

    @property
    def _unusable_replies(self) -> list[str]:
        """Tell of requests that the model did not answer: "does not know" would hide them."""
        model = self._resources.model
        given_up = model.client.given_up if model else None
        if not given_up:
            return []
        [(reason, _)] = given_up.most_common(1)
        instead = f"The embedded reader answered {self._unread} of {self._asked} questions instead."
        return [
            f"The model gave no usable reply to {given_up.total()} of the requests ({reason}). "
            f"The table model_calls lists them.{f' {instead}' if self._unread else ''}"
        ]

    @property
    def reads(self) -> bool:
        """Whether a model reads what answers are given from."""
        return self._reader is not None

    @contextmanager
    def _workers(self) -> Iterator[Callable[..., Iterable[Any]]]:
        """Yield a `map`, which works on several items at once if there is a model."""
        model = self._resources.model
        if model is None:
            yield map
            return
        with ThreadPoolExecutor(model.client.settings.concurrency) as pool:
            yield pool.map

    @property
    def _gate_decides(self) -> bool:
        """Whether the gate has a choice: a model that may answer alone, and no named route."""
        options = self._resources.options
        no_name = options.route == "auto" and not (options.graph or options.expert or options.where)
        return self._resources.model is not None and no_name

    # -- routes -----------------------------------------------------------------------------------

    @property
    def parts(self) -> list[Part]:
        """The parts of the query that are in use and can be left out (`tasks.ask.parts`)."""
        resources, routes = self._resources, self._usual_routes
        known = {
            "gate": self._gatekeeper is not None and self._gate_decides,
            "planner": any(resources.has_learned(graph) for graph in resources.graphs),
            "bandit": self._has_bandit,
            "filters": "experts" in routes and resources.settings.experts.has_filters,
            "trust": bool(self._learned.trusts),
        }
        in_use = [part for part in PARTS if part in routes or known.get(part)]
        return [part for part in in_use if part not in resources.options.without]

    @property
    def _usual_routes(self) -> Sequence[RouteName]:
        """The routes that are asked, in order: the named one, or those that have something."""
        options = self._resources.options
        if options.route != "auto":
            return [name for name in ROUTES if name == options.route]
        if options.expert is not None:
            return ["experts"]
        if options.where is not None:
            return ["text"]
        return [name for name in AUTO if name not in options.without and self._has(name)]

    def _has(self, route: RouteName) -> bool:
        """Return whether a route has what it answers from; a named graph has no passages."""
        options = self._resources.options
        graph, all_open = options.graph, options.graph is None or options.beside_graph
        match route:
            case "text":
                return all_open or graph == CORPUS
            case "paths":
                known = self._graphs_with_a_policy
                return bool(known) if graph is None else graph in known
            case "experts":
                return all_open and self._opens_experts
            case "none":
                return options.memory and self._resources.model is not None and not self._reader
            case _:
                return True

    @property
    def _has_bandit(self) -> bool:
        """Whether one chooses how a graph that paths are sought in is phrased."""
        if "paths" not in self._usual_routes:
            return False
        from tasks.paths.bandit.bandit import open_bandit

        resources = self._resources
        named, model = resources.options.graph, reader_name(resources.settings)
        graphs = [named] if named else self._graphs_with_a_policy
        return any(open_bandit(resources.home.live, graph, model) for graph in graphs)

    @cached_property
    def _graphs_with_a_policy(self) -> set[str]:
        edition = self._resources.edition
        if not edition.rows(PathPolicy):
            return set()
        return set(edition.table(PathPolicy)["graph"].to_pylist())

    @cached_property
    def _opens_experts(self) -> bool:
        """Whether there are experts that may be asked.

        To a model that reads, their texts bring calls and noise, unless they were measured to help.
        """
        home, edition = self._resources.home, self._resources.edition
        use = self._resources.settings.experts.use
        if use is None:
            use = self._reader is None or "experts" in self._learned.parts
        if not use or not edition.rows(Expert):
            return False
        from tasks.experts.registry import active_experts

        return bool(active_experts(home, edition))

    @cached_property
    def _reader(self) -> "CitedReader | None":
        """The reader by the model; None without a model that can cite, and for other routes."""
        resources, options = self._resources, self._resources.options
        model = resources.model
        if model is None or model.client.is_small or options.expert is not None:
            return None
        if options.route not in ("auto", "text"):
            return None
        from tasks.ask.cited_reader import CitedReader

        return CitedReader(
            resources.described,
            answer_tokens=resources.settings.ask.answer_tokens,
            rounds=options.rounds or ROUNDS,
            style=options.style,
            memory=options.memory,
            open_only=resources.settings.engine.withholds_sensitive,
        )

    @cached_property
    def _routes(self) -> dict[RouteName, AnswerRoute]:
        alone: Sequence[RouteName] = ("none",) if self._resources.model else ()
        names = dict.fromkeys((*self._usual_routes, *alone))
        return {name: _open_route(name, self._resources) for name in names}

    def _open_gatekeeper(self) -> "Gatekeeper | None":
        """Return the gatekeeper; None if gates are off, or if no gate is calibrated or named.

        Homes without a gate import nothing for it.
        """
        resources = self._resources
        gate = resources.settings.gate
        if not gate.use or "gate" in resources.options.without:
            return None
        if gate.task is None and not resources.edition.rows(TaskGate):
            return None
        from tasks.ask.gatekeeper import Gatekeeper

        graphs = {name: graph.arrays for name, graph in resources.graphs.items()}
        return Gatekeeper(
            resources.home,
            resources.edition,
            resources.settings,
            self._run_id,
            graphs,
            self._names_corpus,
        )

    def _names_corpus(self, question: Question) -> bool:
        """Return whether a question names what the corpus knows; without a model, none need be."""
        has_model = self._resources.settings.engine.engine != "rules"
        searcher = self._resources.searcher if has_model else None
        return searcher is not None and bool(searcher.link(question))


def _documents(edition: Edition, options: AskOptions) -> frozenset[str] | None:
    """Return the documents that may be read, None for all.

    Raises UsageError if their condition does not parse, or if more than texts is to be asked.
    """
    if options.where is None:
        return None
    if options.route not in ("auto", "text") or options.graph or options.expert:
        raise UsageError(
            "With a condition on documents, answers are read from texts alone: leave out the "
            "condition, or the route, graph or expert."
        )
    from warehouse.where import documents_where

    return documents_where(edition, options.where)


def _check_experts(home: Home, edition: Edition, options: AskOptions) -> None:
    """Raise UsageError if experts are wanted and there are none."""
    if options.route not in ("auto", "experts"):
        raise UsageError(f"The route {options.route} asks no experts; use --route experts.")
    from tasks.ask.experts_route import chosen_experts

    if not chosen_experts(home, edition, options.expert):
        if edition.rows(Expert):
            raise UsageError("All experts are in quarantine; `almanac experts` says why.")
        raise UsageError(
            "There are no experts. Train one with `almanac train-experts NAME --graph GRAPH`, or "
            "add one with `almanac experts add`."
        )


def _open_route(name: RouteName, resources: Resources) -> AnswerRoute:
    """Return the route, which is imported now, since most questions need one or two."""
    match name:
        case "programs":
            from tasks.ask.programs_route import ProgramsRoute

            return ProgramsRoute(resources)
        case "paths":
            from tasks.ask.paths_route import PathsRoute

            return PathsRoute(resources)
        case "text":
            from tasks.ask.text_route import TextRoute

            return TextRoute(resources)
        case "experts":
            from tasks.ask.experts_route import ExpertsRoute

            return ExpertsRoute(resources)
        case "none":
            from tasks.ask.model_route import ModelRoute

            return ModelRoute(resources)
