"""A name that means nobody is refused, one that means somebody is not, and scores say how sure."""

import random
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.graphs.linking.acceptance import EVIDENCE, Alike, gather
from tasks.graphs.linking.link import Linker
from tasks.graphs.linking.name_index import build_name_index

FIRST = ["Mira", "Tobias", "Leontine", "Hamid", "Oksana", "Piet", "Runa", "Gaspard", "Ines"]
LAST = ["Holt", "Varga", "Brandsma", "Okafor", "Lindqvist", "Terzi", "Moreau", "Quint", "Salgado"]
PEOPLE = [f"{first} {last}" for first, last in product(FIRST, LAST)]
PLACES = ["Port Elvering", "Elvering", "Lake Soraya", "University of Elvering", "Soraya Bridge"]
CHINESE = ["青石大学", "青石师范学院", "白沙湖", "林秋月", "陈海峰", "红叶公园", "东岭火车站"]


def linker_of(names: list[str], folder: Path) -> Linker:
    build_name_index(folder, pa.array(names), range(len(names)), np.ones(len(names)))
    return Linker.open(folder)


@pytest.fixture(scope="module")
def known() -> list[str]:
    return [*random.Random(5).sample(PEOPLE, 50), *PLACES, *CHINESE]


@pytest.fixture(scope="module")
def linker(known: list[str], tmp_path_factory: pytest.TempPathFactory) -> Linker:
    return linker_of(known, tmp_path_factory.mktemp("names"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Sepp Holt", "Where was Sepp Holt born?"), ("Mira Castellan", ""),
        ("Ministry of Fisheries", "Who leads the Ministry of Fisheries?"),
        ("Elvering Savings Bank", ""), ("the second driver", "The second driver was not hurt."),
        ("林海", ""), ("青山医院", "青山医院在哪里？"), ("黑沙河", ""),
    ],
)  # fmt: skip
def test_a_name_that_means_nobody_is_refused(linker: Linker, name: str, text: str) -> None:
    assert linker.link(text, [name]) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Port Elverring", "Port Elvering"), ("Elvering University", "University of Elvering"),
        ("Soraya Brigde", "Soraya Bridge"), ("青石师院", "青石师范学院"), ("紅葉公園", "红叶公园"),
        ("东岭车站", "东岭火车站"),
    ],
)  # fmt: skip
def test_another_spelling_is_not_refused(
    linker: Linker, known: list[str], name: str, meant: str
) -> None:
    assert [known[link.node] for link in linker.link("", [name], 1)] == [meant]


def test_a_shared_part_of_a_name_is_ambiguous_and_not_unknown(tmp_path: Path) -> None:
    linker = linker_of(["Piet Varga", "Runa Varga", "Ines Quint"], tmp_path)
    links = linker.link("", ["Varga"])
    assert {link.node for link in links[:2]} == {0, 1}
    assert links[0].score < linker.link("", ["Quint"])[0].score


def test_namesakes_share_what_one_would_have(tmp_path: Path) -> None:
    one = linker_of(["Piet Varga", "Ines Quint"], tmp_path / "one").link("", ["Piet Varga"])
    many = linker_of(["Piet Varga"] * 8 + ["Ines Quint"], tmp_path / "many")
    shares = [link.score for link in many.link("", ["Piet Varga"])]
    assert sum(shares) == pytest.approx(one[0].score, abs=0.05)
    assert max(shares) == pytest.approx(min(shares))


def test_unknown_and_known_names_are_told_apart(linker: Linker, known: list[str]) -> None:
    """The short form of `python -m benchmarks.linking`: both parts of an unknown name are known."""
    unknown = [name for name in PEOPLE if name not in known]
    refused = [not linker.link("", [name]) for name in unknown]
    initials = [f"{name[0]}. {name.split()[1]}" for name in known[:50]]
    slips = [f"{name[:-2]}{name[-1]}{name[-2]}" for name in known[:50]]
    found = [known[links[0].node] if (links := linker.link("", [s], 1)) else "" for s in slips]
    assert np.mean(refused) >= 0.8
    assert np.mean([name == right for name, right in zip(found, known, strict=False)]) >= 0.9
    assert np.mean([bool(linker.link("", [name])) for name in initials]) >= 0.9


WORDS = st.text(alphabet="abcdefgh äéß'-青石白沙", min_size=1, max_size=20).filter(
    lambda text: any(letter.isalpha() for letter in text)
)


@settings(max_examples=40)  # each makes an index, so that few have many names
@given(st.lists(WORDS, min_size=1, max_size=25, unique=True), WORDS)
def test_scores_are_shares_and_no_whole_name_is_refused(names: list[str], asked: str) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        linker = linker_of(names, Path(folder))
        for name in (*names, asked):
            scores = [link.score for link in linker.link("", [name], 100)]
            assert scores == sorted(scores, reverse=True)
            assert all(0 < score <= 1 for score in scores) and sum(scores) <= 1.0001
            assert scores or name not in names


def test_the_evidence_says_how_the_likest_name_agrees() -> None:
    names = [Alike("varga", "piet varga"), Alike("varga", "runa varga"), Alike("varga", "vargas")]
    values, bearers = gather(names, np.array([2.0, 1.5, -1.0]), lambda word: 0.4)
    assert bearers.tolist() == [True, True, False]
    given = dict(zip(EVIDENCE, values.tolist(), strict=True))
    assert given == pytest.approx(
        {"odds": 2.0, "lead": 3.0, "same": 0.0, "lacking": 0.4, "several": np.log(2)}
    )
