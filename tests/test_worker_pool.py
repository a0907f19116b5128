"""Processes that are killed in the middle of their work lose none of it."""

import os
import signal
from pathlib import Path

import pytest

from schemas.errors import AlmanacError
from tasks.worker_pool import PoolOfWorkers, WorkerPool

DEADLY = 13


def doubled(numbers: list[int]) -> list[int]:
    return [2 * number for number in numbers]


def killed_once(folder: Path, numbers: list[int]) -> list[int]:
    """Double the numbers, but not before a process was killed over them."""
    marker = folder / "-".join(map(str, numbers))
    if not marker.exists():
        marker.touch()
        die("")
    return doubled(numbers)


def die(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Doubling:
    """Doubles numbers; one of them kills each process that reads it."""

    def __call__(self, numbers: list[int]) -> list[int]:
        if DEADLY in numbers:
            die("")
        return doubled(numbers)

    def refused(self, numbers: list[int], why: str) -> str:
        return f"{numbers}: {why}"


def test_what_killed_processes_had_is_done_by_others(tmp_path):
    batches = [(tmp_path, [number]) for number in range(3)]
    results = PoolOfWorkers(2)(killed_once, batches)
    assert sorted(results) == [[2 * number] for number in range(3)]


def test_of_a_batch_that_kills_its_processes_only_the_deadly_item_is_refused():
    batches = [([1, 2],), ([11, 12, DEADLY],), ([20],)]
    results = list(PoolOfWorkers(2)(Doubling(), batches))
    [refused] = [result for result in results if isinstance(result, str)]
    assert refused == "[13]: 3 processes died over it; did memory run out?"
    doubles = sorted(number for result in results if result is not refused for number in result)
    assert doubles == [2, 4, 22, 24, 40]


def test_a_pool_goes_on_after_a_death(tmp_path):
    with WorkerPool(1) as pool:
        first = pool.submit(killed_once, (tmp_path, [1]))
        assert pool.results(first, killed_once, (tmp_path, [1])) == [[2]]
        second = pool.submit(doubled, ([2],))
        assert second.result(60) == [4]


def test_a_batch_that_cannot_be_refused_ends_the_work_in_plain_words():
    with pytest.raises(AlmanacError, match="could not be done: 3 processes died over it"):
        list(PoolOfWorkers(1)(die, [("at once",)]))
