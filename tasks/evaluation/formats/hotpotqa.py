"""HotpotQA (Yang et al. 2018): questions with the paragraphs that they are answered from."""

from pathlib import Path
from typing import Any

from schemas.errors import AlmanacError
from tasks.evaluation.files import part_of, question_files, read_json
from tasks.evaluation.question import Benchmark, BenchmarkQuestion


def read_hotpotqa(path: Path) -> Benchmark:
    """Return the items of a JSON list, each with its paragraphs; `kind` is bridge or comparison."""
    files = question_files(path, r"(^|/)hotpot(?!.*corpus)\w*\.json$")
    return Benchmark(
        "hotpotqa",
        [_question(file, n, item) for file in files for n, item in enumerate(read_json(file), 1)],
    )


def _question(file: Path, number: int, item: Any) -> BenchmarkQuestion:
    try:
        return BenchmarkQuestion(
            id=str(item.get("_id") or f"hotpotqa/{number}"),
            question=item["question"],
            answers=(item["answer"],),
            dataset="hotpotqa",
            kind=item.get("type", ""),
            gold=tuple(dict.fromkeys(title for title, _ in item["supporting_facts"])),
            context=tuple((title, "".join(told).strip()) for title, told in item["context"]),
            part=part_of(file),
            scoring="text",
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AlmanacError(
            f"{file}, item {number}: it needs question, answer, supporting_facts and context."
        ) from error
