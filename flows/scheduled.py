"""What a Prefect server was told to run, whether it can, and what it missed.

Prefect begins no run for a time at which its server was down, and as many as there were times while
no worker ran. `catch_up` makes it one run either way: each takes in all that is new.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
)
from prefect.client.schemas.objects import DeploymentSchedule, FlowRun, StateType, WorkerStatus
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule
from prefect.client.schemas.sorting import FlowRunSort
from prefect.events import EventTrigger
from prefect.server.schemas.schedules import CronSchedule as Clock
from prefect.states import Cancelled

from flows.deployed import JOBS
from flows.flow_record import HELD, PUBLISHED
from flows.jobs import Job
from tasks.ingest.formats.url_secrets import without_secret_urls

MOST_RUNS = 200  # of a deployment that are looked at
GRACE = timedelta(minutes=2)  # that a server may take to begin a run
EDITIONS = {PUBLISHED: "published", HELD: "held"}
CATCH_UP = "almanac schedule --set catch_up=true"
_JOB_OF = {job.flow_name.replace("-", "_"): job for job in JOBS}


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A deployment of one of our flows.

    `late` are runs of its schedule that wait for a worker or for another run, the newest first;
    `missed` is a time at which no run was begun at all. `writes` says whether it changes a home,
    `alone` whether it has a limit of one run. `running` are its runs that have begun. `after` are
    the editions that it follows, published or held. `parameters` are those beside the home.
    """

    id: UUID
    name: str
    writes: bool
    home: str
    parameters: str
    when: str
    after: str
    next: str
    pool: str
    queue: str
    alone: bool
    last: str
    late: tuple[UUID, ...]
    running: tuple[FlowRun, ...]
    missed: datetime | None


def scheduled(client: SyncPrefectClient) -> Iterator[Scheduled]:
    """Yield the deployments of our flows that the server has, by name."""
    for one in sorted(client.read_deployments(), key=lambda one: one.name):
        *module, function = (one.entrypoint or "").split(".")
        if module[-2:] == ["flows", "deployed"] and function in _JOB_OF:
            yield _scheduled(client, one, _JOB_OF[function])


def _scheduled(client: SyncPrefectClient, one: DeploymentResponse, job: type[Job]) -> Scheduled:
    now = datetime.now(UTC)
    runs = client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[one.id])),
        flow_run_filter=FlowRunFilter(
            expected_start_time=FlowRunFilterExpectedStartTime(before_=now)
        ),
        sort=FlowRunSort.EXPECTED_START_TIME_DESC,
        limit=MOST_RUNS,
    )
    active = [schedule for schedule in one.schedules if schedule.active and not one.paused]
    clocks = [s.schedule.cron for s in active if isinstance(s.schedule, CronSchedule)]
    times = [time for s in active if (time := _first_time(s, now))]
    newest = runs[0].expected_start_time if runs else None
    after = {
        EDITIONS[event]
        for automation in client.read_resource_related_automations(f"prefect.deployment.{one.id}")
        if automation.enabled and isinstance(automation.trigger, EventTrigger)
        for event in automation.trigger.expect & EDITIONS.keys()
    }
    steps = [step for named in one.pull_steps or () for step in named.values()]
    folders = [one.job_variables.get("working_dir"), *(step.get("directory") for step in steps)]
    folder = next(filter(None, folders), "")
    limit = one.global_concurrency_limit
    return Scheduled(
        one.id,
        f"{job.flow_name}/{one.name}",
        job.writes,
        *home_and_parameters(one.parameters, folder),
        ", ".join(clocks),
        ", ".join(sorted(after)),
        f"{min(times):%Y-%m-%d %H:%M}" if times else "",
        one.work_pool_name or "",
        one.work_queue_name or "",
        limit is not None and limit.limit == 1,
        f"{runs[0].state_name} {newest:%Y-%m-%d %H:%M}" if newest else "",
        tuple(run.id for run in runs if run.state_name == "Late" and run.auto_scheduled),
        tuple(run for run in runs if run.state_type == StateType.RUNNING),
        next((time for s in active if (time := _missed(s, newest, now - GRACE))), None),
    )


def home_and_parameters(parameters: Mapping[str, Any], folder: str) -> tuple[str, str]:
    """Return the home that a flow's parameters mean in a folder, and the others as a text.

    URLs in it are without secrets.
    """
    home = str(parameters.get("home") or "almanac-home")
    others = (
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in parameters.items()
        if name != "home"
    )
    home = home if ":/" in home else str(Path(folder, home))
    return home, without_secret_urls(" ".join(others))


def _first_time(
    schedule: DeploymentSchedule, after: datetime, until: datetime | None = None
) -> datetime | None:
    """Return the first time of a schedule by the clock; None if there is none before `until`."""
    if not isinstance(schedule.schedule, CronSchedule):
        return None
    clock = Clock(**schedule.schedule.model_dump())
    return next(iter(asyncio.run(clock.get_dates(1, after, until))), None)


def _missed(
    schedule: DeploymentSchedule, newest: datetime | None, until: datetime
) -> datetime | None:
    """Return the first time of a schedule after its newest run, or its making, and before `until`.

    `newest` is when the newest run was to begin.
    """
    made = schedule.updated or schedule.created or until
    after = max(made, newest or made) + timedelta(seconds=1)
    return _first_time(schedule, after, until) if after < until else None


def catch_up(client: SyncPrefectClient) -> list[str]:
    """Begin one run of each deployment that missed its time; return the deployments' names.

    Of several runs that wait for a worker, the newest stays.
    """
    caught = []
    for one in scheduled(client):
        for late in one.late[1:]:
            client.set_flow_run_state(late, Cancelled(message="A later run does its work."))
        if one.missed and not one.late:
            client.create_flow_run_from_deployment(one.id)
            caught.append(one.name)
    return caught


def troubles(client: SyncPrefectClient, found: list[Scheduled]) -> Iterator[str]:
    """Yield why something that is scheduled would not run as it should, and what mends it."""
    now = datetime.now(UTC)
    for pool in sorted({one.pool for one in found if one.pool}):
        yield from _troubles_of_pool(client, pool, found)
    for home in sorted({one.home for one in found if one.writes}):
        writers = [one for one in found if one.writes and one.home == home]
        queues = sorted({f"{one.pool}/{one.queue}" for one in writers})
        if queues[1:]:
            yield (
                f"runs that write {home} wait in several queues ({', '.join(queues)}), so they may "
                f"meet; deploy {', '.join(one.name for one in writers)} with one queue"
            )
    for one in found:
        if not one.pool:
            yield f"{one.name} has no work pool; schedule it again, which makes the pool"
        if one.writes and not one.alone:
            yield f"{one.name} may run twice at once; deploy it again with a limit of one run"
        if one.missed and not one.late:
            yield f"{one.name} missed its run of {one.missed:%F %H:%M}; `{CATCH_UP}` begins it"
        for run in one.running if any(o.late for o in found if o.queue == one.queue) else ():
            yield (
                f"{one.name} runs since {run.start_time or now:%F %H:%M} while others wait; if it "
                f"was killed, `prefect flow-run delete {run.id}` frees its place"
            )
        if one.late[1:]:
            yield f"{len(one.late)} runs of {one.name} wait; `{CATCH_UP}` leaves one"


def _troubles_of_pool(
    client: SyncPrefectClient, pool: str, found: list[Scheduled]
) -> Iterator[str]:
    """Yield what a work pool lacks: a worker, or limits of its queues."""
    if client.read_work_pool(pool).is_paused:
        yield f"the work pool {pool} is paused; `prefect work-pool resume {pool}`"
    workers = client.read_workers_for_work_pool(pool)
    if not any(worker.status == WorkerStatus.ONLINE for worker in workers):
        yield f"no worker serves the pool {pool}; `prefect worker start --pool {pool}`"
    limits = {queue.name: queue.concurrency_limit for queue in client.read_work_queues(pool)}
    writing = {one.queue for one in found if one.pool == pool and one.writes}
    for queue in sorted(name for name in writing if limits.get(name) != 1):
        yield (
            f"runs of the queue {queue} may write one home at once; "
            f"`prefect work-queue set-concurrency-limit {queue} 1 --pool {pool}`"
        )
