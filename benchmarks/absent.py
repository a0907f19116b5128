"""A hundred questions about things that four corpora do not name: how many get an answer?

    python -m benchmarks.absent [--part report] [--only CORPUS ...] [--homes FOLDER] [--shown]

The corpora are the sample corpus, two of English and one of Chinese documentation. An answer must
be about another thing. The questions of one half were in view when the reader was
changed; those of the other report. `--homes` keeps the homes that are made, for the next time.
"""

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.command import DATA, parser_of, report, run_command
from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.refresh import refresh
from warehouse.home import Home

QUESTIONS = Path(__file__).with_suffix(".jsonl")
SAMPLE = Path(__file__).parents[1] / "examples" / "corpus"
CORPORA = {
    "sample": SAMPLE,
    "docs_prometheus": DATA / "more" / "corpora" / "docs_prometheus",
    "handbook_18f": DATA / "more" / "corpora" / "handbook_18f",
    "zh_howtocook": DATA / "more" / "corpora" / "zh_howtocook",
}


def answered(folder: Path, corpus: str, questions: list[str], *, shown: bool) -> int:
    """Return how many of the questions get an answer from a corpus."""
    home = Home(folder / corpus)
    if home.editions.current() is None:
        refresh(home, [str(CORPORA[corpus])], Settings())
    with home.editions.reading() as edition, Asker(home, edition, Settings()) as asker:
        answers = asker.answer_all(questions)
    for answer in answers if shown else ():
        if answer.answers:
            print(answer.question, answer.answers[:2], answer.probability)
    return sum(bool(answer.answers) for answer in answers)


def main() -> None:
    """Ask one half of the questions and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--part", choices=("develop", "report"), default="report")
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--only", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--shown", action="store_true", help="print the answers")
    arguments = parser.parse_args()
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["part"] == arguments.part]
    rows = [row for row in rows if row["corpus"] in arguments.only]
    figures: dict[str, Any] = {"part": arguments.part, "questions": len(rows)}
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="almanac-absent-") as made:
        for corpus in arguments.only:
            questions = [row["question"] for row in rows if row["corpus"] == corpus]
            folder = arguments.homes or Path(made)
            counts[corpus] = answered(folder, corpus, questions, shown=arguments.shown)
    report("absent", {**figures, "answered": counts.total(), "by corpus": counts})


if __name__ == "__main__":
    run_command(main)
