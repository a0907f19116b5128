"""Names lead to the nodes they mean, however spelled, in both languages; none where none fits.

A name that means nobody is refused, one that means somebody is not, and scores say how sure.
"""

import json
import random
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.graphs.graph import Graph
from tasks.graphs.linking.acceptance import EVIDENCE, Alike, gather
from tasks.graphs.linking.context import Context
from tasks.graphs.linking.descriptions import build_description_index
from tasks.graphs.linking.likeness import MEASURES, likenesses
from tasks.graphs.linking.link import Linker
from tasks.graphs.linking.name_index import NameIndex, build_name_index
from tasks.graphs.linking.spellings import han_pieces, short_forms

# Each row: label, aliases, description. Their places are the nodes.
PEOPLE: list[tuple[str, tuple[str, ...], str]] = [
    ("Barack Obama", ("Barack Hussein Obama",), "president of the United States"),
    ("Nora Obama", (), "lawyer and writer"),
    ("J. R. R. Tolkien", ("John Ronald Reuel Tolkien",), "English writer and philologist"),
    ("Antonín Dvořák", (), "Czech composer of symphonies"),
    ("World Health Organization", (), "agency for public health"),
    ("Springfield", (), "capital of the state of Illinois"),
    ("Springfield", (), "city in Massachusetts where basketball was invented"),
    ("New York City", ("NYC", "Big Apple"), "most populous city of the United States"),
    ("The Beatles", (), "rock band from Liverpool"),
    ("Venus", (), "second planet from the Sun"),
    ("Steven Spielberg", (), "American film director"),
    ("北京大学", ("北大",), "位于北京的大学"),
    ("北京师范大学", (), "位于北京的师范院校"),
    ("李白", ("李太白", "诗仙"), "唐代诗人"),
    ("青藏高原", (), "世界海拔最高的高原"),
    ("University of California, Los Angeles", (), "public university in California"),
]
LABELS = [label for label, _, _ in PEOPLE]


def node_of(label: str) -> int:
    return LABELS.index(label)


def index_names(folder: Path, names: Sequence[tuple[str, int, float]]) -> NameIndex:
    texts, nodes, weights = zip(*names, strict=True)
    build_name_index(folder, pa.array(texts), nodes, weights)
    return NameIndex(folder)


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    folder = tmp_path_factory.mktemp("names")
    names = [(label, node, 1.0) for node, label in enumerate(LABELS)]
    names += [(alias, node, 0.5) for node, (_, also, _) in enumerate(PEOPLE) for alias in also]
    index_names(folder, names)
    descriptions = [about for _, _, about in PEOPLE]
    build_description_index(folder, range(len(PEOPLE)), pa.array(descriptions))
    return Linker.open(folder)


def first(linker: Linker, name: str, question: str = "") -> int | None:
    links = linker.link(question, [name])
    return links[0].node if links else None


@pytest.mark.parametrize(
    ("asked", "label"),
    [
        ("Barack Obama", "Barack Obama"), ("barack obama", "Barack Obama"),
        ("Barak Obama", "Barack Obama"), ("Barack Obmaa", "Barack Obama"),
        ("Obama, Barack", "Barack Obama"), ("B. Obama", "Barack Obama"),
        ("Tolkien", "J. R. R. Tolkien"), ("JRR Tolkien", "J. R. R. Tolkien"),
        ("Antonin Dvorak", "Antonín Dvořák"), ("WHO", "World Health Organization"),
        ("UCLA", "University of California, Los Angeles"), ("Big Apple", "New York City"),
        ("New Yrok City", "New York City"), ("The Beetles", "The Beatles"),
        ("Spielberg Steven", "Steven Spielberg"), ("Spilberg", "Steven Spielberg"),
        ("李白", "李白"), ("李太白", "李白"), ("北京大學", "北京大学"),
        ("北京师大", "北京师范大学"), ("青藏高源", "青藏高原"), ("青藏的高原", "青藏高原"),
        ("青高原", "青藏高原"),
    ],
)  # fmt: skip
def test_a_name_is_found_however_it_is_spelled(linker: Linker, asked: str, label: str) -> None:
    assert first(linker, asked) == node_of(label)


@pytest.mark.parametrize("asked", ["asdkjhaskd qwxz", "…", "葡萄牙语", "", " ", "\u202e"])
def test_what_fits_nothing_is_none(linker: Linker, asked: str) -> None:
    assert linker.link("Who is that?", [asked]) == []


def test_who_is_called_so_comes_before_whom_it_may_be_short_for(tmp_path: Path) -> None:
    names = [("N syndrome", 0, 1.0), ("Nager dysostosis", 1, 1.0), ("Nager syndrome", 1, 0.5)]
    names += [("G-CSF", 2, 0.5), ("Long colony factor", 3, 1.0), ("GM-CSF", 3, 0.5)]
    linker = Linker(index_names(tmp_path, names))
    assert first(linker, "Nager syndrome") == 1
    assert first(linker, "GM-CSF") == 3
    assert first(linker, "N syndrome") == 0


def test_the_question_decides_between_namesakes(linker: Linker) -> None:
    illinois, massachusetts = (n for n, label in enumerate(LABELS) if label == "Springfield")
    question = "Which state is Springfield the capital of?"
    assert first(linker, "Springfield", question) == illinois
    question = "In which city of Massachusetts, Springfield, was basketball invented?"
    assert first(linker, "Springfield", question) == massachusetts


def test_a_description_is_found_where_no_name_is(linker: Linker) -> None:
    assert first(linker, "second planet from Sun") == node_of("Venus")
    assert first(linker, "唐代诗人") == node_of("李白")
    links = linker.link("", ["second planet from Sun"])
    assert all(link.score <= 0.5 for link in links)  # a guess, and it says so


def test_the_better_connected_namesake_comes_first_and_neighbours_count(tmp_path: Path) -> None:
    names = [("Paris", 0, 1.0), ("Paris", 1, 1.0), ("France", 2, 1.0), ("Texas", 3, 1.0)]
    index = index_names(tmp_path, names)
    edges = np.array([[0, 0, 3], [1, 0, 2], [1, 1, 4], [1, 1, 5]], np.int32)
    labels = pa.array(["Paris", "Paris", "France", "Texas", "Louvre", "Seine"])
    nothing = (np.zeros(0, np.uint64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    graph = Graph.from_arrays("g", ["lies_in", "has"], labels, labels, edges, nothing)
    linker = Linker(index, graph)
    assert [link.node for link in linker.link("Where is Paris?", ["Paris"])] == [1, 0]
    assert linker.link("Who is mayor of Paris, Texas?", ["Paris"])[0].node == 0


def test_scores_are_shares_and_any_alias_may_lead(linker: Linker) -> None:
    links = linker.link("", ["Obama", "Barack Hussein Obama"])
    assert links[0].node == node_of("Barack Obama")
    assert 0 < sum(link.score for link in links) <= 1
    assert [link.score for link in links] == sorted((x.score for x in links), reverse=True)


def test_many_namesakes_hide_nobody(tmp_path: Path) -> None:
    names = [("Joan Swith", node, 1.0) for node in range(500)] + [("Jon Swithe", 500, 1.0)]
    index = index_names(tmp_path, names)
    assert len(index.bearers("joan swith", 1000)) == 500
    assert 500 in {spelling.node for spelling in index.near("Joan Swyth")}


def test_an_index_of_nothing_finds_nothing(tmp_path: Path) -> None:
    build_name_index(tmp_path, pa.array([], pa.string()), [], [])
    assert Linker.open(tmp_path).link("Who?", ["Ada"]) == []


def test_the_same_names_make_the_same_index(tmp_path: Path) -> None:
    names = [(f"Name {number % 700} of {number}", number, 1.0) for number in range(2000)]
    one, two = (index_names(tmp_path / place, names) for place in "ab")
    for name in ("Name 7 of 707", "Nmae 7", "name of 1999"):
        assert one.near(name) == two.near(name)


def test_naughty_strings_are_found_byte_for_byte(almanac_data: Path, tmp_path: Path) -> None:
    read = json.loads((almanac_data / "hostile" / "blns.json").read_text("utf-8"))
    strings = list(dict.fromkeys(text for text in read if text))
    index = index_names(tmp_path, [(text, node, 1.0) for node, text in enumerate(strings)])
    linker = Linker(index)
    for node, text in enumerate(strings):
        assert node in {s.node for s in index.bearers(text, 1000) if s.name == text}
        linker.link(text, [text])


WORDS = st.text(alphabet="abcdefgh äéß'-北京上海人", min_size=1, max_size=24).filter(str.strip)


@settings(max_examples=40)  # each makes an index, so that few have many names
@given(st.lists(WORDS, min_size=1, max_size=30, unique=True))
def test_every_name_finds_its_bearer(names: list[str]) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        index = index_names(Path(folder), [(name, node, 1.0) for node, name in enumerate(names)])
        for node, name in enumerate(names):
            assert node in {spelling.node for spelling in index.bearers(name)}


@given(WORDS, WORDS)
def test_measures_stay_between_none_and_all(one: str, other: str) -> None:
    measures = likenesses(one, [other, one], lambda token: 0.5)
    assert measures.shape == (2, len(MEASURES))
    assert ((measures >= 0) & (measures <= 1.0001)).all()
    assert measures[1, MEASURES.index("letters")] == 1


def test_short_forms_and_pieces() -> None:
    assert short_forms("john ronald reuel tolkien") == ["jrrt", "jrr tolkien", "j tolkien"]
    assert short_forms("university of california") == ["uoc", "uc", "uo california", "u california"]
    assert short_forms("ada") == []
    assert han_pieces("北京大学 abc 李") == ["北京", "京大", "大学", "李"]


def test_a_question_fits_a_node_by_any_of_its_many_neighbours() -> None:
    towns = [("Ruritania", f"has town {n}", f"Town{n}") for n in range(20)]
    graph = Graph.of("lands", [*towns, ("Ruritania", "has wine", "Zendaberry")])
    context = Context("Which Zendaberry do they grow?", ["Ruritania"], graph, None)
    assert context.fit(int(graph.named("Ruritania")[0]))


# -- who is unknown -------------------------------------------------------------------------------


FIRST = ["Mira", "Tobias", "Leontine", "Hamid", "Oksana", "Piet", "Runa", "Gaspard", "Ines"]
LAST = ["Holt", "Varga", "Brandsma", "Okafor", "Lindqvist", "Terzi", "Moreau", "Quint", "Salgado"]
PERSONS = [f"{first} {last}" for first, last in product(FIRST, LAST)]
PLACES = ["Port Elvering", "Elvering", "Lake Soraya", "University of Elvering", "Soraya Bridge"]
CHINESE = ["青石大学", "青石师范学院", "白沙湖", "林秋月", "陈海峰", "红叶公园", "东岭火车站"]


def linker_of(names: list[str], folder: Path) -> Linker:
    return Linker(index_names(folder, [(name, node, 1.0) for node, name in enumerate(names)]))


@pytest.fixture(scope="module")
def known() -> list[str]:
    return [*random.Random(5).sample(PERSONS, 50), *PLACES, *CHINESE]


@pytest.fixture(scope="module")
def registry(known: list[str], tmp_path_factory: pytest.TempPathFactory) -> Linker:
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
def test_a_name_that_means_nobody_is_refused(registry: Linker, name: str, text: str) -> None:
    assert registry.link(text, [name]) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Port Elverring", "Port Elvering"), ("Elvering University", "University of Elvering"),
        ("Soraya Brigde", "Soraya Bridge"), ("青石师院", "青石师范学院"), ("紅葉公園", "红叶公园"),
        ("东岭车站", "东岭火车站"),
    ],
)  # fmt: skip
def test_another_spelling_is_not_refused(
    registry: Linker, known: list[str], name: str, meant: str
) -> None:
    assert [known[link.node] for link in registry.link("", [name], 1)] == [meant]


def test_a_shared_part_of_a_name_is_ambiguous_and_not_unknown(tmp_path: Path) -> None:
    registry = linker_of(["Piet Varga", "Runa Varga", "Ines Quint"], tmp_path)
    links = registry.link("", ["Varga"])
    assert {link.node for link in links[:2]} == {0, 1}
    assert links[0].score < registry.link("", ["Quint"])[0].score


def test_namesakes_share_what_one_would_have(tmp_path: Path) -> None:
    one = linker_of(["Piet Varga", "Ines Quint"], tmp_path / "one").link("", ["Piet Varga"])
    many = linker_of(["Piet Varga"] * 8 + ["Ines Quint"], tmp_path / "many")
    shares = [link.score for link in many.link("", ["Piet Varga"])]
    assert sum(shares) == pytest.approx(one[0].score, abs=0.05)
    assert max(shares) == pytest.approx(min(shares))


def test_unknown_and_known_names_are_told_apart(registry: Linker, known: list[str]) -> None:
    """The short form of `python -m benchmarks.linking`: both parts of an unknown name are known."""
    unknown = [name for name in PERSONS if name not in known]
    refused = [not registry.link("", [name]) for name in unknown]
    initials = [f"{name[0]}. {name.split()[1]}" for name in known[:50]]
    slips = [f"{name[:-2]}{name[-1]}{name[-2]}" for name in known[:50]]
    found = [known[links[0].node] if (links := registry.link("", [s], 1)) else "" for s in slips]
    assert np.mean(refused) >= 0.8
    assert np.mean([name == right for name, right in zip(found, known, strict=False)]) >= 0.9
    assert np.mean([bool(registry.link("", [name])) for name in initials]) >= 0.9


LETTERED = st.text(alphabet="abcdefgh äéß'-青石白沙", min_size=1, max_size=20).filter(
    lambda text: any(letter.isalpha() for letter in text)
)


@settings(max_examples=40)  # each makes an index, so that few have many names
@given(st.lists(LETTERED, min_size=1, max_size=25, unique=True), LETTERED)
def test_scores_are_shares_and_no_whole_name_is_refused(names: list[str], asked: str) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        registry = linker_of(names, Path(folder))
        for name in (*names, asked):
            scores = [link.score for link in registry.link("", [name], 100)]
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
