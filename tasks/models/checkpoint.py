"""Checkpoints of a training: one safetensors file, replaced atomically and never pickled."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from schemas.errors import DamageError
from warehouse import durable

CHECKPOINT = "state.safetensors"
P = TypeVar("P")


def save_checkpoint(
    folder: Path, progress: dict[str, Any], weights: dict[str, Any], optimizer: Any
) -> None:
    """Write the state of a training: JSON values, and tensors by name with Adam's moments."""
    import torch
    from safetensors.torch import save_file

    tensors = {"random": torch.get_rng_state()}
    for name, weight in weights.items():
        tensors[f"weight/{name}"] = weight.detach()
        for moment, value in optimizer.state.get(weight, {}).items():
            tensors[f"{moment}/{name}"] = value
    if torch.cuda.is_available():
        tensors["cuda_random"] = torch.cuda.get_rng_state()
    temporary = folder / f".{CHECKPOINT}.{os.getpid()}.tmp"
    about = {"progress": json.dumps(progress)}
    save_file({name: t.contiguous() for name, t in tensors.items()}, temporary, metadata=about)
    durable.sync_file(temporary)
    durable.replace(temporary, folder / CHECKPOINT)


def load_checkpoint(
    folder: Path, weights: dict[str, Any], optimizer: Any, read: Callable[[dict[str, Any]], P]
) -> P | None:
    """Restore weights, optimizer and random state; return what `read` makes of the JSON values.

    Returns None without a checkpoint; raises DamageError if it is none of this model.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    path = folder / CHECKPOINT
    durable.remove_dead_temporaries(folder, ".*.tmp")
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            progress = read(json.loads(file.metadata()["progress"]))
            names = set(file.keys())
            for name, weight in weights.items():
                weight.data.copy_(file.get_tensor(f"weight/{name}"))
                moments = {
                    moment: file.get_tensor(f"{moment}/{name}").to(weight.device)
                    for moment in ("exp_avg", "exp_avg_sq", "step")
                    if f"{moment}/{name}" in names
                }
                if moments:
                    optimizer.state[weight] = moments
            if "random" in names:
                torch.set_rng_state(file.get_tensor("random"))
            if "cuda_random" in names and torch.cuda.is_available():
                torch.cuda.set_rng_state(file.get_tensor("cuda_random"))
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DamageError(
            f"The checkpoint {path} is damaged ({type(error).__name__}). Remove {folder} and train "
            "again."
        ) from error
    return progress
