"""Learns which relation paths fit which questions, from questions with answers alone.

No gold paths are given. The paths that lead from a topic to exactly the answers are the likely
ones, and the model is fitted so that together they get all of a question's probability: where
several fit one question, the other questions decide (latent paths, marginal likelihood). Some of
the training steps leave relations out (see `.explained`), so that relations that no question meant
are judged by their names.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.models.one_thread import one_thread
from tasks.programs.planner.explained import Absences, Explained
from tasks.programs.planner.features import log_sums
from tasks.programs.planner.path_model import (
    LONGEST,
    TABLES,
    TRUST,
    Encoding,
    PathModel,
)
from tasks.programs.planner.paths import (
    LARGEST,
    Path,
    known_paths,
    onward,
    paths_from,
    short_paths,
    walk,
)
from tasks.programs.planner.topics import Topic, topics_in
from tasks.progress import Report
from tasks.text.question import analyse

EPOCHS = (3, 6)  # passes over the examples; a held-out part of them decides how many
HELD = 10  # every tenth example is held out
ENOUGH = 200  # examples; with fewer, none is held out
QUESTIONS_A_STEP = 32
RATE = 0.01
SEARCHED = 800  # questions for which all paths of three hops are tried; later ones get known paths
SEEN = 2  # questions that a path must explain to become a candidate for others
NEARLY = 0.7  # a path may be meant if it has this share of the best path's fit
POORLY = 0.9  # fit of short paths below which longer ones are tried
LEAST = 0.1  # F1 of answers below which a path explains nothing
EXTENDED = 2  # paths of two hops whose third hops are negative candidates
MOST = 8_000  # examples to learn from
MOST_WORDED = 500  # examples whose words are compared with those of a question
FEW_RATE = 0.05  # learning rate of the few weights that decide how far to trust the vectors

Scored = tuple[Topic, Path, float]  # and how well the path's end fits the answers, 0 to 1


@dataclass(frozen=True, slots=True)
class Example:
    """A question and its answers; examples with the same `key` stay in the same part of a split."""

    question: str
    answers: tuple[str, ...]
    key: str = ""


@dataclass
class Learned:
    """A learned model, and the paths that explained questions, the most frequent first.

    `worded` are some questions without their topics, each with the path that it means.
    """

    model: PathModel
    paths: list[Path]
    examples: int
    explained: int
    worded: list[tuple[str, Path]]


def learn(graph: Graph, examples: Sequence[Example], report: Report, seed: int = 0) -> Learned:
    """Fit a model to examples."""
    if len(examples) > MOST:
        chosen = np.random.default_rng(seed).choice(len(examples), MOST, replace=False)
        examples = [examples[n] for n in np.sort(chosen)]
    explained, paths = _explain(graph, examples, report)
    model = PathModel(seed)
    if explained:
        with one_thread():
            epochs = _epochs(graph, explained, report, seed)
            model = _fit(graph, explained, epochs, report, seed)
        bags = [bag for example in explained for bag in example.best_grams()]
        model.known = np.unique(np.concatenate(bags))
    worded = {
        example.masked: tuple((hop // 2, bool(hop % 2)) for hop in example.hops)
        for example in explained[:MOST_WORDED]
    }
    return Learned(model, paths, len(examples), len(explained), list(worded.items()))


def explained_examples(graph: Graph, examples: Sequence[Example], report: Report) -> int:
    """Return how many of the examples some path of relations in the graph explains."""
    return len(_explain(graph, examples, report)[0])


def _explain(
    graph: Graph, examples: Sequence[Example], report: Report
) -> tuple[list[Explained], list[Path]]:
    """Return the examples that some path explains, with all their candidates."""
    uses: Counter[Path] = Counter()
    scored_examples: list[tuple[list[Scored], Nodes]] = []
    searched = 0
    for number, example in enumerate(examples):
        topics = topics_in(analyse(example.question), graph)
        gold = _nodes_of(graph, example.answers)
        scored: list[Scored] = [
            (topic, path, _fit_of(nodes, gold))
            for topic in topics
            for path, nodes in short_paths(graph, topic, LONGEST - 1)
        ]
        if _best(scored) < POORLY and searched < SEARCHED:
            searched += 1
            scored += [
                (topic, path, fit)
                for topic in topics[:2]
                for path, nodes in paths_from(graph, topic.nodes, LONGEST)
                if len(path) == LONGEST and (fit := _fit_of(nodes, gold)) > 0
            ]
        best = _best(scored)
        uses.update({path for _, path, fit in scored if fit and fit >= NEARLY * best})
        scored_examples.append((scored, gold))
        report("explain questions", number + 1, len(examples))
    frequent = [path for path, n in uses.most_common() if n >= SEEN]
    longer = [path for path in frequent if len(path) == LONGEST]
    encoding = Encoding(graph)
    rows = [
        _with_known(graph, encoding, scored, gold, longer, uses) for scored, gold in scored_examples
    ]
    return [row for row in rows if row is not None], frequent


def _with_known(
    graph: Graph,
    encoding: Encoding,
    scored: list[Scored],
    gold: Nodes,
    longer: list[Path],
    uses: Counter[Path],
) -> Explained | None:
    """Return an example whose candidates include the long paths of other questions.

    Of the paths that explain it best, the one that explains most questions is taken to be meant.
    Return None if no path explains the example.
    """
    topics = {id(topic): topic for topic, _, _ in scored}
    rows = {(id(topic), path): (topic, path, score) for topic, path, score in scored}
    for topic in topics.values():
        for path, nodes in known_paths(graph, topic, longer):
            rows.setdefault((id(topic), path), (topic, path, _fit_of(nodes, gold)))
    if not any(fit for _, _, fit in rows.values()):
        return None
    for topic, path, nodes in _extended(graph, rows.values(), longer):
        rows.setdefault((id(topic), path), (topic, path, _fit_of(nodes, gold)))
    fit = np.array([fit for _, _, fit in rows.values()], np.float32)
    candidates = [(topic, path) for topic, path, _ in rows.values()]
    best = [candidates[n] for n in np.flatnonzero(fit == fit.max())]
    topic, meant = max(best, key=lambda candidate: uses[candidate[1]])
    hops = tuple(2 * r + inverse for r, inverse in meant)
    return Explained(encoding.rows(candidates), fit, hops, topic.masked)


def _extended(
    graph: Graph, rows: Iterable[Scored], longer: list[Path]
) -> Iterator[tuple[Topic, Path, Nodes]]:
    """Yield the best paths of two hops with each third hop, if any question means three."""
    prefixes = {
        (id(topic), path[: LONGEST - 1]): topic
        for topic, path, fit in sorted(rows, key=lambda row: -row[2])
        if longer and fit and len(path) >= LONGEST - 1
    }
    for (_, path), topic in list(prefixes.items())[:EXTENDED]:
        nodes = walk(graph, topic.nodes, path)[:LARGEST]
        for hop, reached in onward(graph, topic.nodes, nodes):
            yield topic, (*path, hop), reached


def _nodes_of(graph: Graph, answers: Sequence[str]) -> Nodes:
    nodes = [graph.bearers(answer) for answer in answers]
    return np.unique(np.concatenate(nodes)) if nodes else np.zeros(0, np.int32)


def _fit_of(nodes: Nodes, gold: Nodes) -> float:
    """Return the F1 of nodes against the answers, as files often name only some of the answers."""
    if not len(gold) or len(nodes) > 50 * len(gold):
        return 0.0
    common = len(np.intersect1d(nodes, gold, assume_unique=True))
    f1 = 2 * common / (len(nodes) + len(gold))
    return f1 if f1 >= LEAST else 0.0


def _best(scored: Sequence[Scored]) -> float:
    return max((score for _, _, score in scored), default=0.0)


def _epochs(graph: Graph, explained: list[Explained], report: Report, seed: int) -> int:
    """Return the number of epochs after which a held-out part of the examples is likeliest.

    Where wordings are many and rare, more epochs overfit.
    """
    if len(explained) < ENOUGH:
        return EPOCHS[-1]
    order = np.random.default_rng(seed).permutation(len(explained))
    held_out = [explained[n] for n in order[::HELD]]
    rest = [explained[n] for n in np.delete(order, np.s_[::HELD])]
    losses = [
        _mean_loss(_fit(graph, rest, epochs, report, seed, "choose how long"), graph, held_out)
        for epochs in EPOCHS
    ]
    return EPOCHS[int(np.argmin(losses))]


def _mean_loss(model: PathModel, graph: Graph, explained: list[Explained]) -> float:
    import torch

    encoding, total = Encoding(graph), 0.0
    for start in range(0, len(explained), QUESTIONS_A_STEP):
        chosen = explained[start : start + QUESTIONS_A_STEP]
        with torch.no_grad():
            total += float(_loss(model, encoding, chosen)) * len(chosen)
    return total / len(explained)


def _fit(
    graph: Graph,
    explained: list[Explained],
    epochs: int,
    report: Report,
    seed: int,
    stage: str = "learn paths",
) -> PathModel:
    """Return a model fitted to examples for this number of epochs."""
    import torch

    model, encoding = PathModel(seed), Encoding(graph)
    for example in explained:
        model.uses[[encoding.name_bucket(hop) for hop in set(example.hops)]] += 1
    absences = Absences(explained, len(graph.relations), seed)
    tables, few = ([model.weights[name] for name in names] for names in (TABLES, TRUST))
    others = [w for name, w in model.weights.items() if name not in (*TABLES, *TRUST)]
    groups: list[dict[str, Any]] = [{"params": others}, {"params": few, "lr": FEW_RATE}]
    optimizers = [torch.optim.SparseAdam(tables, RATE), torch.optim.Adam(groups, RATE)]
    random = np.random.default_rng(seed)
    steps = -(-len(explained) // QUESTIONS_A_STEP) * epochs
    schedules = [torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.05, steps) for o in optimizers]
    done = 0
    for _ in range(epochs):
        order = random.permutation(len(explained))
        for start in range(0, len(order), QUESTIONS_A_STEP):
            sampled = [explained[n].sample(random) for n in order[start : start + QUESTIONS_A_STEP]]
            chosen = [absences.without_some(example) for example in sampled]
            for optimizer in optimizers:
                optimizer.zero_grad()
            _loss(model, encoding, chosen).backward()
            for optimizer, schedule in zip(optimizers, schedules, strict=True):
                optimizer.step()
                schedule.step()
            done += 1
            report(stage, done, steps)
    return model


def _loss(model: PathModel, encoding: Encoding, examples: Sequence[Explained]) -> Any:
    """Return the mean negative log-likelihood of the answers, marginalised over paths."""
    import torch

    batch = encoding.batch([example.rows for example in examples])
    fit = torch.from_numpy(np.concatenate([example.fit for example in examples]))
    scores, question = model.scores(batch), torch.from_numpy(batch.question)
    every = log_sums(scores, question, len(examples))
    meant = log_sums(scores + fit.clamp(min=1e-9).log(), question, len(examples))
    return (every - meant).mean()
