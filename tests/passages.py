"""Passages as the rules take them, and what the rules read out of them."""

from typing import Any

from tasks.extract.extracted import Extracted
from tasks.extract.rules import RulesEngine

ENGINE = RulesEngine()
Fact = tuple[str, str, str]


def passage(
    text: str, subject: str = "", headings: str = "", language: str = "en"
) -> dict[str, Any]:
    """Return a passage of a document about a subject."""
    row = {"passage_id": "p", "text": text, "title": subject, "subject": subject}
    return row | {"headings": headings, "language": language}


def read(
    text: str,
    subject: str = "",
    headings: str = "",
    language: str = "en",
    engine: RulesEngine = ENGINE,
) -> Extracted:
    """Return what the rules extract from a passage."""
    return next(engine.extract([passage(text, subject, headings, language)]))


def facts(found: Extracted) -> set[Fact]:
    """Return head, relation and tail of each triple."""
    return {(t["head"], t["relation"], t["tail"]) for t in found.triples}


def stated(found: Extracted) -> list[Fact]:
    """Return subject, predicate and object of each statement."""
    return [(s["subject"], s["predicate"], s["object"]) for s in found.statements]
