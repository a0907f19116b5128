"""The notebooks run from the first cell to the last, share a home, and are kept without outputs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
SHOWN = {
    "refresh_and_ask": ["Colin Archer", "unchanged", "False"],
    "query_in_sql": ["Roald Amundsen", "span_start"],
    "learn_from_questions": ["Deimos", "thrust"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder beside the sample corpus and the sample graphs, where the notebooks run."""
    place = tmp_path_factory.mktemp("examples")
    for name in ("corpus", "graphs"):
        (place / name).symlink_to(EXAMPLES / name)
    (place / "notebooks").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(EXAMPLES.parent))
        yield place / "notebooks"


def cells_of(name: str) -> Any:
    return nbformat.read(EXAMPLES / "notebooks" / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_runs_and_shows_what_it_promises(name: str, folder: Path) -> None:
    notebook = cells_of(name)
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    shown = str([cell.get("outputs") for cell in notebook.cells])
    assert [words for words in SHOWN[name] if words not in shown] == []


@pytest.mark.parametrize("path", (EXAMPLES / "notebooks").glob("*.ipynb"), ids=lambda p: p.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    assert path.stem in SHOWN
    code = [cell for cell in cells_of(path.stem).cells if cell.cell_type == "code"]
    assert not [cell for cell in code if cell.outputs or cell.execution_count]
