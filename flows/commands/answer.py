"""`almanac answer`: answers a file of questions."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from flows.commands.ask import Asking, keep_answers
from flows.jobs import Job, Runner, operand, option
from flows.terminal import Shown


class AnswerQuestions(Asking, Job):
    """Answer a file of questions, with sources, and write the answers to another file."""

    flow_name = "answer-questions"
    outcome = "What was answered"

    questions: str = operand("QUESTIONS", "A file with one JSON object per line, with `question`.")
    out: str = option("FILE", "The file to write, one object per line as from `ask --json`.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Answer, keep a record of each answer, and return how many there are."""
        from flows.home import edition_of
        from tasks.ask.asker import Asker
        from tasks.ask.keep_answers import answer_file, check_answers_file
        from tasks.questions.formats import read_benchmark

        home, file, out = self.place, Path(self.questions), Path(self.out)
        check_answers_file(out, file)
        questions = read_benchmark(file, "jsonl").questions
        home.ledger.required = False
        with (
            edition_of(home, self.edition, self.as_of).pinned() as edition,
            Asker(home, edition, self.chosen_settings, self.ask_options) as asker,
        ):
            recorded = partial(keep_answers, home)
            answered = answer_file(asker, questions, out, recorded, runner.report)
            warnings = asker.warnings
        for warning in warnings:
            runner.warn(warning)
        return {"questions": len(questions), "answered": answered, "answers": self.out}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield how many questions have an answer, and where."""
        yield "{answered} of {questions} questions have an answer in {answers}.".format(**result)


COMMAND = AnswerQuestions
