-- Triples of one head and relation that cannot all be true at once.
create view conflicts as
with candidates as (
    -- What is compared: places with places, times with times, measures with measures.
    select t.*, coalesce(t.tail_id, t.date, t.number || ' ' || coalesce(t.unit, '')) as value,
           case when t.tail_id is not null then 'entity'
                when t.date is not null then 'time'
                when t.number is not null then 'measure' end as value_kind
    from triples t join relations r using (relation, graph)
    where r.single_valued
),
disagreeing as (
    select distinct a.triple_id
    from candidates a join candidates b
        on a.head_id = b.head_id and a.relation = b.relation and a.graph = b.graph
       and a.value_kind = b.value_kind
       and a.value <> b.value
    where not (coalesce(a.valid_to < b.valid_from, false) or coalesce(b.valid_to < a.valid_from, false))
      -- 1934 and 1934-07-04 agree; so do two roundings of one number.
      and not coalesce(starts_with(a.date, b.date) or starts_with(b.date, a.date), false)
      and not coalesce(a.unit is not distinct from b.unit
          and abs(a.number - b.number) <= 0.005 * greatest(abs(a.number), abs(b.number)), false)
)
select c.head_id, c.head, c.relation, c.triple_id, c.tail, c.support, c.confidence, c.document_id,
       d.uri, count(*) over (partition by c.head_id, c.relation) as "values"
from candidates c
semi join disagreeing using (triple_id)
left join documents d using (document_id);
