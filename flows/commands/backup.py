"""`almanac backup`: copies a home while others work on it."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.jobs import Job, Runner, operand


class Backup(Job):
    """Copy the home to a folder, while others work; later runs copy only changes.

    The copy is a home like any other: read it in place, or copy it back.
    """

    flow_name = "backup"
    outcome = "What was copied"

    folder: Path = operand("FOLDER", "An empty folder, or that of an earlier copy.")

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Copy; return the folder, the files and bytes that were copied, and the seconds."""
        from warehouse.backup import back_up
        from warehouse.disk_errors import refusals_in_words

        started = time.perf_counter()
        with refusals_in_words(self.place.path, self.folder):
            copied = back_up(self.place, self.folder)
        seconds = round(time.perf_counter() - started, 3)
        return [{"folder": str(self.folder), **asdict(copied), "seconds": seconds}]


COMMAND = Backup
