"""Jobs as flows: one server for the session, and commands with a server of their own."""

import asyncio
import json
import logging
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from flows import orchestration
from flows.commands.refresh import RefreshKnowledge
from flows.commands.train_experts import TrainExperts
from flows.jobs import Runner
from schemas.errors import AlmanacError, HeldError
from schemas.settings import EngineSettings, Settings
from tests.copied_home import copied_home
from tests.expert_texts import tiny_plan
from tests.film_questions import ONE_HOP, examples, graph, triples
from warehouse.home import Home

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = Settings(engine=EngineSettings(encoder="none"), workers=2)
WORDS_ALONE = "--set=engine.encoder=none"


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A server that records runs, and a copy of its database as it was before the first."""
    orchestration.configure()
    home, empty = map(tmp_path_factory.mktemp, ("served", "empty"))
    with orchestration.served(home):
        with closing(sqlite3.connect(home / "prefect" / "prefect.db")) as database:
            database.execute("vacuum into ?", [str(empty / "prefect.db")])
        yield empty / "prefect.db"


@pytest.fixture(scope="module")
def flows(empty_database: Path) -> Any:
    """The module of the flows, whose runs are recorded; Prefect is loaded here."""
    from flows import deployed

    deployed.hush_at_exit()
    return deployed


async def recorded() -> tuple[list[Any], list[Any], list[Any]]:
    """Return what the server knows: flow runs, task runs, artifacts."""
    from prefect.client.orchestration import get_client

    async with get_client() as client:
        return (
            await client.read_flow_runs(),
            await client.read_task_runs(),
            await client.read_artifacts(),
        )


def test_flow_publishes_and_leaves_an_artifact(flows, tiny_corpus, tmp_path):
    heard: list[tuple[str, int, int]] = []
    job = RefreshKnowledge(sources=[str(tiny_corpus)], home=tmp_path / "home", settings=SETTINGS)
    report = flows.run_as_flow(job, Runner(lambda *progress: heard.append(progress), pytest.fail))
    assert report["published"] and json.loads(json.dumps(report)) == report
    assert ("read", 10, 10) in heard
    assert {"read", "split", "extract", "build"} <= {stage for stage, _, _ in heard}
    assert Home(tmp_path / "home").editions.current()
    runs, tasks, artifacts = asyncio.run(recorded())
    assert [run.state_name for run in runs] == ["Completed"]
    assert [run.name for run in runs] == [f"refresh-knowledge of {tmp_path / 'home'}"]
    shown = {artifact.key: artifact for artifact in artifacts}
    assert "Edition" in shown["refresh-knowledge"].data
    assert {"stage": "inputs", "what": "files", "number": 10} in json.loads(
        shown["refresh-knowledge-table"].data
    )
    assert shown["refresh-knowledge-progress"].data == 100.0
    [published] = events("almanac.edition.published", tmp_path / "home")
    assert published["payload"]["edition"] == report["edition"]
    names = {task.name.rsplit("-", 1)[0] for task in tasks}
    assert {"read", "split", "extract", "extract passages", "build", "publish"} == names
    again = refresh(flows, [tiny_corpus], tmp_path / "home")
    assert again["outcome"] == "unchanged"
    assert again["counts"]["extraction"]["passages"] == 0


def refresh(flows: Any, sources: list[Path], home: Path, settings: Any = SETTINGS) -> Any:
    return flows.refresh_knowledge(
        sources=list(map(str, sources)), home=str(home), settings=settings
    )


def test_evaluation_is_a_flow_with_its_figures(flows, own_home, tmp_path):
    questions = tmp_path / "q.jsonl"
    rows = [
        {"question": "Where was Ada Lovelace born?", "answers": ["London"]},
        {"question": "What is the name of Mallory's parrot?", "answers": []},
    ]
    questions.write_text("\n".join(map(json.dumps, rows)))
    how = {"format": "jsonl", "route": "text"}
    found = flows.evaluate_answers(questions=str(questions), home=str(own_home), **how)
    assert found["metrics"]["right"] == 1
    assert json.loads(json.dumps(found)) == found
    _, _, artifacts = asyncio.run(recorded())
    assert any("| text | all | 2 |" in str(artifact.data) for artifact in artifacts)


def test_training_is_a_flow_with_its_pictures(flows, own_home):
    plan = tiny_plan(epochs=1)
    job = TrainExperts(names=["corpus"], home=own_home, settings=SETTINGS, plan=plan)
    report = flows.run_as_flow(job, Runner(lambda *progress: None, pytest.fail))
    assert report["published"] and report["experts"][0]["ended"] == "epochs"
    assert json.loads(json.dumps(report)) == report
    _, tasks, artifacts = asyncio.run(recorded())
    assert any("data:image/png;base64," in str(artifact.data) for artifact in artifacts)
    assert "train expert" in {task.name.rsplit("-", 1)[0] for task in tasks}


def test_measuring_gates_is_a_flow(flows, tmp_path):
    questions, picture = tmp_path / "mirage.jsonl", tmp_path / "curves.svg"
    same = {"dataset": "medqa", "options": {"A": "this", "B": "that"}, "answer": "A"}
    rows = [
        {**same, "id": str(n), "question": f"Which of these is number {n}?",
         "pred": {"cot_m": "AB"[n % 2], "rag32_m": "AB"[n % 3 // 2]}}
        for n in range(40)
    ]  # fmt: skip
    questions.write_text("\n".join(map(json.dumps, rows)))
    how: dict[str, Any] = {"gates": ["never", "random"], "draws": 2, "settings": SETTINGS}
    files = {"questions": str(questions), "picture": str(picture), "home": str(tmp_path / "home")}
    found = flows.evaluate_gates(format="mirage", **files, **how)
    assert (found["system"], found["items"]) == ("never", 20)
    assert picture.exists()
    _, _, artifacts = asyncio.run(recorded())
    assert any("| random |" in str(artifact.data) for artifact in artifacts)


def test_learning_and_answering_are_flows(flows, own_home, tmp_path):
    films, questions, out = tmp_path / "f.tsv", tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    films.write_text("".join("\t".join(row) + "\n" for row in triples()), encoding="utf-8")
    here: dict[str, Any] = {"home": str(own_home), "settings": SETTINGS}
    assert flows.import_graph(source=str(films), name="films", **here)["published"]
    rows = [asdict(one) for one in examples(graph(), ONE_HOP)]
    questions.write_text("\n".join(map(json.dumps, rows[:150])), encoding="utf-8")
    how = {"graph": "films", "gates": True}
    planner, gate, parts = flows.learn_from_questions(questions=str(questions), **how, **here)
    assert (planner["learned"], planner["explained"]) == ("planner", 150)
    assert (gate["learned"], gate["task"], gate["seeds"]) == ("gate", "q", 75)
    assert (parts["learned"], parts["taught"]) == ("parts", 75)
    questions.write_text(json.dumps(rows[-1]), encoding="utf-8")
    done = flows.answer_questions(questions=str(questions), out=str(out), **here)
    assert done == {"questions": 1, "answered": 1, "answers": str(out)}
    answer = json.loads(out.read_text())
    assert set(answer["answers"]) == set(rows[-1]["answers"])
    _, _, artifacts = asyncio.run(recorded())
    shown = [str(artifact.data) for artifact in artifacts]
    assert any("1 of 1 questions" in text for text in shown)
    assert any("| films | 150 | 150 |" in text for text in shown)


def events(name: str, home: Path) -> list[dict[str, Any]]:
    """Return the server's events of a name about a home, once there are any."""
    filters = {"event": {"name": [name]}, "resource": {"id": [f"almanac.home.{home.resolve()}"]}}
    found: list[dict[str, Any]] = []

    def arrived() -> bool:
        from prefect.client.orchestration import get_client

        with get_client(sync_client=True) as client:
            response = client._client.post("/events/filter", json={"filter": filters})
        found[:] = response.json()["events"]
        return bool(found)

    wait_for(arrived)
    return found


def test_a_mistake_is_one_sentence_in_the_log_and_in_the_record(flows, tmp_path, caplog):
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        caplog.set_level(logging.ERROR, name)
        logging.getLogger(name).addHandler(caplog.handler)
    with pytest.raises(AlmanacError, match="No such file"):
        refresh(flows, [tmp_path / "missing"], tmp_path / "home")
    sentence = f"{tmp_path / 'missing'}: No such file or directory. Nothing was read and nothing"
    [told] = set(caplog.records)
    assert sentence in told.getMessage() and not told.exc_info
    _, table, words = newest_artifacts()
    assert words.description == "Why the run failed" and sentence in words.data
    assert {"what": "outcome", "value": "failed"} in json.loads(table.data)


def newest_artifacts() -> list[Any]:
    """Return what the last flow run left: its progress, its table and its words."""
    _, _, artifacts = asyncio.run(recorded())
    run = max(artifacts, key=lambda artifact: artifact.created).flow_run_id
    named = [one for one in artifacts if one.flow_run_id == run and one.key]
    return sorted(
        named, key=lambda artifact: ("progress", "table", "markdown").index(artifact.type)
    )


def test_held_refresh_says_so(flows, tiny_corpus, own_home):
    corpus = shutil.copytree(tiny_corpus, own_home / "corpus")
    for number in range(12):
        text = f"# Place {number}\n\nPlace {number} is a village in Norway.\n"
        (corpus / f"place-{number}.md").write_text(text)
    refresh(flows, [corpus], own_home)
    for number in range(12):
        (corpus / f"place-{number}.md").unlink()
    with pytest.raises(HeldError, match="12 of"):
        refresh(flows, [corpus], own_home)
    [held] = events("almanac.edition.held", own_home)
    assert "12 of" in held["payload"]["reason"]
    progress, table, words = newest_artifacts()
    assert progress.description == "held" and words.description == "Why the run was held"
    assert {"what": "outcome", "value": "held"} in json.loads(table.data)


@pytest.fixture
def named_server(flows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is named in the environment, too."""
    from prefect.settings import PREFECT_API_URL

    monkeypatch.setenv("PREFECT_API_URL", str(PREFECT_API_URL.value()))


def test_a_command_is_scheduled_as_it_is_typed(named_server, tiny_corpus, own_home, almanac):
    from prefect.client.orchestration import get_client
    from prefect.flows import load_flow_from_entrypoint

    typed = f"refresh {tiny_corpus} --workers 1 {WORDS_ALONE}"
    when = ("--cron", "17 3 * * *", "--after", "held", "--name", "nightly")
    made = almanac.json(own_home, "schedule", typed, *when)
    assert made["deployment"] == "refresh-knowledge/nightly"
    again = almanac.shown(own_home, "schedule", typed, *when)
    assert "by the clock (17 3 * * *) and after an edition is held" in again
    with get_client(sync_client=True) as client:
        deployed = client.read_deployment_by_name("refresh-knowledge/nightly")
        path = f"/automations/related-to/prefect.deployment.{deployed.id}"
        automations = {one["trigger"]["posture"]: one for one in client._client.get(path).json()}
    assert [one.schedule.cron for one in deployed.schedules] == ["17 3 * * *"]
    assert deployed.job_variables["working_dir"] == str(Path.cwd())
    assert automations["Reactive"]["trigger"]["expect"] == ["almanac.edition.held"]
    silence, beat = automations["Proactive"], deployed.job_variables["env"]
    assert silence["trigger"]["within"] >= 4 * int(beat["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"])
    assert [action["state"] for action in silence["actions"]] == ["CRASHED"]
    flow = load_flow_from_entrypoint(deployed.entrypoint)
    assert flow(**deployed.parameters)["published"]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["sql 'select 1'"], "Prefect cannot run .* It can run: .*refresh-knowledge"),
        (["refresh texts", "--cron", "at noon"], "The schedule 'at noon' in UTC cannot be"),
    ],
)
def test_what_cannot_be_scheduled_is_refused(named_server, own_home, almanac, typed, words):
    assert re.search(words, almanac.refused(own_home, "schedule", *typed))


def test_scheduling_needs_a_server(own_home, almanac, monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", "")
    assert "prefect server start" in almanac.refused(own_home, "schedule", "refresh texts")


@pytest.fixture
def guide(named_server, tiny_corpus, own_home, tmp_path, monkeypatch) -> list[list[str]]:
    """The commands of the guide, those in its units too, for a home and texts of the tests."""
    shutil.copytree(tiny_corpus, tmp_path / "texts")
    (own_home / "settings.toml").write_text('[engine]\nencoder = "none"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    text = (ROOT / "docs" / "schedules.md").read_text(encoding="utf-8")
    queue = re.sub(r"[^A-Za-z0-9]+", "-", str(own_home.resolve())).strip("-")
    text = text.replace("srv-almanac-almanac-home", queue)
    blocks = re.findall(r"^```(?:ini)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = re.sub(r"ExecStart(Pre)?=|/srv/almanac/venv/bin/", "", "".join(blocks)).splitlines()
    return [shlex.split(line) for line in lines if line.startswith(("almanac ", "prefect "))]


def test_the_guide_to_schedules_leads_from_nothing_to_runs_that_fire(
    guide, own_home, almanac, monkeypatch
):
    from prefect.client.orchestration import get_client
    from prefect.testing.cli import invoke_and_assert

    from flows import scheduled

    def troubles() -> str:
        with get_client(sync_client=True) as client:
            return ". ".join(scheduled.troubles(client, list(scheduled.scheduled(client))))

    serve, catch_up, work, nightly, *schedules = guide
    *schedules, listing, doctor, limit, by_hand, with_settings = schedules
    options = [word for word in serve if word.startswith("--")]
    invoke_and_assert([*serve[1:3], "--help"], expected_output_contains=options)
    before = Home(own_home).require_edition().id
    almanac.shown(own_home, *nightly[1:])
    almanac.shown(own_home, *nightly[1:])
    with monkeypatch.context() as later:
        later.setattr(scheduled, "GRACE", timedelta(days=-2))  # as if two days had gone by
        findings = {row["check"]: row for row in almanac.json(own_home, *doctor[1:])}
        assert "refresh-knowledge/nightly missed its run" in findings["schedules"]["words"]
        assert "had missed its time" in almanac.shown(own_home, *catch_up[1:])
    invoke_and_assert([*work[1:], "--run-once"], expected_code=0)
    assert "Completed" in almanac.shown(own_home, *listing[1:])
    assert Home(own_home).require_edition().id != before

    for words in schedules:
        almanac.shown(own_home, *words[1:])
    with get_client(sync_client=True) as client:
        assert len(client.read_automations_by_name("refresh-knowledge/nightly failed")) == 1
        queue = client.read_work_queue_by_name(limit[3], "almanac")
        assert queue.concurrency_limit == 1
        client.update_work_queue(queue.id, concurrency_limit=2)
        assert f"`{shlex.join(limit)}`" in troubles()
        for words in (limit, by_hand, with_settings):
            invoke_and_assert(words[1:], expected_code=0)
        assert "set-concurrency-limit" not in troubles()
        client.delete_work_pool("almanac")
    assert "refresh-knowledge/nightly has no work pool" in troubles()


def test_the_doctor_tells_of_a_server_that_does_not_answer(flows, own_home, almanac, monkeypatch):
    from prefect.settings import PREFECT_API_URL, temporary_settings

    nowhere = "http://127.0.0.1:9/api"
    monkeypatch.setenv("PREFECT_API_URL", nowhere)
    with temporary_settings({PREFECT_API_URL: nowhere}):
        code, found, _ = almanac(own_home, "doctor")
    assert code == 1 and f"nothing answers at {nowhere}/; `prefect server start`" in found


@pytest.mark.parametrize("batches", [0, 1, 40])
def test_every_batch_is_worked_on_once_in_order(flows, batches):
    from prefect import flow

    @flow
    def work() -> tuple[list[Any], list[Any]]:
        each = flows.BatchesAsTasks(SETTINGS)
        results = list(each(divmod, ((number, 7) for number in range(batches))))
        return results, list(each(os.getpid, (() for _ in range(batches))))

    results, processes = work()
    assert results == [divmod(number, 7) for number in range(batches)]
    # A few batches are done here; more are worth starting processes for.
    assert (os.getpid() in processes) == (batches == 1)


def test_only_reading_from_outside_is_tried_again(flows, monkeypatch):
    from prefect import flow

    tries: list[str] = []

    def fail(name: str) -> None:
        tries.append(name)
        raise OSError("the share is away")

    @flow
    def work(source: str) -> None:
        run_stage = flows.stages_as_tasks(RefreshKnowledge(sources=[source]).retried, pytest.fail)
        for name in ("read", "build"):
            with pytest.raises(OSError, match="away"):
                run_stage(name, partial(fail, name))

    monkeypatch.setattr(flows, "RETRY_SECONDS", [0.0, 0.0])
    work("/a/folder")
    work("s3://bucket/folder")
    assert tries == ["read", "build", "read", "read", "read", "build"]


def command(*arguments: str, **environment: str) -> dict[str, Any]:
    """Return how a refresh is started where no server is named."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    return {
        "args": [sys.executable, "-m", "flows", "refresh", *arguments],
        "env": {**kept, **environment},
        "text": True,
    }


@pytest.fixture
def served_home(small_home: Path, empty_database: Path, tmp_path: Path) -> Path:
    """A home with the database of a server of its own, which starts quickly with it.

    No model is loaded: texts are known from elsewhere.
    """
    home = copied_home(small_home, tmp_path / "served")
    shutil.copytree(empty_database.parent, home / "prefect")
    return home


@pytest.fixture
def grown_corpus(tiny_corpus: Path, tmp_path: Path) -> Path:
    """The corpus with another document, so that there is something to publish."""
    corpus = Path(shutil.copytree(tiny_corpus, tmp_path / "corpus"))
    (corpus / "oslo.md").write_text("# Oslo\n\nOslo is the capital of Norway.\n")
    return corpus


def test_killed_refresh_takes_its_server_along(tiny_corpus, served_home):
    refresh = subprocess.Popen(
        **command(str(tiny_corpus), "--home", str(served_home), "--prefect"),
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: list(servers_of(served_home)))
    refresh.send_signal(signal.SIGKILL)
    refresh.wait()
    wait_for(lambda: not list(servers_of(served_home)))


def test_server_that_dies_is_a_warning_and_the_edition_is_published(grown_corpus, served_home):
    arguments = (str(grown_corpus), "--home", str(served_home), WORDS_ALONE, "--json")
    # Prefect's requests to a server that is gone wait for it, which is no part of this.
    started = command(*arguments, "--prefect", PREFECT_CLIENT_MAX_RETRIES="0")
    refresh = subprocess.Popen(**started, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert refresh.stderr
    for line in refresh.stderr:
        if line.startswith("read:"):
            break
    servers = list(servers_of(served_home))
    for server in servers:
        server.kill()
    out, err = refresh.communicate()
    assert servers and refresh.returncode == 0, err
    assert json.loads(out)["published"]
    assert "Warning: Prefect failed" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("missing", ["start", "server"])
def test_work_is_done_plainly_where_no_server_can_be_had(tiny_corpus, own_home, missing):
    options, environment = [str(tiny_corpus), "--home", str(own_home), WORDS_ALONE], {}
    if missing == "start":
        options, environment = [*options, "--prefect"], {orchestration.START_TIMEOUT: "1"}
    else:
        environment = {"PREFECT_API_URL": "http://127.0.0.1:9/api"}
    done = subprocess.run(**command(*options, "--json", **environment), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["published"]
    assert "Warning: " in done.stderr
    if missing == "start":
        assert orchestration.START_TIMEOUT in done.stderr
        assert "starting on port" in (own_home / "prefect" / "server.log").read_text()
    assert not list(servers_of(own_home))


def servers_of(home: Path) -> Iterator[psutil.Process]:
    """Yield the servers of a home, those of an installed wheel too."""
    for process in psutil.process_iter(["cmdline", "environ"]):
        database = (process.info["environ"] or {}).get("PREFECT_API_DATABASE_CONNECTION_URL", "")
        modules = [word for word in process.info["cmdline"] or () if "temporary_server" in word]
        if modules and str(home) in database:
            yield process


def wait_for(condition: Any, seconds: float = 60) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.2)
