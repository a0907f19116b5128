"""The schemas of models' replies, by purpose.

Other keys are dropped: a model never decides where a fact comes from, which run found it or how
certain it is. Texts with control characters or half characters are invalid.
"""

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WrapValidator,
    model_serializer,
    model_validator,
)

KINDS = ("person", "place", "organisation", "work", "event", "thing", "unknown")
MOST_FACTS = 2_000  # of one form in one reply; a reply with more is a loop
MOST_QUOTES = 200
MOST_SHOWN = 500  # characters of a malformed row
USUAL_ALIASES = 8  # of an entity; constrained decoding stops here, as small models do not
MOST_ALIASES = 100
MODALITIES = ("possible", "required", "intended", "future", "supposed", "conditional", "reported")
_ASSERTED = frozenset(["", "asserted", "certain", "sure", "yes", "true", "fact"])
_AFFIRMED = frozenset(["", "no", "false", "0", "positive", "否"])
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
    alone: ClassVar[str | None] = None  # the field that a reply in plain words fills


# -- extraction --------------------------------------------------------------------------------


# Facts are rows of texts, not objects, as in KnowledGPT's prompt (figure 10): without keys a reply
# has a quarter fewer tokens, and the schema in every call half as many. Rows say where the text
# states a fact by the numbers of its sentences; quotations would be half of the reply.


def _numbers(where: object) -> object:
    listed = where if isinstance(where, list) else [where]
    if not all(type(number) is int for number in listed):
        return where
    return ",".join(map(str, listed))


Where = Annotated[Words, BeforeValidator(_numbers)]
"""The numbers of the sentences that state a fact ("3", "3,5", "3-5"), or words quoted from them."""


class Row(Reply):
    """A fact as a row of texts, of which the last may be left out; some models write an object."""

    fixed: ClassVar[int]  # texts that no row may leave out
    usual: ClassVar[int]  # most texts in a row; constrained decoding stops here

    @model_validator(mode="before")
    @classmethod
    def _from_row(cls, row: object) -> object:
        if isinstance(row, dict):
            return {"where": row.get("quote"), **row}
        if not isinstance(row, list):
            return row
        fields = list(cls.model_fields)
        if not cls.fixed <= len(row) <= cls.most():
            raise ValueError(f"a row of {len(row)}, not of: {', '.join(fields)}")
        return cls.named(row)

    @classmethod
    def named(cls, row: list[object]) -> dict[str, object]:
        """Return the texts of a row by the names of the fields."""
        return dict(zip(cls.model_fields, row, strict=False))

    @classmethod
    def most(cls) -> int:
        """Return the most texts that a row may have."""
        return len(cls.model_fields)

    @classmethod
    def __get_pydantic_json_schema__(cls, _: Any, handler: Any) -> dict[str, Any]:
        """Return the schema of the row that a model writes."""
        row = {"type": "array", "items": {"type": "string"}}
        return {**row, "minItems": cls.fixed, "maxItems": cls.usual}

    @model_serializer
    def _to_row(self) -> list[str]:
        row = self.texts()
        while len(row) > self.fixed and not row[-1]:
            row.pop()
        return row

    def texts(self) -> list[str]:
        """Return the texts of the row, in order."""
        return [getattr(self, field) for field in type(self).model_fields]


class TripleReply(Row):
    """A triple, the sentences that state it, when it holds, and whether the text asserts it."""

    fixed, usual = 4, 8

    s: Label
    p: Label
    o: Words
    where: Where
    since: Label = ""
    until: Label = ""
    negated: Label = ""
    certain: Label = ""

    @property
    def polarity(self) -> str:
        """Whether the text affirms or denies it: positive or negative."""
        return "positive" if self.negated.lower() in _AFFIRMED else "negative"

    @property
    def modality(self) -> str:
        """How it is meant, as in the table `statements`."""
        word = self.certain.lower()
        if word in _ASSERTED:
            return "asserted"
        return word if word in MODALITIES else "supposed"

    @property
    def is_asserted(self) -> bool:
        """Whether the text states it as a fact."""
        return self.polarity == "positive" and self.modality == "asserted"


class AspectReply(Row):
    """An aspect of an entity that no clear relation covers: a question, and where it is answered.

    The answer is taken from the text, so that it needs no check for additions.
    """

    fixed = usual = 4

    entity: Label
    aspect: Label
    question: Words
    where: Where


class EntityReply(Row):
    """A core entity, its description, and where it stands; its names fill the rest of the row."""

    fixed, usual = 4, 4 + USUAL_ALIASES

    name: Label
    kind: Kind
    description: Words
    where: Where
    aliases: Annotated[list[Label], Field(max_length=MOST_ALIASES)] = []

    @classmethod
    def named(cls, row: list[object]) -> dict[str, object]:
        """Return the texts of a row by the names of the fields."""
        return {**super().named(row), "aliases": row[cls.fixed :]}

    @classmethod
    def most(cls) -> int:
        """Return the most texts that a row may have."""
        return cls.fixed + MOST_ALIASES

    def texts(self) -> list[str]:
        """Return the texts of the row, in order."""
        return [self.name, self.kind, self.description, self.where, *self.aliases]


def _with_malformed(rows: object, validated: Callable[[object], list[Row]]) -> list[Row]:
    """Return rows of which those that are malformed cite nothing, so that they are rejected.

    If all are, the model has misunderstood, and the error is raised.
    """
    try:
        return validated(rows)
    except ValidationError as error:
        malformed = {problem["loc"][0] if problem["loc"] else -1 for problem in error.errors()}
        if not isinstance(rows, list) or -1 in malformed or len(malformed) == len(rows):
            raise
        return validated(
            [
                ["", "", repr(row)[:MOST_SHOWN], ""] if number in malformed else row
                for number, row in enumerate(rows)
            ]
        )


_Rows = WrapValidator(_with_malformed)
Entities = Annotated[list[EntityReply], Field(max_length=MOST_FACTS), _Rows]
Triples = Annotated[list[TripleReply], Field(max_length=MOST_FACTS), _Rows]
Aspects = Annotated[list[AspectReply], Field(max_length=MOST_FACTS), _Rows]


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
        if not isinstance(reply, dict) or _as_word(reply.get(field)) != decided:
            return reply
        return {needless: "", **reply}

    return filled


def _as_number(number: object) -> object:
    """Return the number of a source as text; models write it as 3, "3", "[3]" or "source 3"."""
    if not isinstance(number, int | str):
        return number
    digits = re.search(r"\d+", str(number))
    return digits[0] if digits else str(number)


_IN_FULL = {"true": "yes", "是": "yes", "false": "no", "否": "no", "partial": "partly"}


def _as_word(word: object) -> object:
    """Return "yes", "partly" or "no", also of true, "partial" or "Yes, it is"."""
    first = re.match(r"\W*([a-z]+|[是否])", str(word).lower())
    return _IN_FULL.get(first[1], first[1]) if first and isinstance(word, str | bool) else word


YesOrNo = Annotated[Literal["yes", "no"], BeforeValidator(_as_word)]


def _as_list(texts: object) -> object:
    """Return a list of texts; of a single one some models write the text, of none null or ""."""
    if isinstance(texts, str):
        return [texts] if texts else []
    return [] if texts is None else texts


Listed = Annotated[list[Label], Field(max_length=MOST_FACTS), BeforeValidator(_as_list)]


_CHOICE = r"^(\[NONE\]|\[ENT [1-9]\d{0,3}\]([ ,]*\[ENT [1-9]\d{0,3}\]){0,9})$"


class Choice(Reply):
    """The candidate that is meant (KnowledGPT, figure 8): `[ENT i]` or `[NONE]`.

    In a personal knowledge base several may be one target: `[ENT 1] [ENT 3]`.
    """

    thought: Lines = ""
    choice: Annotated[str, Field(pattern=_CHOICE)]


class Program(Reply):
    """A search program (KnowledGPT, its eleven requirements); no knowledge needs no program."""

    need_knowledge: YesOrNo
    thought: Lines = ""
    code: Lines
    introspection: Lines = ""
    ok: YesOrNo = "yes"

    _no_code = model_validator(mode="before")(_without("need_knowledge", "no", "code"))


class AnswerReply(Reply):
    """An answer from given knowledge; empty or omitted if the knowledge does not contain it."""

    thought: Lines = ""
    answerable: YesOrNo
    answer: Lines

    _no_answer = model_validator(mode="before")(_without("answerable", "no", "answer"))


_SOURCE = re.compile(r"(?:source|来源)?[\s#\[【]*\d{1,4}[\]】]?", re.IGNORECASE)


def _as_quote(quote: object) -> object:
    """Return the row of a quotation; some models write an object, with keys of their own."""
    if not isinstance(quote, dict):
        return quote
    if {"source", "words"} <= quote.keys():
        return [quote["source"], quote["words"]]
    row = list(quote.values())
    is_turned = _SOURCE.fullmatch(str(row[-1])) if len(row) == 2 else None
    return row[::-1] if is_turned and not _SOURCE.fullmatch(str(row[0])) else row


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
        list[Annotated[Quote, BeforeValidator(_as_quote)]],
        Field(max_length=MOST_QUOTES),
    ] = []
    found: Annotated[Literal["yes", "partly", "no"], BeforeValidator(_as_word)]
    answer: Lines = ""
    values: Listed = []
    search: Listed = []
    compute: YesOrNo = "no"

    @model_validator(mode="after")
    def _says_its_values(self) -> "CitedAnswer":
        """Fill in an answer that was left out beside its values, citing what is quoted."""
        if self.found != "no" and self.values and not self.answer:
            cited = dict.fromkeys(f"[{quote.source}]" for quote in self.quotes)
            self.answer = f"{'; '.join(self.values)} {''.join(cited)}".strip()
        return self


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

    alone = "more"

    more: YesOrNo


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
