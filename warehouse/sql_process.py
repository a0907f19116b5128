"""The process in which an analyst's query runs, started before the query is ready.

The module is light to import, so that a command can start the worker before it loads the rest.
"""

import subprocess
import sys
import tempfile


class SqlProcess:
    """One worker for one query; its rows land in `output`, a temporary file."""

    def __init__(self) -> None:
        """Start the worker with an empty environment; it waits for the request."""
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 (the result reads it later)
        self._worker = subprocess.Popen(
            [sys.executable, "-I", "-m", f"{__package__}.sql_worker"],
            stdin=subprocess.PIPE,
            stdout=self.output,
            stderr=subprocess.PIPE,
            cwd="/",
            env={},
        )

    def run(self, request: bytes, seconds: float) -> tuple[int, bytes]:
        """Return the worker's exit code and what it wrote on standard error.

        After `seconds` the worker is killed, as DuckDB's own `interrupt` can take half a minute,
        and TimeoutError is raised.
        """
        try:
            _, stderr = self._worker.communicate(request, timeout=seconds)
        except subprocess.TimeoutExpired:
            self.end()
            raise TimeoutError from None
        except BaseException:
            self.end()
            raise
        return self._worker.returncode, stderr

    def end(self) -> None:
        """Kill the worker, whatever it is doing."""
        self._worker.kill()
        self._worker.communicate()
