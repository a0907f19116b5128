"""What commands have in common: a model whose fields are its options, and its work.

A `Job` is also a Prefect flow with these fields as parameters (`flows/deployed.py`); its work is
the same whether Prefect runs it or not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from flows import progress, terminal
from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.progress import Each, Report, RunStage, Warn, run_plainly

if TYPE_CHECKING:
    from warehouse.home import Home


@dataclass(frozen=True)
class Option:
    """What only a command line says of a field: its name there, and that of its value.

    An `operand` is given by its place. Without a name, that of the field is used; `also` are
    further names. A switch that is on by default is turned off by its option.
    """

    metavar: str | None = None
    name: str | None = None
    also: tuple[str, ...] = ()
    operand: bool = False


@dataclass(frozen=True)
class Shortcut:
    """An option for a field of another model, such as a setting, by its path from the command.

    `sets` are values that the option gives to further fields.
    """

    path: str
    metavar: str | None = None
    sets: tuple[tuple[str, str], ...] = ()


MODEL = {
    "--engine": Shortcut("settings.engine.engine"),
    "--model": Shortcut("settings.engine.model.name", "NAME"),
}
ENDPOINTS_ONLY = {  # settings of the model that one on this machine has no use for
    f"engine.model.{name}" for name in ("base_url", "concurrency", "budget", "batch")
}


def option(
    metavar: str | None,
    description: str,
    default: Any = ...,
    *,
    name: str | None = None,
    also: tuple[str, ...] = (),
    **limits: Any,
) -> Any:
    """Return a field that is an option; it is required if it has no default."""
    extra: dict[str, Any] = {"option": Option(metavar, name, also)}
    return Field(default, description=description, json_schema_extra=extra, **limits)


def switch(description: str, default: bool = False, **names: Any) -> Any:
    """Return a field that its option turns on, or off if it is on by default."""
    return option(None, description, default, **names)


def operand(metavar: str | None, description: str, default: Any = ..., **limits: Any) -> Any:
    """Return a field that is given by its place on the command line."""
    extra: dict[str, Any] = {"option": Option(metavar, operand=True)}
    return Field(default, description=description, json_schema_extra=extra, **limits)


def finer(description: str, default: Any = False, **limits: Any) -> Any:
    """Return a field that only `--set` reaches: a rarely used option."""
    return Field(default, description=description, **limits)


def _no_dash(path: Path) -> Path:
    if str(path) == "-":
        raise ValueError("nothing is written to standard output; name a file or a folder")
    return path


OutPath = Annotated[Path, AfterValidator(_no_dash)]  # where a command writes files
QUESTIONS = operand("QUESTIONS", "A file of questions, or a folder with several.")
FORMAT = option("NAME", "The format of the questions, as for `almanac evaluate`.", "jsonl")
EDITION = option("ID", "An older edition, by its id (the current one).", None)
OWN_LABELS = option(
    "LABEL",
    "Replace the labels of what is added for good; may be repeated; `none` removes them (kept).",
    [],
    name="--label",
)
READER = finer(
    "Read as somebody does who holds these labels, with commas between; `none` for no label at "
    "all (as the owner, who sees everything).",
    None,
)
WHERE = option(
    "CONDITION",
    "Read only documents whose metadata meet it, such as \"date >= 2025-01-01 and author = 'Ada "
    "Lovelace'\" (all).",
    None,
)
LABELS = option(
    "LABEL",
    "Also write documents with this label, `sensitive` for those of sensitive sources; may be "
    "repeated (documents without labels).",
    [],
    name="--label",
)


@dataclass(frozen=True)
class Call:
    """How a command is called, apart from its work, and what does jobs: plainly or by Prefect."""

    do: "Callable[[Job, Call], Any]"
    json: bool = False
    debug: bool = False
    prefect: bool = False


@dataclass(frozen=True)
class Runner:
    """Where work reports progress and warnings, and what runs its stages and batches."""

    report: Report
    warn: Warn
    run_stage: RunStage = run_plainly
    each: Each | None = None


class Command(BaseModel):
    """A command; its fields are its options, as `flows/parsing.py` says."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    shortcuts: ClassVar[Mapping[str, Shortcut]] = {}
    none_yet: ClassVar[str] = ""  # what is said instead of a table without rows

    home: Path = Field(Path("almanac-home"), description="The almanac's folder.")

    @classmethod
    def home_folder(cls, given: str | None) -> Path:
        """Return the home's folder: the one given, else ALMANAC_HOME, else ./almanac-home."""
        return Path(given or environ.get("ALMANAC_HOME") or "almanac-home")

    def check_given(self, given: Mapping[str, str]) -> None:
        """Raise UsageError if something given would have no effect: what, by how it was written."""

    @cached_property
    def place(self) -> "Home":
        """The home to work on."""
        from flows.home import home_in

        return home_in(self.home)

    def work(self, runner: Runner) -> Any:
        """Do the work and return its result as JSON values; raises AlmanacError in plain words.

        A command that prints while it works has a `run` of its own instead.
        """
        # Every command has this or a `run` of its own; a test checks it.
        raise NotImplementedError(type(self).__name__)

    def shown(self, result: Any) -> Iterator[terminal.Shown]:
        """Yield the result for people; by default, rows as a table, or that there are none."""
        if result:
            yield terminal.Table(list(result[0]), [list(row.values()) for row in result])
        elif self.none_yet:
            yield terminal.Remark(self.none_yet)

    def run(self, call: Call) -> int:
        """Do the work, print its result, and return the exit code."""
        with progress.shown() as report:
            result = self.work(Runner(report, terminal.say))
        self.print(result, call)
        return 0

    def print(self, result: Any, call: Call) -> None:
        """Write the result to standard output."""
        if call.json:
            terminal.show_json(result)
        else:
            terminal.print_shown(self.shown(result))


class Configured(Command):
    """A command that the home's settings decide on."""

    settings: Settings | None = Field(
        None, description="Instead of the home's settings.toml; its ontology.yaml still applies."
    )

    @property
    def chosen_settings(self) -> Settings:
        """The settings that apply, with the home's ontology."""
        from flows.home import settings_of

        return settings_of(self.place, self.settings)

    @property
    def calls_model(self) -> bool:
        """Whether a model is called, whatever the engine is."""
        return False

    def check_given(self, given: Mapping[str, str]) -> None:
        """Raise UsageError if a setting of the model is given, but no such model is called."""
        engine = self.settings.engine.engine if self.settings else "rules"
        of_model = [flag for flag, key in given.items() if key.startswith("engine.model.")]
        idle, because = (
            of_model,
            (
                "the embedded rules are used. Add --engine openai (an endpoint) or --engine "
                "transformers (a model on this machine)"
            ),
        )
        if engine == "transformers":
            idle = [flag for flag in of_model if given[flag] in ENDPOINTS_ONLY]
            because = (
                "the model is on this machine: engine.model.local_batch sets how many prompts it "
                "reads at once"
            )
        if idle and engine != "openai" and not self.calls_model:
            refuse_idle(idle, because)


def refuse_idle(flags: list[str], because: str) -> None:
    """Raise UsageError: these options would have no effect."""
    raise UsageError(f"{' and '.join(flags)} would have no effect, because {because}.")


class Job(Configured):
    """A command that Prefect can run as a flow."""

    flow_name: ClassVar[str]
    outcome: ClassVar[str]  # the description of the flow's artifact
    writes: ClassVar[bool] = False  # whether it changes the home, so that two must not meet
    batch_name: ClassVar[str] = "extract passages"  # of the tasks that process batches
    batches_per_task: ClassVar[int] = 16  # a task costs 50 ms, or 150 ms on Dask

    @property
    def retried(self) -> frozenset[str]:
        """The stages that Prefect retries if they fail."""
        return frozenset()

    def run(self, call: Call) -> int:
        """Run plainly or as a flow run, whichever is configured; print the result."""
        self.print(call.do(self, call), call)
        return 0


class Publication(Configured):
    """A command that publishes an edition with a change, and whose result is its run."""

    def shown(self, result: dict[str, Any]) -> Iterator[terminal.Shown]:
        """Yield the run's counts, times and notes."""
        from flows.summary import run_in_words

        yield from run_in_words(result)


class PublishingJob(Publication, Job):
    """A job that may publish an edition, and whose result is its run."""

    writes: ClassVar[bool] = True
