"""Fit the weights of `tasks/graphs/linking/link.py` and print them.

    python -m recipes.linking_weights

A multinomial logit with none of the candidates as one more (gradient descent, L2). It is fitted to
mentions of the sets in `FITTED`, of entities of fb15k237, and to what those sets mark that means no
entity; to aliases of odd-numbered entities of fb15k237 and medkg, known and left out; and to their
labels with a slip. Entities of the last two are drawn evenly, which says nothing about popularity:
there it counts as equal. Equal bytes and popularity have given weights, because people do not
ask about entities evenly; no weight may be negative.
"""

import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recipes.command import parser_of, run_command
from recipes.linking_worlds import (
    FITTED,
    SEED,
    SLIPS,
    Asked,
    chinese,
    chinese_slips,
    freebase,
    leave_out,
    medical,
    mentions,
)
from tasks.graphs.linking.link import FEATURES, Linker

GIVEN = {"exact": 2.5, "popularity": 0.7}
WEIGHTS = {"mentions": 5.0, "none": 1.0, "left out": 1.5}  # of a task; others 0.7
MOST = 600  # names of a task that is made of slips or aliases
L2 = 2e-4
STEPS, RATE = 1500, 0.05


@dataclass(frozen=True)
class Choice:
    """The candidates of one name, and which of them it means, -1 for none."""

    task: str
    features: np.ndarray
    meant: int


def choices(folder: Path) -> Iterator[Choice]:
    """Yield the examples to which the weights are fitted."""
    draw = random.Random(SEED + 1)
    world = freebase()
    linker = world.linker(folder / "mentions")
    for one in mentions():
        if one.family not in FITTED:
            continue
        if one.key in world.nodes:
            question = Asked(one.spelling, one.text, world.nodes[one.key])
            yield _choice("mentions", linker, question)
        elif one.key == "<NIL>":
            yield _choice("none", linker, Asked(one.spelling, one.text, -1), evenly=True)
    for task, slip in SLIPS.items():
        spelled = [Asked(slip(names[0], draw), "", n) for n, names in enumerate(world.names)]
        yield from _drawn(task, linker, spelled, draw)
    for name, other in (("fb15k237", freebase()), ("medkg", medical())):
        known = [Asked(a, "", n) for n, names in enumerate(other.names) for a in names[1:]]
        yield from _drawn("known", other.linker(folder / name), known, draw)
        out = leave_out(other, draw)
        yield from _drawn("left out", other.linker(folder / f"{name}-out"), out, draw)
    world = chinese()
    spelled = chinese_slips(world, draw)
    yield from _drawn("Chinese", world.linker(folder / "chinese"), spelled, draw)


def _drawn(task: str, linker: Linker, asked: list[Asked], draw: random.Random) -> Iterator[Choice]:
    odd = [one for one in asked if one.name and one.node % 2]
    for one in draw.sample(odd, min(MOST, len(odd))):
        yield _choice(task, linker, one, evenly=True)


def _choice(task: str, linker: Linker, asked: Asked, *, evenly: bool = False) -> Choice:
    nodes, features, _ = linker.candidates(asked.text, [asked.name])
    if evenly:
        features[:, [FEATURES.index("popularity"), FEATURES.index("fit")]] = 0
    return Choice(task, features, nodes.index(asked.node) if asked.node in nodes else -1)


def fit(given: list[Choice]) -> np.ndarray:
    """Return weights and bias that make the choices likeliest, the given ones as they are."""
    given = [choice for choice in given if len(choice.features)]
    rows = np.vstack([choice.features for choice in given])
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    sizes = np.array([len(choice.features) for choice in given])
    starts = np.concatenate([[0], sizes.cumsum()[:-1]])
    of = np.repeat(np.arange(len(given)), sizes)
    meant = np.array([c.meant for c in given])
    right = (starts + meant)[meant >= 0]
    names = [choice.task for choice in given]
    weights = np.array([WEIGHTS.get(task, 0.7) / names.count(task) for task in names])
    weights /= weights.sum()
    held = [FEATURES.index(name) for name in GIVEN]
    theta = np.zeros(rows.shape[1])
    theta[held] = list(GIVEN.values())
    speed, square = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, STEPS + 1):
        odds = rows @ theta
        most = np.maximum(np.maximum.reduceat(odds, starts), 0)
        shares = np.exp(odds - most[of])
        total = np.add.reduceat(shares, starts) + np.exp(-most)
        errors = shares / total[of] * weights[of]
        errors[right] -= weights[meant >= 0]
        slope = rows.T @ errors + 2 * L2 * np.append(theta[:-1], 0)
        slope[held] = 0
        speed = 0.9 * speed + 0.1 * slope  # Adam (Kingma and Ba 2015)
        square = 0.999 * square + 0.001 * slope**2
        unbiased = np.sqrt(square / (1 - 0.999**step)) + 1e-9
        theta -= RATE * (1 - step / STEPS) * speed / (1 - 0.9**step) / unbiased
        theta[:-1] = np.maximum(theta[:-1], 0)  # no likeness may speak against a name
    return theta


def main() -> None:
    """Fit and print."""
    parser_of(__doc__).parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        given = list(choices(Path(folder)))
    theta = fit(given)
    print(len(given), "names")
    print("WEIGHTS =", [round(float(weight), 3) for weight in theta[:-1]])
    print("BIAS =", round(float(theta[-1]), 3))


if __name__ == "__main__":
    run_command(main)
