-- Every name by document, with what helps to tell whom it means: the input of resolution.
create table name_places as
select document_id, passage_id, name, kind, doc_start from name_statements
union all
select document_id, passage_id, head, head_kind, doc_start from triple_statements
union all
select document_id, passage_id, tail, tail_kind, doc_start from triple_statements
where value_type = 'entity'
union all
select document_id, passage_id, entity, kind, doc_start from description_statements
union all
select document_id, passage_id, entity, kind, doc_start from aspect_statements;

create table local_names as
with best as (
    select document_id, entity as name,
           arg_max(text, (confidence, -doc_start, text)) as description
    from description_statements group by all
)
select n.document_id, d.title, d.language, n.name, coalesce(nullif(n.kind, ''), 'unknown') as kind,
       count(*) as mentions, min(n.doc_start) as first_said, lower(n.name) = lower(d.title) as as_title, b.description,
       left(arg_min(p.passage_text, (n.doc_start, p.passage_start)), 300) as context
from name_places n
join documents d using (document_id)
join places p on p.document_id = n.document_id and p.passage_id = n.passage_id
left join best b on b.document_id = n.document_id and b.name = n.name
group by all
order by all;

create table local_aliases as
select document_id, name, alias, coalesce(nullif(kind, ''), 'unknown') as kind,
       max(confidence) as confidence
from alias_statements group by all order by all;
