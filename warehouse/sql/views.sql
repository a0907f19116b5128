-- Triples of one head and relation that cannot all be true at once.
create view conflicts as
with candidates as (
    -- What is compared: places with places, times with times, measures with measures.
    select t.*, coalesce(t.tail_id, t.date, t.number || ' ' || coalesce(t.unit, '')) as value,
           case when t.tail_id is not null then 'entity'
                when t.date is not null then 'time'
                when t.number is not null then 'measure' end as value_kind
    from asserted_triples t join relations r using (relation, graph)
    where r.single_valued
),
places as (
    select distinct relation from relations
    where relation similar to '(.* )?(in|of|at|on)|capital|位于|首都|省会|组成部分'
),
disagreeing as (
    select distinct a.triple_id
    from candidates a join candidates b
        on a.head_id = b.head_id and a.relation = b.relation and a.graph = b.graph
       and a.value_kind = b.value_kind
       and a.value <> b.value
    left join documents d on d.document_id = a.document_id
    where not (coalesce(a.valid_to < b.valid_from, false) or coalesce(b.valid_to < a.valid_from, false))
      -- What one document states twice may be of two things, as two rows of a table are.
      and not coalesce(a.document_id = b.document_id and a.support = 1 and b.support = 1, false)
      -- One sentence that names both means both: "in Hyderabad, India".
      and not (a.document_id = b.document_id
          and a.span_start < b.span_end and b.span_start < a.span_end)
      -- A name in Chinese may translate one in letters, unless a translation of either is known.
      and not (a.tail_id is not null
          and regexp_matches(a.tail, '\p{Han}') <> regexp_matches(b.tail, '\p{Han}')
          and not exists (
              from aliases n where n.entity_id = a.tail_id
              and regexp_matches(n.alias, '\p{Han}') <> regexp_matches(a.tail, '\p{Han}'))
          and not exists (
              from aliases n where n.entity_id = b.tail_id
              and regexp_matches(n.alias, '\p{Han}') <> regexp_matches(b.tail, '\p{Han}')))
      -- A place in another: the corpus says so, or the text does.
      and not (a.tail_id is not null and (
          coalesce(contains(d.text, concat(a.tail, ', ', b.tail)), false)
          or coalesce(contains(d.text, concat(b.tail, ', ', a.tail)), false)
          or coalesce(contains(d.text, concat(a.tail, ' in ', b.tail)), false)
          or coalesce(contains(d.text, concat(b.tail, ' in ', a.tail)), false)
          -- Twice, as two joins of equal ids: with `or` between them, all pairs are compared.
          or exists (
              from asserted_triples p semi join places using (relation)
              where p.head_id = a.tail_id and p.tail_id = b.tail_id)
          or exists (
              from asserted_triples p semi join places using (relation)
              where p.head_id = b.tail_id and p.tail_id = a.tail_id)))
      -- 1934 and 1934-07-04 agree; so do two roundings of one number.
      and not coalesce(starts_with(a.date, b.date) or starts_with(b.date, a.date), false)
      and not (a.value_kind = 'measure' and a.unit is distinct from b.unit)
      and not coalesce(a.unit is not distinct from b.unit
          and abs(a.number - b.number) <= 0.005 * greatest(abs(a.number), abs(b.number)), false)
)
select c.head_id, c.head, c.relation, c.triple_id, c.tail, c.support, c.confidence, c.document_id,
       d.uri, count(*) over (partition by c.head_id, c.relation) as "values"
from candidates c
semi join disagreeing using (triple_id)
left join documents d using (document_id);
