"""Fit which tails of triples are names to judged ones: python -m recipes.judged_tails.

`recipes/judged/tails.jsonl` has tails with their relations, as the rules state them in clauses and
records of many corpora, and whether a reader took the whole tail for a name: of a person, a place,
an organisation, a work, an event, a product or another thing that one could look up. A role, a
class and a phrase that only contains a name are none. A ridge logistic regression learns which are;
every figure is of corpora that its weights had not seen. Writes the weights to
tasks/extract/rules/linked_tails.json.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from recipes.command import parser_of, run_command
from recipes.ridge import fit, matrix, predict
from tasks.extract.rules.linked_tails import LEAST_PROBABILITY, WEIGHTS, tail_features

JUDGED = Path(__file__).parent / "judged"
LABELS = {
    "en": {
        "person": "author contact reviewer chair host speaker",
        "place": "location city country venue",
        "organisation": "company affiliation employer organizer",
        "work": "title book document",
        "event": "event conference",
        "thing": "product tool protocol language license",
    },
    "zh": {
        "person": "作者 负责人 主持人",
        "place": "地点 城市",
        "organisation": "公司 单位",
        "work": "作品 标题",
        "event": "活动",
    },
}
EVERY = 6  # judged names of which one stands in for a cell
RIDGE = 1.0
RARE = 4  # a feature of fewer tails has no weight


def stand_ins(file: str, language: str) -> list[dict[str, Any]]:
    """Return rows of cells with judged names of a file, in the form of tails.jsonl."""
    labels = {kind: words.split() for kind, words in LABELS[language].items()}
    names = [
        (corpus["corpus"], kind, name)
        for corpus in json.loads((JUDGED / file).read_text(encoding="utf-8"))
        for kind, names in corpus["kinds"].items()
        if kind in labels
        for name in names
    ]
    return [
        {
            "corpus": corpus,
            "language": language,
            "relation": labels[kind][place % len(labels[kind])] if place % 2 else "",
            "tail": name,
            "tail_kind": "",
            "value_type": "text",
            "record": True,
            "name": True,
        }
        for place, (corpus, kind, name) in enumerate(names[::EVERY])
    ]


def by_other_corpora(x: np.ndarray, y: np.ndarray, corpora: np.ndarray) -> np.ndarray:
    """Return each tail's probability under weights fitted without its corpus."""
    likely = np.zeros(len(y))
    for corpus in np.unique(corpora):
        own = corpora == corpus
        likely[own] = predict(x[own], fit(x[~own], y[~own], RIDGE))
    return likely


def shares(likely: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return how many tails there are, the share of names among those taken, and of names taken."""
    taken = likely >= LEAST_PROBABILITY
    right = float(y[taken].sum())
    return {
        "tails": len(y),
        "names": int(y.sum()),
        "precision": round(right / max(int(taken.sum()), 1), 3),
        "recall": round(right / max(float(y.sum()), 1.0), 3),
    }


def main() -> None:
    """Fit, report, and write the weights."""
    parser_of(__doc__).parse_args()
    lines = (JUDGED / "tails.jsonl").read_text(encoding="utf-8").splitlines()
    judged = [json.loads(line) for line in lines]
    rows = [*judged, *stand_ins("kinds.json", "en"), *stand_ins("chinese_kinds.json", "zh")]
    names, x = matrix([tail_features(row, record=row["record"]) for row in rows], RARE)
    y = np.array([row["name"] for row in rows], float)
    likely = by_other_corpora(x, y, np.array([row["corpus"] for row in rows]))[: len(judged)]
    groups = np.array([f"{r['language']} {'record' if r['record'] else 'clause'}" for r in judged])
    real = y[: len(judged)]
    figures = {g: shares(likely[groups == g], real[groups == g]) for g in sorted(set(groups))}
    fitted = {
        "other corpora": {"all": shares(likely, real), **figures},
        "weights": {
            name: round(float(weight), 3)
            for name, weight in zip(names, fit(x, y, RIDGE), strict=True)
        },
    }
    print(json.dumps(fitted["other corpora"], indent=1))
    WEIGHTS.write_text(json.dumps(fitted, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run_command(main)
