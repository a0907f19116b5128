"""Almanac's own questions file: one JSON object per line, in which only the question is required.

`outcomes`, `own_answers` and `uncertainties` are objects by model: its scores without and with
knowledge, its answer without knowledge, and that answer's entropy in nats. `popularity` is that of
the question's subject.
"""

import json
import math
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from tasks.questions.files import lines, part_of, plain_name, question_files
from tasks.questions.question import Benchmark, BenchmarkQuestion, Outcome
from tasks.text.languages import language_of

LONGEST_QUESTION = 20_000  # characters


def read_questions_file(path: Path) -> Benchmark:
    """Read a `.jsonl` file or a folder of them; raises UsageError for a bad line."""
    questions = []
    for file in question_files(path, r"\.jsonl$"):
        for number, line in enumerate(lines(file), 1):
            if line.strip():
                try:
                    questions.append(_question(file, number, line))
                except ValueError as error:
                    raise UsageError(f"{file}, line {number}: {error}.") from error
    return Benchmark(plain_name(path).removesuffix(".jsonl"), questions)


def _question(file: Path, number: int, line: str) -> BenchmarkQuestion:
    row = _object(line)
    question = row.get("question")
    if not isinstance(question, str) or not question.strip() or len(question) > LONGEST_QUESTION:
        raise ValueError("`question` must be a text of some words")
    answers = row.get("answers", [row["answer"]] if row.get("answer") else [])
    choices = _texts(row, "choices")
    return BenchmarkQuestion(
        id=str(row.get("id") or f"{plain_name(file).removesuffix('.jsonl')}/{number}"),
        question=question,
        answers=_texts({"answers": answers}, "answers"),
        choices=choices,
        language=str(row.get("language") or language_of(question)),
        dataset=str(row.get("dataset") or plain_name(file).removesuffix(".jsonl")),
        hops=row.get("hops") if isinstance(row.get("hops"), int) else None,
        topic=row.get("topic") if isinstance(row.get("topic"), str) else None,
        kind=str(row.get("kind") or row.get("task") or ""),
        gold=_texts(row, "gold"),
        part=part_of(file),
        split_key=str(row.get("topic") or ""),
        label=_optional(row, "label"),
        knowledge=_optional(row, "knowledge"),
        task=_optional(row, "task"),
        scoring="choice" if choices else "text",
        outcomes=_outcomes(row),
        own_answers=tuple(_by_model(row, "own_answers", str).items()),
        uncertainties=tuple(
            (model, float(entropy))
            for model, entropy in _by_model(row, "uncertainties", (int, float)).items()
        ),
        popularity=_popularity(row.get("popularity")),
        patterns=_texts(row, "patterns"),
        unanswerable=row.get("answers") == [],
    )


def _object(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise ValueError("each line must be one JSON object")
    return row


def _texts(row: dict[str, Any], name: str) -> tuple[str, ...]:
    value = row.get(name) or []
    if not isinstance(value, list) or not all(isinstance(v, (str, int, float)) for v in value):
        raise ValueError(f"`{name}` must be a list of texts")
    return tuple(map(str, value))


def _outcomes(row: dict[str, Any]) -> tuple[Outcome, ...]:
    pairs = _by_model(row, "outcomes", list).items()
    if all(len(pair) == 2 and all(_is_figure(figure) for figure in pair) for _, pair in pairs):
        return tuple((model, float(without), float(helped)) for model, (without, helped) in pairs)
    raise ValueError(
        "`outcomes` has for each model two figures from 0 to 1, without knowledge and with it"
    )


def _by_model(row: dict[str, Any], name: str, kind: type | tuple[type, ...]) -> dict[str, Any]:
    """Return a field that is an object by model, after checking its values' type."""
    values = row.get(name) or {}
    if not isinstance(values, dict) or not all(isinstance(v, kind) for v in values.values()):
        raise ValueError(f"`{name}` must be an object, by model")
    return values


def _is_figure(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= 1


def _popularity(value: Any) -> float | None:
    if value is not None and (not isinstance(value, (int, float)) or not math.isfinite(value)):
        raise ValueError("`popularity` must be a number")
    return None if value is None else float(value)


def _optional(row: dict[str, Any], name: str) -> str | None:
    return None if row.get(name) is None else str(row[name])
