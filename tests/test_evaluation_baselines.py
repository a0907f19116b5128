"""The baselines answer what they should on a graph of a few films, and fail where they should."""

from dataclasses import replace

import numpy as np
import pytest

from tasks.evaluate.answerer import without_gold
from tasks.evaluate.baselines import bm25
from tasks.evaluate.baselines.bm25 import BM25Answerer
from tasks.evaluate.baselines.embedding import EmbeddingAnswerer, highest
from tasks.evaluate.baselines.spe import SPEAnswerer, grams_of
from tasks.evaluate.baselines.words import relation_phrase, relation_words, words
from tasks.graphs.graph import Graph
from tasks.questions.question import BenchmarkQuestion
from tests.measured_films import FILMS


class Letters:
    """An encoder of the words that texts share."""

    id = "letters"
    dimensions = 64

    def encode(self, texts: list[str]) -> np.ndarray:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                row[sum(map(ord, word)) % self.dimensions] += 1
            row /= max(float(np.linalg.norm(row)), 1e-9)
        return rows


@pytest.fixture
def graph() -> Graph:
    return Graph.of("films", FILMS)


def ask(text: str, answers: tuple[str, ...] = (), hops: int = 1, topic: str | None = None):  # type: ignore[no-untyped-def]
    return BenchmarkQuestion(id=text, question=text, answers=answers, hops=hops, topic=topic)


def test_words_of_relations_however_they_are_written():
    assert relation_phrase("placeOfBirth") == "place Of Birth"
    assert relation_phrase("directed_by") == "directed by"
    assert relation_words("starred_actors") == relation_words("starred actor")
    assert "the" not in words("the Long_Ferry")


def test_bm25_follows_relations_of_the_found_document(graph):
    questions = [
        ask("who directed Green Hill"),
        ask("release year of films directed by Ida Berg", hops=2),
        ask("???"),
    ]
    one, two, nothing = BM25Answerer(graph).answer_all(questions)
    assert one.answers == ["Max Oster"] and "Una Reed" in (one.retrieved or ())
    assert set(two.answers) == {"1931", "1934"}
    assert (nothing.answers, nothing.retrieved) == ([], ())


def test_bm25_cuts_documents_by_triples_not_words(monkeypatch):
    monkeypatch.setattr(bm25, "FACTS", 4)
    leaving = [("Port", "lies on the coast of the", name) for name in ("Grey Sea", "Low Sea")]
    entering = [(name, "was born in", "Port") for name in ("Ida", "Max", "Eva")]
    [found] = BM25Answerer(Graph.of("g", leaving + entering)).answer_all([ask("coast born Port")])
    assert found.retrieved and "Grey Sea" in found.retrieved


def test_embedding_answers_with_the_end_that_was_not_named(graph):
    answerer = EmbeddingAnswerer(graph, Letters())
    questions = [ask("Green Hill directed by"), ask("directed by Max Oster")]
    forward, backward = answerer.answer_all(questions)
    assert forward.answers == ["Max Oster"]
    assert backward.answers == ["Green Hill"]
    assert forward.retrieved == ("Green Hill", "Max Oster")
    assert EmbeddingAnswerer(Graph.of("empty", []), Letters()).answer_all([ask("who")])


@pytest.mark.parametrize("shape", [(3, 5), (4, 64), (5, 65), (2, 1), (3, 700), (0, 9), (3, 0)])
def test_highest_scores_are_those_of_a_full_sort(shape):
    scores = np.random.default_rng(0).permutation(shape[0] * shape[1]).reshape(shape) / 7
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :8]
    assert np.array_equal(highest(scores, 8), expected)


def test_spe_learns_a_wording_that_no_relation_has(graph):
    question = ask("who appeared in Green Hill", ("Una Reed",), topic="Green Hill")
    taught = [
        ask("who appeared in Cold Harbour", ("Una Reed",), topic="Cold Harbour"),
        ask("when did Cold Harbour come out", ("1934",), topic="Cold Harbour"),
        ask("by whom was The Long Ferry shot", ("Ida Berg",), topic="The Long Ferry"),
    ]
    bare = without_gold(replace(question, topic=None))
    for examples in (taught, [replace(one, topic=None) for one in taught]):
        answerer = SPEAnswerer(graph)
        answerer.learn(examples)
        assert answerer.answer_all([bare])[0].answers == ["Una Reed"]
    assert SPEAnswerer(graph).answer_all([ask("release year of Green Hill")])[0].answers == ["1940"]


def test_spe_learns_to_go_back_where_questions_do(graph):
    answerer = SPEAnswerer(graph)
    text = "other films by who made {}"
    answerer.learn([ask(text.format("Cold Harbour"), ("The Long Ferry",), 2, "Cold Harbour")])
    found = answerer.answer_all([ask(text.format("The Long Ferry"), hops=2)])
    assert found[0].answers == ["Cold Harbour"]


def test_grams_leave_the_name_out():
    assert "green" not in grams_of("who made Green Hill", "Green Hill")
    assert "who made" in grams_of("who made Green Hill", "Green Hill")
    assert "长 江" in grams_of("长江")
