"""Cells of tables and labelled values: linked to what they name, and given as answers."""

import pytest

import schemas
from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.refresh import refresh
from tests.documents import write_texts
from warehouse.editions import Edition
from warehouse.home import Home

KEEPERS = "Ada Voss|Bo Lind|Cora Ahl|Dag Moen|Elin Ross|Finn Tord|Gro Haug|Ivo Sand|Jan Rye|Kia Ek"
TEXTS = {
    f"market-{week}.md": "| Stall | Goods | Keeper |\n| --- | --- | --- |\n"
    f"| Kettlewick | {week} lamps | {keeper} |\n| Ostrander | {week} ropes | Nora Brandt |\n"
    + "\nKettlewick moved to Harrow Lane.\n"
    * (week == 4)
    for week, keeper in enumerate(KEEPERS.split("|"))
} | {
    "brandt.md": "# Nora Brandt\n\nNora Brandt was born in Sorrel Bay. She studied medicine in "
    "Harrow Lane, where the hospital of the town was built.\n",
    "drill.md": "# Corvane D7\n\n- Maker: Heddle Forge\n- Voltage: 24 V\n- Country: Astria\n",
    "saw.txt": "Product: Ripley S2\n\nMaker: Dunmore Tools\n\nPrice: 310 euros\n",
    "heaths.md": "| Heath | Area (ha) |\n| --- | --- |\n| Wick Down | 180 |\n| Long Fell | 95 |\n",
    "oven.md": "| Key | Default |\n| --- | --- |\n| `keep_hot` | `90 s` |\n| fan | **off** |\n",
    "boats.md": "| | Osprey 22 | Gull 18 |\n| --- | --- | --- |\n"
    "| Builder | Northwater Yard | Pike Boats |\n| Price | 21,000 euros | 12,500 euros |\n",
    "walk.md": "# Lantern walk\n\n## Meeting point: Tarn Gate\n\nPlease be on time.\n\n"
    "## Children: half price\n\nThey need a lantern of their own.\n",
    "局.md": "| 部门 | 2025年经费（万元） | 2026年经费（万元） |\n| --- | --- | --- |\n"
    "| 水文局 | 310 | 420 |\n| 林务局 | 150 | 160 |\n",
    "陶远.md": "陶远生于青州。陶远是画家。\n",
    "山.md": "| 山峰 | 海拔 | 首登者 |\n| --- | --- | --- |\n"
    "| 青岚峰 | 5120米 | 郭小川 |\n| 玉屏峰 | 4870米 | 何远 |\n",
}


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Edition:
    folder = tmp_path_factory.mktemp("stated")
    write_texts(folder / "texts", TEXTS)
    home = Home(folder / "home")
    refresh(home, [str(folder / "texts")], Settings())
    with home.editions.reading() as current:
        return current


@pytest.fixture(scope="module")
def asker(edition: Edition) -> Asker:
    return Asker(Home(edition.path.parents[1]), edition, Settings())


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Who is the maker of the Corvane D7?", ["Heddle Forge"]),
        ("Who is the maker of the D7?", ["Heddle Forge"]),
        ("Which country does the Corvane D7 come from?", ["Astria"]),
        ("What is the price of the Ripley S2?", ["310 euros"]),
        ("How much does the Ripley S2 cost?", ["310 euros"]),
        ("Who is the builder of the Gull 18?", ["Pike Boats"]),
        ("What is the area of Wick Down?", ["180 ha"]),
        ("What is the default of keep_hot?", ["90 s"]),
        ("What's the default value for keep_hot?", ["90 s"]),
        ("水文局2026年的经费是多少？", ["420万元"]),
        ("Where is the meeting point of the lantern walk?", ["Tarn Gate"]),
        ("青岚峰的首登者是谁？", ["郭小川"]),
        ("玉屏峰的海拔是多少？", ["4870米"]),
        ("Who designed the Corvane D7?", []),
        ("When was the Ripley S2 introduced?", []),
        ("玉屏峰在哪个省？", []),
    ],
)
def test_a_question_for_a_cell_or_a_label_gets_its_value_or_nothing(asker, question, answers):
    assert asker.answer(question).answers == answers


def test_a_short_sentence_is_no_cell(asker: Asker) -> None:
    answer = asker.answer("陶远生于哪里？")
    assert answer.answers == ["青州"] and answer.evidence[0].kind == "passage"


def test_one_sentence_about_a_name_takes_none_of_its_records_away(edition):
    heads = [row["head"] for row in edition.table(schemas.Triple).to_pylist()]
    assert heads.count("Kettlewick") >= 2 * len(KEEPERS.split("|"))


def test_a_value_that_is_a_name_is_linked_also_where_it_stands_once(edition):
    tails = {row["tail"]: row["tail_id"] for row in edition.table(schemas.Triple).to_pylist()}
    entities = {row["name"]: row["entity_id"] for row in edition.table(schemas.Entity).to_pylist()}
    assert tails["Nora Brandt"] == entities["Nora Brandt"]
    assert tails["Heddle Forge"] == entities["Heddle Forge"]
    assert tails["310 euros"] is None and "310 euros" not in entities
