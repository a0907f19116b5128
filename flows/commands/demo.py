"""`almanac demo`: does what one does with an almanac, on a sample, by the commands one would type.

It refreshes, imports a graph, trains an expert, a gate and paths on it, asks, and writes a report.
"""

import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows import terminal
from flows.commands.ask import answer_in_words, ask
from flows.jobs import Call, Command, Job, option
from flows.terminal import Shown, Table
from schemas.errors import AlmanacError, UsageError
from schemas.extras import check_extra

if TYPE_CHECKING:
    from warehouse.home import Home

DEMO_HOME = "demo-home"
GRAPH = "moons"  # the sample graph; its expert, gate and paths have the same name
EXPERT_MINUTES = 1.5  # that all is read once on one core
EXPERT_QUESTION = "Who discovered Io?"
GRAPH_QUESTION = "Which moons orbit Mars?"
# One hop, two hops across documents, and Chinese.
QUESTIONS = ("one-01", "two-03", "zh-one-01")
LOOKS = {
    "Entities that many documents mention": (
        "select name, kind, documents, mentions from entities "
        "where kind <> 'unknown' order by documents desc, mentions desc, name limit 8"
    ),
    "Facts of the best supported relations": (
        "select head, relation, tail, support, round(confidence, 2) as confidence "
        "from asserted_triples order by support desc, confidence desc, triple_id limit 8"
    ),
    "Facts with measured values": (
        "select head, relation, number, unit, round(confidence, 2) as confidence "
        "from asserted_triples where value_type = 'quantity' "
        "order by confidence desc, triple_id limit 6"
    ),
    "Facts that disagree": (
        "select head, relation, tail, uri from conflicts order by head, relation, tail limit 6"
    ),
}


class Demo(Command):
    """Show the whole on a sample: refresh, import, train, ask and report."""

    examples: str | None = option(
        "DIR", "The folder with corpus/, graphs/ and questions.jsonl (examples/).", None
    )

    @classmethod
    def home_folder(cls, given: str | None) -> Path:
        """Return the folder given, else one of the demo's own."""
        return Path(given or DEMO_HOME)

    def run(self, call: Call) -> int:
        """Do each step as the command that it shows; what lacks its extra is left out, and said."""
        from tasks.ask.route import AskOptions
        from tasks.models.encoders.minilm import minilm_folder

        minilm_folder()  # what is missing is said before the refresh, which takes a while
        examples, plainly = _examples(self.examples), replace(call, prefect=False)
        if not call.json:
            terminal.show(f"$ export ALMANAC_HOME={shlex.quote(str(self.home))}")
        refresh = ["refresh", str(examples / "corpus")]
        results = {"refresh": self._do(refresh, call)}
        if not call.json:
            terminal.print_shown(_look_around(self.place))
        graphs = examples / "graphs"
        words = ["import-graph", str(graphs / f"{GRAPH}.tsv"), "--name", GRAPH]
        results["import-graph"] = self._do(words, plainly)
        for extra, words in _trainings(graphs):
            try:
                check_extra(extra)
            except AlmanacError as missing:
                terminal.say(f"Without `almanac {shlex.join(words)}`: {missing}")
                continue
            results[words[0]] = self._do(words, plainly)
        questions = [(question, AskOptions()) for question in _questions(examples)]
        questions.append((GRAPH_QUESTION, AskOptions(graph=GRAPH)))
        if "train-experts" in results:
            questions.append((EXPERT_QUESTION, AskOptions(expert=GRAPH)))
        answers = []
        for question, options in questions:
            answers.append(ask(self.place, question, options))
            if not call.json:
                given = [f"--graph {GRAPH}"] if options.graph else []
                given += [f"--expert {GRAPH}"] if options.expert else []
                quoted = json.dumps(question, ensure_ascii=False)
                terminal.show(f"\n$ {' '.join(['almanac ask', quoted, *given])}")
                terminal.print_shown(answer_in_words(answers[-1], explain=bool(options.expert)))
        results["report"] = self._do(["report", "--out", str(self.home / "report")], plainly)
        if call.json:
            shown = [answer.model_dump(mode="json") for answer in answers]
            terminal.show_json({**results, "answers": shown})
        return 0

    def _do(self, words: list[str], call: Call) -> Any:
        """Do a job that is given as it would be typed, show both, and return the result."""
        from flows.__main__ import command_typed

        job = command_typed(["--home", str(self.home), *words])
        assert isinstance(job, Job)
        if not call.json:
            terminal.show(f"\n$ almanac {shlex.join(words)}")
        result = call.do(job, call)
        if not call.json:
            whole = words[0] == "refresh"  # the tables of the others tell little to a newcomer
            shown = job.shown(result)
            terminal.print_shown(part for part in shown if whole or isinstance(part, str))
        return result


def _trainings(graphs: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what is learned from the sample graph, each with the extra that it needs."""
    questions = str(graphs / f"{GRAPH}-questions.jsonl")
    yield "experts", ["train-experts", GRAPH, "--minutes", f"{EXPERT_MINUTES:g}"]
    yield "learn", ["calibrate-gate", questions, "--task", GRAPH]
    yield "paths", ["train-paths", questions, "--graph", GRAPH, "--set", "arms=0"]


def _examples(given: str | None) -> Path:
    """Return the folder with the sample corpus: the given one, or that of the checkout."""
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "examples"
    if not (folder / "corpus").is_dir():
        raise UsageError(f"There is no corpus in {folder}; name its folder with --examples.")
    return folder


def _questions(examples: Path) -> list[str]:
    rows: list[dict[str, Any]] = [
        json.loads(line)
        for line in (examples / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    by_id = {row["id"]: str(row["question"]) for row in rows}
    return [by_id[wanted] for wanted in QUESTIONS]


def _look_around(home: "Home") -> Iterator[Shown]:
    from flows.home import edition_of
    from warehouse.sql_session import run_sql

    edition = edition_of(home, None)
    for title, query in LOOKS.items():
        result = run_sql(edition.database, {}, query)
        rows = list(result.rows())
        yield f"\n{title}:{'' if rows else ' none.'}"
        if rows:
            yield Table(result.columns, rows)


COMMAND = Demo
