create table rejected as select subject as fact_id from overrides where action = 'reject';

-- The last verdict on every fact, unless the rejection that it led to was taken back.
create table judged_facts as
select * exclude (commit) from (
    select * from j_verdicts
    qualify row_number() over (partition by fact_id order by commit desc, judged_at desc) = 1
)
where (override_id is null or override_id in (select override_id from overrides))
  and (reads_everything() or document_id in (select document_id from inputs));

create table verdict_facts as from judged_facts where reads_everything();
