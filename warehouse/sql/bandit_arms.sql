-- What each arm of a bandit has earned: the sum over the rewards of its current version.
create view bandit_arms as
with versions as (
    select graph, model, version, unnest(arms) as arm, generate_subscripts(arms, 1) as place,
           coalesce(cast(json_extract(options, '$.per_token') as double), 0) as per_token,
           coalesce(cast(json_extract(options, '$.per_second') as double), 0) as per_second
    from bandits
),
rewarded as (
    select d.version, d.arm, d.context,
           r.correct - v.per_token * coalesce(r.tokens, 0) - v.per_second * coalesce(r.seconds, 0)
               as reward
    from bandit_rewards r
    join bandit_decisions d using (decision_id)
    join versions v on v.version = d.version and v.arm = d.arm
),
earned as (
    select version, arm, count(*) as pulls, sum(reward) as rewards from rewarded group by all
),
products as (
    select version, arm, i, j, sum(context[i] * context[j]) as product,
           sum(reward * context[i]) as weighted
    from rewarded,
         unnest(range(1, len(context) + 1)) as rows(i),
         unnest(range(1, len(context) + 1)) as columns(j)
    where i <= j
    group by all
),
states as (
    select version, arm, list(product order by i, j) as gram,
           list(weighted order by i) filter (where i = j) as weighted
    from products group by all
)
select graph, model, arm, version, cast(null as bigint) as position,
       coalesce(pulls, 0) as pulls, coalesce(rewards, 0) as rewards,
       cast(json_object('gram', coalesce(gram, []), 'weighted', coalesce(weighted, [])) as varchar)
           as state
from versions
left join earned using (version, arm)
left join states using (version, arm)
order by graph, model, place;
