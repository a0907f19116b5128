-- What is left to do: texts not yet cut, passages not yet extracted by whoever is to extract them.
create table unsplit_contents as
select c.content_id, c.title, c.language, c.text
from current_contents c
anti join (select content_id from j_pieces where splitter = (select splitter from build_settings)) p
    using (content_id)
order by c.first_commit, c.content_id;

-- Where a passage stands in a sensitive text too, it is sensitive everywhere.
create table current_passages as
select p.passage_id, p.text, p.title, p.subject, p.headings, p.before, p.language, p.blocks, p.content_id, p.span_start, p.commit,
       c.first_commit, i.document_id, i.metadata,
       row_number() over (partition by p.content_id order by p.span_start) as place,
       bool_or(i.sensitive) over (partition by p.passage_id) as sensitive
from j_pieces p
join current_contents c using (content_id)
join (
    select content_id, arg_min(document_id, (first_commit, uri, source)) as document_id,
           arg_min(metadata, (first_commit, uri, source)) as metadata,
           bool_or(sensitivity = 'sensitive') as sensitive
    from inputs group by all
) i using (content_id)
where p.splitter = (select splitter from build_settings);

-- Replies about these could not be used in three runs, and were paid for each time.
create table hopeless_extractions as
select passage_id, engine, prompt_sha
from j_extractions
where outcome = 'failed'
    and split_part(reason, ':', 1) in ('refused', 'filtered', 'truncated', 'invalid', 'empty', 'no_facts')
group by all
having count(distinct run_id) >= 3;

create table unextracted_passages as
select passage_id, text, title, subject, headings, before, language, blocks, content_id, document_id, metadata, span_start, place, sensitive,
       exists (from hopeless_extractions h
               where (h.passage_id, h.engine, h.prompt_sha) = (p.passage_id, due.engine, due.prompt_sha)) as hopeless
from current_passages p
join (
    select false as sensitive, engine, prompt_sha from build_settings
    union all
    select true, engine_if_sensitive, prompt_sha_if_sensitive from build_settings
) due using (sensitive)
where not exists (
    from j_extractions e
    where e.outcome = 'complete'
      and (e.passage_id, e.engine, e.prompt_sha) = (p.passage_id, due.engine, due.prompt_sha)
)
qualify row_number() over (
    partition by passage_id order by first_commit, commit, content_id, span_start
) = 1
order by first_commit, content_id, span_start;
