"""Teach a bandit which arm, a strategy and a template, helps an answering model on a graph.

The model answers labelled questions, each by the arm that the bandit chooses; the bandit learns
from whether the answer is right (KnowGPT, section 3.5). Policy and bandit are trained in turn.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.ask.expert_tools import ExpertTools
from tasks.ask.path_reader import NO_MODEL, PathReader, reader_name
from tasks.ask.route import AskOptions, QuestionHints, Resources
from tasks.paths.bandit.bandit import BanditPlan, Reward, make_bandit
from tasks.paths.bandit.context import ContextEncoding
from tasks.paths.bandit.linucb import RULES, Rule
from tasks.paths.path_graph import open_path_graph, policies_folder
from tasks.paths.pictures import draw_arms
from tasks.progress import Report, silent
from tasks.questions.normalise import bare_words
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample_apart
from warehouse.home import Home

TOGETHER = 16  # questions that are answered before their rewards count


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

    They are not those that `train_paths` takes with a limit, as long as there are enough for both.
    The bandit of the graph and the answering model continues from its earlier state, unless its
    arms, its rule or its costs have changed: tokens and seconds may count against an arm. Without a
    language model, only questions with choices are answered, because other answers do not depend on
    the arm; if there are too few, nothing is learned, and `skipped` says why. Raises UsageError if
    there is no edition, no such graph, or only one question.
    """
    edition = home.require_edition()
    model = reader_name(settings)
    apart = sample_apart(questions, len(questions))
    teaching = [question for question in apart if question.choices or model != NO_MODEL]
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
    correct: Counter[str] = Counter()
    pulls: Counter[str] = Counter()
    with edition.pinned() as pinned, Asker(home, pinned, settings, options) as asker:
        tools = ExpertTools(Resources(home, pinned, settings, options, {}))
        paths = open_path_graph(home, pinned, graph)
        reader = PathReader(paths, tools.encode)
        texts = [question.question for question in chosen]
        hints = [QuestionHints(choices=question.choices) for question in chosen]
        vectors, scores = paths.vectors.encode(texts), asker.gate_scores(texts, hints)
        encoding = ContextEncoding.fit(paths.vectors.encoder_name, vectors, scores)
        plan = BanditPlan(
            reader.arms, reader.usual_arm, RULES[rule], per_token=per_token, per_second=per_second
        )
        bandit = make_bandit(home.live, graph, model, plan, encoding)
        for start in range(0, len(chosen), TOGETHER):
            some = chosen[start : start + TOGETHER]
            answers = asker.answer_all(
                [question.question for question in some],
                [QuestionHints(choices=question.choices) for question in some],
            )
            rewards = []
            for question, answer in zip(some, answers, strict=True):
                right = _is_right(question, answer.answer)
                decision = bandit.decision(bandit.decision_id(answer.question_id))
                if decision is None:  # its record was refused, by a full disk for instance
                    continue
                pulls[decision.arm] += 1
                correct[decision.arm] += right
                tokens = answer.usage.tokens_in + answer.usage.tokens_out
                rewards.append(Reward(decision.decision_id, float(right), tokens, answer.seconds))
            bandit.reward(rewards, "labels")
            report("arms", min(start + TOGETHER, len(chosen)), len(chosen))
        logged = bandit.logged()
        picture = policies_folder(home, graph).with_suffix(".arms.png")
        picture.parent.mkdir(parents=True, exist_ok=True)
        draw_arms(graph, logged.rewards, logged.propensities, picture)
    return {
        "learned": "arms",
        "graph": graph,
        "model": model,
        "questions": len(chosen),
        "right": sum(correct.values()),
        "picture": home.relative(picture),
        "arms": {arm: {"pulls": pulls[arm], "right": correct[arm]} for arm in reader.arms},
    }


def _is_right(question: BenchmarkQuestion, answer: str | None) -> bool:
    return answer is not None and bare_words(answer) in map(bare_words, question.answers)
