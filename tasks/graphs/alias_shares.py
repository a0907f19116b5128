"""Whom a name may mean: each pair of name and entity once, with the share that is meant."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.graphs.row_order import row_order


def alias_shares(
    names: pa.ChunkedArray, nodes: np.ndarray, known: np.ndarray
) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """Return names (strings), nodes (int32) and shares (float64), sorted by name, then node.

    Given are a node for each name, and how much is known of each node: the more, the likelier it
    is the one that is meant. The shares of one name sum to one.
    """
    coded = names.dictionary_encode().combine_chunks()
    by_text = pc.sort_indices(coded.dictionary).to_numpy()
    places = np.empty(len(by_text), np.int32)
    places[by_text] = np.arange(len(by_text), dtype=np.int32)
    texts = places[coded.indices.to_numpy()]
    order = row_order([texts, nodes], [len(by_text), len(known)])
    texts, nodes = texts[order], nodes[order]
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(texts) != 0) | (np.diff(nodes) != 0)
    texts, nodes = texts[new], nodes[new]
    weights = known[nodes] + 1
    shares = weights / np.bincount(texts, weights, minlength=len(by_text))[texts]
    return coded.dictionary.take(by_text[texts]), nodes, shares
