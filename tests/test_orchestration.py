"""Where jobs are done: plainly where no Prefect server is named, and to their end if one fails."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows import orchestration
from flows.commands import doctor
from flows.commands.refresh import RefreshKnowledge
from flows.jobs import Call, Job
from flows.orchestration import names_server, run_job
from schemas.errors import AlmanacError, HeldError
from schemas.settings import Settings
from tasks import cluster as clusters
from tasks import refresh as work
from tasks.cluster import Cluster
from tasks.ingest import ingest
from tasks.ingest.formats import likeness
from warehouse.derivation import Derivation
from warehouse.home import Home

URL = "http://server/api"
MINE = f'[profiles.mine]\nPREFECT_API_URL = "{URL}"\n'
LINE = '{"title": "Ada Lovelace", "text": "Ada Lovelace was born in London in 1815."}\n'


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of Prefect's profiles, in an environment that names no server."""
    for name in ("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect-home"))
    return tmp_path / "prefect-home"


@pytest.fixture
def refreshed(tmp_path: Path) -> tuple[Path, Path]:
    """A home and the JSONL file that it was refreshed from."""
    lines, home = tmp_path / "lines.jsonl", tmp_path / "home"
    lines.write_text(LINE, encoding="utf-8")
    assert work.refresh(Home(home), [str(lines)], Settings(workers=1)).published
    return home, lines


def test_a_refresh_with_nothing_to_do_loads_neither_prefect_nor_models(no_server, refreshed):
    home, lines = refreshed
    heavy = (
        "prefect dask distributed torch spacy transformers sentence_transformers onnxruntime "
        "tokenizers rjieba tantivy sklearn pandas"
    )
    program = (
        "import sys; from flows.__main__ import main\n"
        "code = main(sys.argv[1:])\n"
        f"print(code, sorted(set('{heavy}'.split()) & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "refresh", str(lines), "--home", str(home), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "0 []"
    report = json.loads(done.stdout)
    assert report["outcome"] == "unchanged"
    assert list(report["seconds"]) == [name for name, _, _ in work.STAGES]


def test_a_refresh_with_nothing_to_do_looks_into_the_journal_once_and_reads_no_line(
    refreshed, monkeypatch
):
    opened: list[int] = []
    start = Derivation.__init__

    def noted(derivation: Derivation, *arguments: Any) -> None:
        opened.append(1)
        start(derivation, *arguments)

    monkeypatch.setattr(Derivation, "__init__", noted)
    monkeypatch.setattr(ingest, "read_item", lambda *_: pytest.fail("a line was read"))
    home, lines = refreshed
    run = work.refresh(Home(home), [str(lines)], Settings(workers=1))
    assert run.outcome == "unchanged"
    assert run.counts["inputs"] == {"files": 1, "unchanged_files": 1}
    assert len(opened) == 1


def test_of_a_file_that_grew_only_new_lines_are_looked_at_closely(refreshed, monkeypatch):
    sketched: list[list[str]] = []
    minhash = likeness.minhash

    def noted(tokens: list[str]) -> bytes:
        sketched.append(tokens)
        return minhash(tokens)

    monkeypatch.setattr(likeness, "minhash", noted)
    home, lines = refreshed
    lines.write_text(LINE + '{"title": "Perth", "text": "Perth is a city."}\n', encoding="utf-8")
    run = work.refresh(Home(home), [str(lines)], Settings(workers=1))
    assert (run.counts["inputs"]["unchanged"], run.counts["inputs"]["ingested"]) == (1, 1)
    assert sketched == [["perth", "is", "a", "city"]]


@pytest.mark.parametrize(
    ("profiles", "environment", "named"),
    [
        (None, {}, False),
        (None, {"PREFECT_API_URL": URL}, True),
        (None, {"PREFECT_PROFILE": "local"}, True),
        (f'active = "mine"\n{MINE}', {}, True),
        ('active = "mine"\n[profiles.mine]\n', {}, False),
        (f'active = "mine"\n{MINE}', {"PREFECT_PROFILE": "x"}, False),
        (f'active = "ephemeral"\n{MINE}', {}, False),
        ("no profiles", {}, False),
    ],
)
def test_a_server_is_named_by_the_environment_or_the_profile(
    no_server, monkeypatch, profiles, environment, named
):
    if profiles is not None:
        no_server.mkdir()
        (no_server / "profiles.toml").write_text(profiles)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert names_server() is named
    use = "runs are recorded on" if named else "not used unless --prefect"
    assert use in doctor._prefect().words


class Note(Job):
    """A job that does next to nothing."""

    def work(self, runner: Any) -> str:
        runner.report("note", 1, 1)
        return "done"

    def as_markdown(self, result: str) -> str:
        return result


def test_a_server_that_cannot_be_started_is_a_warning(no_server, monkeypatch, tmp_path, capsys):
    def fail(*_: Any) -> None:
        raise OSError("no process can be started")

    monkeypatch.setattr(orchestration, "configure", lambda **_: None)
    monkeypatch.setattr(orchestration, "_start", fail)
    assert run_job(Note(home=tmp_path), Call(run_job, prefect=True)) == "done"
    err = capsys.readouterr().err
    assert "Warning: no process can be started" in err
    assert "note: 1 of 1" in err


def attempt(work: Callable[[], Any], prefect: Callable[[Any], Any]) -> tuple[Any, list[str]]:
    """Return what comes of work that Prefect, here a function, runs; and the warnings."""
    from flows.deployed import FlowAttempt

    warnings: list[str] = []
    tried = FlowAttempt(work)
    return tried.outcome(lambda: prefect(tried), lambda: "done plainly", warnings.append), warnings


def dies_before(work: Callable[[], Any]) -> None:
    raise ConnectionError("all attempts failed")


def dies_after(work: Callable[[], Any]) -> None:
    work()
    raise ConnectionError("all attempts failed")


def test_the_outcome_is_that_of_the_work_whatever_becomes_of_prefect():
    assert attempt(lambda: "done", lambda work: work()) == ("done", [])
    for prefect, expected in ((dies_after, "done"), (dies_before, "done plainly")):
        result, [warning] = attempt(lambda: "done", prefect)
        assert result == expected and "all attempts failed" in warning


def test_the_error_is_that_of_the_work_too():
    def held() -> None:
        raise HeldError("publishing is held")

    def wrapped(work: Callable[[], Any]) -> None:
        try:
            work()
        finally:
            raise ConnectionError("all attempts failed")

    for prefect in (lambda work: work(), wrapped):
        with pytest.raises(HeldError, match="publishing is held"):
            attempt(held, prefect)


@pytest.mark.parametrize(
    ("address", "code", "words"),
    [
        ("nonsense", 2, "'nonsense' cannot be the address of a Dask scheduler"),
        ("http://127.0.0.1:1", 2, "cannot be the address"),
        ("tcp://127.0.0.1:1", 1, "No Dask scheduler answers at tcp://127.0.0.1:1"),
    ],
)
def test_a_cluster_that_cannot_be_reached_is_told_in_plain_words(address, code, words):
    import dask
    import distributed  # noqa: F401 (its defaults come first)

    settings = Settings(runner="dask", dask_address=address)
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "100ms"}),
        Cluster(settings) as cluster,
    ):
        with pytest.raises(AlmanacError, match=words) as raised:
            next(cluster(divmod, [(7, 2)]))
        assert raised.value.exit_code == code


def test_a_server_that_is_no_scheduler_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(clusters, "SCHEDULER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        settings = Settings(runner="dask", dask_address=address)
        with pytest.raises(AlmanacError, match="does not answer as"), Cluster(settings) as cluster:
            next(cluster(divmod, [(7, 2)]))


def test_a_cluster_without_workers_is_not_waited_for(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(clusters, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(clusters, "WORKER_SECONDS", 0.5)
    heard: list[str] = []
    quiet = {"processes": False, "protocol": "tcp", "dashboard_address": None}
    with LocalCluster(n_workers=0, **quiet) as started:
        settings = Settings(runner="dask", dask_address=started.scheduler_address)
        with Cluster(settings, lambda stage, done, total: heard.append(stage)) as cluster:
            with pytest.raises(AlmanacError, match="had no worker"):
                next(cluster(divmod, [(7, 2)]))
            assert heard == ["waiting for a worker of the Dask cluster"]
            started.scale(1)
            monkeypatch.setattr(clusters, "WORKER_SECONDS", 60)
            assert next(cluster(divmod, [(7, 2)])) == (3, 1)


@pytest.mark.parametrize("wait", ["-1", "nan", "inf", "soon"])
def test_a_wait_that_makes_no_sense_is_explained(wait, no_server, tmp_path, almanac):
    waiting = ["--set", f"publish.wait_seconds={wait}"]
    error = almanac.refused(tmp_path, "refresh", str(tmp_path), *waiting)
    assert "The setting publish.wait_seconds cannot be" in error


def test_reading_is_retried_from_remote_sources_alone():
    assert RefreshKnowledge(sources=["s3://bucket"]).retried == {"read"}
