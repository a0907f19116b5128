"""Decisions on the way through the experts, as rows of a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schemas.operations import ExpertDecision

if TYPE_CHECKING:
    from tasks.experts.integrate.decisions import Decision


def decision_rows(
    question_id: str, mode: str, decisions: "Sequence[Decision]"
) -> list[ExpertDecision]:
    """Return a question's decisions as rows."""
    return [_row(question_id, mode, step, decision) for step, decision in enumerate(decisions)]


def _row(question_id: str, mode: str, step: int, decision: "Decision") -> ExpertDecision:
    text = decision.text
    return ExpertDecision(
        question_id=question_id,
        step=step,
        mode=mode,
        kind=decision.kind,
        decision=decision.decision,
        reason=decision.reason,
        expert=decision.expert,
        text=text.text if text else None,
        pruned=text.pruned if text else None,
        relevance=text.relevance if text else None,
        summary=text.summary if text else None,
        support=text.support if text else None,
        refute=text.refute if text else None,
        unknown=text.unknown if text else None,
        score=decision.score,
        decided_at=decision.decided_at,
    )
