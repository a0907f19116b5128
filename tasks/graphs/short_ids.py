"""Ids made from content: twelve letters or digits, 72 bits of an MD5 sum.

Not for secrecy: of a hundred million things two get one id with a chance of one in a million.
"""

import string

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_DIGESTS = "select md5_number_upper(text) as upper, md5_number_lower(text) as lower from texts"
# As base 64 has them, but for the two signs that stand badly on a command line.
_LETTERS = np.frombuffer((string.ascii_letters + string.digits + "xy").encode(), np.uint8)
_PAIRS = np.stack([_LETTERS[np.arange(4096) >> 6], _LETTERS[np.arange(4096) & 63]], 1)
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93], np.uint64)


def digests(*parts: pa.Array | str) -> np.ndarray:
    """Return uint64 (rows, 2): the MD5 sums of columns of strings, joined as they stand.

    A plain string is of every row; one at least of the parts is a column.
    """
    large = pa.large_string()
    columns = [pa.scalar(p, large) if isinstance(p, str) else p.cast(large) for p in (*parts, "")]
    texts = pa.table({"text": pc.binary_join_element_wise(*columns)})
    with duckdb.connect(":memory:", config={"threads": "2"}) as con:
        con.register("texts", texts)
        found = con.sql(_DIGESTS).fetchnumpy()
    return np.stack([found["upper"], found["lower"]], 1)


def joined(columns: list[np.ndarray]) -> np.ndarray:
    """Return one digest for each row of up to three columns of digests, whose order counts.

    Sums with odd factors: as MD5 sums are spread evenly, two rows agree by chance alone.
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
