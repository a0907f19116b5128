"""The Batch API as a transport: the same tables as online, nothing paid twice, whatever is lost."""

import inspect
import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import schemas
from schemas.operations import BatchJob, ModelCall
from schemas.row import Row
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks.models import batches
from tasks.models.call import CallError, Outcome
from tasks.refresh import refresh
from tasks.run import RunReport
from tests.current_edition import current
from tests.mock_endpoint import SERVER, Running, running
from warehouse.home import Home
from warehouse.live import latest

KEY = "sk-test-0123456789"
TIMES = {"read_at", "extracted_at", "since", "edition", "parent"}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(batches, "QUIET_SECONDS", 0.1)


@pytest.fixture
def corpus(tiny_corpus: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_corpus, tmp_path / "corpus"))


def settings(endpoint: Running, *, batch: bool = True) -> Settings:
    model = ModelSettings(
        name="gpt-4.1-mini", base_url=endpoint.base_url, batch=batch, batch_poll_seconds=0.1
    )
    return Settings(engine=EngineSettings(engine="openai", encoder="none", model=model), workers=1)


@contextmanager
def endpoint(
    tmp_path: Path, faults: dict[str, Any] | None = None, **more: Any
) -> Iterator[Running]:
    fault_rules = json.dumps(faults) if faults else None
    options = {"batch_seconds": 0.2, "batch_faults": fault_rules, **more}
    tmp_path.mkdir(exist_ok=True)
    with running(tmp_path / "ledger.jsonl", **options) as up:
        yield up


def run(home: Path, corpus: Path, up: Running, **more: Any) -> RunReport:
    return refresh(Home(home), [str(corpus)], settings(up, **more))


def rows(home: Path) -> dict[str, list[str]]:
    edition = current(home)
    kept: tuple[type[Row], ...] = (schemas.Triple, schemas.Description, schemas.Aspect)
    return {
        row.table: sorted(
            str({k: v for k, v in one.items() if k not in TIMES})
            for one in edition.table(row).to_pylist()
        )
        for row in kept
    }


def calls(home: Path) -> list[dict[str, Any]]:
    return latest(Home(home).live, ModelCall).to_pylist()


def jobs(home: Path) -> list[dict[str, Any]]:
    return latest(Home(home).live, BatchJob).to_pylist()


def paid(up: Running) -> list[str]:
    """Return what the endpoint was paid for: the messages that it gave an answer to."""
    return [call.sha for call in up.calls if call.fault is None and call.tokens_out]


@dataclass(frozen=True)
class Done:
    """One corpus refreshed by single calls and by a batch, with the same endpoint."""

    corpus: Path
    home: Path
    online: RunReport
    batch: RunReport
    again: RunReport
    asked_again: int
    rows: dict[str, list[str]]


@pytest.fixture(scope="module")
def done(tiny_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("done")
    corpus = Path(shutil.copytree(tiny_corpus, folder / "corpus"))
    with pytest.MonkeyPatch.context() as environment, endpoint(folder) as up:
        environment.setenv("OPENAI_API_KEY", "sk-test-0123456789")
        online = run(folder / "online", corpus, up, batch=False)
        batch = run(folder / "batch", corpus, up)
        calls = len(up.calls)
        again = run(folder / "batch", corpus, up)
        calls = len(up.calls) - calls
    return Done(corpus, folder / "batch", online, batch, again, calls, rows(folder / "online"))


def test_a_batch_brings_the_same_tables_as_calls_at_once(done):
    assert rows(done.home) == done.rows
    assert {call["batch"] for call in calls(done.home)} == {True}
    assert [job["status"] for job in jobs(done.home)] == ["done"]


def test_a_batch_costs_half(done):
    assert done.online.cost and done.batch.cost
    assert 0.3 < done.batch.cost / done.online.cost < 0.6


def test_a_second_refresh_sends_nothing(done):
    assert (done.again.outcome, done.asked_again) == ("unchanged", 0)
    assert len(jobs(done.home)) == 1


@pytest.mark.parametrize(
    "faults",
    [{"outcome": "expired"}, dict.fromkeys(("missing", "failing", "doubled", "unknown"), 0.3)],
    ids=["expired half-way", "lost, failed, doubled, foreign"],
)
def test_what_a_batch_loses_goes_into_the_next(tmp_path, done, faults):
    with endpoint(tmp_path, faults) as up:
        report = run(tmp_path / "home", done.corpus, up)
    assert report.counts["extraction"]["failed"] == 0
    assert report.counts["calls"]["calls"] > report.counts["calls"]["calls ok"]
    assert rows(tmp_path / "home") == done.rows


def test_a_parameter_that_the_endpoint_refuses_is_left_out_of_the_next_batch(tmp_path, done):
    with endpoint(tmp_path, plain=True) as up:
        report = run(tmp_path / "home", done.corpus, up)
    assert report.counts["extraction"]["failed"] == 0
    assert {call["reply_form"] for call in calls(tmp_path / "home")} == {"text"}
    assert rows(tmp_path / "home") == done.rows


@pytest.mark.parametrize("moment", ["before it is sent", "before its id is noted", "while it runs"])
def test_a_killed_run_finds_its_batch_again(corpus, tmp_path, moment):
    with endpoint(tmp_path, batch_seconds=1.0) as up:
        arguments = (str(tmp_path / "home"), str(corpus), up.base_url, moment)
        killed = SERVER.Process(target=run_killed, args=arguments)
        killed.start()
        killed.join()
        assert killed.exitcode == -signal.SIGKILL
        report = run(tmp_path / "home", corpus, up)
        answered = paid(up)
    assert report.published
    assert len(answered) == len(set(answered)) == report.counts["calls"]["calls"]


def run_killed(home: str, corpus: str, base_url: str, moment: str) -> None:
    """Refresh in this process, which is killed at a moment of its batch."""
    os.environ["OPENAI_API_KEY"] = KEY
    die = partial(os.kill, os.getpid(), signal.SIGKILL)
    if moment == "before it is sent":
        _instead(batches, "record", after=die)
    elif moment == "before its id is noted":
        _instead(batches.BatchTransport, "_note", before=die)
    else:
        _instead(batches.BatchTransport, "_submit", after=die)
    run(Path(home), Path(corpus), Running(base_url, Path(), 0))


def _instead(place: Any, name: str, before: Any = None, after: Any = None) -> None:
    real = getattr(place, name)

    def doing(*given: Any, **named: Any) -> Any:
        if before:
            before()
        done = real(*given, **named)
        if after and not inspect.iscoroutine(done):
            after()
        return _then(done, after) if inspect.iscoroutine(done) else done

    setattr(place, name, doing)


async def _then(done: Any, after: Any) -> Any:
    found = await done
    if after:
        after()
    return found


@pytest.mark.parametrize("response", [{"status_code": "200"}, {"status_code": None}, [200], "200"])
def test_a_line_without_a_response_fails_its_call_alone(response):
    with pytest.raises(CallError) as failed:
        batches.response_in({"custom_id": "a", "response": response})
    assert failed.value.outcome is Outcome.UNAVAILABLE
