"""docs/benchmarks.md: every figure comes from a result that names its command, date and commit."""

from pathlib import Path

import orjson
import pytest

from benchmarks.page import PAGE, page
from benchmarks.results_file import RESULTS


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m benchmarks.page`"


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
