"""Fit the confidence of an ontology's facts: python -m recipes.ontology_confidence.

recipes/judged/ontology_facts.jsonl holds 260 facts that `tasks/extract/ontology_facts.py` found
in sentences of Text2KGBench (validation of four ontologies of wikidata_tekgen, training sentences
of six of dbpedia_webnlg) with their scores, each judged blind by whether its sentence states it.
The weights are printed for that module; precision from each confidence on is cross-validated by
ontology.
"""

import json
from pathlib import Path

import numpy as np

from recipes.command import parser_of, run_command
from recipes.ridge import fit, predict

FACTS = Path(__file__).parent / "judged" / "ontology_facts.jsonl"
RIDGE = 0.1


def main() -> None:
    """Print the weights, and what they say of ontologies that they were fitted without."""
    parser_of(__doc__).parse_args()
    facts = [json.loads(line) for line in FACTS.read_text(encoding="utf-8").splitlines()]
    x = np.array([[1.0, fact["score"]] for fact in facts])
    right = np.array([float(fact["right"]) for fact in facts])
    names = np.array([fact["ontology"] for fact in facts])
    intercept, slope = fit(x, right, RIDGE)
    print(f"slope {slope:.4f}, intercept {intercept:.4f}")
    print(f"{len(facts)} facts, {right.mean():.2f} right")
    chance = np.zeros(len(facts))
    for name in np.unique(names):
        out = names == name
        chance[out] = predict(x[out], fit(x[~out], right[~out], RIDGE))
    for least in (0.0, 0.3, 0.4, 0.5, 0.6):
        kept = chance >= least
        print(f"from {least}: {right[kept].mean():.2f} right of {kept.sum()}")
    parts = np.array_split(np.argsort(chance), 10)
    error = sum(len(p) * abs(chance[p].mean() - right[p].mean()) for p in parts) / len(facts)
    print(f"calibration error {error:.3f}")


if __name__ == "__main__":
    run_command(main)
