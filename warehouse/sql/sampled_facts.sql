-- What is stored of some passages: the newest complete extraction of each, by whatever engine but
-- the one on trial.
create table sampled_facts as
with last as (
    select passage_id, e.engine, e.prompt_sha, e.commit
    from j_extractions e, build_settings s
    where outcome = 'complete' and passage_id in (select passage_id from sampled)
      and (e.engine, e.prompt_sha) is distinct from (s.engine, s.prompt_sha)
    qualify row_number() over (partition by passage_id order by e.commit desc) = 1
)
select 'triple' as form, passage_id, head || ' | ' || relation || ' | ' || tail as fact
from j_triple_mentions join last using (passage_id, engine, prompt_sha, commit)
union
select 'description', passage_id, entity || ': ' || text
from j_description_mentions join last using (passage_id, engine, prompt_sha, commit)
union
select 'aspect', passage_id, entity || ' | ' || aspect || ': ' || text
from j_aspect_mentions join last using (passage_id, engine, prompt_sha, commit)
union
select 'alias', passage_id, name || ' = ' || alias
from j_alias_mentions join last using (passage_id, engine, prompt_sha, commit);
