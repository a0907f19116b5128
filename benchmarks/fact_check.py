"""The embedded verifier on claims that people labelled, and summary factuality on people's votes.

    python -m benchmarks.fact_check [--verifier embedded|FOLDER]

FEVER-symmetric dev (support against refute); the half of Climate-FEVER's claims that the verifier
was not trained on (each piece of evidence by itself), beside the commonest verdict and the cosine
of the packaged MiniLM; QAGS CNN/DM (Pearson with the mean vote per summary; the measure was chosen
on the articles outside the reported half), beside the mean of the verdicts' shares of truth.
Intervals are 95 %, of 1,000 resamplings of claims or articles.
"""

import gzip
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from benchmarks.command import DATA, parser_of, report, run_command
from recipes.entailment.pair import VERDICTS, Pair, in_reported_half
from recipes.entailment.public import climate_pairs
from tasks.experts.filters.factuality import open_verifier, summary_factuality
from tasks.experts.filters.verifier import REFUTE, SUPPORT, UNKNOWN, Verifier, truth_shares
from tasks.models.encoders.minilm import MiniLM
from tests.path_measures import interval, rounded

PAIRS_AT_ONCE = 200  # pairs that are verified at a time


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__, verifier="embedded")
    parser.add_argument("--limit", type=int, metavar="N", help="pairs or summaries of a set (all)")
    chosen = parser.parse_args()
    name, most = chosen.verifier, chosen.limit
    verifier = open_verifier(name)
    figures = {
        "verifier": verifier.id,
        "fever_symmetric_dev": fever_symmetric(verifier, most),
        "climate_fever_half": climate_fever(verifier, most),
        "qags_cnndm": qags(verifier, most),
    }
    report("fact-check" if name == "embedded" else f"fact-check-{Path(name).name}", figures)


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file with one per line."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def verdicts_of(verifier: Verifier, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Return the verdicts (pairs, 3), verified some at a time."""
    parts = [pairs[start : start + PAIRS_AT_ONCE] for start in range(0, len(pairs), PAIRS_AT_ONCE)]
    return np.concatenate([verifier.verify(part) for part in parts])


def fever_symmetric(verifier: Verifier, most: int | None) -> dict[str, Any]:
    """Return the accuracy of support against refute, and with unknown as a third, wrong verdict."""
    folder = DATA / "factcheck/fever_symmetric/symmetric_v0.2"
    rows = rows_of(folder / "fever_symmetric_dev.jsonl.gz")[:most]
    started = time.perf_counter()
    verdicts = verdicts_of(verifier, [(row["evidence"], row["claim"]) for row in rows])
    seconds = time.perf_counter() - started
    truth = np.array([SUPPORT if row["gold_label"] == "SUPPORTS" else REFUTE for row in rows])
    right = verdicts[:, [SUPPORT, REFUTE]].argmax(axis=1) == truth
    groups = [str(row["claim"]) for row in rows]
    return {
        "pairs": len(rows),
        "accuracy": rounded(right.mean()),
        "interval": interval(groups, lambda chosen: right[chosen].mean()),
        "accuracy, unknown counts as wrong": rounded((verdicts.argmax(axis=1) == truth).mean()),
        "pairs a second": round(len(rows) / seconds, 1),
    }


def climate_fever(verifier: Verifier, most: int | None) -> dict[str, Any]:
    """Return macro-F1 and accuracy of three verdicts, of each piece of evidence."""
    path = DATA / "factcheck/climate-fever.jsonl.gz"
    chosen, judged = (climate_pairs(path, reported=reported)[:most] for reported in (False, True))
    truth = _truth(judged)
    verdicts = verdicts_of(verifier, [(pair.evidence, pair.claim) for pair in judged])
    by_cosine = LogisticRegression(class_weight="balanced")
    by_cosine.fit(_cosines(chosen), _truth(chosen))
    systems = {
        "almanac": verdicts.argmax(axis=1),
        "cosine": by_cosine.predict(_cosines(judged)),
        "majority": np.full(len(judged), np.bincount(_truth(chosen)).argmax()),
    }
    decided = truth != UNKNOWN
    two = verdicts[decided][:, [SUPPORT, REFUTE]].argmax(axis=1)
    return {
        "pairs": len(judged),
        "claims": len({pair.claim for pair in judged}),
        **{name: _scores(judged, truth, verdict) for name, verdict in systems.items()},
        "support against refute, macro-F1": rounded(_f1(truth[decided], two)),
    }


def _scores(pairs: list[Pair], truth: np.ndarray, verdict: np.ndarray) -> dict[str, Any]:
    groups = [pair.claim for pair in pairs]
    return {
        "macro_f1": rounded(_f1(truth, verdict)),
        "interval": interval(groups, lambda chosen: _f1(truth[chosen], verdict[chosen])),
        "accuracy": rounded((truth == verdict).mean()),
    }


def _truth(pairs: list[Pair]) -> np.ndarray:
    return np.array([VERDICTS.index(pair.verdict) for pair in pairs])


def _f1(truth: np.ndarray, verdict: np.ndarray) -> float:
    return float(f1_score(truth, verdict, average="macro", zero_division=0))


def _cosines(pairs: list[Pair]) -> np.ndarray:
    """Return the cosine (pairs, 1) of the packaged sentence encoder."""
    texts = sorted({text for pair in pairs for text in (pair.evidence, pair.claim)})
    vectors = dict(zip(texts, MiniLM().encode_together(texts), strict=True))
    return np.array([[vectors[pair.evidence] @ vectors[pair.claim]] for pair in pairs])


def qags(verifier: Verifier, most: int | None) -> dict[str, Any]:
    """Return Pearson's correlation of summary factuality with the mean vote of three people."""
    rows = rows_of(DATA / "factuality/qags_cnndm.jsonl.gz")[:most]
    votes = np.array([_vote(row["summary_sentences"]) for row in rows])
    summaries = [
        (row["article"], " ".join(part["sentence"] for part in row["summary_sentences"]))
        for row in rows
    ]
    systems = {
        "almanac": np.array(summary_factuality(summaries, verifier)),
        "verdicts": np.array(_by_verdicts(rows, verifier)),
    }
    groups = [row["article"] for row in rows]
    reported = np.flatnonzero([in_reported_half(group) for group in groups])
    return {
        "all": {"summaries": len(rows), **_correlations(votes, systems, groups)},
        "reported half": {
            "summaries": len(reported),
            **_correlations(
                votes[reported],
                {name: scores[reported] for name, scores in systems.items()},
                [groups[place] for place in reported],
            ),
        },
    }


def _correlations(
    votes: np.ndarray, systems: dict[str, np.ndarray], groups: list[str]
) -> dict[str, Any]:
    def correlation(scores: np.ndarray) -> dict[str, Any]:
        return {
            "pearson": rounded(_pearson(votes, scores)),
            "interval": interval(groups, lambda chosen: _pearson(votes[chosen], scores[chosen])),
        }

    return {name: correlation(scores) for name, scores in systems.items()}


def _vote(parts: list[dict[str, Any]]) -> float:
    shares = [np.mean([vote["response"] == "yes" for vote in part["responses"]]) for part in parts]
    return float(np.mean(shares))


def _by_verdicts(rows: list[dict[str, Any]], verifier: Verifier) -> list[float]:
    """Return the mean share of truth of each summary's sentences, the article as evidence."""
    pairs = [(r["article"], part["sentence"]) for r in rows for part in r["summary_sentences"]]
    shares = iter(truth_shares(verdicts_of(verifier, pairs)))
    return [float(np.mean([next(shares) for _ in row["summary_sentences"]])) for row in rows]


def _pearson(left: np.ndarray, right: np.ndarray) -> float:
    return float(np.corrcoef(left, right)[0, 1])


if __name__ == "__main__":
    run_command(main)
