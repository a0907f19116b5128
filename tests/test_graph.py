"""A graph as arrays does what a plain dict of triples does, and its files bring it back."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tasks.graphs.graph import Graph, open_graph, row_order, save_graph
from tasks.graphs.imported import alias_shares
from tasks.graphs.name_keys import (
    as_ids,
    by_key,
    digests,
    joined,
    name_keys,
)

FILMS = [
    ("Alien", "directed by", "Ridley Scott"),
    ("Alien", "starred actors", "Tom Skerritt"),
    ("Alien", "starred actors", "Sigourney Weaver"),
    ("Aliens", "starred actors", "Sigourney Weaver"),
    ("Gladiator", "directed by", "Ridley Scott"),
]
names = st.sampled_from("abcdefgh")
triples = st.lists(st.tuples(names, st.sampled_from("rst"), names), max_size=40)


def labels_of(graph: Graph, nodes: np.ndarray) -> set[str]:
    return {graph.label(node) for node in nodes}


def node_of(graph: Graph, label: str) -> int:
    return graph.labels.to_pylist().index(label)


def test_steps_of_a_small_graph():
    graph = Graph.of("films", [*FILMS, FILMS[0]], [("Sir Ridley", "Ridley Scott")])
    assert (graph.nodes, len(graph.heads)) == (6, 5)
    (alien,) = graph.named("ALIEN")
    directed, starred = (graph.relation_numbers[r] for r in ("directed by", "starred actors"))
    cast = graph.step(np.array([alien]), starred)
    assert labels_of(graph, cast) == {"Tom Skerritt", "Sigourney Weaver"}
    both = graph.step(cast, starred, inverse=True)
    assert labels_of(graph, both) == {"Alien", "Aliens"}
    (scott,) = graph.named("sir ridley")
    assert graph.relations_around(np.array([scott])) == [(directed, True)]
    assert list(graph.named("nobody")) == []


@given(triples, st.lists(names, max_size=4), st.sampled_from("rst"), st.booleans())
def test_step_does_what_a_plain_dict_does(told, starts, relation, inverse):
    graph = Graph.of("g", told)
    plain: dict[str, set[str]] = {}
    for head, kind, tail in told:
        if kind == relation:
            one, other = (tail, head) if inverse else (head, tail)
            plain.setdefault(one, set()).add(other)
    known = [s for s in starts if s in graph.labels.to_pylist()]
    nodes = np.array([node_of(graph, s) for s in known], np.int32)
    number = graph.relation_numbers.get(relation, -1)
    reached = graph.step(nodes, number, inverse=inverse)
    assert list(reached) == sorted(set(reached.tolist()))
    assert labels_of(graph, reached) == set().union(*(plain.get(s, set()) for s in known))


@given(triples)
def test_all_ways_around_a_node_agree(told):
    graph = Graph.of("g", told)
    for node, label in enumerate(graph.labels.to_pylist()):
        leaving = {(graph.relations[e.relation], graph.label(e.tail)) for e in graph.leaving(node)}
        entering = {
            (graph.relations[e.relation], graph.label(e.head)) for e in graph.entering(node)
        }
        assert leaving == {(r, t) for h, r, t in told if h == label}
        assert entering == {(r, h) for h, r, t in told if t == label}
        (out, tails), (into, heads) = graph.edges_around(node, 1000)
        assert (len(out), len(into)) == (len(leaving), len(entering))
        assert {
            (graph.relations[r], graph.label(t)) for r, t in zip(out, tails, strict=True)
        } == leaving
        assert {
            (graph.relations[r], graph.label(h)) for r, h in zip(into, heads, strict=True)
        } == entering
        (out, _), (into, _) = graph.edges_around(node, 2)
        assert len(out) + len(into) == min(2, len(leaving) + len(entering))


@given(triples)
def test_files_bring_a_graph_back(tmp_path_factory, told):
    graph = Graph.of("g", told, [("alias", "a")])
    folder = tmp_path_factory.mktemp("graph") / "0000"
    save_graph(graph, folder)
    opened = open_graph(folder)
    assert (opened.name, opened.relations) == (graph.name, graph.relations)
    assert list(opened.named("alias")) == list(graph.named("alias"))
    for name in ("heads", "out_offsets", "out_relations", "out_tails", "in_offsets", "in_edges"):
        assert np.array_equal(getattr(opened, name), getattr(graph, name)), name
    assert [opened.label(n) for n in range(opened.nodes)] == graph.labels.to_pylist()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True))
def test_odd_names_come_back_byte_for_byte(tmp_path_factory, odd):
    folder = tmp_path_factory.mktemp("odd") / "0000"
    save_graph(Graph.of("g", [(name, f"{name}\n", name) for name in odd]), folder)
    opened = open_graph(folder)
    assert [opened.label(node) for node in range(opened.nodes)] == odd
    assert opened.relations == [f"{name}\n" for name in odd]


def test_the_weightiest_bearer_of_a_name_comes_first_and_once():
    keys = name_keys(["Paris", "Rome", "paris", "PARIS", "The Paris"])
    nodes, weights = np.array([2, 1, 3, 2, 0]), np.array([0.2, 1.0, 0.7, 0.1, 0.1])
    hashes, bearers = by_key(keys, nodes, weights)
    assert list(hashes) == sorted(hashes)
    assert list(bearers[hashes == keys[0]]) == [3, 2, 0]
    assert list(bearers[hashes == keys[1]]) == [1]


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), max_size=50), st.sampled_from([10, 2**30]))
def test_rows_are_ordered_by_their_columns(rows, size):
    table = np.array(rows, np.int64).reshape(-1, 3)
    order = row_order(list(table.T), [size] * 3)
    assert [tuple(row) for row in table[order].tolist()] == sorted(rows)


def test_ids_are_of_letters_and_digits_and_tell_order():
    sums = digests("graph\x1f", pa.array(["Ada", "Byron", ""]))
    ids = as_ids(sums).to_pylist()
    assert ids == as_ids(digests("graph\x1f", pa.array(["Ada", "Byron", ""]))).to_pylist()
    assert len(set(ids)) == 3
    assert all(len(i) == 12 and i.isascii() and i.isalnum() for i in ids)
    there, back = joined([sums[:1], sums[1:2]]), joined([sums[1:2], sums[:1]])
    assert as_ids(there).to_pylist() != as_ids(back).to_pylist()


def test_shares_of_a_name_sum_to_one_and_follow_what_is_known():
    names_told = pa.chunked_array([["Rome", "Paris", "Paris"], ["Rome", "Roma"]])
    nodes = np.array([0, 1, 2, 0, 0], np.int32)
    texts, bearers, shares = alias_shares(names_told, nodes, np.array([4, 2, 0]))
    found = list(zip(texts.to_pylist(), bearers.tolist(), shares.tolist(), strict=True))
    assert found == [("Paris", 1, 0.75), ("Paris", 2, 0.25), ("Roma", 0, 1.0), ("Rome", 0, 1.0)]


def test_the_x_of_y_is_also_y_s_x():
    graph = Graph.of("g", [("Alma's Old Bridge", "in", "Corve"), ("mayor of Corve", "is", "Ada")])
    assert labels_of(graph, graph.named("the Old Bridge of Alma")) == {"Alma's Old Bridge"}
    assert labels_of(graph, graph.named("Corve's mayor")) == {"mayor of Corve"}
    assert len(graph.named("bridge of Corve")) == 0
