"""The schemas of models' replies, by purpose.

Other keys are dropped: a model never decides where a fact comes from, which run found it or how
certain it is. Texts with control characters or half characters are invalid.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_serializer,
    model_validator,
)

KINDS = ("person", "place", "organisation", "work", "event", "thing", "unknown")
MOST_FACTS = 2_000  # of one form in one reply; a reply with more is a loop
MOST_QUOTES = 200
USUAL_ALIASES = 8  # of an entity; constrained decoding stops here, as small models do not
# No control characters, no half characters; a pattern is the fastest check.
_PLAIN = r"\A[^\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]*\z"


def _known_kind(kind: object) -> object:
    return kind if not isinstance(kind, str) or kind in KINDS else "unknown"


def _as_lines(text: object) -> object:
    if text is None:
        return ""
    return text.replace("\r\n", "\n") if isinstance(text, str) else text


Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000, pattern=_PLAIN)]
Label = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_000, pattern=_PLAIN)]
Lines = Annotated[Words, BeforeValidator(_as_lines)]  # code and prose; some models write null
Kind = Annotated[
    Literal["person", "place", "organisation", "work", "event", "thing", "unknown"],
    BeforeValidator(_known_kind),
]


class Reply(BaseModel):
    """A reply of any purpose."""

    model_config = ConfigDict(extra="ignore", strict=True)


# -- extraction --------------------------------------------------------------------------------


def _as_row(fields: tuple[str, ...]) -> Callable[[object], object]:
    """Return a function that turns objects, which some models prefer, into rows of `fields`."""

    def row(fact: object) -> object:
        return [fact.get(field) for field in fields] if isinstance(fact, dict) else fact

    return row


# Facts are rows of texts, not objects, as in KnowledGPT's prompt (figure 10): without keys a reply
# has a quarter fewer tokens, and the schema in every call half as many.


class TripleReply(NamedTuple):
    """A subject, a predicate, an object, and the quoted words that state the triple."""

    s: Label
    p: Label
    o: Words
    quote: Words


class AspectReply(NamedTuple):
    """An aspect of an entity that no clear relation covers: a question, and words that answer it.

    The words are quoted from the text, so that they need no check for additions.
    """

    entity: Label
    aspect: Label
    question: Words
    quote: Words


class EntityReply(Reply):
    """A core entity, its description and its quote; its aliases fill the rest of the row."""

    name: Label
    kind: Kind
    description: Words
    quote: Words
    aliases: Annotated[list[Label], Field(max_length=100)]

    @model_validator(mode="before")
    @classmethod
    def _from_row(cls, row: object) -> object:
        if not isinstance(row, list):
            return row
        fixed = list(cls.model_fields)[:-1]
        if len(row) < len(fixed):
            raise ValueError(f"a row of {len(row)}, not of: {', '.join(cls.model_fields)}")
        return {**dict(zip(fixed, row, strict=False)), "aliases": row[len(fixed) :]}

    @classmethod
    def __get_pydantic_json_schema__(cls, _: Any, handler: Any) -> dict[str, Any]:
        """Return the schema of the row that a model writes."""
        fixed = len(cls.model_fields) - 1
        row = {"type": "array", "items": {"type": "string"}}
        return {**row, "minItems": fixed, "maxItems": fixed + USUAL_ALIASES}

    @model_serializer
    def _to_row(self) -> list[str]:
        return [self.name, self.kind, self.description, self.quote, *self.aliases]


Entities = Annotated[list[EntityReply], Field(max_length=MOST_FACTS)]
Triples = Annotated[
    list[Annotated[TripleReply, BeforeValidator(_as_row(TripleReply._fields))]],
    Field(max_length=MOST_FACTS),
]
Aspects = Annotated[
    list[Annotated[AspectReply, BeforeValidator(_as_row(AspectReply._fields))]],
    Field(max_length=MOST_FACTS),
]


class Extraction(Reply):
    """All three forms of knowledge in a text, with the aliases of its entities."""

    entities: Entities
    triples: Triples
    aspects: Aspects


class TripleExtraction(Reply):
    """Triples alone, for the ablation with one call per form."""

    triples: Triples


class DescriptionExtraction(Reply):
    """Entities with descriptions alone."""

    entities: Entities


class AspectExtraction(Reply):
    """Notes alone."""

    aspects: Aspects


def merged(replies: Iterable[BaseModel]) -> Extraction:
    """Return several extractions of one text as one."""
    whole = Extraction(entities=[], triples=[], aspects=[])
    for reply in replies:
        for form in Extraction.model_fields:
            getattr(whole, form).extend(getattr(reply, form, []))
    return whole


# -- the other purposes ------------------------------------------------------------------------


def _without(field: str, decided: str, needless: str) -> Callable[[object], object]:
    """Return a function that fills in a text which a reply omits, as no decision needs it."""

    def filled(reply: object) -> object:
        if not isinstance(reply, dict) or reply.get(field) != decided:
            return reply
        return {needless: "", **reply}

    return filled


def _as_number(number: object) -> object:
    """Return the number of a source as text; models write it as 3, "3" or "[3]"."""
    return str(number).strip("[] ") if isinstance(number, int | str) else number


class Choice(Reply):
    """The candidate that is meant (KnowledGPT, figure 8): `[ENT i]` or `[NONE]`."""

    thought: Lines = ""
    choice: Annotated[str, Field(pattern=r"^\[(ENT [1-9]\d{0,3}|NONE)\]$")]


class Program(Reply):
    """A search program (KnowledGPT, its eleven requirements); no knowledge needs no program."""

    need_knowledge: Literal["yes", "no"]
    thought: Lines = ""
    code: Lines
    introspection: Lines = ""
    ok: Literal["yes", "no"] = "yes"

    _no_code = model_validator(mode="before")(_without("need_knowledge", "no", "code"))


class AnswerReply(Reply):
    """An answer from given knowledge; empty or omitted if the knowledge does not contain it."""

    thought: Lines = ""
    answerable: Literal["yes", "no"]
    answer: Lines

    _no_answer = model_validator(mode="before")(_without("answerable", "no", "answer"))


class Quote(NamedTuple):
    """The number of a source, and words that are copied from it."""

    source: Annotated[str, BeforeValidator(_as_number)]
    words: Words


class CitedAnswer(Reply):
    """An answer from numbered sources, [n] behind each claim, after the quotes that bear it out.

    `values` are what answers the question in the fewest words, `search` what would have to be
    found, and `compute` says whether lists and graph facts have to be computed with.
    """

    quotes: Annotated[
        list[Annotated[Quote, BeforeValidator(_as_row(Quote._fields))]],
        Field(max_length=MOST_QUOTES),
    ] = []
    found: Literal["yes", "partly", "no"]
    answer: Lines = ""
    values: Annotated[list[Label], Field(max_length=MOST_FACTS)] = []
    search: Annotated[list[Label], Field(max_length=MOST_FACTS)] = []
    compute: Literal["yes", "no"] = "no"


class YesNo(Reply):
    """Whether evidence supports a statement."""

    thought: Lines = ""
    verdict: Literal["support", "refute", "unknown"]


class Source(Reply):
    """The source to ask (CooK, top-down): its name, or `none`."""

    thought: Lines = ""
    source: Label


class NeedsMore(Reply):
    """Whether a question needs more information than is given (CooK, top-down)."""

    more: Literal["yes", "no"]


class Information(Reply):
    """The information that a question needs (CooK, top-down, automatic)."""

    information: Label


class Text(Reply):
    """A text in other words."""

    text: Words


LONGEST_RECALLED = 300  # characters; the rest is cut off


class Recalled(Reply):
    """A text that a model writes from memory."""

    text: Annotated[
        Words,
        BeforeValidator(lambda text: text[:LONGEST_RECALLED] if isinstance(text, str) else text),
        Field(max_length=LONGEST_RECALLED),
    ]
