"""An index made by parts, from those of the edition before, answers as one made anew does."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tasks.graphs.linking.descriptions import DescriptionIndex, build_description_index
from tasks.graphs.linking.name_index import NameIndex, build_name_index
from tasks.retrieval.index import build_index
from tasks.retrieval.search import Searcher
from tasks.retrieval.words import EntityNameIndex, WordIndex
from tasks.text import word_index
from tasks.text.question import analyse
from tasks.text.word_index import part_ranges
from tests.small_edition import make_edition
from warehouse.editions import SCHEMA_VERSION, Building, Edition
from warehouse.manifest import describe

LETTERS: Any = SimpleNamespace(
    id="letters",
    dimensions=26,
    encode=lambda texts: (
        np.array([[t.count(chr(97 + c)) for c in range(26)] for t in texts], "f4") / 100
    ),
)
TOWNS = [f"{first}{last}" for first in ("Al", "Bel", "Cor", "Dun") for last in "abcdefghij"]
TEXTS = {
    town: f"{town} lies by the river {TOWNS[number // 3]} and trades {number % 7} sorts of grain."
    for number, town in enumerate(TOWNS)
}
CHANGED = {**TEXTS, "Bela": "Bela was moved to a hill and trades wool.", "Esk": "Esk is new."}
SHORTER = dict(list(CHANGED.items())[:-9])


@pytest.fixture(autouse=True)
def _many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_index, "LEAST", 1)
    monkeypatch.setattr(word_index, "PARTS", 4)


def edition(folder: Path, texts: dict[str, str], parent: Edition | None = None) -> Edition:
    """Write an edition with the index of its texts, and that of its towns' names and texts."""
    make_edition(folder, texts, {town: ("place", [f"{town} town"]) for town in texts})
    building = Building(folder, folder.name, 1, parent)
    build_index(folder, LETTERS, building=building)
    names, nodes, names_folder = pa.array(list(texts)), range(len(texts)), folder / "names"
    build_name_index(names_folder, names, nodes, np.ones(len(texts)), building)
    build_description_index(names_folder, nodes, pa.array(list(texts.values())), building)
    manifest = describe(folder, building.hashes)
    return Edition(folder, {**manifest, "schema_version": SCHEMA_VERSION})


def answers(edition: Edition) -> list[Any]:
    """Return ranked rows and scores of what is asked of each index of words."""
    words = WordIndex(edition.path / "search" / "words" / "passages")
    bearers = EntityNameIndex(edition.path / "search" / "words" / "names").bearers
    names = NameIndex(edition.path / "names")
    described = DescriptionIndex(edition.path / "names")
    searcher = Searcher(edition.path, LETTERS)
    questions = [*TOWNS[::5], "river", "grain wool", "trades 3 sorts", "new hill"]
    return [
        *(
            [rows.tolist(), scores.tolist()]
            for rows, scores in (words.search(q, 9) for q in questions)
        ),
        *(bearers(f"{name.lower()} town") for name in questions),
        *(names.near(name[:-1] + "x") for name in questions),
        *(described.search(question, 5) for question in questions),
        *(searcher.union(analyse(question)) for question in questions),
        *map(searcher.stated, range(len(searcher.passages(analyse("river"), 99)))),
    ]


def test_changes_additions_and_deletions_give_the_index_made_anew(tmp_path: Path) -> None:
    made = edition(tmp_path / "0", TEXTS)
    for step, texts in enumerate((CHANGED, SHORTER), 1):
        made = edition(tmp_path / str(step), texts, made)
        assert answers(made) == answers(edition(tmp_path / f"anew{step}", texts))


def test_most_parts_are_linked_when_one_text_changes(tmp_path: Path) -> None:
    first = edition(tmp_path / "0", TEXTS)
    second = edition(tmp_path / "1", {**TEXTS, "Dunj": "Dunj burnt down."}, first)
    files = {"words/passages/*.idx": 1, "vectors/*[!s].npy": 1, "statements/*.arrow": 0}
    for pattern, new in files.items():
        parts = list((second.path / "search").glob(pattern))
        assert len(parts) > 2
        assert sum(path.stat().st_nlink == 1 for path in parts) == new
    assert second.damaged() == []


def test_a_damaged_part_is_made_anew(tmp_path: Path) -> None:
    first = edition(tmp_path / "0", TEXTS)
    folders = ("search/words/passages", "search/words/names", "names/words")
    for path in (file for folder in folders for file in (first.path / folder).glob("*.idx")):
        path.write_bytes(path.read_bytes()[::-1])
    second = edition(tmp_path / "1", CHANGED, first)
    assert answers(second) == answers(edition(tmp_path / "anew", CHANGED))


def test_a_row_that_goes_moves_no_bound_of_other_parts() -> None:
    keys = np.arange(1000, dtype=np.uint64).repeat(2)
    parts = list(part_ranges(keys))
    assert 2 <= len(parts) <= 8
    assert parts[0][0] == 0 and parts[-1][1] == len(keys)
    assert all(end % 2 == 0 for _, end in parts)
    assert {first + 2 for first, _ in part_ranges(keys[2:])} <= {2, *(first for first, _ in parts)}
    assert list(part_ranges(keys[:0])) == []
