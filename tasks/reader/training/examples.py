"""Questions about passages, answerable there or not, from open data sets."""

import gzip
import hashlib
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.models.span_reader.windows import Tokens, windows

SETS = (
    "squad2_dev_en", "squadshift_wiki_en", "xquad_en", "covidqa_windows_en",
    "cmrc2018_train_zh", "cmrc2018_dev_zh", "cmrc2018_trial_zh", "drcd_zh_hant", "xquad_zh",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the passage that it was asked about, and its answers as characters."""

    dataset: str
    title: str
    context: str
    question: str
    answers: tuple[tuple[int, int], ...]


def part_of(title: str) -> str:
    """Return what a document is used for: "report", "choose" or "train", by its title's hash."""
    number = hashlib.sha1(title.encode()).digest()[0] % 10
    return {0: "report", 1: "choose"}.get(number, "train")


def questions(path: Path) -> list[Question]:
    """Return the questions of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return [
        Question(
            row["dataset"], row["title"], row["context"], row["question"],
            tuple(sorted({(a["start"], a["start"] + len(a["text"])) for a in row["answers"]})),
        )
        for row in rows
    ]  # fmt: skip


def squad_file(path: Path) -> list[Question]:
    """Return the questions of a file in SQuAD's own form."""
    return [
        Question(
            "squad2_train", article["title"], paragraph["context"], row["question"].strip(),
            tuple(
                sorted({(a["answer_start"], a["answer_start"] + len(a["text"]))
                        for a in row["answers"]})
            ),
        )
        for article in json.loads(path.read_text("utf-8"))["data"]
        for paragraph in article["paragraphs"]
        for row in paragraph["qas"]
    ]  # fmt: skip


def draw_window(tokens: Tokens, answer: tuple[int, int], drawn: random.Random) -> Any:
    """Return a window that holds the answer, and the answer's first and last token in it."""
    inside = [
        number for number, (start, end) in enumerate(tokens.offsets)
        if start < answer[1] and end > answer[0]
    ]  # fmt: skip
    if not inside:
        return None
    first, last = inside[0], inside[-1]
    holding = [w for w in windows(tokens) if w[0] <= first and last < w[1]]
    if not holding:
        return None
    window = drawn.choice(holding)
    return window, first - window[0], last - window[0]


def all_questions(data: Path, squad: Path | None = None) -> list[Question]:
    """Return the questions of the sets whose licences allow shipping a model trained on them."""
    rows = [row for name in SETS for row in questions(data / "more" / "rc" / f"{name}.jsonl.gz")]
    return rows + (squad_file(squad) if squad else [])
