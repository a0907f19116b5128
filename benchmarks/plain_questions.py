"""Plain questions about three small graphs, before and after a few questions are learned from.

    python -m benchmarks.plain_questions [--part report] [--shown]

Sixty questions in English and Chinese were written before the code that answers them: about an
entity, two entities, a relation in its own or other words, from either end, counts and lists, and
some that the graphs do not answer. Twenty were developed on, twenty used to choose, and twenty are
reported. `learned` is after `learn` has seen seven questions a graph, which are about other
entities or relations. A question is right if its answers are exactly the accepted ones, if its
answer contains what is asked for (about an entity), or, where there is none, if none is given.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.command import parser_of, report, run_command
from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.import_graph import import_graph
from tasks.learn import learn
from tasks.questions.normalise import bare_words
from warehouse.home import Home

FOLDER = Path(__file__).parent / "plain_graphs"
GRAPHS = ("islands", "computing", "poets")
PARTS = ("develop", "choose", "report")
Row = dict[str, Any]


def measure(home: Home, rows: list[Row], *, shown: bool = False) -> dict[str, Any]:
    """Return the shares of questions that are answered right and wrong without naming a graph."""
    with home.editions.reading() as edition, Asker(home, edition, Settings()) as asker:
        answers = asker.answer_all([row["question"] for row in rows])
    right = wrong = 0
    probable: list[tuple[float, bool]] = []
    for row, answer in zip(rows, answers, strict=True):
        is_right = _is_right(row, answer.answers)
        right += is_right
        wrong += bool(answer.answers) and not is_right
        if answer.answers and answer.probability is not None:
            probable.append((answer.probability, is_right))
        if shown:
            sign = "+" if is_right else "-" if answer.answers else " "
            print(sign, row["question"], answer.answers[:6], answer.probability)
    return {
        "questions": len(rows),
        "right": round(right / len(rows), 3),
        "wrong": round(wrong / len(rows), 3),
        "mean probability": _mean([probability for probability, _ in probable]),
        "right of those with one": _mean([float(is_right) for _, is_right in probable]),
    }


def _is_right(row: Row, answers: list[str]) -> bool:
    if "contains" in row:
        return any(row["contains"] in answer for answer in answers)
    return set(map(bare_words, answers)) == set(map(bare_words, row["answers"]))


def _mean(numbers: list[float]) -> float | None:
    return round(sum(numbers) / len(numbers), 3) if numbers else None


def main() -> None:
    """Measure one part of the questions and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--part", choices=PARTS, default="report")
    parser.add_argument("--shown", action="store_true", help="print every answer")
    arguments = parser.parse_args()
    lines = (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    asked = [row for row in rows if row["part"] == arguments.part]
    with tempfile.TemporaryDirectory(prefix="almanac-plain-") as folder:
        home = Home(Path(folder) / "home")
        for graph in GRAPHS:
            import_graph(home, FOLDER / f"{graph}.tsv", Settings(), name=graph)
        figures = {"part": arguments.part, "untaught": measure(home, asked, shown=arguments.shown)}
        for graph in GRAPHS:
            file = Path(folder) / f"{graph}.jsonl"
            taught = [row for row in rows if row["part"] == "learn" and row["graph"] == graph]
            file.write_text("".join(json.dumps(row) + "\n" for row in taught), encoding="utf-8")
            learn(home, [file], "jsonl", Settings(), graph)
        figures["learned"] = measure(home, asked, shown=arguments.shown)
    report("plain-questions", figures)


if __name__ == "__main__":
    run_command(main)
