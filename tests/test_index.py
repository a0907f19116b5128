"""The search folder is made from the tables alone, and says the same each time."""

import json
from pathlib import Path

import numpy as np

from tasks.retrieval.index import build_index
from tasks.retrieval.passage_graph import FOLLOW, REST, PassageGraph, Walker
from tasks.retrieval.search import Searcher, open_vectors
from tasks.retrieval.words import EntityNameIndex, WordIndex
from tasks.text.question import analyse
from tasks.text.word_index import open_table
from tests.small_edition import make_edition

TEXTS = {
    "Marie Curie": "Marie Curie discovered polonium in Paris.",
    "Polonium": "Polonium is a chemical element named after Poland.",
    "清华大学": "清华大学位于北京市海淀区。",
}
ENTITIES = {
    "Marie Curie": ("person", ["Curie"]),
    "Poland": ("place", []),
    "polonium": ("thing", ["Polonium"]),
    "清华大学": ("organisation", ["清华"]),
}
FACTS = [("Marie Curie", "Marie Curie", "discovered", "polonium")]


class CountingEncoder:
    """Turns a text into a vector that shows which one it is."""

    id, dimensions = "counting", 4

    def encode(self, texts: list[str]) -> np.ndarray:
        vectors = np.array([[len(text), text.count("o"), 1, 0] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def indexed(folder: Path) -> Path:
    make_edition(folder, TEXTS, ENTITIES, FACTS)
    build_index(folder, CountingEncoder())
    return folder / "search"


def test_texts_keep_their_order_and_places(tmp_path):
    passages = open_table(indexed(tmp_path) / "passages.arrow").to_pylist()
    assert [row["title"] for row in passages] == list(TEXTS)
    assert all(row["text"] == TEXTS[row["title"]] for row in passages)


def test_english_is_found_in_any_inflection_and_chinese_by_its_words(tmp_path):
    words = WordIndex(indexed(tmp_path) / "words" / "passages")
    assert list(words.search("discovering elements", 5)[0]) == [0, 1]
    assert list(words.search("北京的大学", 5)[0]) == [2]
    assert list(words.search('"(*~^ AND', 5)[0]) == []


def test_names_are_looked_up_whole(tmp_path):
    names = EntityNameIndex(indexed(tmp_path) / "words" / "names")
    assert [name.entity for name in names.bearers("curie")] == [0]
    assert names.bearers("marie") == []


def test_chinese_gets_no_vector_from_an_english_encoder(tmp_path):
    folder = indexed(tmp_path)
    [vectors], rows = open_vectors(folder, "vectors")
    assert list(rows) == [0, 1]
    assert vectors.shape == (2, 4)
    assert vectors.dtype == np.float16
    assert not (folder / "chinese_vectors").exists()


def test_titles_names_and_facts_make_the_graph(tmp_path):
    graph = PassageGraph.load(indexed(tmp_path) / "graph.npz")
    assert [0, 0] in graph.titled.tolist()
    assert len(graph.related) == 1
    assert {tuple(pair) for pair in graph.named[:, :2]} >= {(0, 0), (1, 1)}


def test_a_walk_reaches_the_passage_of_a_linked_thing(tmp_path):
    graph = PassageGraph.load(indexed(tmp_path) / "graph.npz")
    time = Walker(graph).walk({0: 1.0}, {})
    assert time[0] > time[1] > time[2] == 0
    assert not Walker(graph).walk({}, {}).any()


def test_a_walk_is_personalised_pagerank_but_for_a_small_rest():
    random = np.random.default_rng(0)
    named = np.unique(random.integers([0, 0, 1], [40, 30, 4], (150, 3)), axis=0).astype(np.int32)
    none = np.empty((0, 2), np.int32)
    graph = PassageGraph(40, 30, named, titled=none, related=none)
    weights = np.zeros((70, 70))
    np.add.at(weights, (named[:, 0], named[:, 1] + 40), np.log1p(named[:, 2]))
    weights += weights.T
    shares = weights / np.maximum(weights.sum(1, keepdims=True), 1e-12)
    start = np.zeros(70)
    start[[3, 45]] = 0.75, 0.25
    exact = np.linalg.solve(np.eye(70) - FOLLOW * shares.T, (1 - FOLLOW) * start)[40:]
    time = Walker(graph).walk({3: 3.0}, {5: 1.0})
    assert np.abs(time - exact).max() < REST * (weights > 0).sum()


def test_the_same_tables_give_the_same_folder(tmp_path):
    first, second = indexed(tmp_path / "a"), indexed(tmp_path / "b")
    files = [path.relative_to(first) for path in first.rglob("*") if path.is_file()]
    same = [file for file in files if file.parts[0] != "words"]
    assert len(same) == 7
    for file in same:
        assert (first / file).read_bytes() == (second / file).read_bytes()
    about = json.loads((first / "search.json").read_text())
    del about["parts"]
    encoders = {"encoder": "counting", "chinese_encoder": None}
    assert about == encoders | {"passages": 3, "notes": 0, "entities": 4}


def test_an_index_of_an_older_release_without_parts_is_read(tmp_path):
    folder, question = indexed(tmp_path), analyse("Which element is named after Poland?")
    found = Searcher(tmp_path, CountingEncoder()).union(question)
    for kind in ("vectors", "statements"):
        for path in (folder / kind).iterdir():
            path.rename(folder / f"{kind}{path.name[64:]}")  # without the hash of its contents
    about = json.loads((folder / "search.json").read_text())
    del about["parts"]
    (folder / "search.json").write_text(json.dumps(about))
    assert Searcher(tmp_path, CountingEncoder()).union(question) == found != []


def test_an_empty_edition_can_be_indexed_and_searched(tmp_path):
    make_edition(tmp_path, {}, {})
    build_index(tmp_path, CountingEncoder())
    words = WordIndex(tmp_path / "search" / "words" / "passages")
    assert list(words.search("anything", 5)[0]) == []
