"""The answer to a question; `almanac ask --json` prints it, so its fields never change names."""

from html import escape
from math import isfinite
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.documents import cited_as
from schemas.operations import ExpertDecision

MIN_SCORE = 0.6  # least probability with which an answer is given
Route = Literal["programs", "paths", "experts", "text", "none"]
Found = Literal["yes", "partly", "no"]
Cause = Literal["score", "current", "known_name", "unknown_task", "no_score", "no_answer"]


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ExpertText(_Reply):
    """A text that an expert wrote, with its scores; those of filters that were off are null."""

    expert: str = Field(description="The expert.")
    written: str = Field(description="The text before it was pruned.")
    agreement: float | None = Field(None, description="Share of its expert's texts equal to it.")
    relevance: float | None = Field(None, description="Cosine with the question.")
    summary: float | None = Field(None, description="How well it supports its pruned form.")
    support: float | None = Field(None, description="Probability that evidence supports it.")
    refute: float | None = Field(None, description="Probability that evidence refutes it.")
    unknown: float | None = Field(None, description="Probability that evidence does not say.")


class GraphPath(_Reply):
    """A walk along edges of a graph, with its rewards; those of edges without a walk are null."""

    nodes: list[str] = Field(description="The names of the nodes on the way.")
    relations: list[str] = Field(description="The relations between them.")
    inverse: list[bool] = Field(description="Whether an edge was walked from tail to head.")
    relatedness: float | None = Field(None, description="How related it is to the question.")
    conciseness: float | None = Field(None, description="One over its length.")
    reward: float | None = Field(None, description="The weighted sum of its rewards.")
    arm: str | None = Field(None, description="How it was extracted and phrased for a reader.")


class Evidence(_Reply):
    """A place in the corpus, a fact, or a text of an expert, that an answer rests on."""

    text: str = Field(description="Its text.")
    kind: str = Field(
        description="passage, theme, triple, statement, description, aspect, expert or path."
    )
    graph: str = Field(
        "corpus", description="The knowledge base that it belongs to, or the expert's name."
    )
    document_id: str | None = Field(None, description="The document that it comes from, if any.")
    uri: str | None = Field(None, description="The location of that document.")
    span_start: int | None = Field(None, description="First character in the document's text.")
    span_end: int | None = Field(None, description="One past the last character.")
    page: int | None = Field(None, description="The page on which it begins, in a PDF.")
    author: str | None = Field(None, description="Who wrote that document, if it says so.")
    date: str | None = Field(None, description="Its date, if it says so: changed, else written.")
    remembered: str | None = Field(
        None, description="The day (UTC) on which the user had it remembered, if it is such a note."
    )
    score: float = Field(description="How well it fits the question, 0 to 1.")
    expert: ExpertText | None = Field(None, description="What an expert wrote, and its scores.")
    path: GraphPath | None = Field(None, description="The path that the text words.")

    @property
    def cited_as(self) -> str:
        """How readers are shown where it is from: a document, else a graph."""
        return cited_as(self.uri, self.remembered) or self.document_id or self.graph


class Usage(_Reply):
    """The model calls and tokens that an answer took."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = Field(0.0, description="What they cost, as far as prices are known.")


class Gating(_Reply):
    """The gate's decision on a question."""

    task: str | None = Field(None, description="The question's task; null if it resembles none.")
    gate: str | None = Field(None, description="That task's gate and the id of its calibration.")
    score: float | None = Field(None, description="The gate's score; null if it gave none.")
    threshold: float | None = Field(None, description="Knowledge is fetched for scores below it.")
    budget: float | None = Field(None, description="Share of the task's questions that may fetch.")
    level: float | None = Field(None, description="Share of recent scores below the threshold.")
    retrieve: bool | None = Field(
        None,
        description="Whether knowledge was fetched; null if the gate only scored the question.",
    )
    cause: Cause | None = Field(None, description="The reason for the decision.")
    words: str | None = Field(None, description="The words that ask for what is current.")

    @property
    def thrust(self) -> float | None:
        """The score as JSON can hold it: null if it is infinite."""
        return self.score if self.score is not None and isfinite(self.score) else None


class RouteAnswer(_Reply):
    """What one route says to a question."""

    route: Route = Field(description="The route.")
    answer: str | None = Field(None, description="Its first answer, null if it has none.")
    probability: float | None = Field(None, description="How likely it is right, as it says.")
    seconds: float = Field(0.0, description="How long it took.")


class Way(_Reply):
    """How an answer was found: what routes said, or how a model read one numbered context."""

    routes: list[RouteAnswer] = Field([], description="Routes that answered by themselves.")
    not_asked: list[Route] = Field([], description="Routes that a sure answer made needless.")
    items: dict[str, int] = Field({}, description="Items of the context, by route.")
    left_out: dict[str, int] = Field({}, description="Items that were left out, by reason.")
    rounds: int = Field(0, description="How often the model read.")
    searches: list[str] = Field([], description="What it asked to be searched.")
    computed: bool = Field(False, description="Whether it asked for a search program.")
    quotations: int = Field(0, description="Quotations that it gave.")
    located: int = Field(0, description="Quotations that stand in their source.")
    claims: int = Field(0, description="Claims of the answer that were checked.")
    repaired: bool = Field(False, description="Whether it was asked again for quotations.")


class OfNamesake(_Reply):
    """A value that is told of another thing than the answer, but of one with the same name."""

    value: str = Field(description="One of `others`.")
    name: str = Field(description="The name.")
    entity_id: str = Field(description="The namesake in the table `entities`.")
    uri: str = Field(description="A document that tells of it.")


class Answer(_Reply):
    """A question and its answer; `answerable` is false if the almanac does not know."""

    question_id: str = Field(description="Unique.")
    question: str = Field(description="As asked.")
    answer: str | None = Field(
        None,
        description="What a model wrote, in which [1] is the first of `evidence` and [?] marks a "
        "claim that no quotation bears out; else the first of `answers`. Null if the almanac does "
        "not know.",
    )
    answers: list[str] = Field(
        description="What answers the question in the fewest words: a value, or all of a set, such "
        "as the moons of a planet."
    )
    others: list[str] = Field(
        [], description="What else texts may say instead, with less support, the likeliest first."
    )
    earlier: list[Evidence] = Field([], description="Where older documents say otherwise.")
    namesakes: list[OfNamesake] = Field(
        [], description="Which of `others` are told of something else with the same name."
    )
    answerable: bool = Field(description="Whether an answer was given.")
    found: Found | None = Field(
        None, description="Whether a model found all, a part or nothing of what was asked."
    )
    remark: str | None = Field(
        None, description="Without an answer, what a model found that comes near."
    )
    unsupported: list[str] = Field(
        [], description="Claims of the answer that no quotation bears out."
    )
    route: Route = Field(description="The route that answered; none if none did.")
    probability: float | None = Field(
        None, description="How likely the answer is right, if the route that answered says so."
    )
    thrust: float | None = Field(None, description="The gate's score, if a gate is calibrated.")
    program: str | None = Field(None, description="The search program, if one was run.")
    evidence: list[Evidence] = Field(description="The evidence for the answer, best first.")
    unknown: list[str] = Field(
        [], description="Without an answer, names in the question by which no entity is known."
    )
    usage: Usage = Usage()
    way: Way | None = Field(None, description="How the answer was found.")
    edition: str = Field(description="The edition that was read.")
    seconds: float = Field(description="Seconds from question to answer.")
    gating: Gating | None = Field(
        None, exclude=True, description="The gate's decision; not in the JSON, but in `answers`."
    )
    decisions: list[ExpertDecision] = Field(
        [], exclude=True, description="How experts were drawn on; in `expert_decisions`."
    )

    def _repr_html_(self) -> str:
        """Return what notebooks show: the answer, how sure it is, and what it was read from."""
        words = self.answer or self.remark or "The almanac does not know."
        sure = "" if self.probability is None else f" <small>{self.probability:.0%} sure</small>"
        read = "".join(
            f"<li>{escape(one.text)} <small>{escape(one.cited_as)}</small></li>"
            for one in self.evidence
        )
        return f"<p><strong>{escape(words)}</strong>{sure}</p><ol>{read}</ol>"
