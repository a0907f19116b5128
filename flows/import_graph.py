"""import_graph: a graph that others made is read into the journal and an edition published.

The work is `tasks.import_graph`; here it gets Prefect's tasks and artifact.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from flows import progress
from flows.orchestration import hush_at_exit
from flows.refresh_knowledge import log_progress, stages
from flows.summary import as_markdown
from schemas.settings import Settings, load_settings
from tasks import import_graph as work
from warehouse.home import Home


@flow(name="import-graph", persist_result=False)
def import_graph(
    source: str,
    name: str,
    home: str = "almanac-home",
    format: str = "auto",
    mapping: str | None = None,
    languages: list[str] | None = None,
    settings: Settings | None = None,
    wait_seconds: float = 0.0,
) -> dict[str, Any]:
    """Import a file as the graph of this name; return what was done.

    Raises AlmanacError when the work failed or publishing is held.
    """
    hush_at_exit()
    place = Home(Path(home))
    run = work.import_graph(
        place,
        Path(source),
        settings or load_settings(place.path),
        name=name,
        format=format,
        mapping=Path(mapping) if mapping else None,
        languages=languages or [],
        wait_seconds=wait_seconds,
        report=progress.listener() or log_progress(),
        stage=stages(remote=False),
    )
    create_markdown_artifact(
        key="import-graph", markdown=as_markdown(run), description="What the import did"
    )
    return asdict(run)
