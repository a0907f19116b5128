"""The best dependency tree under arc scores (Chu and Liu 1965, Edmonds 1967), with one root."""

import numpy as np
from numpy.typing import NDArray

_NEVER = -1e9
_ROOTS_TRIED = 3


def best_tree(scores: NDArray[np.float64]) -> list[int]:
    """Head of every word, 0 being the root, for `scores[dependent, head]` (n words, n + 1 heads).

    Exactly one word hangs on the root. Greedy heads are returned where they already are a tree.
    """
    scores = scores.astype(np.float64).copy()
    n = len(scores)
    scores[np.arange(n), np.arange(1, n + 1)] = _NEVER
    heads = scores.argmax(1)
    if _is_tree(heads):
        return [int(h) for h in heads]
    # The likeliest roots, by what each loses against its best other head, are tried in turn.
    others = scores[:, 1:].max(1) if n > 1 else np.full(n, _NEVER)
    roots = (scores[:, 0] - others).argsort()[::-1][:_ROOTS_TRIED]
    trees = [_tree_from(scores, int(root)) for root in roots]
    totals = [scores[np.arange(n), tree].sum() for tree in trees]
    return [int(h) for h in trees[int(np.argmax(totals))]]


def _tree_from(scores: NDArray[np.float64], root: int) -> NDArray[np.int64]:
    """Heads of the best tree in which `root` alone hangs on node 0."""
    square = np.full((len(scores) + 1, len(scores) + 1), _NEVER)
    square[1:, 1:] = scores[:, 1:]
    square[root + 1] = _NEVER
    square[root + 1, 0] = 0.0
    return _arborescence(square)[1:]


def _is_tree(heads: NDArray[np.int64]) -> bool:
    return (heads == 0).sum() == 1 and not _find_cycle(np.append(0, heads))


def _arborescence(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Heads of the maximum arborescence rooted at node 0; `scores[dependent, head]` is square."""
    heads = scores.argmax(1)
    heads[0] = 0
    cycle = np.array(_find_cycle(heads), dtype=np.int64)
    if not len(cycle):
        return heads
    inside = np.zeros(len(heads), dtype=bool)
    inside[cycle] = True
    outside = np.flatnonzero(~inside)
    kept = scores[cycle, heads[cycle]]
    small = np.full((len(outside) + 1, len(outside) + 1), _NEVER)
    small[:-1, :-1] = scores[np.ix_(outside, outside)]
    leaving = scores[np.ix_(outside, cycle)]
    entering = scores[np.ix_(cycle, outside)] - kept[:, None]
    small[:-1, -1] = leaving.max(1)
    small[-1, :-1] = entering.max(0)
    solved = _arborescence(small)
    result = heads.copy()
    for i, node in enumerate(outside):
        if node:
            head = solved[i]
            result[node] = outside[head] if head < len(outside) else cycle[leaving[i].argmax()]
    into = solved[-1]
    broken = cycle[entering[:, into].argmax()]
    result[broken] = outside[into]
    return result


def _find_cycle(heads: NDArray[np.int64]) -> list[int]:
    colour = [0] * len(heads)
    colour[0] = -1
    for start in range(1, len(heads)):
        path: list[int] = []
        node = start
        while colour[node] == 0:
            colour[node] = start
            path.append(node)
            node = int(heads[node])
        if colour[node] == start:
            return path[path.index(node) :]
        for seen in path:
            colour[seen] = -1
    return []
