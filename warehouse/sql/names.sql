create table plain_words as
select document_id, rtrim(ltrim(word, '("'), '.,;:!?)"') as word, count(*) as times
from (select document_id, unnest(string_split_regex(text, '\s+')) as word from passages)
group by all;

-- Every name by document, with what helps to tell whom it means: the input of resolution.
-- A word that has its capital from its place alone is a name if it is one anywhere.
-- A word that its document writes without a capital at least as often is none: "the Contacts tab".
-- The value of a cell or label names what it is if its words are a name anywhere: SEN is no "sen".
-- `in_words`: the name itself stands there, rather than a fact about what a title or pronoun means.
create table name_places as
with common_names as (
    select n.document_id, n.name
    from name_statements n
    join documents d using (document_id)
    join plain_words w on w.document_id = n.document_id and w.word = lower(n.name)
    left join plain_words c on c.document_id = n.document_id and c.word = n.name
    where regexp_full_match(n.name, '[A-Z][a-z]+') and lower(n.name) <> lower(d.title)
    group by all  -- in tables, too: the lower-case words that they are compared with are counted there
    having greatest(count(*), coalesce(any_value(c.times), 0)) <= any_value(w.times)
       and not coalesce(bool_or(n.kind_stated), false)
),
named as (
select document_id, passage_id, name, kind, kind_stated, kind_scores, doc_start, true as in_words
from name_statements n anti join common_names using (document_id, name)
where coalesce(capital_tells, true) or lower(name) in (
    select lower(name) from name_statements where coalesce(capital_tells, true))
union all
select document_id, passage_id, head, head_kind, null::boolean, null, doc_start, false from triple_statements
union all
select document_id, passage_id, tail, tail_kind, null::boolean, null, doc_start, false from triple_statements
where value_type = 'entity'
union all
select document_id, passage_id, entity, kind, null::boolean, null, doc_start, false from description_statements
union all
select document_id, passage_id, entity, kind, null::boolean, null, doc_start, false from aspect_statements
)
from named
union all
select document_id, passage_id, tail, tail_kind, null::boolean, null, doc_start, false from triple_statements
where value_type = 'text' and tail_kind <> '' and (lower(tail), tail = upper(tail)) in (
    select (lower(name), name = upper(name)) from named);

create table local_names as
with best as (
    select document_id, entity as name,
           arg_max(text, (confidence, -doc_start, text)) as description
    from description_statements group by all
),
told_of as (  -- what tells namesakes apart
    select document_id, head, tail, "date", value_type,
           value_type in ('date', 'year') and regexp_full_match(lower(relation), '(was )?born( on| in)?|birth ?(day|date|year)|(date|year) of birth|出生(日期|时间|年份|于)?|生于') as is_birth,
           value_type in ('date', 'year') and regexp_full_match(lower(relation), 'died( on| in)?|death (date|year)|(date|year) of death|(去世|逝世)(日期|时间|年份|于)?|卒于') as is_death,
           value_type in ('entity', 'text') and regexp_full_match(lower(relation), '(was )?born (in|at|near)|birth ?place|place of birth|出生(于|在|地|地点)?|生于') as is_birthplace,
           value_type = 'entity' and coalesce(tail_kind, '') not in ('place', '') as is_tie
    from triple_statements
    where polarity = 'positive' and modality = 'asserted'
),
births as (  -- a name with more places of birth is many people's, and has too many pairs of them
    select distinct document_id, head as name, tail as place from told_of where is_birthplace
    qualify count(distinct tail) over (partition by head) <= 50
),
pairs as (  -- other places of birth of the same name, in both orders
    select distinct a.place as one, b.place as other
    from births a join births b on b.name = a.name and b.place <> a.place
),
beside as (  -- few passages have a comma at the place, so that is looked for first
    select distinct t.one, p.other
    from (
        select n.name as one, text
        from (select distinct name, passage_id from name_statements semi join pairs on one = name) n
        join (select distinct passage_id, text from passages) using (passage_id)
        where contains(text, concat(n.name, ', ')) or contains(text, concat(', ', n.name))
    ) t
    join pairs p using (one)
    where contains(text, concat(one, ', ', other)) or contains(text, concat(other, ', ', one))
),
related as (  -- places of birth that a fact relates
    select distinct head as one, tail as other from triple_statements
    where head in (select place from births) and tail in (select place from births)
),
nearby as (  -- places of birth that a fact or the words relate: "Warsaw, Poland"
    select b.document_id, b.name, other as place
    from births b join (from related union select other, one from related) on one = b.place
    union
    select a.document_id, a.name, b.place
    from births a
    join (from beside union select other, one from beside) on one = a.place
    join births b on b.name = a.name and b.place = other
),
lives as (
    select document_id, head as name,
           min("date") filter (is_birth) as born, min("date") filter (is_death) as died,
           list(distinct tail) filter (is_birthplace) as birth_places,
           list(distinct lower(tail)) filter (is_tie and not is_birthplace) as ties
    from told_of
    group by all
    having bool_or(is_birth or is_death or is_birthplace)
),
near as (select document_id, name, list(distinct place) as near_places from nearby group by all),
cells as (
    select distinct document_id, unnest([head, tail]) as name from triple_statements
    where is_laid_out(engine, engine_confidence)
),
counted as (  -- texts come after counting: they take a hundred times the room
    select n.document_id, n.name, coalesce(nullif(n.kind, ''), 'unknown') as kind,
           count(*) as mentions, coalesce(bool_or(n.kind_stated), false) as kind_stated,
           count(n.kind_scores) as scored,
           [sum(n.kind_scores[1]), sum(n.kind_scores[2]), sum(n.kind_scores[3]),
            sum(n.kind_scores[4]), sum(n.kind_scores[5]), sum(n.kind_scores[6])] as kind_scores,
           min(n.doc_start) as first_said,
           arg_min(n.passage_id, (n.doc_start, p.passage_start)) as first_passage
    from name_places n
    join places p on p.document_id = n.document_id and p.passage_id = n.passage_id
    group by all
)
select c.document_id, d.title, d.language, c.name, c.kind, c.kind_stated, c.scored, c.kind_scores,
       c.mentions, c.first_said,
       lower(c.name) = lower(d.title) as as_title, b.description, t.context,
       l.born, l.died, l.birth_places, r.near_places, l.ties,
       (c.document_id, c.name) in (from cells) as laid_out
from counted c
join documents d using (document_id)
join (select passage_id, left(any_value(text), 300) as context from passages group by all) t
    on t.passage_id = c.first_passage
left join best b on b.document_id = c.document_id and b.name = c.name
left join lives l on l.document_id = c.document_id and l.name = c.name
left join near r on r.document_id = c.document_id and r.name = c.name;

-- Pairs of names that mean two things: a language model relates one to the other, or describes both
-- in one passage, or anybody relates them as kin. Only names that share a word could be taken for one.
create table distinct_names as
with pairs as (
    select document_id, head as name, tail as other from triple_statements
    where value_type = 'entity'
      and not regexp_matches(lower(relation), 'name|abbrev|acronym|alias|known as|called|[名称稱]|缩写')
      and (engine not like 'rules%' or regexp_matches(lower(relation), '\b((grand|great)?-?(son|daughter|father|mother|child|children)|parents?|brother|sister|sibling|wife|widow|husband|spouse|married|uncle|aunt|nephew|niece|cousin|heir|ancestor|descendant)\b'))
    union
    select a.document_id, a.entity, b.entity
    from description_statements a join description_statements b using (document_id, passage_id)
    where a.entity < b.entity and a.engine not like 'rules%'
)
select distinct document_id, name, other from pairs
where name <> other
  and list_has_any(string_split(lower(name), ' '), string_split(lower(other), ' '));

create table local_aliases as
select document_id, name, alias, coalesce(nullif(kind, ''), 'unknown') as kind,
       max(confidence) as confidence
from alias_statements group by all;

-- Documents under a new uri: the same text, or file, was read under another that is gone since, or
-- has another text now, as when a name is passed on from file to file.
create table moved_documents as
with earlier as (
    select distinct content_id, sha256, uri = container as is_file,
           substring(sha256(source || chr(10) || uri), 1, 32) as document_id
    from j_reads where outcome = 'ingested'
),
present as (
    select content_id, sha256, uri = container as is_file, document_id from inputs
    where document_id in (select document_id from documents)
)
select p.document_id, e.document_id as earlier_document_id
from present p join earlier e using (content_id)
where (e.document_id, e.content_id) not in (select document_id, content_id from inputs)
union
select p.document_id, e.document_id
from present p join earlier e using (sha256, is_file)
where is_file and sha256 <> ''
  and (e.document_id, e.sha256) not in (select document_id, sha256 from inputs);
