"""Questions about something that they only describe are split in two, and answered in two hops."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.settings import EngineSettings
from tasks.reader.comparison import find_comparison
from tasks.reader.nested import LONGEST, MOST, find_nested
from tasks.reader.passage_reader import PassageReader
from tasks.text.question import analyse
from tests.small_edition import indexed_edition

TEXTS = {
    "Tidewater": "Tidewater is a quarterly journal of marine biology. It was founded by Kelda Orr "
    "in 1931, and its editor is Runa Solberg.",
    "Kelda Orr": "Kelda Orr was born in Brenholm on 4 May 1898. She taught at the university of "
    "Skarvik.",
    "Low Water": "Low Water is a film of 1962, directed by Tore Lind.",
    "Tore Lind": "Tore Lind was born in 1921 and studied painting in Skarvik.",
    "High Fell": "High Fell is a film of 1958, directed by Edda Vik.",
    "Edda Vik": "Edda Vik was born in 1930 and grew up in Brenholm.",
    "Brenholm": "Brenholm lies on the river Aune.",
    "低水": "《低水》是1962年的电影，导演是陆云帆。",
    "陆云帆": "陆云帆出生在临江市，毕业于东海艺术大学。",
}
ENTITIES = {
    "Tidewater": ("work", []), "Kelda Orr": ("person", ["Orr"]), "Runa Solberg": ("person", []),
    "Tore Lind": ("person", []), "Edda Vik": ("person", []), "Low Water": ("work", []),
    "High Fell": ("work", []), "Brenholm": ("place", []), "Skarvik": ("place", []),
    "陆云帆": ("person", []), "低水": ("work", []),
}  # fmt: skip


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> PassageReader:
    edition = indexed_edition(tmp_path_factory.mktemp("edition"), TEXTS, ENTITIES)
    return PassageReader(edition, EngineSettings(encoder="none"))


@pytest.mark.parametrize(
    ("question", "inner", "outer"),
    [
        ("Where was the founder of Tidewater born?", "Tidewater: founder?", "Where was X born?"),
        ("Who is the wife of Orr's editor?", "Orr: editor?", "X: wife?"),
        ("Where did Low Water's director study?", "Low Water: director?", "Where did X study?"),
        ("Who edits the journal that Kelda Orr founded?",
         "What is the journal that Kelda Orr founded?", "Who edits X?"),
        ("Where was the biologist born who founded Tidewater?",
         "What is the biologist who founded Tidewater?", "Where was X born?"),
        ("When did the town where Kelda Orr was born become a city?",
         "What is the town where Kelda Orr was born?", "When did X become a city?"),
        ("What is the place of birth of the director of the film Low Water?",
         "film Low Water: director?", "X: place of birth?"),
        ("《低水》的导演毕业于哪所大学？", "《低水》的导演是谁？", "X毕业于哪所大学？"),
    ],
)  # fmt: skip
def test_a_description_is_asked_for_first(question: str, inner: str, outer: str) -> None:
    nested = find_nested(analyse(question))[0]
    assert (nested.inner.text, nested.outer("X").text) == (inner, outer)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the founder of Tidewater?", "What is Tidewater?",
        "Is the founder of Tidewater a biologist?", "Who wrote the history of Brenholm books?",
        "How high was the flood of 3 May 1953?", "《低水》的导演是谁？",
        "《低水》的導演是誰？",
        "最低水位的人口数据在哪里？", "Who is the founder of " + "A" * LONGEST + "?",
    ],
)  # fmt: skip
def test_a_question_for_one_thing_is_not_split(question: str) -> None:
    assert find_nested(analyse(question)) == []


@pytest.mark.parametrize(
    ("question", "answer", "sentences"),
    [
        ("Where was the founder of Tidewater born?", "Brenholm", ["Brenholm", "founded by Kelda"]),
        ("Where did Low Water's director study?", "Skarvik", ["studied painting", "directed by"]),
        ("Which film has the director who was born later, Low Water or High Fell?", "High Fell",
         ["1921", "1930"]),
        ("《低水》的导演出生在哪里？", "临江市", ["临江市", "导演是陆云帆"]),
    ],
)  # fmt: skip
def test_an_answer_in_two_hops_shows_both_sentences(
    reader: PassageReader, question: str, answer: str, sentences: list[str]
) -> None:
    found = reader.answer(analyse(question))
    assert found.answers and answer in found.answers[0]
    assert all(words in one.text for words, one in zip(sentences, found.evidence, strict=True))


@pytest.mark.parametrize(
    "question",
    [
        "When did the founder of Tidewater die?",
        "How much did the house cost where the editor of Tidewater lives?",
        "《低水》的导演的女儿叫什么名字？",
    ],
)
def test_the_first_hop_is_no_answer_to_the_second(reader: PassageReader, question: str) -> None:
    assert reader.answer(analyse(question)).answers == []


def test_each_of_two_things_may_be_described() -> None:
    question = "Which film has the director who is older, Low Water or High Fell?"
    comparison = find_comparison(analyse(question))
    assert comparison
    questions = [f"When was the director of {film} born?" for film in ("Low Water", "High Fell")]
    assert [part.text for part in comparison.parts] == questions


WORDS = ["the", "a", "of", "A", "B's", "who", "that", "is", "was", "C,", "in", "which", "born", '"']


@given(st.lists(st.sampled_from(WORDS), max_size=90).map(" ".join))
def test_any_question_is_split_in_time(words: str) -> None:
    started = time.perf_counter()
    assert len(find_nested(analyse(f"Who {words}?"))) <= MOST
    assert time.perf_counter() - started < 0.5
