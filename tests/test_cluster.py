"""A Dask cluster does the bulk work: equal tables, lost workers and schedulers, other releases."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import schemas
from schemas.errors import AlmanacError
from schemas.settings import EngineSettings, Settings
from tasks import cluster as clusters
from tasks import refresh as work
from tasks.cluster import Cluster
from tasks.extract.batches import BatchExtraction
from tasks.ingest import ingest
from tests.documents import write_texts
from warehouse.home import Home

TIMES = ("read_at", "first_read_at", "extracted_at")
ENGINE = EngineSettings(encoder="none")


@pytest.fixture(scope="module")
def threads() -> Iterator[Any]:
    """A cluster whose three workers are threads of this process."""
    from distributed import LocalCluster

    quiet = {"processes": False, "protocol": "tcp", "dashboard_address": None}
    with LocalCluster(n_workers=3, threads_per_worker=1, **quiet) as cluster:
        yield cluster


@pytest.fixture
def there(threads: Any) -> Callable[..., Settings]:
    """Return how settings name that cluster."""

    def named(**more: Any) -> Settings:
        address = threads.scheduler_address
        return Settings(engine=ENGINE, runner="dask", dask_address=address, **more)

    return named


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A folder of 40 documents, two of which hold the same passage."""
    by_name = {
        f"{n:02}.md": f"# Town {n}\n\nTown {n} is a town. Town {n} was founded in 18{n:02}.\n"
        for n in range(40)
    }
    by_name["39.md"] = by_name["07.md"].replace("18", "17") + "\n## Sea\n\nIt lies on the sea.\n"
    return write_texts(tmp_path / "many", by_name)


def rows(home: Home, row: Any) -> list[dict[str, Any]]:
    """Return the rows of a table in the current edition, sorted, without times."""
    table = home.require_edition().table(row)
    kept = [name for name in table.column_names if name not in TIMES]
    return sorted(table.select(kept).to_pylist(), key=repr)


def test_tables_equal_those_of_one_process(there, many, tmp_path, monkeypatch):
    monkeypatch.setattr(work, "SPLIT_ELSEWHERE", 7)
    monkeypatch.setattr(ingest, "TOGETHER", 3)
    one, other = Home(tmp_path / "one"), Home(tmp_path / "other")
    heard: list[tuple[str, int, int]] = []
    work.refresh(one, [str(many)], Settings(engine=ENGINE, workers=1))
    run = work.refresh(other, [str(many)], there(), report=lambda *progress: heard.append(progress))
    assert run.published
    for row in schemas.EDITION:
        assert rows(one, row) == rows(other, row), row.table
    assert {("read", 40, 40), ("split", 40, 40), ("extract", 41, 41)} <= set(heard)


def test_a_file_that_a_worker_does_not_see_is_read_here(there, many, tmp_path, monkeypatch):
    monkeypatch.setattr(ingest, "_is_small_here", lambda item: False)
    run = work.refresh(Home(tmp_path / "home"), [str(many)], there())
    assert run.counts["inputs"]["ingested"] == 40


def whoever(numbers: list[int]) -> list[str]:
    """Return by which worker each number was seen."""
    from distributed import get_worker

    time.sleep(0.01)
    return [get_worker().address for _ in numbers]


def test_no_more_workers_are_used_than_were_asked_for(there):
    batches = [([n],) for n in range(30)]
    with Cluster(there(workers=2)) as cluster:
        assert len({worker for [worker] in cluster(whoever, batches)}) == 2
        assert cluster.threads == 2
    with Cluster(there()) as cluster:
        assert len({worker for [worker] in cluster(whoever, batches)}) == 3


def test_a_worker_of_another_release_is_refused(there, monkeypatch):
    own = clusters.release()
    told = iter([("0.0.1+1", *own[1:])])
    monkeypatch.setattr(clusters, "release", lambda: next(told, own))
    with (
        Cluster(there()) as cluster,
        pytest.raises(AlmanacError, match=r"has Almanac .* this process has 0\.0\.1\+1"),
    ):
        list(cluster(divmod, [(7, 2)]))


def test_a_worker_without_a_library_is_told_in_plain_words(there):
    def lacks(number: int) -> None:
        raise ModuleNotFoundError("No module named 'spacy'")

    words = "cannot load Almanac .*No module named 'spacy'.* Install the same release"
    with Cluster(there()) as cluster, pytest.raises(AlmanacError, match=words):
        list(cluster(lacks, [(7,)]))


class Deadly:
    """Work that ends the process of whoever has the number 13."""

    def __call__(self, numbers: list[int]) -> list[int]:
        if 13 in numbers:
            os._exit(1)
        return numbers

    def refused(self, numbers: list[int], why: str) -> list[str]:
        return [f"{number}: {why}" for number in numbers]


def test_what_kills_workers_is_refused_and_all_else_is_done(monkeypatch):
    import dask

    settings = Settings(engine=ENGINE, runner="dask", workers=2)
    batches = [(list(range(start, start + 8)),) for start in range(0, 24, 8)]
    fragile = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with fragile, Cluster(settings) as cluster:
        done = sorted((one for some in cluster(Deadly(), batches) for one in some), key=str)
    refused = [one for one in done if isinstance(one, str)]
    assert [one for one in done if isinstance(one, int)] == sorted({*range(24)} - {13}, key=str)
    assert refused == ["13: 1 workers died over it; did memory run out?"]


def test_a_refused_passage_says_why():
    tables = BatchExtraction(ENGINE, "run").refused([{"passage_id": "p"}], "memory ran out")
    [row] = tables[schemas.observations.Extraction].to_pylist()
    assert (row["passage_id"], row["outcome"], row["reason"]) == ("p", "failed", "memory ran out")


def test_a_scheduler_that_comes_back_is_waited_for(monkeypatch):
    from distributed import LocalCluster

    quiet = {"processes": False, "protocol": "tcp", "dashboard_address": None, "n_workers": 1}
    first = LocalCluster(**quiet)
    port = int(first.scheduler_address.rpartition(":")[2])
    settings = Settings(engine=ENGINE, runner="dask", dask_address=first.scheduler_address)
    monkeypatch.setattr(clusters, "LOOK_SECONDS", 0.2)
    with Cluster(settings) as cluster:
        results = cluster(whoever, [([n],) for n in range(20)])
        done = [next(results)]
        first.close()
        with LocalCluster(**quiet, scheduler_port=port):
            done += results
    assert len(done) == 20


def test_a_scheduler_that_stays_away_is_told_in_plain_words(monkeypatch):
    from distributed import LocalCluster

    quiet = {"processes": False, "protocol": "tcp", "dashboard_address": None, "n_workers": 1}
    monkeypatch.setattr(clusters, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(clusters, "RETURN_SECONDS", 0.5)
    started = LocalCluster(**quiet)
    settings = Settings(engine=ENGINE, runner="dask", dask_address=started.scheduler_address)
    with Cluster(settings) as cluster:
        results = cluster(whoever, [([n],) for n in range(20)])
        next(results)
        started.close()
        with pytest.raises(AlmanacError, match=r"was lost .* the same command goes on from there"):
            list(results)
