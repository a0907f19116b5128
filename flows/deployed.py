"""The jobs as Prefect flows: `prefect.yaml` deploys them, commands run them if there is a server.

A flow's parameters are the fields of its job. Each stage is a task, and so is each group of
batches of passages. `flows/flow_record.py` says what a run leaves on the server.
"""

import atexit
import inspect
import logging
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice
from typing import Any

from prefect import Flow, flow, get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.logging import get_logger
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from prefect.utilities.annotations import quote

from flows.commands.answer import AnswerQuestions
from flows.commands.audit import AuditFacts
from flows.commands.backup import Backup
from flows.commands.calibrate_gate import CalibrateGate
from flows.commands.compact import Compact
from flows.commands.evaluate import EvaluateAnswers
from flows.commands.gates import EvaluateGates
from flows.commands.import_graph import ImportGraph
from flows.commands.learn import LearnFromQuestions
from flows.commands.refresh import RefreshKnowledge
from flows.commands.report import Report as WriteReport
from flows.commands.train_experts import TrainExperts
from flows.commands.train_paths import TrainPaths
from flows.commands.verbalize import Verbalize
from flows.flow_record import FlowRecord, failure
from flows.jobs import Job, Runner
from schemas.errors import AlmanacError
from schemas.settings import Settings
from tasks.extract.batches import FEW_BATCHES
from tasks.progress import Report, RunStage, Warn
from tasks.worker_pool import WorkerPool

JOBS: tuple[type[Job], ...] = (
    RefreshKnowledge,
    ImportGraph,
    Verbalize,
    TrainExperts,
    TrainPaths,
    CalibrateGate,
    LearnFromQuestions,
    AnswerQuestions,
    AuditFacts,
    EvaluateAnswers,
    EvaluateGates,
    WriteReport,
    Compact,
    Backup,
)
RETRIES = 2
RETRY_SECONDS = [2.0, 10.0]
LOGGED_TIMES = 10  # progress lines per stage in Prefect's log


# -- flows ----------------------------------------------------------------------------------------


def run_as_flow(job: Job, runner: Runner) -> Any:
    """Run a command's job as a flow run; even if Prefect fails, the job's own outcome counts."""
    record = FlowRecord(job, runner.warn)
    attempt = FlowAttempt(partial(job.work, _in_prefect(job, runner, record)))
    token = _commanded.set((attempt, record))
    try:
        parameters = {name: getattr(job, name) for name in type(job).model_fields}
        return attempt.outcome(
            lambda: FLOWS[type(job)](**parameters), partial(job.work, runner), runner.warn
        )
    finally:
        _commanded.reset(token)


def _flow(job_class: type[Job]) -> Flow[..., Any]:
    """Return a job's flow, whose parameters, in the Prefect UI too, are the job's fields."""

    def run(**parameters: Any) -> Any:
        return _run(job_class(**parameters))

    parameters = inspect.signature(job_class).parameters.values()
    own_first = sorted(parameters, key=lambda parameter: parameter.name in Job.model_fields)
    described = [f"    {n}: {field.description}" for n, field in job_class.model_fields.items()]
    run.__name__ = run.__qualname__ = job_class.flow_name.replace("-", "_")
    run.__signature__ = inspect.Signature(own_first)  # type: ignore[attr-defined]
    run.__doc__ = "\n".join([job_class.__doc__ or "", "", "Args:", *described])
    about = job_class.__doc__
    named = f"{job_class.flow_name} of {{home}}"
    return flow(
        name=job_class.flow_name, description=about, flow_run_name=named, persist_result=False
    )(run)


def _run(job: Job) -> Any:
    """Run the job within its flow and record what becomes of it."""
    hush_at_exit()
    mistakes_in_words()
    commanded = _commanded.get()
    if commanded is None:
        logger = get_run_logger()
        runner = Runner(_log_progress(logger.info), logger.warning)
        record = FlowRecord(job, runner.warn)
        attempt = FlowAttempt(partial(job.work, _in_prefect(job, runner, record)))
    else:
        attempt, record = commanded
    try:
        result = attempt()
    except Exception as error:
        record.failed(error)
        raise
    record.done(result)
    return result


_commanded: ContextVar[tuple["FlowAttempt", FlowRecord] | None] = ContextVar(
    "commanded", default=None
)

FLOWS = {job: _flow(job) for job in JOBS}


def __getattr__(name: str) -> Flow[..., Any]:
    """Return the flow of a name, such as `refresh_knowledge`, as the entrypoints have it."""
    for built in FLOWS.values():
        if built.name.replace("-", "_") == name:
            return built
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def hush_at_exit() -> None:
    """Silence standard error while the interpreter shuts down.

    Prefect's last thread still refers to this program's functions then, and DuckDB's binding
    prints a hundred lines of complaints about that.
    """

    def hush() -> None:
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    atexit.register(hush)  # registered early, so that it runs late


@cache
def mistakes_in_words() -> None:
    """Log an AlmanacError once, as its sentence alone; a traceback says nothing more to people.

    Prefect logs it for the task, for the flow, and for both again as the state in which they end.
    """
    logged: list[AlmanacError] = []

    def in_words(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        last = logged[-1] if logged else None
        if last and (error is last or (not error and str(last) in record.getMessage())):
            return False
        if isinstance(error, AlmanacError):
            logged[:] = [error]
            record.msg, record.args, record.exc_info = str(error), (), None
        return True

    for name in ("flow_runs", "task_runs", "engine"):
        get_logger(name).addFilter(in_words)


def _log_progress(log: Callable[..., None]) -> Report:
    """Return a report that writes a few lines per stage to the run's log."""
    last: dict[str, int] = {}

    def report(stage: str, done: int, total: int) -> None:
        tenth = LOGGED_TIMES * done // max(total, 1)
        if last.get(stage) != tenth:
            last[stage] = tenth
            log(*(("%s: %d of %d", stage, done, total) if total else ("%s", stage)))

    return report


# -- work whose outcome does not depend on Prefect ------------------------------------------------


class FlowAttempt:
    """Work that Prefect runs, and its result, which is kept even if Prefect fails."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._result: Any = None
        self._error: BaseException | None = None
        self._ended = False

    def __call__(self) -> Any:
        """Do the work; if Prefect retries it, the last attempt counts."""
        self._error, self._ended = None, False
        try:
            self._result = self._work()
        except BaseException as error:
            self._error = error
            raise
        self._ended = True
        return self._result

    def outcome(self, run: Callable[[], Any], otherwise: Callable[[], Any], warn: Warn) -> Any:
        """Let Prefect run the work and return its result or raise its error.

        If Prefect itself fails, `warn` says so, and `otherwise` does the work if it was not done.
        """
        try:
            run()
        except Exception as problem:
            if self._error is not None:
                raise self._error from None
            warn(failure(problem))
            return self._result if self._ended else otherwise()
        return self._result


# -- stages and batches as tasks ------------------------------------------------------------------


@task(cache_policy=NO_CACHE, persist_result=False)
def do(work: Any) -> Any:
    """Call a function without parameters."""
    return work()


def _in_prefect(job: Job, runner: Runner, record: FlowRecord) -> Runner:
    """Return the runner with stages and batches as Prefect tasks, and its progress recorded."""
    settings = job.chosen_settings
    on_dask = settings.runner == "dask"  # whose futures are within the task of a stage
    return replace(
        runner,
        report=record.following(runner.report),
        run_stage=stages_as_tasks(job.retried, runner.warn),
        each=None if on_dask else BatchesAsTasks(settings, job.batch_name, job.batches_per_task),
    )


def stages_as_tasks(retried: frozenset[str], warn: Warn) -> RunStage:
    """Return a function that runs each stage as a task and retries those in `retried`."""

    def run_stage(name: str, work: Callable[[], None]) -> None:
        step = do.with_options(
            name=name,
            retries=RETRIES if name in retried else 0,
            retry_delay_seconds=RETRY_SECONDS,
        )
        attempt = FlowAttempt(work)
        attempt.outcome(lambda: step(quote(attempt)), work, warn)

    return run_stage


class BatchesAsTasks:
    """Runs several batches per task, in local processes; keeps their order."""

    def __init__(
        self,
        settings: Settings,
        name: str = Job.batch_name,
        batches_per_task: int = Job.batches_per_task,
    ) -> None:
        self._settings, self._name, self._size = settings, name, batches_per_task

    def __call__(
        self, work: Callable[..., Any], batches: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """Yield the results; at most one task per worker is in flight, to bound memory."""
        batches, workers = iter(batches), self._settings.workers
        few = min(FEW_BATCHES, self._size)  # so few are done here
        first = list(islice(batches, few + 1))
        alone = workers == 1 or len(first) <= few
        with nullcontext() if alone else WorkerPool(workers) as pool:
            run = partial(_here, work) if pool is None else partial(_in_pool, pool, work)
            runner: TaskRunner[Any] = ThreadPoolTaskRunner(max_workers=1 if alone else workers)
            yield from self._run(runner, run, chain(first, batches))

    def _run(
        self,
        runner: TaskRunner[Any],
        run: Callable[[list[tuple[Any, ...]]], list[Any]],
        batches: Iterator[tuple[Any, ...]],
    ) -> Iterator[Any]:
        step = do.with_options(name=self._name)
        futures: deque[PrefectFuture[list[Any]]] = deque()
        with runner:
            while group := list(islice(batches, self._size)):
                # A partial, because Prefect would search bare texts for futures.
                futures.append(runner.submit(step, {"work": partial(run, group)}))
                if len(futures) >= self._settings.workers:
                    yield from futures.popleft().result()
            while futures:
                yield from futures.popleft().result()


def _here(work: Callable[..., Any], batches: list[tuple[Any, ...]]) -> list[Any]:
    return [work(*batch) for batch in batches]


def _in_pool(
    pool: WorkerPool, work: Callable[..., Any], batches: list[tuple[Any, ...]]
) -> list[Any]:
    flying = [(pool.submit(work, batch), batch) for batch in batches]
    return [result for future, batch in flying for result in pool.results(future, work, batch)]
