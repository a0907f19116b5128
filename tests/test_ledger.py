"""The ledger of model calls: on disk before used, found again, sealed once, whatever dies."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.observations import ModelReply
from schemas.operations import ModelCall
from warehouse import ledger as ledger_module
from warehouse.home import Home
from warehouse.ledger import Ledger, seal_logs_of_the_dead
from warehouse.live import latest

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def call(number: int, outcome: str = "ok") -> ModelCall:
    return ModelCall(
        call_id=f"c{number}",
        run_id="r",
        purpose="extract",
        engine="openai",
        endpoint="127.0.0.1:1",
        model="m",
        prompt_sha="p",
        request_sha=f"s{number}",
        passages=1,
        attempt=1,
        tokens_in=10,
        tokens_out=None,
        cost=None,
        seconds=0.5,
        outcome=outcome,
        batch=False,
        called_at=NOW,
    )


def reply(number: int) -> ModelReply:
    return ModelReply(
        request_sha=f"s{number}",
        purpose="extract",
        model="m",
        prompt_sha="p",
        passage_ids=[f"p{number}", f"q{number}"],
        reply=f'{{"n":{number}}}',
        call_id=f"c{number}",
        replied_at=NOW,
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with one call and its reply, still in the log of this process."""
    ledger = Home(tmp_path).ledger
    ledger.write(call(1), reply(1)).result(10)
    return ledger


def reopened(home: Path) -> Ledger:
    """Return the ledger as the next run finds it."""
    place = Home(home)
    place.clean()
    return place.ledger


def test_a_reply_is_found_at_once_and_after_sealing_and_by_the_next_run(tmp_path, ledger):
    assert ledger.find("s1") == '{"n":1}'
    assert ledger.find("s2") is None
    ledger.seal()
    assert ledger.find("s1") == '{"n":1}'
    assert Home(tmp_path).ledger.find("s1") == '{"n":1}'


def test_a_call_without_a_reply_is_counted_but_answers_nothing(tmp_path):
    ledger = Home(tmp_path).ledger
    ledger.write(call(1, "truncated")).result(10)
    ledger.seal()
    assert ledger.find("s1") is None
    assert latest(ledger.live, ModelCall)["outcome"].to_pylist() == ["truncated"]


def test_what_was_asked_about_together_is_told(ledger):
    ledger.write(call(2), reply(2)).result(10)
    ledger.seal()
    assert ledger.answered("extract", "m", "p") == [("p1", "q1"), ("p2", "q2")]
    assert ledger.answered("extract", "other model", "p") == []


def test_a_log_left_by_a_dead_writer_is_sealed_by_the_next_run(tmp_path):
    program = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_ledger import call, reply
from warehouse.home import Home
from pathlib import Path
ledger = Home(Path({str(tmp_path)!r})).ledger
for number in range(20):
    ledger.write(call(number), reply(number)).result(10)
    print(number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    numbers = [int(line) for line in done.stdout.split()]
    ledger = reopened(tmp_path)
    assert numbers == list(range(20))
    assert all(ledger.find(f"s{number}") for number in numbers)
    assert len(latest(ledger.live, ModelCall)) == 20
    assert list(ledger.folder.glob("*.log")) == []


def test_a_log_whose_writer_lives_is_left_alone(tmp_path, ledger):
    other = reopened(tmp_path)
    assert len(list(ledger.folder.glob("*.log"))) == 1
    assert other.find("s1") is None
    ledger.seal()
    assert other.find("s1") == '{"n":1}'


def test_a_log_that_a_cleaning_removes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock, removed = fcntl.flock, []

    def late(file: Any, how: int) -> None:
        if not removed:
            removed.extend((tmp_path / "ledger").glob("*.log"))
            Home(tmp_path).clean()
        lock(file, how)

    monkeypatch.setattr(ledger_module.fcntl, "flock", late)
    mine = Home(tmp_path).ledger
    mine.write(call(1), reply(1)).result(10)
    assert len(removed) == 1 and not removed[0].exists()
    mine.seal()
    assert reopened(tmp_path).find("s1") == '{"n":1}'


@pytest.mark.parametrize("when", ["before it is opened", "before it is locked"])
def test_a_log_that_its_writer_seals_meanwhile_is_passed_over(ledger, monkeypatch, when):
    lock = fcntl.flock

    def late(file: Any, how: int) -> None:
        if how & fcntl.LOCK_NB:
            ledger.seal()
        lock(file, how)

    if when == "before it is locked":
        monkeypatch.setattr(ledger_module.fcntl, "flock", late)
    else:
        logs = [*ledger.folder.glob("*.log")]
        monkeypatch.setattr(Path, "glob", lambda folder, pattern: ledger.seal() or logs)
    assert seal_logs_of_the_dead(ledger.folder, ledger.journal, ledger.live) == 0
    assert ledger.find("s1") == '{"n":1}'


def test_sealing_that_is_killed_between_its_commits_adds_nothing_twice(tmp_path, ledger):
    assert ledger._log is not None
    log = ledger._log.path.read_bytes()
    ledger.seal()
    (ledger.folder / "again.log").write_bytes(log)  # as if the removal had not happened
    again = reopened(tmp_path)
    assert len(latest(again.live, ModelCall)) == 1
    assert again.find("s1") == '{"n":1}'


@pytest.mark.parametrize("cut", [2, 10, 60])
def test_a_torn_or_damaged_line_costs_that_line_alone(tmp_path, ledger, cut):
    ledger.write(call(2), reply(2)).result(10)
    assert ledger._log is not None
    log = ledger._log.path.read_bytes()
    torn, damaged = log[:-cut], log[:cut] + b"\x00" + log[cut + 1 :]
    for name, content, kept, lost in (("torn", torn, "s1", "s2"), ("damaged", damaged, "s2", "s1")):
        home = tmp_path / name
        (home / "ledger").mkdir(parents=True)
        (home / "ledger" / "x.log").write_bytes(content)
        assert reopened(home).find(kept) and not reopened(home).find(lost)


def test_a_full_disk_fails_the_write_and_harms_no_other(tmp_path, ledger, monkeypatch):
    sync = os.fsync

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ledger_module.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        ledger.write(call(2), reply(2)).result(10)
    assert ledger.find("s2") is None
    monkeypatch.setattr(ledger_module.os, "fsync", sync)
    ledger.write(call(3), reply(3)).result(10)
    ledger.seal()
    found = reopened(tmp_path)
    assert found.find("s1") and found.find("s3")
    assert found.find("s2") is None


def test_many_that_wait_share_one_sync(tmp_path, monkeypatch):
    syncs = []
    sync = os.fsync

    def slow(descriptor: int) -> None:
        syncs.append(descriptor)
        time.sleep(0.02)
        sync(descriptor)

    ledger = Home(tmp_path).ledger
    ledger.write(call(0), reply(0)).result(10)
    monkeypatch.setattr(ledger_module.os, "fsync", slow)
    written = [ledger.write(call(number), reply(number)) for number in range(1, 200)]
    for done in written:
        done.result(10)
    assert 1 <= len(syncs) <= 10  # 199 calls share few syncs of 20 ms each


def test_a_call_is_seen_by_sql_before_the_run_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_module, "SEAL_SECONDS", 0.0)
    ledger = Home(tmp_path).ledger
    ledger.write(call(1), reply(1)).result(10)
    ledger.seal_if_due()
    ledger.write(call(2), reply(2)).result(10)
    assert len(latest(Home(tmp_path).live, ModelCall)) == 1


def test_sealing_while_calls_go_on_loses_none(tmp_path):
    ledger, most = Home(tmp_path).ledger, 3000

    def go_on() -> None:
        for number in range(most):
            written = ledger.write(call(number), reply(number))
            if number % 50 == 0:
                written.result(10)

    calls = threading.Thread(target=go_on)
    calls.start()
    while calls.is_alive():
        ledger.seal()
    ledger.seal()
    assert all(ledger.find(f"s{number}") == f'{{"n":{number}}}' for number in range(most))
