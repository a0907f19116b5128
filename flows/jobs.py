"""The jobs of the command line: each declares its parameters once and implements its work.

A job's fields are the parameters of its Prefect flow (`flows/deployed.py`) and are filled from
the options of its command. Its work is the same whether Prefect runs it or not.
"""

import argparse
from abc import abstractmethod
from dataclasses import asdict, dataclass, fields
from datetime import date
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flows import terminal
from flows.home import edition_of, home_in, home_of, reading_settings_of, settings_of
from flows.summary import learned_as_markdown, run_as_markdown, table_as_markdown
from schemas.answers import MIN_SCORE, Answer
from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.progress import Each, Report, RunStage, Warn, run_plainly
from tasks.run import RunReport
from warehouse.disk_errors import warned_of_refusals
from warehouse.home import Home

if TYPE_CHECKING:
    from tasks.audit import Plan

QUESTIONS = Field(description="A file of questions, or a folder with several.")
FORMAT = Field("jsonl", description="The format of the questions, as for `almanac evaluate`.")


@dataclass(frozen=True)
class Runner:
    """Where a job reports progress and warnings, and what runs its stages and batches."""

    report: Report
    warn: Warn
    run_stage: RunStage = run_plainly
    each: Each | None = None


class Job(BaseModel):
    """The parameters of a command and its flow; without settings, the home's own apply."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    flow_name: ClassVar[str]
    outcome: ClassVar[str]  # the description of the flow's artifact
    batch_name: ClassVar[str] = "extract passages"  # of the tasks that process batches
    batches_per_task: ClassVar[int] = 16  # a task costs 50 ms, or 150 ms on Dask

    home: Path = Field(Path("almanac-home"), description="The almanac's folder.")
    settings: Settings | None = Field(
        None, description="Instead of the home's settings.toml; its ontology.yaml still applies."
    )

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace, **values: Any) -> Self:
        """Return the job that a command line describes; `values` take precedence over its options.

        Raises UsageError if an option has an invalid value.
        """
        options = {name: getattr(arguments, name, None) for name in cls.model_fields}
        given = {name: value for name, value in options.items() if value is not None}
        try:
            return cls(**{**given, "home": home_of(arguments).path, **values})
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise UsageError(f"The value of {place} is invalid: {first['msg']}.") from error

    @cached_property
    def place(self) -> Home:
        """The home to work on."""
        return home_in(self.home)

    @property
    def chosen_settings(self) -> Settings:
        """The settings that apply, with the home's ontology."""
        return settings_of(self.place, self.settings)

    @property
    def retried(self) -> frozenset[str]:
        """The stages that Prefect retries if they fail."""
        return frozenset()

    @abstractmethod
    def work(self, runner: Runner) -> Any:
        """Do the job and return its result as JSON values; raises AlmanacError in plain words."""

    @abstractmethod
    def as_markdown(self, result: Any) -> str:
        """Return the job's result for people who read it in Prefect."""


P = TypeVar("P", bound=BaseModel)


def plan_of(arguments: argparse.Namespace, plan: type[P]) -> P:
    """Return the plan that a command's options describe; raise UsageError for an invalid value."""
    options = {name: getattr(arguments, name, None) for name in plan.model_fields}
    try:
        return plan(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        option = "--" + str(first["loc"][0]).replace("_", "-")
        raise UsageError(f"The value of {option} is invalid: {first['msg']}.") from error


class Run(Job):
    """A job that may publish an edition, and whose result is its run."""

    wait_seconds: float = Field(
        0.0, ge=0, description="Seconds to wait for another run on this home."
    )

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the run's counts and times."""
        names = {field.name for field in fields(RunReport)}
        return run_as_markdown(RunReport(**{k: v for k, v in result.items() if k in names}))


class RefreshKnowledge(Run):
    """Read what is new in the sources, extract, and publish a new edition if it differs."""

    flow_name = "refresh-knowledge"
    outcome = "What the refresh did"

    sources: list[str] = Field(description="Files, folders, globs or URLs.")
    max_delete: float | None = Field(
        None, ge=0, le=1, description="Stop if a larger share of a source's documents is gone."
    )
    sensitive: bool = Field(False, description="Mark these documents as sensitive.")

    @property
    def retried(self) -> frozenset[str]:
        """The reading stage if a source is remote, as it may recover; a mistyped path does not."""
        return frozenset({"read"} if any("://" in source for source in self.sources) else ())

    def work(self, runner: Runner) -> dict[str, Any]:
        """Refresh and return the run."""
        from tasks.refresh import refresh

        run = refresh(
            self.place,
            self.sources,
            self.chosen_settings,
            max_delete=self.max_delete,
            sensitive=self.sensitive,
            wait_seconds=self.wait_seconds,
            report=runner.report,
            each=runner.each,
            run_stage=runner.run_stage,
        )
        return asdict(run)


class ImportGraph(Run):
    """Import a graph from a file and publish an edition with it."""

    flow_name = "import-graph"
    outcome = "What the import did"

    source: str = Field(description="The file, or the folder with the files of a mapping.")
    name: str = Field(description="The graph's name; replaces an earlier graph with this name.")
    format: str = Field("auto", description="tsv, csv, jsonl, nt, parquet …; auto guesses.")
    mapping: str | None = Field(None, description="A YAML file that describes the format.")
    languages: list[str] = Field([], description="Keep names in these languages only.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Import and return the run."""
        from tasks.import_graph import import_graph

        run = import_graph(
            self.place,
            Path(self.source),
            self.chosen_settings,
            name=self.name,
            format=self.format,
            mapping=Path(self.mapping) if self.mapping else None,
            languages=self.languages,
            wait_seconds=self.wait_seconds,
            report=runner.report,
            run_stage=runner.run_stage,
        )
        return asdict(run)


class CalibrateGate(Run):
    """Learn from a task's questions when outside knowledge is needed."""

    flow_name = "calibrate-gate"
    outcome = "What the calibration did"

    questions: str = QUESTIONS
    task: str = Field(description="The task's name; picks one where the file has several tasks.")
    format: str = FORMAT
    gate: str = Field("thrust", description="thrust, popularity, entropy …")
    options: dict[str, Any] = Field(
        {}, description="The gate's options: variant, clusters, popularity_of."
    )
    encoder: dict[str, Any] = Field({}, description="The encoder's name, layer and pooling.")
    seeds: int = Field(200, ge=1, description="Questions drawn from the file.")
    draw: int = Field(42, description="The random seed that draws them.")
    outcomes_of: str | None = Field(
        None, description="The model whose outcomes are used, if the file has several."
    )

    def work(self, runner: Runner) -> dict[str, Any]:
        """Calibrate and return the run, with the gate and its thresholds."""
        from tasks.calibrate_gate import Seeding, calibrate_gate
        from tasks.gates.calibrate import GateChoice
        from tasks.models.encoders.choice import EncoderChoice

        run, gate = calibrate_gate(
            self.place,
            Path(self.questions),
            self.chosen_settings,
            task=self.task,
            format=self.format,
            choice=GateChoice(self.gate, self.options, EncoderChoice(**self.encoder)),
            seeding=Seeding(self.seeds, self.draw, self.outcomes_of),
            wait_seconds=self.wait_seconds,
            report=runner.report,
            run_stage=runner.run_stage,
        )
        return {**asdict(run), "gate": gate}


class LearnFromQuestions(Job):
    """Learn from questions with answers how to search a graph."""

    flow_name = "learn-from-questions"
    outcome = "What was learned"

    questions: str | list[str] = Field(description="Files of questions, or folders with several.")
    format: str = FORMAT
    graph: str | None = Field(None, description="Ask all questions of this graph.")
    gates: bool = Field(False, description="Calibrate a gate for each task, too.")
    experts: bool = Field(
        False, description="Ask the model the questions alone: when it needs experts."
    )
    paths: bool = Field(False, description="Learn which paths of the graph matter, too.")
    replace: bool = Field(False, description="Forget what was learned for the graph before.")

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Learn and return what was learned, as `tasks.learn.learn` does."""
        from tasks.learn import learn

        paths = [self.questions] if isinstance(self.questions, str) else self.questions
        return learn(
            self.place,
            [Path(path) for path in paths],
            self.format,
            self.chosen_settings,
            self.graph,
            gates=self.gates,
            experts=self.experts,
            paths=self.paths,
            replace=self.replace,
            report=runner.report,
        )

    def as_markdown(self, result: list[dict[str, Any]]) -> str:
        """Return a table for each kind of thing that was learned."""
        return learned_as_markdown(result)


def keep_answers(home: Home, *answers: Answer) -> None:
    """Record answers among the live records; warn if they cannot be written."""
    from tasks.ask.keep_answers import record_answers

    with warned_of_refusals(home.path, "the answer was not recorded.", terminal.say):
        record_answers(home, *answers)


class AnswerQuestions(Job):
    """Answer a file of questions and write the answers to another file."""

    flow_name = "answer-questions"
    outcome = "What was answered"

    questions: str = Field(description="A file with one JSON object per line, with `question`.")
    out: str = Field(description="The file to write, one JSON object per line.")
    route: str = Field("auto", description="auto, programs, paths, text, experts or none.")
    graph: str | None = Field(None, description="Ask this graph alone, by programs.")
    rounds: int = Field(1, ge=1, description="Searches that a model may make per question.")
    expert: str | None = Field(None, description="Ask this expert alone.")
    min_score: float = Field(
        MIN_SCORE, ge=0, le=1, description="Least probability of an answer from texts."
    )
    edition: str | None = Field(None, description="An older edition instead of the current one.")
    as_of: date | None = Field(None, description="The last edition from this day (UTC) or before.")

    @property
    def chosen_settings(self) -> Settings:
        """The settings that apply; an ontology has no part in answers, so a bad one is no error."""
        return self.settings or reading_settings_of(self.place)

    def work(self, runner: Runner) -> dict[str, Any]:
        """Answer, keep a record of each answer, and return how many there are."""
        from tasks.ask.asker import Asker
        from tasks.ask.keep_answers import answer_file
        from tasks.ask.route import AskOptions
        from tasks.questions.formats import read_benchmark

        questions = read_benchmark(Path(self.questions), "jsonl").questions
        home = self.place
        home.ledger.required = False
        options = AskOptions(self.route, self.graph, self.rounds, self.expert, self.min_score)
        with (
            edition_of(home, self.edition, self.as_of).pinned() as edition,
            Asker(home, edition, self.chosen_settings, options) as asker,
        ):
            recorded = partial(keep_answers, home)
            answered = answer_file(asker, questions, Path(self.out), recorded, runner.report)
            warnings = asker.warnings
        for warning in warnings:
            runner.warn(warning)
        return {"questions": len(questions), "answered": answered, "answers": self.out}

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the sentence that the command prints."""
        return "{answered} of {questions} questions have an answer in {answers}.".format(**result)


class AuditFacts(Job):
    """Write facts of an edition to a file to be judged, read it back, or report on verdicts."""

    flow_name = "audit-facts"
    outcome = "What people think of the facts"

    write: str | None = Field(None, description="The file to write, CSV or JSON Lines.")
    read: str | None = Field(None, description="The filled-in file to read.")
    limit: int = Field(50, ge=1, description="Facts to draw.")
    seed: int = Field(0, description="The random seed that draws them.")
    kinds: list[str] = Field([], description="triples, descriptions, notes …; all by default.")
    relation: str | None = Field(None, description="Draw triples of this relation alone.")
    source: str | None = Field(None, description="Draw facts of this source alone.")
    by: str | None = Field(None, description="Draw alike from each kind, relation or source.")

    @property
    def plan(self) -> "Plan":
        """Which facts are drawn."""
        from tasks.audit import KINDS, Plan

        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown:
            raise UsageError(f"{unknown[0]!r} is no kind of facts; there are {', '.join(KINDS)}.")
        kinds = tuple(dict.fromkeys(self.kinds)) or tuple(KINDS)
        return Plan(self.limit, self.seed, kinds, self.relation, self.source, self.by)

    def work(self, runner: Runner) -> dict[str, Any]:
        """Write or read the file, and return the report."""
        from flows.audit_form import read_form, write_form
        from tasks.audit import draw, find_facts, keep_verdicts
        from tasks.audit_report import report

        home = self.place
        if self.write:
            with edition_of(home, None).pinned() as edition:
                facts = draw(home, edition, self.plan)
            shown = [fact for fact in facts if fact["sensitivity"] == "normal"]
            written = write_form(Path(self.write), shown)
            left_out = len(facts) - written
            return {"written": written, "file": self.write, "sensitive": left_out}
        if not self.read:
            edition_of(home, None)  # says so if the home is a mistake
            return report(home)
        rows = {row["fact_id"]: (row, verdict) for row, verdict in read_form(Path(self.read))}
        with edition_of(home, None).pinned() as edition:
            facts = list(find_facts(edition, rows))
        drawn = ("audit_id", "scope", "stratum", "population", "edition")
        judged = []
        for fact in facts:
            row, verdict = rows[fact["fact_id"]]
            judged.append((fact | {name: row[name] for name in drawn}, verdict))
        kept, rejected = keep_verdicts(home, judged)
        gone = len(rows) - len(facts)
        return {"kept": kept, "rejected": rejected, "gone": gone, **report(home)}

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the precision of each group as a table."""
        if "written" in result:
            return "{written} facts are in {file}.".format(**result)
        names = ["by", "group", "verdicts", "useful", "useful_low", "useful_high", "wrong"]
        return table_as_markdown(names, [[row[n] for n in names] for row in result["precision"]])
