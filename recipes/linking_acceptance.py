"""Fit `tasks/graphs/linking/acceptance.py`, and print its weights and what thresholds do.

    python -m recipes.linking_acceptance

The names are mentions of the sets in `FITTED`, once among the entities of fb15k237 alone, so that
most of them mean none, and once among those of all sets; and names without a text of odd-numbered
entities of fb15k237, medkg and nlpcc, a third of which are gone. In each of these worlds half of
the weight is on names that mean an entity. Every second document, and every second name without a
text, only serves to choose the threshold: the largest multiple of .05 at which no world loses more
than four points of accuracy@1.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from sklearn.linear_model import LogisticRegression

from recipes.command import parser_of, run_command
from recipes.linking_worlds import (
    FITTED,
    SEED,
    Asked,
    chinese,
    freebase,
    medical,
    mentions,
    with_nodes_gone,
)
from tasks.graphs.linking.acceptance import EVIDENCE, gather
from tasks.graphs.linking.link import Linker, logits

MOST = 800  # names without a text per world
WITH_TEXTS = ("fb15k237, texts", "all, texts")
WEIGHT_WITHOUT_TEXTS = 0.5  # of a world, beside 1 with texts
THRESHOLDS = np.arange(0.05, 0.55, 0.05)


@dataclass(frozen=True)
class Example:
    """A name, and the evidence for the likest name in its world.

    `means` says that it means an entity, `likest` that this is a bearer of a likest name, and
    `first` that it is the candidate that is ranked first.
    """

    world: str
    fitted: bool
    evidence: np.ndarray
    means: bool
    likest: bool
    first: bool


def examples(folder: Path) -> Iterator[Example]:
    """Yield the names with candidates."""
    marked, world = list(mentions()), freebase()
    for name in WITH_TEXTS:
        linker = world.linker(folder / name)
        for one in marked:
            if one.family in FITTED:
                mention = Asked(one.spelling, one.text, world.nodes.get(one.key, -1))
                yield from _example(name, linker, mention, one.document)
        for one in marked:
            if one.key != "<NIL>":
                world.add_name(world.node(one.key, one.label), one.label)
    for name, whole in (("fb15k237", freebase()), ("medkg", medical()), ("nlpcc", chinese())):
        draw = random.Random(SEED + 2)
        smaller, names = with_nodes_gone(whole, draw, 1)
        linker = smaller.linker(folder / name)
        for asked in draw.sample(names, MOST):
            yield from _example(name, linker, asked, asked.name)


def _example(world: str, linker: Linker, asked: Asked, part: str) -> Iterator[Example]:
    found = linker.candidates(asked.text, [asked.name])
    if not found.nodes:
        return
    odds = logits(found.features)
    evidence, bearers = gather(found.names, odds, linker.names.rarity)
    yield Example(
        world,
        crc32(part.encode()) % 2 == 0,
        evidence,
        asked.node >= 0,
        asked.node in np.array(found.nodes)[bearers],
        asked.node == found.nodes[int(odds.argmax())],
    )


def fit(given: Sequence[Example]) -> LogisticRegression:
    """Return the regression of `likest` on the evidence."""
    cells = Counter((one.world, one.means) for one in given)
    weights = np.array(
        [
            (1 if one.world in WITH_TEXTS else WEIGHT_WITHOUT_TEXTS) / cells[one.world, one.means]
            for one in given
        ]
    )
    return LogisticRegression(C=10, max_iter=5000).fit(
        np.array([one.evidence for one in given]),
        np.array([one.likest for one in given]),
        sample_weight=weights / weights.mean(),
    )


def show_thresholds(model: LogisticRegression, given: Sequence[Example]) -> None:
    """Print for each world and threshold the accuracy@1 and the share of names refused rightly."""
    for world in dict.fromkeys(one.world for one in given):
        own = [one for one in given if one.world == world]
        likely = model.predict_proba(np.array([one.evidence for one in own]))[:, 1]
        means, first = (np.array([getattr(one, n) for one in own]) for n in ("means", "first"))
        print(f"{world}: accuracy {first[means].mean():.3f}")
        for threshold in THRESHOLDS:
            kept = first & (likely >= threshold)
            refused = likely < threshold
            print(f"  {threshold:.2f}  {kept[means].mean():.3f}  {refused[~means].mean():.3f}")


def main() -> None:
    """Fit and print."""
    parser_of(__doc__).parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        given = list(examples(Path(folder)))
    model = fit([one for one in given if one.fitted])
    print("WEIGHTS =", dict(zip(EVIDENCE, model.coef_[0].round(3).tolist(), strict=True)))
    print("BIAS =", round(float(model.intercept_[0]), 3))
    show_thresholds(model, [one for one in given if not one.fitted])


if __name__ == "__main__":
    run_command(main)
