"""Questions in other words than the graph's, about an entity, and about what relates two."""

from dataclasses import replace

import pytest

from tasks.graphs.graph import Graph
from tasks.models.encoders.load import load_encoder
from tasks.programs.planner.planner import Planner, untaught_planner
from tasks.programs.planner.topics import SLOT
from tasks.programs.planner.wordings import Wordings
from tasks.programs.planner.writer import PlannedWriter
from tasks.programs.program_run import run_program
from tasks.text.question import analyse
from tests.graph_knowledge_base import GraphKnowledgeBase

TRIPLES = [
    ("Brenna Mill", "instance_of", "windmill"),
    ("Cobble Mill", "instance_of", "windmill"),
    ("Brenna Mill", "constructed_by", "Hal Oster"),
    ("Brenna Mill", "height_m", "31"),
    ("Brenna Mill", "owner", "Tess Amory"),
    ("Hal Oster", "place_of_birth", "Ravel"),
    ("Hal Oster", "date_of_birth", "1802"),
    ("Hal Oster", "spouse", "Ida Oster"),
    ("石桥镇", "省份", "云川省"),
    ("石桥镇", "建立者", "陈文"),
    ("陈文", "出生地", "兰浦"),
    ("《山雨》", "作者", "陈文"),
]
BASE = GraphKnowledgeBase.of(*TRIPLES)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.of("mills", TRIPLES)


def answers(
    graph: Graph, question: str, planner: Planner | None = None, *, guessed: bool = False
) -> list[str]:
    planner = planner or untaught_planner(graph)
    encoders = load_encoder("minilm"), load_encoder("minilm-zh")
    writer = PlannedWriter(planner, Wordings(graph, planner.worded, *encoders))
    programs = writer.programs(analyse(question))
    likely = [one for one in programs if one.probability >= 0.5 and one.guessed == guessed]
    return [text for one in likely[:1] for text in run_program(one.code, BASE, question).answers]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who constructed Brenna Mill?", ["Hal Oster"]),  # another form of the verb
        ("What is the Height of Brenna Mill?", ["31"]),  # with a capital
        ("How tall is Brenna Mill?", ["31"]),  # a synonym, and a unit in the relation's name
        ("Who was Hal Oster married to?", ["Ida Oster"]),
        ("Where was Hal Oster born?", ["Ravel"]),  # not the date, which is also of a birth
        ("When was Hal Oster born?", ["1802"]),
        ("What did Hal Oster construct?", ["Brenna Mill"]),  # from the other end
        ("Which windmills are there?", ["Brenna Mill", "Cobble Mill"]),
        ("How many windmills are there?", ["2"]),
        ("陈文生于哪里？", ["兰浦"]),
        ("石桥镇在哪个省份？", ["云川省"]),
    ],
)
def test_a_relation_is_found_in_other_words(graph, question, expected):
    assert sorted(answers(graph, question)) == expected


class Unsure(Planner):
    """Knows all words of a question, from questions that meant something else by them."""

    def plan(self, questions):
        return [[replace(one, share=0.2) for one in plans] for plans in super().plan(questions)]

    def fit(self, planned):
        return 1.0


def test_known_words_that_may_mean_several_things_are_read_as_the_graphs(graph):
    planner = Unsure(graph, untaught_planner(graph).model, [], examples=100)
    assert answers(graph, "Who constructed Brenna Mill?", planner) == ["Hal Oster"]


def test_two_relations_are_followed_one_after_the_other(graph):
    assert answers(graph, "Where was the builder that constructed Brenna Mill born?") == ["Ravel"]


@pytest.mark.parametrize(
    "question",
    [
        "Where did Hal Oster die?",  # near to the place of birth, but not it
        "Who is the spouse of the owner of Brenna Mill?",  # not the owner
        "Which mills have the same owner as Brenna Mill?",  # not the owner either
        "Who owned Brenna Mill when Napoleon visited?",  # a name that no path explains
        "Who owned Brenna Mill in 1850?",  # nor does one explain the year
    ],
)
def test_a_question_that_says_more_gets_no_part_of_an_answer(graph, question):
    assert answers(graph, question) == []


def test_a_part_of_an_answer_is_a_guess_which_choices_can_check(graph):
    question = "Who is the owner of Brenna Mill by the treaty of the northern assembly?"
    assert answers(graph, question) == []
    assert answers(graph, question, guessed=True) == ["Tess Amory"]


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("What is Brenna Mill?", "windmill"),
        ("Tell me about Hal Oster.", "Ida Oster"),
        ("石桥镇是什么？", "云川省"),
        ("介绍一下陈文", "兰浦"),
    ],
)
def test_a_question_for_nothing_but_an_entity_gets_its_description(graph, question, part):
    [text] = answers(graph, question)
    assert part in text


@pytest.mark.parametrize(
    ("question", "relations"),
    [
        ("How are Hal Oster and Ida Oster related?", ["spouse"]),
        ("What connects Tess Amory and Brenna Mill?", ["owner"]),
        ("陈文和石桥镇有什么关系？", ["建立者"]),
        ("How are Tess Amory and Ida Oster related?", []),
    ],
)
def test_what_relates_two_entities_is_found_in_either_direction(graph, question, relations):
    assert answers(graph, question) == relations


def test_a_question_like_one_that_was_learned_from_means_the_same_path(graph):
    owner = ((graph.relation_numbers["owner"], False),)
    worded = [("To whom does \u241e belong?", owner)]
    planner = Planner(graph, untaught_planner(graph).model, [owner], worded=worded)
    assert answers(graph, "To whom does Brenna Mill belong?", planner) == ["Tess Amory"]


def test_a_question_like_one_whose_path_leads_nowhere_is_not_taken_for_the_next(graph):
    owner, kind = (((graph.relation_numbers[name], False),) for name in ("owner", "instance_of"))
    worded = [("To whom does \u241e belong?", owner), ("To what does \u241e belong?", kind)]
    wordings = Wordings(graph, worded, load_encoder("minilm"))
    questions = [f"To {word} does Cobble Mill belong then?" for word in ("whom", "what")]
    meant = [wordings.best(analyse(question)) for question in questions]
    assert [one and one.path for one in meant] == [None, kind]


def test_a_name_within_a_wording_that_was_learned_says_no_more_than_the_wording() -> None:
    graph = Graph.of(
        "halls", [("Ulm Hall", "keeper", "Ada Rist"), ("Bex Hall", "keeper", "Jo Ems")]
    )
    wording = "Who opened the doors of {} for the R.A. Fair?"
    learned = Wordings(
        graph, [(wording.format(SLOT), ((graph.relation_numbers["keeper"], False),))]
    )
    meant = learned.best(analyse(wording.format("Bex Hall")))
    assert meant is not None and meant.share > 0.9
    assert Wordings(graph).best(analyse(wording.format("Bex Hall"))) is None


TRADE = [
    ("Brenna Pump", "manufacturer", "Oster Works"),
    ("Brenna Pump", "contact", "Ida Amory"),
    ("Oster Works", "supplier", "Ravel Steel"),
    ("石桥泵", "生产商", "兰浦机械厂"),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who makes the Brenna Pump?", "manufacturer"),
        ("Which company made the Brenna Pump?", "manufacturer"),
        ("Who do I contact about the Brenna Pump?", "contact"),
        ("Who supplies Oster Works?", "supplier"),
        ("哪家公司制造石桥泵？", "生产商"),
    ],
)
def test_makers_and_traders_are_asked_for_by_their_verbs(question: str, expected: str) -> None:
    graph = Graph.of("trade", TRADE)
    meant = Wordings(graph, strict=True).best(analyse(question))
    assert meant is not None
    assert [graph.relations[relation] for relation, _ in meant.path] == [expected]


def test_what_somebody_supplies_is_no_supplier() -> None:
    question = analyse("What does Oster Works supply?")
    assert Wordings(Graph.of("trade", TRADE), strict=True).best(question) is None


FAMILY = Graph.of(
    "family",
    [
        ("Una", "teacher", "Vic"),
        ("Una", "father", "Wes"),
        ("Wes", "father", "Xan"),
        ("Wes", "date_of_birth", "1880-02-03"),
        ("Fen Dam", "crosses", "River Ouze"),
        ("Fen Dam", "designer", "Vic"),
        ("Fen Dam", "height_m", "31"),
        ("Fen Dam", "instance_of", "dam"),
        ("Moss Weir", "designer", "Vic"),
        ("Moss Weir", "instance_of", "weir"),
        ("青石县", "县城", "柳镇"),
        ("青石县", "方言", "东话"),
        ("青石县", "方言", "西话"),
        ("小周", "父亲", "老周"),
        ("老周", "父亲", "周公"),
    ],
)


def meant_in_family(question: str) -> list[tuple[str, bool]] | None:
    meant = Wordings(FAMILY, (), load_encoder("minilm"), load_encoder("minilm-zh")).best(
        analyse(question)
    )
    path = meant.path if meant else ()
    return [(FAMILY.relations[relation], inverse) for relation, inverse in path] or None


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("Who is Una's teacher?", [("teacher", False)]),
        ("Who is the teacher of Vic?", None),  # the pupil is none
        ("Vic is the teacher of whom?", [("teacher", True)]),
        ("小周的父亲是谁？", [("父亲", False)]),
        ("周公的父亲是谁？", None),
        ("周公是谁的父亲？", [("父亲", True)]),
    ],
)
def test_a_noun_leads_from_what_has_it(question: str, path: list[tuple[str, bool]] | None) -> None:
    assert meant_in_family(question) == path


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("Who is the father of the father of Una?", [("father", False)] * 2),
        ("Who is the father of the teacher of Una?", None),
        ("小周的父亲的父亲是谁？", [("父亲", False)] * 2),
        ("Who is the second teacher of Una?", None),
        ("What is the height of Fen Dam in feet?", None),
        ("青石县的旧县城是哪里？", None),
        ("Where was Fen Dam designed?", None),  # not by whom
        ("What is the date of death of Wes?", None),  # near to another date
        ("Who is the grandfather of Una?", None),
    ],
)
def test_every_word_of_a_question_is_of_the_path(
    question: str, path: list[tuple[str, bool]] | None
) -> None:
    assert meant_in_family(question) == path


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which dams did Vic design?", ["Fen Dam"]),
        ("How many weirs did Vic design?", ["1"]),
        ("How many harbours did Vic design?", []),
        ("青石县有几种方言？", ["2"]),
    ],
)
def test_only_members_of_the_class_that_is_asked_for_count(
    question: str, expected: list[str]
) -> None:
    wordings = Wordings(FAMILY, (), load_encoder("minilm"), load_encoder("minilm-zh"))
    writer = PlannedWriter(untaught_planner(FAMILY), wordings)
    codes = [one.code for one in writer.programs(analyse(question)) if not one.guessed]
    kb = GraphKnowledgeBase(FAMILY)
    assert [text for code in codes for text in run_program(code, kb, question).answers] == expected


def test_a_relation_beside_the_learned_path_is_asked_for_too() -> None:
    father = ((FAMILY.relation_numbers["父亲"], False),)
    wordings = Wordings(FAMILY, [(f"{SLOT}的父亲是谁？", father)])
    model = untaught_planner(FAMILY).model
    planner = Planner(FAMILY, model, [father], worded=wordings.learned, examples=100)
    [one, *_] = planner.plan([analyse("小周的父亲的父亲是谁？")])[0]
    assert wordings.says_further(replace(one, path=father))
    [one, *_] = planner.plan([analyse("小周的父亲是谁？")])[0]
    assert not wordings.says_further(replace(one, path=father))


PLAIN = [
    ("Lantern A1", "price", "310 euros"),
    ("Lantern A1", "country", "Astria"),
    ("Bo Lind", "employer", "Acme Works"),
    ("Bo Lind", "lives_in", "Ward 7"),
    ("Skerry", "circles", "Moss"),
    ("Tarn", "circles", "Moss"),
]


@pytest.mark.parametrize(
    ("question", "path", "share"),
    [
        ("How much does the Lantern A1 cost?", "price", 0.93),
        ("Which country does the Lantern A1 come from?", "country", 0.93),
        ("Where does Bo Lind work?", "employer", 0.93),
        ("Where does Bo Lind live?", "lives_in", 0.93),  # a name may have a number
        ("Which lamps circle Moss?", "circles", 0.8),  # no class says that they are no lamps
    ],
)
def test_plain_verbs_and_nouns_without_classes_are_understood(
    question: str, path: str, share: float
) -> None:
    graph = Graph.of("plain", PLAIN)
    meant = Wordings(graph, (), load_encoder("minilm"), None).best(analyse(question))
    assert meant is not None
    assert [graph.relations[relation] for relation, _ in meant.path] == [path]
    assert meant.share == share


def test_whose_child_one_is_tells_nothing_of_ones_children() -> None:
    learned = [
        (f"Whose son or daughter was {SLOT}?", ((FAMILY.relation_numbers["father"], False),))
    ]
    wordings = Wordings(FAMILY, learned, load_encoder("minilm"))
    assert wordings.best(analyse("Whose son or daughter was Wes?")) is not None
    assert wordings.best(analyse("Who was a son of Wes?")) is None
