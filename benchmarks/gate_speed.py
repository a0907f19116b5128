"""Thrust in batches beside a loop over questions with scikit-learn, taking turns in one run.

    python -m benchmarks.gate_speed [--questions 20000] [--rounds 5]

The loop is that of the released code: for each question `KMeans.transform` gives the distances from
the centroids, then the weighted unit vectors are added one by one. Both get the same 200 seeds of
384 dimensions; scores must agree. Calibrating 200 questions is timed, too, vectors included.
"""

import time
from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.command import parser_of, report, run_command
from schemas.settings import EngineSettings
from tasks.gates.calibrate import GateChoice, calibrate
from tasks.gates.clusters import Clusters, cluster_count
from tasks.gates.questions import DUMMY, GateQuestions
from tasks.gates.thrust import thrust
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.load import open_question_encoder

SEEDS, WIDTH = 200, 384
LOOPED = 400  # questions the loop gets a round; its speed does not depend on how many
CLUSTERS = (4, 40)  # one class, and ten of them


def looped(questions: np.ndarray, means: KMeans, sizes: np.ndarray) -> np.ndarray:
    """Return Thrust question by question and cluster by cluster."""
    scores = []
    for question in questions:
        distances = means.transform(question[None])[0]
        total = np.zeros(WIDTH)
        for distance, centroid, size in zip(distances, means.cluster_centers_, sizes, strict=True):
            total += size / distance**3 * (centroid - question)
        scores.append(np.linalg.norm(total / len(sizes)))
    return np.array(scores)


def best(rounds: int, *runs: Callable[[], object]) -> list[float]:
    """Return the least processor seconds of each function; they take turns."""
    seconds = [float("inf")] * len(runs)
    for _ in range(rounds):
        for place, run in enumerate(runs):
            started = time.process_time()
            run()
            seconds[place] = min(seconds[place], time.process_time() - started)
    return seconds


def measure(number: int, rounds: int, count: int) -> dict[str, float]:
    """Return the speed of both methods with this many clusters."""
    rng = np.random.default_rng(0)
    seeds, questions = rng.normal(size=(SEEDS, WIDTH)), rng.normal(size=(number, WIDTH))
    means = KMeans(count, random_state=42, n_init=1).fit(seeds)
    sizes = np.bincount(means.labels_).astype(float)
    clusters = Clusters(means.cluster_centers_, sizes, sizes, (DUMMY,) * count)
    few = questions[:LOOPED]
    np.testing.assert_allclose(thrust(few, clusters), looped(few, means, sizes), rtol=1e-6)
    ours, theirs = best(
        rounds, lambda: thrust(questions, clusters), lambda: looped(few, means, sizes)
    )
    return {
        "clusters": count,
        "questions a second": round(number / ours),
        "loop, questions a second": round(LOOPED / theirs),
        "times as fast": round(number / ours / (LOOPED / theirs), 1),
        "microseconds a question and centroid": round(1e6 * ours / number / count, 4),
    }


def calibration_seconds() -> dict[str, float]:
    """Return how long 200 questions take from text to thresholds with the default encoder."""
    started = time.perf_counter()
    encoder = open_question_encoder(EncoderChoice(), EngineSettings())
    texts = [
        f"In which year was the society number {n} of natural history founded?"
        for n in range(SEEDS)
    ]
    seeds = GateQuestions(texts, vectors=encoder.encode(texts).astype(np.float64))
    calibrate("years", GateChoice(), encoder.id, seeds)
    return {"questions": SEEDS, "seconds": round(time.perf_counter() - started, 2)}


def main() -> None:
    """Measure, write the results, and fail if a bound is missed."""
    arguments = parser_of(__doc__, questions=20_000, rounds=5).parse_args()
    assert cluster_count(SEEDS) == CLUSTERS[0]
    scores = [measure(arguments.questions, arguments.rounds, count) for count in CLUSTERS]
    report("gate-speed", {"scores": scores, "calibration": calibration_seconds()})
    first = scores[0]
    if first["times as fast"] < 100 or first["microseconds a question and centroid"] >= 1:
        raise SystemExit("Scoring is slower than 100 times the loop, or than 1 microsecond a pair.")


if __name__ == "__main__":
    run_command(main)
