-- What differs from the parent edition, and why.
-- A document under a new uri is moved; under the old one its row says nothing more.
-- Without being read again, a document changes by corrections or by another program or settings.
create table other_cause as
select case when overrides_changed then 'override' when code_changed then 'code' else 'document' end as cause
from build_settings;

create table recently_read as
select distinct source, uri from j_reads where commit > (select parent_position from build_settings);

create table changed_documents as
with renamed as (
    select * from moved_documents
    where document_id not in (select document_id from parent_documents)
      and earlier_document_id in (select document_id from parent_documents)
      and earlier_document_id not in (select document_id from documents)
)
select coalesce(a.document_id, b.document_id) as document_id, coalesce(a.uri, b.uri) as uri,
       if((coalesce(a.source, b.source), coalesce(a.uri, b.uri)) in (select (source, uri) from recently_read),
          'document', (select cause from other_cause)) as cause,
       case when b.document_id is null
            then if(a.document_id in (select document_id from renamed), 'moved', 'added')
            when a.document_id is not null then 'changed'
            when b.document_id not in (select earlier_document_id from renamed) then 'gone' end as kind
from documents a full join parent_documents b on a.document_id = b.document_id
where a.sha256 is distinct from b.sha256 or a.text is distinct from b.text
   or a.metadata is distinct from b.metadata;

-- A wording's meanings: those that it had and has not, or has and had not.
create table changed_relations as
with now as (
    select unnest(list_concat(wordings, inverse_wordings)) as wording, relation from relation_facts
),
before as (
    select unnest(list_concat(wordings, inverse_wordings)) as wording, relation
    from parent_relations
)
select 'added' as kind, n.wording, n.relation from (from now anti join before using (wording, relation)) n
where n.wording in (select wording from before)
union all
select 'gone', b.wording, b.relation from (from before anti join now using (wording, relation)) b
where b.wording in (select wording from now);

create macro facts_of(entities, triples, descriptions, aspects) as table
select 'entity' as fact_kind, entity_id as fact_id, name as text, null as document_id
from query_table(entities)
union all
select 'triple', triple_id, head || ' | ' || relation || ' | ' || tail, document_id from query_table(triples)
union all
select 'description', description_id, text, document_id from query_table(descriptions)
union all
select 'aspect', aspect_id, text, document_id from query_table(aspects);

create table change_facts as
with now as (from facts_of('entity_facts', 'triple_facts', 'description_facts', 'aspect_facts')),
before as (from facts_of('parent_entities', 'parent_triples', 'parent_descriptions', 'parent_aspects')),
added as (from now anti join before using (fact_kind, fact_id)),
gone as (from before anti join now using (fact_kind, fact_id)),
differing as (
    select case when g.text is not null then 'moved' else 'added' end as kind, a.*
    from added a left join (select distinct fact_kind, text from gone) g using (fact_kind, text)
    union all
    select 'gone', g.* from gone g anti join added a using (fact_kind, text)
)
select s.edition, s.parent, d.kind, d.fact_kind, d.fact_id, d.text,
       coalesce(c.cause, o.cause) as cause, d.document_id
from build_settings s, other_cause o, differing d left join changed_documents c using (document_id)
where s.parent is not null
union all
select s.edition, s.parent, c.kind, 'document', c.document_id, c.uri, c.cause, c.document_id
from changed_documents c, build_settings s
where s.parent is not null and c.kind is not null
union all
select any_value(s.edition), any_value(s.parent), r.kind, 'relation', r.wording,
       r.wording || ' = ' || string_agg(distinct r.relation, ', ' order by r.relation), any_value(o.cause), null
from changed_relations r, build_settings s, other_cause o
where s.parent is not null group by r.kind, r.wording;
