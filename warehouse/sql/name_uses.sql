-- How names are used, by which a word that owes its capital to a heading, a menu or a form, and what
-- stands in a template alone, are told from names. What a document is about or explains, and what a
-- person corrected, are names; few documents do not tell. A document with a record of a name, whose
-- place holds the value alone, speaks of it outside of any template.
create table name_uses as
with candidates as (
    select entity_id, name, documents from resolved_entities
    where mentions >= 3 and regexp_matches(name, '^[A-Za-z\x{3400}-\x{9fff}]')
      and (select count(*) from documents) >= 10
      and entity_id not in (
          select a.entity_id from local_names n join assignment a using (document_id, name)
          where n.as_title or n.description is not null
          union
          select unnest([subject, coalesce("object", subject)]) from overrides)
),
lines as (select distinct witness, unnest(string_split(text, chr(10))) as line from passages),
bare_lines as (
    select line, regexp_replace(line, '[0-9\s]+', '', 'g') as bare from (select distinct line from lines)
),
template as (  -- lines that a quarter of the documents have, but for their numbers
    select line from bare_lines semi join (
        select bare from lines join bare_lines using (line)
        group by all having count(distinct witness) * 4 >= (select count(*) from documents)
    ) using (bare)
),
uses as (
    select a.entity_id, n.document_id, n.engine, p.text, n.doc_start - p.span_start as place, length(n.name) as letters
    from name_statements n
    join assignment a using (document_id, name)
    join passages p on p.document_id = n.document_id and p.passage_id = n.passage_id
    where a.entity_id in (select entity_id from candidates)
),
records as (
    select entity_id, list(distinct document_id) as documents
    from (select document_id, unnest([head, tail]) as name from triple_statements
          where doc_end - doc_start = length(tail))
    join assignment using (document_id, name)
    where entity_id in (select entity_id from candidates)
    group by all
),
around as (
    select entity_id, document_id, engine, right(left(text, place), 30) as before, substring(text, place + letters + 1, 30) as after,
           string_split(left(text, place), chr(10))[-1]
               || string_split(substring(text, place + 1), chr(10))[1] as line
    from uses
),
shares as (
    select entity_id,
           avg((regexp_matches(before, '\d\s*$')
               and not regexp_matches(before, '(^|\D)(1\d|20)\d\d\s*$'))::int) as after_digit,
           list(distinct document_id) filter (line not in (select line from template)) as documents,
           avg(regexp_matches(before, '[.!?。！？]["”]?\s+$')::int) as opening,
           avg(regexp_matches(after, '^[*_`\]”"]*\s*[:：]')::int) as labelling
    from around group by all having bool_and(engine like 'rules%')
),
written as (
    select word, sum(times)::bigint as times from plain_words
    where word in (select unnest([lower(name), name]) from candidates) group by all
)
select k.entity_id, k.name, k.documents, s.* exclude (entity_id, documents),
       len(list_distinct(list_concat(s.documents, r.documents))) as own_documents,
       coalesce(l.times, 0) as lower_case, coalesce(c.times, 0) as capitalised
from candidates k join shares s using (entity_id)
left join records r using (entity_id)
left join written l on l.word = lower(k.name)
left join written c on c.word = k.name;
