-- What is left to do: texts not yet cut, passages not yet extracted by the chosen engine.
create table unsplit_contents as
select c.content_id, c.title, c.language, c.text
from current_contents c
anti join (select content_id from j_pieces where splitter = (select splitter from build_settings)) p
    using (content_id)
order by c.first_commit, c.content_id;

create table unextracted_passages as
select p.passage_id, p.text, p.title, p.headings, p.language
from j_pieces p
join current_contents c using (content_id)
anti join (
    select e.passage_id from j_extractions e, build_settings s
    where e.engine = s.engine and e.prompt_sha = s.prompt_sha and e.outcome = 'complete'
) done using (passage_id)
where p.splitter = (select splitter from build_settings)
qualify row_number() over (
    partition by p.passage_id order by c.first_commit, p.commit, p.content_id, p.span_start
) = 1
order by c.first_commit, p.content_id, p.span_start;
