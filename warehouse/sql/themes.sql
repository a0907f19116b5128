-- The largest themes, with their members, the most central first. What a theme tells comes from
-- open documents, unless all of its documents are sensitive.
create table theme_members as
select theme, n.*, weight,
       row_number() over (partition by theme, kind order by weight desc, id) as place
from theme_parts join theme_nodes n using (node);

create table theme_groups as
select theme, any_value(language) as language,
       bool_or(is_open) filter (kind = 'document') as is_open,
       list(id order by place) filter (kind = 'document') as documents,
       coalesce(list(id order by place) filter (kind = 'entity' and place <= 50), []) as entities
from theme_members
group by all
having count(*) filter (kind = 'document') > 0
order by len(documents) desc, documents[1]
limit (select ceil(1.6 * sqrt(count(*)))::bigint from documents);

create table theme_details as
select m.theme, m.kind, m.id, m.weight, m.place, coalesce(d.title, e.name, m.id) as name,
       e.kind as entity_kind,
       case when e.sensitivity = 'normal' or not g.is_open then e.description end as description
from theme_members m
join theme_groups g using (theme)
left join documents d on m.kind = 'document' and d.document_id = m.id
left join entity_facts e on m.kind = 'entity' and e.entity_id = m.id
where m.is_open or not g.is_open
qualify row_number() over (partition by m.theme, m.kind order by m.place) <= 8
order by m.theme, m.kind, m.place;

-- The running text of the most central of these documents.
create table theme_texts as
with chosen as (
    select t.theme, t.place, p.document_id, p.passage_id, p.language, p.span_start, p.text
    from theme_details t
    join theme_groups g using (theme)
    join passages p on p.document_id = t.id and (p.sensitivity = 'normal' or not g.is_open)
    where t.kind = 'document'
    qualify dense_rank() over (partition by t.theme order by t.place) <= 3
),
blocks as (
    select passage_id, unnest(arg_min(blocks, (commit, content_id, span_start))) as block from j_pieces
    where splitter = (select splitter from build_settings)
      and passage_id in (select passage_id from chosen)
    group by passage_id
)
select theme, document_id, language, span_start + block.start as start,
       substring(text, block.start + 1, block.end - block.start) as text
from chosen join blocks using (passage_id)
where block.kind = 'prose'
qualify row_number() over (partition by theme, document_id order by start) <= 20
order by theme, place, start;
