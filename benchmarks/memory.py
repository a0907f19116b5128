"""HotpotQA as memory: each question is answered from what was extracted from its own paragraphs.

    python -m benchmarks.memory [--limit N]

What `almanac evaluate --format hotpotqa --route programs` does: the ten paragraphs of a question
become a personal knowledge base of their own (KnowledGPT, section 4.4), which is asked by programs;
passages are not read. Beside it stands the route `text` over the same editions. A question is right
if the answer contains the gold one. Every other question, by id, was seen while the route was
developed: `seen` and `unseen` are the two halves. Then everything is repeated without the
paragraphs that answer: `refused` is the share of questions that are not answered from the other
eight.
"""

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import orjson

from benchmarks.command import DATA, parser_of, report, run_command
from schemas.settings import Settings
from tasks.evaluate.evaluate import Measurement, evaluate
from tasks.evaluate.systems import system_for
from warehouse.home import Home

Figures = dict[str, Any]


def measure(path: Path, limit: int | None) -> Figures:
    """Return the figures of extracted knowledge and of passages."""
    with tempfile.TemporaryDirectory(prefix="almanac-memory-") as folder:
        found, rows = _asked(path, Path(folder), limit)
        without = Path(folder) / "hotpotqa.json"
        without.write_bytes(_without_gold(path))
        _, blind = _asked(without, Path(folder), limit)
    parts = [found, *found["baselines"]]
    return {
        "questions": found["items"],
        **{_called(one): _kept(one) for one in parts},
        "right by half": _halves([row for row in rows if row["system"] == found["system"]]),
        "refused": {_called(one): _refused(blind, one["system"]) for one in parts},
    }


def _asked(path: Path, folder: Path, limit: int | None) -> tuple[Figures, list[Figures]]:
    """Return the figures of a file of questions, and every answer."""
    answers = folder / "answers.jsonl"
    how, settings = Measurement(limit=limit, learn=False, answers=answers), Settings()
    home = Home(folder / "home")
    system = system_for("programs", settings, home)
    found = evaluate(home, path, "hotpotqa", system, settings, how)
    return found, [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]


def _without_gold(path: Path) -> bytes:
    """Return the questions without the paragraphs that hold their supporting facts."""
    items = orjson.loads(gzip.decompress(path.read_bytes()))
    for item in items:
        gold = {title for title, _ in item["supporting_facts"]}
        item["context"] = [one for one in item["context"] if one[0] not in gold]
    return orjson.dumps(items)


def _refused(rows: list[Figures], system: str) -> float:
    own = [row for row in rows if row["system"] == system]
    return round(sum(not row["answers"] for row in own) / max(len(own), 1), 3)


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
    return "passages" if found["system"] == "text" else "extracted knowledge"


def _halves(rows: list[Figures]) -> Figures:
    ordered = sorted(rows, key=lambda row: row["id"])
    return {
        name: f"{sum(int(row['scores']['right']) for row in half)} of {len(half)}"
        for name, half in (("seen", ordered[::2]), ("unseen", ordered[1::2]))
    }


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    figures = measure(DATA / "multihop" / "hotpotqa.json.gz", arguments.limit)
    report("memory", figures)


if __name__ == "__main__":
    run_command(main)
