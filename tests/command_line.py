"""Commands that tests run in their own process, and what they print."""

import json
from pathlib import Path
from typing import Any

import pytest


class CommandLine:
    """Runs `almanac` on a home; what was printed before a call is no part of its result."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, home: Path | str, *arguments: str) -> tuple[int, str, str]:
        """Return the exit code, what is printed, and what is said beside it."""
        from flows.__main__ import main

        self._capsys.readouterr()
        try:
            code = main([*arguments, "--home", str(home)])
        except SystemExit as end:  # argparse leaves by it
            code = int(end.code or 0)
        return code, *self._capsys.readouterr()

    def shown(self, home: Path | str, *arguments: str) -> str:
        """Return what a command that succeeds prints."""
        code, out, err = self(home, *arguments)
        assert code == 0, err
        return out

    def json(self, home: Path | str, *arguments: str) -> Any:
        """Return what a command that succeeds prints with `--json`."""
        return json.loads(self.shown(home, *arguments, "--json"))

    def rows(self, home: Path | str, query: str) -> list[dict[str, Any]]:
        """Return the rows of an SQL query."""
        found: list[dict[str, Any]] = self.json(home, "sql", query)
        return found

    def refused(self, home: Path | str, *arguments: str) -> str:
        """Return the one line with which a wrong call is refused; it prints nothing else."""
        code, out, err = self(home, *arguments)
        assert (code, out, len(err.splitlines())) == (2, "", 1), err
        return err
