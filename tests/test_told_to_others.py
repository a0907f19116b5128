"""What other tools are told of runs and questions: OpenLineage events and OpenTelemetry spans."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.settings import EngineSettings, Settings
from tasks.refresh import refresh
from warehouse.home import Home

SETTINGS = Settings(engine=EngineSettings(encoder="none"), workers=1)
LOADED = (
    "import sys; from flows.__main__ import main; main(sys.argv[1:]);"
    "print(sorted({'openlineage', 'opentelemetry'} & set(sys.modules)), file=sys.stderr)"
)


@pytest.fixture
def lineage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file to which OpenLineage's client appends events."""
    told = tmp_path / "lineage.jsonl"
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(told))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    return told


def test_an_edition_is_told_with_the_sources_it_was_made_from(lineage, own_home, tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "oslo.md").write_text("# Oslo\n\nOslo is the capital of Norway.\n", encoding="utf-8")
    run = refresh(Home(own_home), [str(texts)], SETTINGS)
    started, done = map(json.loads, lineage.read_text(encoding="utf-8").splitlines())
    assert (started["eventType"], done["eventType"]) == ("START", "COMPLETE")
    assert started["run"]["runId"] == done["run"]["runId"]
    assert done["job"] == started["job"]
    assert done["job"]["name"] == f"{own_home.resolve()}:refresh_knowledge"
    assert str(texts) in {source["name"] for source in done["inputs"]}
    [edition] = done["outputs"]
    assert edition["facets"]["version"]["datasetVersion"] == run.edition
    rows = edition["outputFacets"]["outputStatistics"]["rowCount"]
    assert rows == sum(run.counts["edition"].values())


def test_a_failed_run_tells_why(lineage, home, tmp_path):
    with pytest.raises(Exception, match="No such file"):
        refresh(home, [str(tmp_path / "missing")], SETTINGS)
    failed = json.loads(lineage.read_text(encoding="utf-8").splitlines()[-1])
    assert failed["eventType"] == "FAIL" and not failed["outputs"]
    assert "No such file" in failed["run"]["facets"]["errorMessage"]["message"]


def test_lineage_that_cannot_be_told_is_a_note(monkeypatch, own_home, tmp_path):
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "pigeon")
    (tmp_path / "oslo.md").write_text("# Oslo\n\nOslo is in Norway.\n", encoding="utf-8")
    run = refresh(Home(own_home), [str(tmp_path / "oslo.md")], SETTINGS)
    assert run.published
    assert [note for note in run.notes if note.startswith("lineage is not told: ")]


@pytest.mark.parametrize(
    ("environment", "loaded"), [({}, []), ({"OTEL_TRACES_EXPORTER": "console"}, ["opentelemetry"])]
)
def test_spans_are_told_where_that_is_configured_and_cost_nothing_elsewhere(
    environment, loaded, own_home, monkeypatch
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    command = ["ask", "Where was Ada Lovelace born?", "--home", str(own_home)]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == str(loaded)
    assert ('"name": "almanac.ask"' in done.stdout) is bool(loaded)
    assert ('"answerable": true' in done.stdout) is bool(loaded)
    assert "London" in done.stdout
