"""What strategies take out of a graph, by hand and beside plain references."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.graphs.graph import Graph
from tasks.paths.extraction import shortest_paths as shortest_module
from tasks.paths.extraction.shortest_paths import ShortestPaths, relations_between
from tasks.paths.extraction.subgraph import SubgraphExtraction
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.neighbours import Neighbours
from tasks.paths.path import Extracted, GroundedQuestion

NOTHING = np.zeros(0, np.int32)
WIDTH = 16


def _vectors(graph: Graph, seed: int = 0) -> GraphVectors:
    rng = np.random.default_rng(seed)
    nodes, relations = (
        rng.normal(size=(count, WIDTH)) for count in (graph.nodes, len(graph.relations))
    )
    nodes, relations = (
        (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)
        for rows in (nodes, relations)
    )
    return GraphVectors(
        nodes=nodes,
        relations=relations,
        stem_keys=np.zeros(0, np.uint64),
        stem_nodes=NOTHING,
        neighbours=Neighbours.of(graph),
        basis=None,
        encoder_name="static",
        encoder_id="",
        key="",
    )


def _question(sources: list[int], *targets: list[int], seed: int = 0) -> GroundedQuestion:
    context = np.random.default_rng(seed).normal(size=WIDTH)
    return GroundedQuestion(
        "?",
        (context / np.linalg.norm(context)).astype(np.float32),
        np.array(sources, np.int32),
        tuple(np.array(nodes, np.int32) for nodes in targets),
    )


def _by_name(graph: Graph, sources: str, *targets: str) -> GroundedQuestion:
    def nodes(names: str) -> list[int]:
        return [int(graph.named(name)[0]) for name in names.split()]

    return _question(nodes(sources), *map(nodes, targets))


def _names(graph: Graph, extracted: Extracted) -> set[tuple[str, str, str]]:
    return {(graph.label(h), graph.relations[r], graph.label(t)) for h, r, t in extracted.edges}


KITCHEN = [
    ("ferret", "AtLocation", "cage"),
    ("shop", "HasA", "cage"),
    ("shop", "IsA", "building"),
    ("ferret", "IsA", "mammal"),
    ("mammal", "IsA", "animal"),
    ("animal", "AtLocation", "zoo"),
    ("zoo", "HasA", "cage"),
    ("cage", "MadeOf", "wire"),
    ("zoo", "SimilarTo", "shop"),
    ("zoo", "RelatedTo", "shop"),
    ("shop", "RelatedTo", "shop"),
]


def test_a_subgraph_joins_what_is_named_by_common_neighbours() -> None:
    graph = Graph.of("small", KITCHEN)
    question = _by_name(graph, "ferret", "shop", "zoo")
    [found] = SubgraphExtraction(graph, _vectors(graph)).extract([question])
    assert _names(graph, found) == {
        ("ferret", "AtLocation", "cage"),
        ("shop", "HasA", "cage"),
        ("zoo", "HasA", "cage"),
        ("zoo", "SimilarTo", "shop"),
        ("zoo", "RelatedTo", "shop"),
        ("shop", "RelatedTo", "shop"),
    }
    assert found.paths == () and found.edges.dtype == np.int32


def test_edges_come_by_their_likeness_to_the_question() -> None:
    graph = Graph.of("small", KITCHEN)
    vectors, question = _vectors(graph), _by_name(graph, "ferret", "shop", "zoo")
    [found] = SubgraphExtraction(graph, vectors).extract([question])
    nodes, relations = (part.astype(np.float64) for part in (vectors.nodes, vectors.relations))
    sums = [nodes[h] + relations[r] + nodes[t] for h, r, t in found.edges]
    cosines = [float(one @ question.context / np.linalg.norm(one)) for one in sums]
    assert cosines == sorted(cosines, reverse=True)


def test_the_nodes_between_that_are_nearest_to_the_question_are_kept() -> None:
    graph = Graph.of("fan", [(f"{end}", "to", f"m{n}") for n in range(50) for end in "ab"])
    vectors, question = _vectors(graph), _by_name(graph, "a", "b")
    kept = SubgraphExtraction(graph, vectors, most_nodes=10).nodes(question)
    between = np.array([int(graph.named(f"m{n}")[0]) for n in range(50)])
    nearest = between[np.argsort(-(vectors.nodes[between].astype(np.float32) @ question.context))]
    assert kept[:2].tolist() == [*question.sources, *question.targets[0]]
    assert set(kept[2:].tolist()) == set(nearest[:8].tolist())


def test_shortest_paths_lead_to_each_candidate() -> None:
    graph = Graph.of("small", KITCHEN)
    question = _by_name(graph, "ferret", "shop", "zoo", "building", "wire")
    [found] = ShortestPaths(graph, _vectors(graph)).extract([question])
    walks = {tuple(map(graph.label, path.nodes)) for path in found.paths}
    assert walks == {
        ("ferret", "cage", "shop"),
        ("ferret", "cage", "zoo"),
        ("ferret", "cage", "shop", "building"),
        ("ferret", "cage", "wire"),
    }
    [path] = [path for path in found.paths if graph.label(path.nodes[-1]) == "shop"]
    assert [(graph.relations[s.relation], s.inverse) for s in path.steps] == [
        ("AtLocation", False),
        ("HasA", True),
    ]
    assert [len(path.steps) for path in found.paths] == [2, 2, 2, 3]
    assert ("shop", "IsA", "building") in _names(graph, found) and len(found.edges) == 5
    [short] = ShortestPaths(graph, _vectors(graph), most_steps=2).extract([question])
    assert len(short.paths) == 3


def test_the_relation_of_a_step_is_the_one_nearest_to_the_question() -> None:
    graph = Graph.of("two", [("a", "one", "b"), ("a", "two", "b"), ("b", "three", "a")])
    vectors = _vectors(graph)
    for place, relation in enumerate(graph.relations):
        likest = vectors.relations[place].astype(np.float32)
        question = replace(_by_name(graph, "a", "b"), context=likest)
        [found] = ShortestPaths(graph, vectors).extract([question])
        [step] = found.paths[0].steps
        assert graph.relations[step.relation] == relation and step.inverse == (relation == "three")
    assert relations_between(graph, 0, 1).tolist() == [0, 1]


GRAPHS = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 2), st.integers(0, 11)), max_size=40, unique=True
)
NAMED = st.lists(st.integers(0, 11), max_size=4, unique=True)


def _graph(rows: list[tuple[int, int, int]]) -> Graph:
    """Return a graph of twelve nodes, whose numbers are their names."""
    everyone = [(str(n), "is", str(n)) for n in range(12)]
    return Graph.of("random", everyone + [(str(h), f"r{r}", str(t)) for h, r, t in rows])


def _adjacent(graph: Graph) -> dict[int, set[int]]:
    near: dict[int, set[int]] = {node: set() for node in range(graph.nodes)}
    for head, tail in zip(graph.heads.tolist(), graph.out_tails.tolist(), strict=True):
        if head != tail:
            near[head].add(tail)
            near[tail].add(head)
    return near


@settings(max_examples=80, deadline=None)
@given(rows=GRAPHS, named=st.lists(st.tuples(NAMED, NAMED, NAMED), max_size=4))
def test_subgraphs_are_those_of_a_plain_search(
    rows: list[tuple[int, int, int]], named: list[tuple[list[int], ...]]
) -> None:
    graph = _graph(rows)
    near = _adjacent(graph)
    assert all(near[n] == set(Neighbours.of(graph).around(np.array([n]))[1].tolist()) for n in near)
    questions = [_question(sources, *targets) for sources, *targets in named]
    extracted = SubgraphExtraction(graph, _vectors(graph)).extract(questions)
    triples = np.stack([graph.heads, graph.out_relations, graph.out_tails], axis=1).tolist()
    for parts, found in zip(named, extracted, strict=True):
        kept = {node for part in parts for node in part}
        kept |= {m for one, two in combinations(sorted(kept), 2) for m in near[one] & near[two]}
        expected = sorted([h, r, t] for h, r, t in triples if h in kept and t in kept)
        assert sorted(found.edges.tolist()) == expected


def _distance(near: dict[int, set[int]], sources: list[int], targets: list[int]) -> int | None:
    reached, steps = set(sources) - set(targets), 0
    seen = set(reached)
    while reached:
        steps += 1
        reached = {other for node in reached for other in near[node]} - seen
        seen |= reached
        if reached & set(targets):
            return steps
    return None


@settings(max_examples=80, deadline=None)
@given(rows=GRAPHS, sources=NAMED, targets=st.lists(NAMED, max_size=3), most=st.integers(1, 4))
def test_paths_are_as_short_as_a_plain_search_finds(
    rows: list[tuple[int, int, int]], sources: list[int], targets: list[list[int]], most: int
) -> None:
    graph = _graph(rows)
    [found] = ShortestPaths(graph, _vectors(graph), most).extract([_question(sources, *targets)])
    triples = set(zip(graph.heads, graph.out_relations, graph.out_tails, strict=True))
    lengths = [_distance(_adjacent(graph), sources, ends) for ends in targets]
    for path in found.paths:
        assert path.start in sources and len(path.steps) in lengths
        assert {(e.head, e.relation, e.tail) for e in path.edges} <= triples
        assert any(path.nodes[-1] in ends for ends in targets)
    for ends, length in zip(targets, lengths, strict=True):
        walked = [p for p in found.paths if p.nodes[-1] in ends and len(p.steps) == length]
        assert bool(walked) == (length is not None and length <= most)
    assert len({tuple(row) for row in found.edges.tolist()}) == len(found.edges)


STRATEGIES = (SubgraphExtraction, ShortestPaths)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_named_gives_nothing(strategy: type) -> None:
    for graph in (Graph.of("none", []), Graph.of("small", KITCHEN)):
        extraction = strategy(graph, _vectors(graph))
        assert extraction.extract([]) == []
        for question in (_question([]), _question([], [], [])):
            [found] = extraction.extract([question])
            assert found.edges.shape == (0, 3) and found.paths == ()
    [alone] = extraction.extract([_by_name(graph, "ferret")])
    assert alone.paths == ()
    [unasked] = extraction.extract([_question([], [0], [1])])
    assert unasked.edges.shape[1] == 3


@pytest.fixture(scope="module")
def hub() -> Graph:
    """Two nodes with 100,000 neighbours each, a thousand of which they share."""
    leaves = np.arange(2, 199_002, dtype=np.int32)
    heads = np.repeat(np.array([0, 1], np.int32), 100_000)
    tails = np.concatenate([leaves[:100_000], leaves[99_000:]])
    edges = np.stack([heads, np.zeros_like(heads), tails], axis=1)
    edges = np.concatenate([edges, [[0, 1, 1], [1, 1, 0]]]).astype(np.int32)
    labels = pa.array([f"n{n}" for n in range(199_002)])
    keys = np.zeros(0, np.uint64), NOTHING, np.zeros(0, np.float32)
    return Graph.from_arrays("hub", ["to", "beside"], labels, labels, edges, keys)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_hubs_are_passed(hub: Graph, strategy: type) -> None:
    extraction = strategy(hub, _vectors(hub))
    between = extraction.extract([_question([0], [1])])[0].edges
    assert {(0, 1, 1), (1, 1, 0)} & set(map(tuple, between.tolist()))
    leaves = [_question([5], [7], [150_000], seed=n) for n in range(3)]
    for found in extraction.extract(leaves):
        assert 0 < len(found.edges) <= 2_000


def test_subgraphs_of_hubs_are_capped(hub: Graph) -> None:
    extraction = SubgraphExtraction(hub, _vectors(hub))
    nodes = extraction.nodes(_question([0], [1]))
    assert len(nodes) == 200 and nodes[:2].tolist() == [0, 1]
    assert len(extraction.extract([_question([0], [1])])[0].edges) == 2 * 198 + 2
    many = extraction.nodes(_question(list(range(500))))
    assert many.tolist() == list(range(200))


def test_the_widest_nodes_are_left_out_beyond_a_limit(
    hub: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = _vectors(hub)
    question = _question([5], [150_000])  # over both hubs
    assert len(ShortestPaths(hub, vectors).extract([question])[0].paths) == 1
    monkeypatch.setattr(shortest_module, "MOST_WIDENED", 1000)
    assert ShortestPaths(hub, vectors).extract([question])[0].paths == ()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_questions_do_not_depend_on_their_neighbours_or_threads(strategy: type) -> None:
    rng = np.random.default_rng(3)
    rows = [(str(h), f"r{r}", str(t)) for h, r, t in rng.integers(0, 60, (300, 3)).tolist()]
    graph = Graph.of("random", rows)
    extraction = strategy(graph, _vectors(graph))
    questions = [
        _question(*np.split(rng.permutation(graph.nodes)[:6], 3), seed=n) for n in range(20)
    ]
    together = extraction.extract(questions)
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(lambda question: extraction.extract([question])[0], questions))
    for one, other in zip(together, alone, strict=True):
        assert set(map(tuple, one.edges.tolist())) == set(map(tuple, other.edges.tolist()))
        assert one.edges[:1].tolist() == other.edges[:1].tolist() and one.paths == other.paths
