"""The demo does each step of the whole by a command that it shows."""

import json
import re
from pathlib import Path

import pytest

from flows.__main__ import main
from flows.commands import demo
from schemas.errors import AlmanacError
from tasks.experts import check, competence

CHECKOUT = Path(__file__).parents[1]
GRAPHS = CHECKOUT / "examples" / "graphs"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    folder = tmp_path / "examples"
    (folder / "corpus").mkdir(parents=True)
    (folder / "corpus" / "fram.md").write_text("# Fram\n\nColin Archer designed the ship Fram.\n")
    (folder / "graphs").mkdir()
    (folder / "graphs" / "moons.tsv").symlink_to(GRAPHS / "moons.tsv")
    asked = (GRAPHS / "moons-questions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "graphs" / "moons-questions.jsonl").write_text("".join(asked[:40]), encoding="utf-8")
    rows = [{"id": name, "question": "Who designed the ship Fram?"} for name in demo.QUESTIONS]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def test_each_step_is_the_command_that_is_shown(examples, home, monkeypatch, almanac):
    monkeypatch.setattr(demo, "EXPERT_MINUTES", 0.01)
    monkeypatch.setattr(check, "FEW_QUESTIONS", 5)
    monkeypatch.setattr(competence, "LEAST_RIGHT", 0.0)  # so soon it knows nothing
    shown = almanac.shown(home.path, "demo", "--examples", str(examples))
    lines = re.findall(r"^\$ almanac (\S+)", shown, re.MULTILINE)
    trained = ["train-experts", "calibrate-gate", "train-paths"]
    assert lines == ["refresh", "import-graph", *trained, *["ask"] * 5, "report"]
    (address,) = re.findall(r"Open (file://\S+) ", shown)
    assert address == (home.path / "report" / "index.html").absolute().as_uri()
    assert (home.path / "report" / "index.html").is_file()
    assert "Deimos; Phobos" in shown
    tables = ("experts", "gates", "path_policies")
    counts = ", ".join(f"(select count(*) from {table}) as {table}" for table in tables)
    assert almanac.rows(home.path, f"select {counts}") == [dict.fromkeys(tables, 1)]


def test_what_lacks_its_extra_is_left_out_and_said(examples, home, monkeypatch, almanac):
    def lacking(extra: str) -> None:
        raise AlmanacError(f"This needs {extra}.")

    monkeypatch.setattr(demo, "check_extra", lacking)
    code, out, err = almanac(home.path, "demo", "--examples", str(examples), "--json")
    assert code == 0, err
    assert {"refresh", "import-graph", "report", "answers"} == set(json.loads(out))
    assert "Without `almanac train-experts moons --minutes 1.5`: This needs experts." in err


def test_the_help_names_the_home_of_the_demo(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert f"of demo ./{demo.DEMO_HOME}" in " ".join(capsys.readouterr().out.split())


def test_the_query_of_the_readme_finds_facts(home, almanac):
    corpus = CHECKOUT / "examples" / "corpus"
    texts = [*corpus.glob("*/*-curie.md"), *corpus.glob("zh/*-furen.md"), corpus / "chemistry"]
    almanac.json(home.path, "refresh", *map(str, texts), "--no-vectors")
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (query,) = re.findall(r'^almanac sql "(.*)"', readme, re.MULTILINE)
    assert len(almanac.rows(home.path, query)) > 3
