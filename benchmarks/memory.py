"""HotpotQA as memory: each question's paragraphs are extracted, and it is asked of that alone.

    python -m benchmarks.memory [--limit N]

What `almanac evaluate --format hotpotqa --route programs` does: ten paragraphs a question become a
personal knowledge base of their own (KnowledGPT, section 4.4), which is asked by programs; passages
are not looked at. Beside it the route of text over the same editions. A question is right if the
answer contains the gold one. Every other question, by id, was looked at while the route was made:
`seen` and `unseen` are the two halves.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import orjson

from benchmarks.results_file import write_results
from schemas.settings import Settings
from tasks.evaluation.evaluate import Measurement, evaluate
from tasks.evaluation.systems import system_for
from warehouse.home import Home

DATA = Path(os.environ.get("ALMANAC_DATA") or Path(__file__).parents[2] / "shared" / "data")
WANTED = 0.40
Figures = dict[str, Any]


def measure(path: Path, limit: int | None) -> Figures:
    """Return the figures of extracted knowledge and of passages."""
    settings = Settings()
    with tempfile.TemporaryDirectory(prefix="almanac-memory-") as folder:
        answers = Path(folder) / "answers.jsonl"
        how = Measurement(limit=limit, learn=False, answers=answers)
        home = Home(Path(folder) / "home")
        system = system_for("programs", settings, home)
        found = evaluate(home, path, "hotpotqa", system, settings, how)
        rows = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    knowledge = _kept(found)
    return {
        "questions": found["items"],
        "extracted knowledge": knowledge,
        **{_called(one): _kept(one) for one in found["baselines"]},
        "right by half": _halves([row for row in rows if row["system"] == found["system"]]),
        "reached": knowledge["right"] >= WANTED,
    }


def _kept(found: Figures) -> Figures:
    metrics = found["metrics"]
    kinds = found.get("by", {}).get("kind", {})
    return {
        **{name: round(metrics[name], 3) for name in ("right", "em", "f1", "coverage")
           if name in metrics},
        "by type": {
            kind: {"items": part["items"], "right": round(part["metrics"]["right"], 3)}
            for kind, part in kinds.items()
        },
    }  # fmt: skip


def _called(found: Figures) -> str:
    return "passages" if found["system"] == "text" else str(found["system"])


def _halves(rows: list[Figures]) -> Figures:
    ordered = sorted(rows, key=lambda row: row["id"])
    return {
        name: f"{sum(int(row['scores']['right']) for row in half)} of {len(half)}"
        for name, half in (("seen", ordered[::2]), ("unseen", ordered[1::2]))
    }


def main() -> None:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    figures = measure(DATA / "multihop" / "hotpotqa.json.gz", arguments.limit)
    if arguments.limit is None:
        write_results("memory", "python -m benchmarks.memory", figures)
    print(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode())


if __name__ == "__main__":
    main()
