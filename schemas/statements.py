"""Statements: what clauses say, in their own words, and how they are meant."""

from pydantic import Field

from schemas.row import Row

SUBJECT = Field(description="The subject as written, empty where the sentence has none.")
SUBJECT_NAME = Field(
    description="The name that the subject is or stands for (a pronoun's too), else empty."
)
PREDICATE = Field(description="The verb with its auxiliaries, as written.")
OBJECT = Field(description="The main complement as written, empty if there is none.")
ARGUMENTS = Field(description="Further complements with their prepositions, in order.")
TIME = Field(description="The phrase that tells when, else empty; it may be the object.")
PLACE = Field(description="The phrase that tells where, else empty; it may be the object.")
POLARITY = Field(description="positive or negative (not, no, failed to).")
MODALITY = Field(
    description="asserted, possible (may, allowed to), required (must), intended (plan to, in "
    "order to), future (will), supposed (would, expected to, if …, believed that, in an example), "
    "conditional (holds if something else does), reported (said that, according to) or asked."
)
ATTRIBUTION = Field(description="Who says so if not the text itself, else empty.")

RIGHTNESS = Field(description="Calibrated probability that it is right, 0 to 1.")
USEFULNESS = Field(
    None,
    description="Calibrated probability that it is right and serves a reader who sees it alone, 0 "
    "to 1, in editions at most the confidence; null where a language model stated it.",
)


class Statement(Row, table="statements", key=("statement_id",)):
    """A clause with one subject, in the words of its sentence; one row per place in a document.

    Those are here that serve a reader who sees them alone; all are in `clauses`.
    In a passage that a language model read, every triple is one.
    """

    statement_id: str = Field(description="Made from its words, its document and its place there.")
    subject: str = SUBJECT
    subject_name: str = SUBJECT_NAME
    subject_id: str | None = Field(description="The entity of that name, null if there is none.")
    predicate: str = PREDICATE
    object: str = OBJECT
    arguments: list[str] = ARGUMENTS
    argument_ids: list[str] = Field(
        description="The entities that object, arguments, time and place name."
    )
    time: str = TIME
    place: str = PLACE
    polarity: str = POLARITY
    modality: str = MODALITY
    attribution: str = ATTRIBUTION
    confidence: float = RIGHTNESS
    engine_confidence: float = Field(
        description="The same before the verdicts of this home were counted."
    )
    usefulness: float | None = USEFULNESS
    document_id: str = Field(description="The document that states it.")
    passage_id: str = Field(description="The passage within it.")
    span_start: int = Field(description="First character in the document's text.")
    span_end: int = Field(description="One past the last character.")
    sensitivity: str = Field(description="normal, or sensitive if its passage is.")


class Clause(Statement, table="clauses"):
    """All statements that were read, whether they serve a reader who sees them alone or not.

    Questions are answered from these, and a clause inside another tells how that is meant.
    """


class AssertedStatement(Statement, table="asserted_statements"):
    """The statements that are plainly asserted and not denied."""
