"""Finds a secret in every file below a folder, in each form that programs write it in."""

import base64
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import duckdb
import pyarrow.parquet as pq

from warehouse.quoting import quoted_name


def forms(secret: str) -> dict[str, list[bytes]]:
    """Return the forms of a secret, by encoding."""
    raw = secret.encode()
    aligned = [base64.b64encode(b" " * shift + raw) for shift in range(3)]
    # The first and last characters of each depend on the neighbours; the middle does not.
    middles = [text[4:-4].rstrip(b"=") for text in aligned]
    return {
        "plain": [raw],
        "base64": middles,
        "hex": [raw.hex().encode(), raw.hex().upper().encode()],
        "url": [quote(secret, safe="").encode(), "".join(f"%{b:02X}" for b in raw).encode()],
        "json": ["".join(f"\\u{ord(c):04x}" for c in secret).encode(), json.dumps(secret).encode()],
        "utf16": [secret.encode("utf-16-le")],
        "tail": [raw[3:]],
    }


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield everything below a folder as bytes: files as they are, tables value by value too."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        yield str(path.relative_to(folder)), path.read_bytes()
        if path.suffix == ".parquet":
            yield f"{path.name} (values)", str(pq.read_table(path).to_pylist()).encode()
        elif path.suffix == ".db":
            yield f"{path.name} (values)", _sqlite(path)
        elif path.suffix == ".duckdb":
            yield f"{path.name} (values)", _duckdb(path)


def _sqlite(path: Path) -> bytes:
    con = sqlite3.connect(path)
    names = con.execute("select name from sqlite_master where type = 'table'").fetchall()
    # Table names take no parameters; these come from the database itself.
    rows = [con.execute(f"select * from {quoted_name(name)}").fetchall() for (name,) in names]
    con.close()
    return str(rows).encode(errors="replace")


def _duckdb(path: Path) -> bytes:
    with duckdb.connect(str(path), read_only=True) as con:
        names = con.execute("select table_name from duckdb_tables()").fetchall()
        return str([con.table(name).fetchall() for (name,) in names]).encode(errors="replace")


def hits(folder: Path, secret: str) -> list[str]:
    """Return the places of a secret below a folder, and its form there."""
    wanted = forms(secret)
    return [
        f"{place}: {form}"
        for place, data in contents(folder)
        for form, texts in wanted.items()
        if any(text in data for text in texts)
    ]
