"""refresh_knowledge: sources are read, their new passages extracted, an edition published.

The work is `tasks.refresh`; here it gets Prefect's tasks, retries, schedule and artifact.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.utilities.annotations import quote

from flows import progress
from flows.orchestration import hush_at_exit
from flows.runners import TaskForEachBatch
from flows.summary import as_markdown
from schemas.settings import Settings, load_settings
from tasks.refresh import Report, refresh
from warehouse.home import Home

# Shares touch the outside, so reading them is tried again; a mistyped local path is not.
READ_RETRIES = 2
RETRY_SECONDS = [2.0, 10.0]
LOGGED_TIMES = 10  # progress lines of a stage in Prefect's log


@flow(name="refresh-knowledge", persist_result=False)
def refresh_knowledge(
    sources: list[str],
    home: str = "almanac-home",
    settings: Settings | None = None,
    max_delete: float | None = None,
    sensitive: bool = False,
    wait_seconds: float = 0.0,
) -> dict[str, Any]:
    """Bring a home up to date with its sources; return what was done.

    Without `settings` those of the home's settings.toml count. Raises AlmanacError when the work
    failed or publishing is held.
    """
    hush_at_exit()
    place = Home(Path(home))
    settings = settings or load_settings(place.path)
    run = refresh(
        place,
        sources,
        settings,
        max_delete=max_delete,
        sensitive=sensitive,
        wait_seconds=wait_seconds,
        report=progress.listener() or log_progress(),
        each=TaskForEachBatch(extract_passages, settings),
        stage=stages(remote=any("://" in source for source in sources)),
    )
    create_markdown_artifact(
        key="refresh-knowledge", markdown=as_markdown(run), description="What the refresh did"
    )
    return asdict(run)


@task(cache_policy=NO_CACHE, persist_result=False)
def run_stage(work: Any) -> Any:
    """Do one stage of the refresh; `work` is a function without parameters."""
    return work()


@task(
    name="extract passages",
    task_run_name="extract batch {number}",
    cache_policy=NO_CACHE,
    persist_result=False,
)
def extract_passages(number: int, work: Callable[[], Any], pool: Executor | None) -> Any:
    """Return the journal rows of one batch of passages."""
    return pool.submit(work).result() if pool else work()


def stages(*, remote: bool) -> Callable[[str, Callable[[], Any]], Any]:
    """Return what runs each stage as a task; only the one that reaches outside is tried again."""
    reading = run_stage.with_options(
        name="read", retries=READ_RETRIES if remote else 0, retry_delay_seconds=RETRY_SECONDS
    )

    def run(name: str, work: Callable[[], Any]) -> Any:
        step = reading if name == "read" else run_stage.with_options(name=name)
        return step(quote(work))

    return run


def log_progress() -> Report:
    """Return a report that writes a few lines a stage to the run's log."""
    logger = get_run_logger()
    told: dict[str, int] = {}

    def report(stage: str, done: int, total: int) -> None:
        tenth = LOGGED_TIMES * done // max(total, 1)
        if told.get(stage) != tenth:
            told[stage] = tenth
            logger.info("%s: %d of %d", stage, done, total)

    return report
