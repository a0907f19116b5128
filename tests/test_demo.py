"""The demo refreshes, answers, and trains an expert where that is asked for."""

import json
import re
from pathlib import Path

import pytest

from flows.__main__ import main
from flows.commands import demo

CHECKOUT = Path(__file__).parents[1]
GRAPHS = CHECKOUT / "examples" / "graphs"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    folder = tmp_path / "examples"
    (folder / "corpus").mkdir(parents=True)
    (folder / "corpus" / "fram.md").write_text("# Fram\n\nColin Archer designed the ship Fram.\n")
    (folder / "graphs").symlink_to(GRAPHS)
    rows = [{"id": name, "question": "Who designed the ship Fram?"} for name in demo.QUESTIONS]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def test_an_expert_is_trained_and_asked_alone(examples, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(demo, "EXPERT_MINUTES", 0.05)
    home = str(tmp_path / "home")
    assert main(["demo", "--expert", "--json", "--examples", str(examples), "--home", home]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [answer["route"] for answer in shown["answers"][:3]] == ["text"] * 3
    assert shown["expert"]["expert"] == "moons"
    assert shown["answers"][3]["question"] == demo.EXPERT_QUESTION


def test_the_help_names_the_home_of_the_demo(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert f"of demo ./{demo.DEMO_HOME}" in " ".join(capsys.readouterr().out.split())


def test_the_query_of_the_readme_finds_facts(tmp_path, capsys):
    corpus, home = CHECKOUT / "examples" / "corpus", str(tmp_path / "home")
    texts = [*corpus.glob("*/*-curie.md"), *corpus.glob("zh/*-furen.md"), corpus / "chemistry"]
    assert main(["refresh", *map(str, texts), "--home", home, "--no-vectors", "--json"]) == 0
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (query,) = re.findall(r'^almanac sql "(.*)"', readme, re.MULTILINE)
    capsys.readouterr()
    assert main(["sql", query, "--home", home, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) > 3
