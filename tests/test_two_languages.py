"""A home whose texts are in English and Chinese: each reader sees his language first."""

from pathlib import Path

import pytest

from schemas.settings import EngineSettings, Settings
from tasks.refresh import refresh
from tests.documents import write_texts
from warehouse.home import Home

ENGLISH = "Lin Mei (Chinese: 林梅) is a Chinese botanist. Lin Mei was born in Kunming in 1931."
CHINESE = "林梅（英文名Lin Mei，1931年3月7日—1999年7月4日），是中国植物学家。林梅出生于昆明。"
PLACES = "select distinct tail from triples where relation = 'born in' order by tail"
MORE = {
    "en": "Kunming is a city in the south of China. The river is near to the city.",
    "zh": "昆明是中国南方的一座城市。这条河在城市的附近。",
}


@pytest.fixture(scope="module", params=["en", "zh"])
def mostly(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """The language of most documents, and a home of them."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    texts = {"lin.txt": ENGLISH, "林梅.txt": CHINESE, "city.txt": MORE[request.param]}
    write_texts(folder / "texts", texts)
    home = Home(folder / "home")
    refresh(
        home, [str(folder / "texts")], Settings(workers=1, engine=EngineSettings(encoder="none"))
    )
    return request.param, home.path


def test_who_somebody_is_is_told_in_the_language_of_the_question(mostly, almanac):
    _, home = mostly
    assert "botanist" in almanac.json(home, "ask", "Who is Lin Mei?")["answer"]
    assert "植物学家" in almanac.json(home, "ask", "林梅是谁？")["answer"]


def test_a_question_of_one_answer_has_one_and_its_translation_is_no_rival(mostly, almanac):
    _, home = mostly
    answer = almanac.json(home, "ask", "Where was Lin Mei born?")
    assert (answer["answers"], answer["others"]) == (["Kunming"], [])
    answer = almanac.json(home, "ask", "林梅出生在哪里？")
    assert (answer["answers"], answer["others"]) == (["昆明"], [])


def test_a_translation_of_a_place_is_no_conflict(mostly, almanac):
    _, home = mostly
    assert almanac.rows(home, PLACES) == [
        {"tail": "Kunming"},
        {"tail": "昆明"},
    ]
    assert almanac.rows(home, "select head, tail from conflicts") == []
    assert "Other texts say" not in almanac.shown(home, "ask", "Where was Lin Mei born?")


def test_a_page_shows_the_description_in_the_language_of_most_documents_first(mostly, almanac):
    language, home = mostly
    page = almanac.json(home, "show", "Lin Mei")
    order = ["en", "zh"] if language == "en" else ["zh", "en"]
    assert [row["uri"] for row in page["descriptions"]] == [
        {"en": "lin.txt", "zh": "林梅.txt"}[one] for one in order
    ]
    assert page["description"] == page["descriptions"][0]["text"]
