"""The candidates of a comparison: gates, or ablations of Thrust."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

from schemas.errors import UsageError
from tasks.evaluate.gates.outcomes import Outcomes
from tasks.evaluate.gates.scored import Make
from tasks.gates.gate import GATES, Gate, make_gate
from tasks.gates.thrust import Variant

MISSING = {
    "vectors": "no encoder is chosen",
    "popularity": "the questions do not say how popular their subjects are, and no graph to take "
    "it from is named (--set popularity_of=GRAPH)",
    "uncertainty": "the questions do not say how sure a model is of its own answers",
    "answers": "the questions do not say what a model answers by itself",
}
CLUSTERS = (1, 10)  # per class, in the paper's table 5


@dataclass(frozen=True)
class CandidateGate:
    """A gate: its name in reports, its factory, and the questions on which it is measured."""

    name: str
    make: Make
    outcomes: Outcomes


def check_gates(names: Sequence[str], options: dict[str, Any]) -> list[str]:
    """Return the named gates, or every gate for `all`.

    Raises UsageError for an unknown gate or option, and for options that none of the gates has.
    """
    chosen = list(GATES) if "all" in names else list(dict.fromkeys(filter(None, names)))
    if not chosen:
        raise UsageError(f"Name a gate to measure: {', '.join(GATES)} or all.")
    for name in chosen:
        make_gate(name, **_options(name, options))
    if options and "thrust" not in chosen:
        raise UsageError(f"Only the gate thrust has the options {', '.join(options)}.")
    return chosen


def need_vectors(names: Sequence[str]) -> bool:
    """Return whether one of the gates reads vectors."""
    return any("vectors" in make_gate(name).needs for name in names)


def of_gates(
    names: Sequence[str], options: dict[str, Any], outcomes: Outcomes
) -> tuple[list[CandidateGate], dict[str, str]]:
    """Return the gates whose input columns are present, and why the others are left out.

    Raises UsageError if the first gate is left out.
    """
    left_out, questions = {}, outcomes.of_model(0)
    for name in names:
        missing = [n for n in sorted(make_gate(name).needs) if getattr(questions, n) is None]
        if missing:
            left_out[name] = "; ".join(MISSING[need] for need in missing)
    if names[0] in left_out:
        raise UsageError(
            f"The gate {names[0]} cannot be measured here: {left_out[names[0]]}. "
            "Name another gate first, or give questions with the missing values."
        )
    makers = {n: partial(_make, n, _options(n, options)) for n in names if n not in left_out}
    return [CandidateGate(name, make, outcomes) for name, make in makers.items()], left_out


def of_ablations(outcomes: Outcomes) -> list[CandidateGate]:
    """Return Thrust in every variant of the paper's table 5, the full one first."""
    variants: dict[str, dict[str, Any]] = {
        "thrust" if variant == "full" else f"thrust {variant}": {"variant": variant}
        for variant in get_args(Variant)
    }
    variants |= {f"thrust clusters={count}": {"clusters": count} for count in CLUSTERS}
    return [
        CandidateGate(name, partial(_make, "thrust", options), outcomes)
        for name, options in variants.items()
    ]


def _options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    return options if name == "thrust" else {}


def _make(name: str, options: dict[str, Any], draw: int) -> Gate:
    """Return a gate; the random gate gets a different seed in each draw."""
    return make_gate(name, **({"seed": draw} if name == "random" else options))
