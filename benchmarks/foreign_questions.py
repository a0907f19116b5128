"""What experts answer to questions about things that they were never trained on.

    python -m benchmarks.foreign_questions --home HOME [--expert NAME]

The 100 questions of `foreign_questions.txt` are about well-known people, places and works, and
about invented ones, 70 in English and 30 in Chinese. All experts of the home are asked, or the one
named; a good expert answers none. Answers are listed, as a graph may have some of the names.
"""

from pathlib import Path

from benchmarks.command import parser_of, report, run_command
from schemas.settings import load_settings
from tasks.ask.asker import Asker
from tasks.ask.route import AskOptions
from warehouse.home import Home

QUESTIONS = Path(__file__).with_suffix(".txt")


def main() -> None:
    """Ask and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--home", type=Path, required=True, help="a home with experts")
    parser.add_argument("--expert", metavar="NAME", help="the only expert to ask (all)")
    arguments = parser.parse_args()
    home, settings = Home(arguments.home), load_settings(arguments.home)
    questions = QUESTIONS.read_text(encoding="utf-8").splitlines()
    options = AskOptions(route="experts", expert=arguments.expert)
    with home.editions.reading() as edition, Asker(home, edition, settings, options) as asker:
        answers = asker.answer_all(questions)
    given = {answer.question: answer.answer for answer in answers if answer.answerable}
    report(
        "foreign-questions", {"questions": len(questions), "answered": len(given), "answers": given}
    )


if __name__ == "__main__":
    run_command(main)
