"""Paths: every hop from some nodes at once is what each hop gives alone; none ends at its start."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tasks.graphs.graph import Graph
from tasks.planner.candidates import longer_paths, short_paths
from tasks.planner.path_model import one_thread
from tasks.planner.paths import follow, leads_back, onward, paths_from, walk
from tasks.planner.topics import Topic, topics_in

NAMES = st.sampled_from("abcdefg")
TRIPLES = st.lists(st.tuples(NAMES, st.sampled_from("rst"), NAMES), min_size=1, max_size=30)
FILMS = Graph.of(
    "films",
    [
        ("Alien", "directed_by", "Ridley Scott"),
        ("Gladiator", "directed_by", "Ridley Scott"),
        ("Alien", "release_year", "1979"),
        ("Solo Film", "directed_by", "Solo Maker"),
    ],
)


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
        assert len(nodes)
        assert np.array_equal(nodes, walk(graph, start, path))


def _topic(question: str) -> Topic:
    return topics_in(question, FILMS)[0]


def _ends(paths: object) -> list[list[str]]:
    return [[FILMS.label(node) for node in nodes] for _, nodes in paths]  # type: ignore[attr-defined]


def test_candidates_do_not_end_where_they_began() -> None:
    solo = _topic("who made Solo Film")
    assert _ends(short_paths(FILMS, solo, 2)) == [["Solo Maker"]]
    alien = _topic("other films of who made Alien")
    assert ["Gladiator"] in _ends(short_paths(FILMS, alien, 2))
    one_hop = list(short_paths(FILMS, solo, 1))
    assert list(longer_paths(FILMS, solo, one_hop)) == []
    assert leads_back(solo.nodes, solo.nodes)
    assert not leads_back(solo.nodes, alien.nodes)


def test_threads_are_given_back_after_a_failure() -> None:
    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="stop"), one_thread():
        assert torch.get_num_threads() == 1
        raise ValueError("stop")
    assert torch.get_num_threads() == before
