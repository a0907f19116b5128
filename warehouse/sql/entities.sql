-- Entities with what is known of them, the passages that name them, and the relations in use.
create table entity_facts as
select e.entity_id, e.name, e.kind, e.language, 'corpus' as graph, e.mentions, e.documents,
       d.description
from resolved_entities e
left join (
    -- A document about the entity describes it best; then the surest, the fuller, the first.
    select f.entity_id, arg_max(f.text, (lower(c.title) = lower(f.entity), f.confidence,
        length(f.text), f.description_id)) as description
    from description_facts f join documents c using (document_id)
    group by all
) d using (entity_id);

create table entity_passage_facts as
select a.entity_id, n.document_id, n.passage_id, count(*) as times
from name_places n join assignment a on a.document_id = n.document_id and a.name = n.name
group by all;

create table relation_facts as
with by_head as (
    select relation, head_id, count(*) as tails,
           bool_and(value_type in ('number', 'quantity', 'date', 'year')) as measured
    from triple_facts where valid_from is null and valid_to is null
    group by all
),
used as (
    -- Measured values of which nearly every head has one, over enough heads to tell.
    select relation, count(*) >= 5 and avg((tails = 1)::int) >= 0.9 and avg(measured::int) >= 0.9 as one_each
    from by_head group by all
)
select t.relation, t.graph, count(*) as triples,
       coalesce(bool_or(u.one_each), false) or t.relation in (select relation from single_valued)
           as single_valued,
       arg_max(t.head || ' | ' || t.relation || ' | ' || t.tail, (t.support, t.confidence, t.triple_id))
           as example
from triple_facts t left join used u using (relation)
group by t.relation, t.graph;

create table redirect_facts as
with chained as (
    select p.old_entity_id, coalesce(n.entity_id, p.entity_id) as entity_id, p.since
    from parent_entity_redirects p
    left join new_redirects n on n.old_entity_id = p.entity_id
    union all
    select old_entity_id, entity_id, s.edition
    from new_redirects, build_settings s
    where old_entity_id not in (select old_entity_id from parent_entity_redirects)
)
select * from chained
where old_entity_id not in (select entity_id from resolved_entities);
