"""Whom a question is about, and how well known that is by a graph."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import UsageError
from schemas.knowledge import Entity
from tasks.evaluate.gates.evaluate import GateMeasurement, evaluate_gates
from tasks.evaluate.gates.scored import Draws
from tasks.gates.subject_popularity import GraphPopularity, open_popularity, triples_of
from tasks.graphs.graph import Graph
from tasks.graphs.question_names import names_in
from tasks.models.encoders.load import Encoder
from tasks.programs.planner.topics import topics_in
from tasks.questions.question import BenchmarkQuestion
from tasks.text.question import analyse
from tests.current_edition import current
from warehouse.home import Home

FILMS = Graph.of(
    "films",
    [
        ("The Matrix", "director", "Lana Wachowski"),
        ("The Matrix", "genre", "science fiction"),
        ("The Matrix", "released", "1999"),
        ("Man", "director", "Ann Lee"),
        ("Jaws", "director", "Steven Spielberg"),
        ("Jaws 2", "director", "J. R. R. Smith"),
        ("Jaws 2", "genre", "thriller"),
        ("Steven Spielberg", "profession", "director"),
        ("Ann Lee", "profession", "director"),
        ("Lana Wachowski", "profession", "director"),
        ("J. R. R. Smith", "profession", "director"),
        ("University of Strelsau", "place", "Strelsau"),
    ],
    [("Matrix Film", "The Matrix"), ("Spielberg", "Steven Spielberg")],
)
TOWNS = Graph.of(
    "towns",
    [
        ("北京大学", "位置", "北京"),
        ("北京", "国家", "中国"),
        ("上海", "国家", "中国"),
        ("红楼梦", "作者", "曹雪芹"),
        ("红楼梦", "体裁", "小说"),
        ("大学", "是", "学校"),
    ],
)
WORDS = [
    "The",
    "Matrix",
    "of",
    "U.S.",
    "Jaws",
    "2",
    "J.",
    "R.",
    "R.",
    "Smith's",
    "man",
    "St.",
    "(x)",
]


def popularity(question: str, graph: Graph = FILMS) -> float:
    return float(of_triples(graph).of([analyse(question)])[0])


def of_triples(graph: Graph) -> GraphPopularity:
    return GraphPopularity(graph, triples_of(graph))


def names(question: str, graph: Graph = FILMS) -> list[str]:
    return [question[name.start : name.end] for name in names_in(analyse(question), graph).apart]


# -- names ----------------------------------------------------------------------------------------


def test_names_are_found_longest_first_and_apart():
    assert names("Is Jaws 2 by the director of Jaws?") == ["director", "Jaws 2", "Jaws"]
    assert names("Did J. R. R. Smith see Matrix Film?") == ["J. R. R. Smith", "Matrix Film"]
    assert names("Is Steven Spielberg's film older than “The Matrix”?") == [
        "Steven Spielberg's",
        "Matrix",
    ]
    assert names("Who was it?") == names("") == names("?!") == []


def test_chinese_names_need_no_spaces():
    assert names("北京大学在哪里？", TOWNS) == ["北京大学"]
    assert names("《红楼梦》的作者是谁？", TOWNS) == ["红楼梦"]


@pytest.mark.parametrize(
    ("question", "graph"),
    [
        ("who directed the matrix?", FILMS),
        ("What did Steven Spielberg do after Jaws 2?", FILMS),
        ("Is Ann Lee's profession director?", FILMS),
        ("红楼梦和北京大学", TOWNS),
    ],
)
def test_names_are_those_that_the_planner_finds(question, graph):
    bearers = {
        tuple(sorted(graph.key_nodes[n.low : n.high]))
        for n in names_in(analyse(question), graph).apart
    }
    assert bearers <= {tuple(topic.nodes) for topic in topics_in(analyse(question), graph)}
    longest = topics_in(analyse(question), graph)[0]
    assert tuple(longest.nodes) in bearers


def test_a_note_in_brackets_is_no_part_of_a_name():
    assert names("Is Jaws (the film) good?") == ["Jaws (the film)"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
def test_a_name_is_found_however_it_is_put_together(words):
    name = " ".join([*words, "Reeves"])
    graph = Graph.of("one", [(name, "is", "known")])
    found = names_in(analyse(f"Is {name} known?"), graph).apart
    assert [set(graph.key_nodes[n.low : n.high]) for n in found][0] == {0}


# -- subjects -------------------------------------------------------------------------------------


def test_the_subject_is_the_longest_name_in_capitals():
    assert popularity("Who was the director of Jaws?") == 1
    assert popularity("Who was the director of Jaws 2?") == 2
    assert popularity("Who was the director of The Matrix?") == 3
    assert popularity("who was the director of jaws?") == 4  # which word is a name nobody can tell
    assert popularity("Where was Spielberg born?") == 2


def test_of_an_unknown_subject_nothing_is_known():
    questions = [
        "Who was the director of Alien?",  # not: the director
        "Who was the director of Your Man?",  # not: Man
        "Who was the director of Man of the Year?",
        "Who was the director of The Matrix Reloaded?",
        "Who is it?",
        "",
    ]
    assert np.isnan(of_triples(FILMS).of([*map(analyse, questions)])).all()
    assert np.isnan(popularity("谁写了水浒传？", TOWNS))


def test_names_around_a_preposition_are_one():
    assert popularity("Where is the University of Strelsau?") == 1
    assert np.isnan(popularity("Who leads the Museum of Strelsau?"))


def test_chinese_subjects():
    questions = ["北京大学在哪个城市？", "《红楼梦》是谁写的？", "北京有多少人？", "上海的大学"]
    assert of_triples(TOWNS).of([*map(analyse, questions)]).tolist() == [1, 2, 2, 1]


def test_of_names_of_one_length_the_first_is_the_subject():
    graph = Graph.of("pairs", [("Aba", "r", "x"), ("Oto", "r", "x"), ("Oto", "r", "y")])
    assert popularity("Is Aba larger than Oto?", graph) == 1
    assert popularity("Is Oto larger than Aba?", graph) == 2


def test_of_namesakes_the_best_known_counts():
    graph = Graph.of(
        "namesakes",
        [("Mercury (planet)", "r", f"fact {n}") for n in range(5)] + [("Mercury (god)", "r", "x")],
    )
    assert popularity("How large is Mercury?", graph) == 5


def test_values_are_no_subjects():
    import pyarrow as pa

    graph = Graph.of("values", [("Ada", "born", "London"), ("Ada", "died", "London")])
    without = Graph(**{**vars(graph), "ids": pa.array(["Ada", None])})
    assert popularity("Who lived in London?", graph) == 2
    assert np.isnan(popularity("Who lived in London?", without))
    assert np.isnan(triples_of(without)).tolist() == [False, True]


def test_other_counts_may_be_given():
    known = np.arange(FILMS.nodes, dtype=float)
    node = FILMS.bearers("Jaws")[0]
    assert GraphPopularity(FILMS, known).of([analyse("Who made Jaws?")]).tolist() == [float(node)]


@pytest.mark.parametrize(
    "question",
    [
        "\x00\ud800 \u202e Jaws",
        "Jaws " * 50_000,
        "(" * 3000,
        "[" * 500 + "Jaws" + "]" * 500,
        "的" * 5000,
        "A. " * 900,
        "İİ ﬀ ½ Jaws",
        "'; drop table entities; --",
    ],
)
def test_hostile_questions_cost_little(question):
    for graph in (FILMS, TOWNS):
        value = popularity(question, graph)
        assert np.isnan(value) or value >= 0


def test_a_graph_without_names_knows_nobody():
    assert np.isnan(popularity("Who made Jaws?", Graph.of("empty", [])))
    assert of_triples(FILMS).of([]).shape == (0,)


# -- graphs of an edition -------------------------------------------------------------------------


def test_the_corpus_counts_mentions(small_home):
    edition = current(small_home)
    rows = edition.table(Entity).to_pylist()
    known = {row["name"]: row["mentions"] for row in rows}
    questions = [analyse("Who was Ada Lovelace?"), analyse("Who was Zxy Qwv?")]
    found = open_popularity(edition, "corpus").of(questions)
    assert found[0] == known["Ada Lovelace"] and np.isnan(found[1])


def test_questions_take_over_what_a_graph_tells(small_home):
    graph = open_popularity(Home(small_home).editions.current(), "corpus")
    questions = [
        BenchmarkQuestion("1", "Who was Ada Lovelace?"),
        BenchmarkQuestion("2", "Who was Zxy Qwv?", popularity=5e4),
    ]
    known, unknown = graph.with_popularity(questions)
    assert known.popularity is not None and known.popularity >= 1
    assert unknown.popularity is None


def test_gates_are_measured_with_what_a_graph_tells(own_home, tmp_path):
    subjects = ["Ada Lovelace", "London", "Zxy Qwv"]
    same = {"dataset": "medqa", "options": {"A": "this", "B": "that"}, "answer": "A"}
    rows = [
        {**same, "id": str(n), "question": f"What did {subjects[n % 3]} say of {n}?",
         "pred": {"cot_m": "AAB"[n % 3], "rag32_m": "A"}}
        for n in range(60)
    ]  # fmt: skip
    file = tmp_path / "mirage.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    how = GateMeasurement(
        gates=("popularity",), draws=Draws(20, 2), resamples=20, popularity_of="corpus"
    )
    found = evaluate_gates(Home(own_home), file, "mirage", _no_encoder, how).report
    assert found["popularity"] == {"of": "corpus", "known": pytest.approx(2 / 3, abs=1e-4)}
    # The model does not know whom the corpus does not know.
    assert found["metrics"]["share_of_perfect"] == pytest.approx(1)
    with pytest.raises(UsageError, match="--set popularity_of=GRAPH"):
        how = replace(how, popularity_of=None)
        evaluate_gates(Home(own_home), file, "mirage", _no_encoder, how)


def _no_encoder(_: Sequence[str]) -> Encoder:
    raise AssertionError("popularity needs no vectors")


def test_a_graph_that_there_is_not(small_home, tmp_path):
    with pytest.raises(UsageError, match=r"no graph 'films'.* corpus"):
        open_popularity(Home(small_home).editions.current(), "films")
    with pytest.raises(UsageError, match="The graphs: none"):
        open_popularity(Home(tmp_path / "new").editions.current(), "corpus")
