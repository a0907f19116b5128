"""Themes of a corpus: what belongs together, what is told of it, and questions about all of it."""

import pytest

from schemas.documents import Document
from schemas.knowledge import Theme
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks.ask.asker import Asker
from tasks.ask.broad_questions import is_about_the_corpus, sides_of, theme_items
from tasks.ask.context import Context
from tasks.ask.documents import Documents
from tasks.ask.route import AskOptions, QuestionState, Resources
from tasks.ask.text_route import TextRoute
from tasks.ask.verification import Verification
from tasks.models.prompts.replies import CitedAnswer
from tasks.refresh import refresh
from tasks.text.question import analyse
from tests.current_edition import SETTINGS, current, rows
from tests.documents import write_texts
from warehouse.home import Home

BEES = {
    "hives.md": "# Hives\n\nA hive is kept by the beekeeper Olga Brand. In summer the colony of a "
    "hive gathers nectar, and honey is taken from the combs.\n",
    "honey.md": "# Honey\n\nBees make honey from nectar. Olga Brand sells the honey of each "
    "colony, and wax from the combs.\n",
    "swarms.md": "# Swarms\n\nA colony swarms when its hive is full. Olga Brand catches swarms, "
    "and feeds them nectar and honey.\n",
}
SHIPS = {
    "harbour.md": "# The harbour\n\nThe ferry Marit leaves the harbour of Vik at noon. Pilots "
    "bring each vessel past the lighthouse.\n",
    "ferry.md": "# The ferry\n\nThe ferry Marit is a vessel of the harbour of Vik. Captain Jan Moe "
    "steers her past the lighthouse.\n",
    "lighthouse.md": "# The lighthouse\n\nThe lighthouse of Vik was lit in 1871. Captain Jan Moe "
    "and the pilots of the harbour know every vessel by its lamp.\n",
}
CHINESE = {
    "cha.md": "# 茶园\n\n茶园在青山镇。春天采茶，茶农把茶叶炒干。\n",
    "chaye.md": "# 茶叶\n\n青山镇的茶叶很有名。茶农在春天采茶，然后炒干茶叶。\n",
    "qingshan.md": "# 青山镇\n\n青山镇有一座茶园。春天茶农采茶，并把炒干的茶叶卖到城里。\n",
}
SECRET = {"secret.md": "# Poisoned hives\n\nOlga Brand hid zinc in a hive. The colony, its honey, "
    "nectar and combs had zinc.\n"}  # fmt: skip


@pytest.fixture(scope="module")
def themed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("themes")
    home = Home(folder / "home")
    refresh(home, [str(write_texts(folder / "open", BEES | SHIPS | CHINESE))], SETTINGS)
    return home


@pytest.fixture
def route(themed):
    resources = Resources(themed, current(themed), SETTINGS, AskOptions(), {})
    return TextRoute(resources)


def titles(edition):
    known = {row["document_id"]: row["title"] for row in rows(edition, Document)}
    return [{known[one] for one in theme["documents"]} for theme in rows(edition, Theme)]


def test_what_belongs_together_is_one_theme(themed):
    expected = [{"Hives", "Honey", "Swarms"}, {"The harbour", "The ferry", "The lighthouse"}]
    assert sorted(map(sorted, titles(current(themed)))) == sorted(
        map(sorted, [*expected, {"茶园", "茶叶", "青山镇"}])
    )


def test_a_theme_tells_titles_names_and_sentences_with_their_places(themed):
    edition = current(themed)
    texts = {row["document_id"]: row["text"] for row in rows(edition, Document)}
    for theme in rows(edition, Theme):
        assert theme["sentences"] and theme["name"]
        for sentence, document, start in zip(
            theme["sentences"], theme["sources"], theme["starts"], strict=True
        ):
            assert texts[document][start : start + len(sentence)] == sentence
            assert sentence.replace("\n", " ") in theme["summary"]
    [bees] = [theme for theme in rows(edition, Theme) if "Olga Brand" in theme["name"]]
    assert "Documents (3)" in bees["summary"] and "Honey" in bees["summary"]
    assert bees["language"] == "en" and len(bees["entities"]) > 0


def test_what_every_document_repeats_is_told_of_none_and_links_lose_their_targets(tmp_path):
    footer = "\nHoney, nectar, colony, hive and combs: Olga Brand [tells](https://bees.test) all.\n"
    wax = "# Wax\n\nThe [colony](https://bees.test/c) of Olga Brand gives wax, nectar and honey.\n"
    texts = {name: text + footer for name, text in (BEES | {"wax.md": wax}).items()}
    home = Home(tmp_path / "home")
    refresh(home, [str(write_texts(tmp_path / "open", texts))], SETTINGS)
    [theme] = rows(current(home), Theme)
    assert theme["sentences"] and "tells" not in theme["summary"]
    assert "https" not in theme["summary"] and "colony" in theme["summary"]


def test_the_same_texts_have_the_same_themes(themed, tmp_path):
    again = Home(tmp_path / "home")
    refresh(again, [str(write_texts(tmp_path / "open", CHINESE | SHIPS | BEES))], SETTINGS)
    assert sorted(map(sorted, titles(current(again)))) == sorted(
        map(sorted, titles(current(themed)))
    )
    found = [{row["summary"] for row in rows(current(home), Theme)} for home in (themed, again)]
    assert found[0] == found[1]


def test_no_theme_tells_what_only_a_sensitive_document_says(tmp_path):
    home = Home(tmp_path / "home")
    refresh(home, [str(write_texts(tmp_path / "open", BEES))], SETTINGS)
    secret = str(write_texts(tmp_path / "secret", SECRET))
    refresh(home, [secret], SETTINGS, sensitive=True)
    themes = rows(current(home), Theme)
    assert {"Poisoned hives", "Hives"} <= set().union(*titles(current(home)))
    assert "zinc" not in str(themes) and "Poisoned" not in str(themes)


# -- questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "What are the main themes?",
        "Which key topics recur in the letters of the staff?",
        "What are these documents about?",
        "Give me an overview of all files.",
        "Summarise everything in this collection, please.",
        "主要主题是什么？",
        "这些文件讲了什么？",
        "请总结所有文档的内容",
    ],
)
def test_questions_about_the_corpus(question):
    assert is_about_the_corpus(analyse(question))


@pytest.mark.parametrize(
    "question",
    [
        "How many documents are there?",
        "Summarise the rules for travel.",
        "What does the article say about bees?",
        "Which topic did the captain choose?",
        "文件的作者是谁？",
        "有多少文件？",
        "",
    ],
)
def test_other_questions(question):
    assert not is_about_the_corpus(analyse(question))


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("How do wax and honey differ?", ["wax", "honey"]),
        ("How do wax and honey differ in price?", ["wax in price", "honey in price"]),
        ("How is wax different from honey?", ["wax", "honey"]),
        ("What is the difference between the ferry and a pilot?", ["the ferry", "a pilot"]),
        ("Compare Vik with Oslo.", ["Vik", "Oslo"]),
        ("茶园和港口有什么区别？", ["茶园", "港口"]),
        ("比较茶园与港口的历史", ["茶园的历史", "港口的历史"]),
        ("How do bees make honey and wax?", []),
        ("Who knows Vik and Oslo?", []),
    ],
)
def test_the_sides_of_a_comparison(question, sides):
    assert [side.text for side in sides_of(analyse(question))] == sides


def test_a_comparison_gathers_both_sides(route):
    found = route.items(analyse("How do swarms and the lighthouse differ?"), QuestionState())
    assert {item.title for item in found[:2]} == {"Swarms", "The lighthouse"}


def test_themes_come_before_passages_and_only_for_the_whole(route):
    def kinds(question: str) -> list[str]:
        return [item.evidence.kind for item in route.items(analyse(question), QuestionState())]

    assert kinds("What are the main themes?")[:3] == ["theme"] * 3
    assert "theme" not in kinds("What are the main themes of Olga Brand?")
    assert "theme" not in kinds("Who steers the ferry?")


def test_a_theme_is_cited_by_places_in_documents(themed):
    edition, context = current(themed), Context()
    context.add(theme_items(edition, Documents(edition.path), open_only=False), 10_000)
    number = next(n for n in (1, 2, 3) if "Olga Brand" in context.items[n - 1].text)
    words = "Olga Brand"
    reply = {"quotes": [[str(number), words]], "found": "yes", "answer": f"Honey [{number}]."}
    checked = Verification(
        CitedAnswer.model_validate(reply), context, analyse("What are the main themes?")
    ).checked()
    assert checked.evidence and not checked.unsupported
    for place in checked.evidence:
        assert place.uri and place.span_end - place.span_start == len(place.text)


def test_themes_are_named_without_a_model(themed):
    with Asker(themed, current(themed), SETTINGS) as asker:
        answer = asker.answer("What are the main themes?")
    assert answer.answerable and len(answer.answers) == 3
    assert all(f"{name} [{n}]" in answer.answer for n, name in enumerate(answer.answers, 1))
    assert all(place.kind == "theme" and place.document_id for place in answer.evidence)


def test_a_model_reads_themes(themed, endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    model = ModelSettings(name="mock", base_url=endpoint.base_url)
    settings = Settings(engine=EngineSettings(engine="openai", encoder="none", model=model))
    with Asker(themed, current(themed), settings) as asker:
        answer = asker.answer("What are the main themes?")
    assert [place.kind for place in answer.evidence[:3]] == ["theme"] * 3
