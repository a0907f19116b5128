"""What questions want of the things that a path leads to: how many, which one, how much."""

import pytest

from tasks.graphs.graph import Graph
from tasks.programs.planner.endings import Ending, asks_for_ends, find_ending
from tasks.programs.planner.planner import untaught_planner
from tasks.programs.planner.writer import PlannedWriter
from tasks.programs.search_program import ProgramSearch
from tasks.text.question import analyse
from tests.graph_knowledge_base import GraphKnowledgeBase

LAKES = {
    # name: country, area, date of first map
    "Lake Varn": ("Norlund", "120 square kilometres", "3 May 1790"),
    "Lake Ost": ("Norlund", "80 square kilometres", "1850"),
    "Lake Tarn": ("Norlund", "80 square kilometres", "July 1812"),
    "Lake Mire": ("Sudland", "900 square kilometres", "1700"),
}
TRIPLES = [
    row
    for lake, (country, area, mapped) in LAKES.items()
    for row in ((lake, "country", country), (lake, "area", area), (lake, "mapped_on", mapped))
] + [
    ("丙国", "河流", "甲河"),
    ("丙国", "河流", "乙河"),
    ("甲河", "长度", "300公里"),
    ("乙河", "长度", "1200公里"),
]


@pytest.fixture(scope="module")
def lakes() -> Graph:
    return Graph.of("lakes", TRIPLES)


def answers(lakes: Graph, question: str) -> list[str]:
    writer = PlannedWriter(untaught_planner(lakes))
    found = ProgramSearch(writer, [GraphKnowledgeBase.of(*TRIPLES)]).search(analyse(question))
    assert found.error is None
    return found.answers


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many lakes have Norlund as their country?", ["3"]),
        ("What is the total area of lakes with the country Norlund?", ["280 km²"]),
        ("What is the largest area of lakes with the country Norlund?", ["120 square kilometres"]),
        ("Which lake with the country Norlund has the largest area?", ["Lake Varn"]),
        ("Which lakes with the country Norlund have the smallest area?", ["Lake Ost", "Lake Tarn"]),
        ("Which lake with the country Norlund was mapped_on first?", ["Lake Varn"]),
        ("What is the area of Lake Mire?", ["900 square kilometres"]),
        ("丙国有几条河流？", ["2"]),
        ("丙国的河流中哪条长度最长？", ["乙河"]),
    ],
)
def test_the_program_does_what_the_question_wants(
    lakes: Graph, question: str, expected: list[str]
) -> None:
    assert sorted(answers(lakes, question)) == sorted(expected)


@pytest.mark.parametrize(
    "question",
    [
        "Which lakes do not have the country Norlund?",
        "Which lakes have neither the country Norlund nor an area?", "哪些河流不是丙国的河流？",
        "除了丙国，河流还有哪些？", "Is the country of Lake Varn Sudland?", "丙国是否有河流？",
        "Which has the larger area, Lake Varn or Lake Ost?", "甲河还是乙河的长度更长？",
    ],
)  # fmt: skip
def test_what_no_path_answers_is_not_planned(lakes: Graph, question: str) -> None:
    assert PlannedWriter(untaught_planner(lakes)).plans(analyse(question)) == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("I do not know what the country of Lake Varn is.", "Norlund"),
        ("Can you tell me what country Lake Varn is in?", "Norlund"),
        ("Could you name the country of Lake Varn?", "Norlund"),
        ("你知道甲河的长度是多少吗？", "300公里"),
    ],
)
def test_a_question_within_a_question_is_planned(
    lakes: Graph, question: str, expected: str
) -> None:
    assert answers(lakes, question) == [expected]


def test_a_negation_in_the_name_of_a_relation_or_thing_negates_nothing() -> None:
    graph = Graph.of("g", [("Not Tonight", "not suited for", "Children")])
    [plan, *_] = untaught_planner(graph).plan([analyse("Who is Not Tonight not suited for?")])[0]
    assert asks_for_ends(plan.topic.masked, plan.path, graph)


def test_a_value_that_says_nothing_is_no_extreme() -> None:
    triples = [*TRIPLES, ("Lake Hid", "country", "Norlund"), ("Lake Hid", "area", "unknown")]
    writer = PlannedWriter(untaught_planner(Graph.of("lakes", triples)))
    search = ProgramSearch(writer, [GraphKnowledgeBase.of(*triples)])
    for question, expected in {
        "What is the largest area of lakes with the country Norlund?": "120 square kilometres",
        "Which lake with the country Norlund has the largest area?": "Lake Varn",
    }.items():
        assert search.search(analyse(question)).answers == [expected]


def ending(lakes: Graph, masked: str, start: str, *path: tuple[str, bool]) -> Ending | None:
    hops = tuple((lakes.relation_numbers[name], inverse) for name, inverse in path)
    nodes = lakes.named(start)
    for relation, inverse in hops:
        nodes = lakes.step(nodes, relation, inverse=inverse)
    return find_ending(masked, hops, nodes, lakes)


def test_a_value_is_not_counted_and_one_thing_is_no_extreme(lakes: Graph) -> None:
    assert ending(lakes, "how many square kilometres", "Lake Mire", ("area", False)) is None
    assert ending(lakes, "which is the largest", "Sudland", ("country", True)) is None


def test_what_is_compared_has_to_be_plain(lakes: Graph) -> None:
    for masked, wanted in {
        "the oldest lake of ␞": Ending("least", "mapped_on"),
        "the lake of ␞ of the largest area": Ending("greatest", "area"),
        "the best lake of ␞": None,
    }.items():
        assert ending(lakes, masked, "Norlund", ("country", True)) == wanted


def test_a_word_of_a_relation_asks_for_no_extreme() -> None:
    albums = [("a", "first album", "x"), ("a", "first album", "y"), ("x", "year", "1990")]
    records = Graph.of("g", albums)
    assert ending(records, "the first album of ␞", "a", ("first album", False)) is None
