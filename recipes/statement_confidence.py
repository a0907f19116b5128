"""Fit the confidence of statements to CaRB's dev set: python -m recipes.statement_confidence.

A statement counts as right if its tokens and those of some gold tuple agree with an F1 of one half
and more. Weights are fitted by ridge logistic regression; the calibration of the probabilities is
measured by cross-validation over sentences. Writes the weights to
tasks/extract/rules/statement_confidence.json.
"""

import json

from recipes.command import DATA, parser_of, run_command
from recipes.openie_scorer import Extractions, OpenTuple, match, read_gold, score
from recipes.ridge import Sample, calibration_error, cross_validate, design, fit
from tasks.extract.extracted import Mention
from tasks.extract.rules.clauses import find_clauses
from tasks.extract.rules.confidence import STATEMENT_WEIGHTS
from tasks.extract.rules.english import parsed, understand
from tasks.extract.rules.statements import find_statements, statement_features, statement_row
from tasks.extract.rules.tree import tree_of
from tasks.ingest.split import split

BUDGET = 160


def passages(sentence: str) -> list[Mention]:
    """Return the passages of a sentence that stands in a document of its own."""
    return split("measured", "", sentence, "en", BUDGET)


def as_tuple(row: Mention, confidence: float) -> OpenTuple:
    """Return a statement as CaRB compares it; a time or place that is the object counts once."""
    aside = [row[c] for c in ("time", "place") if not row[c].endswith(row["object"] or "\n")]
    others = [row["object"], *row["arguments"], *filter(None, aside)]
    return OpenTuple(row["predicate"], (row["subject"], *others), confidence)


def judged(gold: Extractions) -> list[Sample]:
    """Return each statement with its sentence, features, and whether it is right."""
    samples: list[Sample] = []
    for sentence in gold:
        for row, _, prose, doc in parsed(passages(sentence), None):
            if doc is None:
                continue
            passage = understand(row, tree_of(doc, prose))
            for statement in find_statements(passage, find_clauses(passage.tree)):
                extraction = as_tuple(statement_row(passage, statement), 1.0)
                values = statement_features(passage.tree, statement)
                best = max(_f1(*match(g, extraction)) for g in gold[sentence])
                samples.append((sentence, extraction, values, best >= 0.5))
    return samples


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def main() -> None:
    """Fit, report, and write the weights."""
    parser_of(__doc__).parse_args()
    gold = read_gold(DATA / "openie" / "carb" / "data" / "gold" / "dev.tsv.gz")
    samples = judged(gold)
    names, x, y = design(samples)
    held_out = cross_validate(samples, x, y)
    predicted: Extractions = {}
    for (sentence, extraction, _, _), p in zip(samples, held_out, strict=True):
        scored = OpenTuple(extraction.relation, extraction.arguments, round(float(p), 3))
        predicted.setdefault(sentence, []).append(scored)
    result = score(gold, predicted)
    report = {
        "samples": len(samples),
        "right": round(float(y.mean()), 3),
        "calibration_error": round(calibration_error(held_out, y), 3),
        "brier": round(float(((held_out - y) ** 2).mean()), 3),
        "brier_of_a_constant": round(float(y.var()), 3),
        "carb_f1": round(result.f1, 3),
        "carb_auc": round(result.auc, 3),
        "threshold": result.threshold,
    }
    weights = {name: round(float(w), 4) for name, w in zip(names, fit(x, y), strict=True)}
    text = json.dumps({"cross_validated": report, "weights": weights}, indent=1)
    STATEMENT_WEIGHTS.write_text(text + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    run_command(main)
