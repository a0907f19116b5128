"""The result of extraction from one passage: rows for the journal's mention tables."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tasks.text.excerpt import Excerpt
from tasks.text.values import Value

Mention = dict[str, Any]
# The share of judged triples from tables and labels that were useful (docs/log.md).
STATED = 0.85


@dataclass(slots=True)
class Extracted:
    """Everything that one engine extracted from one passage.

    The lists hold the columns of NameMention, TripleMention, DescriptionMention, AspectMention,
    AliasMention and StatementMention except passage_id, engine and prompt_sha, which the caller of
    the engine adds.
    `failed` is None when extraction succeeded, even with no facts; otherwise it says why the
    passage must be tried again. `empty_because` says why a successful extraction has no facts.
    `sentences` are the spans of the sentences that were read.
    """

    passage_id: str
    names: list[Mention] = field(default_factory=list)
    triples: list[Mention] = field(default_factory=list)
    descriptions: list[Mention] = field(default_factory=list)
    aspects: list[Mention] = field(default_factory=list)
    aliases: list[Mention] = field(default_factory=list)
    statements: list[Mention] = field(default_factory=list)
    sentences: list[dict[str, int]] | None = None
    failed: str | None = None
    empty_because: str | None = None

    @property
    def facts(self) -> tuple[list[Mention], ...]:
        """The lists of facts: all but the names."""
        return self.triples, self.descriptions, self.aspects, self.aliases, self.statements

    def place_in(self, excerpt: Excerpt) -> None:
        """Convert all spans from offsets in an excerpt to offsets in its source."""
        for mentions in (*self.facts, self.names):
            for mention in mentions:
                span = excerpt.in_source(mention["span_start"], mention["span_end"])
                mention["span_start"], mention["span_end"] = span

    def suppose(self, stretches: Iterable[tuple[int, int]]) -> None:
        """Withdraw what `stretches` of the source assert, as they are examples or conditions.

        Asserted statements become `supposed`; triples, descriptions and notes are dropped. Names
        and aliases stay.
        """
        for start, end in stretches:
            for facts in (self.triples, self.descriptions, self.aspects):
                facts[:] = [fact for fact in facts if not start <= fact["span_start"] < end]
            for statement in self.statements:
                if start <= statement["span_start"] < end and statement["modality"] == "asserted":
                    statement["modality"] = "supposed"


def value_columns(value: Value, *, named: bool = False) -> Mention:
    """Return a tail's value as columns of TripleMention; named entities have no number or date."""
    return {
        "value_type": "entity" if named else value.value_type,
        "number": None if named else value.number,
        "unit": None if named else value.unit,
        "date": None if named else value.date,
    }


def evidence_columns(span: tuple[int, int], confidence: float) -> Mention:
    """Return the span of a fact's evidence and the fact's confidence as columns."""
    return {"span_start": span[0], "span_end": span[1], "confidence": confidence}


def or_failed(passage_id: str, read: Callable[[], Extracted]) -> Extracted:
    """Return the result of `read`; an exception fails this passage alone, with its reason.

    A fault in the rules for one text must not stop the extraction from others; the failed passage
    is journalled with the reason, listed among the rejections and tried again.
    """
    try:
        return read()
    except Exception as fault:
        return Extracted(passage_id, failed=f"{type(fault).__name__}: {fault}"[:300])
