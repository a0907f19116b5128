"""Keys of names and ids of things, computed from their content by column.

A name is looked up by the 64-bit hash of its normal form. An id has twelve letters or digits: 72
bits of an MD5 sum, which needs no secrecy. Among a hundred million things, two have the same id
with a probability of one in a million.
"""

import string
from collections.abc import Iterable
from hashlib import blake2b

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.text.names import MAX_NAME, normalise_name


def normal_form(name: str) -> str:
    """Return the form in which names are compared; a name of punctuation alone stays unchanged."""
    return normalise_name(name) or name[:MAX_NAME]


def key_of(normal: str) -> bytes:
    """Return the eight-byte key of a normal form."""
    return blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def keys_of(normals: Iterable[str]) -> np.ndarray:
    """Return the key of each normal form, uint64 (names,)."""
    return np.frombuffer(b"".join(map(key_of, normals)), "<u8")


def name_keys(names: Iterable[str]) -> np.ndarray:
    """Return the key of each name, uint64 (names,)."""
    return keys_of(map(normal_form, names))


def ranges_of(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the start and end of each wanted key in the sorted keys, int64 (2, wanted)."""
    return np.stack([np.searchsorted(keys, wanted, side) for side in ("left", "right")])


def by_key(
    keys: np.ndarray, nodes: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return keys (sorted) and their nodes, the weightiest first, each pair once."""
    order = key_order(keys, nodes, weights)
    return each_once(keys[order], nodes[order])


def key_order(keys: np.ndarray, nodes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the order of names by key, the weightiest of one key first, then by node."""
    return np.lexsort((nodes, -weights, keys))


def each_once(keys: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of key (sorted) and node in their order, each pair once, nodes as int32."""
    # Two spellings of one normal form lead to their node once: equal pairs need not be neighbours.
    pairs = np.lexsort((nodes, keys))
    again = (np.diff(keys[pairs]) == 0) & (np.diff(nodes[pairs]) == 0)
    kept = np.ones(len(keys), bool)
    kept[pairs[1:][again]] = False
    return keys[kept], nodes[kept].astype(np.int32)


_DIGESTS = "select md5_number_upper(text) as upper, md5_number_lower(text) as lower from texts"
# Base 64, with letters instead of the two signs that are awkward on a command line.
_LETTERS = np.frombuffer((string.ascii_letters + string.digits + "xy").encode(), np.uint8)
_PAIRS = np.stack([_LETTERS[np.arange(4096) >> 6], _LETTERS[np.arange(4096) & 63]], 1)
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93], np.uint64)


def digests(*parts: pa.Array | str) -> np.ndarray:
    """Return uint64 (rows, 2): the MD5 sums of the rows, whose strings are joined.

    A plain string belongs to every row; at least one of the parts must be a column.
    """
    large = pa.large_string()
    columns = [pa.scalar(p, large) if isinstance(p, str) else p.cast(large) for p in (*parts, "")]
    texts = pa.table({"text": pc.binary_join_element_wise(*columns)})
    with duckdb.connect(":memory:", config={"threads": "2"}) as con:
        con.register("texts", texts)
        halves = con.sql(_DIGESTS).fetchnumpy()
    return np.stack([halves["upper"], halves["lower"]], 1)


def joined(columns: list[np.ndarray]) -> np.ndarray:
    """Return one digest per row from up to three columns of digests, in this order.

    It is a sum with odd factors: MD5 sums are evenly spread, so two rows agree only by chance.
    """
    whole = np.zeros_like(columns[0])
    for column, factor in zip(columns, _FACTORS, strict=False):
        whole += column * factor
    return whole


def as_ids(sums: np.ndarray) -> pa.Array:
    """Return the first 72 bits of digests as strings."""
    upper, lower = sums[:, 0], sums[:, 1]
    text = np.empty((len(sums), 6, 2), np.uint8)
    for place in range(5):
        text[:, place] = _PAIRS[(upper >> np.uint64(52 - 12 * place)) & np.uint64(4095)]
    text[:, 5] = _PAIRS[(upper & np.uint64(15)) << np.uint64(8) | lower >> np.uint64(56)]
    offsets = np.arange(0, 12 * len(sums) + 1, 12)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), len(sums), buffers)
