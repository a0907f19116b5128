"""The states below the tuned layers: computed once per text by the graph that a refresh runs."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from tasks.extract.typed.graph import LOWER
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.encoders.minilm_graph import build_states_graph

LONGEST = 512  # tokens of a text in training


def load_tokenizer(longest: int) -> Any:
    """Return MiniLM's tokeniser, which cuts texts at so many tokens."""
    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.enable_truncation(longest)
    tokenizer.no_padding()
    return tokenizer


def lower_states(texts: list[str], threads: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return float16 (tokens, 384) of each text, and where its tokens stand, int32 (tokens, 2)."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = build_states_graph(
        load_file(str(minilm_folder() / "model.safetensors")), {"states": LOWER}
    )
    session = InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    encodings = load_tokenizer(LONGEST).encode_batch(texts)

    def run(encoding: Any) -> np.ndarray:
        [states] = session.run(["states"], {"ids": np.array([encoding.ids], np.int64)})
        rows: np.ndarray = states[0].astype(np.float16)
        return rows

    with ThreadPoolExecutor(threads) as pool:
        states = list(pool.map(run, encodings))
    return states, [np.array(encoding.offsets, np.int32) for encoding in encodings]
