"""Nothing leaves the machine and nothing is written outside of the home, native code included."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from film_questions import ONE_HOP, examples, graph, triples

from schemas.settings import ReadSettings
from tasks.ingest.formats import parser_pool
from tasks.ingest.formats.inputs import ReadText
from tasks.ingest.formats.read import read_item
from tasks.ingest.formats.sources import scan
from tests.documents import write_texts

# The work of a day in one process: with the packaged encoder, and thereby with ONNX Runtime.
DAY = """
import sys
from pathlib import Path
from flows.__main__ import main
from schemas.settings import Settings
from tasks.import_graph import import_graph
from tasks.refresh import refresh
from warehouse.home import Home

home, corpus, films, questions = sys.argv[1:]
import_graph(Home(Path(home)), Path(films), Settings(workers=1), name="films")
refresh(Home(Path(home)), [corpus], Settings(workers=1))
codes = [main(["--home", home, "ask", "Where was Ada Lovelace born?"])]
codes.append(main(["--home", home, "learn", questions, "--graph", "films"]))
sys.exit(any(codes))
"""
# The same in workers of Dask, one of which loads ONNX Runtime, and in the process of a parser.
IN_WORKERS = """
import sys
from pathlib import Path
from schemas.settings import Settings
from tasks.cluster import Cluster
from tasks.refresh import refresh
from warehouse.home import Home

def encode(text):
    from tasks.models.encoders.load import load_encoder
    return len(load_encoder("minilm").encode([text]))

if __name__ == "__main__":
    settings = Settings(workers=1, runner="dask")
    refresh(Home(Path(sys.argv[1])), [sys.argv[2]], settings)
    with Cluster(settings) as cluster:
        assert next(cluster(encode, [("Where was Ada Lovelace born?",)])) == 1
"""
CALLS = (
    "openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,connect,execve"
)
PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
DNS_PORT = re.compile(r"htons\(53\)")


@pytest.fixture(scope="module")
def materials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("materials")
    text = "# Ada Lovelace\n\nAda Lovelace was born in London in 1815.\n"
    page = "<html><body><p>Charles Babbage was born in London in 1791.</p></body></html>"
    write_texts(folder / "corpus", {"ada.md": text, "babbage.html": page})
    rows = "".join("\t".join(row) + "\n" for row in triples())
    questions = [json.dumps(asdict(example)) for example in examples(graph(), ONE_HOP)[:44]]
    return write_texts(folder, {"films.tsv": rows, "q.jsonl": "\n".join(questions)})


def work(program: str, materials: Path, folder: Path, *before: str) -> None:
    """Run a program in a fresh process whose user has an empty folder."""
    user = folder / "user"
    user.mkdir()
    environment = {
        **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
        **{"HOME": str(user), "XDG_CACHE_HOME": str(user / "cache")},
        **{"XDG_CONFIG_HOME": str(user / "config"), "TMPDIR": str(folder / "temporary")},
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    (folder / "temporary").mkdir()
    given = [str(materials / name) for name in ("corpus", "films.tsv", "q.jsonl")]
    command = [*before, sys.executable, "-c", program, str(folder / "home"), *given]
    done = subprocess.run(
        command, cwd=Path(__file__).parent.parent, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_task_switches_telemetry_off():
    environment = {n: os.environ[n] for n in ("PATH", "PYTHONPATH") if n in os.environ}
    assert switch_after("tasks.models.encoders.minilm", environment) == "1"


def test_parser_processes_switch_telemetry_off(materials, monkeypatch):
    environments: list[dict[str, str]] = []

    class Watched(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, command: list[str], **options: Any) -> None:
            environments.append(options["env"])
            super().__init__(command, **options)

    monkeypatch.setattr(parser_pool, "_idle", [])
    monkeypatch.setattr(parser_pool.subprocess, "Popen", Watched)
    (item,) = scan(str(materials / "corpus" / "babbage.html")).items
    assert all(isinstance(outcome, ReadText) for outcome in read_item(item, ReadSettings()))
    monkeypatch.undo()
    (environment,) = environments
    assert switch_after("tasks.ingest.formats.parser_process", environment) == "1"


def switch_after(module: str, environment: dict[str, str]) -> str:
    """Return the switch in a process that has this environment, after it has imported a module."""
    code = f"import os, {module}; print(os.environ.get('ORT_DISABLE_TELEMETRY'))"
    command = [sys.executable, "-B", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("program", [DAY, IN_WORKERS], ids=["in one process", "in workers"])
def test_no_name_is_looked_up_and_no_file_written_elsewhere(program, materials, tmp_path):
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed; it alone sees what native code does")
    log = tmp_path / "calls.txt"
    # By the kernel's filter, only these calls stop a process.
    tracing = [strace, "-f", "--seccomp-bpf", "-qq", "-s", "4096", "-o", str(log), "-e", CALLS]
    work(program, materials, tmp_path, *tracing)
    calls = log.read_text(encoding="utf-8", errors="replace").splitlines()
    assert len(calls) > 1000  # the trace is one
    assert any(" execve(" in call and "formats.parser_process" in call for call in calls)
    connections = [call for call in calls if " connect(" in call and "AF_UNIX" not in call]
    assert [c for c in connections if DNS_PORT.search(c) or "127.0.0.1" not in c] == []
    assert {path for call in calls for path in written(call)} <= {"/dev/null", "/dev/shm"}
    assert list((tmp_path / "user").iterdir()) == []


def written(call: str) -> set[str]:
    """Return what a system call wrote outside of the folders that pytest gave the test."""
    if "connect(" in call or "execve(" in call or " = -1 " in call:
        return set()
    if "open" in call.partition("(")[0] and not re.search("O_WRONLY|O_RDWR|O_CREAT", call):
        return set()
    return {
        re.sub("^/dev/shm/.*", "/dev/shm", path)
        for path in PATH.findall(call)
        if path.startswith("/") and "/pytest-" not in path
    }
