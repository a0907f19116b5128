"""`almanac schedule`: deploys a command on a Prefect server, without a checkout.

`prefect deploy` does the same for those who keep their deployments in a file (prefect.yaml).
"""

import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flows.jobs import Command, Job, Runner, finer, operand, option
from flows.orchestration import configure, names_server
from flows.terminal import Shown
from schemas.errors import AlmanacError, UsageError
from schemas.extras import check_extra

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

POOL = "almanac"


class Schedule(Command):
    """Have a Prefect server run a command by the clock, or after each edition.

    Nothing is deployed if the command could not be run as it stands; the schedule of an earlier
    deployment of this name is replaced.
    """

    command: str = operand("COMMAND", 'The command, as you would type it: "refresh texts/".')
    cron: str | None = option(
        "CRON", 'When, such as "17 3 * * *", every night at 3:17 (when told).', None
    )
    after: Literal["published", "held"] | None = option(
        None, "Run it after each edition of the home that is published, or held (never).", None
    )
    name: str | None = option("NAME", "The deployment's name (that of the flow).", None)
    timezone: str = finer("The time zone that the schedule means.", "UTC")
    pool: str = finer("The work pool whose worker runs it; made if it is missing.", POOL)

    def work(self, runner: Runner) -> dict[str, Any]:
        """Deploy the command; return the deployment's full name, when it runs, and the pool."""
        check_extra("prefect")
        if not names_server():
            raise UsageError(
                "No Prefect server is named. Start one with `prefect server start` and set "
                "PREFECT_API_URL=http://127.0.0.1:4200/api."
            )
        configure()
        job = self.job()
        deployment = self.deployment(job)
        _apply(deployment, self.pool)
        return {
            "deployment": deployment.full_name,
            "home": str(job.home),
            "cron": self.cron,
            "after": self.after,
            "pool": self.pool,
        }

    def job(self) -> Job:
        """Return the command as a job; raises UsageError if it is none that Prefect can run."""
        from flows.__main__ import command_typed

        job = command_typed(["--home", str(self.home), *shlex.split(self.command)])
        if not isinstance(job, Job):
            from flows.deployed import JOBS

            names = ", ".join(sorted(one.flow_name for one in JOBS))
            raise UsageError(f"Prefect cannot run {self.command!r}. It can run: {names}.")
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
            job_variables={"working_dir": str(Path.cwd())},  # paths mean what they mean here
            entrypoint_type=EntrypointType.MODULE_PATH,
        )

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield what was deployed, and the command that starts a worker."""
        when = [f"by the clock ({result['cron']})"] if result["cron"] else []
        when += [f"after an edition is {result['after']}"] if result["after"] else []
        yield f"{result['deployment']} runs {' and '.join(when) or 'when it is told to'}."
        yield f"A worker runs it: prefect worker start --pool {shlex.quote(result['pool'])}"
        yield f"To run it now: prefect deployment run {shlex.quote(result['deployment'])}"


def _apply(deployment: "RunnerDeployment", pool: str) -> None:
    """Send a deployment to the server, and the pool if there is none of this name."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists

    try:
        with get_client(sync_client=True) as client, suppress(ObjectAlreadyExists):
            client.create_work_pool(WorkPoolCreate(name=pool, type="process"))
        deployment.apply(work_pool_name=pool)
    except Exception as problem:
        raise AlmanacError(
            f"The Prefect server did not take the deployment: {problem}"
        ) from problem


COMMAND = Schedule
