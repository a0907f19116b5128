"""Measure how well a reader answers from the passages that questions were asked about.

    python -m recipes.reader.score WEIGHTS [WEIGHTS] [--more FOLDER ...] [--each 100]

scores a file of weights, or two together, the multilingual one first, on the test documents
("report").
"""

import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from recipes.command import DATA, parser_of, run_command
from recipes.reader.examples import Question, all_questions, part_of
from tasks.models.encoders.stored_weights import OWN_WORDS
from tasks.models.span_reader.networks import MiniLMNetwork, MultilingualNetwork, Network
from tasks.models.span_reader.reader import TrainedReader
from tasks.text.languages import HAN_CLASS


def reader_with(*files: Path) -> TrainedReader:
    """Return a reader with the weights in files, which tell what networks they are of."""
    return TrainedReader(*map(network_with, files))


def network_with(weights: Path) -> Network:
    """Return the network of the weights in a file."""
    with safe_open(weights, "np") as stored:
        on_minilm = OWN_WORDS in stored.keys()  # noqa: SIM118
    return MiniLMNetwork(weights) if on_minilm else MultilingualNetwork(weights)


def words_of(text: str) -> list[str]:
    """Return words as SQuAD's scorer compares them: without articles and punctuation.

    A Chinese character is a word, as in the scorers of CMRC 2018 and MLQA.
    """
    text = re.sub(r"\b(?:a|an|the)\b", " ", re.sub(r"[^\w\s]", "", text.lower()))
    return re.sub(f"[{HAN_CLASS}]", r" \g<0> ", text).split()


def f1(predicted: str, answers: list[str]) -> float:
    """Return the best word overlap with an answer; without answers, 1 for an empty prediction."""
    if not answers:
        return float(not predicted)
    best = 0.0
    for answer in answers:
        left, right = words_of(predicted), words_of(answer)
        common = sum((Counter(left) & Counter(right)).values())
        best = max(best, 2 * common / (len(left) + len(right)) if common else 0.0)
    return best


def measure(reader: TrainedReader, rows: list[Question], each: int) -> dict[str, Any]:
    """Return, by data set, the F1 of answerable questions, and of all questions.

    Of all questions, only those count as answered whose margin is above 0.
    """
    by_set = defaultdict(list)
    for row in rows:
        by_set[row.dataset].append(row)
    drawn, scores = random.Random(3), {}
    for name, questions in by_set.items():
        chosen = drawn.sample(questions, min(each, len(questions)))
        forced, free = [], []
        for row in chosen:
            best = next(iter(reader.read(row.question, [row.context])), None)
            text = row.context[best.start : best.end] if best else ""
            answers = [row.context[start:end] for start, end in row.answers]
            forced += [f1(text, answers)] if answers else []
            free.append(f1(text if best and best.margin > 0 else "", answers))
        scores[name] = {
            "f1 answerable": round(float(np.mean(forced)), 3),
            "95 %": interval(forced),
            "f1 all": round(float(np.mean(free)), 3),
            "questions": len(chosen),
        }
    return scores


def interval(values: list[float]) -> list[float]:
    """Return the 95 % interval of a mean, by a thousand resamples."""
    drawn = np.random.default_rng(1).choice(values, (1000, len(values)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return [round(float(low), 3), round(float(high), 3)]


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("weights", type=Path, nargs="+")
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="folders of questions")
    parser.add_argument("--each", type=int, default=100, help="questions of a set")
    options = parser.parse_args()
    rows = [row for row in all_questions(DATA, options.more) if part_of(row.title) == "report"]
    for name, scores in measure(reader_with(*options.weights), rows, options.each).items():
        print(name, json.dumps(scores))


if __name__ == "__main__":
    run_command(main)
