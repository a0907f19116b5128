"""Pairs of evidence and claim with verdicts by people, from published sets.

The files are those of public repositories, at the commits that the card names. A folder has them
under the names in `READERS`; what is missing is left out, and said.
"""

import csv
import gzip
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from recipes.entailment.pair import LONGEST, Pair, Verdict, in_reported_half

log = logging.getLogger(__name__)
_VERDICTS: dict[str, Verdict] = {
    "entailment": "support", "contradiction": "refute", "neutral": "unknown",
    "e": "support", "c": "refute", "n": "unknown",
    "supports": "support", "refutes": "refute",
    "supported": "support", "not_supported": "unknown", "partially_supported": "unknown",
}  # fmt: skip
_LINK = re.compile(r"\[\[[^|\]]*\|([^\]]*)\]\]")
MOST_SENTENCES = 3  # that together support a claim, in WiCE


def public_pairs(folder: Path) -> list[Pair]:
    """Return the pairs of all sets in a folder; a premise decides on the half of its pairs."""
    pairs: list[Pair] = []
    for name, (read, made) in READERS.items():
        if not (folder / name).exists():
            log.warning("%s is not in %s and is left out", name, folder)
            continue
        for evidence, claim, label in read(folder / name):
            verdict = _VERDICTS.get(label)
            if verdict and evidence.strip() and claim.strip():
                held_out = in_reported_half(evidence)
                pairs.append(Pair(evidence[: 2 * LONGEST], claim, verdict, made, held_out))
    return pairs


def climate_pairs(path: Path, *, reported: bool) -> list[Pair]:
    """Return the pairs of the training half of Climate-FEVER, or of the reported half.

    A claim's half depends on the hash of its id. The verdicts were given by human annotators.
    """
    names = {"SUPPORTS": "support", "REFUTES": "refute", "NOT_ENOUGH_INFO": "unknown"}
    pairs = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if in_reported_half(row["claim_id"]) != reported:
                continue
            for piece in row["evidences"]:
                verdict: Any = names[piece["evidence_label"]]
                text = f"{piece['article']}\n{piece['evidence']}"
                pairs.append(Pair(text, row["claim"], verdict, "climate", held_out=False))
    return pairs


Rows = Iterator[tuple[str, str, str]]


def _table(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as stream:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        for row in csv.DictReader(stream, delimiter=delimiter):
            values = list(row.values())
            yield values[0] or "", values[1] or "", values[2] or ""


def _lines(path: Path) -> Rows:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield row["premise"], row["hypothesis"], row["label"]


def _feverous(path: Path) -> Rows:
    for row in json.loads(path.read_text("utf-8")):
        evidence = _LINK.sub(r"\1", row["evidence"]).replace("\t", "\n")
        yield evidence, row["claim"], row["label"]


def _wice(path: Path) -> Rows:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        chosen: list[int] = next(
            (c for c in row["supporting_sentences"] if 0 < len(c) <= MOST_SENTENCES), []
        )
        evidence = " ".join(row["evidence"][place] for place in chosen)
        yield evidence, row["claim"], row["label"]


READERS: dict[str, tuple[Callable[[Path], Rows], str]] = {
    "mnli_dev.csv": (_table, "MultiNLI"),
    "snli_dev.csv": (_table, "SNLI"),
    "counterfactual_train.tsv": (_table, "counterfactual SNLI"),
    "base_wiki.jsonl": (_lines, "semi-automatic NLI"),
    "sim_wiki.jsonl": (_lines, "semi-automatic NLI"),
    "translate_wiki.jsonl": (_lines, "semi-automatic NLI"),
    "feverous_dev.json": (_feverous, "FEVEROUS"),
    "wice_dev.jsonl": (_wice, "WiCE"),
    "wice_test.jsonl": (_wice, "WiCE"),
}
