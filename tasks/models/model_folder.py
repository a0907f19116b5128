"""Where a model lies, what of it may be read, and what is said when that fails.

Only safetensors are read, and no code that comes with a model is run.
"""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schemas.errors import UsageError

PULLED = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")  # of a repository of the hub


def weights_folder(name: str) -> Path:
    """Return the folder of a model of that path or hub name; UsageError if it must not be read."""
    if not name:
        raise UsageError("Name a model: --model with a folder or the name of a model of the hub.")
    folder = _folder_of(name)
    _refuse_unsafe(folder, name)
    return folder


@contextmanager
def told_plainly(name: str, kind: str) -> Iterator[None]:
    """Turn whatever goes wrong while a model of a kind is loaded into a UsageError."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        # What goes wrong here has a hundred types: a file cut short, an unknown architecture, a
        # quantisation whose library is absent, a device without room.
        reason = str(error).strip().splitlines()[0][:300] if str(error).strip() else ""
        raise UsageError(
            f"The model {name} cannot be loaded ({type(error).__name__}: {reason}). Check that it "
            f"is {kind} with safetensors weights."
        ) from error


def chosen_device(asked: str | None) -> Any:
    """Return the torch device asked for, the fastest one here if none; UsageError if absent."""
    import torch

    if asked is None:
        gpu = "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device("cuda" if torch.cuda.is_available() else gpu)
    try:
        torch.empty(1, device=asked)
        return torch.device(asked)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(
            f"There is no device {asked} here. Leave `device` out to have one chosen."
        ) from error


def _folder_of(name: str) -> Path:
    """Return the folder of a model, fetched from the hub unless it is one on this machine."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        raise UsageError(f"There is no model folder {name}.")
    from huggingface_hub import snapshot_download

    try:
        # Folders within a repository hold the same weights in other forms.
        return Path(
            snapshot_download(
                name, allow_patterns=list(PULLED), ignore_patterns=["*/*", "consolidated*"]
            )
        )
    except Exception as error:
        raise UsageError(
            f"There is no folder {name}, and the hub did not give a model of that name "
            f"({type(error).__name__}). Check the name and the connection, or give a folder."
        ) from error


def _refuse_unsafe(folder: Path, name: str) -> None:
    if not (folder / "config.json").is_file():
        raise UsageError(f"{name} is no model: it has no config.json.")
    if not any(folder.glob("*.safetensors")):
        raise UsageError(
            f"The model {name} has no safetensors weights. Other files of weights can run code "
            "when they are read, so they are not. Convert it, or use another model."
        )
    if "auto_map" in json.loads((folder / "config.json").read_text(encoding="utf-8")):
        known = "its code is not run; the library's own is used where it knows the architecture"
        logging.getLogger(__name__).warning("The model %s comes with code: %s.", name, known)
