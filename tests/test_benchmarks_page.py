"""Documented figures: each has a result and a command, and its short form gives it again."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import orjson
import pytest

ROOT = Path(__file__).parents[1]
LISTED = tomllib.loads((ROOT / "benchmarks" / "figures.toml").read_text(encoding="utf-8"))
FORMS = LISTED["command"]
FAST = [name for name, form in FORMS.items() if form.get("fast")]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TOOLS = {"page", "check", "foreign_questions"}  # the last needs a home with experts
STUDIES = {
    "arms_study",
    "knowledge_gain",
}  # tests run them; no document shows figures of theirs


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the benchmarks, which tests do not import."""
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_page_is_current():
    assert run("benchmarks.page", "--check").returncode == 0, "run `python -m benchmarks.page`"


RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_says_how_it_was_made_and_is_listed(path):
    about = orjson.loads(path.read_bytes())
    assert about["command"].startswith("python -m benchmarks.")
    assert about["measured_on"]
    assert about["commit"]
    assert path.stem in FORMS


def test_every_figure_of_the_page_has_a_command_with_bounds():
    shown = {figure["result"] for section in LISTED["section"] for figure in section["figure"]}
    assert shown <= set(FORMS)
    assert all(form["short"] and form["bounds"] for form in FORMS.values())


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_cites_only_commands_that_are_listed(path):
    listed = {form["command"].split()[2].partition(".")[2] for form in FORMS.values()}
    text = " ".join(path.read_text(encoding="utf-8").split())
    cited = set(re.findall(r"python -m benchmarks\.(\w+)", text))
    assert cited <= listed | TOOLS | STUDIES


@pytest.fixture(scope="module")
def checked() -> dict[str, str]:
    """Return what the check of the fast short forms says about each; they share one process."""
    lines = run("benchmarks.check", "--fast").stdout.splitlines()
    return {name: said for name, _, said in (line.partition(": ") for line in lines)}


@pytest.mark.parametrize("name", FAST)
def test_a_short_form_gives_the_documented_figures(name, checked):
    if "belongs to the benchmark data" in checked[name]:
        pytest.skip(checked[name])
    assert checked[name].startswith("holds")


def test_every_command_of_benchmarks_and_recipes_has_a_help():
    done = run("benchmarks.check", "--help-pages")
    assert done.returncode == 0, done.stdout


def test_the_readme_gives_a_few_figures_and_leads_to_the_others(repository):
    text = (repository / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert "(docs/benchmarks.md)" in text
