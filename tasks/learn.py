"""Learn from labelled questions: planners, gates, when a model needs experts, and graph paths.

If there are enough questions for a planner, one in sixteen is held out to evaluate it. A bandit
learns which arm, a strategy and a template, helps an answering model on a graph: the model answers
questions, each by the arm that the bandit chooses, and the bandit learns from whether the answer is
right (KnowGPT, section 3.5).
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace as replace_fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from schemas.errors import UsageError
from schemas.knowledge import CORPUS
from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.ask.parts import NO_MODEL, load_learned_query, reader_name, save_learned_query
from tasks.ask.path_reader import PathReader
from tasks.ask.route import AskOptions, QuestionHints, Resources
from tasks.calibrate_gate import calibrate_gates
from tasks.evaluate.decide import FEWEST as FEWEST_MEASURED
from tasks.evaluate.decide import Folds, decide_parts, folds_of
from tasks.experts.knowledge import NeedExample
from tasks.experts.line_picture import draw_lines
from tasks.graphs.graph import Graph, graphs_of
from tasks.paths.bandit.bandit import BanditPlan, Reward, make_bandit
from tasks.paths.bandit.context import ContextEncoding
from tasks.paths.bandit.linucb import RULES, Rule
from tasks.paths.path_graph import open_path_graph, policies_folder
from tasks.prepare_benchmark import prepared
from tasks.programs.planner.learn import Example, explained_examples
from tasks.programs.planner.learn import learn as learn_paths
from tasks.programs.planner.planner import Planner
from tasks.programs.planner.store import kept_examples, save_planner
from tasks.progress import Report, silent
from tasks.questions.formats import read_benchmark
from tasks.questions.normalise import bare_words, contains
from tasks.questions.question import Benchmark, BenchmarkQuestion
from tasks.questions.splits import sample, sample_apart
from tasks.text.question import analyse
from tasks.train_paths import train_paths, training_questions
from warehouse.home import Home

FEWEST = 50  # different questions of a task from which a gate is calibrated
ENOUGH = 200  # questions from which some are held out
NEEDS_ASKED = 200  # questions that a model answers without knowledge
NEEDS_TOGETHER = 50
HELD_OUT = 16  # one question in this many is held out
TRIED = 500  # the most questions that are held out
CHECKED = 100  # new questions checked for whether they are about the graph
ANSWERED_TOGETHER = 16  # questions that are answered before their rewards count for the bandit
LEAST_EXPLAINED = 0.1  # share of questions; below it they are not about the graph


def learn(
    home: Home,
    questions: Sequence[Path],
    format: str,
    settings: Settings,
    graph: str | None = None,
    *,
    gates: bool = False,
    experts: bool = False,
    paths: bool = False,
    replace: bool = False,
    measured: bool = False,
    report: Report = silent,
) -> list[dict[str, Any]]:
    """Learn from the questions of files and folders; return a summary of each thing learned.

    If it is to be `measured` what helps, gates, examples, policies and bandits learn from half of
    the questions; the others decide which parts of the query are in use. Planners learn from all.
    A planner is fitted for each graph that the questions are about. It keeps what it learned before
    unless `replace` is true. With `gates`, every task with enough questions gets a gate, even if no
    graph answers them. With `experts`, the model answers some of the questions alone, and those
    become examples of when it needs more. With `paths`, a policy learns to walk the `graph` and a
    bandit how to phrase it. Raises UsageError with the reason if nothing can be learned.
    """
    if experts and settings.engine.engine == "rules":
        raise UsageError(
            "Without a language model there is nothing to learn about when it needs experts. Set "
            "engine and model in settings.toml."
        )
    if paths and graph is None:
        raise UsageError("Name the graph whose paths are to be learned with --graph.")
    benchmarks = [read_benchmark(path, format) for path in questions]
    joined = _joined(benchmarks)
    folds = folds_of(_labelled(joined)) if measured else None
    if folds:
        teaching = set(map(id, folds.teaching))
        benchmarks = [
            replace_fields(one, questions=[q for q in one.questions if id(q) in teaching])
            for one in benchmarks
        ]
    tasks = _tasks(benchmarks) if gates else {}
    try:
        planners = _learn_planners(home, joined, settings, graph, replace, report)
    except UsageError:
        if not (tasks or experts or paths or folds) or (graph is not None and not paths):
            raise
        planners = []
    learned = list(planners)
    if tasks:
        _, calibrated = calibrate_gates(home, tasks, settings, report=report)
        learned += [{"learned": "gate", **gate} for gate in calibrated]
    if experts:
        learned.append(_learn_needs(home, _joined(benchmarks).questions, settings, report))
    if paths and graph is not None:
        known = training_questions(_joined(benchmarks))
        walked, arms = questions_to_walk(known, settings)
        _, policy = train_paths(home, walked, settings, graph=graph, report=report)
        learned.append({"learned": "policy", **policy})
        learned.append(learn_arms(home, known, settings, graph=graph, count=arms, report=report))
    if measured:
        about = [planner["graph"] for planner in planners]
        learned.append(_decide(home, joined, folds, settings, graph, about, report))
    return learned


def _decide(
    home: Home,
    benchmark: Benchmark,
    folds: Folds | None,
    settings: Settings,
    graph: str | None,
    about: Sequence[str],
    report: Report,
) -> dict[str, Any]:
    """Measure which parts of the query help, or say how many questions that would take.

    Questions are asked of `graph`, if one is named; those that teach a planner are `about` a graph.
    """
    if folds is None:
        answered = sum(bool(question.answers) for question in _labelled(benchmark))
        reason = (
            f"{answered} questions with answers are too few to measure which "
            f"parts of the query help: it takes {FEWEST_MEASURED} different ones. The parts in use "
            "stay as they were."
        )
        return {"learned": "parts", "model": reader_name(settings), "skipped": reason}
    edition, _ = prepared(home, benchmark, settings, graph, report)
    if graph is not None:
        folds = folds.asked_of(graph)
    elif len(about) == 1:
        folds = replace_fields(folds, teaching=folds.asked_of(about[0]).teaching)
    with edition.pinned() as pinned:
        return decide_parts(home, pinned, settings, folds, report)


def _learn_needs(
    home: Home, questions: Sequence[BenchmarkQuestion], settings: Settings, report: Report
) -> dict[str, Any]:
    """Ask the model a seeded sample of the questions alone; keep which it answered rightly.

    These are the examples by which CooK (section 2.6) shows a model when it needs more.
    """
    edition = home.require_edition()
    sampled = sample([question for question in questions if question.answers], NEEDS_ASKED)
    examples = []
    with edition.pinned() as pinned, Asker(home, pinned, settings, AskOptions("none")) as asker:
        for start in range(0, len(sampled), NEEDS_TOGETHER):
            some = sampled[start : start + NEEDS_TOGETHER]
            texts = [question.question for question in some]
            own_answers = asker.own_answers(texts, [question.choices for question in some])
            for question, (answer, surprise) in zip(some, own_answers, strict=True):
                right = any(contains(answer, gold) for gold in question.answers)
                language = analyse(question.question).language
                examples.append(NeedExample(question.question, language, right, surprise))
            report("needs", len(examples), len(sampled))
    model = reader_name(settings)
    known = replace_fields(load_learned_query(home, model), needs=tuple(examples))
    save_learned_query(home, model, known)
    return {
        "learned": "needs",
        "model": model,
        "asked": len(examples),
        "right": sum(example.right for example in examples),
        "examples": len(load_learned_query(home, model).needs),
    }


def _joined(benchmarks: Sequence[Benchmark]) -> Benchmark:
    """Return the questions of several files as one benchmark, with each graph once."""
    graphs = {source.name: source for benchmark in benchmarks for source in benchmark.graphs}
    return Benchmark(
        name=benchmarks[0].name,
        questions=[question for benchmark in benchmarks for question in benchmark.questions],
        graphs=list(graphs.values()),
    )


def _labelled(benchmark: Benchmark) -> list[BenchmarkQuestion]:
    """Return the questions whose answers are known, without the data set's own test questions."""
    labelled = [q for q in benchmark.questions if q.answers or q.unanswerable]
    if {"train", "test"} <= {question.part for question in labelled}:
        return [question for question in labelled if question.part == "train"]
    return labelled


def _tasks(benchmarks: Sequence[Benchmark]) -> dict[str, list[BenchmarkQuestion]]:
    """Return the questions of each task that has enough; the default task is a file's name."""
    tasks: dict[str, list[BenchmarkQuestion]] = defaultdict(list)
    for benchmark in benchmarks:
        for question in benchmark.questions:
            tasks[question.task or benchmark.name].append(question)
    return {
        task: questions
        for task, questions in tasks.items()
        if len({question.question for question in questions}) >= FEWEST
    }


def _learn_planners(
    home: Home,
    benchmark: Benchmark,
    settings: Settings,
    graph: str | None,
    replace: bool,
    report: Report,
) -> list[dict[str, Any]]:
    """Learn a planner for each graph that the questions are about, and save it in the home.

    Graphs beside the questions are imported into an empty home. `graph` names the graph of all
    questions; if neither it nor the file names one, the home's only imported graph is used, else
    its corpus. Raises UsageError if the graph is ambiguous, or if there is nothing to learn from.
    """
    edition, benchmark = prepared(home, benchmark, settings, graph, report)
    answered = [question for question in _labelled(benchmark) if question.answers]
    if not answered:
        raise UsageError("No question has answers to learn from.")
    with edition.pinned() as pinned:
        graphs = graphs_of(pinned)
        default = _default_graph(answered, graphs)
        examples: dict[str, list[Example]] = defaultdict(list)
        for question in answered:
            key = question.split_key or question.question
            example = Example(question.question, question.answers, key)
            examples[question.graph or default].append(example)
        if missing := ", ".join(sorted(examples.keys() - graphs)):  # a corpus without facts
            raise UsageError(
                f"The current edition has no graph {missing}, only {', '.join(sorted(graphs))}."
            )
        return [
            _learn_graph(home, graphs[name], examples[name], replace, report)
            for name in sorted(examples)
        ]


def _default_graph(questions: Sequence[BenchmarkQuestion], graphs: dict[str, Graph]) -> str:
    """Return the graph for questions that name none; UsageError if it is ambiguous."""
    if all(question.graph for question in questions):
        return ""
    likely = [name for name in graphs if name != CORPUS] or list(graphs)
    if len(likely) != 1:
        raise UsageError(f"Name the graph of the questions with --graph: {', '.join(graphs)}.")
    return likely[0]


def _learn_graph(
    home: Home, graph: Graph, new: Sequence[Example], replace: bool, report: Report
) -> dict[str, Any]:
    """Fit one graph's planner to the new examples and those that it learned from before.

    Returns how many of the `questions` are `new`; how many training questions are `explained`, that
    is, answered by some of the `paths` of relations; and how many of the `tried` held-out questions
    had a right answer first. Both are None if there were too few questions to hold some out.
    """
    _check_fit(graph, new, report)
    before = [] if replace else kept_examples(home, graph)
    # The newest answers replace earlier ones.
    examples = list({example.question: example for example in [*before, *new]}.values())
    held_out = [example for example in examples if _is_held_out(example)]
    held_out = held_out[:TRIED] if len(examples) >= ENOUGH else []
    fitted = [example for example in examples if example not in set(held_out)]
    learned = learn_paths(graph, fitted, report)
    right = _right(Planner(graph, learned.model, learned.paths), held_out)
    save_planner(home, graph, learned, examples)
    return {
        "learned": "planner",
        "graph": graph.name,
        "questions": len(examples),
        "new": len(examples) - len(before),
        "explained": learned.explained,
        "paths": len(learned.paths),
        "tried": len(held_out) or None,
        "right": right if held_out else None,
    }


def _check_fit(graph: Graph, examples: Sequence[Example], report: Report) -> None:
    """Raise UsageError if hardly any question is answered by a path in the graph."""
    checked = examples[:CHECKED]
    explained = explained_examples(graph, checked, report)
    if explained < LEAST_EXPLAINED * len(checked):
        raise UsageError(
            f"Of {len(checked)} questions only {explained} are answered by a path in the graph "
            f"{graph.name}, so nothing was learned. Are they about another graph (--graph)?"
        )


def _right(planner: Planner, examples: Sequence[Example]) -> int:
    """Return how many questions have a plan whose first answer is right."""
    right = 0
    plans = planner.plan([analyse(example.question) for example in examples])
    for example, planned in zip(examples, plans, strict=True):
        gold = {int(node) for answer in example.answers for node in planner.graph.bearers(answer)}
        right += bool(planned) and not gold.isdisjoint(planned[0].nodes[:1].tolist())
    return right


def _is_held_out(example: Example) -> bool:
    key = example.key.encode("utf-8", "surrogatepass")
    return blake2b(key, digest_size=1).digest()[0] % HELD_OUT == 0


def questions_to_walk(
    questions: Sequence[BenchmarkQuestion], settings: Settings, arms: int = 200
) -> tuple[list[BenchmarkQuestion], int]:
    """Return the questions for a policy, and how many of the others teach a bandit.

    The latter are `arms` at most, and a fifth of all: the rewards of questions that the policy has
    learned would say nothing of new ones.
    """
    count = min(arms, max(2, len(questions) // 5))
    taken = {question.question for question in _teaching(questions, reader_name(settings))[:count]}
    return [question for question in questions if question.question not in taken], count


def _teaching(questions: Sequence[BenchmarkQuestion], model: str) -> list[BenchmarkQuestion]:
    """Return the questions whose answers depend on the arm, in the order of `sample_apart`."""
    apart = sample_apart(questions, len(questions))
    return [question for question in apart if question.choices or model != NO_MODEL]


def learn_arms(
    home: Home,
    questions: Sequence[BenchmarkQuestion],
    settings: Settings,
    *,
    graph: str,
    count: int = 200,
    rule: Rule = "sampling",
    per_token: float = 0.0,
    per_second: float = 0.0,
    report: Report = silent,
) -> dict[str, Any]:
    """Have `count` questions answered, and return how often each arm was right.

    The bandit of the graph and the answering model continues from its earlier state, unless its
    arms, its policy, its rule or its costs have changed: tokens and seconds may count against an
    arm. Without a language model, only questions with choices are answered, because other answers
    do not depend on the arm; if there are too few, nothing is learned, and `skipped` says why.
    Raises UsageError if there is no edition, no such graph, or only one question.
    """
    edition = home.require_edition()
    model = reader_name(settings)
    teaching = _teaching(questions, model)
    if len(teaching) < 2 <= len(questions):
        reason = (
            "The phrasing of paths was not learned: without a language model it matters only to "
            f"questions with choices, and {len(teaching)} of these {len(questions)} have any."
        )
        return {"learned": "arms", "graph": graph, "model": model, "skipped": reason}
    chosen = teaching[:count]
    if len(chosen) < 2:
        raise UsageError("A bandit learns from two questions with answers or more.")
    options = AskOptions("paths", graph)
    correct, pulls = Counter[str](), Counter[str]()
    with edition.pinned() as pinned, Asker(home, pinned, settings, options) as asker:
        paths = open_path_graph(home, pinned, graph)
        reader = PathReader(paths, Resources(home, pinned, settings, options, {}).encode)
        texts = [question.question for question in chosen]
        hints = [QuestionHints(choices=question.choices) for question in chosen]
        vectors, scores = paths.vectors.encode(texts), asker.gate_scores(texts, hints)
        encoding = ContextEncoding.fit(paths.origin, vectors, scores)
        plan = BanditPlan(
            reader.arms, reader.usual_arm, RULES[rule], per_token=per_token, per_second=per_second
        )
        bandit = make_bandit(home.live, graph, model, plan, encoding)
        for start in range(0, len(chosen), ANSWERED_TOGETHER):
            end = start + ANSWERED_TOGETHER
            answers = asker.answer_all(texts[start:end], hints[start:end])
            rewards = []
            for question, answer in zip(chosen[start:end], answers, strict=True):
                golden = map(bare_words, question.answers)
                right = answer.answer is not None and bare_words(answer.answer) in golden
                decision = bandit.decision(bandit.decision_id(answer.question_id))
                if decision is None:  # its record was refused, by a full disk for instance
                    continue
                pulls[decision.arm] += 1
                correct[decision.arm] += right
                tokens = answer.usage.tokens_in + answer.usage.tokens_out
                rewards.append(Reward(decision.decision_id, float(right), tokens, answer.seconds))
            bandit.reward(rewards, "labels")
            report("arms", min(end, len(chosen)), len(chosen))
        logged = bandit.logged()
        picture = policies_folder(home, graph).with_suffix(".arms.png")
        picture.parent.mkdir(parents=True, exist_ok=True)
        lines = _mean_rewards(logged.rewards, logged.propensities)
        draw_lines(f"Bandit of the graph {graph}", lines, "questions", picture)
    return {
        "learned": "arms",
        "graph": graph,
        "model": model,
        "questions": len(chosen),
        "right": sum(correct.values()),
        "picture": home.relative(picture),
        "arms": {arm: {"pulls": pulls[arm], "right": correct[arm]} for arm in reader.arms},
    }


def _mean_rewards(rewards: np.ndarray, chances: np.ndarray) -> dict[str, np.ndarray]:
    """Return the running mean of a bandit's rewards (n,), and what all arms alike would have got.

    The latter is the self-normalised estimate from the propensities (n,) of the chosen arms.
    """
    count, weights = np.arange(1, len(rewards) + 1), 1 / np.maximum(chances, 1e-9)
    alike = (weights * rewards).cumsum() / np.maximum(weights.cumsum(), 1e-9)
    return {
        "mean reward of the bandit": np.stack([count, rewards.cumsum() / count], 1),
        "of all arms alike, estimated": np.stack([count, alike], 1),
    }
