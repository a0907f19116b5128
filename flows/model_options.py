"""The command line's options for language models."""

import argparse
from collections.abc import Iterable
from typing import Any

from schemas.errors import UsageError
from schemas.settings import EngineSettings
from warehouse.home import Home

FIELDS = {  # settings of the model, by option
    "model": "name",
    "base_url": "base_url",
    "concurrency": "concurrency",
    "budget": "budget",
    "batch": "batch",
}


def with_model_options(engine: EngineSettings, arguments: argparse.Namespace) -> EngineSettings:
    """Return the engine's settings, with options of the command line in place of their values.

    Raises UsageError if they are about a model and none is used.
    """
    given = _given(arguments)
    chosen = arguments.engine or engine.engine
    if given and chosen == "rules" and not _names_another_model(arguments):
        refuse_model_options(
            arguments,
            "the embedded rules are used. Add --engine openai (an endpoint) or --engine "
            "transformers (a model on this machine)",
        )
    here = {option: value for option, value in given.items() if option != "model"}
    if here and chosen == "transformers" and not _names_another_model(arguments):
        raise _without_effect(
            here,
            "the model is on this machine: local_batch under [engine.model] sets how many prompts "
            "it reads at once",
        )
    model = engine.model.model_copy(update={FIELDS[o]: value for o, value in given.items()})
    return engine.model_copy(update={"engine": chosen, "model": model})


def check_model(home: Home, engine: EngineSettings) -> None:
    """Raise now what the chosen model's settings would raise once a run has begun."""
    if engine.engine == "rules":
        return
    from tasks.extract.batches import identity
    from tasks.models.transports import open_client

    identity(engine)
    open_client(home, engine, "check")


def refuse_model_options(arguments: argparse.Namespace, because: str) -> None:
    """Raise UsageError if options about a model are given, which have no effect here."""
    if given := _given(arguments):
        raise _without_effect(given, because)


def _without_effect(given: Iterable[str], because: str) -> UsageError:
    options = " and ".join("--" + option.replace("_", "-") for option in given)
    return UsageError(f"{options} would have no effect, because {because}.")


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    values = {option: getattr(arguments, option, None) for option in FIELDS}
    return {option: value for option, value in values.items() if value is not None}


def _names_another_model(arguments: argparse.Namespace) -> bool:
    """Return whether a model under measurement or an encoder is called, whatever the engine."""
    encoder = getattr(arguments, "encoder", None) or ""
    measured = getattr(arguments, "models", None) or getattr(arguments, "proxy", None)
    return bool(measured) or encoder.startswith("endpoint:")
