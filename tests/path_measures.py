"""How relevant and how long paths are, beside shortest paths and those of P_sub."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tasks.ask.path_reader import ROOM
from tasks.paths.extraction.walks import PolicyWalks
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.path import GroundedQuestion, Path, Step, Strategy
from tasks.paths.path_graph import PathGraph
from tasks.paths.policy.rewards import rewarded
from tasks.paths.templates import Limit, Templates

STEPS = 3

PATHS_AT_ONCE = 4_096  # paths that are valued at a time

Around = dict[int, dict[int, list[Step]]]  # the steps from a node to each of its neighbours

Values = tuple[float, float]  # relatedness and length


@dataclass(frozen=True, eq=False)
class Pairs:
    """Questions with one source and one candidate each, and the numbers of those they are from."""

    numbers: list[int]
    questions: list[GroundedQuestion]


def pairs_of(questions: Sequence[GroundedQuestion]) -> Pairs:
    """Return each source of each question with each candidate that is something else."""
    pairs = Pairs([], [])
    for number, question in enumerate(questions):
        for source in question.sources:
            for nodes in question.targets:
                targets = nodes[nodes != source]
                if len(targets):
                    sources = np.array([source], np.int32)
                    one = replace(question, sources=sources, targets=(targets,))
                    pairs.numbers.append(number)
                    pairs.questions.append(one)
    return pairs


def steps_around(edges: np.ndarray) -> Around:
    """Return the steps along edges (edges, 3: head, relation, tail), in both directions."""
    around: Around = defaultdict(lambda: defaultdict(list))
    for head, relation, tail in edges.tolist():
        if head != tail:
            around[head][tail].append(Step(relation, False, tail))
            around[tail][head].append(Step(relation, True, head))
    return around


def simple_paths(
    around: Around, walked: tuple[int, ...], targets: set[int], steps: int
) -> Iterator[tuple[Step, ...]]:
    """Yield all ways on from the last of the nodes walked, that end at their first target."""
    near = around.get(walked[-1], {})
    for target in targets & near.keys():
        yield from ((step,) for step in near[target])
    if steps > 1:
        for node in near.keys() - targets - set(walked):
            for rest in simple_paths(around, (*walked, node), targets, steps - 1):
                yield from ((step, *rest) for step in near[node])


def relatedness(vectors: GraphVectors, paths: Sequence[Path], contexts: np.ndarray) -> np.ndarray:
    """Return equation 3 of each path with the context in its row."""
    parts = [np.zeros(0, np.float32)]
    for start in range(0, len(paths), PATHS_AT_ONCE):
        rows = slice(start, start + PATHS_AT_ONCE)
        valued = rewarded(paths[rows], contexts[rows], vectors.nodes, vectors.relations)
        parts.append(np.array([path.rewards.relatedness for path in valued if path.rewards]))
    return np.concatenate(parts)


def values_of(
    vectors: GraphVectors, pairs: Pairs, found: Sequence[Sequence[Path]]
) -> list[Values | None]:
    """Return the mean relatedness and length of each pair's paths; None if it has none."""
    counts = np.array(list(map(len, found)), np.int64)
    paths = [path for some in found for path in some]
    contexts = np.stack([question.context for question in pairs.questions])
    related = relatedness(vectors, paths, np.repeat(contexts, counts, axis=0))
    ends = counts.cumsum().tolist()
    return [
        (float(related[end - len(some) : end].mean()), float(np.mean([len(p.steps) for p in some])))
        if some
        else None
        for some, end in zip(found, ends, strict=True)
    ]


def within_subgraph(
    paths: PathGraph, questions: Sequence[GroundedQuestion], pairs: Pairs
) -> list[list[Path]]:
    """Return each pair's simple paths of up to three steps within its question's P_sub."""
    extracted = paths.extractions["subgraph"].extract(questions)
    around = [steps_around(each.edges) for each in extracted]
    found = []
    for number, pair in zip(pairs.numbers, pairs.questions, strict=True):
        start, targets = int(pair.sources[0]), set(pair.targets[0].tolist())
        ways = simple_paths(around[number], (start,), targets, STEPS)
        found.append([Path(start, steps) for steps in ways])
    return found


def compared(
    numbers: Sequence[int], own: Sequence[Values | None], others: Sequence[Values | None]
) -> dict[str, Any]:
    """Return relatedness and length of both where both have paths, and own minus other."""
    rows = [
        (number, *mine, *theirs)
        for number, mine, theirs in zip(numbers, own, others, strict=True)
        if mine and theirs
    ]
    groups = [str(row[0]) for row in rows]
    table = np.array([row[1:] for row in rows])
    figures: dict[str, Any] = {"pairs": len(rows), "questions": len(set(groups))}
    for column, name in enumerate(("relatedness", "length")):
        mine, theirs = table[:, column], table[:, column + 2]
        more = mine - theirs
        figures[name] = {
            "policy": round(float(mine.mean()), 4),
            "other": round(float(theirs.mean()), 4),
            "difference": round(float(more.mean()), 4),
            "interval": interval(groups, partial(_mean_of, more)),
        }
    return figures


def _mean_of(values: np.ndarray, chosen: np.ndarray) -> float:
    return float(values[chosen].mean())


def measure(paths: PathGraph, questions: Sequence[GroundedQuestion]) -> dict[str, Any]:
    """Return how the policy's paths and prompts compare with those of the other strategies."""
    assert paths.walks is not None
    walks = replace(paths.walks, fallbacks=())
    pairs = pairs_of(questions)

    def firsts(strategy: Strategy) -> list[tuple[Path, ...]]:
        return [extracted.paths[:1] for extracted in strategy.extract(pairs.questions)]

    found: dict[str, Sequence[Sequence[Path]]] = {
        "policy": firsts(walks),
        "shortest paths": firsts(paths.extractions["shortest_paths"]),
        "P_sub": within_subgraph(paths, questions, pairs),
    }
    values = {name: values_of(paths.vectors, pairs, some) for name, some in found.items()}
    return {
        "questions": len(questions),
        "pairs": len(pairs.numbers),
        "pairs with a path": {
            name: sum(each is not None for each in some) for name, some in values.items()
        },
        "paths of a pair in P_sub": round(float(np.mean([len(p) for p in found["P_sub"] if p])), 1),
        **{
            f"beside {name}": compared(pairs.numbers, values["policy"], values[name])
            for name in ("shortest paths", "P_sub")
        },
        "prompts": prompts(paths, walks, questions),
    }


def prompts(
    paths: PathGraph, walks: PolicyWalks, questions: Sequence[GroundedQuestion]
) -> dict[str, Any]:
    """Return the mean relatedness of the edges that a prompt shows, as paths of one step."""
    templates, values = Templates(paths.graph), {}
    for strategy in (walks, *(paths.extractions[n] for n in ("subgraph", "shortest_paths"))):
        shown = [
            each.edges[: templates.phrase("triples", each, Limit(tokens=ROOM)).edges]
            for each in strategy.extract(questions)
        ]
        steps = [
            [Path(head, (Step(relation, False, tail),)) for head, relation, tail in edges.tolist()]
            for edges in shown
        ]
        by_question = Pairs(list(range(len(questions))), list(questions))
        values[strategy.name] = [
            (mean[0], float(len(edges))) if mean else None
            for mean, edges in zip(values_of(paths.vectors, by_question, steps), shown, strict=True)
        ]
    numbers, figures = range(len(questions)), {}
    for name in ("subgraph", "shortest_paths"):
        each = compared(numbers, values[walks.name], values[name])
        figures[name] = {"edges" if key == "length" else key: row for key, row in each.items()}
    return figures


RESAMPLED = 1000


def interval(groups: Sequence[str], figure: Callable[[np.ndarray], Any]) -> list[float]:
    """Return the 95 % interval of a figure over resampled groups of items."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        places[group].append(place)
    items = [np.array(each) for each in places.values()]
    random = np.random.default_rng(0)
    drawn = [
        figure(np.concatenate([items[n] for n in random.integers(0, len(items), len(items))]))
        for _ in range(RESAMPLED)
    ]
    return [rounded(value) for value in np.percentile(drawn, [2.5, 97.5])]


def rounded(value: Any) -> float:
    """Return a figure with four decimals."""
    return round(float(value), 4)
