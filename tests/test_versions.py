"""Versions are decisions: whoever changes an output raises a number, and nothing else does."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import tasks
from schemas.settings import EngineSettings
from tasks.extract.rules import RULES_VERSION, RulesEngine
from tasks.ingest.split import splitter_version
from tests.golden_outputs import GOLDENS, Golden, compared, passages, texts

OUTPUTS = {"one": {"triples": ["a | b | c"], "numbers": [0.5]}, "two": {"triples": []}}
GOLDEN = Golden("X_VERSION", "tasks/x.py", 2, "sentences", lambda: OUTPUTS)


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.constant)
def test_outputs_change_only_with_their_version(golden: Golden) -> None:
    assert not golden.objection(), golden.objection()


def test_hundreds_of_sentences_in_both_languages_are_compared() -> None:
    chinese = [row for row in texts() if not row["text"].isascii()]
    assert len(texts()) > 300
    assert len(chinese) > 120
    assert any(row["blocks"] for row in passages(160))


def test_an_output_that_changed_needs_another_number() -> None:
    now = {**OUTPUTS, "two": {"triples": ["d | e | f"]}}
    words = compared(GOLDEN, 2, OUTPUTS, now)
    assert "the output for 1 sentences changed: raise X_VERSION (tasks/x.py)" in words
    assert "python -m tests.golden_outputs --write" in words


def test_another_number_needs_the_outputs_to_be_stored_again() -> None:
    assert "run `python -m tests.golden_outputs --write`" in compared(GOLDEN, 1, OUTPUTS, OUTPUTS)
    assert "run" in compared(GOLDEN, 2, OUTPUTS, {"one": OUTPUTS["one"]})


@pytest.mark.parametrize(("number", "tells"), [(0.501, False), (0.56, True)])
def test_only_more_than_noise_counts_in_what_was_calculated(number: float, tells: bool) -> None:
    now = {**OUTPUTS, "one": {**OUTPUTS["one"], "numbers": [number]}}
    assert bool(compared(GOLDEN, 2, OUTPUTS, now)) == tells


def test_changed_outputs_are_never_stored_under_the_same_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.golden_outputs.FOLDER", tmp_path)
    GOLDEN.write()
    changed = replace(GOLDEN, made_now=lambda: {"one": {"triples": []}})
    with pytest.raises(SystemExit, match="raise X_VERSION"):
        changed.write()
    replace(changed, version=3).write()
    assert not replace(changed, version=3).objection()


def test_versions_depend_on_no_source_file(tmp_path: Path) -> None:
    """A process without a single readable source of ours gives the same versions."""
    code = """
import builtins, io, pathlib
from tasks.extract.by_model.engine import identity
from tasks.extract.rules import RulesEngine
from tasks.ingest.split import splitter_version
from schemas.settings import EngineSettings
from tasks.publish.build import Recipe
from tasks.version import code_version
def refuse(path, *args, **more):
    if str(path).endswith((".py", ".toml", ".sql")):
        raise AssertionError(f"{path} was read")
    return opened(path, *args, **more)
opened, io.open, builtins.open = io.open, refuse, refuse
print(RulesEngine().prompt_sha, splitter_version(160), code_version())
model = EngineSettings.model_validate({"engine": "openai", "model": {"name": "m"}})
print(identity(model))
print(Recipe("rules", "1", "1", None, 0.0).facts()["derivation"])
"""
    root = str(Path(tasks.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": root},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split()[:2] == [RulesEngine().prompt_sha, splitter_version(160)]


def test_what_a_user_sets_is_part_of_the_version_of_the_rules(tmp_path: Path) -> None:
    (tmp_path / "config.cfg").write_text("[nlp]", encoding="utf-8")
    own = EngineSettings(english_pipeline=str(tmp_path))
    first = RulesEngine(own).prompt_sha
    (tmp_path / "config.cfg").write_text("[nlp]\nlang = 'en'", encoding="utf-8")
    versions = {
        first,
        *(
            RulesEngine(settings).prompt_sha
            for settings in (
                own,
                EngineSettings(),
                EngineSettings(speaker="Acme"),
                EngineSettings(audience="Acme"),
                EngineSettings(english_pipeline="no_such_pipeline"),
            )
        ),
    }
    assert len(versions) == 6
    assert all(version.startswith(f"{RULES_VERSION}-") for version in versions)


def test_the_version_of_the_splitter_names_the_budget() -> None:
    assert splitter_version(160) != splitter_version(80)
