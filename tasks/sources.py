"""List the sources that a home has read, and remove a source with all its documents."""

from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from schemas.observations import ContainerRead, Read, Scan
from schemas.settings import Settings, changed_settings
from tasks.ingest.formats.inputs import Listing
from tasks.ingest.formats.names import safe_uri
from tasks.ingest.formats.sources import NOTES
from tasks.ingest.observe import Observations
from tasks.progress import Report, silent
from tasks.publish.publish import PUBLISHING
from tasks.run import RunReport, Work, publishing_run, run_stages
from warehouse.home import Home


def list_sources(home: Home) -> list[dict[str, Any]]:
    """Return one row per source that holds anything: files, documents and last scan.

    Inputs with one text are one document, as in the edition; a text of two sources is in both.
    """
    scans: dict[str, dict[str, Any]] = {}
    for scan in home.journal.table(Scan).to_pylist():
        scans[scan["source"]] = scan
    files, inputs = _state(home)
    rows = []
    for source in sorted(scans):
        there = files.get(source, set())
        # A refusal of a file that is gone no longer matters.
        refused = sum(
            row["outcome"] == "refused" and row["container"] in there
            for row in inputs.get(source, {}).values()
        )
        ingested = [r for r in inputs.get(source, {}).values() if r["outcome"] == "ingested"]
        if not there and not ingested:
            continue
        rows.append(
            {
                "source": source,
                "files": len(there),
                "documents": len({row["content_id"] for row in ingested}),
                "refused": refused,
                "sensitivity": scans[source]["sensitivity"] or "normal",
                "complete": scans[source]["complete"],
                "scanned_at": scans[source]["scanned_at"],
            }
        )
    return rows


def remove_source(
    home: Home, source: str, settings: Settings, report: Report = silent
) -> RunReport:
    """Remove every document of a source and publish an edition without them.

    The journal keeps what was read, so earlier editions stay as they are. Raises UsageError if
    the home has no such source.
    """
    known = [row["source"] for row in list_sources(home)]
    given = source
    if source not in known:  # it may be the path that was given to the refresh
        source = safe_uri(str(Path(source).expanduser().resolve()))
    if source not in known:
        listed = ", ".join(known) or "none"
        raise UsageError(f"There is no source {given!r}. The sources: {listed}.")
    with publishing_run(home, "remove_source", settings) as run:
        files, inputs = _state(home)
        observations = Observations(home, run.run_id, Listing(source), "normal")
        removed = 0
        for row in inputs.get(source, {}).values():
            removed += row["outcome"] == "ingested"
            if row["outcome"] == "ingested" or row["version"]:  # which a feed's removal has, too
                observations.removed(row["uri"], row["container"], "source_removed")
        for container in sorted(files.get(source, ())):
            observations.container(container, "gone")
        observations.scanned()
        run.counts["inputs"] = {"removed": removed}
        if source == NOTES:
            run.notes.append(
                f"the notes are still in {home.path / NOTES}; what is not deleted there is read "
                "again with the next note"
            )
        all_may_go = changed_settings(settings, {"publish.max_delete": 1.0})
        run_stages(Work(home, all_may_go, run, report), PUBLISHING)
    return run


def _state(home: Home) -> tuple[dict[str, set[str]], dict[str, dict[str, dict[str, Any]]]]:
    """Return, by source, the files that exist and the last row of each input."""
    files: dict[str, set[str]] = {}
    for row in home.journal.table(ContainerRead).to_pylist():
        present = files.setdefault(row["source"], set())
        (present.discard if row["outcome"] == "gone" else present.add)(row["container"])
    inputs: dict[str, dict[str, dict[str, Any]]] = {}
    for row in home.journal.table(Read).to_pylist():
        inputs.setdefault(row["source"], {})[row["uri"]] = row
    return files, inputs
