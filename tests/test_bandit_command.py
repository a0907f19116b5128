"""`almanac bandit`: what each arm earned, what it would have earned, and how to begin anew."""

from typing import Any

import numpy as np
import pytest

from schemas.bandits import BanditDecision, BanditReward
from tasks.ask.parts import NO_MODEL
from tasks.paths.bandit.bandit import Bandit, BanditPlan, Reward, make_bandit
from tasks.paths.bandit.context import AskedQuestion, ContextEncoding
from tasks.paths.bandit.linucb import BanditOptions
from tasks.paths.bandit.off_policy import ArmOverview, LoggedDecisions, overview
from warehouse.home import Home

ARMS = ("walks+triples", "walks+sentences", "subgraph+triples")
MOONS = ("bandit", "--graph", "moons")
RIGHT = {"walks+triples": 0.9, "walks+sentences": 0.2, "subgraph+triples": 0.5}


def learned(
    home: Home,
    count: int,
    arms: tuple[str, ...] = ARMS,
    seed: int = 0,
    seconds: float | None = None,
    **options: Any,
) -> Bandit:
    """Return a bandit that saw `count` questions, which its arms answer rightly by chance."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(max(count, 8), 6)).astype(np.float32)
    plan = BanditPlan(arms, arms[1], BanditOptions(epsilon=0.3), **{"trusted_after": 0, **options})
    bandit = make_bandit(home.live, "moons", NO_MODEL, plan, ContextEncoding.fit("e", vectors))
    decided = bandit.decide({f"{n}": AskedQuestion("Who?", vectors[n]) for n in range(count)})
    rewards = [
        Reward(d.decision_id, float(random.random() < RIGHT[d.arm]), seconds=seconds)
        for d in decided.values()
    ]
    bandit.reward(rewards, "labels")
    return bandit


def arms_of(bandit: Bandit) -> list[ArmOverview]:
    return overview(ARMS, ARMS[1], bandit.logged())


def test_each_arm_has_its_rewards_and_what_it_would_have_earned(home, almanac):
    log = learned(home, 400).logged()
    found = almanac.json(home.path, *MOONS)
    assert found["model"] == NO_MODEL and found["rewards"] == 400 and found["trusted"]
    arms = {arm["arm"]: arm for arm in found["arms"]}
    assert [arm["usual"] for arm in arms.values()] == [False, True, False]
    for place, (name, arm) in enumerate(arms.items()):
        assert arm["pulls"] == (log.arms == place).sum()
        assert arm["mean"] == pytest.approx(log.rewards[log.arms == place].mean())
        assert arm["estimate"]["low"] < RIGHT[name] < arm["estimate"]["high"]
    table = almanac.shown(home.path, *MOONS)
    assert "walks+sentences (usual)" in table
    assert f"{arms['walks+triples']['mean']:.3f}" in table


def test_arms_without_rewards_have_no_estimate(home, almanac):
    learned(home, 0)
    arms = almanac.json(home.path, *MOONS)["arms"]
    assert all(arm["mean"] is arm["estimate"] is None for arm in arms)
    learned(home, 5, caution=0.0, trusted_after=30)
    arms = almanac.json(home.path, *MOONS)["arms"]
    assert [arm["pulls"] for arm in arms] == [0, 5, 0]
    assert [arm["estimate"] is None for arm in arms] == [True, False, True]
    assert "few yet" in almanac.shown(home.path, *MOONS)


@pytest.mark.parametrize("seed", range(4))
def test_estimates_from_few_rewards_are_possible_ones(home, seed):
    estimates = [arm.estimate for arm in arms_of(learned(home, 6, seed=seed)) if arm.estimate]
    assert estimates
    for found in estimates:
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_single_reward_tells_little_of_an_arm():
    arms, count = np.array([1] * 30 + [0]), 31
    chances = np.tile([0.1, 0.9], (count, 1))
    log = LoggedDecisions(
        np.ones((count, 1)), arms, chances[np.arange(count), arms], chances, np.ones(count)
    )
    once, often = (one.estimate for one in overview(["walks", "edges"], "edges", log))
    assert once and once.high - once.low > 0.4
    assert often and often.high - often.low < 0.1


def test_costs_can_make_rewards_and_so_estimates_negative(home):
    arms = arms_of(learned(home, 300, per_second=2.0, seconds=1.0))
    assert all(arm.estimate and -2 <= arm.estimate.low < 0 for arm in arms)


def test_a_reset_begins_anew_and_keeps_the_records(home, almanac):
    learned(home, 20)
    assert almanac.json(home.path, *MOONS, "--reset")["rewards"] == 20
    begun = almanac.json(home.path, *MOONS)
    assert begun["rewards"] == 0 and len(begun["arms"]) == 3
    assert len(home.live.table(BanditDecision)) == len(home.live.table(BanditReward)) == 20
    assert "0 rewards no longer count" in almanac.shown(home.path, *MOONS, "--reset")


@pytest.mark.parametrize("option", [[], ["--reset"]])
def test_without_such_a_bandit_those_there_are_are_named(home, almanac, option):
    learned(home, 0)
    code, _, message = almanac(home.path, "bandit", "--graph", "suns", "--model", "m", *option)
    assert code == 2 and "'moons' with 'embedded'" in message and "train-paths" in message
