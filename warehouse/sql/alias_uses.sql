-- Where a person's other names stand in the documents that mean the person, with some characters
-- around each place: a surname that stands in citations and lists of authors alone is no name to
-- look somebody up by. So is none that means others at least as often.
create table alias_uses as
with wanted as (
    select a.alias, a.entity_id, e.name, a.weight,
    from possible_aliases a join resolved_entities e using (entity_id)
    where e.kind = 'person' and a.alias <> e.name
),
texts as (
    select w.alias, w.entity_id, string_split(p.text, w.alias) as pieces
    from wanted w
    join (select distinct entity_id, document_id from assignment) using (entity_id)
    join passages p using (document_id)
    where contains(p.text, w.alias)
),
places as (
    select alias, entity_id, list({before: right(pieces[n], 40), after: left(pieces[n + 1], 40)}) as places
    from (select *, unnest(range(1, len(pieces))) as n from texts) group by all
)
select w.*, coalesce(p.places, []) as places
from wanted w left join places p using (alias, entity_id);
