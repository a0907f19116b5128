"""The demo refreshes, answers, and trains an expert where that is asked for."""

import json
import re
from pathlib import Path

import pytest

from flows.__main__ import main
from flows.commands import demo
from tasks.experts import competence

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


def test_an_expert_is_trained_and_asked_alone(examples, home, monkeypatch, almanac):
    monkeypatch.setattr(demo, "EXPERT_MINUTES", 0.05)
    monkeypatch.setattr(competence, "LEAST_RIGHT", 0.0)  # so soon it knows nothing
    shown = almanac.json(home.path, "demo", "--expert", "--examples", str(examples))
    assert [answer["route"] for answer in shown["answers"][:3]] == ["text"] * 3
    assert shown["expert"]["expert"] == "moons"
    assert shown["answers"][3]["question"] == demo.EXPERT_QUESTION


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
