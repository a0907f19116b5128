"""Requests and responses of the service that are not rows of tables."""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from schemas.answers import MIN_SCORE
from tasks.ask.route import AskOptions, Turn
from tasks.text.question import LONGEST_QUESTION
from warehouse.where import LONGEST as LONGEST_CONDITION

MOST_TURNS = 20
Item = TypeVar("Item")
Where = Annotated[
    str | None,
    Field(
        max_length=LONGEST_CONDITION,
        description="Read only documents whose metadata meet it: date >= 2025-01-01.",
    ),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class EarlierTurn(_Request):
    """An earlier question of a conversation with its answer."""

    question: str = Field(max_length=LONGEST_QUESTION)
    answer: str = Field("", max_length=20_000, description="Empty if there was none.")


class AskRequest(_Request):
    """A question, with the options of `almanac ask`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "Where was Marie Curie born?"}]}
    )

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    choices: list[str] = Field([], max_length=20, description="Possible answers: two, or none.")
    route: Literal["auto", "programs", "paths", "text", "experts", "none"] = "auto"
    graph: str | None = Field(None, description="Ask this graph alone.")
    style: Literal["short", "full"] = Field("full", description="How a model answers.")
    memory: bool = Field(False, description="Let a model say what it knows by itself.")
    min_score: float = Field(
        MIN_SCORE, ge=0, le=1, description="Least probability of an answer from texts."
    )
    where: Where = None
    history: list[EarlierTurn] = Field(
        [], max_length=MOST_TURNS, description="The conversation before it, the latest turn last."
    )

    @field_validator("choices")
    @classmethod
    def _differ(cls, choices: list[str]) -> list[str]:
        """Refuse one choice, and the same one twice, of which none could be chosen."""
        if len(choices) == 1 or len({*map(str.strip, choices)}) < len(choices):
            raise ValueError("give at least two that differ, or none")
        return choices

    @property
    def options(self) -> AskOptions:
        """The options as an asker takes them."""
        return AskOptions(
            self.route,
            self.graph,
            style=self.style,
            memory=self.memory,
            min_score=self.min_score,
            where=self.where,
        )

    @property
    def turns(self) -> list[Turn]:
        """The conversation as an asker takes it."""
        return [Turn(turn.question, turn.answer) for turn in self.history]


class Page(BaseModel, Generic[Item]):
    """Some rows of a table, in the order of their ids."""

    items: list[Item]
    next: str | None = Field(
        None, description="Give it as `after` for the next page; null on the last."
    )


class DocumentEntry(BaseModel):
    """A document without its text."""

    document_id: str
    source: str = Field(description="The source from which it was read.")
    uri: str = Field(description="Its location.")
    title: str
    language: str
    words: int
    read_at: datetime
    near_duplicate_of: str | None = None


class Span(BaseModel):
    """What was understood at a place of a document."""

    kind: str = Field(description="triple, description, aspect, alias or statement.")
    fact_id: str
    span_start: int = Field(description="First character in the document's text.")
    span_end: int = Field(description="One past the last character.")
    confidence: float
    head_id: str | None
    head: str
    relation: str | None
    tail_id: str | None
    tail: str | None


class DocumentText(DocumentEntry):
    """A document with a part of its text and the spans in it."""

    text: str = Field(description="The characters from `start` on.")
    start: int
    characters: int = Field(description="Of the whole text.")
    spans: list[Span]


class Place(BaseModel):
    """A place where a fact is stated."""

    document_id: str
    uri: str
    title: str
    span_start: int
    span_end: int
    confidence: float
    text: str = Field(description="The document's words there.")


class FactWithPlaces(BaseModel):
    """A fact with all places that state it."""

    fact: dict[str, Any] = Field(description="The row of `triples`.")
    places: list[Place]


class Found(BaseModel):
    """A passage or note that matches a search."""

    kind: str = Field(description="passage, or the kind of a note.")
    title: str
    text: str
    document_id: str | None
    uri: str | None
    remembered: str | None = Field(description="The day on which the user had it remembered.")
    span_start: int | None
    span_end: int | None
    score: float = Field(description="0 to 1, comparable within a kind.")


class SqlRequest(_Request):
    """A query on the edition's tables."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": "select kind, count(*) as things from entities group by 1"}]
        }
    )

    query: str = Field(min_length=1, max_length=20_000)
    limit: int = Field(1_000, ge=1, le=10_000, description="Rows to return at most.")


class EditionEntry(BaseModel):
    """An edition of the home."""

    edition: str
    built_at: datetime
    state: str = Field(description="current, or published earlier.")


class FeedbackRequest(_Request):
    """A verdict on an answer or on a fact: give the id of one of them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question_id": "5f0c6d…", "verdict": "right"},
                {"fact_id": "9be1a2…", "verdict": "useful"},
            ]
        }
    )

    question_id: str | None = Field(None, max_length=200, description="Of an answer.")
    fact_id: str | None = Field(None, max_length=200, description="Of a fact.")
    verdict: Literal["right", "wrong", "useful", "useless"] = Field(
        description="An answer is right or wrong; a fact is useful, useless (true, but nobody "
        "asks) or wrong."
    )
    words: str | None = Field(None, max_length=2_000, description="A comment on an answer.")


class FeedbackResult(BaseModel):
    """What became of a verdict."""

    kept: bool = Field(description="False if the same verdict had been given before.")
    rejected: bool = Field(False, description="Whether later editions leave the fact out.")


class CorrectionRequest(_Request):
    """A correction, as `almanac override` makes it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"action": "reject", "subject": "9be1a2…", "reason": "It is a joke."}]
        }
    )

    action: Literal["merge", "split", "relation", "reject", "exclude", "withdraw"]
    subject: str = Field(
        min_length=1,
        max_length=2_000,
        description="An entity (id or unique name), a relation's wording, or the id of a fact, a "
        "document, a run or a correction.",
    )
    object: str | None = Field(
        None,
        max_length=2_000,
        description="The entity that stays, the relation meant, or the name or document that is "
        "split off.",
    )
    name: str | None = Field(None, max_length=2_000, description="The merged entity's name.")
    inverse: bool | None = Field(None, description="The wording relates the tail to the head.")
    reason: str | None = Field(None, max_length=2_000)


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field("about:blank", examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["No entity has the name or the id 'Nobody'."])


class Health(BaseModel):
    """The service is up."""

    status: Literal["ok"] = "ok"
    version: str
    editions: dict[str, str] = Field(description="The edition that is served, by home.")
