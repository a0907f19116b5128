"""Report the precision of a home's facts by people's verdicts, and the verdicts' effect."""

import math
from collections import Counter, defaultdict
from statistics import NormalDist
from typing import Any

from schemas.verdicts import Verdict
from tasks.audit import KINDS, verdicts_in_force
from tasks.publish.recalibrate import recalibrations
from warehouse.home import Home

NORMAL_95 = NormalDist().inv_cdf(0.975)  # for an interval of 95 %
_PLURAL = {value: name for name, value in KINDS.items()}


def report(home: Home) -> dict[str, Any]:
    """Return precision by kind, relation and source, and each engine's correction.

    A group counts only samples that could have drawn all of its facts: one of a single relation
    says nothing about a kind. Samples that drew more from some strata are weighted back to the
    sizes of the strata.
    """
    rows = list(verdicts_in_force(home).values())
    judged = Counter((row["audit_id"], row["stratum"]) for row in rows)
    lines = recalibrations(Verdict.to_table(rows)).to_pylist()
    weighed = [
        row | {"stands_for": row["population"] / judged[row["audit_id"], row["stratum"]]}
        for row in rows
    ]
    return {
        "verdicts": len(rows),
        "precision": [
            *_groups(weighed, "kind", lambda row: _PLURAL[row["fact_kind"]], ""),
            *_groups(weighed, "relation", lambda row: row["relation"], "relation "),
            *_groups(weighed, "source", lambda row: row["source"], "source "),
        ],
        "confidence": [line | {"fact_kind": _PLURAL[line["fact_kind"]]} for line in lines],
    }


def _groups(rows: list[dict[str, Any]], by: str, name: Any, scope: str) -> list[dict[str, Any]]:
    """Return the precision of each group of rows with the same name, most verdicts first."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        label = name(row)
        if label and row["scope"] in ("", f"{scope}{label}" if scope else ""):
            groups[label].append(row)
    measured = [{"by": by, "group": label, **_precision(group)} for label, group in groups.items()]
    return sorted(measured, key=lambda row: (-row["verdicts"], row["group"]))


def _precision(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the weighted shares of verdicts, and Wilson's interval of the useful ones."""
    weights = _weights(rows)
    total = sum(weights)

    def share(verdict: str) -> float:
        of_it = (w for w, row in zip(weights, rows, strict=True) if row["verdict"] == verdict)
        return sum(of_it) / total

    useful = share("useful")
    low, high = wilson(useful, _effective(weights))
    return {
        "verdicts": len(rows),
        "useful": round(useful, 3),
        "useful_low": round(low, 3),
        "useful_high": round(high, 3),
        "useless": round(share("useless"), 3),
        "wrong": round(share("wrong"), 3),
    }


def _weights(rows: list[dict[str, Any]]) -> list[float]:
    """Return each verdict's weight: the facts it stands for, scaled by its sample's effective size.

    Within a sample, a verdict stands for its share of the facts in its stratum (Hajek 1971); each
    sample counts by Kish's effective size, that is, about by its inverse variance.
    """
    samples: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        samples[row["audit_id"]].append(row["stands_for"])
    scale = {name: _effective(facts) / sum(facts) for name, facts in samples.items()}
    return [row["stands_for"] * scale[row["audit_id"]] for row in rows]


def _effective(weights: list[float]) -> float:
    """Return Kish's effective number of verdicts."""
    return sum(weights) ** 2 / sum(weight * weight for weight in weights)


def wilson(share: float, size: float) -> tuple[float, float]:
    """Return the 95 % interval of a share in a sample of a size (Wilson 1927)."""
    squared = NORMAL_95**2 / size
    middle = share + squared / 2
    spread = NORMAL_95 * math.sqrt(share * (1 - share) / size + squared / (4 * size))
    return max(0.0, (middle - spread) / (1 + squared)), min(1.0, (middle + spread) / (1 + squared))
