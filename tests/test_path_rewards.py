"""Rewards of walks: the values worked out by hand from equations 2 to 4."""

import numpy as np
import pytest

from tasks.paths.path import Path, Step
from tasks.paths.policy.rewards import (
    RewardWeights,
    conciseness,
    prefix_means,
    reach_rewards,
    relatedness_by_step,
    rewarded,
    walk_rewards,
)

# e_0 = (1, 0); re_1 = (0, 1), e_1 = (1, 1); re_2 = (0, -1), e_2 = (2, 0); c = (1, 0). So
# P_0 = (1, 0), P_1 = (2/3, 2/3), P_2 = (4/5, 1/5), whose cosines with c are 1, 1/√2 and 4/√17.
STARTS = np.array([[1, 0]], np.float32)
RELATIONS = np.array([[[0, 1], [0, -1]]], np.float32)
NODES = np.array([[[1, 1], [2, 0]]], np.float32)
CONTEXTS = np.array([[1, 0]], np.float32)
AFTER_ONE = (1 + 0.5**0.5) / 2  # .853553
AFTER_TWO = (1 + 0.5**0.5 + 4 / 17**0.5) / 3  # .892416


def times(count: int, *arrays: np.ndarray) -> list[np.ndarray]:
    return [np.repeat(array, count, axis=0) for array in arrays]


def test_a_prefix_is_the_mean_of_all_vectors_walked_so_far():
    means = prefix_means(STARTS, RELATIONS, NODES)
    assert means[0] == pytest.approx(np.array([[1, 0], [2 / 3, 2 / 3], [0.8, 0.2]]))


def test_relatedness_is_the_mean_over_prefixes_and_stops_at_a_walks_end():
    arrays = times(3, STARTS, RELATIONS, NODES)
    by_step = relatedness_by_step(*arrays, np.array([2, 1, 0]), *times(3, CONTEXTS))
    assert by_step[0] == pytest.approx([1, AFTER_ONE, AFTER_TWO])
    assert by_step[1] == pytest.approx([1, AFTER_ONE, AFTER_ONE])
    assert by_step[2] == pytest.approx([1, 1, 1])
    assert pytest.approx([0.853553, 0.892416], abs=1e-6) == [AFTER_ONE, AFTER_TWO]


def test_reach_and_conciseness():
    assert reach_rewards(np.array([True, False])).tolist() == [1, -1]
    assert conciseness(np.array([0, 1, 2, 4])).tolist() == [0, 1, 0.5, 0.25]


def test_the_total_is_the_weighted_sum():
    lengths, reached = np.array([2, 2, 1]), np.array([True, False, True])
    arrays = times(3, STARTS, RELATIONS, NODES)
    rewards = walk_rewards(*arrays, lengths, reached, *times(3, CONTEXTS))
    # 1 + .5 · .892416 + .3 / 2; -1 + the same; 1 + .5 · .853553 + .3
    assert rewards.total == pytest.approx([1.596208, -0.403792, 1.726777], abs=1e-6)
    weights = RewardWeights(reach=2, relatedness=3, conciseness=4)
    weighted = walk_rewards(*arrays, lengths, reached, *times(3, CONTEXTS), weights=weights)
    assert weighted.total[0] == pytest.approx(2 + 3 * AFTER_TWO + 4 / 2)
    first = rewards.of(1)
    assert (first.reach, first.conciseness) == (-1, 0.5)
    assert first.total == pytest.approx(-0.403792, abs=1e-6)


def test_paths_get_the_rewards_of_walks_that_arrive():
    nodes = np.concatenate([STARTS, NODES[0]])
    long = Path(0, (Step(0, False, 1), Step(1, True, 2)))
    short = Path(0, (Step(0, False, 1),))
    valued = rewarded([long, short], np.repeat(CONTEXTS, 2, axis=0), nodes, RELATIONS[0])
    assert [path.steps for path in valued] == [long.steps, short.steps]
    totals = [path.rewards.total for path in valued if path.rewards]
    assert totals == pytest.approx([1.596208, 1.726777], abs=1e-6)
    assert rewarded([], CONTEXTS, nodes, RELATIONS[0]) == []


def test_a_vector_of_zeros_is_related_to_nothing():
    zeros = np.zeros_like(CONTEXTS)
    by_step = relatedness_by_step(STARTS, RELATIONS, NODES, np.array([2]), zeros)
    assert by_step.tolist() == [[0, 0, 0]]
