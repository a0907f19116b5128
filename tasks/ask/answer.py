"""The answer to a question, made of what routes found, and the values that contradict it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schemas.answers import Answer, Gating, OfNamesake
from schemas.documents import REMEMBERED, cited_as
from schemas.knowledge import CORPUS
from schemas.operations import ExpertDecision
from tasks.ask.route import QuestionState, Resources, RouteResult
from warehouse.editions import Edition

if TYPE_CHECKING:
    from tasks.experts.integrate.decisions import Decision

_OTHERS = f"""
select distinct other.tail, other.uri, {REMEMBERED}
from mentions m
join conflicts given on given.triple_id = m.fact_id
join conflicts other using (head_id, relation)
left join documents d on d.document_id = other.document_id
where m.fact_kind = 'triple' and m.document_id = $document
  and m.span_start < $end and m.span_end > $start
  and contains(lower($answer), lower(given.tail))
  and not contains(lower($answer), lower(other.tail))
order by all
"""

_OF_NAMESAKES = f"""
select distinct namesake.name, other.tail, d.uri, {REMEMBERED}
from mentions m
join triples given on given.triple_id = m.fact_id
join entities own on own.entity_id = given.head_id
join entities namesake on namesake.name = own.name and namesake.graph = own.graph
join asserted_triples other on other.head_id = namesake.entity_id
    and other.relation = given.relation
join documents d on d.document_id = other.document_id
where m.fact_kind = 'triple' and m.document_id = $document
  and m.span_start < $end and m.span_end > $start
  and namesake.entity_id <> own.entity_id
  and contains(lower($answer), lower(given.tail))
  and not contains(lower($answer), lower(other.tail))
order by all
"""

# A value is a namesake's if it stands in passages about that one, and in none about the other.
_NAMESAKES = """
with own as (
    select distinct e.entity_id, e.name, e.graph
    from passages p
    join entity_passages a using (document_id, passage_id)
    join entities e using (entity_id)
    where p.document_id = $document and p.span_start < $end and p.span_end > $start
),
bearers as (
    select n.entity_id, n.name, n.entity_id in (select entity_id from own) as is_own
    from entities n semi join own using (name, graph)
),
about as (
    select o.value, b.entity_id, b.name, b.is_own, min(p.document_id) as document_id
    from bearers b
    join entity_passages using (entity_id)
    join passages p using (document_id, passage_id)
    join (select unnest($others) as value) o on contains(p.text, o.value)
    group by all
)
select a.value, a.name, a.entity_id, d.uri
from about a join documents d using (document_id)
where not a.is_own
  and not exists (from about o where o.is_own and o.name = a.name and o.value = a.value)
order by all
"""


def answer_of(
    question: str,
    state: QuestionState,
    results: Sequence[RouteResult],
    resources: Resources,
    *,
    gating: Gating | None,
    seconds: float,
) -> Answer:
    """Return the answer record of a question, from the results of the routes that were tried."""
    last, mode = results[-1], resources.settings.experts.mode
    written = last.text or None
    tried = [last.program] if last.answerable else [one.program for one in results if one.program]
    answer = Answer(
        question_id=state.question_id,
        question=question,
        answer=(written or last.answers[0]) if last.answers else None,
        answers=list(last.answers),
        others=list(last.others) if last.answers else [],
        earlier=resources.described.completed(last.earlier),
        answerable=last.answerable,
        found=last.found,
        remark=None if last.answers else written,
        unsupported=list(last.unsupported),
        route=last.route if last.answerable else "none",
        probability=last.probability,
        thrust=gating.thrust if gating else None,
        program=next(iter(tried), None),
        evidence=resources.described.completed(last.evidence),
        unknown=[] if last.answerable else [name for one in results for name in one.unknown],
        usage=state.spent,
        way=last.way,
        edition=resources.edition.id,
        seconds=round(seconds, 3),
        gating=gating,
        decisions=[
            _decision_row(state.question_id, mode, *pair) for pair in enumerate(state.decisions)
        ],
    )
    if not answer.others:
        return answer
    found = _beside_answer(resources.edition, answer, _NAMESAKES, others=answer.others)
    fields = OfNamesake.model_fields
    namesakes = [OfNamesake(**dict(zip(fields, row, strict=True))) for row in found]
    return answer.model_copy(update={"namesakes": namesakes})


def is_by_model(answer: Answer) -> bool:
    """Return whether a model answered, from sources or, where the gate chose it, by itself."""
    return answer.found is not None or (answer.gating is not None and not answer.gating.retrieve)


def _decision_row(question_id: str, mode: str, step: int, decision: "Decision") -> ExpertDecision:
    text = decision.text
    written = {"text": text.text, "pruned": text.pruned, **text.measures} if text else {}
    return ExpertDecision(
        question_id=question_id,
        step=step,
        mode=mode,
        kind=decision.kind,
        decision=decision.decision,
        reason=decision.reason,
        expert=decision.expert,
        score=decision.score,
        decided_at=decision.decided_at,
        **written,
    )


def other_values(edition: Edition, answer: Answer) -> list[tuple[str, str]]:
    """Return the values, with their sources, that contradict the fact behind an answer."""
    found = _beside_answer(edition, answer, _OTHERS, answer=answer.answer)
    return [(value, cited_as(*place)) for value, *place in found]


def values_of_namesakes(edition: Edition, answer: Answer) -> list[tuple[str, str, str]]:
    """Return names, values and sources of the same fact about others of the name."""
    found = _beside_answer(edition, answer, _OF_NAMESAKES, answer=answer.answer)
    return [(name, value, cited_as(*place)) for name, value, *place in found]


def _beside_answer(edition: Edition, answer: Answer, query: str, /, **values: Any) -> list[Any]:
    """Return what a query finds of the place where an answer stands, if that is in the corpus."""
    place = answer.evidence[0] if answer.answer and answer.evidence else None
    if place is None or place.graph != CORPUS or place.document_id is None:
        return []
    values |= {
        "document": place.document_id,
        "start": place.span_start,
        "end": place.span_end,
    }
    with edition.connect() as con:
        return con.execute(query, values).fetchall()
