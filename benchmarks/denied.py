"""Two hundred sentences that assert nothing, and 120 that do: what becomes a fact or an answer?

    python -m benchmarks.denied [--part report] [--homes FOLDER] [--shown]

Half of the sentences are English, half Chinese. They deny, suppose, report as hearsay, plan, ask,
imagine or compare; of the others, half have innocent words such as "not only". All were written
before the code that judges them. A third of each was developed on, a third used to choose, and a
third is reported. Each sentence is a document. It is asserted if a published, positive and asserted
triple holds both its `head` and its `tail`, answered if an answer to its question holds the `tail`.
"""

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.command import parser_of, report, run_command
from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.refresh import refresh
from warehouse.home import Home

SENTENCES = Path(__file__).with_suffix(".jsonl")
PARTS = ("develop", "choose", "report")
ASSERTING = ("plain", "innocent")
Row = dict[str, Any]


def refreshed(folder: Path, rows: list[Row]) -> Home:
    """Return a home with a document for each sentence, made if it is not there."""
    home = Home(folder / "home")
    if home.editions.current() is None:
        for number, row in enumerate(rows):
            file = folder / "texts" / f"{number}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{row['text']}\n", encoding="utf-8")
        refresh(home, [str(folder / "texts")], Settings())
    return home


def measure(home: Home, rows: list[Row], *, shown: bool = False) -> dict[str, Any]:
    """Return how many sentences of each language and kind became triples, and answers."""
    with home.editions.reading() as edition, Asker(home, edition, Settings()) as asker:
        con = edition.connect()
        triples = con.execute("select head, relation, tail from asserted_triples").fetchall()
        answers = asker.answer_all([row["question"] for row in rows])
    counts: Counter[str] = Counter()
    for row, answer in zip(rows, answers, strict=True):
        stating = [ends for ends in triples if _states(row, ends)]
        given = any(row["tail"] in words for words in answer.answers)
        group = f"{row['language']} {row['kind']}"
        counts.update({f"{group}: sentences": 1})
        counts.update({f"{group}: asserted": bool(stating), f"{group}: answered": given})
        if shown and ((stating or given) != (row["kind"] in ASSERTING) or not (stating or given)):
            print(row["kind"], row["text"], stating, answer.answers[:2], answer.probability)
    return dict(sorted(counts.items()))


def _states(row: Row, triple: tuple[str, str, str]) -> bool:
    """Return whether a triple holds both ends; a comparison itself ("taller than") may."""
    head, relation, tail = triple
    if row["kind"] == "compared" and any(word in relation for word in ("than", "as", "比")):
        return False
    words = (head, relation, tail)
    return any(row["head"] in one for one in words) and any(row["tail"] in one for one in words)


def main() -> None:
    """Measure one part of the sentences and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--part", choices=PARTS, default="report")
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--shown", action="store_true", help="print the sentences not as they must")
    arguments = parser.parse_args()
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["part"] == arguments.part]
    figures: dict[str, Any] = {"part": arguments.part}
    with tempfile.TemporaryDirectory(prefix="almanac-denied-") as made:
        home = refreshed((arguments.homes or Path(made)) / arguments.part, rows)
        counts = measure(home, rows, shown=arguments.shown)
    for language in ("en", "zh"):
        for what in ("sentences", "asserted", "answered"):
            ours = {k: n for k, n in counts.items() if k.startswith(language) and k.endswith(what)}
            stating = sum(n for k, n in ours.items() if any(f" {a}:" in k for a in ASSERTING))
            figures[f"{language}, asserting nothing: {what}"] = sum(ours.values()) - stating
            figures[f"{language}, asserting: {what}"] = stating
    report("denied", {**figures, "by kind": counts})


if __name__ == "__main__":
    run_command(main)
