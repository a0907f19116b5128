"""Checkpoints of a training: one safetensors file, replaced atomically and never pickled."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from schemas.errors import DamageError
from warehouse import durable

STATE = "state.safetensors"


@dataclass
class Progress:
    """The progress of a training; `seconds` includes the time of processes that were killed."""

    epoch: int = 0
    row: int = 0  # rows of the epoch that have been read
    steps: int = 0
    targets: int = 0  # tokens predicted so far, over all epochs
    seconds: float = 0.0
    threads: int = 1  # floating-point sums depend on it
    epoch_loss: float = 0.0  # summed over the epoch's tokens so far, in nats
    epoch_targets: int = 0
    losses: list[tuple[int, float]] = field(default_factory=list)  # by step: targets, nats a token
    epochs: list[dict[str, Any]] = field(default_factory=list)  # one entry per finished epoch
    best: float | None = None  # lowest held-out loss
    ended: str = ""  # why the training has ended: epochs, minutes or patience


def save_checkpoint(folder: Path, progress: Progress, weights: Any, optimizer: Any) -> None:
    """Write the state of a training atomically; `weights` are tensors by name."""
    import torch
    from safetensors.torch import save_file

    tensors = {"random": torch.get_rng_state()}
    for name, weight in weights.items():
        tensors[f"weight/{name}"] = weight.detach()
        for moment, value in optimizer.state.get(weight, {}).items():
            tensors[f"{moment}/{name}"] = value
    if torch.cuda.is_available():
        tensors["cuda_random"] = torch.cuda.get_rng_state()
    temporary = folder / f".{STATE}.{os.getpid()}.tmp"
    about = {"progress": json.dumps(asdict(progress))}
    save_file({name: t.contiguous() for name, t in tensors.items()}, temporary, metadata=about)
    durable.sync_file(temporary)
    durable.replace(temporary, folder / STATE)


def load_checkpoint(folder: Path, weights: Any, optimizer: Any) -> Progress | None:
    """Restore weights, optimizer and random state from a checkpoint; return None without one.

    Raises DamageError if the file is not a checkpoint of this model.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    path = folder / STATE
    durable.remove_dead_temporaries(folder, ".*.tmp")
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            saved = json.loads(file.metadata()["progress"])
            progress = Progress(**{**saved, "losses": [tuple(p) for p in saved["losses"]]})
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
            torch.set_rng_state(file.get_tensor("random"))
            if "cuda_random" in names and torch.cuda.is_available():
                torch.cuda.set_rng_state(file.get_tensor("cuda_random"))
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DamageError(
            f"The checkpoint {path} is damaged ({type(error).__name__}). Remove {folder} and train "
            "again."
        ) from error
    return progress
