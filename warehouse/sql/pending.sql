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

create table unextracted_passages as
select passage_id, text, title, subject, headings, before, language, blocks, content_id, document_id, metadata, span_start, place, sensitive
from current_passages p
where not exists (
    select 1 from j_extractions e, build_settings s
    where e.passage_id = p.passage_id and e.outcome = 'complete'
      and case when p.sensitive
          then e.engine = s.engine_if_sensitive and e.prompt_sha = s.prompt_sha_if_sensitive
          else e.engine = s.engine and e.prompt_sha = s.prompt_sha end
)
qualify row_number() over (
    partition by passage_id order by first_commit, commit, content_id, span_start
) = 1
order by first_commit, content_id, span_start;
