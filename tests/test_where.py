"""Conditions on documents: `--where` in searches and questions."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from almanac import open as open_almanac
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.refresh import refresh
from tests.documents import write_texts
from warehouse.home import Home
from warehouse.where import documents_where

TEXTS = {
    "old.md": "---\ndate: 2023-05-04\nauthor: Ann O'Neil\ntags: [pay, draft]\npages: 9\n---\n"
    "# Pay\n\nGrace Hall earns 900 pounds. Grace Hall was born in Leeds. "
    "The driver of Grace Hall is Tom Moss.\n",
    "new.md": "---\ndate: 2025-02-03\nauthor: Bob Ray\ntags: [pay]\npages: 12\n---\n"
    "# Salaries\n\nGrace Hall earns 990 pounds. Grace Hall was born in York. "
    "The driver of Grace Hall is Ida Frost.\n",
    "plain.md": "# Plain\n\nGrace Hall owns a boat. Grace Hall lives in Derby.\n",
}
WORDS = [
    "date", "tags", "and", "or", "not", "in", "is", "null", "like", "(", ")", ",", "=", ">=",
    "'", '"', "2025-01", "9", "'pay'", ";", "drop table documents", "--", "\0", "é",
]  # fmt: skip


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with documents of 2023 and of 2025, and one without a date."""
    folder = tmp_path_factory.mktemp("dated")
    (folder / "home").mkdir()
    text = 'workers = 1\n\n[engine]\nencoder = "none"\n'
    (folder / "home" / "settings.toml").write_text(text, encoding="utf-8")
    home = Home(folder / "home")
    refresh(home, [str(write_texts(folder / "texts", TEXTS))], load_settings(home.path))
    return home


@pytest.fixture(scope="module")
def uris(dated: Home) -> Callable[[str], list[str]]:
    """The documents that meet a condition, by the names of their files."""
    edition = dated.require_edition()
    with edition.connect() as con:
        names = dict(con.execute("select document_id, uri from documents").fetchall())
    return lambda condition: sorted(names[one] for one in documents_where(edition, condition))


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("date >= 2025-01-01", ["new.md"]),
        ("date = 2025-02", ["new.md"]),
        ("date = 2023 or date = '2025-02-03'", ["new.md", "old.md"]),
        ("date > 2025", []),
        ("date <= 2025-02-03T10:00", ["new.md", "old.md"]),
        ("DATE is null", ["plain.md"]),
        ("date is not null and not author like 'ann%'", ["new.md"]),
        ("author = 'ann o''neil'", ["old.md"]),
        ("author != 'Bob Ray'", ["old.md", "plain.md"]),
        ("tags = PAY", ["new.md", "old.md"]),
        ("tags in (draft, secret)", ["old.md"]),
        ("pages > 10", ["new.md"]),
        ("pages < 10 or (uri = plain.md and title = plain)", ["old.md", "plain.md"]),
        ("title <> Pay and words > 3", ["new.md", "plain.md"]),
        ('"author" = "Bob Ray"', ["new.md"]),
    ],
)
def test_a_condition_means_documents(uris, condition, met):
    assert uris(condition) == met


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("dat = 2025", "'dat' is no column. .* The columns: author, date, .*, tags, title"),
        ("date >=", "a value is missing at the end"),
        ("date 2025", "`=`, .* is missing at '2025'"),
        ("date = 2025 tags = pay", "`and`, `or` or the end is missing at 'tags = pay'"),
        ("(date = 2025", r"`\)` is missing at the end"),
        ("", "a column is missing at the end"),
        ("title = 'x", 'a value is missing at "\'x"'),
        ("not " * 30 + "date = 1", "more than 20 parts"),
        ("date = 1 or " * 300, "longer than 2,000 characters"),
    ],
)
def test_an_error_says_what_is_wrong_and_which_columns_there_are(uris, condition, words):
    with pytest.raises(UsageError, match=words):
        uris(condition)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(words=st.lists(st.sampled_from(WORDS), max_size=12))
def test_any_text_is_a_condition_or_refused(uris, words):
    try:
        found = set(uris(" ".join(words)))
    except UsageError as error:
        found = set()
        assert "The columns:" in str(error)
    assert found <= set(TEXTS)


def test_search_and_answers_read_only_what_meets_a_condition(dated):
    with open_almanac(dated.path) as kb:
        found = kb.search("What does Grace Hall earn?", where="date >= 2025-01-01")
        old = kb.ask("Where was Grace Hall born?", where="date < 2025")
        new = kb.ask("Where was Grace Hall born?", where="date >= 2025")
        none = kb.ask("Where was Grace Hall born?", where="date is null")

    assert {hit["uri"] for hit in found} == {"new.md"}
    assert (old.answer, new.answer, none.answer) == ("Leeds", "York", None)
    assert {place.uri for place in (*new.evidence, *none.evidence)} == {"new.md", "plain.md"}


def test_who_is_described_by_documents_that_meet_a_condition(dated):
    with open_almanac(dated.path) as kb:
        answer = kb.ask("Who is Grace Hall?", where="date is null")

    assert {place.uri for place in answer.evidence} == {"plain.md"}


def test_what_holds_now_is_said_by_the_newer_of_two_documents(dated, almanac):
    question = "How much does Grace Hall earn?"
    with open_almanac(dated.path) as kb:
        now, then = kb.ask(question), kb.ask("How much did Grace Hall earn?")
        driver = kb.ask("Who is the driver of Grace Hall?")

    assert (now.answer, now.others) == ("990 pounds", ["900 pounds"])
    assert driver.answers == ["Ida Frost"]  # not with the other value of the relation
    assert [(old.uri, old.date) for old in now.earlier] == [("old.md", "2023-05-04")]
    assert len({then.answer, *then.others}) == 2 and then.earlier == []
    assert "Earlier: “Grace Hall earns 900 pounds.”" in almanac.shown(dated.path, "ask", question)


def test_a_condition_leaves_no_other_route(dated):
    with open_almanac(dated.path) as kb, pytest.raises(UsageError, match="from texts alone"):
        kb.ask("Where was Grace Hall born?", where="date = 2025", route="programs")


def test_the_command_line_has_conditions_and_labels(dated, almanac):
    question = "Where was Grace Hall born?"
    answer = almanac.shown(dated.path, "ask", question, "--where", "date = 2023")
    code, _, error = almanac(dated.path, "ask", question, "--set", "reader=hr")

    assert answer.startswith("Leeds")
    assert code == 2
    assert "There is no label 'hr' here. The labels: none." in error
