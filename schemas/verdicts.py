"""What people think of facts they were shown: `almanac audit` asks, and later editions use it."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from schemas.row import Row

AuditedKind = Literal["triple", "description", "aspect", "alias", "statement"]
Judgement = Literal["useful", "useless", "wrong"]
CONFIDENCE = Field(
    description="Calibrated probability that it is useful: right and worth having, 0 to 1."
)


class Verdict(Row, table="verdicts", key=("fact_kind", "fact_id", "judged_at")):
    """A person's verdict on a fact; a fact's last one counts."""

    fact_kind: AuditedKind = Field(
        description="triple, description, aspect (a note), alias or statement."
    )
    fact_id: str = Field(description="Its id (alias: made from both names as they were read).")
    verdict: Judgement = Field(description="useful, useless (true, but nobody asks) or wrong.")
    fact: str = Field(description="The fact in words.")
    relation: str = Field(description="A triple's relation, else empty.")
    source: str = Field(description="The source of the document that it was shown from.")
    document_id: str = Field(description="That document.")
    span_start: int = Field(description="First character shown as its place in the document.")
    span_end: int = Field(description="One past the last character.")
    sensitivity: str = Field(description="normal, or sensitive if the fact is.")
    engine: str = Field(description="The engine that read it.")
    engine_confidence: float = Field(
        description="The confidence that the engine gave it, before any verdict of this home."
    )
    override_id: str | None = Field(
        None, description="The correction that rejects it, if it is wrong; none if withdrawn."
    )
    audit_id: str = Field(description="The sample that it was drawn in.")
    scope: str = Field(description="What that sample was restricted to, empty for everything.")
    stratum: str = Field(description="The part of the sample that it was drawn for.")
    population: int = Field(description="How many facts that part was drawn from.")
    edition: str = Field(description="The edition that was audited.")
    judged_at: datetime = Field(description="When (UTC).")
