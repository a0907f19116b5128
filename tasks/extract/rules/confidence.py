"""How likely a fact is right: a logistic regression over what the rules saw.

The weights in `confidence.json` are fitted by `benchmarks/calibrate.py` to judged extractions. A
feature is 0 or 1, a count or a logarithm, so that a reader can see what speaks for a fact.
"""

import json
import math
from functools import lru_cache
from pathlib import Path

from tasks.extract.rules.clauses import Clause
from tasks.extract.rules.tree import Tree

# No judged data tells how often a pronoun is resolved wrongly; one in ten is assumed.
RESOLVED = 0.9
WEIGHTS = Path(__file__).with_name("confidence.json")
STATEMENT_WEIGHTS = Path(__file__).with_name("statement_confidence.json")


def features(
    tree: Tree, clause: Clause, rule: str, relation: int, arguments: list[list[int]]
) -> dict[str, float]:
    """Return the features of a fact; `relation` is its length in words, `arguments` its tokens."""
    subject, predicate = clause.subject, clause.predicate
    first, *others = arguments
    verb = clause.verb[0] if clause.verb else predicate
    tokens = [token for argument in arguments for token in argument]
    mark = _mark(tree, predicate)
    return {
        f"rule {rule}": 1.0,
        f"rule {rule} {clause.subject_from}": 1.0,
        f"found {clause.subject_from} {mark}": 1.0,
        f"mark {mark}": 1.0,
        f"predicate label {tree.dep[predicate]}": 1.0,
        f"predicate tag {tree.tag[predicate]}": 1.0,
        f"subject word {tree.pos[subject]}": 1.0,
        f"subject label {tree.dep[subject]}": 1.0,
        f"subject opens with {tree.pos[first[0]]}": 1.0,
        "passive": float(clause.passive),
        "negated": float(clause.negated),
        "subject has a verb": float(any(tree.pos[t] == "VERB" for t in first)),
        "subject has a relative": float(any(tree.tag[t] in ("WDT", "WP") for t in first)),
        "subject before verb": float(first[-1] < verb),
        "no object": float(not others or not others[0]),
        "arguments": float(min(4, len(arguments))),
        "subject length": math.log1p(len(first)),
        "object length": math.log1p(len(others[0]) if others else 0),
        "other length": math.log1p(sum(map(len, others[1:]))),
        "relation length": math.log1p(relation),
        "gap to subject": math.log1p(abs(verb - first[-1])),
        "width": math.log1p(max(tokens) - min(tokens)),
        "depth": math.log1p(_depth(tree, predicate)),
    }


def _mark(tree: Tree, predicate: int) -> str:
    for child in tree.children[predicate]:
        if tree.dep[child] in ("mark", "case"):
            word = tree.lower[child]
            return word if word in ("to", "that") else "other"
    return "none"


def _depth(tree: Tree, token: int) -> int:
    depth = 0
    while tree.head[token] != token and depth < 12:
        token = tree.head[token]
        depth += 1
    return depth


@lru_cache(maxsize=2)
def _weights(path: Path) -> dict[str, float]:
    return json.loads(path.read_text(encoding="utf-8"))["weights"]


def probability(
    values: dict[str, float], fitted: Path = WEIGHTS, *, resolved: bool = False
) -> float:
    """Return the probability that a fact with these features is right, to three decimals."""
    weights = _weights(fitted)
    total = weights["constant"]
    for name, value in values.items():
        total += weights.get(name, 0.0) * value
    right = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))
    return round(right * (RESOLVED if resolved else 1.0), 3)
