"""The protocol of routes to an answer, with their inputs and results."""

import math
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import uuid4

import numpy as np

from schemas.answers import MIN_SCORE, Answer, Evidence, Found, Gating, Route, Usage, Way
from schemas.documents import Passage
from tasks.text.languages import is_chinese
from tasks.text.question import Demonstration, Question

if TYPE_CHECKING:
    from schemas.settings import Settings
    from tasks.ask.context import Item
    from tasks.ask.documents import Documents
    from tasks.experts.integrate.decisions import Decision
    from tasks.graphs.graph import Graph
    from tasks.models.client import BlockingClient
    from tasks.models.encoders.load import Encoder
    from tasks.paths.policy.train import TrainedPolicy
    from tasks.programs.knowledge_bases.edition_graph import EditionGraph
    from tasks.programs.knowledge_bases.web import Web
    from tasks.programs.planner.planner import Planner
    from tasks.programs.written_program import Conversation
    from tasks.retrieval.search import Searcher
    from warehouse.editions import Edition
    from warehouse.home import Home

LONGEST_SEARCHED = 200  # characters of an earlier answer that are searched for

SOURCE_MARK = re.compile(r"\s*\[(?:\d+|\?)\]")  # in the answer of a model

RouteName = Literal["programs", "paths", "text", "experts", "none"]


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How questions are answered.

    `route` is a name in the table of routes, or `auto`. `graph` restricts programs and paths to one
    graph, `expert` the route `experts` to one expert; with `auto` no other route is asked then.
    `rounds` is how often a model may search, after it has seen results; without it, twice where it
    reads, and once by programs, as in KnowledgPT. Answers from texts whose probability is below
    `min_score` are not given by the embedded reader. A model answers in `style`, `short` or
    `full`, and from its `memory` only if that is allowed. Parts of the query that are named in
    `without` are left out (`tasks.ask.parts`). With `beside_graph`, routes that read no graph are
    asked beside a named one, as if it were the only one. `where` is a condition on documents
    (`warehouse.where`): texts of those that meet it are read, and nothing else is asked.
    """

    route: str = "auto"
    graph: str | None = None
    rounds: int | None = None
    expert: str | None = None
    min_score: float = MIN_SCORE
    style: str = "full"
    memory: bool = False
    without: frozenset[str] = frozenset()
    beside_graph: bool = False
    where: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionHints:
    """Hints from a file of questions.

    They are a question's task, how popular its subject is, the choices that it has, and others
    that the model is shown before, with their answers.
    """

    task: str | None = None
    popularity: float | None = None
    choices: tuple[str, ...] = ()
    demonstrations: tuple[Demonstration, ...] = ()


NO_HINTS = QuestionHints()


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """A model's answer without knowledge, empty if it has none.

    `uncertainty` is in nats per token, NaN if it was not measured.
    """

    words: str = ""
    uncertainty: float = math.nan


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of a conversation, and its answer, empty if it had none."""

    question: str
    answer: str = ""

    @property
    def words(self) -> str:
        """Both, as far as a search for what a later question means needs them."""
        return f"{self.question} {self.answer[:LONGEST_SEARCHED]}".strip()


def turn_of(answer: Answer) -> Turn:
    """Return a question and its answer as a turn of a conversation, without numbers of sources."""
    return Turn(answer.question, SOURCE_MARK.sub("", answer.answer or ""))


@dataclass(frozen=True, slots=True)
class Watcher:
    """Who watches a model read: told where its sources are from, then its answer piece by piece."""

    sources: Callable[[Sequence[str]], None]
    text: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class QuestionState:
    """What was gathered for one question on its way to an answer.

    `question_id` is that of its answer; `history` has the turns before it, the latest last.
    `conversation` is the conversation with the model, if there is a model; `gating` is the gate's
    decision, and `own_answer` the model's own answer, if the gate read it. A `watcher` is told the
    answer while a model writes it. `decisions` collects those on experts and their texts.
    """

    hints: QuestionHints = NO_HINTS
    history: Sequence[Turn] = ()
    question_id: str = field(default_factory=lambda: uuid4().hex)
    conversation: "Conversation | None" = None
    gating: Gating | None = None
    own_answer: "OwnAnswer | None" = None
    watcher: Watcher | None = None
    decisions: "list[Decision]" = field(default_factory=list)

    @property
    def model_goes_first(self) -> bool:
        """Whether the gate decided that the model is to answer by itself."""
        return self.gating is not None and self.gating.retrieve is False

    @property
    def spent(self) -> Usage:
        """The calls and tokens that the conversation took so far."""
        spent = self.conversation.spent if self.conversation else Counter[str]()
        tokens_in, tokens_out = spent["tokens in"], spent["tokens out"]
        return Usage(
            calls=spent["calls"],
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=spent["millionths"] / 1_000_000,
        )


@dataclass(frozen=True, slots=True)
class RouteResult:
    """Answers, best first, with their evidence.

    Without answers, evidence is what comes nearest. `probability` is how likely the first answer is
    right, if the route can tell. `program` led to the answers or, without any, was the first that
    was tried. `unknown` are names in the question by which no entity is known,
    if the route looked them up. `text` is what a model wrote, with the numbers of its evidence,
    `found`, `unsupported`, `others`, `earlier` and `way` are as in `Answer`.
    """

    route: Route
    answers: Sequence[str] = ()
    evidence: Sequence[Evidence] = ()
    probability: float | None = None
    program: str | None = None
    unknown: Sequence[str] = ()
    text: str = ""
    found: Found | None = None
    unsupported: Sequence[str] = ()
    others: Sequence[str] = ()
    earlier: Sequence[Evidence] = ()
    way: Way | None = None

    @property
    def answerable(self) -> bool:
        """Whether there is an answer."""
        return bool(self.answers)


class AnswerRoute(Protocol):
    """One way to answer questions; the asker passes its warnings on."""

    @property
    def warnings(self) -> Sequence[str]:
        """What people should know, in plain words; by default, nothing."""
        return ()

    def prepare(self, questions: Sequence[Question]) -> None:
        """Do beforehand what is cheaper for many questions at once; by default, do nothing."""
        return

    @abstractmethod
    def answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return the route's result; may be called from several threads at once."""

    def items(self, question: Question, state: QuestionState) -> "list[Item]":
        """Return what the route knows about a question, best first, for a model that reads."""
        return []


@dataclass(frozen=True)
class Resources:
    """What routes answer from; `model` and `web` are None if the settings have none.

    `planners` and `policies`, by graph, take the place of all that the home has learned. If
    `documents` are given, by their ids, nothing else is read.
    """

    home: "Home"
    edition: "Edition"
    settings: "Settings"
    options: AskOptions
    graphs: "dict[str, EditionGraph]"
    model: "BlockingClient | None" = None
    web: "Web | None" = None
    planners: "Mapping[str, Planner] | None" = None
    policies: "Mapping[str, TrainedPolicy] | None" = None
    documents: frozenset[str] | None = None

    @property
    def speaks_for_itself(self) -> bool:
        """Whether routes answer without the model: there is none, or a small one nobody asked for.

        What a small model makes up about one route's knowledge is worth less than the knowledge.
        """
        if self.model is None:
            return True
        names_none = self.options.route == "auto" and self.options.expert is None
        return names_none and self.model.client.is_small

    def planner(self, graph: "Graph") -> "Planner":
        """Return the planner of a graph: a given one, else the learned one if it is in use."""
        from tasks.programs.planner.planner import untaught_planner
        from tasks.programs.planner.store import planner_for

        if "planner" in self.options.without:
            return untaught_planner(graph)
        if self.planners is None:
            return planner_for(self.home, graph)
        return self.planners.get(graph.name) or untaught_planner(graph)

    def has_learned(self, graph: str) -> bool:
        """Return whether the planner of a graph has learned from questions."""
        from tasks.programs.planner.store import is_learned

        return is_learned(self.home, graph) if self.planners is None else graph in self.planners

    @cached_property
    def described(self) -> "Documents":
        """What the edition's documents say about themselves; titles are listed of those read."""
        from tasks.ask.documents import Documents

        return Documents(self.edition.path, self.documents)

    @cached_property
    def searcher(self) -> "Searcher | None":
        """The search over the edition's passages, None if there are none."""
        from tasks.retrieval.search_edition import open_searcher

        if not self.edition.rows(Passage):
            return None
        searcher = open_searcher(self.edition, self.settings.engine)
        return searcher if self.documents is None else searcher.within(self.documents)

    @cached_property
    def name_encoders(self) -> "tuple[Encoder | None, Encoder | None]":
        """The encoder of names and short texts, and that for Chinese, if the settings have them."""
        from tasks.models.encoders.load import load_encoder

        english, chinese = map(load_encoder, self.settings.engine.name_encoders)
        return english, chinese

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return the vectors of texts, by the first one's language, even where search has none."""
        from tasks.models.encoders.load import load_encoder

        english, chinese = self.name_encoders
        encoder = (chinese if is_chinese(texts[0]) else english) or english
        encoder = encoder or load_encoder("minilm")
        assert encoder is not None
        return encoder.encode(texts)
