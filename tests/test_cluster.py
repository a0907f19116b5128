"""A Dask cluster does the bulk work: equal tables, lost workers and schedulers, other releases."""

import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import schemas
from schemas.errors import AlmanacError, UsageError
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks import cluster as clusters
from tasks import refresh as work
from tasks.cluster import Cluster
from tasks.extract.batches import BatchExtraction
from tasks.extract.by_model.shared import CallsOfWorker, parts_of
from tasks.ingest import ingest
from tests.documents import write_texts
from warehouse.home import Home

TIMES = ("read_at", "first_read_at", "extracted_at")
ENGINE = EngineSettings(encoder="none")


@pytest.fixture(scope="module")
def threads() -> Iterator[Any]:
    """A cluster whose three workers are threads of this process."""
    from distributed import LocalCluster

    quiet = {"processes": False, "protocol": "tcp", "dashboard_address": ":0"}
    with LocalCluster(n_workers=3, threads_per_worker=1, **quiet) as cluster:
        yield cluster


@pytest.fixture
def there(threads: Any) -> Callable[..., Settings]:
    """Return how settings name that cluster."""

    def named(**more: Any) -> Settings:
        address = threads.scheduler_address
        return Settings(**{"engine": ENGINE, "runner": "dask", "dask_address": address, **more})

    return named


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A folder of 12 documents, two of which hold the same passage."""
    by_name = {
        f"{n:02}.md": f"# Town {n}\n\nTown {n} is a town. Town {n} was founded in 18{n:02}.\n"
        for n in range(12)
    }
    by_name["11.md"] = by_name["07.md"].replace("18", "17") + "\n## Sea\n\nIt lies on the sea.\n"
    return write_texts(tmp_path / "many", by_name)


def rows(home: Home, row: Any) -> list[dict[str, Any]]:
    """Return the rows of a table in the current edition, sorted, without times."""
    table = home.require_edition().table(row)
    kept = [name for name in table.column_names if name not in TIMES]
    return sorted(table.select(kept).to_pylist(), key=repr)


def test_tables_equal_those_of_one_process(there, many, tmp_path, monkeypatch):
    monkeypatch.setattr(work, "SPLIT_ELSEWHERE", 5)
    monkeypatch.setattr(ingest, "FILES_EACH", 3)
    monkeypatch.setattr(ingest, "_is_small_here", lambda item: item.uri != "04.md")
    one, other = Home(tmp_path / "one"), Home(tmp_path / "other")
    heard: list[tuple[str, int, int]] = []
    work.refresh(one, [str(many)], Settings(engine=ENGINE, workers=1))
    run = work.refresh(other, [str(many)], there(), report=lambda *progress: heard.append(progress))
    assert run.published
    for row in schemas.EDITION:
        assert rows(one, row) == rows(other, row), row.table
    assert {("read", 12, 12), ("split", 12, 12), ("extract", 13, 13)} <= set(heard)


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
    releases = iter([("0.0.1+1", *own[1:])])
    monkeypatch.setattr(clusters, "release", lambda: next(releases, own))
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


def test_a_worker_is_asked_whether_it_can_load_the_work_before_it_gets_any(there):
    def unknown(number: int) -> int:
        return number

    unknown.__module__, unknown.__qualname__ = "wing_of_tomorrow", "unknown"
    words = "The worker at tcp.* cannot load Almanac .*No module named 'wing_of_tomorrow'"
    with Cluster(there()) as cluster, pytest.raises(AlmanacError, match=words):
        list(cluster(unknown, [(7,)]))


def test_workers_of_this_machine_leave_ctrl_c_to_the_command_and_port_8787_alone():
    with Cluster(Settings(engine=ENGINE, runner="dask", workers=1)) as cluster:
        assert list(cluster(signal.getsignal, [(signal.SIGINT,)])) == [signal.SIG_IGN]
        assert cluster._client.scheduler_info()["services"]["dashboard"] != 8787


def test_an_address_that_is_empty_is_refused():
    with pytest.raises(ValueError, match="name the address of a scheduler, or `local`"):
        Settings(runner="dask", dask_address=" ")


def test_a_cluster_is_reached_by_tls_with_the_settings_of_dask():
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    keys = Security.temporary()
    ours = {
        "distributed.comm.tls.ca-file": keys.tls_ca_file,
        "distributed.comm.tls.client.cert": keys.tls_client_cert,
        "distributed.comm.tls.client.key": keys.tls_client_key,
    }
    quiet = {"processes": False, "dashboard_address": ":0", "n_workers": 1}
    with LocalCluster(protocol="tls", security=keys, **quiet) as started:
        address = started.scheduler_address
        assert address.startswith("tls://")
        settings = Settings(engine=ENGINE, runner="dask", dask_address=address)
        with dask.config.set(ours), Cluster(settings) as cluster:
            assert list(cluster(divmod, [(7, 2)])) == [(3, 1)]
        missing = r"__TLS__CA_FILE, \w+__TLS__CLIENT__CERT, \w+__TLS__CLIENT__KEY to"
        with pytest.raises(UsageError, match=missing), Cluster(settings) as cluster:
            list(cluster(divmod, [(7, 2)]))
        plain = settings.model_copy(update={"dask_address": address.replace("tls", "tcp")})
        refusal = pytest.raises(AlmanacError, match="with TLS it begins with tls://")
        with refusal, Cluster(plain) as cluster:
            list(cluster(divmod, [(7, 2)]))


class Fatal:
    """A future whose workers all died."""

    status = "error"

    def exception(self) -> Exception:
        from distributed.scheduler import KilledWorker

        return KilledWorker("batch", None, 3)


class Doubling:
    """Work on numbers that may be refused."""

    def __call__(self, numbers: list[int]) -> list[int]:
        return [2 * number for number in numbers]

    def refused(self, numbers: list[int], why: str) -> str:
        return f"{numbers}: {why}"


def test_a_batch_that_kills_workers_is_halved_until_one_item_is_refused(there):
    again: deque[Any] = deque()
    with Cluster(there()) as cluster:
        assert cluster._result(Fatal(), Doubling(), ("how", [1, 2, 3]), again) == []
        assert again == deque([("how", [1]), ("how", [2, 3])])
        [refused] = cluster._result(Fatal(), Doubling(), ([1],), again)
        assert refused == "[1]: 4 workers died over it; did memory run out?"
        with pytest.raises(AlmanacError, match="could not be done: 4 workers died"):
            cluster._result(Fatal(), divmod, (7, 2), again)


def test_a_refused_passage_says_why():
    tables = BatchExtraction(ENGINE, "run").refused([{"passage_id": "p"}], "memory ran out")
    [row] = tables[schemas.observations.Extraction].to_pylist()
    assert (row["passage_id"], row["outcome"], row["reason"]) == ("p", "failed", "memory ran out")


def test_a_scheduler_that_comes_back_is_waited_for(monkeypatch):
    from distributed import LocalCluster

    quiet = {"processes": False, "protocol": "tcp", "dashboard_address": ":0", "n_workers": 1}
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

    quiet = {"processes": False, "protocol": "tcp", "dashboard_address": ":0", "n_workers": 1}
    monkeypatch.setattr(clusters, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(clusters, "RETURN_SECONDS", 0.5)
    started = LocalCluster(**quiet)
    settings = Settings(engine=ENGINE, runner="dask", dask_address=started.scheduler_address)
    heard: list[str] = []
    with Cluster(settings, lambda stage, done, total: heard.append(stage)) as cluster:
        results = cluster(whoever, [([n],) for n in range(20)])
        next(results)
        started.close()
        with pytest.raises(AlmanacError, match=r"was lost .* the same command goes on from there"):
            list(results)
    assert heard == [f"waiting for the Dask scheduler at {settings.dask_address}, which was lost"]


def test_an_endpoint_answers_the_calls_of_one_process_within_its_limits(
    there, many, endpoint, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    model = ModelSettings(name="gpt-4.1-mini", base_url=endpoint.base_url, concurrency=4)
    engine = EngineSettings(engine="openai", encoder="none", model=model)
    one, other = Home(tmp_path / "one"), Home(tmp_path / "other")
    before = len(endpoint.calls)
    alone = work.refresh(one, [str(many)], Settings(engine=engine, workers=1))
    between = len(endpoint.calls)
    shared = work.refresh(other, [str(many)], there(engine=engine))
    calls = endpoint.calls
    assert len({call.sha for call in calls[before:]}) == between - before == len(calls) - between
    for row in schemas.EDITION:
        assert rows(one, row) == rows(other, row), row.table
    assert alone.counts["calls"]["calls"] == shared.counts["calls"]["calls"]
    assert shared.cost
    moments = [(call.arrived, 1) for call in calls[between:]]
    moments += [(call.answered or 0.0, -1) for call in calls[between:]]
    assert max(accumulate(change for _, change in sorted(moments))) <= 4


@pytest.mark.parametrize("workers", [1, 3, 6, 40])
def test_the_parts_of_an_endpoints_limits_are_its_limits(workers):
    model = ModelSettings(concurrency=16, requests_per_minute=90)
    parts = parts_of(model, workers)
    assert len(parts) == min(workers, 16)
    assert sum(part.concurrency for part in parts) == 16
    assert sum(part.requests_per_minute or 0 for part in parts) == pytest.approx(90)
    assert {part.tokens_per_minute for part in parts} == {None}


def test_replies_are_kept_where_the_worker_sees_the_home(tmp_path):
    calls = CallsOfWorker(tmp_path / "elsewhere", ENGINE, "run")
    with pytest.raises(AlmanacError, match=r"does not see .*elsewhere.* Mount it there"):
        calls(ModelSettings(), [])


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ({"engine": "transformers"}, "A model on this machine does not run on a cluster"),
        ({"engine": "openai", "model": {"budget": 1.0}}, "--budget is kept by one process"),
        ({"engine": "openai", "model": {"batch": True}}, "--batch is kept by one process"),
    ],
)
def test_what_no_cluster_can_do_is_refused_at_once(engine, words, tmp_path):
    settings = Settings(engine=EngineSettings(**engine), runner="dask")
    with pytest.raises(UsageError, match=words):
        work.refresh(Home(tmp_path / "home"), [str(tmp_path)], settings)
    assert not (tmp_path / "home").exists()
