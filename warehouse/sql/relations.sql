-- The stated triples with their entities, and what relations they state: the input of naming.
create table ended_triples as
select s.* exclude (value_type), s.engine not like 'rules%' as by_model, h.entity_id as stated_head_id, t.entity_id as stated_tail_id,
       -- A tail that names no entity after all is what the text says, no more.
       if(t.entity_id is null, coalesce(nullif(s.value_type, 'entity'), 'text'), 'entity') as value_type,
       case when s.value_type in ('date', 'year') then 'time'
            when s.value_type in ('number', 'quantity') then 'measure' else 'thing' end as tail_end,
       coalesce(hk.kind, 'unknown') as head_sort,
       coalesce(tk.kind, case when t.entity_id is null
           then coalesce(nullif(s.value_type, 'entity'), 'text') else 'unknown' end) as tail_sort
from triple_statements s
join assignment h on h.document_id = s.document_id and h.name = s.head
join resolved_entities hk on hk.entity_id = h.entity_id
left join assignment t
    on (s.value_type = 'entity' or s.value_type = 'text' and s.tail_kind <> '')
    and t.document_id = s.document_id and t.name = s.tail
left join resolved_entities tk on tk.entity_id = t.entity_id
-- An entity related to itself is two of its names in one clause, not a fact.
where h.entity_id is distinct from t.entity_id;

create table stated_relations as
select relation as wording, tail_end, head_sort, tail_sort, by_model, count(*) as triples
from ended_triples group by all
order by all;

-- The labels that stand beside each other, in a table above all.
create table labels_beside as
select distinct list([wording, tail_end] order by wording, tail_end) as labels
from (
    select distinct passage_id, relation as wording, tail_end from ended_triples
    where is_laid_out(engine, engine_confidence)
)
group by passage_id
having count(*) > 1;

-- What a language model states, and resolution makes the relation of a thing to itself: recorded by
-- the first build after its extraction.
create table self_loops as
select s.document_id, s.passage_id, s.ordinal, s.head, s.relation, s.tail, h.name
from triple_statements s
join assignment a on a.document_id = s.document_id and a.name = s.head
join resolved_entities h using (entity_id)
left join assignment t
    on s.value_type = 'entity' and t.document_id = s.document_id and t.name = s.tail
where s.engine not like 'rules%' and s.commit > (select parent_position from build_settings)
  and (t.entity_id = a.entity_id or t.entity_id is null and lower(h.name) = lower(s.tail))
order by all;
