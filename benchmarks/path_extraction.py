"""P_sub of a thousand questions beside networkx and igraph, and the store that it reads.

    python -m benchmarks.path_extraction [--edges 10000000] [--looped 100] [--rounds 3]

ConceptNet (CN-100K, 102,400 edges) gets the first thousand training questions of CommonsenseQA, a
drawn graph of any size gets as many questions, with hubs among their sources and targets. The peers
do the same work in the way of their documentation, question by question: the neighbours of each
named node, their intersections in pairs, the edges of the subgraph, ranked by the same cosines.
Both must take the same edges. Static vectors are made in both graphs; names of the drawn one are
two words. Times are of the processor. A peer that is not installed is skipped, which the results
say.
"""

import gzip
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.command import DATA, parser_of, report, run_command
from tasks.graphs.graph import Graph, open_graph, save_graph
from tasks.models.encoders.minilm import minilm_folder
from tasks.paths.extraction.subgraph import MOST_EDGES, MOST_NODES, SubgraphExtraction
from tasks.paths.graph_vectors import GraphVectors, content_key, graph_vectors, open_vectors
from tasks.paths.grounding import Grounder
from tasks.paths.path import GroundedQuestion
from tasks.questions.formats import READERS

QUESTIONS = 1000
Rows = set[tuple[int, int, int]]
Adjacency = Callable[[int], set[int]]
Subgraph = Callable[[list[int]], list[tuple[int, int, int]]]


def conceptnet() -> Graph:
    """Return the graph of CN-100K: training, validation and test triples."""
    triples = []
    for name in ("train.txt.gz", "valid.txt", "test.txt"):
        path = DATA / "conceptnet" / "CN-100K" / name
        data = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
        rows = (line.split("\t") for line in data.decode("utf-8").splitlines())
        triples += [(head, relation, tail) for relation, head, tail, *_ in rows]
    return Graph.of("conceptnet", triples)


def drawn(edges: int) -> Graph:
    """Return a graph of so many different edges among a fifth as many nodes, with hubs."""
    rng = np.random.default_rng(0)
    nodes, kinds = edges // 5, 40
    vocabulary = (minilm_folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    words = np.array([word for word in vocabulary if word.isalpha() and len(word) > 2])
    first, second = words[rng.integers(0, len(words), (2, nodes))]
    labels = pa.array(np.char.add(np.char.add(first, " "), second))
    heads = (rng.random(2 * edges) ** 2 * nodes).astype(np.int64)
    tails = (rng.random(2 * edges) ** 3 * nodes).astype(np.int64)
    pairs = rng.permutation(np.unique(heads * nodes + tails))[:edges]
    rows = np.stack([pairs // nodes, rng.integers(0, kinds, len(pairs)), pairs % nodes], axis=1)
    none = (np.zeros(0, np.uint64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    relations = [f"relation_{n}" for n in range(kinds)]
    return Graph.from_arrays("drawn", relations, labels, labels, rows.astype(np.int32), none)


def asked_of_conceptnet(graph: Graph, vectors: GraphVectors) -> list[GroundedQuestion]:
    """Return training questions of CommonsenseQA, grounded with all their choices."""
    benchmark = READERS["commonsenseqa"](DATA / "commonsenseqa" / "train.jsonl.gz")
    questions = benchmark.questions[:QUESTIONS]
    return Grounder(graph, vectors).ground(
        [question.question for question in questions], [question.choices for question in questions]
    )


def asked_of_drawn(graph: Graph, vectors: GraphVectors) -> list[GroundedQuestion]:
    """Return questions with five sources and five targets each: one in five by its edges."""
    rng = np.random.default_rng(1)
    ends = graph.out_tails[rng.integers(0, len(graph.out_tails), (QUESTIONS, 10))]
    evenly = rng.integers(0, graph.nodes, (QUESTIONS, 10))
    named = np.where(rng.random((QUESTIONS, 10)) < 0.2, ends, evenly).astype(np.int32)
    contexts = vectors.encode([graph.label(row[0]) for row in named])
    return [
        GroundedQuestion("", context, row[:5], tuple(row[5:, None]))
        for row, context in zip(named, contexts, strict=True)
    ]


def with_networkx(graph: Graph) -> tuple[Adjacency, Subgraph]:
    """Return how networkx finds neighbours and the edges of a subgraph."""
    import networkx as nx

    columns = (graph.heads, graph.out_tails, graph.out_relations)
    edges = zip(*(column.tolist() for column in columns), strict=True)
    parallel = len(np.unique(graph.heads.astype(np.int64) * graph.nodes + graph.out_tails))
    loaded: Any = nx.MultiDiGraph() if parallel < len(graph.heads) else nx.DiGraph()
    loaded.add_nodes_from(range(graph.nodes))
    if loaded.is_multigraph():
        loaded.add_edges_from(edges)
        kinds: dict[str, Any] = {"keys": True}
    else:
        loaded.add_weighted_edges_from(edges, weight="kind")
        kinds = {"data": "kind"}

    def subgraph(nodes: list[int]) -> list[tuple[int, int, int]]:
        return [(h, r, t) for h, t, r in loaded.subgraph(nodes).edges(**kinds)]

    return lambda node: set(nx.all_neighbors(loaded, node)) - {node}, subgraph


def with_igraph(graph: Graph) -> tuple[Adjacency, Subgraph]:
    """Return how igraph finds neighbours and the edges of a subgraph."""
    import igraph

    pairs = np.stack([graph.heads, graph.out_tails], axis=1)
    loaded: Any = igraph.Graph(n=graph.nodes, edges=pairs, directed=True)
    loaded.es["kind"] = graph.out_relations.tolist()

    def subgraph(nodes: list[int]) -> list[tuple[int, int, int]]:
        own = sorted(nodes)  # the order in which the subgraph numbers them
        part = loaded.induced_subgraph(own, implementation="create_from_scratch")
        ends = zip(part.get_edgelist(), part.es["kind"], strict=True)
        return [(own[h], r, own[t]) for (h, t), r in ends]

    return lambda node: set(loaded.neighbors(node)) - {node}, subgraph


PEERS = {"networkx": with_networkx, "igraph": with_igraph}


def looped(
    question: GroundedQuestion,
    vectors: tuple[np.ndarray, np.ndarray],
    adjacency: Adjacency,
    subgraph: Subgraph,
) -> np.ndarray:
    """Return P_sub of one question, by a peer's neighbours and subgraphs."""
    nodes, relations = vectors
    named = [*question.sources.tolist(), *(n for t in question.targets for n in t.tolist())]
    named = list(dict.fromkeys(named))[:MOST_NODES]
    near = {node: adjacency(node) for node in named}
    between: set[int] = set()
    for one, other in combinations(named, 2):
        between |= near[one] & near[other]
    others = np.array(sorted(between - set(named)), np.int64)
    if len(others) > MOST_NODES - len(named):
        likeness = nodes[others].astype(np.float32) @ question.context
        others = others[np.argsort(-likeness, kind="stable")[: MOST_NODES - len(named)]]
    rows = np.array(subgraph([*named, *others.tolist()]), np.int64).reshape(-1, 3)
    heads, kinds, tails = rows.T
    sums = nodes[heads].astype(np.float32) + relations[kinds] + nodes[tails]
    lengths = np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
    return rows[np.argsort(-(sums @ question.context) / lengths, kind="stable")[:MOST_EDGES]]


def measure(
    graph: Graph,
    ask: Callable[[Graph, GraphVectors], list[GroundedQuestion]],
    rounds: int,
    few: int,
) -> dict[str, Any]:
    """Return the times of store and P_sub in a graph; peers get the first `few` questions."""
    figures: dict[str, Any] = {"nodes": graph.nodes, "edges": len(graph.heads)}
    with tempfile.TemporaryDirectory() as folder:
        save_graph(graph, Path(folder) / "graph")
        graph = open_graph(Path(folder) / "graph")
        seconds, _ = timed(lambda: graph_vectors(graph, Path(folder), "static"))
        key = content_key(graph, "static")
        figures["store, seconds to make"] = round(seconds, 2)
        seconds, vectors = timed(lambda: open_vectors(Path(folder) / key))
        figures["store, seconds to open"] = round(seconds, 4)
        seconds, _ = timed(lambda: graph_vectors(graph, Path(folder), "static"))
        figures["store, seconds to check and open"] = round(seconds, 4)
        figures["store, bytes"] = sum(f.stat().st_size for f in (Path(folder) / key).iterdir())
        figures["peak memory so far, bytes"] = (
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        )
        seconds, questions = timed(lambda: ask(graph, vectors))
        figures["grounding, ms a question"] = round(seconds / len(questions) * 1000, 3)
        extraction = SubgraphExtraction(graph, vectors)
        seconds, found = timed(lambda: extraction.extract(questions))
        figures["first 1000, seconds"] = round(seconds, 3)
        figures["edges a question"] = round(float(np.mean([len(one.edges) for one in found])), 1)

        def own() -> object:
            return extraction.extract(questions)

        def alone() -> object:
            return [extraction.extract([one]) for one in questions[:100]]

        best = [min(timed(run)[0] for _ in range(rounds)) for run in (own, alone)]
        figures["almanac, ms a question"] = round(best[0] / len(questions) * 1000, 4)
        figures["almanac one by one, ms a question"] = round(best[1] / 100 * 1000, 4)
        edges = [{tuple(row) for row in one.edges.tolist()} for one in found[:few]]
        for name, load in PEERS.items():
            if find_spec(name) is None:
                print(f"{name} is not installed and left out.", file=sys.stderr)
                continue
            figures[name] = beside(
                name, partial(load, graph), questions[:few], vectors, edges, own, rounds
            )
    return figures


def beside(
    name: str,
    load: Callable[[], tuple[Adjacency, Subgraph]],
    questions: Sequence[GroundedQuestion],
    vectors: GraphVectors,
    expected: list[Rows],
    own: Callable[[], object],
    rounds: int,
) -> dict[str, Any]:
    """Return a peer's times; it takes turns with the own extraction of QUESTIONS questions."""
    if find_spec(name) is None:
        return {"skipped": f"{name} is not installed"}
    loading, parts = timed(load)
    rows = vectors.nodes, vectors.relations.astype(np.float32)
    theirs, ours = [], []
    for _ in range(rounds):
        seconds, found = timed(lambda: [looped(one, rows, *parts) for one in questions])
        theirs.append(seconds / len(questions))
        ours.append(timed(own)[0] / QUESTIONS)
    same = [
        {tuple(row) for row in one.tolist()} == rows
        for one, rows in zip(found, expected, strict=True)
    ]
    return {
        "seconds to load": round(loading, 2),
        "questions": len(questions),
        "ms a question": round(min(theirs) * 1000, 3),
        "times as fast": round(min(theirs) / min(ours), 1),
        "questions with the same edges": sum(same),
    }


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor's seconds that a function takes, and what it returns."""
    started = time.process_time()
    result = run()
    return time.process_time() - started, result


def main() -> None:
    """Measure both graphs and write the figures."""
    parser = parser_of(__doc__)
    parser.add_argument("--edges", type=int, default=10_000_000, help="edges of the drawn graph")
    parser.add_argument("--looped", type=int, default=100, help="its questions for the peers")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    figures = {
        "conceptnet": measure(conceptnet(), asked_of_conceptnet, options.rounds, QUESTIONS),
        "drawn": measure(drawn(options.edges), asked_of_drawn, options.rounds, options.looped),
    }
    report("path-extraction", figures)


if __name__ == "__main__":
    run_command(main)
