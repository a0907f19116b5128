"""`almanac cost`: estimates the calls of a refresh, or tries a model on a sample."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from flows.jobs import MODEL, Configured, Runner, operand, option
from flows.terminal import Shown, Table
from schemas.errors import UsageError
from tasks.text.english_words import counted

MINUTE = 60.0


class Cost(Configured):
    """Estimate what a refresh with a language model costs, or try a model on a sample."""

    shortcuts = MODEL

    sources: list[str] = operand(
        "SOURCE", "Files, folders, globs or URLs to estimate for (what is not extracted yet).", []
    )
    sample: int | None = option(
        "N",
        "Extract about N passages and compare with what is stored, which calls the model (none).",
        None,
        ge=1,
    )

    def work(self, runner: Runner) -> dict[str, Any]:
        """Estimate a refresh, or try its model on a sample."""
        from tasks.cost import estimate, try_on_sample

        settings = self.chosen_settings
        if settings.engine.engine == "rules":
            raise UsageError(
                "The embedded engine costs nothing; name a model by --engine and --model."
            )
        if not self.sample:
            return asdict(estimate(self.place, self.sources, settings))
        if self.sources:
            raise UsageError("A sample is drawn from what the almanac holds; name no sources.")
        run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-sample"
        return asdict(try_on_sample(self.place, settings, self.sample, run_id))

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the estimate, or what the trial found."""
        return _trial(result) if self.sample else _estimate(result)


def _estimate(estimate: dict[str, Any]) -> Iterator[Shown]:
    names = {
        "documents": "documents",
        "passages": "passages",
        "passages_here": "passages that stay here (sensitive)",
        "known_calls": "calls answered before (free)",
        "calls": "calls",
        "tokens_in": "prompt tokens",
        "text_tokens": "of these, the texts themselves",
        "tokens_out": "reply tokens",
    }
    yield Table(["what", "number"], [[words, estimate[name]] for name, words in names.items()])
    seconds, cost = _time(estimate["seconds"]), _money(estimate, "cost")
    yield f"Time at these limits: {seconds}. Cost: {cost}"
    for words in estimate["assumed"]:
        yield f"Assumed, as there are no earlier calls: {words}."


def _trial(trial: dict[str, Any]) -> Iterator[Shown]:
    compared = ("same", "added", "gone")
    yield Table(
        ["form", "the same", "added", "gone"],
        [[form, *(trial[what][form] for what in compared)] for form in trial["same"]],
    )
    yield from (f"+ {words}" for words in trial["examples_added"])
    yield from (f"- {words}" for words in trial["examples_gone"])
    yield (
        f"{trial['passages']} of {trial['passages_in_all']} passages, "
        f"{counted(trial['calls'], 'call')} ({trial['known_calls']} answered before), "
        f"{counted(trial['failed'], 'passage')} failed, "
        f"{counted(trial['rejected_facts'], 'fact')} had no support in the texts."
    )
    sample, everything = _money(trial, "cost"), _money(trial, "cost_in_all")
    yield f"Cost of the sample: {sample} Cost of all passages: {everything}"


def _money(figures: dict[str, Any], name: str) -> str:
    if figures[name] is None:
        return "unknown; set prices under [engine.model.prices] in settings.toml."
    return f"{figures[name]:.4f} {figures['currency']}."


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * MINUTE else f"{seconds / MINUTE:.0f} min"


COMMAND = Cost
