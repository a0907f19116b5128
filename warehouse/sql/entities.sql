-- Entities with what is known of them, the passages that name them, and the relations in use.
create table entity_passage_facts as
with named as (
    select document_id, passage_id, name, in_words from name_places
    union all
    -- A name may stand only where an alias of it is stated: "Water Development Fund (WDF)".
    select s.document_id, s.passage_id, s.name, true
    from alias_statements s anti join name_places using (document_id, name)
)
select a.entity_id, n.document_id, n.passage_id, count(*) as times,
       count(*) filter (n.in_words) as times_in_words
from named n join assignment a on a.document_id = n.document_id and a.name = n.name
group by all;

-- The title of an article has facts in each passage, but is mentioned only where it stands.
create table entity_facts as
select e.entity_id, e.name, e.kind, e.language, 'corpus' as graph,
       greatest(coalesce(m.mentions, 0), e.documents) as mentions, e.documents,
       d.best.text as description, coalesce(d.best.sensitivity, 'normal') as sensitivity
from resolved_entities e
left join (
    select entity_id, sum(mentions)::bigint as mentions
    from (
        select entity_id, greatest(sum(times_in_words), 1) as mentions
        from entity_passage_facts group by entity_id, document_id
    ) group by all
) m using (entity_id)
left join (
    -- In the language of most documents; a document about the entity describes it best, and first
    -- of all; elsewhere the surest one.
    select f.entity_id, arg_max({text: f.text, sensitivity: f.sensitivity}, (
        (c.language = 'zh') = (select 2 * count_if(language = 'zh') > count(*) from documents),
        lower(c.title) = lower(f.entity),
        case when lower(c.title) = lower(f.entity) then -f.span_start else 0 end,
        f.confidence, length(f.text), f.description_id)) as best
    from description_facts f join documents c using (document_id)
    group by all
) d using (entity_id);

create table relation_wordings as
select relation, is_turned, stated, count(*) as times from resolved_triples group by all;

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
select t.relation, t.graph, count(*) as triples, any_value(n.inverse) as inverse,
       coalesce(any_value(w.wordings), []) as wordings,
       coalesce(any_value(w.inverse_wordings), []) as inverse_wordings,
       mode(h.kind order by h.kind) as head_kind,
       mode(coalesce(o.kind, t.value_type) order by coalesce(o.kind, t.value_type)) as tail_kind,
       coalesce(bool_or(u.one_each), false) or t.relation in (select relation from single_valued)
           as single_valued,
       arg_max(t.head || ' | ' || t.relation || ' | ' || t.tail, (t.support, t.confidence, t.triple_id))
           as example
from triple_facts t
join resolved_entities h on h.entity_id = t.head_id
left join resolved_entities o on o.entity_id = t.tail_id
left join used u using (relation)
left join (select relation, any_value(inverse) as inverse from relation_names group by all) n using (relation)
left join (
    select relation,
           list(stated order by times desc, stated) filter (not is_turned) as wordings,
           list(stated order by times desc, stated) filter (is_turned) as inverse_wordings
    from relation_wordings group by all
) w using (relation)
group by t.relation, t.graph;

-- Resolution tells where every id no longer in use leads; the parent knows since when.
create table redirect_facts as
select n.old_entity_id, n.entity_id, coalesce(p.since, s.edition) as since
from new_redirects n
cross join build_settings s
left join parent_entity_redirects p using (old_entity_id, entity_id);
