-- How much of the running text of each source was understood.
create table yield_facts as
with sentences as (
    select d.source, d.language, document_id, passage_id,
           p.passage_start + s.start as sentence_start, p.passage_start + s."end" as sentence_end
    from (
        select document_id, passage_id, passage_start, unnest(c.sentences) as s
        from places join chosen c using (passage_id)
    ) p join documents d using (document_id)
),
stated as (
    select distinct s.document_id, s.sentence_start
    from sentences s join clause_statements f using (document_id, passage_id)
    where f.doc_start < s.sentence_end and s.sentence_start < f.doc_end
),
known as (
    select distinct s.document_id, s.sentence_start
    from sentences s join mention_facts f using (document_id, passage_id)
    where f.span_start < s.sentence_end and s.sentence_start < f.span_end and f.fact_kind <> 'aspect'
),
about as (
    select source, language, count(*) as read_statements, count_if(regexp_full_match(lower(subject),
               'we|us|our .*|我们.*|本公司.*|我司.*')) as about_us
    from clause_statements join documents using (document_id)
    group by all
)
select source, language, count(distinct document_id) as documents, count(*) as sentences,
       count(stated.document_id) as with_statement, count(known.document_id) as with_fact,
       coalesce(any_value(read_statements), 0) as read_statements,
       coalesce(any_value(about_us), 0) as about_us
from sentences
left join about using (source, language)
left join stated using (document_id, sentence_start)
left join known using (document_id, sentence_start)
group by all;
