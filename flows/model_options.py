"""The command line's options for language models."""

import argparse

from schemas.settings import EngineSettings


def with_model_options(engine: EngineSettings, arguments: argparse.Namespace) -> EngineSettings:
    """Return the engine's settings, with options of the command line in place of their values."""
    options = {
        "name": arguments.model,
        "base_url": arguments.base_url,
        "concurrency": arguments.concurrency,
        "budget": arguments.budget,
    }
    model = engine.model.model_copy(update={k: v for k, v in options.items() if v is not None})
    chosen = {"engine": arguments.engine} if arguments.engine else {}
    return engine.model_copy(update={**chosen, "model": model})
