"""What is told of the commands that a Prefect server runs, on one server for all tests here."""

from collections.abc import Iterator
from pathlib import Path

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
