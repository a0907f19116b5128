-- Imported graphs, each as its last import has it, in the form of the corpus' tables.
create table current_imports as
select graph, import_id, language
from j_graph_imports
qualify row_number() over (partition by graph order by commit desc) = 1 and action = 'import';

-- Names and values are kept byte for byte; equal lines of a file are one triple.
create table imported_rows as
select i.graph, t.head, t.relation, t.tail, t.is_value, max(t.weight) as weight
from j_imported_triples t join current_imports i using (import_id)
group by all;

create table imported_nodes as
with used as (
    select graph, head as key, count(*) as triples from imported_rows group by all
    union all
    select graph, tail, count(*) from imported_rows where not is_value group by all
    union all
    select i.graph, e.entity, 0 from j_imported_entities e join current_imports i using (import_id)
),
counted as (select graph, key, sum(triples)::bigint as triples from used group by all),
told as (
    select i.graph, e.entity as key, any_value(e.name) as name, any_value(e.kind) as kind,
           any_value(e.description) as description
    from j_imported_entities e join current_imports i using (import_id) group by all
)
select c.graph, c.key, md5(concat_ws(chr(31), c.graph, c.key)) as entity_id,
       coalesce(t.name, c.key) as name, coalesce(t.kind, 'unknown') as kind, i.language,
       c.triples, t.description
from counted c
join current_imports i using (graph)
left join told t using (graph, key);

create table imported_aliases_by_node as
with named as (
    select graph, name as alias, entity_id, triples from imported_nodes
    union
    select n.graph, a.alias, n.entity_id, n.triples
    from j_imported_aliases a
    join current_imports i using (import_id)
    join imported_nodes n on n.graph = i.graph and n.key = a.entity
)
-- The more is known of an entity, the likelier it is meant.
select graph, alias, entity_id,
       (triples + 1) / sum(triples + 1) over (partition by graph, alias) as weight
from named;

create view imported_triple_facts as
select md5(concat_ws(chr(31), r.graph, h.entity_id, r.relation, coalesce(t.entity_id, r.tail))) as triple_id,
       r.graph, h.entity_id as head_id, h.name as head, r.relation, t.entity_id as tail_id,
       coalesce(t.name, r.tail) as tail,
       case when regexp_full_match(r.tail, '[12]\d{3}-\d{2}(-\d{2})?') then 'date'
            when regexp_full_match(r.tail, '[12]\d{3}') and regexp_matches(r.relation, '(?i)year|年') then 'year'
            when regexp_full_match(r.tail, '[+-]?\d{1,15}(\.\d{1,15})?') then 'number'
            when r.is_value then 'text' else 'entity' end as value_type,
       case when regexp_full_match(r.tail, '[+-]?\d{1,15}(\.\d{1,15})?') then try_cast(r.tail as double) end as number,
       null::varchar as unit,
       case when value_type in ('date', 'year') then r.tail end as date,
       null::varchar as valid_from, null::varchar as valid_to, 1::bigint as support, 1::bigint as mentions,
       coalesce(r.weight, 1.0) as confidence, null::varchar as document_id, null::varchar as passage_id,
       null::bigint as span_start, null::bigint as span_end, null::varchar as sensitivity
from imported_rows r
join imported_nodes h on h.graph = r.graph and h.key = r.head
left join imported_nodes t on not r.is_value and t.graph = r.graph and t.key = r.tail;

-- Everything an edition holds, of all graphs.
create view all_triples as
select * from triple_facts union all by name select * from imported_triple_facts;

create view all_entities as
select * from entity_facts
union all by name
select entity_id, name, kind, language, graph, triples as mentions, 0::bigint as documents, description
from imported_nodes;

create view all_aliases as
select * from entity_aliases
union all by name
select alias, entity_id, weight from imported_aliases_by_node;

create view all_relations as
select * from relation_facts
union all by name
select relation, graph, count(*) as triples, relation in (select relation from single_valued) as single_valued,
       min(head || ' | ' || relation || ' | ' || tail) as example
from imported_rows group by relation, graph;

create view all_descriptions as
select * from description_facts
union all by name
select md5(concat_ws(chr(31), entity_id, description)) as description_id, entity_id, name as entity,
       description as text, 1.0 as confidence, graph
from imported_nodes where description is not null;
