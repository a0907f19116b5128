"""`almanac schedule`: deploys a command on a Prefect server, without a checkout.

`prefect deploy` does the same for those who keep their deployments in a file (prefect.yaml).
"""

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from flows.jobs import Command, Job, Runner, finer, operand, option
from flows.orchestration import configure, names_server
from flows.terminal import Remark, Shown, Table
from schemas.errors import AlmanacError, UsageError
from schemas.extras import check_extra

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.deployments.runner import RunnerDeployment

POOL = "almanac"
FAILURES = ("Failed", "Crashed", "TimedOut")  # a held edition fails its run
JSON = "application/json"
LISTED = ("next run", "last run", "pool", "home", "parameters")
HEARTBEAT = 60  # seconds between those of a run
SILENCE = timedelta(minutes=5)  # without one, after which a run counts as dead
# A server may hear of one event several times; within this time of it, they are one.
ONCE = {"for_each": {"prefect.resource.id"}, "within": timedelta(minutes=1)}
# Prefect puts its own words and the name of the error before what the error says.
WHY = (
    '~ ": " ~ flow_run.state.name ~ ". " ~ ((flow_run.state.message or "")'
    '.partition(" encountered an exception: ")[2].partition(": ")[2]'
    ' or flow_run.state.message or "")'
)


class Schedule(Command):
    """Have a Prefect server run a command by the clock, or after each edition.

    Nothing is deployed if the command could not be run as it stands; the schedule of an earlier
    deployment of this name is replaced. Without a command, what is scheduled is listed.
    """

    command: str | None = operand(
        "COMMAND", 'The command, as you would type it: "refresh texts/".', None
    )
    cron: str | None = option(
        "CRON", 'When, such as "17 3 * * *", every night at 3:17 (when told).', None
    )
    after: Literal["published", "held"] | None = option(
        None, "Run it after each edition of the home that is published, or held (never).", None
    )
    name: str | None = option("NAME", "The deployment's name (that of the flow).", None)
    timezone: str = finer("The time zone that the schedule means.", "UTC")
    pool: str = finer("The work pool whose worker runs it; made if it is missing.", POOL)
    notify: str | None = finer(
        'An address that is sent {"text": …} when a run fails or no worker is left (none).',
        None,
        pattern="^https?://",
    )
    catch_up: bool = finer("Begin one run of each deployment that missed its time.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Deploy the command, or list what is scheduled; return it with its pool and schedule."""
        check_extra("prefect")
        if not names_server():
            raise UsageError(
                "No Prefect server is named. Start one with `prefect server start` and set "
                "PREFECT_API_URL=http://127.0.0.1:4200/api."
            )
        configure()
        if self.command is None:
            return self._listed()
        job = self.job()
        deployment = self.deployment(job)
        from flows.scheduled import home_and_parameters, scheduled

        with _asking_server() as client:
            earlier = {one.name: (one.home, one.parameters) for one in scheduled(client)}
            _make_place(client, self.pool, deployment.work_queue_name)
            made = deployment.apply(work_pool_name=self.pool)
            _end_silent_runs(client, made, deployment)
            if self.notify:
                _notify(client, made, deployment, self.notify)
        new = home_and_parameters(deployment.parameters, str(Path.cwd()))
        replaced = earlier.get(deployment.full_name)
        return {
            "deployment": deployment.full_name,
            "replaced": " ".join(replaced) if replaced not in (None, new) else None,
            "home": str(job.home),
            "cron": self.cron,
            "after": self.after,
            "pool": self.pool,
        }

    def _listed(self) -> dict[str, Any]:
        """Return what is scheduled, after runs that were missed have begun if they are to."""
        from flows.scheduled import catch_up, scheduled

        with _asking_server() as client:
            begun = catch_up(client) if self.catch_up else []
            rows = [
                {
                    "deployment": one.name,
                    "cron": one.when,
                    "after": one.after,
                    "next run": one.next,
                    "last run": one.last,
                    "pool": one.pool,
                    "home": one.home,
                    "parameters": one.parameters,
                }
                for one in scheduled(client)
            ]
        return {"scheduled": rows, "begun": begun}

    def job(self) -> Job:
        """Return the command as a job; raises UsageError if it is none that Prefect can run."""
        from flows.__main__ import command_typed

        typed = self.command or ""
        job = command_typed(["--home", str(self.home), *shlex.split(typed)])
        if not isinstance(job, Job):
            from flows.deployed import JOBS

            names = ", ".join(sorted(one.flow_name for one in JOBS))
            raise UsageError(f"Prefect cannot run {typed!r}. It can run: {names}.")
        return job

    def deployment(self, job: Job) -> "RunnerDeployment":
        """Return what the server is told; raises UsageError for a schedule that cannot be."""
        from prefect.client.schemas.objects import (
            ConcurrencyLimitConfig,
            ConcurrencyLimitStrategy,
        )
        from prefect.client.schemas.schedules import CronSchedule
        from prefect.deployments.runner import EntrypointType, RunnerDeployment
        from prefect.events import DeploymentEventTrigger

        from flows.deployed import FLOWS
        from flows.flow_record import HELD, PUBLISHED, home_resource

        event = {"published": PUBLISHED, "held": HELD}.get(self.after or "")
        about = home_resource(job.place)["prefect.resource.id"]
        match = {"prefect.resource.id": about}
        triggers = [DeploymentEventTrigger(expect={event}, match=match)] if event else []
        # A second run would only wait for the home; it waits in Prefect instead.
        one_by_one = ConcurrencyLimitConfig(
            limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE
        )
        try:
            schedule = CronSchedule(cron=self.cron, timezone=self.timezone) if self.cron else None
        except ValueError as error:
            raise UsageError(
                f"The schedule {self.cron!r} in {self.timezone} cannot be: it has five fields "
                "(minute, hour, day, month, day of the week), and a time zone is one like "
                "Europe/Oslo."
            ) from error
        return RunnerDeployment.from_flow(
            FLOWS[type(job)],
            self.name or job.flow_name,
            schedule=schedule,
            parameters=job.model_dump(mode="json", exclude_unset=True),
            description=type(job).__doc__,
            concurrency_limit=one_by_one,
            triggers=triggers,
            work_queue_name=queue_of(job),
            job_variables={
                "working_dir": str(Path.cwd()),  # paths mean what they mean here
                "env": {"PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(HEARTBEAT)},
            },
            entrypoint_type=EntrypointType.MODULE_PATH,
        )

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield what was deployed, and the command that starts a worker; or what is scheduled."""
        if "scheduled" in result:
            for name in result["begun"]:
                yield f"{name} had missed its time and begins now."
            rows = [
                [
                    row["deployment"],
                    _when(row["cron"], row["after"]),
                    *(row[name] for name in LISTED),
                ]
                for row in result["scheduled"]
            ]
            if rows:
                yield Table(["deployment", "runs", *LISTED], rows)
            else:
                yield Remark('Nothing is scheduled; `almanac schedule "refresh FOLDER"` does it.')
            return
        yield f"{result['deployment']} runs {_when(result['cron'], result['after'])}."
        if result["replaced"]:
            yield f"It replaces one of this name for {result['replaced']}; --name keeps both."
        yield f"A worker runs it: prefect worker start --pool {shlex.quote(result['pool'])}"
        yield f"To run it now: prefect deployment run {shlex.quote(result['deployment'])}"


def _when(cron: str | None, after: str | None) -> str:
    """Return in words what begins a run."""
    when = [f"by the clock ({cron})"] if cron else []
    when += [f"after an edition is {after}"] if after else []
    return " and ".join(when) or "when it is told to"


def queue_of(job: Job) -> str | None:
    """Return the work queue for runs that write a job's home, which is its folder's name.

    It has a limit of one, so that a refresh, a training and a calibration of one home never meet;
    jobs that only read a home may run beside them and have no queue of their own.
    """
    if not job.writes:
        return None
    return _slug(str(job.place.path.resolve()))


@contextmanager
def _asking_server() -> Iterator["SyncPrefectClient"]:
    """Provide a client of the server; whatever it refuses becomes an AlmanacError."""
    from httpx import TransportError
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL

    try:
        with get_client(sync_client=True) as client:
            yield client
    except TransportError as problem:
        raise AlmanacError(
            f"Nothing answers at {PREFECT_API_URL.value()} ({problem}). `prefect server start` "
            "starts a server; PREFECT_API_URL names another."
        ) from problem
    except Exception as problem:
        raise AlmanacError(f"The Prefect server does not do it: {problem}") from problem


def _make_place(client: "SyncPrefectClient", pool: str, queue: str | None) -> None:
    """Make the work pool and the queue with its limit of one where they are missing."""
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists

    with suppress(ObjectAlreadyExists):
        client.create_work_pool(WorkPoolCreate(name=pool, type="process"))
    if queue:
        with suppress(ObjectAlreadyExists):
            client.create_work_queue(queue, work_pool_name=pool)
        client.update_work_queue(
            client.read_work_queue_by_name(queue, pool).id, concurrency_limit=1
        )


def _end_silent_runs(
    client: "SyncPrefectClient", made: UUID, deployment: "RunnerDeployment"
) -> None:
    """Have the server mark a run as crashed once it is silent.

    One that was killed together with its worker would hold its place in the queue for ever.
    """
    from prefect.client.schemas.objects import StateType
    from prefect.events import AutomationCore, EventTrigger, Posture, ResourceSpecification
    from prefect.events.actions import ChangeFlowRunState

    of_deployment, heartbeat = f"prefect.deployment.{made}", "prefect.flow-run.heartbeat"
    ends = {f"prefect.flow-run.{state}" for state in (*FAILURES, "Completed", "Cancelled")}
    silent = EventTrigger(
        after={heartbeat},
        expect={heartbeat, *ends},
        match=ResourceSpecification({"prefect.resource.id": "prefect.flow-run.*"}),
        match_related=ResourceSpecification({"prefect.resource.id": of_deployment}),
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive,
        threshold=1,
        within=SILENCE,
    )
    crash = ChangeFlowRunState(state=StateType.CRASHED, message="The run gave no sign of life.")
    name = f"{deployment.full_name} is silent"
    client.create_automation(
        AutomationCore(name=name, trigger=silent, actions=[crash], owner_resource=of_deployment)
    )


def _notify(
    client: "SyncPrefectClient", made: UUID, deployment: "RunnerDeployment", address: str
) -> None:
    """Have the server tell an address when a run fails, and when the pool's last worker is gone.

    The automations belong to the deployment and to the pool, so deploying again replaces them.
    """
    from prefect.blocks.webhook import Webhook
    from prefect.events import AutomationCore, EventTrigger, ResourceSpecification
    from prefect.events.actions import CallWebhook

    block = Webhook.model_validate({"url": address, "headers": {"Content-Type": JSON}})
    block.save(_slug(f"almanac {deployment.full_name}".lower()), overwrite=True)
    pool = client.read_work_pool(deployment.work_pool_name or POOL)
    of_deployment, of_pool = f"prefect.deployment.{made}", f"prefect.work-pool.{pool.id}"
    client.delete_resource_owned_automations(of_pool)
    failed = EventTrigger(
        expect={f"prefect.flow-run.{state}" for state in FAILURES},
        match_related=ResourceSpecification({"prefect.resource.id": of_deployment}),
        **ONCE,
    )
    no_worker = EventTrigger(
        expect={"prefect.work-pool.not-ready"},
        match=ResourceSpecification({"prefect.resource.id": of_pool}),
        **ONCE,
    )
    for name, owner, trigger, more in (
        (f"{deployment.full_name} failed", of_deployment, failed, WHY),
        (f"No worker serves the pool {pool.name}", of_pool, no_worker, ""),
    ):
        words = json.dumps(deployment.full_name if more else name)
        text = f'{{"text": {{{{ ({words} {more}) | tojson }}}}}}'
        action = CallWebhook(block_document_id=block._block_document_id, payload=text)
        client.create_automation(
            AutomationCore(name=name, trigger=trigger, actions=[action], owner_resource=owner)
        )


def _slug(words: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-") or "home"


COMMAND = Schedule
