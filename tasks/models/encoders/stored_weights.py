"""Tuned weights of MiniLM as a file: matrices with a byte per weight and a scale per row.

The graph computes with 7-bit weights (`tasks.models.encoders.minilm_graph`), which are stored as
they are: nothing is lost by it.
"""

from collections.abc import Container
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from tasks.models.encoders.minilm_graph import LARGEST_WEIGHT

OWN_WORDS = "characters.weight"  # rows that follow those of the packaged vocabulary
LARGEST_BYTE = 127  # of vectors, with which the graph does not multiply
SCALE = ".scale"  # what the name of a matrix's scales ends with


def save_weights(weights: dict[str, np.ndarray], file: Path) -> None:
    """Write weights; large matrices as int8 (rows, columns) with float32 scales (rows,)."""
    packed = {}
    for name, rows in weights.items():
        if rows.ndim < 2 or len(rows) <= 2:
            packed[name] = rows.astype(np.float16)
            continue
        largest = LARGEST_BYTE if name == OWN_WORDS else LARGEST_WEIGHT
        scale = np.maximum(np.abs(rows.astype(np.float32)).max(axis=1), 1e-8) / largest
        packed[name] = np.rint(rows / scale[:, None]).astype(np.int8)
        packed[name + SCALE] = scale.astype(np.float32)
    save_file(packed, str(file))


def load_weights(file: Path, names: Container[str] | None = None) -> dict[str, np.ndarray]:
    """Return the weights in a file as float32, those with the given names or all."""
    with safe_open(file, "np") as stored:
        known = set(stored.keys())

        def rows(name: str) -> np.ndarray:
            values: np.ndarray = stored.get_tensor(name).astype(np.float32)
            if name + SCALE in known:
                values *= stored.get_tensor(name + SCALE)[:, None]
            return values

        chosen = (name for name in known if not name.endswith(SCALE))
        return {name: rows(name) for name in chosen if names is None or name in names}
