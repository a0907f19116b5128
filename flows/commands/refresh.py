"""`almanac refresh`: reads what is new in the sources, extracts, and publishes."""

from dataclasses import asdict
from typing import Any

from pydantic import field_validator

from flows.jobs import MODEL, OWN_LABELS, PublishingJob, Runner, Shortcut, operand, switch
from schemas.labels import GivenLabels


class RefreshKnowledge(PublishingJob):
    """Read what is new in the sources, extract, and publish a new edition if it differs."""

    flow_name = "refresh-knowledge"
    outcome = "What the refresh did"
    shortcuts = MODEL | {
        "--concurrency": Shortcut("settings.engine.model.concurrency", "N"),
        "--budget": Shortcut("settings.engine.model.budget", "MONEY"),
        "--batch": Shortcut("settings.engine.model.batch"),
        "--workers": Shortcut("settings.workers", "N"),
        "--dask": Shortcut("settings.dask_address", "ADDRESS", (("settings.runner", "dask"),)),
        "--exclude": Shortcut("settings.read.exclude", "GLOB"),
        "--max-delete": Shortcut("settings.publish.max_delete", "SHARE"),
    }

    sources: list[str] = operand("SOURCE", "Files, folders, globs or URLs.")
    sensitive: bool = switch("Mark these documents as sensitive.")
    labels: GivenLabels = OWN_LABELS

    @field_validator("sources")
    @classmethod
    def _without_secrets(cls, sources: list[str]) -> list[str]:
        """Keep the passwords of URLs in this process, out of all records."""
        from tasks.ingest.formats.url_secrets import hide_secrets

        return hide_secrets(sources)

    @property
    def retried(self) -> frozenset[str]:
        """The reading stage if a source is remote, as it may recover; a mistyped path does not."""
        return frozenset({"read"} if any("://" in source for source in self.sources) else ())

    def work(self, runner: Runner) -> dict[str, Any]:
        """Refresh and return the run."""
        from tasks.cluster import where_run_works
        from tasks.extract.batches import check_engine
        from tasks.refresh import refresh

        settings = self.chosen_settings
        where_run_works(settings)  # or a model would be asked for what no cluster may be given
        check_engine(self.place, settings.engine)
        run = refresh(
            self.place,
            self.sources,
            settings,
            sensitive=self.sensitive,
            labels=self.labels,
            report=runner.report,
            each=runner.each,
            run_stage=runner.run_stage,
        )
        return asdict(run)


COMMAND = RefreshKnowledge
