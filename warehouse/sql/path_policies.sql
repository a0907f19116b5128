-- Policies as they stand: the last training for every graph that was not removed since.
create table path_policy_facts as
select * from (
    select * from j_policy_trainings
    qualify row_number() over (partition by graph order by commit desc) = 1
)
where action = 'train';
