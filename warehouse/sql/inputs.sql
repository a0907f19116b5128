-- The corpus as it stands: the last row of every input that was not removed, refused or excluded.
create table overrides as
select * from j_overrides o
where action <> 'withdraw'
  and not exists (select 1 from j_overrides w where w.action = 'withdraw' and w.subject = o.override_id)
order by commit, override_id;

-- A source that was ever marked stays so: an unmarked refresh of it must not give its texts away.
create table sensitive_sources as
select source from j_scans where sensitivity = 'sensitive'
union
select source from j_reads where sensitivity = 'sensitive';

-- A source keeps its labels until a refresh gives others.
create table source_labels as
select source, arg_max(labels, commit) as labels from j_scans where labels is not null group by source;

create table labelled_inputs as
select r.* exclude (own_labels) replace (
           if(s.source is null and not list_contains(own_labels, 'sensitive'), 'normal', 'sensitive') as sensitivity),
       list_sort(list_distinct(list_concat(coalesce(l.labels, []), own_labels))) as labels
from (
    select *, substring(sha256(source || chr(10) || uri), 1, 32) as document_id,
           min(commit) over (partition by source, uri) as first_commit,
           min(read_at) over (partition by source, uri, content_id) as first_read_at,
           row_number() over (partition by source, uri order by commit desc) as age,
           coalesce(from_json(metadata->'labels', '["VARCHAR"]'), []) as own_labels
    from j_reads r
    where not exists (select 1 from overrides where action = 'exclude' and subject = r.run_id)
) r
left join sensitive_sources s using (source)
left join source_labels l using (source)
where age = 1 and outcome = 'ingested'
  and document_id not in (select subject from overrides where action = 'exclude');

-- All labels that decide who sees an input.
create macro needed(labels, sensitivity) as
    list_concat(labels, if(sensitivity = 'sensitive', ['sensitive'], []));

create macro reads_everything() as (select labels is null from reader);

-- Files of the same bytes hold one text: that of the file read first, whatever the others' names
-- made of its title; not so if their labels differ, as a name may say what is not to be seen.
-- Within files of records the same records of both files are meant.
create table inputs as
select * replace (
    case when sha256 = '' then content_id else first_value(content_id) over (
        partition by sha256, labels,
            case when starts_with(uri, container) then uri[length(container) + 1:] else source || uri end
        order by first_commit, uri, source
    ) end as content_id
)
from labelled_inputs
where reads_everything() or list_has_all((select labels from reader), needed(labels, sensitivity));

-- What was learned from a graph tells of all of it: of the corpus', of every document.
create table readable_graphs as
select unnest(graphs) as graph from reader
union all
select 'corpus' where (select count(*) from inputs) = (select count(*) from labelled_inputs);

create macro is_readable(name) as reads_everything() or name in (select graph from readable_graphs);

create table current_contents as
select c.content_id, c.title, c.language, c.text, c.words, c.minhash, c.page_starts,
       min(i.first_commit) as first_commit, arg_min(i.uri, (i.first_commit, i.uri)) as first_uri
from inputs i
join (select * from j_contents qualify row_number() over (partition by content_id order by commit) = 1) c
    using (content_id)
group by all;
