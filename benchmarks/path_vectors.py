"""Whether vectors of nodes and questions in one space tell what a question is about.

    python -m benchmarks.path_vectors [--folder FOLDER]

For training questions of CommonsenseQA with ConceptNet (CN-100K): is the node of the right choice
nearer to the question than that of a wrong one, and are the neighbours of the right choice nearer
than those of a wrong one? Shares of pairs, where a tie is wrong, averaged over questions; chance is
a half. Questions 1 to 1,500 were in view when the defaults of `tasks.paths.graph_vectors` were
chosen, 1,501 to 3,000 confirmed them; the figures are of the next 3,000. The vectors are kept in
the folder, if one is given.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import DATA, parser_of, report, run_command
from benchmarks.path_extraction import conceptnet
from tasks.graphs.graph import Graph
from tasks.paths.graph_vectors import GraphVectors, graph_vectors
from tasks.questions.formats import READERS
from tasks.questions.question import BenchmarkQuestion

FIRST, LAST = 3000, 6000
ENCODERS = ("static", "minilm")


def shares(
    graph: Graph, vectors: GraphVectors, questions: list[BenchmarkQuestion]
) -> dict[str, list[float]]:
    """Return for each question that can be judged the shares of pairs in the right order."""
    contexts = vectors.encode([question.question for question in questions])
    found: dict[str, list[float]] = {"choices": [], "neighbours": []}
    for question, context in zip(questions, contexts, strict=True):
        named = {choice: graph.named(choice)[:1] for choice in question.choices}
        nodes = {choice: int(node[0]) for choice, node in named.items() if len(node)}
        right = nodes.pop(question.answers[0], None)
        if right is None or not nodes:
            continue
        likeness = {
            node: near_likeness(vectors, context, node) for node in (right, *nodes.values())
        }
        own, around = likeness.pop(right)
        found["choices"].append(float(np.mean([own > other for other, _ in likeness.values()])))
        pairs = [
            float((around[:, None] > others).mean())
            for _, others in likeness.values()
            if len(around) and len(others)
        ]
        if pairs:
            found["neighbours"].append(float(np.mean(pairs)))
    return found


def near_likeness(
    vectors: GraphVectors, context: np.ndarray, node: int
) -> tuple[float, np.ndarray]:
    """Return the cosines of a context with a node, and with the node's neighbours."""
    _, neighbours = vectors.neighbours.around(np.array([node]))
    rows = vectors.nodes[[node, *neighbours]].astype(np.float32) @ context
    return float(rows[0]), rows[1:]


def with_interval(values: list[float]) -> dict[str, Any]:
    """Return the mean of values over questions, with its 95 % interval by bootstrap."""
    rng, rows = np.random.default_rng(0), np.array(values)
    means = [rng.choice(rows, len(rows)).mean() for _ in range(1000)]
    low, high = np.quantile(means, [0.025, 0.975])
    return {
        "questions": len(values),
        "share": round(float(rows.mean()), 3),
        "interval": [round(float(low), 3), round(float(high), 3)],
    }


def main() -> None:
    """Measure both encoders and write the figures."""
    parser = parser_of(__doc__)
    parser.add_argument("--folder", type=Path, help="where vectors are kept; else they are not")
    parser.add_argument("--encoders", nargs="+", choices=ENCODERS, default=ENCODERS)
    parser.add_argument("--limit", type=int, metavar="N", help="questions (all)")
    chosen = parser.parse_args()
    folder = chosen.folder
    graph = conceptnet()
    path = DATA / "commonsenseqa" / "train.jsonl.gz"
    questions = list(READERS["commonsenseqa"](path).questions[FIRST:LAST][: chosen.limit])
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for name in chosen.encoders:
            vectors = graph_vectors(graph, folder or Path(temporary), name)
            found = shares(graph, vectors, questions)
            figures[name] = {key: with_interval(values) for key, values in found.items()}
    report("path-vectors", figures)


if __name__ == "__main__":
    run_command(main)
