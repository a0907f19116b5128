"""The results of an evaluation: each system's figures as JSON and as rows of the live table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from schemas.operations import Evaluation
from tasks.evaluate.answerer import Prediction
from tasks.evaluate.metrics import (
    Scores,
    chosen_text,
    paired_gain,
    rightness,
    score,
    summarise,
    summarise_classes,
)
from tasks.progress import Warn
from tasks.questions.question import BenchmarkQuestion
from warehouse.disk_errors import warned_of_refusals
from warehouse.home import Home
from warehouse.live import record

MOST_KINDS = 12  # values of a group that are reported one by one
STAGES = ("program", "answer", "model")

_GROUPS: dict[str, Callable[[BenchmarkQuestion], str]] = {
    "dataset": lambda question: question.dataset,
    "hops": lambda question: str(question.hops or ""),
    "language": lambda question: question.language,
    "kind": lambda question: question.kind,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """One system's predictions and scores, question by question."""

    system: str
    questions: Sequence[BenchmarkQuestion]
    predictions: Sequence[Prediction]
    seconds: float


def figures(measured: Measured) -> dict[str, Any]:
    """Return a system's figures over all questions, those marked exact, and each group.

    `stages` holds the share of questions for which each stage succeeded.
    """
    rows = [
        (question, prediction, score(question, prediction))
        for question, prediction in zip(measured.questions, measured.predictions, strict=True)
    ]
    report: dict[str, Any] = {"system": measured.system, **_part(rows)}
    stages = _stages(measured.predictions)
    if stages:
        report["stages"] = stages
    report |= {"by": dict(_by_group(rows)), "seconds": round(measured.seconds, 2)}
    return report | {"tokens": sum(prediction.tokens for prediction in measured.predictions)}


def gain_over(other: Measured, first: Measured) -> dict[str, Any]:
    """Return what the first system gains over another, on the questions of the other."""
    known = dict(zip((question.id for question in first.questions), first.predictions, strict=True))
    pairs = [
        (rightness(question, known[question.id]), rightness(question, prediction))
        for question, prediction in zip(other.questions, other.predictions, strict=True)
    ]
    clusters = [question.split_key or question.id for question in other.questions]
    return {"over": other.system, **paired_gain(pairs, clusters)}


def record_figures(home: Home, figures: dict[str, Any], warn: Warn) -> None:
    """Write the figures of all systems as live records; call `warn` if the disk refuses them."""
    dataset, edition = figures["dataset"], figures.get("edition")
    systems = [figures, *figures["baselines"]]
    with warned_of_refusals(home.path, "the figures were not recorded.", warn):
        record(home.live, *(row for s in systems for row in _evaluation_rows(dataset, s, edition)))


def _evaluation_rows(dataset: str, report: dict[str, Any], edition: str | None) -> list[Evaluation]:
    """Return a system's figures as rows; the data set's name is followed by the group's."""
    stages = {f"success:{stage}": share for stage, share in report.get("stages", {}).items()}
    parts = [*_part_rows(dataset, report), (dataset, report["items"], stages)]
    for name, group in report["by"].items():
        for value, part in group.items():
            parts += _part_rows(f"{dataset} [{name}={value}]", part)
    measured_at = datetime.now(UTC)
    return [
        Evaluation(
            dataset=part,
            system=report["system"],
            metric=metric,
            value=value,
            items=items,
            edition=edition,
            measured_at=measured_at,
        )
        for part, items, metrics in parts
        for metric, value in metrics.items()
    ]


Row = tuple[BenchmarkQuestion, Prediction, Scores]


def _part_rows(dataset: str, part: dict[str, Any]) -> list[tuple[str, int, Scores]]:
    rows = [(dataset, part["items"], part["metrics"])]
    if "metrics_exact" in part:
        rows.append((f"{dataset} [exact]", part["items_exact"], part["metrics_exact"]))
    return rows


def _part(rows: Sequence[Row]) -> dict[str, Any]:
    part: dict[str, Any] = {"items": len(rows), "metrics": _summary(rows)}
    if any(question.exact is not None for question, *_ in rows):
        exact = [row for row in rows if row[0].exact]
        part |= {"items_exact": len(exact), "metrics_exact": _summary(exact)}
    return part


def _summary(rows: Sequence[Row]) -> Scores:
    clusters = [question.split_key or question.id for question, *_ in rows]
    figures = summarise([scores for *_, scores in rows], clusters)
    if rows and all(_has_class(question) for question, *_ in rows):
        figures |= summarise_classes(
            [question.answers[0].casefold() for question, *_ in rows],
            [chosen_text(q, prediction.answers).casefold() for q, prediction, _ in rows],
            clusters,
        )
    return figures


def _has_class(question: BenchmarkQuestion) -> bool:
    """Return whether the right choice is a class of the whole task, not a letter or a name."""
    label = question.label
    return label is not None and [a.casefold() for a in question.answers] == [label.casefold()]


def _by_group(rows: Sequence[Row]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures per value of each group, without groups of a single value."""
    for name, of in _GROUPS.items():
        values = sorted({of(question) for question, *_ in rows} - {""})
        if not 1 < len(values) <= MOST_KINDS and name != "language":
            continue
        parts = {value: [row for row in rows if of(row[0]) == value] for value in values}
        yield name, {value: _part(part) for value, part in parts.items()}


def _stages(predictions: Sequence[Prediction]) -> dict[str, float]:
    shares = {}
    for stage in STAGES:
        successes = [p.stages[stage] for p in predictions if stage in p.stages]
        if successes:
            shares[stage] = round(sum(successes) / len(successes), 4)
    return shares
