"""Which sources went into which edition, told to other tools as OpenLineage events.

Its own environment variables configure where events go, such as OPENLINEAGE_URL; without one, no
library of it is imported. https://openlineage.io/docs/spec/object-model
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

if TYPE_CHECKING:
    from openlineage.client.event_v2 import InputDataset, OutputDataset

PRODUCER = "urn:almanac-kb"
STATES = {"done": "COMPLETE", "unchanged": "COMPLETE", "held": "ABORT"}  # others: FAIL


class Lineage:
    """The events of one run: that it started, and what came of it.

    Problems become notes, since no result depends on what others are told.
    """

    def __init__(self, flow: str, home: Path, notes: list[str]) -> None:
        """Say nothing yet; `notes` takes what goes wrong."""
        self._flow, self._home, self._notes = flow, home, notes
        self._run_id = str(uuid4())
        self._client: Any = None

    def start(self) -> None:
        """Tell that the run has started, if anybody is to be told."""
        if not any(name.startswith("OPENLINEAGE") for name in environ):
            return
        try:
            from openlineage.client import OpenLineageClient

            self._client = OpenLineageClient()
            self._emit("START")
        except Exception as problem:
            self._client = None
            self._notes.append(f"lineage is not told: {problem}")

    def end(
        self,
        outcome: str,
        edition: str | None,
        counts: Mapping[str, int],
        sources: Iterable[str],
        error: str | None,
    ) -> None:
        """Tell the outcome: of an edition its rows by table and its sources, else the error."""
        if self._client is None:
            return
        try:
            inputs = [_source(source) for source in sources]
            outputs = [self._edition(edition, counts)] if edition else []
            self._emit(STATES.get(outcome, "FAIL"), inputs, outputs, error)
            self._client.close()
        except Exception as problem:
            self._notes.append(f"lineage is not told: {problem}")

    def _emit(
        self,
        state: str,
        inputs: "Iterable[InputDataset]" = (),
        outputs: "Iterable[OutputDataset]" = (),
        error: str | None = None,
    ) -> None:
        from openlineage.client import event_v2
        from openlineage.client.facet_v2 import error_message_run

        failure = error_message_run.ErrorMessageRunFacet(error or "", "Python")
        namespace = environ.get("OPENLINEAGE_NAMESPACE", "almanac")
        self._client.emit(
            event_v2.RunEvent(
                eventType=event_v2.RunState[state],
                eventTime=datetime.now(UTC).isoformat(),
                run=event_v2.Run(self._run_id, {"errorMessage": failure} if error else {}),
                job=event_v2.Job(namespace, f"{self._home.resolve()}:{self._flow}"),
                producer=PRODUCER,
                inputs=list(inputs),
                outputs=list(outputs),
            )
        )

    def _edition(self, edition: str, counts: Mapping[str, int]) -> "OutputDataset":
        from openlineage.client.event_v2 import OutputDataset
        from openlineage.client.facet_v2 import dataset_version_dataset
        from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

        rows = statistics.OutputStatisticsOutputDatasetFacet(rowCount=sum(counts.values()))
        version = dataset_version_dataset.DatasetVersionDatasetFacet(edition)
        return OutputDataset(
            "file",
            str(self._home.resolve() / "editions"),
            facets={"version": version},
            outputFacets={"outputStatistics": rows},
        )


def _source(source: str) -> "InputDataset":
    """Return a source by the names that the specification has for files and URLs."""
    from openlineage.client.event_v2 import InputDataset

    parts = urlsplit(source)
    if parts.netloc:
        return InputDataset(f"{parts.scheme}://{parts.netloc}", parts.path.lstrip("/") or "/")
    return InputDataset("file", source)
