"""Fit `SPREAD` in `tasks/ask/path_reader.py`, and print what it does on questions kept aside.

    python -m recipes.choice_spread

The spread is the temperature at which the right choices of training questions are likeliest, when
only the vectors of question and choices are compared (temperature scaling, Guo et al. 2017). Every
second question, and a set of another field, serve to judge: by the mean log loss, and by the
probability of the best choice beside the share of best choices that are right.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recipes.command import data, parser_of, run_command
from tasks.ask.path_reader import SPREAD, likeness_of
from tasks.models.encoders.minilm import MiniLM
from tasks.questions.formats import read_benchmark
from tasks.questions.splits import sample, split

FITTED = {"commonsenseqa": "commonsenseqa", "openbookqa": "mcqa/openbookqa.train.json.gz"}
ASIDE = {"medqa": "medqa"}
SPREADS = np.geomspace(0.02, 1, 60).round(3)


class Asked(NamedTuple):
    """The likeness of each choice to its question, float64 (choices,), and which is right."""

    likeness: np.ndarray
    right: int


def asked(form: str, place: str, limit: int) -> Iterator[Asked]:
    """Yield the training questions of a set, or all questions if it has no training part."""
    encoder = MiniLM()
    training, others = split(read_benchmark(data(place), form))
    for question in sample(training or others, limit):
        choices = list(question.choices)
        likeness = likeness_of(question.question, choices, [""] * len(choices), encoder.encode)
        yield Asked(likeness, choices.index(question.answers[0]))


def chances(one: Asked, spread: float) -> np.ndarray:
    """Return the probability of each choice (choices,)."""
    alike = np.exp((one.likeness - one.likeness.max()) / spread)
    shares: np.ndarray = alike / alike.sum()
    return shares


def log_loss(given: list[Asked], spread: float) -> float:
    """Return the mean negative log-probability of the right choices."""
    return float(np.mean([-np.log(chances(one, spread)[one.right]) for one in given]))


def main() -> None:
    """Fit and print."""
    arguments = parser_of(__doc__, limit=600).parse_args()
    sets = {
        name: list(asked(name, place, arguments.limit))
        for name, place in {**FITTED, **ASIDE}.items()
    }
    given = [one for name in FITTED for one in sets[name][::2]]
    fitted = float(min(SPREADS, key=lambda spread: log_loss(given, spread)))
    print("SPREAD =", fitted)
    for name, whole in sets.items():
        aside = whole if name in ASIDE else whole[1::2]
        right = np.mean([one.likeness.argmax() == one.right for one in aside])
        print(f"{name}: {len(aside)} questions, best choice right {right:.3f}")
        for spread in (SPREAD, fitted):
            best = np.mean([chances(one, spread).max() for one in aside])
            loss = log_loss(aside, spread)
            print(f"  spread {spread}: log loss {loss:.3f}, best choice probable {best:.3f}")


if __name__ == "__main__":
    run_command(main)
