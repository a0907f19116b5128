"""Programs that try to escape from the sandbox, and what they reach."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tasks.programs.knowledge_bases.protocol import EntityRef
from tasks.programs.limits import Limits
from tasks.programs.program_run import run_program
from tasks.programs.sandbox import confine
from tests.film_knowledge_base import films
from tests.test_programs_ordinary import run_ordinary

SECRET, TOKEN = "SECRET-0x51CE", "TOKEN-0x7A11"
PROGRAMS = "hostile/escape_programs.jsonl"
LIMITS = Limits(seconds=0.4, memory=128 << 20, calls=200, output=50_000)
PROBE_SECONDS = 10.0
BOUND = "lookup = get_entity_info\nent = find_entity_or_value\nrows = ['a']\n"

# What the system's wall must stop: each tries one thing, on our own files and socket only.
PROBES = {
    "write": "open('{CANARY}', 'w').write('x')",
    "read": "result = open('{SECRET_FILE}').read()",
    "net": "import _socket\ns = _socket.socket()\ns.connect(('127.0.0.1', {PORT}))",
    "fork": "import posix\nresult = posix.fork() and 'child'",
    "run": "import posix\nposix.system('touch {CANARY}')",
    "leak": "import posix\nresult = str(posix.environ)",
}

ENDED = "the script ended"


@dataclass
class Traps:
    """Targets for hostile programs: files, an environment variable, a socket."""

    folder: Path
    port: int = 0
    _socket: socket.socket | None = None
    _modules: set[str] = field(default_factory=set)

    def __enter__(self) -> "Traps":
        """Set them."""
        (self.folder / "secret.txt").write_text(SECRET)
        os.environ["HOST_TOKEN"] = TOKEN
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        """Remove them."""
        os.environ.pop("HOST_TOKEN", None)
        if self._socket:
            self._socket.close()

    def _connections(self) -> int:
        """Return how many have connected since the last look: they wait in the system's queue."""
        assert self._socket
        found = 0
        while True:
            try:
                self._socket.accept()[0].close()
            except BlockingIOError:
                return found
            found += 1

    def aimed(self, code: str) -> str:
        """Return a program with the traps' places in it."""
        canary, secret = self.folder / "canary", self.folder / "secret.txt"
        for name, place in ("{CANARY}", canary), ("{SECRET_FILE}", secret), ("{PORT}", self.port):
            code = code.replace(name, str(place))
        return code

    def harm(self, said: str) -> list[str]:
        """Return the effects of a program, and undo them."""
        found = [name for name in (SECRET, TOKEN) if name in said]
        if left := [path for path in self.folder.iterdir() if path.name != "secret.txt"]:
            found.append("canary")
            for path in left:
                path.unlink()
        if self._connections():
            found.append("connection")
        return found


def escape_programs(data: Path) -> list[dict[str, Any]]:
    """Return the rows of the file."""
    lines = (data / PROGRAMS).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def forms(code: str) -> Iterator[tuple[str, str]]:
    """Yield the three forms in which a program is run."""
    yield "plain", code
    yield "bound", BOUND + code
    inner = "".join(f"    {line}\n" for line in code.splitlines())
    yield "inside", f"def search():\n    lookup = get_entity_info\n{inner}    return str(result)\n"


def run_hostile(
    traps: Traps, rows: list[dict[str, Any]], limits: Limits = LIMITS
) -> dict[str, Any]:
    """Run the programs in the sandbox; return what they did and how long they took."""
    run_ordinary("1")  # what is loaded at the first program is loaded
    process = psutil.Process()
    before, names, modules = process.memory_info().rss, EntityRef.__name__, set(sys.modules)
    harm: list[tuple[str, str, list[str]]] = []
    slowest, late, longest = 0.0, [], 0
    for row in rows:
        for form, code in forms(traps.aimed(row["code"])):
            began = time.perf_counter()
            run = run_program(code, films(), "q", limits)
            took = time.perf_counter() - began
            slowest = max(slowest, took)
            output = "\n".join([*run.messages, *run.answers, str(run.result), str(run.error)])
            longest = max(longest, len(str(run.result)) + len(str(run.error)))
            if took > limits.seconds + 1:
                late.append((row["id"], form, round(took, 2)))
            if found := traps.harm(output):
                harm.append((row["id"], form, found))
    answered = run_ordinary("answers.extend(find_entity_or_value(['Alien'], ['director'])[0])")
    return {
        "programs": len(rows), "runs": 3 * len(rows), "harmful": harm, "late": late,
        "slowest_seconds": round(slowest, 2), "longest_output": longest,
        "memory_growth_mib": round((process.memory_info().rss - before) / 2**20, 1),
        "modules_added": sorted(set(sys.modules) - modules),
        "class_changed": EntityRef.__name__ != names,
        "answers_afterwards": answered.answers == ["Ridley Scott"],
    }  # fmt: skip


def run_probes(traps: Traps, *, confined: bool) -> dict[str, Any]:
    """Run the probes and a script that tries nothing, with or without the system's confinement."""
    harmful = [
        name
        for name, code in PROBES.items()
        if traps.harm(_as_script(traps.aimed(code), confined=confined))
    ]
    runs = ENDED in _as_script("result = 1", confined=confined)
    return {"probes": len(PROBES), "harmful": harmful, "a_plain_script_runs": runs}


def _as_script(code: str, *, confined: bool) -> str:
    """Return what a script prints that a Python of its own reads from its standard input."""
    environment = {} if confined else {"HOST_TOKEN": TOKEN, "PATH": os.environ["PATH"]}
    started = subprocess.Popen(
        [sys.executable, "-I", "-S", "-"], env=environment, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if confined:
        time.sleep(0.2)  # the interpreter has started and waits for the script
        confine(started.pid, LIMITS)
    script = f"result = None\n{code}\nprint(result, {ENDED!r})\n"
    try:
        output, _ = started.communicate(script.encode(), PROBE_SECONDS)
        return output.decode("utf-8", "replace")[:100_000]
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        return ""
