"""The report: a folder of pages in which every fact leads to its sentence, and back."""

import re
from pathlib import Path

import pytest

from tasks.report.write import write_report
from warehouse.home import Home


@pytest.fixture(scope="module")
def folder(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the small home."""
    home = Home(small_home)
    folder = tmp_path_factory.mktemp("report")
    write_report(home, home.require_edition(), folder)
    return folder


def pages(folder: Path) -> dict[str, str]:
    found = folder.rglob("*.html")
    return {str(page.relative_to(folder)): page.read_text(encoding="utf-8") for page in found}


def test_every_fact_leads_to_an_existing_place_in_a_document(folder: Path) -> None:
    written = pages(folder)
    entities = "".join(text for name, text in written.items() if name.startswith("entities/"))
    places = re.findall(r'href="\.\./(documents/[^"#]+)#(c\d+)"', entities)
    assert places
    for page, place in places:
        assert f'id="{place}"' in written[page]


def test_every_mark_leads_to_its_facts(folder: Path) -> None:
    for page in (folder / "documents").iterdir():
        text = page.read_text(encoding="utf-8")
        for fragment in re.findall(r'<a class="mark[^>]*href="#([^"]+)"', text):
            assert text.count(f'id="{fragment}"') == 1
