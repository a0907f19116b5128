"""Statements on CaRB's dev sentences, beside OpenIE 5: python -m benchmarks.openie.

Each sentence is read as a refresh reads a document, and its statements are scored as they would be
written. Their confidences are fitted to the same sentences (recipes/statement_confidence.py), so
the figure to trust is the cross-validated one, in which no sentence is scored with weights that
have seen it. Writes benchmarks/results/openie.json.
"""

import time
from itertools import islice

from benchmarks.command import DATA, parser_of, report, run_command
from recipes.openie_scorer import (
    Extractions,
    OpenScore,
    OpenTuple,
    read_gold,
    read_openie5,
    score,
)
from recipes.ridge import cross_validate, design
from recipes.statement_confidence import as_tuple, judged, passages
from tasks.extract.english_pipeline.load import load_english
from tasks.extract.rules import RulesEngine


def rounded(result: OpenScore) -> dict[str, float]:
    """Return the reported figures of a score."""
    names = ("f1", "precision", "recall", "auc", "threshold")
    return {name: round(getattr(result, name), 3) for name in names}


def written(gold: Extractions) -> Extractions:
    """Return the statements that the engine writes for each sentence."""
    engine = RulesEngine()
    return {
        sentence: [
            as_tuple(row, row["confidence"])
            for extracted in engine.extract(passages(sentence))
            for row in extracted.statements
        ]
        for sentence in gold
    }


def main() -> None:
    """Score both systems and write the result."""
    parser = parser_of(__doc__)
    parser.add_argument("--limit", type=int, metavar="N", help="sentences (all)")
    limit = parser.parse_args().limit
    carb = DATA / "openie" / "carb"
    gold = dict(islice(read_gold(carb / "data" / "gold" / "dev.tsv.gz").items(), limit))
    load_english()
    started = time.perf_counter()
    shipped = written(gold)
    seconds = time.perf_counter() - started
    samples = judged(gold)
    _, x, y = design(samples)
    held_out: Extractions = {}
    for (sentence, extraction, _, _), p in zip(samples, cross_validate(samples, x, y), strict=True):
        scored = OpenTuple(extraction.relation, extraction.arguments, round(float(p), 3))
        held_out.setdefault(sentence, []).append(scored)
    openie5 = read_openie5(carb / "system_outputs" / "dev" / "openie5_output.txt.gz")
    figures = {
        "sentences": len(gold),
        "extractions": sum(map(len, shipped.values())),
        "seconds": round(seconds, 1),
        "almanac, cross-validated": rounded(score(gold, held_out)),
        "almanac, as shipped": rounded(score(gold, shipped)),
        "OpenIE 5": rounded(score(gold, openie5)),
    }
    report("openie", figures)


if __name__ == "__main__":
    run_command(main)
