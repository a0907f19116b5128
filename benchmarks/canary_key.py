"""A canary key in refreshes that fail: everything that they leave is searched for it.

    python -m benchmarks.canary_key

Refreshes by the command line at debug level, with the client's own logging at debug too, against a
mock endpoint that echoes the key: in replies and in errors. Then every file below the
home is read (Parquet and databases value by value, too), with standard output and standard error,
for the key in plain, base64, hex, URL and JSON forms. A last refresh has the key in the URL of its
source, as a password and as a signature.
"""

import base64
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import pyarrow.parquet as pq

from benchmarks.command import parser_of, report, run_command
from benchmarks.model_run import MODEL
from benchmarks.standing_endpoint import standing
from benchmarks.villages import write_corpus
from warehouse.quoting import quoted_name

CANARY = "sk-CANARYKEY123"  # what the faults echo
TEXT = b" metres long"  # stands in every English document
ECHOES = ("body_echo_key", "h401")


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


def logs_with(home: Path, words: bytes) -> list[str]:
    """Return the logs and Prefect's files that hold words of the documents."""
    logs = [*home.glob("std*.txt"), *(p for p in home.glob("prefect*/**/*") if p.is_file())]
    return [path.name for path in logs if words in path.read_bytes()]


def refreshed(home: Path, source: Path | str, base_url: str, extra: list[str]) -> int:
    """Refresh by the command line with its output kept in the home; return the exit code."""
    home.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "flows", "--debug", "--home", str(home), "refresh"]
    command += [str(source), "--engine", "openai", "--model", MODEL, "--base-url", base_url]
    environment = {
        **os.environ,
        "OPENAI_API_KEY": CANARY,
        "OPENAI_LOG": "debug",
        "PREFECT_HOME": str(home / "prefect-home"),
    }
    with (home / "stdout.txt").open("ab") as out, (home / "stderr.txt").open("ab") as err:
        return subprocess.run(
            [*command, "--no-vectors", *extra], env=environment, stdout=out, stderr=err, check=False
        ).returncode


def main() -> bool:
    """Run the refreshes, search their files, and write the results."""
    arguments = parser_of(__doc__, documents=12).parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="almanac-canary-") as name:
        folder = Path(name)
        write_corpus(folder / "corpus", arguments.documents)
        for fault in (None, *ECHOES):
            mixture = [(fault, 1.0)] if fault else []
            home = folder / f"home-{fault}"
            with standing(folder / f"endpoint-{fault}", latency=0.0, faults=mixture) as endpoint:
                codes = [refreshed(home, folder / "corpus", endpoint.base_url, ["--json"])]
                calls = endpoint.calls(0)
            found = hits(home, CANARY)
            figures[str(fault)] = {
                "exit_codes": codes,
                "calls": len(calls),
                "faults": sum(call.fault is not None for call in calls),
                "logs_with_text_of_documents": logs_with(home, TEXT),
                "places_searched": sum(1 for _ in contents(home)),
                "hits": found,
            }
        home = folder / "home-url"
        url = f"http://ada:{CANARY}@127.0.0.1:9/x.md?id=7&X-Amz-Signature={CANARY}"
        code = refreshed(home, url, "http://127.0.0.1:9/v1", ["--json", "--engine", "rules"])
        figures["secrets of a URL that cannot be read"] = {
            "exit_codes": [code],
            "logs_with_text_of_documents": [],
            "places_searched": sum(1 for _ in contents(home)),
            "hits": hits(home, CANARY),
        }
        planted = folder / "planted"
        planted.mkdir()
        for form, texts in forms(CANARY).items():
            (planted / form).write_bytes(b"x" + texts[0] + b"y")
        figures["planted_forms_found"] = len({hit.split(":")[0] for hit in hits(planted, CANARY)})
    report("canary-key", figures)
    runs = [one for one in figures.values() if isinstance(one, dict)]
    return any(one["hits"] or one["logs_with_text_of_documents"] for one in runs)


if __name__ == "__main__":
    run_command(main)
