"""Questions whose answer is the cell of a table or a labelled value: how many are right?

    python -m benchmarks.cells [--part report] [--home FOLDER] [--shown]

Small documents hold tables (Markdown, HTML, spreadsheets) and labelled lines (text, JSON lines,
Word), in English and Chinese. Each part has 20 questions, and five whose answer is not there; the
first two have 60 more of these, for what is near to a value that is there. An answer is right if it
is a wanted value or a sentence that has it; what shows markup, a label or a row is wrong. The code
was changed with `develop` in view, and chosen by `choose`; `report` reports.
"""

import json
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from docx import Document
from openpyxl import Workbook

from benchmarks.command import parser_of, report, run_command
from schemas.answers import Answer
from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.refresh import refresh
from warehouse.home import Home

ITEMS = Path(__file__).with_suffix(".jsonl")
MARKUP = re.compile(r"[|<>{}\n]|\w[:：] |：")  # a row, a tag, or a value with its label


def write_documents(rows: list[dict[str, Any]], folder: Path) -> None:
    """Write the documents; the lines of a .docx are its paragraphs, those of an .xlsx its rows."""
    for row in rows:
        path, lines = folder / row["document"], row["text"].splitlines()
        if path.suffix == ".docx":
            document = Document()
            for line in lines:
                document.add_paragraph(line)
            document.save(str(path))
        elif path.suffix == ".xlsx":
            book = Workbook()
            for line in lines:
                book.active.append(re.split("[,;]", line))
            book.save(path)
        else:
            path.write_text(row["text"], encoding="utf-8")


def outcome(answer: Answer, wanted: list[str]) -> str:
    """Return whether an answer is right, wrong or refused; nothing but a refusal may be wanted."""
    if not answer.answers:
        return "refused"
    given = answer.answers[0]
    has_value = any(re.search(rf"(?<!\d){re.escape(value)}(?!\d)", given) for value in wanted)
    return "right" if has_value and not MARKUP.search(given) else "wrong"


def main() -> None:
    """Ask the questions of one part and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--part", choices=("develop", "choose", "report"), default="report")
    parser.add_argument("--home", type=Path, help="where the home is made, and kept")
    parser.add_argument("--shown", action="store_true", help="print the answers")
    arguments = parser.parse_args()
    lines = map(json.loads, ITEMS.read_text(encoding="utf-8").splitlines())
    rows = [row for row in lines if row["part"] == arguments.part]
    questions = [row for row in rows if "question" in row]
    with tempfile.TemporaryDirectory(prefix="almanac-cells-") as made:
        folder, home = Path(made, "documents"), Home(arguments.home or Path(made, "home"))
        folder.mkdir()
        write_documents([row for row in rows if "document" in row], folder)
        refresh(home, [str(folder)], Settings())
        with home.editions.reading() as edition, Asker(home, edition, Settings()) as asker:
            answers = asker.answer_all([row["question"] for row in questions])
    counts: dict[str, Counter[str]] = {"answerable": Counter(), "unanswerable": Counter()}
    for row, answer in zip(questions, answers, strict=True):
        found = outcome(answer, row["answers"])
        counts["answerable" if row["answers"] else "unanswerable"][found] += 1
        if arguments.shown:
            print(found, row["question"], answer.answers[:2], answer.probability, answer.route)
    report("cells", {"part": arguments.part, **counts})


if __name__ == "__main__":
    run_command(main)
