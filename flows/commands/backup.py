"""`almanac backup`: copies a home while others work on it."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flows.jobs import Job, Runner, operand
from flows.terminal import Shown


class Backup(Job):
    """Copy the home to a folder, while others read and write; again, only what is new is copied.

    The copy is a home like any other: read it in place, or copy it back.
    """

    flow_name = "backup"
    outcome = "What was copied"

    folder: Path = operand("FOLDER", "An empty folder, or that of an earlier copy.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Copy; return the folder, the files and bytes that were copied, and the seconds."""
        from warehouse.backup import back_up

        started = time.perf_counter()
        copied = back_up(self.place, self.folder)
        seconds = round(time.perf_counter() - started, 3)
        about = {"folder": str(self.folder), "files": copied.files, "bytes": copied.bytes}
        return about | {"seconds": seconds}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield what was copied."""
        size = result["bytes"] / 1e6
        yield f"{result['files']} files, {size:.1f} MB copied to {result['folder']}."


COMMAND = Backup
