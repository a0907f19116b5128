-- Every fact of an edition's corpus in words, with its place and what its engine thought of it.
create temp view audited_facts as
with surest as (
    select fact_kind, fact_id, arg_max(engine, confidence) as engine,
           max(engine_confidence) as engine_confidence
    from mentions group by all
),
facts as (
    select 'triple' as fact_kind, triple_id as fact_id,
           concat(head, ' | ', relation, ' | ', tail, ' (from ' || valid_from || ')',
               ' (to ' || valid_to || ')', case when polarity = 'negative' then ' (denied)' end,
               ' (' || nullif(modality, 'asserted') || ')') as fact,
           relation, document_id, span_start, span_end, t.sensitivity, engine, engine_confidence
    from triples t join surest on fact_kind = 'triple' and fact_id = triple_id
    union all
    select fact_kind, fact_id, entity || ': ' || text, '', document_id, span_start, span_end,
           d.sensitivity, engine, engine_confidence
    from descriptions d join surest on fact_kind = 'description' and fact_id = description_id
    union all
    select fact_kind, fact_id, concat_ws(' | ', entity, aspect, question, text), '', document_id,
           span_start, span_end, a.sensitivity, engine, engine_confidence
    from aspects a join surest on fact_kind = 'aspect' and fact_id = aspect_id
    union all
    select 'alias', left(sha256('alias' || chr(31) || lower(stated)), 32), arg_max(stated, place), '',
           arg_max(document_id, place), arg_max(span_start, place), arg_max(span_end, place),
           max(sensitivity), arg_max(engine, place), arg_max(engine_confidence, place)
    from (
        select m.*, d.sensitivity, (m.confidence, m.document_id, m.span_start) as place
        from mentions m join documents d using (document_id)
        where fact_kind = 'alias'
    )
    group by lower(stated)
    union all
    select 'statement', statement_id,
           concat(concat_ws(' | ', subject, predicate, nullif(object, ''),
               nullif(array_to_string(arguments, ', '), ''), nullif(time, ''), nullif(place, '')),
               case when polarity = 'negative' then ' (denied)' end,
               ' (' || nullif(modality, 'asserted') || ')',
               ' (as ' || nullif(attribution, '') || ' says)'),
           '', document_id, span_start, span_end, sensitivity, 'rules', engine_confidence
    from statements
)
select f.* replace (coalesce(f.sensitivity, 'normal') as sensitivity), d.source, d.title
from facts f join documents d using (document_id);
