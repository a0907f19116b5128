"""Verdicts on pairs of evidence and claim: (pairs, 3) probabilities, in the order named here.

This module is separate because the verifiers would otherwise import each other.
"""

import numpy as np

SUPPORT, REFUTE, UNKNOWN = range(3)
LONGEST = 20_000  # characters that verifiers read of either text


def truth_shares(verdicts: np.ndarray) -> np.ndarray:
    """Return `(p_support - p_refute + 1) / 2` (n) of verdicts (n, 3), as CooK's code does."""
    shares: np.ndarray = np.clip((verdicts[:, SUPPORT] - verdicts[:, REFUTE] + 1) / 2, 0.0, 1.0)
    return shares
