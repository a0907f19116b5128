"""Questions about passages, answerable there or not, from open data sets."""

import gzip
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SETS = (
    "squad2_dev_en", "squadshift_wiki_en", "xquad_en", "covidqa_windows_en",
    "cmrc2018_train_zh", "cmrc2018_dev_zh", "cmrc2018_trial_zh", "drcd_zh_hant", "xquad_zh",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the passage that it was asked about, and its answers as characters.

    `corpus` names the documents among which the passage is to be found; without one, it is the
    passage's document. `translated` is the same for a question and its translations.
    """

    dataset: str
    title: str
    context: str
    question: str
    answers: tuple[tuple[int, int], ...]
    corpus: str = ""
    translated: str = ""


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
            row.get("corpus", ""),
            row["id"].split("-", 2)[2] if row["dataset"].startswith("xquad-") else "",
        )
        for row in rows
    ]  # fmt: skip


def all_questions(data: Path, more: Sequence[Path] = ()) -> list[Question]:
    """Return the questions of the sets whose licences allow shipping a model trained on them.

    `more` are folders of further sets in the same form.
    """
    files = [data / "more" / "rc" / f"{name}.jsonl.gz" for name in SETS]
    files += [file for folder in more for file in sorted(folder.glob("*.jsonl.gz"))]
    return [row for file in files for row in questions(file)]
