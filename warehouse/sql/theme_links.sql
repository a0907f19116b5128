-- The corpus as a weighted graph for each language: documents with the words and entities that tell
-- them apart, and entities that triples relate. Weights are whole numbers: their sums are exact.
create table theme_uses as
with used as (
    select document_id, 'entity' as kind, entity_id as id, sum(times)::bigint as times
    from entity_passage_facts group by all
    union all
    -- What has a capital is part of a name, or begins a sentence.
    select document_id, 'word', word, times from plain_words anti join function_words using (word)
    where regexp_full_match(word, '\p{Ll}[\p{L}\p{M}]{3,}') and not regexp_matches(word, '\p{Han}')
    union all
    select document_id, 'word', word, times from chinese_words
),
first_documents as (
    select document_id, language, sensitivity, count(*) over (partition by language) as all_documents
    from documents where near_duplicate_of is null
),
spread as (
    select *, count(*) over (partition by language, kind, id) as having_it
    from used join first_documents using (document_id)
),
weighed as (  -- what one document alone has goes with it, and links it with nothing
    select *, round(if(having_it = 1, 1, 100 * ln((1 + all_documents) / having_it))
                    * ln(1 + times))::bigint as weight
    from spread
)
select language, document_id, kind, id, sensitivity, weight from weighed
where kind = 'entity' or having_it > 1
qualify kind = 'entity'
    or row_number() over (partition by document_id, kind order by weight desc, id) <= 20;

create table theme_nodes as
select *, row_number() over (order by language, kind, id) - 1 as node
from (
    select language, 'document' as kind, document_id as id, sensitivity = 'normal' as is_open
    from documents where near_duplicate_of is null
    union all
    select language, kind, id, bool_or(sensitivity = 'normal') from theme_uses group by all
);

create table theme_links as
select one, other, sum(weight)::bigint as weight
from (
    select d.node as one, n.node as other, weight
    from theme_uses u
    join theme_nodes d on d.kind = 'document' and d.id = document_id
    join theme_nodes n on n.language = u.language and n.kind = u.kind and n.id = u.id
    union all
    select least(h.node, t.node), greatest(h.node, t.node), 100
    from triple_facts
    join theme_nodes h on h.kind = 'entity' and h.id = head_id
    join theme_nodes t on t.kind = 'entity' and t.id = tail_id and t.language = h.language
    where head_id <> tail_id
)
where weight > 0
group by all
order by one, other;
