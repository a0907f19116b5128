"""A canary key in refreshes that fail: everything that they leave is searched for it.

    python -m benchmarks.canary_key

Refreshes by the command line at debug level, with the client's own logging at debug too, against a
mock endpoint that echoes the key: in replies and in errors. Then every file below the
home is read (Parquet and databases value by value, too), with standard output and standard error,
for the key in plain, base64, hex, URL and JSON forms. A last refresh has the key in the URL of its
source, as a password and as a signature.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.command import parser_of, report, run_command
from benchmarks.model_run import MODEL
from benchmarks.standing_endpoint import standing
from benchmarks.villages import write_corpus
from tests.secret_search import contents, forms, hits

CANARY = "sk-CANARYKEY123"  # what the faults echo
TEXT = b" metres long"  # stands in every English document
ECHOES = ("body_echo_key", "h401")


def logs_with(home: Path, words: bytes) -> list[str]:
    """Return the logs and Prefect's files that hold words of the documents."""
    logs = [*home.glob("std*.txt"), *(p for p in home.glob("prefect*/**/*") if p.is_file())]
    return [path.name for path in logs if words in path.read_bytes()]


def refreshed(home: Path, source: Path | str, base_url: str, extra: list[str]) -> int:
    """Refresh by the command line with its output kept in the home; return the exit code."""
    home.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "flows", "--debug", "--home", str(home), "refresh"]
    command += [str(source), "--engine", "openai", "--model", MODEL]
    command += ["--set", f"engine.model.base_url={base_url}", "--set", "engine.encoder=none"]
    environment = {
        **os.environ,
        "OPENAI_API_KEY": CANARY,
        "OPENAI_LOG": "debug",
        "PREFECT_HOME": str(home / "prefect-home"),
    }
    with (home / "stdout.txt").open("ab") as out, (home / "stderr.txt").open("ab") as err:
        return subprocess.run(
            [*command, *extra], env=environment, stdout=out, stderr=err, check=False
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
