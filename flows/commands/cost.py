"""`almanac cost`: estimates the calls of a refresh, or tries a model on a sample."""

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from flows import terminal
from flows.home import home_of, settings_of
from flows.model_options import with_model_options
from schemas.errors import UsageError
from schemas.settings import Settings
from warehouse.home import Home

MINUTE = 60.0


def run(arguments: argparse.Namespace) -> int:
    """Estimate a refresh, or try its model on a sample."""
    home = home_of(arguments)
    settings = settings_of(home)
    engine = with_model_options(settings.engine, arguments)
    if engine.engine == "rules":
        raise UsageError("The embedded engine costs nothing; name a model by --engine and --model.")
    settings = settings.model_copy(update={"engine": engine})
    if arguments.sample:
        if arguments.sources:
            raise UsageError("A sample is drawn from what the almanac holds; name no sources.")
        trial = _trial(home, settings, arguments.sample)
        terminal.show_result(trial, _print_trial, as_json=arguments.json)
        return 0
    from tasks.cost import estimate

    figures = asdict(estimate(home, arguments.sources, settings))
    terminal.show_result(figures, _print_estimate, as_json=arguments.json)
    return 0


def _trial(home: Home, settings: Settings, passages: int) -> dict[str, Any]:
    from tasks.sample import try_on_sample

    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-sample"
    return asdict(try_on_sample(home, settings, passages, run_id))


def _print_estimate(estimate: dict[str, Any]) -> None:
    rows = [
        ("documents", estimate["documents"]),
        ("passages", estimate["passages"]),
        ("passages that stay here (sensitive)", estimate["passages_here"]),
        ("calls answered before (free)", estimate["known_calls"]),
        ("calls", estimate["calls"]),
        ("prompt tokens", estimate["tokens_in"]),
        ("of these, the texts themselves", estimate["text_tokens"]),
        ("reply tokens", estimate["tokens_out"]),
    ]
    terminal.table(["what", "number"], rows)
    seconds, cost = _time(estimate["seconds"]), _money(estimate["cost"])
    terminal.show(f"Time at these limits: {seconds}. Cost: {cost}")
    for words in estimate["assumed"]:
        terminal.show(f"Assumed, as there are no earlier calls: {words}.")


def _print_trial(trial: dict[str, Any]) -> None:
    rows = [
        (form, trial["same"][form], trial["added"][form], trial["gone"][form])
        for form in trial["same"]
    ]
    terminal.table(["form", "the same", "added", "gone"], rows)
    for sign, facts in (("+", trial["examples_added"]), ("-", trial["examples_gone"])):
        for words in facts:
            terminal.show(f"{sign} {words}")
    terminal.show(
        f"{trial['passages']} of {trial['passages_in_all']} passages, {trial['calls']} calls "
        f"({trial['known_calls']} more were answered before), {trial['failed']} passages failed, "
        f"{trial['rejected_facts']} facts had no support in their texts."
    )
    sample, everything = _money(trial["cost"]), _money(trial["cost_in_all"])
    terminal.show(f"Cost of the sample: {sample} Cost of all passages: {everything}")


def _money(cost: float | None) -> str:
    if cost is None:
        return "unknown; set prices under [engine.model.prices] in settings.toml."
    return f"{cost:.4f}."


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * MINUTE else f"{seconds / MINUTE:.0f} min"
