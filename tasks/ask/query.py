"""The one query: what happens to questions, from their names to their records.

A model reads one numbered list that every route adds to. Without one that can read, routes answer
by themselves, and the best supported answer is given.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from schemas.answers import Answer, Route, RouteAnswer, Way
from tasks.ask.answer import answer_of
from tasks.ask.choice import Trusts, choose, is_settled
from tasks.ask.context import Context, Item, alternating
from tasks.ask.route import (
    AnswerRoute,
    QuestionState,
    Resources,
    RouteName,
    RouteResult,
)
from tasks.ask.spending import Spending
from tasks.reader.asked_names import lone_pronoun, may_mean, with_name
from tasks.text.expected_answer import may_have_form
from tasks.text.question import Question, analyse

if TYPE_CHECKING:
    from tasks.ask.cited_reader import CitedReader, Reading
    from tasks.ask.gatekeeper import Gatekeeper
    from tasks.programs.knowledge_bases.edition_graph import EditionGraph
    from tasks.programs.knowledge_bases.protocol import EntityRef

Linked = Sequence[tuple["EditionGraph", "EntityRef"]]  # the entities that a question names
NEAREST = 5  # sources that are shown without an answer
LIKELIER_RIGHT = 0.5  # least probability of an answer to an open question
UNREAD: tuple[RouteName, ...] = ("paths", "experts")  # whose answers nothing compares with the form
ENOUGH = 0.9  # probability of an answer that spares the routes that take seconds


@dataclass
class Query:
    """One question on its way: what was found so far."""

    question: Question
    state: QuestionState
    linked: Linked = ()
    items: Sequence[Item] = ()
    context: Context | None = None
    reading: "Reading | None" = None
    results: list[RouteResult] = field(default_factory=list)
    route_answers: list[RouteAnswer] = field(default_factory=list)
    not_asked: list[Route] = field(default_factory=list)
    answer: Answer | None = None
    seconds: float = 0.0

    @property
    def is_answered(self) -> bool:
        """Whether a route has an answer."""
        return bool(self.results) and self.results[-1].answerable


@dataclass(frozen=True)
class Means:
    """What questions are answered with.

    `usual` are the routes that are asked, `slow` those of them that are asked only if the others
    are not sure. `reader` is the model's, None if no model reads. `trusts` say how far routes are
    believed. `mapped` is the built-in `map`, or one that works on several questions at once.
    """

    resources: Resources
    routes: Mapping[RouteName, AnswerRoute]
    usual: Sequence[RouteName]
    gatekeeper: "Gatekeeper | None"
    gate_decides: bool
    reader: "CitedReader | None"
    spending: Spending
    slow: Sequence[RouteName] = ()
    trusts: Trusts = field(default_factory=dict)
    mapped: Callable[..., Iterable[Any]] = map


Stage = Callable[[Means, Sequence[Query]], None]


def for_each(work: Callable[[Means, Query], None]) -> Stage:
    """Return a stage that does timed work for each question, several at once with a model."""

    @wraps(work)
    def stage(means: Means, queries: Sequence[Query]) -> None:
        def timed(query: Query) -> None:
            began = time.perf_counter()
            work(means, query)
            query.seconds += time.perf_counter() - began

        list(means.mapped(timed, queries))

    return stage


@for_each
def find_names(means: Means, query: Query) -> None:
    """Find the entities that a question names, in every graph that may be asked.

    A model is shown the turns before a question. Without one, the only name that fits, of the
    latest turn that has names, takes the place of a lone pronoun.
    """
    if means.reader is not None:
        query.linked = _linked(means, query.question)
        return
    searcher, pronoun = means.resources.searcher, lone_pronoun(query.question)
    if searcher is None or pronoun is None:
        return
    for turn in reversed(query.state.history):
        names = sorted(searcher.link(analyse(turn.words)), key=lambda name: -name.start)
        meant = {  # by the name that comes first
            name.bearers[0].entity: name.text
            for name in names
            if may_mean(pronoun, searcher.kind_of(name.bearers[0].entity))
        }
        if len(meant) == 1:
            query.question = analyse(with_name(pronoun, *meant.values()))
        if names:
            return


def _linked(means: Means, question: Question) -> Linked:
    from tasks.ask.known_facts import linked_entities

    resources = means.resources
    named = resources.options.graph
    graphs = {name: graph for name, graph in resources.graphs.items() if named in (None, name)}
    searcher = resources.searcher
    names = searcher.link(question) if searcher else []
    return linked_entities(question, graphs, searcher, names)


def ask_gate(means: Means, queries: Sequence[Query]) -> None:
    """Have the gate decide on all questions, in their order, before the first is answered."""
    if means.gatekeeper is None:
        return
    began = time.perf_counter()
    states = means.gatekeeper.ask(
        [query.question for query in queries],
        [query.state for query in queries],
        decides=means.gate_decides,
        mapped=means.mapped,
    )
    for query, state in zip(queries, states, strict=True):
        query.state = state
        query.seconds += (time.perf_counter() - began) / len(queries)
    _answer_alone(means, [query for query in queries if query.state.model_goes_first])


@for_each
def _answer_alone(means: Means, query: Query) -> None:
    query.results.append(_answered(means, query, "none"))


def ask_routes(means: Means, queries: Sequence[Query]) -> None:
    """Collect what every route knows, for a model; else ask each for its answer.

    Slow routes are asked about what the others leave open.
    """
    left = [query for query in queries if not query.is_answered]
    if means.reader:
        _prepare(means, means.usual, left)
        _collect(means, left)
        return
    for names in ([name for name in means.usual if name not in means.slow], list(means.slow)):
        if names and (left := [query for query in left if _is_open(means, query, names)]):
            _prepare(means, names, left)
            for_each(partial(_ask_each, names=names))(means, left)


def _prepare(means: Means, names: Sequence[RouteName], queries: Sequence[Query]) -> None:
    for name in names if queries else ():
        means.routes[name].prepare([query.question for query in queries])


def _is_open(means: Means, query: Query, names: Sequence[RouteName]) -> bool:
    """Return whether these routes are to be asked; note it if not."""
    if not is_settled(query.results, means.trusts, ENOUGH):
        return True
    query.not_asked += names
    return False


def _ask_each(means: Means, query: Query, names: Sequence[RouteName]) -> None:
    for name in names:
        began = time.perf_counter()
        result = _answered(means, query, name)
        query.results.append(result)
        query.route_answers.append(
            RouteAnswer(
                route=name,
                answer=result.answers[0] if result.answers else None,
                probability=result.probability,
                seconds=round(time.perf_counter() - began, 3),
            )
        )


@for_each
def _collect(means: Means, query: Query) -> None:
    items = [
        item
        for name in means.usual
        for item in means.routes[name].items(query.question, query.state)
    ]
    facts = _facts(means, query.question, query.linked)
    programs = [item for item in items if item.evidence.kind == "program"]
    query.items = [*programs, *facts, *(item for item in items if item not in programs)]


def _facts(means: Means, question: Question, linked: Linked) -> list[Item]:
    """Return the facts of linked entities that are like a question, unless texts alone are read."""
    from tasks.ask.known_facts import fact_items

    options = means.resources.options
    texts_alone = options.route == "text" or options.where is not None
    return [] if texts_alone else fact_items(question, linked)


def number_items(means: Means, queries: Sequence[Query]) -> None:
    """Choose the items that the model sees, best first, within its budget of tokens."""
    if means.reader is not None:
        for query in queries:
            query.context = means.reader.context(query.items)


@for_each
def read_items(means: Means, query: Query) -> None:
    """Have the model read; what it asks for is added to the context, and it reads once more."""
    if means.reader is None or query.context is None or query.is_answered:
        return
    from tasks.ask.cited_reader import Reading

    def searched(searches: Sequence[str]) -> list[Item]:
        """Return what passages and facts say for each search, the best of each first."""
        state, found = replace(query.state, history=()), []
        for words in map(analyse, searches):
            texts = means.routes["text"].items(words, state) if "text" in means.routes else []
            found.append([*texts, *_facts(means, words, _linked(means, words))])
        return alternating(found)

    def computed() -> list[Item]:
        from tasks.ask.programs_route import ProgramsRoute

        route = means.routes.get("programs")
        if not isinstance(route, ProgramsRoute) or query.state.conversation is None:
            return []
        conversation = query.state.conversation
        items, reading.program = route.computed(query.question, conversation, query.linked)
        return items

    may_ask = means.spending.may_ask
    reading = Reading(query.context)
    if may_ask(query.state.spent):
        means.reader.read(query.question, query.state, reading, searched, computed, may_ask)
    if reading.reply is not None:
        query.reading = reading
    elif "text" in means.routes:  # the embedded reader is still there
        query.results.append(_answered(means, query, "text"))


@for_each
def verify_answers(means: Means, query: Query) -> None:
    """Find the quotations in their sources; mark the claims that none bears out."""
    if means.reader is None or query.reading is None:
        return
    may_ask = means.spending.may_ask(query.state.spent)
    means.reader.check(query.question, query.state, query.reading, may_ask=may_ask)
    query.results.append(_result_of(means, query, query.reading))


def _result_of(means: Means, query: Query, reading: "Reading") -> RouteResult:
    """Return what a model read as the result of the route that its first source came by."""
    reply, checked = reading.reply, reading.checked
    assert reply is not None and checked is not None
    way = Way(
        items=reading.context.routes,
        left_out=dict(reading.context.dropped),
        rounds=reading.rounds,
        searches=reading.searches,
        computed=reading.computed,
        quotations=checked.quoted,
        located=checked.found,
        claims=checked.claims,
        repaired=reading.repaired,
    )
    found, program = reply.found if checked.answer else "no", reading.program
    if found == "no":
        near = checked.evidence or [item.evidence for item in reading.context.items[:NEAREST]]
        return RouteResult(
            "text", (), near, program=program, found="no", text=checked.answer, way=way
        )
    result = RouteResult(
        _route_of(reading),
        reply.values or [checked.answer],
        checked.evidence,
        program=program,
        found=found,
        text=checked.answer,
        unsupported=checked.unsupported,
        way=way,
    )
    choices = query.state.hints.choices
    return _among_choices(means, query.question, choices, result) if choices else result


def _route_of(reading: "Reading") -> Route:
    """Return the route of the first source that is quoted, else of the first of all."""
    quoted = reading.reply.quotes if reading.reply else []
    numbers = [int(quote.source) for quote in quoted if quote.source.isdecimal()]
    items = [item for number in numbers if (item := reading.context[number])]
    return next((item.route for item in (*items, *reading.context.items)), "none")


def choose_answers(means: Means, queries: Sequence[Query]) -> None:
    """Give the best supported of the answers that routes have by themselves.

    Where nobody named a route, an open question gets no answer that is likelier wrong than right,
    unless the model's memory is allowed, or its gate chose it.
    """
    options = means.resources.options
    is_open = options.route == "auto" and not (options.expert or options.memory)
    for query in queries:
        if query.reading is None:
            way = Way(routes=query.route_answers, not_asked=query.not_asked)
            state = query.state
            can_refuse = is_open and not (state.hints.choices or state.model_goes_first)
            least = min(LIKELIER_RIGHT, options.min_score) if can_refuse else 0.0
            results = query.results or [RouteResult("none")]
            *others, given = choose(results, means.trusts, least)
            query.results = [*others, replace(given, way=way)]


def keep_records(means: Means, queries: Sequence[Query]) -> None:
    """Make the record of each question: answer, evidence, way and cost."""
    for query in queries:
        means.spending.add(query.state.spent)
        state, gating = query.state, query.state.gating
        fetched_after_all = state.model_goes_first and len(query.results) > 1
        if fetched_after_all and means.gatekeeper and gating:
            gating = means.gatekeeper.fetched_after_all(gating)
        query.answer = answer_of(
            query.question.text,
            state,
            query.results,
            means.resources,
            gating=gating,
            seconds=query.seconds,
        )


STAGES: tuple[tuple[str, Stage, str], ...] = (
    ("names", find_names, "questions -> the entities that they name"),
    ("gate", ask_gate, "questions -> whether knowledge is fetched, where a gate is calibrated"),
    ("routes", ask_routes, "names -> items: passages, facts, notes, values, experts' texts"),
    ("context", number_items, "items -> one numbered list within the budget of tokens"),
    ("answer", read_items, "list -> an answer with quotations, after at most one more search"),
    ("verification", verify_answers, "quotations -> places; claims without one are marked"),
    ("choice", choose_answers, "answers of routes -> the best supported one, where no model read"),
    ("keep", keep_records, "all of it -> one record"),
)


def answer_questions(means: Means, queries: Sequence[Query]) -> list[Answer]:
    """Take questions through all stages; return their answers in order."""
    for _, stage, _ in STAGES:
        stage(means, queries)
    return [query.answer for query in queries if query.answer is not None]


# -- one route ----------------------------------------------------------------------------------


def _answered(means: Means, query: Query, name: RouteName) -> RouteResult:
    """Return the result of a route, as one of the choices if there are some.

    Without a model, a name from a graph or an expert is no answer to "how many" or "when".
    """
    result = means.routes[name].answer(query.question, query.state)
    if choices := query.state.hints.choices:
        return _among_choices(means, query.question, choices, result)
    form = query.question.expected_answer.form
    unread = name in UNREAD and means.resources.speaks_for_itself
    if unread and not any(may_have_form(answer, form) for answer in result.answers):
        return replace(result, answers=(), probability=None)
    return result


def _among_choices(
    means: Means, question: Question, choices: Sequence[str], result: RouteResult
) -> RouteResult:
    """Return a result with the choice that its answers mean; without answers if none fits.

    Of several answers those that are choices stay.
    """
    if not result.answers:
        return result
    if result.answers[0] in choices:
        return replace(result, answers=[one for one in result.answers if one in choices])
    from tasks.ask.phrasing import without_letter
    from tasks.programs.choices import meant_choice

    answers = [without_letter(answer, choices) for answer in result.answers]
    graphs = means.resources.graphs.values()
    choice = meant_choice(question.text, choices, answers, graphs)
    if not choice:
        return replace(result, answers=[], probability=None)
    return replace(result, answers=[choice])
