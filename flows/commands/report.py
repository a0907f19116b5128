"""`almanac report`: writes an edition as pages that open from the disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flows.jobs import EDITION, LABELS, Job, OutPath, Runner, option
from flows.terminal import Shown
from tasks.text.english_words import counted


class Report(Job):
    """Write an edition as pages that open from the disk.

    The folder needs no server and no network; any browser reads it.
    """

    flow_name = "write-report"
    outcome = "Where the report is"

    out: OutPath = option("FOLDER", "Where to write it (almanac-report).", Path("almanac-report"))
    edition: str | None = EDITION
    labels: list[str] = LABELS

    def work(self, runner: Runner) -> dict[str, Any]:
        """Write the pages; return the address of the first, their number and their bytes."""
        from flows.home import edition_of
        from tasks.report.write import write_report
        from warehouse.disk_errors import refusals_in_words

        with (
            refusals_in_words(self.place.path, self.out),
            edition_of(self.place, self.edition, labels=self.labels).pinned() as edition,
        ):
            written = write_report(self.place, edition, self.out)
        return {
            "edition": edition.id,
            "address": written.first.absolute().as_uri(),
            "files": written.files,
            "bytes": written.size,
        }

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield where the first page is."""
        files, size = counted(result["files"], "file"), result["bytes"] / 1e6
        yield f"{files}, {size:.1f} MB. Open {result['address']} in a browser."


COMMAND = Report
