"""Features of a pair of entities besides the encoder's states: their kinds and distance."""

import numpy as np

KINDS = ("unknown", "person", "place", "organisation", "other", "date", "number")
GAPS = np.array([1, 2, 4, 8, 16, 32, 64])  # tokens between the nearest mentions: limits of buckets
BUCKETS = 2 * (len(GAPS) + 1)  # for each distance, which entity comes first
FEATURES = 2 * len(KINDS) + len(KINDS) ** 2 + BUCKETS
Ranges = list[list[tuple[int, int]]]


def kind_number(kind: str) -> int:
    """Return the number of a kind; works, events and things share the number of "other"."""
    return KINDS.index(kind) if kind in KINDS else KINDS.index("other")


def pair_features(mentions: Ranges, kinds: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return float32 (pairs, FEATURES), with four ones in each row.

    `mentions` are the token ranges of each entity, at least one each; `kinds` are the numbers of
    their kinds.
    """
    spans = np.array([span for ranges in mentions for span in ranges])
    starts = np.cumsum([0, *(len(ranges) for ranges in mentions[:-1])])
    gaps = np.maximum(spans[None, :, 0] - spans[:, None, 1], spans[:, None, 0] - spans[None, :, 1])
    nearest = np.minimum.reduceat(np.minimum.reduceat(gaps, starts, axis=0), starts, axis=1)
    first = np.minimum.reduceat(spans[:, 0], starts)
    heads, tails = pairs.T
    bucket = np.digitize(nearest[heads, tails], GAPS) * 2 + (first[heads] < first[tails])
    size = len(KINDS)
    columns = [
        kinds[heads],
        size + kinds[tails],
        2 * size + size * kinds[heads] + kinds[tails],
        2 * size + size * size + bucket,
    ]
    features = np.zeros((len(pairs), FEATURES), np.float32)
    for column in columns:
        features[np.arange(len(pairs)), column] = 1.0
    return features
