"""The study's tables, which compare rows and summarise decisions (CooK, figures 2 to 9)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.experts_study.configurations import ALL, ALONE, TEXT
from benchmarks.experts_study.measure import StudyRow
from schemas.operations import ExpertDecision
from tasks.evaluate.metrics import Scores, score, summarise
from tasks.evaluate.report import Measured
from tasks.questions.question import BenchmarkQuestion

SHOWN = ("right", "em", "f1")
Table = list[dict[str, Any]]


def right(measured: Measured) -> np.ndarray:
    """Return 1 for each question that is answered correctly, else 0.

    An open answer is right if it contains a gold answer; where there is no gold answer, giving no
    answer is right.
    """
    return np.array([figure["right"] for figure in _scores(measured)])


def system_table(rows: Sequence[StudyRow]) -> Table:
    """Return each row's share of right answers, exact match and F1, and its gain.

    `gain` is the paired difference in right answers from the model alone.
    """
    return [_compared(row, _first(rows, row.model, (ALONE, TEXT)), "gain") for row in rows]


def change_table(rows: Sequence[StudyRow], group: str) -> Table:
    """Return a group's rows and the unchanged one, with the paired difference as `change`."""
    table = []
    for model in dict.fromkeys(row.model for row in rows):
        whole = _first(rows, model, (ALL,))
        for row in rows:
            if row.model == model and (row is whole or row.configuration.group == group):
                table.append(_compared(row, whole, "change"))
    return table


def need_table(rows: Sequence[StudyRow]) -> Table:
    """Return how often models that need more knowledge are wrong without it, as counts.

    The first decision of each question counts. `right_if_no` and `right_if_yes` are the shares of
    answers without knowledge that are right where the model says that it needs nothing more, and
    where it says that it does.
    """
    table = []
    for row in _with_votes(rows):
        alone = _first(rows, row.model, (ALONE, TEXT))
        counts: Counter[str] = Counter()
        for answer, knows in zip(row.answers, right(alone.measured), strict=True):
            needs = next((d.decision for d in answer.decisions if d.kind == "need"), None)
            if needs:
                counts[f"{needs}_{'right' if knows else 'wrong'}"] += 1
        shares = {
            f"right_if_{needs}": _share(counts[f"{needs}_right"], counts[f"{needs}_wrong"])
            for needs in ("no", "yes")
        }
        table.append({"model": row.model, "row": row.name, **_four(counts), **shares})
    return table


def agreement_table(rows: Sequence[StudyRow]) -> Table:
    """Return for each model how often all wordings of “do you need more?” get the same reply."""
    table = []
    for row in _with_votes(rows):
        votes = [
            decision.score
            for decision in _decisions(row, "need")
            if decision.reason == "votes" and decision.score is not None
        ]
        if votes:
            agreed = summarise(
                [{"agree": float(vote in (0.0, 1.0))} for vote in votes], _own(votes)
            )
            yes = float(np.mean(votes))
            table.append(
                {
                    "model": row.model,
                    "row": row.name,
                    "asked": len(votes),
                    "yes": round(yes, 4),
                    **agreed,
                }
            )
    return table


def selection_table(rows: Sequence[StudyRow]) -> Table:
    """Return the shares of experts chosen, or whose texts were kept, by kind of question."""
    table = []
    for row in rows:
        if row.configuration.group != "systems" or row.configuration.expert or not row.answers:
            continue
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for question, answer in zip(row.measured.questions, row.answers, strict=True):
            for decision in answer.decisions:
                chosen = decision.kind == "expert" or (
                    decision.kind == "text" and decision.decision == "kept" and row.name == ALL
                )
                if chosen:
                    counts[kind_of(question)][decision.expert or "none"] += 1
        for kind, chosen_experts in sorted(counts.items()):
            total = chosen_experts.total()
            shares = {e: round(n / total, 4) for e, n in chosen_experts.most_common()}
            table.append(
                {
                    "model": row.model,
                    "row": row.name,
                    "kind": kind,
                    "choices": total,
                    "experts": shares,
                }
            )
    return table


def factuality_table(rows: Sequence[StudyRow]) -> Table:
    """Return each expert's factuality over the texts that were scored, and the share kept."""
    table = []
    for row in rows:
        if row.name != ALL:
            continue
        texts: dict[str, list[ExpertDecision]] = defaultdict(list)
        for decision in _decisions(row, "text"):
            texts[decision.expert or "none"].append(decision)
        for expert, written in sorted(texts.items()):
            scored = [text for text in written if text.support is not None]
            means = {
                name: _mean(getattr(text, name) for text in scored)
                for name in ("relevance", "support", "refute", "unknown", "score")
            }
            kept = _mean(float(text.decision == "kept") for text in written)
            table.append(
                {
                    "model": row.model,
                    "expert": expert,
                    "texts": len(written),
                    "scored": len(scored),
                    "kept": kept,
                    **means,
                }
            )
    return table


def kind_of(question: BenchmarkQuestion) -> str:
    """Return a question's task or kind, whichever the data set has."""
    return question.task or question.kind or question.dataset or "questions"


# -- rows ------------------------------------------------------------------------------------------


def _compared(row: StudyRow, other: StudyRow, name: str) -> dict[str, Any]:
    scores = _scores(row.measured)
    clusters = [question.split_key or question.id for question in row.measured.questions]
    found: dict[str, Any] = {"model": row.model, "row": row.name, "items": len(scores)}
    found |= summarise([{n: s[n] for n in SHOWN if n in s} for s in scores], clusters)
    if row is not other:
        differences = right(row.measured) - right(other.measured)
        found |= summarise([{name: float(d)} for d in differences], clusters)
    return found | {"seconds": round(row.measured.seconds, 1)}


def _scores(measured: Measured) -> list[Scores]:
    pairs = zip(measured.questions, measured.predictions, strict=True)
    return [_with_right(score(question, prediction)) for question, prediction in pairs]


def _with_right(figures: Scores) -> Scores:
    first = next(figures[n] for n in ("right", "accuracy", "em") if n in figures)
    return figures | {"right": first}


def _first(rows: Sequence[StudyRow], model: str, names: Sequence[str]) -> StudyRow:
    return next(row for row in rows if row.model == model and row.name in names)


def _with_votes(rows: Sequence[StudyRow]) -> list[StudyRow]:
    """Return the rows in which a model or a reader decides whether more is needed."""
    return [row for row in rows if any(d.kind == "need" for a in row.answers for d in a.decisions)]


def _decisions(row: StudyRow, kind: str) -> list[ExpertDecision]:
    return [d for answer in row.answers for d in answer.decisions if d.kind == kind]


def _four(counts: Counter[str]) -> dict[str, int]:
    return {
        f"{needs}_{knows}": counts[f"{needs}_{knows}"]
        for needs in ("yes", "no")
        for knows in ("wrong", "right")
    }


def _share(part: int, rest: int) -> float | None:
    return round(part / (part + rest), 4) if part + rest else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 4) if known else None


def _own(values: Sequence[Any]) -> list[str]:
    return list(map(str, range(len(values))))
