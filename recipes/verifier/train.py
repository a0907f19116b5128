"""Train the embedded verifier, with one command and without network access.

    python -m recipes.verifier.train --out FOLDER

Pairs are made from reading-comprehension data and an encyclopedia (`pairs.py`), and half of
Climate-FEVER's claims are added. A network with one hidden layer is trained on their features, and
its temperature is chosen on held-out titles. It takes five minutes on one core.
"""

import json
import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from recipes.command import DATA, parser_of, run_command
from recipes.verifier.pairs import VERDICTS, Pair, climate_pairs, made_pairs
from tasks.experts.filters.embedded_verifier import describe, readable, weigh
from tasks.models.encoders.minilm import MiniLM

log = logging.getLogger(__name__)
QUESTIONS = 8000
MADE = 8000  # made pairs that are trained on
HELD_OUT = 1000
SHARES = {"opposite": 0.25, "name": 0.5, "negation": 0.7}  # of the pairs of a kind; else 1
CLIMATE = 0.3  # Climate-FEVER's share of the total weight
HIDDEN = 24
TOGETHER = 500


def main() -> None:
    """Train the verifier and write its weights and a report on the held-out pairs."""
    parser = parser_of(__doc__, seed=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    from tasks.extract.english_pipeline.load import load_english

    pipeline = load_english(disable=("trainable_lemmatizer",))
    pairs = made_pairs(DATA, pipeline, given.seed, QUESTIONS)
    climate = climate_pairs(DATA / "factcheck/climate-fever.jsonl.gz", reported=False)
    weights, report = train(pairs, climate, given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    np.savez(given.out / "verifier.npz", allow_pickle=False, **weights)
    (given.out / "report.json").write_text(json.dumps(report, indent=2), encoding="utf-8")
    log.info("%s", report)


def train(
    pairs: Sequence[Pair], climate: Sequence[Pair], seed: int
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the weights and a report with the accuracies on the held-out pairs."""
    random = Random(seed)
    drawn = [pair for pair in pairs if random.random() < SHARES.get(pair.made, 1.0)]
    made = [pair for pair in drawn if not pair.held_out][:MADE]
    held = [pair for pair in drawn if pair.held_out][:HELD_OUT]
    encoder = MiniLM()
    rows, truth = _described([*made, *climate], encoder)
    shares = _weights(truth, len(made))
    weights = fit(rows, truth, shares, seed)
    held_rows, held_truth = _described(held, encoder)
    weights["temperature"] = np.array(_temperature(held_rows, held_truth, weights), np.float32)
    verdicts = weigh(held_rows, {name: array.astype(np.float64) for name, array in weights.items()})
    return weights, {
        "pairs": {f"{made} {verdict}": n for (made, verdict), n in sorted(_kinds(pairs).items())},
        "trained on": {"made": len(made), "climate": len(climate)},
        "held out": {"pairs": len(held), **_accuracies(verdicts, held_truth)},
        "temperature": round(float(weights["temperature"]), 2),
    }


def fit(
    rows: np.ndarray, truth: np.ndarray, shares: np.ndarray, seed: int
) -> dict[str, np.ndarray]:
    """Return the weights of a network fitted to rows (pairs, n) drawn with probability `shares`."""
    from sklearn.neural_network import MLPClassifier

    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    chosen = np.random.default_rng(seed).choice(len(rows), size=len(rows), p=shares)
    network = MLPClassifier(
        (HIDDEN,), alpha=1e-3, early_stopping=True, max_iter=200, random_state=seed
    )
    network.fit(np.clip((rows[chosen] - mean) / spread, -6, 6), truth[chosen])
    (hidden, out), (hidden_bias, out_bias) = network.coefs_, network.intercepts_
    arrays = {"mean": mean, "spread": spread, "hidden": hidden, "hidden_bias": hidden_bias}
    arrays |= {"out": out, "out_bias": out_bias, "temperature": np.array(1.0)}
    return {name: np.asarray(array, np.float32) for name, array in arrays.items()}


def _described(pairs: Sequence[Pair], encoder: MiniLM) -> tuple[np.ndarray, np.ndarray]:
    parts = []
    for start in range(0, len(pairs), TOGETHER):
        part = [(pair.evidence, pair.claim) for pair in pairs[start : start + TOGETHER]]
        parts.append(describe(readable(part), encoder))
        log.info("%d of %d pairs described", start + len(part), len(pairs))
    return np.concatenate(parts), np.array([VERDICTS.index(pair.verdict) for pair in pairs])


def _weights(truth: np.ndarray, made: int) -> np.ndarray:
    """Return the sampling probability (pairs) of each pair.

    All verdicts weigh the same within the made pairs, and within those of Climate-FEVER.
    """
    shares = np.zeros(len(truth))
    for part, total in ((slice(0, made), 1 - CLIMATE), (slice(made, None), CLIMATE)):
        counts = np.maximum(np.bincount(truth[part], minlength=len(VERDICTS)), 1)
        shares[part] = total / len(VERDICTS) / counts[truth[part]]
    weights: np.ndarray = shares / shares.sum()
    return weights


def _temperature(rows: np.ndarray, truth: np.ndarray, weights: dict[str, np.ndarray]) -> float:
    """Return the temperature that maximises the likelihood of the held-out verdicts."""

    def loss(temperature: float) -> float:
        shares = weigh(rows, {**weights, "temperature": np.array(temperature)})
        return float(-np.log(np.maximum(shares[np.arange(len(truth)), truth], 1e-9)).mean())

    return min((float(value) for value in np.arange(0.6, 3.01, 0.1)), key=loss)


def _accuracies(verdicts: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    decided = truth < 2
    two = verdicts[decided, :2].argmax(axis=1) == truth[decided]
    three = verdicts.argmax(axis=1) == truth
    return {"three verdicts": round(float(three.mean()), 3), "two": round(float(two.mean()), 3)}


def _kinds(pairs: Sequence[Pair]) -> Counter[tuple[str, str]]:
    return Counter((pair.made, pair.verdict) for pair in pairs)


if __name__ == "__main__":
    run_command(main)
