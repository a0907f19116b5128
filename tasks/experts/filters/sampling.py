"""Top-k factuality sampling (CooK, section 2.4): which texts the answering model sees."""

from collections.abc import Sequence

import numpy as np

from schemas.errors import UsageError
from tasks.experts.knowledge import KnowledgeText


def sample_factual(
    texts: Sequence[KnowledgeText],
    keep: int,
    *,
    pool: int | None = None,
    temperature: float = 1.0,
    seed: int = 0,
    greedy: bool = False,
) -> list[KnowledgeText]:
    """Return all texts, with all but `keep` of them dropped.

    Texts outside the `pool` with the best scores (twice `keep` by default) are dropped for their
    factuality. From the pool, `keep` texts are drawn without replacement, each in proportion to
    exp(score / `temperature`) among those left (Gumbel-top-k, Kool et al. 2019); with `greedy` the
    best are taken instead. A score that is missing or NaN counts as 0. The same seed and scores
    always give the same texts. Raises UsageError if the temperature is not above 0.
    """
    if not temperature > 0:
        raise UsageError("The temperature of factuality sampling must be above 0; use greedy.")
    standing = [place for place, text in enumerate(texts) if text.dropped is None]
    scores = np.nan_to_num(np.array([texts[place].score or 0.0 for place in standing]))
    size = len(standing) if keep >= len(standing) else max(keep, pool or 2 * keep)
    order = np.argsort(-scores, kind="stable")[: max(0, size)]
    drawn = order
    if not greedy:
        noise = np.random.default_rng(seed).gumbel(size=len(standing))
        drawn = order[np.argsort(-(scores[order] / temperature + noise[order]), kind="stable")]
    kept = {standing[int(place)] for place in drawn[: max(0, keep)]}
    pooled = {standing[int(place)] for place in order}
    return [
        text if place in kept else text.drop("sampled" if place in pooled else "factuality")
        for place, text in enumerate(texts)
    ]
