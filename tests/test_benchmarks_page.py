"""docs/benchmarks.md: every figure comes from a result that names its command, date and commit."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"


def test_the_page_is_current(repository: Path) -> None:
    check = [sys.executable, "-m", "benchmarks.page", "--check"]
    assert subprocess.run(check, cwd=repository).returncode == 0, "run `python -m benchmarks.page`"


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_result_says_how_it_was_made(path: Path) -> None:
    about = orjson.loads(path.read_bytes())
    assert about["command"].startswith("python -m benchmarks.")
    assert about["measured_on"]
    assert about["commit"]
    module = about["command"].split()[2].rpartition(".")[2]
    places = (path.parents[1] / f"{module}.py", path.parents[1] / module / "__main__.py")
    assert any(place.is_file() for place in places)


def test_the_readme_gives_a_few_figures_and_leads_to_the_others(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert "(docs/benchmarks.md)" in text
