-- Policies as they stand: the last training for every graph that was not removed since.
create table path_policy_facts as
select * from (
    select * from j_policy_trainings
    qualify row_number() over (partition by graph order by commit desc) = 1
) as trained
where action = 'train' and is_readable(graph) and not exists (
    select 1 from j_graph_imports as i
    where i.graph = trained.graph and i.action = 'remove' and i.commit > trained.commit
);
