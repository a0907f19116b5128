"""`almanac experts`: lists, adds, describes, removes and quarantines experts."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import model_validator

from flows.jobs import Command, Publication, Runner, finer, operand, option
from flows.terminal import Shown

if TYPE_CHECKING:
    from warehouse.home import Home

_SHOWN = ("expert", "status", "parameters", "share_right", "languages", "stale", "description")
EXPERT = operand("NAME", "The expert.")


class ListExperts(Command):
    """List the experts."""

    none_yet = "There is no expert yet; `almanac train-experts NAME` trains one."

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the experts of the current edition."""
        return list_experts(self.place)

    def shown(self, result: list[dict[str, Any]]) -> Iterator[Shown]:
        """Yield a table in which an expert stands below the one that contains it."""
        rows = [{name: _shown(expert[name]) for name in _SHOWN} for expert in result]
        for row, expert in zip(rows, result, strict=True):
            row["expert"] = "  " * expert["depth"] + row["expert"]
        yield from super().shown(rows)


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:.4g}" if isinstance(value, float) else value


class _About(Publication):
    """What people say about an expert."""

    description: str | None = option(
        "WORDS", "What it knows about (as before, else its name).", None
    )
    parent: str | None = option("NAME", "The expert that contains it (as before, else none).", None)
    licence: str | None = finer("Its weights' licence (as before, else unknown).", None)

    @property
    def about(self) -> dict[str, str]:
        """What is said."""
        names = ("description", "parent", "licence")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


class AddExpert(_About):
    """Add an expert that somebody contributed, once its files were checked."""

    folder: str = operand("FOLDER", "Its folder, with safetensors weights.")
    name: str = option("NAME", "Its name; replaces an expert of that name.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Add it and return the run."""
        from tasks.train_experts import add_expert

        run = add_expert(
            self.place,
            Path(self.folder),
            self.name,
            self.chosen_settings,
            report=runner.report,
            **self.about,
        )
        return asdict(run)


class _Change(Publication):
    """A change of one expert."""

    action: ClassVar[Literal["describe", "remove", "quarantine", "restore"]]
    name: str = EXPERT

    @property
    def about(self) -> dict[str, str]:
        """What is said about the expert."""
        return {}

    def work(self, runner: Runner) -> dict[str, Any]:
        """Change it and return the run."""
        from tasks.train_experts import change_expert

        run = change_expert(
            self.place,
            self.name,
            self.action,
            self.chosen_settings,
            report=runner.report,
            **self.about,
        )
        return asdict(run)


class DescribeExpert(_About, _Change):
    """Say what an expert knows about."""

    action = "describe"

    @model_validator(mode="after")
    def _says_something(self) -> "DescribeExpert":
        """Refuse a call that changes nothing."""
        if not self.about:
            raise ValueError("say what to change: --description, --parent or --set licence=NAME")
        return self


class RemoveExpert(_Change):
    """Remove an expert."""

    action = "remove"


class QuarantineExpert(_Change):
    """Let nobody ask an expert until it is restored."""

    action = "quarantine"
    reason: str | None = option("WORDS", "The reason to record (none).", None)

    @property
    def about(self) -> dict[str, str]:
        """The reason, if there is one."""
        return {} if self.reason is None else {"reason": self.reason}


class RestoreExpert(_Change):
    """Let an expert in quarantine be asked again."""

    action = "restore"


def list_experts(home: "Home") -> list[dict[str, Any]]:
    """Return the experts of the current edition; those that belong to another follow it."""
    from schemas.learning import Expert as Row

    if home.editions.current() is None:
        return []
    with home.editions.reading() as edition:
        rows = edition.table(Row).to_pylist() if edition.rows(Row) else []
    known = {row["expert"] for row in rows}
    ordered: list[dict[str, Any]] = []

    def add_below(parent: str | None, depth: int) -> None:
        for row in rows:
            above = row["parent"] if row["parent"] in known else None
            if above == parent:
                ordered.append({**row, "depth": depth})
                add_below(row["expert"], depth + 1)

    add_below(None, 0)
    return ordered


COMMAND = {
    "list": ListExperts,
    "add": AddExpert,
    "describe": DescribeExpert,
    "remove": RemoveExpert,
    "quarantine": QuarantineExpert,
    "restore": RestoreExpert,
}
