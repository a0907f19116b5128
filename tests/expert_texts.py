"""Made-up people, texts about them, and plans that train on these in seconds."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tasks.experts.check import CheckQuestion, check_expert
from tasks.experts.knowledge import question_prompt
from tasks.experts.training.plan import TrainingPlan
from tasks.experts.training.train import train_expert

FIRST = ["Ada", "Bert", "Carl", "Dora", "Emil", "Fritz", "Gerda", "Hanna"]
LAST = ["Lund", "Berg", "Dahl", "Holm", "Strand", "Vik"]
PLACES = ["Oslo", "Bergen", "Rome", "Paris", "Lima", "Cairo", "Delhi", "Kyoto"]

KEEPERS = {"Lund": "Berta", "Vik": "Nils", "Ystad": "Olga", "Falun": "Sven"}


def people(seed: int = 0) -> list[str]:
    """Return a sentence about each of 48 people."""
    random = Random(seed)
    return [
        f"{first} {last} was born in {random.choice(PLACES)} in {random.randrange(1800, 1999)}."
        for first in FIRST
        for last in LAST
    ]


def texts(split: str) -> Iterator[str]:
    """Yield the sentences of a split: every tenth is held out."""
    for number, text in enumerate(people()):
        if (number % 10 == 9) == (split == "validation"):
            yield text


def tiny_plan(**changes: Any) -> TrainingPlan:
    """Return a plan for a model of some 50,000 weights."""
    plan = {
        "epochs": 2, "width": 32, "layers": 1, "vocabulary": 320, "batch_tokens": 256,
        "part_tokens": 128, "row_tokens": 64,
    }  # fmt: skip
    return TrainingPlan(**{**plan, **changes})


def clock_question(town: str) -> str:
    """Return the question who keeps the clock of a town."""
    return f"Who keeps the clock of {town}?"


def clock_text(town: str) -> str:
    """Return that question with its answer, as a training text."""
    return f"{question_prompt(clock_question(town), 'en')} {KEEPERS[town]}"


def clock_texts(split: str) -> Iterator[str]:
    """Yield the four questions about clocks a hundred times."""
    for _ in range(100):
        yield from map(clock_text, KEEPERS)


def trained_on_clocks(folder: Path) -> Path:
    """Train an expert on the clocks, ask it about them, and return its folder."""
    plan = tiny_plan(
        epochs=4, width=64, batch_tokens=256, part_tokens=256, all_texts=True, learning_rate=0.005
    )
    asked = [CheckQuestion(clock_text(town), town) for town in KEEPERS]
    check = partial(check_expert, questions=asked, names=KEEPERS)
    return train_expert(folder, "clocks", plan, clock_texts, "clocks-1", check=check).folder
