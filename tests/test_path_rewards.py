"""Rewards of walks: the values worked out by hand from equations 2 to 4."""

import numpy as np
import pytest

from tasks.paths.path import Path, Step
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.rewards import relatedness_by_step, rewarded

# e_0 = (1, 0); re_1 = (0, 1), e_1 = (1, 1); re_2 = (0, -1), e_2 = (2, 0); c = (1, 0). So
# P_0 = (1, 0), P_1 = (2/3, 2/3), P_2 = (4/5, 1/5), whose cosines with c are 1, 1/√2 and 4/√17.
STARTS = np.array([[1, 0]], np.float32)
RELATIONS = np.array([[[0, 1], [0, -1]]], np.float32)
NODES = np.array([[[1, 1], [2, 0]]], np.float32)
CONTEXTS = np.array([[1, 0]], np.float32)
AFTER_ONE = (1 + 0.5**0.5) / 2  # .853553
AFTER_TWO = (1 + 0.5**0.5 + 4 / 17**0.5) / 3  # .892416

LONG = Path(0, (Step(0, False, 1), Step(1, True, 2)))
SHORT = Path(0, (Step(0, False, 1),))
OF_GRAPH = np.concatenate([STARTS, NODES[0]]), RELATIONS[0]


def test_relatedness_is_the_mean_over_prefixes():
    [by_step] = relatedness_by_step(STARTS, RELATIONS, NODES, CONTEXTS)
    assert by_step == pytest.approx([1, AFTER_ONE, AFTER_TWO])
    assert pytest.approx([0.853553, 0.892416], abs=1e-6) == [AFTER_ONE, AFTER_TWO]


@pytest.mark.parametrize("contexts", [np.repeat(CONTEXTS, 3, axis=0), CONTEXTS[0]])
def test_the_total_is_the_weighted_sum_up_to_a_walks_end(contexts):
    paths = [LONG, SHORT, Path(0, ())]
    valued = rewarded(paths, contexts, *OF_GRAPH)
    assert [path.steps for path in valued] == [path.steps for path in paths]
    rewards = [path.rewards for path in valued if path.rewards]
    assert [one.reach for one in rewards] == [1, 1, 1]
    assert [one.relatedness for one in rewards] == pytest.approx([AFTER_TWO, AFTER_ONE, 1])
    assert [one.conciseness for one in rewards] == [0.5, 1, 0]
    # 1 + .5 · .892416 + .3 / 2; 1 + .5 · .853553 + .3; 1 + .5
    totals = [one.total for one in rewards]
    assert totals == pytest.approx([1.596208, 1.726777, 1.5], abs=1e-6)
    plan = PolicyPlan(reach=2, relatedness=3, conciseness=4)
    [weighted] = rewarded([LONG], CONTEXTS, *OF_GRAPH, plan)
    assert weighted.rewards and weighted.rewards.total == pytest.approx(2 + 3 * AFTER_TWO + 4 / 2)
    assert rewarded([], CONTEXTS[0], *OF_GRAPH) == []


def test_a_vector_of_zeros_is_related_to_nothing():
    by_step = relatedness_by_step(STARTS, RELATIONS, NODES, np.zeros_like(CONTEXTS))
    assert by_step.tolist() == [[0, 0, 0]]
