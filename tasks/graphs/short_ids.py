"""Ids made from content: twelve letters or digits, 72 bits of an MD5 sum."""

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

# Not for secrecy: with a hundred million things, two get one id with a chance of one in a million.
# The two signs of base 64 that stand badly on a command line give way to letters.
_IDS = "select translate(left(to_base64(unhex(md5(text))), 12), '+/', 'xy') as id from texts"


def short_ids(*parts: pa.Array | str) -> pa.Array:
    """Return an id (large string) for each row of columns of strings, joined as they stand.

    A plain string is of every row; one at least of the parts is a column.
    """
    large = pa.large_string()
    columns = [pa.scalar(p, large) if isinstance(p, str) else p.cast(large) for p in (*parts, "")]
    texts = pa.table({"text": pc.binary_join_element_wise(*columns)})
    with duckdb.connect(":memory:", config={"threads": "2"}) as con:
        con.register("texts", texts)
        return con.sql(_IDS).to_arrow_table()["id"].cast(pa.large_string()).combine_chunks()
