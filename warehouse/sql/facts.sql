-- Facts, once each: names replaced by entities, statements counted, the best mention kept at hand.
-- A triple is stored from the end that its relation begins with; where the tail is no entity, it
-- stays as stated, and so does its relation. What holds both ways begins with the smaller id.
create table named_triples as
select e.* exclude (stated_head_id, stated_tail_id, relation, tail, value_type),
       e.relation as stated,
       case when n.turned and e.stated_tail_id is null then coalesce(n.inverse, e.relation)
            else n.relation end as relation,
       e.stated_tail_id is not null and (case when n.symmetric then e.stated_head_id > e.stated_tail_id
            else n.turned end) as is_turned,
       if(is_turned, e.stated_tail_id, e.stated_head_id) as head_id,
       if(is_turned, e.stated_head_id, e.stated_tail_id) as tail_id,
       if(is_turned, e.head, e.tail) as tail,
       e.value_type
from ended_triples e
join relation_names n on n.wording = e.relation and n.tail_end = e.tail_end
    and n.head_sort = e.head_sort and n.tail_sort = e.tail_sort and n.by_model = e.by_model;

create macro triple_key(h, r, t, type, day, n, u, words, pole, mode) as substring(sha256(concat_ws(
    chr(31), 'corpus', h, lower(r),
    case when t is not null then t
         when type in ('date', 'year') and day is not null then day
         when type in ('number', 'quantity') and n is not null then n || ' ' || coalesce(u, '')
         else lower(trim(words)) end,
    nullif(pole, 'positive'), nullif(mode, 'asserted'))), 1, 32);

-- What was rejected under a name that the relation had before stays so under its new name.
create table refused_statements as
with former as (
    select distinct wording, tail as tail_end, relation from j_relation_names
    union
    select distinct wording, tail_end, wording from relation_names
)
select distinct s.document_id, s.passage_id, s.doc_start, s.ordinal
from named_triples s
join former f on f.wording = s.stated and f.tail_end = s.tail_end
cross join (select unnest([false, true]) as other_end) e
where (select count(*) > 0 from rejected)
  and (not e.other_end or s.tail_id is not null)
  and triple_key(if(e.other_end, s.tail_id, s.head_id), f.relation,
          if(e.other_end, s.head_id, s.tail_id), value_type, "date", number, unit, tail, polarity,
          modality) in (select fact_id from rejected);

-- What holds in several periods, such as a second term of office, is a fact for each of them.
create table resolved_triples as
with each as (
    select s.*, triple_key(head_id, relation, tail_id, value_type, "date", number, unit, tail,
               polarity, modality) as whenever,
           left(coalesce(valid_from, valid_to), 4) as period
    from named_triples s
    join resolved_entities h on h.entity_id = s.head_id
    left join resolved_entities t on t.entity_id = s.tail_id
    anti join refused_statements using (document_id, passage_id, doc_start, ordinal)
    -- Two names of one thing are its aliases; that they are says no triple.
    where s.tail_id <> s.head_id or s.tail_id is null and lower(h.name) <> lower(s.tail)
),
repeated as (select whenever from each group by all having min(period) < max(period))
select *, if(whenever in (select whenever from repeated),
             substring(sha256(concat_ws(chr(31), whenever, period)), 1, 32), whenever) as triple_id
from each;

create table triple_facts as
select r.triple_id, 'corpus' as graph, r.head_id, h.name as head, r.relation, r.tail_id,
       coalesce(t.name, r.tail) as tail, r.value_type, r.number, r.unit, r.date,
       case when regexp_matches(r.date, '^\d{4}-\d\d-\d\d') then try_cast(left(r.date, 10) as date)
            end as date_exact,
       r.valid_from, r.valid_to, r.polarity, r.modality, c.support, c.mentions, r.confidence,
       r.document_id, r.passage_id, r.doc_start as span_start, r.doc_end as span_end,
       c.sensitivity
from (
    select * from resolved_triples
    qualify row_number() over (
        partition by triple_id
        order by confidence desc, (valid_from is null), document_id, doc_start, doc_end, ordinal
    ) = 1
) r
join (
    select triple_id, count(distinct witness) as support,
           count(distinct (document_id, doc_start, doc_end)) as mentions,
           max(sensitivity) as sensitivity  -- sensitive, if any passage that states it is
    from resolved_triples group by all
) c using (triple_id)
join resolved_entities h on h.entity_id = r.head_id
left join resolved_entities t on t.entity_id = r.tail_id
where r.triple_id not in (select fact_id from rejected);

-- A kind that the embedded engine guessed, and no text states, tells nothing of what fits.
create table kinds_at_ends as
with guessed as (
    select e.entity_id
    from name_places n
    join assignment a on a.document_id = n.document_id and a.name = n.name
    join resolved_entities e using (entity_id)
    where entity_id not in (select entity_id from of_stated_kinds)
    group by all
    having count(n.kind_scores) > 0 and not coalesce(bool_or(n.kind_stated and n.kind = e.kind), false)
),
known as (
    select entity_id, if(entity_id in (select entity_id from guessed), 'unknown', kind) as kind
    from resolved_entities
)
select t.triple_id, h.kind as head_kind, t.value_type, e.kind as entity_kind,
       t.value_type || '/' || coalesce(e.kind, '') as tail_kind
from triple_facts t
join known h on h.entity_id = t.head_id
left join known e on e.entity_id = t.tail_id;

-- A clause that says just a rejected triple is no statement either.
create table refused_clauses as
with refused as (
    select document_id, passage_id, doc_start, ordinal
    from resolved_triples where triple_id in (select fact_id from rejected)
    union
    select * from refused_statements
)
select t.document_id, t.passage_id, t.doc_start, t.doc_end, t.head, t.tail
from triple_statements t join refused using (document_id, passage_id, doc_start, ordinal);

create table clause_facts as
with said as (
    select s.* exclude (engine, prompt_sha, commit, extracted_at),
           substring(sha256(concat_ws(chr(31), document_id, doc_start, doc_end, subject, predicate,
               object, array_to_string(arguments, chr(30)))), 1, 32) as statement_id
    from clause_statements s
    anti join refused_clauses r
        on r.document_id = s.document_id and r.passage_id = s.passage_id
        and r.doc_start < s.doc_end and s.doc_start < r.doc_end
        and r.head in (s.subject, s.subject_name)
        and r.tail = regexp_replace(s.object, '^(an?|the) ', '')
    where statement_id not in (select fact_id from rejected)
),
repeated as (select statement_id from said group by all having count(*) > 1),
each as (  -- only few have to be sorted
    from said anti join repeated using (statement_id)
    union all
    from said semi join repeated using (statement_id)
    qualify row_number() over (partition by statement_id order by confidence desc, ordinal) = 1
),
subjects as (  -- a subject that is a name word for word, if not the name that was read in it
    select e.statement_id, coalesce(any_value(named.entity_id), any_value(whole.entity_id)) as subject_id
    from each e
    left join assignment named on named.document_id = e.document_id and named.name = e.subject_name
    left join assignment whole on whole.document_id = e.document_id and whole.name = e.subject
    group by all
),
named as (  -- whom its complements name
    select e.statement_id, list(distinct a.entity_id order by a.entity_id) as argument_ids
    from (
        select *, concat_ws(chr(30), object, array_to_string(arguments, chr(30)), "time", place) as words
        from each
    ) e
    join name_places n
        on n.document_id = e.document_id and n.passage_id = e.passage_id
        and n.doc_start >= e.doc_start and n.doc_start < e.doc_end and n.name <> e.subject_name
        and contains(e.words, n.name)
    join assignment a on a.document_id = n.document_id and a.name = n.name
    group by all
)
select e.statement_id, e.subject, e.subject_name, h.subject_id, e.predicate, e.object,
       e.arguments, coalesce(n.argument_ids, []) as argument_ids, e."time", e.place, e.polarity,
       e.modality, e.attribution, e.confidence, e.engine_confidence, e.usefulness, e.document_id, e.passage_id,
       e.doc_start as span_start, e.doc_end as span_end, e.sensitivity
from each e
join subjects h using (statement_id)
left join named n using (statement_id);

create view statement_facts as
from clause_facts
where usefulness is null or usefulness >= (select min_usefulness from build_settings);

create table resolved_descriptions as
select s.*, a.entity_id, substring(sha256(concat_ws(chr(31), a.entity_id, s.text)), 1, 32) as description_id
from description_statements s
join assignment a on a.document_id = s.document_id and a.name = s.entity;

create table description_facts as
select r.description_id, r.entity_id, e.name as entity, r.text, r.document_id, r.passage_id,
       r.doc_start as span_start, r.doc_end as span_end, r.confidence, 'corpus' as graph,
       max(r.sensitivity) over (partition by description_id) as sensitivity
from resolved_descriptions r join resolved_entities e using (entity_id)
where r.description_id not in (select fact_id from rejected)
qualify row_number() over (
    partition by description_id order by r.confidence desc, r.document_id, r.doc_start
) = 1;

create table resolved_aspects as
select s.*, a.entity_id,
       substring(sha256(concat_ws(chr(31), a.entity_id, s.aspect, s.text)), 1, 32) as aspect_id
from aspect_statements s
join assignment a on a.document_id = s.document_id and a.name = s.entity;

create table aspect_facts as
select r.aspect_id, r.entity_id, e.name as entity, r.aspect, r.text, r.question, r.document_id,
       r.passage_id, r.doc_start as span_start, r.doc_end as span_end, r.confidence, 'corpus' as graph,
       max(r.sensitivity) over (partition by aspect_id) as sensitivity
from resolved_aspects r join resolved_entities e using (entity_id)
where r.aspect_id not in (select fact_id from rejected)
qualify row_number() over (
    partition by aspect_id order by r.confidence desc, r.document_id, r.doc_start
) = 1;

create table mention_facts as
with stated as (
    select 'triple' as fact_kind, triple_id as fact_id, stated, document_id, passage_id,
           doc_start, doc_end, engine, prompt_sha, confidence, engine_confidence, extracted_at
    from resolved_triples where triple_id not in (select fact_id from rejected)
    union all
    select 'description', description_id, null, document_id, passage_id, doc_start, doc_end,
           engine, prompt_sha, confidence, engine_confidence, extracted_at
    from resolved_descriptions where description_id not in (select fact_id from rejected)
    union all
    select 'aspect', aspect_id, null, document_id, passage_id, doc_start, doc_end,
           engine, prompt_sha, confidence, engine_confidence, extracted_at
    from resolved_aspects where aspect_id not in (select fact_id from rejected)
    union all
    select 'alias', a.entity_id, s.name || ' = ' || s.alias, s.document_id, s.passage_id,
           s.doc_start, s.doc_end, s.engine, s.prompt_sha, s.confidence, s.engine_confidence,
           s.extracted_at
    from alias_statements s
    join assignment a on a.document_id = s.document_id and a.name = s.name
)
select fact_kind, fact_id, stated, document_id, passage_id, doc_start as span_start,
       doc_end as span_end, engine, prompt_sha, max(confidence) as confidence,
       max(engine_confidence) as engine_confidence, min(extracted_at) as extracted_at
from stated group by all;
