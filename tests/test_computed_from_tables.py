"""Answers that are computed from the rows of tables: extremes, numbers, sums, averages, lists."""

import pytest

from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.refresh import refresh
from tasks.text.relations.forms import form_of
from tests.documents import write_texts
from warehouse.home import Home

SALES = "Shop,Turnover (EUR)\nHarbour Lane,{},\nMill Street,{},\n"
TEXTS = {
    "lighthouses.csv": "Lighthouse,Coast,Height (m),First lit,Keepers\n"
    "Skarn Point,North,41,1871-05-02,4\nOld Gull,North,18,1790,2\nBrae Head,West,41,1902,3\n"
    "Tolla,West,27,1911-10-11,1\nMarl,South,n/a,1950,2\n",
    "bridges.json": '[{"bridge": "Anso", "span": "300 m"}, {"bridge": "Belk", "span": "0.2 km"},'
    ' {"bridge": "Corr", "span": "about half"}]',
    "ferries.json": '[{"ferry": "Alba", "length": "90 m"}, {"ferry": "Bryn", "length": "0.12 km"}]',
    "sales 2021.csv": SALES.format(100, 200),
    "sales 2022.csv": SALES.format(400, 300),
    "水库.csv": "水库,所在市,库容（万立方米）,建成年份,管理单位\n青溪水库,安平市,820,1958,水利局\n"
    "大洼水库,安平市,1500,1971,供水公司\n石桥水库,临河市,640,1958,水利局\n",
    "渡船.md": "# **渡船配置**\n\n| **渡船配置** | - | 座位 |\n| --- | --- | --- |\n"
    "| 白鹭号 | 甲 | 40 |\n| 苍鹭号 | 乙 | 60 |\n",
    "notes.md": "# Harbours\n\nThe largest harbour of the coast is Port Ansel.\n",
}


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Asker:
    folder = tmp_path_factory.mktemp("tables")
    write_texts(folder / "texts", TEXTS)
    home = Home(folder / "home")
    refresh(home, [str(folder / "texts")], Settings())
    with home.editions.reading() as edition:
        return Asker(home, edition, Settings())


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which lighthouse has the greatest height?", ["Skarn Point", "Brae Head"]),
        ("Which lighthouse on the West coast is the lowest?", ["Tolla"]),
        ("What is the lowest height of the lighthouses?", ["18 m"]),
        ("How many lighthouses are on the North coast?", ["2"]),
        ("How many lighthouses are taller than 20 m?", ["3"]),
        ("Which lighthouses have at least 3 keepers?", ["Skarn Point", "Brae Head"]),
        ("Which lighthouses were first lit before 1900?", ["Skarn Point", "Old Gull"]),
        ("What is the total number of keepers of the lighthouses?", ["12"]),
        ("What is the average height of the lighthouses on the West coast?", ["34 m"]),
        ("What is the longest ferry?", ["Bryn"]),
        ("What is the total turnover in sales 2022?", ["EUR 700"]),
        ("哪座水库的库容最大？", ["大洼水库"]),
        ("安平市有几座水库？", ["2"]),
        ("最早建成的水库是哪座？", ["青溪水库", "石桥水库"]),
        ("库容超过700万立方米的水库有哪些？", ["青溪水库", "大洼水库"]),
        ("水利局管理的水库的平均库容是多少？", ["730万立方米"]),
    ],
)
def test_a_question_about_rows_is_computed(asker: Asker, question: str, answers: list[str]) -> None:
    assert asker.answer(question).answers == answers


@pytest.mark.parametrize(
    "question",
    [
        "Which bridge has the longest span?",  # not all spans are amounts
        "What is the total turnover of the shops?",  # of which of two tables?
        "Which lighthouse has the brightest lamp?",
        "How many lighthouses on the North coast are red?",
        "Which lighthouse is the second tallest?",
        "Which lighthouse is not on the West coast?",
        "How many harbours are on the West coast?",
        "Which coast has the most keepers?",  # of all its lighthouses together
        "哪座水库的水质最好？",
        "库容最大的两座水库是哪些？",
    ],
)
def test_what_rows_do_not_tell_is_not_computed(asker: Asker, question: str) -> None:
    assert asker.answer(question).program is None


def test_an_extreme_that_a_sentence_states_is_read(asker: Asker) -> None:
    assert asker.answer("What is the largest harbour of the coast?").answers == ["Port Ansel"]


def test_the_rows_behind_an_answer_are_cited(asker: Asker) -> None:
    [row] = asker.answer("Which lighthouse has the fewest keepers?").evidence
    assert row.uri == "lighthouses.csv" and row.text.startswith("| Tolla | West")
    counted = asker.answer("How many lighthouses are on the North coast?").evidence
    assert counted[0].text == "2 of the 5 rows of Lighthouses"
    assert [row.text.split(" | ")[0] for row in counted[1:]] == ["| Skarn Point", "| Old Gull"]


def test_marks_in_a_head_are_no_pattern(asker: Asker) -> None:
    assert asker.answer("渡船配置里座位最多的是哪艘？").evidence


def test_a_wording_that_is_a_mere_prefix_has_a_form() -> None:
    assert form_of("Co-").words == ""
