"""`almanac compact`: merges small parts of the journal and the live records."""

from typing import Any

from flows.jobs import Job, Runner


class Compact(Job):
    """Merge small parts of the journal and live records, while others read and write.

    A run that publishes does it by itself, after as many parts as publish.compact_after says.
    """

    flow_name = "compact"
    outcome = "What was compacted"

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Compact; return parts and bytes before and after, and the seconds."""
        from tasks.compact import compact_home

        return compact_home(self.place, report=runner.report)


COMMAND = Compact
