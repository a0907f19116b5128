"""What training a path policy brings: gold paths and right answers, beside three other ways.

    python -m benchmarks.path_policy [--sets pathquestion-2,pathquestion-3,metaqa-2] [--limit N]

A policy learns from the training questions and their answers alone, as `almanac train-paths` has
it; of PathQuestion, that is a half that shares no entity with the other. Test questions are asked
in two ways: openly, and with the right answer given as the target, as in KnowGPT's training. The
ways compared:

trained        trails of the policy, ranked by its probability and the paths' rewards
untrained      the same with a network that has learned nothing and knows only shared words
breadth-first  all trails of up to three hops, the shorter ones first, ranked by rewards alone
P_sub          paths within the two-hop subgraph of the question and its target, ranked by rewards

`first` is the share of questions whose gold path, its relations and their order, comes first, and
`among 5` the share in which it is among the first five; `right` is the share with a right answer
first. MetaQA's gold paths are the relations of a question's kind. Intervals (95 %) are over groups
of questions that share entities, differences are paired.
"""

import gzip
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import numpy as np
import torch

from benchmarks.command import data, parser_of, report, run_command
from benchmarks.fact_check import interval
from tasks.graphs.graph import Graph
from tasks.paths.extraction.subgraph import SubgraphExtraction
from tasks.paths.extraction.walks import PolicyWalks
from tasks.paths.graph_vectors import graph_vectors
from tasks.paths.path import GroundedQuestion, Path
from tasks.paths.path_graph import PathGraph
from tasks.paths.policy.network import PolicyNetwork
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.rewards import rewarded
from tasks.paths.policy.trails import explored, readings_of
from tasks.paths.policy.train import TrainedPolicy, train_policy
from tasks.questions.formats.metaqa import read_metaqa
from tasks.questions.formats.pathquestion import read_pathquestion
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample, split
from tasks.train_paths import examples_of
from tests.path_measures import simple_paths, steps_around

SETS = ("pathquestion-2", "pathquestion-3", "metaqa-2")
TRIED = 150  # trails of one reading that the breadth-first search continues
STEPS, MOST = 3, 5

Outcome = tuple[list[tuple[str, ...]], list[int]]  # relations of paths, and answers, best first


def outcome_of(paths: PathGraph, found: Sequence[Path]) -> Outcome:
    """Return the distinct relations and ends of paths."""
    names = [tuple(paths.graph.relations[step.relation] for step in p.steps) for p in found]
    return list(dict.fromkeys(names)), list(dict.fromkeys(path.nodes[-1] for path in found))


def by_policy(paths: PathGraph, walks: PolicyWalks, asked: GroundedQuestion) -> Outcome:
    """Return what a policy finds, openly without targets."""
    if asked.targets:
        return outcome_of(paths, walks.extract([asked])[0].paths)
    proposed, extracted = walks.propose(asked)
    names, _ = outcome_of(paths, extracted.paths)
    return names, [int(proposal.nodes[0]) for proposal in proposed]


def breadth_first(paths: PathGraph, asked: GroundedQuestion) -> Outcome:
    """Return the paths of a breadth-first search, ranked by their rewards."""
    found: list[Path] = []
    for reading in readings_of(asked.text, paths.graph):
        for trail in explored(paths.graph, reading, STEPS, TRIED):
            ends = trail.ends[:1]
            if asked.targets:
                ends = np.intersect1d(asked.targets[0], trail.ends)
            for node in ends.tolist():
                found += trail.paths_to(paths.graph, node)
    return outcome_of(paths, ranked(paths, found, asked.context))


def within_subgraph(
    paths: PathGraph, subgraph: SubgraphExtraction, asked: GroundedQuestion
) -> Outcome:
    """Return the simple paths from the question's names to its target in P_sub."""
    named = [reading.nodes for reading in readings_of(asked.text, paths.graph)]
    sources = np.concatenate([np.zeros(0, np.int32), *named])
    [extracted] = subgraph.extract([replace(asked, sources=np.unique(sources).astype(np.int32))])
    around, targets = steps_around(extracted.edges), set(asked.targets[0].tolist())
    found = [
        Path(start, steps)
        for start in np.unique(sources).tolist()
        for steps in simple_paths(around, (start,), targets, STEPS)
    ]
    return outcome_of(paths, ranked(paths, found, asked.context))


def ranked(paths: PathGraph, found: Sequence[Path], context: np.ndarray) -> list[Path]:
    """Return paths with the highest rewards first."""
    vectors = paths.vectors
    valued = rewarded(found, context, vectors.nodes, vectors.relations)
    return sorted(valued, key=lambda path: -(path.rewards.total if path.rewards else 0))


def measured(
    paths: PathGraph, policy: TrainedPolicy, questions: Sequence[BenchmarkQuestion]
) -> dict[str, Any]:
    """Return the figures of every way, and what training brings."""
    network = PolicyNetwork.untrained(policy.network.shape, policy.plan.seed)
    walks = PolicyWalks.over(paths.graph, paths.vectors, policy)
    untrained = replace(walks, policy=replace(policy, network=network))
    subgraph = SubgraphExtraction(paths.graph, paths.vectors)
    contexts = paths.vectors.encode([question.question for question in questions])
    none = np.zeros(0, np.int32)
    rows: dict[str, list[list[float]]] = {}
    for number, (question, context) in enumerate(zip(questions, contexts, strict=True), 1):
        gold = np.concatenate([none, *map(paths.graph.bearers, question.answers)])
        given = GroundedQuestion(question.question, context, none, (gold,))
        openly = replace(given, targets=())
        outcomes = {
            "open, trained": by_policy(paths, walks, openly),
            "open, untrained": by_policy(paths, untrained, openly),
            "open, breadth-first": breadth_first(paths, openly),
            "given, trained": by_policy(paths, walks, given),
            "given, untrained": by_policy(paths, untrained, given),
            "given, breadth-first": breadth_first(paths, given),
            "given, P_sub": within_subgraph(paths, subgraph, given),
        }
        for name, (relations, ends) in outcomes.items():
            right = bool(ends) and ends[0] in gold
            first, among = relations[:1] == [question.gold], question.gold in relations[:MOST]
            rows.setdefault(name, []).append([float(first), float(among), float(right)])
        if number % 100 == 0:
            print(f"{number} of {len(questions)}", file=sys.stderr, flush=True)
    keys = [question.split_key or question.id for question in questions]
    tables = {name: np.array(values) for name, values in rows.items()}
    measures = [("first", 0), ("among 5", 1)] if questions[0].gold else []
    measures.append(("right", 2))
    figures: dict[str, Any] = {"questions": len(questions), "learned from": policy.learned_from}
    for name, table in tables.items():
        asked_openly = name.startswith("open")
        shown = measures if asked_openly else measures[:-1]
        figures[name] = {label: share(keys, table[:, column]) for label, column in shown}
    for asked in ("open", "given"):
        more = tables[f"{asked}, trained"] - tables[f"{asked}, untrained"]
        shown = measures if asked == "open" else measures[:-1]
        figures[f"{asked}, trained less untrained"] = {
            label: share(keys, more[:, column]) for label, column in shown
        }
    return figures


def share(keys: Sequence[str], values: np.ndarray) -> dict[str, Any]:
    """Return a mean with its interval."""
    return {
        "share": round(float(values.mean()), 4),
        "interval": interval(keys, lambda chosen: values[chosen].mean()),
    }


def graph_of(name: str, file: File, separator: str) -> Graph:
    """Return the graph whose triples are the lines of a file."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        triples = [line.rstrip("\n").split(separator)[:3] for line in lines]
    return Graph.of(name, ((head, relation, tail) for head, relation, tail in triples))


def sides_of(name: str) -> tuple[Graph, list[BenchmarkQuestion], list[BenchmarkQuestion]]:
    """Return the graph of a set, with its training and its test questions."""
    kind, hops = name.rsplit("-", 1)
    if kind == "metaqa":
        benchmark = read_metaqa(data("metaqa", f"{hops}-hop"))
        return graph_of(name, data("metaqa", "kb.txt.gz"), "|"), *split(benchmark)
    benchmark = read_pathquestion(data("pathquestion", f"PQ-{hops}H.txt.gz"))
    return graph_of(name, data("pathquestion", f"{hops}H-kb.txt"), "\t"), *split(benchmark)


def results(
    names: Sequence[str], limit: int | None, plan: PolicyPlan, cache: File
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of each set."""
    for name in names:
        graph, training, test = sides_of(name)
        vectors = graph_vectors(graph, cache)
        paths = PathGraph(graph, vectors)
        examples = examples_of(paths, sample(training, plan.questions))
        policy = train_policy(graph, vectors.relations, examples, plan)
        print(f"{name}: learned from {policy.learned_from}", file=sys.stderr, flush=True)
        yield name, measured(paths, policy, sample(test, limit))


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--sets", default=",".join(SETS), help="some of " + ",".join(SETS))
    parser.add_argument("--limit", type=int, help="test questions of each set (all)")
    parser.add_argument("--cache", type=File, help="keep vectors of graphs here")
    parser.add_argument("--training", type=int, default=PolicyPlan().questions, metavar="N")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    plan = PolicyPlan(questions=arguments.training)
    with tempfile.TemporaryDirectory() as folder:
        cache = arguments.cache or File(folder)
        figures = dict(results(arguments.sets.split(","), arguments.limit, plan, cache))
    report("path-policy", figures)


if __name__ == "__main__":
    run_command(main)
