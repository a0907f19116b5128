-- What does not fit the ontology; in its strict mode it leaves the tables of facts.
create table misfit_facts as
with of_triples as (
    select t.triple_id, t.head_id, t.head, t.relation, t.tail_id, t.tail, t.document_id,
           t.passage_id, t.span_start, t.span_end, t.sensitivity, c.reason
    from triple_facts t
    join kinds_at_ends k using (triple_id)
    left join combination_misfits c
        on c.relation = t.relation and c.head_kind = k.head_kind and c.tail_kind = k.tail_kind
       and c.unit is not distinct from t.unit
)
select * replace (coalesce(reason, 'gazetteer') as reason), s.strict as left_out
from of_triples cross join build_settings s
where reason is not null
   or s.gazetteer and (head_id not in (select entity_id from in_gazetteer)
                       or tail_id not in (select entity_id from in_gazetteer));

delete from triple_facts
where triple_id in (select triple_id from misfit_facts where left_out);
delete from mention_facts
where fact_kind = 'triple' and fact_id in (select triple_id from misfit_facts where left_out);
