"""Paths: every hop at once is what each gives alone; learning in one thread, as long as helps."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tasks.graphs.graph import Graph
from tasks.models.one_thread import one_thread
from tasks.programs.planner import learn as learning
from tasks.programs.planner.paths import follow, onward, paths_from, walk
from tests.film_questions import ONE_HOP, examples, graph

NAMES = st.sampled_from("abcdefg")
TRIPLES = st.lists(st.tuples(NAMES, st.sampled_from("rst"), NAMES), min_size=1, max_size=30)


@given(TRIPLES, st.sets(st.integers(0, 6), min_size=1))
def test_all_hops_at_once_are_each_hop_alone(
    triples: list[tuple[str, str, str]], chosen: set[int]
) -> None:
    graph = Graph.of("g", triples)
    nodes = np.array(sorted(n for n in chosen if n < graph.nodes), np.int32)
    one_by_one = [
        (hop, graph.step(nodes, hop[0], inverse=hop[1]).tolist())
        for hop in graph.relations_around(nodes)
    ]
    assert [(hop, reached.tolist()) for hop, reached in graph.fan(nodes)] == one_by_one
    start = nodes[:1]
    for hop, reached in onward(graph, start, nodes) if len(start) else ():
        assert np.array_equal(reached, follow(graph, start, nodes, hop))


@given(TRIPLES)
def test_paths_end_where_walking_them_ends(triples: list[tuple[str, str, str]]) -> None:
    graph = Graph.of("g", triples)
    start = np.array([0], np.int32)
    for path, nodes in paths_from(graph, start, 2):
        assert len(nodes) and 1 <= len(path) <= 2
        assert np.array_equal(nodes, walk(graph, start, path))


def test_threads_are_given_back_after_a_failure() -> None:
    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="stop"), one_thread():
        assert torch.get_num_threads() == 1
        raise ValueError("stop")
    assert torch.get_num_threads() == before


def test_a_held_out_part_decides_how_often_examples_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    films = graph()
    questions = examples(films, ONE_HOP)[:60]
    stages: dict[str, int] = {}

    def hear(stage: str, done: int, total: int) -> None:
        assert done <= total
        stages[stage] = stages.get(stage, 0) + 1

    learning.learn(films, questions, hear)
    assert "choose how long" not in stages
    stages.clear()
    monkeypatch.setattr(learning, "ENOUGH", 20)
    one, two = (learning.learn(films, questions, hear) for _ in range(2))
    assert stages["choose how long"] > 0
    assert stages["learn paths"] % (2 * -(-one.explained // learning.BATCH)) == 0
    assert torch.equal(one.model.weights["shared"], two.model.weights["shared"])
