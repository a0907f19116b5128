"""Write the weights that were tuned: `python -m tasks.reader.trained.training.export OUT FOLDER`.

OUT is the folder that `train` wrote. The weights are float16.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from tasks.reader.trained.training.network import BERT, LOWER


def tuned_weights(state: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """Return the tuned layers by MiniLM's names, and the places' weights."""
    kept = {name: state[name] for name in ("ends.weight", "ends.bias")}
    for name, rows in state.items():
        if name.startswith("layers.") and int(name.split(".")[1]) >= LOWER:
            _, number, part, kind = name.split(".")
            kept[f"encoder.layer.{number}.{BERT[part]}.{kind}"] = rows
    return {name: rows.numpy().astype(np.float16) for name, rows in kept.items()}


def export(folder: Path, state: dict[str, torch.Tensor]) -> None:
    """Write the tuned weights of a network's state, where the reader finds them."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tuned_weights(state), str(folder / "model.safetensors"))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    state = torch.load(options.out / "state.pt", weights_only=True)
    export(options.folder, state["network"])


if __name__ == "__main__":
    main()
