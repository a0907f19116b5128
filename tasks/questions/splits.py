"""Split questions into training and test, sample them, and key them by component."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from tasks.questions.question import Benchmark, BenchmarkQuestion
from tasks.text.question import Demonstration

SEED = 20231
LONGEST_SHOWN = 600  # characters of a text to classify that is shown before another one


def split(
    benchmark: Benchmark, *, learn: bool = True, seed: int = SEED
) -> tuple[list[BenchmarkQuestion], list[BenchmarkQuestion]]:
    """Return training and test questions.

    The data set's own parts are kept if it has both. Otherwise, if `halves` and `learn` are set, a
    seeded half of the split keys is for training, so that no key is on both sides.
    """
    questions = benchmark.questions
    if {"train", "test"} <= {question.part for question in questions}:
        training = [question.part == "train" for question in questions]
    elif benchmark.halves and learn:
        keys = (f"{seed}:{question.split_key or question.id}" for question in questions)
        training = [
            blake2b(key.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] < 128
            for key in keys
        ]
    else:
        training = [False] * len(questions)
    sides = list(zip(questions, training, strict=True))
    return [q for q, trains in sides if trains], [q for q, trains in sides if not trains]


def sample(questions: Sequence[BenchmarkQuestion], limit: int | None) -> list[BenchmarkQuestion]:
    """Return the first `limit` of a seeded shuffle; without a limit, all in their order."""
    if limit is None:
        return list(questions)
    shuffled = list(questions)
    random.Random(SEED).shuffle(shuffled)
    return shuffled[:limit]


def sample_apart(questions: Sequence[BenchmarkQuestion], limit: int) -> list[BenchmarkQuestion]:
    """Return the last `limit` questions of the shuffle of which `sample` returns the first.

    So the two samples have a question in common only if there are too few for both.
    """
    return sample(questions, len(questions))[::-1][:limit]


def demonstrated(
    questions: Sequence[BenchmarkQuestion], training: Sequence[BenchmarkQuestion], count: int
) -> list[BenchmarkQuestion]:
    """Return questions with up to `count` training questions of their data set to be shown before.

    Those of a question's own kind come first, such as those of its subject in MMLU; else their
    order is that of the data set. Of a long text above the question its beginning is shown.
    """
    shown: dict[tuple[str, str], tuple[Demonstration, ...]] = {}
    for dataset, kind in {(question.dataset, question.kind) for question in questions}:
        known = [q for q in training if q.dataset == dataset and q.answers]
        ordered = [q for q in known if q.kind == kind] + [q for q in known if q.kind != kind]
        shown[dataset, kind] = tuple(
            Demonstration(_cut(q.question), q.answers[0], q.choices) for q in ordered[:count]
        )
    return [replace(q, demonstrations=shown[q.dataset, q.kind]) for q in questions]


def _cut(text: str) -> str:
    """Return a question that follows a text on a line of its own, with the text's beginning."""
    above, break_, question = text.rpartition("\n")
    return f"{above[:LONGEST_SHOWN]}{break_}{question}"


def keyed_by_component(
    questions: Sequence[BenchmarkQuestion], entities: Sequence[Iterable[str]]
) -> list[BenchmarkQuestion]:
    """Return the questions with split keys such that questions that share an entity share a key.

    `entities` holds the entities of each question. A key is the name of a connected component of
    the graph in which the entities of each question are joined.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    named = [list(group) for group in entities]
    names = sorted({entity for group in named for entity in group})
    numbers = {entity: number for number, entity in enumerate(names)}
    edges = [(numbers[group[0]], numbers[entity]) for group in named for entity in group]
    ends = np.array(edges, np.int64).reshape(-1, 2).T
    joined = coo_array((np.ones(len(edges)), (ends[0], ends[1])), (len(names), len(names)))
    components = connected_components(joined, directed=False)[1] if names else []
    firsts = {
        component: name for name, component in zip(names[::-1], components[::-1], strict=True)
    }
    return [
        replace(question, split_key=firsts[components[numbers[group[0]]]]) if group else question
        for question, group in zip(questions, named, strict=True)
    ]
