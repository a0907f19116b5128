"""The order of rows of small numbers, found by sorting one number for each row where that goes."""

import math

import numpy as np


def row_order(columns: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    """Return int64 (rows,): the order of rows by their columns, the first one first.

    A column has numbers from 0 to below its size. Rows that are equal come in any order.
    """
    if math.prod(max(size, 1) for size in sizes) >= 2**63:
        return np.lexsort(columns[::-1])
    packed = columns[0].astype(np.int64)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        packed *= size
        packed += column
    if (packed[1:] >= packed[:-1]).all():
        return np.arange(len(packed))
    return np.argsort(packed)
