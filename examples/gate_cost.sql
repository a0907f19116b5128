-- What answers cost and how many there are, by what the gate did and by thirds of its score:
--   almanac sql - < examples/gate_cost.sql
select
    task,
    third,  -- 1: the lowest scores, of what the model knows least
    retrieve,
    count(*) as questions,
    round(avg(answerable::int), 3) as answered,
    round(avg(tokens)) as tokens,
    round(avg(seconds), 2) as seconds
from (
    select *, ntile(3) over (partition by task, gate order by thrust) as third
    from answers
    where thrust is not null and retrieve is not null
)
group by task, third, retrieve
order by task, third, retrieve
