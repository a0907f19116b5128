"""Programs as models write them: a sandbox that refuses everything would be of no use."""

from pathlib import Path

import pytest

from tasks.programs.code_text import readable_code
from tasks.programs.program_run import ProgramRun, run_program
from tests.film_knowledge_base import films

FILE = Path(__file__).parent / "ordinary_programs.txt"


def ordinary_programs() -> list[tuple[str, str, str]]:
    """Return (name, what must come of it, program)."""
    found = []
    for block in FILE.read_text(encoding="utf-8").split("=== ")[1:]:
        head, _, code = block.partition("\n")
        name, _, expected = head.partition(" :: ")
        found.append((name, expected, code))
    return found


def run_ordinary(code: str) -> ProgramRun:
    return run_program(readable_code(code), films(), "What do we know of films?")


def what_came(run: ProgramRun) -> str:
    return "\n".join([*run.knowledge, *run.answers, str(run.result)])


@pytest.mark.parametrize(
    ("expected", "code"),
    [(expected, code) for _, expected, code in ordinary_programs()],
    ids=[name for name, _, _ in ordinary_programs()],
)
def test_it_runs(expected: str, code: str) -> None:
    run = run_ordinary(code)
    assert run.error is None
    assert expected in what_came(run)


def test_there_are_enough() -> None:
    programs = ordinary_programs()
    assert len({code for _, _, code in programs}) >= 100
