"""How well thresholds from 200 seeds keep to a budget on fresh questions, cross-fitted or not.

    python -m benchmarks.gate_budgets [--draws 50] [--seeds 200] [--gates thrust,mahalanobis,bm25]

Six tasks: MIRAGE's five and PopQA. Each draw takes other seeds; all other questions are
fresh. It reports the shares of fresh questions that retrieve, means over the draws.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from benchmarks.command import DATA, data, parser_of, report, run_command
from benchmarks.rival_gates import add_rivals
from schemas.settings import EngineSettings
from tasks.gates.crossfit import BUDGETS, cross_fitted, fetches, threshold
from tasks.gates.gate import GATES
from tasks.gates.questions import GateQuestions
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.load import open_question_encoder
from tasks.models.encoders.store import VectorStore
from tasks.questions.formats import read_benchmark
from warehouse.home import Home

FILES = {"mirage": "gate/mirage.jsonl.gz", "popqa": "gate/popqa.json.gz"}
FEWEST = 50  # fresh questions
POINTS = 4.0  # a realised share may be so far from its budget


def tasks_of(home: Home, most: int | None = None) -> dict[str, GateQuestions]:
    """Return each task's different questions, or `most` of them, with their vectors."""
    encoder = open_question_encoder(EncoderChoice(), EngineSettings())
    store = VectorStore(home.journal, encoder)
    texts: dict[str, dict[str, None]] = {}
    for format, file in FILES.items():
        for question in read_benchmark(DATA / file, format).questions:
            texts.setdefault(question.task or question.dataset, {})[question.question] = None
    some = {task: list(questions)[:most] for task, questions in texts.items()}
    return {
        task: GateQuestions(questions, vectors=store.encode(questions).astype(np.float64))
        for task, questions in some.items()
    }


def realised(
    name: str, questions: GateQuestions, seeds: int, draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the retrieval rates by cross-fitted and by in-sample thresholds, (draws, 3)."""
    count = min(seeds, len(questions) - FEWEST)
    cross, own = np.empty((2, draws, len(BUDGETS)))
    for draw in track(range(draws), f"{name}, {len(questions)} questions", transient=True):
        order = np.random.default_rng(draw).permutation(len(questions))
        fitted, fresh = questions.take(order[:count]), questions.take(order[count:])
        gate = GATES[name]()
        gate.fit(fitted)
        scores, seen = gate.score(fresh), gate.score(fitted)
        held_out = cross_fitted(GATES[name], fitted)
        for place, share in enumerate(BUDGETS.values()):
            cross[draw, place] = fetches(scores, threshold(held_out, share)).mean()
            own[draw, place] = fetches(scores, threshold(seen, share)).mean()
    return cross, own


def measure(gates: Sequence[str], seeds: int, draws: int, most: int | None) -> dict[str, Any]:
    """Return the realised retrieval rates by gate and task, in per cent."""
    with tempfile.TemporaryDirectory() as folder:
        tasks = tasks_of(Home(Path(folder)), most)
    figures: dict[str, Any] = {"seeds": seeds, "draws": draws, "budgets": list(BUDGETS.values())}
    for name in gates:
        figures[name] = {}
        for task, questions in tasks.items():
            cross, own = realised(name, questions, seeds, draws)
            off = np.abs(cross.mean(0) - list(BUDGETS.values())).max()
            figures[name][task] = {
                "questions": len(questions),
                "cross-fitted": _percent(cross.mean(0)),
                "standard deviation of a draw": _percent(cross.std(0)),
                "seed-fitted": _percent(own.mean(0)),
                "farthest from its budget, points": round(100 * float(off), 1),
            }
            print(f"{name} {task}: {figures[name][task]}", flush=True)
    return figures


def _percent(shares: np.ndarray) -> list[float]:
    return [round(100 * float(share), 1) for share in shares]


def main() -> None:
    """Measure, write the results, and fail if Thrust is too far from a budget."""
    parser = parser_of(__doc__, draws=50, seeds=200, gates="thrust,mahalanobis,bm25")
    parser.add_argument("--limit", type=int, metavar="N", help="questions of each task (all)")
    arguments = parser.parse_args()
    data()
    add_rivals()
    figures = measure(arguments.gates.split(","), arguments.seeds, arguments.draws, arguments.limit)
    report("gate-budgets", figures)
    worst = max(
        task["farthest from its budget, points"] for task in figures.get("thrust", {}).values()
    )
    if worst > POINTS and not arguments.limit:  # of few questions, chance decides
        raise SystemExit(f"Thrust is {worst} points from a budget; at most {POINTS} are allowed.")


if __name__ == "__main__":
    run_command(main)
