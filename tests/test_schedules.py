"""What is told of the commands that a Prefect server runs, on one server for all tests here."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import pytest

from flows import orchestration


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server."""
    orchestration.configure()
    with orchestration.served(tmp_path_factory.mktemp("served")):
        from prefect.settings import PREFECT_API_URL

        yield str(PREFECT_API_URL.value())


RIVERS = 'sources=["https://h.example/rivers"]'


@pytest.fixture
def scheduling(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder to schedule commands from, while the environment names the server."""
    monkeypatch.setenv("PREFECT_API_URL", address)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_says_what_begins_a_run_when_where_and_of_what(scheduling, almanac):
    home = scheduling / "towns"
    almanac.shown(home, "schedule", "report --out pages", "--after", "published")
    signed_in = "refresh https://ida:pw@h.example/rivers"
    almanac.shown(Path("towns"), "schedule", signed_in, "--cron", "17 3 * * *")
    report, refresh = reversed(almanac.json(home, "schedule")["scheduled"])
    assert (report["cron"], report["after"], report["next run"]) == ("", "published", "")
    assert report["parameters"] == 'out="pages"'
    assert refresh["next run"].endswith("03:17") and refresh["parameters"] == RIVERS
    assert {report["home"], refresh["home"]} == {str(home)}
    assert "after an edition is published" in almanac.shown(home, "schedule")


def test_a_deployment_that_takes_the_place_of_another_says_of_which(scheduling, almanac):
    first = ("schedule", "compact", "--name", "weekly")
    assert "replaces" not in almanac.shown(scheduling / "seas", *first)
    assert "replaces" not in almanac.shown(scheduling / "seas", *first)
    assert f"for {scheduling / 'seas'}" in almanac.shown(scheduling / "lakes", *first)


def test_a_server_that_does_not_answer_is_named(scheduling, almanac, monkeypatch):
    from prefect.settings import PREFECT_API_URL, temporary_settings

    nowhere = "http://127.0.0.1:9/api"
    monkeypatch.setenv("PREFECT_API_URL", nowhere)
    with temporary_settings({PREFECT_API_URL: nowhere}):
        for typed in ([], ["compact"]):
            code, _, message = almanac(scheduling / "home", "schedule", *typed)
            assert code == 1 and f"Nothing answers at {nowhere}" in message
            assert "`prefect server start`" in message


def test_the_doctor_tells_of_writers_of_a_home_in_several_queues(scheduling, almanac):
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import DeploymentUpdate

    from flows.scheduled import scheduled, troubles

    home = scheduling / "hills"
    for command in ("refresh texts", "verbalize"):
        almanac.shown(home, "schedule", command, "--name", "hills")
    with get_client(sync_client=True) as client:
        words = f"runs that write {home} wait in several queues"
        assert words not in " ".join(troubles(client, list(scheduled(client))))
        changed = client.read_deployment_by_name("verbalize/hills")
        client.update_deployment(changed.id, DeploymentUpdate(work_queue_name="another"))
        assert words in " ".join(troubles(client, list(scheduled(client))))


@contextmanager
def told() -> Iterator[tuple[str, Queue[str]]]:
    """Yield an address on this machine, and the texts that are sent to it."""
    texts: Queue[str] = Queue()

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            texts.put(json.loads(sent)["text"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", texts
        server.shutdown()


def test_a_failure_is_told_once_in_its_own_words(scheduling, almanac):
    from prefect.client.orchestration import get_client
    from prefect.events import Event
    from prefect.states import Failed

    why = "Flow run encountered an exception: NotFoundError: The folder lakes: none. Name another."
    with told() as (hook, texts), get_client(sync_client=True) as client:
        for name in ("daily", "weekly"):
            typed = ("refresh lakes", "--name", name, "--set", f"notify={hook}")
            almanac.shown(scheduling / "home", "schedule", *typed)
        daily = client.read_deployment_by_name("refresh-knowledge/daily")
        run = client.create_flow_run_from_deployment(daily.id)
        client.set_flow_run_state(run.id, Failed(message=why), force=True)
        told_of = "refresh-knowledge/daily: Failed. The folder lakes: none. Name another."
        assert texts.get(timeout=60) == told_of
        again = Event(
            event="prefect.flow-run.Failed",
            resource={"prefect.resource.id": f"prefect.flow-run.{run.id}"},
            related=[
                {
                    "prefect.resource.id": f"prefect.deployment.{daily.id}",
                    "prefect.resource.role": "deployment",
                }
            ],
        )
        client._client.post("/events", json=[again.model_dump(mode="json")]).raise_for_status()
        with pytest.raises(Empty):
            texts.get(timeout=4)
