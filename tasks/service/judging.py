"""Verdicts and corrections from readers, kept as `almanac audit`, `feedback` and `override` do."""

from typing import Any

from schemas.errors import NotFoundError, UsageError
from schemas.observations import Override
from schemas.verdicts import Judgement
from tasks.ask.keep_answers import note_feedback
from tasks.audit import find_facts, keep_verdicts
from tasks.ingest.formats.cleaning import clean_line
from tasks.publish.resolve.overrides import check_split
from tasks.service.messages import CorrectionRequest, FeedbackRequest, FeedbackResult
from tasks.service.shelf import OpenEdition, ServedHome
from warehouse.home import Home
from warehouse.lease import lease
from warehouse.overrides import concerns, make_override, overrides_in_force

# Readers judge what they come upon, which is no random sample: no precision is counted from it.
CHOSEN = {"audit_id": "service", "scope": "chosen by readers", "stratum": "", "population": 1}
_ANSWER = {"right": 1.0, "useful": 1.0, "useless": 0.0, "wrong": 0.0}
_FACT: dict[str, Judgement] = {"useful": "useful", "useless": "useless", "wrong": "wrong"}


def keep_feedback(
    served: ServedHome, opened: OpenEdition, request: FeedbackRequest
) -> FeedbackResult:
    """Keep a verdict; raise UsageError if it says nothing, NotFoundError if its subject is gone."""
    if (request.question_id is None) == (request.fact_id is None):
        raise UsageError("Give either question_id or fact_id.")
    if request.question_id is not None:
        served.askers.settle()
        note_feedback(served.home, request.question_id, _ANSWER[request.verdict], request.words)
        return FeedbackResult(kept=True)
    if request.verdict not in _FACT:
        raise UsageError("A fact is useful, useless or wrong.")
    facts = list(find_facts(opened.edition, [request.fact_id or ""]))
    if not facts:
        raise NotFoundError(f"There is no fact {request.fact_id!r} in the edition.")
    drawn = CHOSEN | {"edition": opened.edition.id}
    kept, rejected = keep_verdicts(served.home, [(facts[0] | drawn, _FACT[request.verdict])])
    return FeedbackResult(kept=bool(kept), rejected=bool(rejected))


def corrections_seen(home: Home, opened: OpenEdition) -> list[dict[str, Any]]:
    """Return the corrections in force; readers with an edition of their own see those about it."""
    rows = overrides_in_force(home)
    return [row for row in rows if concerns(opened.edition, row)] if _is_own(opened) else rows


def _is_own(opened: OpenEdition) -> bool:
    return "of" in opened.edition.manifest


def keep_correction(home: Home, opened: OpenEdition, request: CorrectionRequest) -> Override:
    """Record a correction, which every later edition applies.

    Raises UsageError if the edition lacks its subject, BusyError during a refresh.
    """
    if request.action == "withdraw":
        known = {row["override_id"] for row in corrections_seen(home, opened)}
        if request.subject not in known:
            raise UsageError(f"No correction in force has the id {request.subject!r}.")
    excludes = request.action == "exclude" and _is_own(opened)  # no run, with all its documents
    if excludes and not concerns(opened.edition, request.model_dump()):
        raise UsageError(f"No document has the id {request.subject!r}.")
    if request.action in ("merge", "split") and not request.object:
        raise UsageError(f"A {request.action} needs its `object`, too.")
    other, name, reason = (
        given and clean_line(given, len(given))
        for given in (request.object, request.name, request.reason)
    )
    if request.action == "split":
        check_split(opened.edition, request.subject, other or "")
    with lease(home.path, f"override {request.action}"):
        correction = (request.action, request.subject, other, reason, name)
        return make_override(home, opened.edition, *correction, inverse=request.inverse)
