"""`almanac demo`: refreshes from the sample corpus, then shows tables and asks questions.

With --expert it also trains an expert on a sample graph and asks it alone.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows import terminal
from flows.commands.ask import answer_in_words, ask
from flows.commands.import_graph import ImportGraph
from flows.commands.refresh import RefreshKnowledge
from flows.commands.train_experts import TrainExperts
from flows.jobs import Call, Command, option, switch
from flows.summary import run_in_words
from flows.terminal import Shown, Table
from schemas.errors import UsageError
from schemas.extras import check_extra
from tasks.experts.training.plan import TrainingPlan

if TYPE_CHECKING:
    from warehouse.home import Home

DEMO_HOME = "demo-home"
EXPERT = "moons"  # the sample graph, and the expert that is trained on it
EXPERT_MINUTES = 1.0
EXPERT_QUESTION = "Who discovered Io?"
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
    """Refresh from the sample corpus and ask questions."""

    examples: str | None = option(
        "DIR", "The folder with corpus/ and questions.jsonl (examples/ of the checkout).", None
    )
    expert: bool = switch(
        "Also train a small language model on a sample graph for a minute, and ask it alone."
    )

    @classmethod
    def home_folder(cls, given: str | None) -> Path:
        """Return the folder given, else one of the demo's own."""
        return Path(given or DEMO_HOME)

    def run(self, call: Call) -> int:
        """Refresh from the sample corpus, show parts of the tables and ask three questions."""
        from tasks.ask.route import AskOptions
        from tasks.models.encoders.minilm import minilm_folder

        minilm_folder()  # what is missing is said before the refresh, which takes a while
        if self.expert:
            check_extra("experts")
        examples, home = _examples(self.examples), self.place
        report = call.do(RefreshKnowledge(home=self.home, sources=[str(examples / "corpus")]), call)
        questions = _questions(examples)
        answers = [ask(home, question) for question in questions]
        result = {"refresh": report}
        if self.expert:
            result["expert"] = self._train_expert(examples, call)
            answers.append(ask(home, EXPERT_QUESTION, AskOptions(expert=EXPERT)))
        if call.json:
            shown = [answer.model_dump(mode="json") for answer in answers]
            terminal.show_json({**result, "answers": shown})
            return 0
        terminal.print_shown(run_in_words(report))
        terminal.print_shown(_look_around(home))
        for place, answer in enumerate(answers):
            of_expert = place == len(questions)
            option = f" --expert {EXPERT}" if of_expert else ""
            quoted = json.dumps(answer.question, ensure_ascii=False)
            terminal.show(f"\n$ almanac ask {quoted}{option}")
            terminal.print_shown(answer_in_words(answer, explain=of_expert))
        terminal.show(
            f"\nThe almanac is in {home.path}. Ask and query it yourself, for example:\n"
            f'  almanac --home {home.path} ask "Who designed the ship Fram?"\n'
            f'  almanac --home {home.path} sql "select * from entities limit 10"'
        )
        return 0

    def _train_expert(self, examples: Path, call: Call) -> dict[str, Any]:
        """Import the sample graph and train an expert on it for a minute; return its summary."""

        graph = examples / "graphs" / f"{EXPERT}.tsv"
        call.do(ImportGraph(home=self.home, source=str(graph), name=EXPERT), call)
        plan = TrainingPlan(minutes=EXPERT_MINUTES)
        job = TrainExperts(home=self.home, names=[EXPERT], plan=plan)
        trained: dict[str, Any] = call.do(job, call)["experts"][0]
        return trained


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
