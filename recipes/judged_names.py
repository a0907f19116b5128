"""Fit `tasks/publish/capitalised_words.py`: python -m recipes.judged_names.

`recipes/judged/names.jsonl` has rows of the table `name_uses` for common names of corpora,
with whether a reader took them for something that the corpus is about (docs/judging.md). Prints
what a regression makes of each corpus that was left out, and the weights.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recipes.command import parser_of, run_command
from tasks.publish.capitalised_words import LEAST_PROBABILITY, features

JUDGED = Path(__file__).parent / "judged" / "names.jsonl"
STRENGTH = 1 / 3  # inverse of the ridge on standardised features


def main() -> None:
    """Fit, report, and print the weights."""
    parser_of(__doc__).parse_args()
    rows = [json.loads(line) for line in JUDGED.read_text(encoding="utf-8").splitlines()]
    evidence = [features(row) for row in rows]
    names = list(evidence[0])
    values = np.array([[row[name] for name in names] for row in evidence])
    real = np.array([row["real"] for row in rows])
    corpora = [row["corpus"] for row in rows]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH))
    likely = cross_val_predict(
        model, values, real, groups=corpora, cv=LeaveOneGroupOut(), method="predict_proba"
    )[:, 1]
    gone = likely < LEAST_PROBABILITY
    print(f"{len(rows)} names of {len(set(corpora))} corpora, {(~real).sum()} of them words")
    print(
        f"area under ROC {roc_auc_score(real, likely):.3f}, log loss {log_loss(real, likely):.3f}"
    )
    print(f"left out: {(gone & ~real).sum()} words, {(gone & real).sum()} names")
    scaler, regression = model.fit(values, real)
    weights = regression.coef_[0] / scaler.scale_
    print({"constant": round(float(regression.intercept_[0] - weights @ scaler.mean_), 3)})
    print({name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)})


if __name__ == "__main__":
    run_command(main)
