-- Documents: one for every text; the input read first stands for its exact duplicates.
create table documents as
with ranked as (
    select *, row_number() over (partition by content_id order by first_commit, uri, source) as place
    from inputs
),
others as (
    select content_id, list(uri order by uri) filter (place > 1) as duplicates,
           max(sensitivity) as sensitivity  -- sensitive, if any of them is
    from ranked group by all
),
firsts as (select * from ranked where place = 1)
select f.document_id, f.source, f.uri, c.title, c.language, c.text, f.sha256,
       coalesce(nullif(f.version, ''), left(f.sha256, 12)) as version,
       o.sensitivity, f.first_read_at as read_at, n.document_id as near_duplicate_of,
       coalesce(o.duplicates, []) as duplicates, c.words, c.page_starts, f.metadata, f.labels, c.content_id
from firsts f
join current_contents c using (content_id)
join others o using (content_id)
left join near_duplicates d using (content_id)
left join firsts n on n.content_id = d.first_content_id;

create table passages as
select p.passage_id, d.document_id, p.span_start, p.span_end, p.text, p.headings, p.title, p.language,
       coalesce(d.near_duplicate_of, d.document_id) as witness,
       len(list_filter(d.page_starts, lambda start: start <= p.span_start)) as page,
       max(d.sensitivity) over (partition by p.passage_id) as sensitivity
from documents d
join (
    select * from j_pieces where splitter = (select splitter from build_settings)
    qualify commit = min(commit) over (partition by content_id)
) p using (content_id);
