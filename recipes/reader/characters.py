"""Initial vectors of characters that the packaged vocabulary lacks.

An initial vector is near those of tokens with similar neighbours. It is computed from the singular
vectors of the positive pointwise mutual information of neighbouring tokens (Levy and Goldberg
2014), by a linear map to the packaged vectors that is fitted to tokens of the packaged vocabulary.
"""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

NEIGHBOURS = 4  # tokens on each side
SINGULAR = 200
KNOWN = 20  # least occurrences of a packaged token to which the map is fitted
RIDGE = 10.0


def first_vectors(lines: list[list[int]], packaged: np.ndarray, new: int) -> np.ndarray:
    """Return float32 (new, width): initial vectors of the tokens that follow the packaged ones."""
    size = len(packaged) + new
    ids = np.concatenate([np.array(line + [-1] * NEIGHBOURS) for line in lines])
    left = np.concatenate([ids[:-apart] for apart in range(1, NEIGHBOURS + 1)])
    right = np.concatenate([ids[apart:] for apart in range(1, NEIGHBOURS + 1)])
    both = (left >= 0) & (right >= 0)
    ones = np.ones(int(both.sum()), np.float32)
    pairs = csr_matrix((ones, (left[both], right[both])), (size, size))
    pairs = (pairs + pairs.T).tocoo()
    totals = np.bincount(pairs.row, pairs.data, size)
    chance = totals[pairs.row] * totals[pairs.col] / totals.sum()
    information = np.maximum(np.log(pairs.data / chance), 0.0)
    gained = csr_matrix((information, (pairs.row, pairs.col)), (size, size))
    vectors, values, _ = svds(gained, SINGULAR, random_state=1)
    alike = vectors * np.sqrt(values)
    known = np.flatnonzero(totals[: len(packaged)] >= KNOWN * 2 * NEIGHBOURS)
    mean = packaged[known].mean(axis=0)
    inner = alike[known].T @ alike[known] + RIDGE * np.eye(SINGULAR)
    to_packaged = np.linalg.solve(inner, alike[known].T @ (packaged[known] - mean))
    vectors = alike[len(packaged) :] @ to_packaged
    # The map explains only a part of the variance; noise with the rest keeps characters distinct.
    rest = np.sqrt(np.maximum(packaged[known].var(axis=0) - vectors.var(axis=0), 0.0))
    drawn = np.random.default_rng(1).standard_normal(vectors.shape)
    return np.asarray(mean + vectors + drawn * rest, np.float32)
