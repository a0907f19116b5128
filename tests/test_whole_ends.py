"""The ends of triples are whole: narrowed down as in the text, or left out."""

import pytest

from tasks.extract.rules.layout import lay_out
from tasks.ingest.prose import words_of
from tests.case_tables import cases_of_facts
from tests.passages import facts, read


@pytest.mark.parametrize(
    ("text", "expected"),
    cases_of_facts("""
Johns Hopkins University develops blood tests that reveal early cancers. | Johns Hopkins University
  | develops | blood tests that reveal early cancers
Chitin is a major component of cell walls. | Chitin | major component of | cell walls
Acme opened a plant, which was closed in 2019. | Acme | opened | plant
"""),
)
def test_a_phrase_keeps_what_narrows_it_down(text, expected):
    assert expected in facts(read(text))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Chitin is a major component of cell walls.", ("Chitin", "is a", "major component")),
        ("Acme took this territory.", ("Acme", "took", "territory")),
        ("Acme uses similar technology.", ("Acme", "uses", "similar technology")),
        ("Relay is the platform that Acme uses.", ("Relay", "is the", "platform")),
        ("Relay and Loom are three ways.", ("Relay", "is a", "three ways")),
        (
            "The Acme Harbour Fund (AHF) board opened an office.",
            ("Acme Harbour Fund", "opened", "office"),
        ),
        ("Acme made the port public.", ("Acme", "made", "port")),
        (
            "The Harbour Bank defines small boats as vessels with a length below seven metres.",
            ("Harbour Bank", "defines", "small boats"),
        ),
        (
            "Acme leads a consortium of scientists from many lands who want to insert a gene of "
            "maize into plants of rice.",
            ("Acme", "leads", "consortium"),
        ),
    ],
)
def test_an_end_that_says_too_little_is_no_end(text, cut):
    assert cut not in facts(read(text))


def test_answers_to_choose_from_are_no_prose():
    text = "What does E6 do?\n\n1. E6 activates p53.\n2. E6 inactivates p53.\n\nThe end came.\n"
    assert lay_out({"text": text, "blocks": None}).prose.text.split("\n\n")[:-1] == [
        "What does E6 do?",
        "The end came.",
    ]


def test_character_references_are_read_as_characters():
    excerpt = words_of("its &#8220;big&#8221; 5&nbsp;km R&amp;D site &bogus;")
    assert excerpt.text == "its “big” 5\xa0km R&D site &bogus;"
    start = excerpt.text.index("big")
    assert excerpt.in_source(start, start + 3) == (11, 14)
    assert excerpt.in_source(excerpt.text.index("R&D"), excerpt.text.index("R&D") + 3)[0] == 32


def test_marks_of_ownership_are_no_part_of_a_name():
    text = "Northwind® Power(TM) met the Acme&trade; Foundation℠ (R) in 1998."
    assert words_of(text).text == "Northwind Power met the Acme Foundation (R) in 1998."


def test_what_was_so_before_is_told_as_that():
    stated = facts(read("Jellyfin previously supported acceleration on the Raspberry Pi."))
    assert {relation for _, relation, _ in stated} == {"previously supported"}


TABLE = """| Provider | Cookie | Use |
| --- | --- | --- |
| GitHub | `_gh` | keeps the session |
| GitHub | `_ga` | counts visits<br/>ranks pages |
"""


def test_rows_are_about_the_first_column_whose_names_do_not_recur():
    records = lay_out({"text": TABLE, "blocks": None}).records
    assert [(record.subject, record.label, record.value) for record in records] == [
        ("_gh", "Provider", "GitHub"),
        ("_gh", "Use", "keeps the session"),
        ("_ga", "Provider", "GitHub"),
        ("_ga", "Use", "counts visits"),
        ("_ga", "Use", "ranks pages"),
    ]
    for record in records:
        assert TABLE[record.start : record.end] == record.value


def test_a_row_is_not_about_a_question():
    rows = "| Topic | Minute |\n| --- | --- |\n| Why now? | 12 |\n| Costs | 20 |\n"
    records = lay_out({"text": f"{rows}\n- **What does it cost?**: 30 dollars\n", "blocks": None})
    assert [record.subject for record in records.records] == ["Costs"]


@pytest.mark.parametrize(
    "text",
    ["> **Note** {}", "> [!TIP]\n> {}", "- **Warning:** {}", "*Important*: {}", "Note: {}"],
)
def test_the_label_of_a_box_is_no_word_of_its_sentence(text):
    prose = lay_out({"text": text.format("The bridge opens."), "blocks": None}).prose
    assert prose.text.strip() == "The bridge opens."
    start, end = prose.in_source(0, 10)
    assert text.format("The bridge opens.")[start:end] == "The bridge"


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("Brooklyn Man Sentenced\nThe man was sentenced today.", "The man was sentenced today."),
        ("He met\nBarack Obama Junior\nin Rome.", "He met\nBarack Obama Junior\nin Rome."),
        ("President of the United States\nvisited Rome.", None),
    ],
)
def test_headlines_are_no_sentences(text, prose):
    read_as = lay_out({"text": text, "blocks": None}).prose.text
    assert read_as.strip() == (prose or text)


def test_a_paragraph_of_marks_alone_has_no_prose():
    text = '{{< picture src="a.jpg" caption="" >}}'
    block = {"kind": "prose", "start": 0, "end": len(text), "lead": ""}
    assert lay_out({"text": text, "blocks": [block]}).prose.text.strip() == ""


def test_scripts_and_readings_of_characters_are_no_words():
    text = "import A from './a';\nimport B from './b';\n\nThe text stands.\n"
    assert lay_out({"text": text, "blocks": None}).prose.text.strip() == "The text stands."
    text = (
        "import Tabs from '@a/b';\nexport const Tide = () => <b>4</b>;\n\nimport {\n  Mast,\n} "
        "from 'c'\n\nexport default function Keel() {\n  return 5;\n}\n\n{/* The tower fell */}\n"
        "\nimport taxes from 'Brest'\nare high.\n"
    )
    prose = lay_out({"text": text, "blocks": None}).prose.text.strip()
    assert prose == "import taxes from 'Brest'\nare high."
    assert words_of("<ruby>微软<rt>Microsoft</rt></ruby>公司").text == "微软公司"


def test_notes_at_the_foot_of_a_text_are_no_sentences():
    text = "The tower stands.\n\n^ Smith, John (2015). He wrote it.\n^ a b Doe wrote that.\n"
    assert lay_out({"text": text, "blocks": None}).prose.text.strip() == "The tower stands."


@pytest.mark.parametrize(
    ("text", "cut"),
    cases_of_facts("""
She married Ann Low, widow of the painter Jean-Guy Moret. | Ann Low | widow of | painter
Jo Low, chief of the consumer and local affairs bureau, wrote it. | Jo Low | chief of
  | consumer and local affairs
Acme was founded in an age where firms can attract, hire, and train remote teams. | Acme
  | founded in | age where firms can attract, hire
Certificate Transparency logs are a hash tree, with every node containing a sum.
  | Certificate Transparency | hash tree with | every node containing a sum
Moret’s glasses were thus a useful tool. | Moret | glasses | thus a useful tool
"""),
)
def test_an_end_is_neither_cut_nor_of_another_phrase(text, cut):
    assert cut not in facts(read(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Acme is a 501(c)(3) charity.", ("Acme", "is a", "501(c)(3) charity")),
        ("The mother of Jo Low was a teacher.", ("mother of Jo Low", "is a", "teacher")),
    ],
)
def test_an_end_is_whole_although_signs_or_other_words_stand_in_it(text, expected):
    assert expected in facts(read(text))


def test_a_part_of_something_is_nobody():
    assert not facts(read("Part of Acme joined the Senate of Bern in 1999."))


def test_no_value_repeats_its_subject():
    table = "| Belief | Example |\n| --- | --- |\n| Atheism | Atheism |\n| Deism | Voltaire |\n"
    assert {tail for _, _, tail in facts(read(table, "Religions"))} == {"Voltaire"}


def test_two_subjects_of_one_verb_may_be_joined_words():
    text = "Acmeview - A self-hosted web tool for monitoring Grafana networks in a single place."
    assert read(text).failed is None


@pytest.mark.parametrize(
    ("text", "expected"),
    cases_of_facts("""
Pale Lantern is a 1987 silent crime serial film written and directed by Anna Smith. | Pale Lantern
  | written by | Anna Smith
Pale Lantern is a 1987 silent crime serial film written and directed by Anna Smith. | Pale Lantern
  | directed by | Anna Smith
Anna Smith wrote and directed the film Pale Lantern. | Anna Smith | wrote | Pale Lantern
"""),
)
def test_verbs_share_what_follows_the_last(text, expected):
    assert expected in facts(read(text))


def test_what_something_is_not_says_nothing_of_it():
    assert not facts(read("Pale Lantern is not a film directed by Anna Smith."))


@pytest.mark.parametrize(
    "value", ["unknown", "to be announced", "See Rates above", "Learn more below", "as above"]
)
def test_a_cell_that_says_nothing_or_points_elsewhere_has_no_value(value):
    table = f"| Mill | Owner | Age |\n| --- | --- | --- |\n| Acme Mill | {value} | 50 |\n"
    assert facts(read(table)) == {("Acme Mill", "age", "50")}


@pytest.mark.parametrize("value", ["未调查", "待补充", "详见下表", "见附件", "查看详情"])
def test_a_chinese_cell_may_say_nothing_too(value):
    table = f"| 工具 | 语言 | 特性 |\n| --- | --- | --- |\n| Heliox | Python | {value} |\n"
    row = {"passage_id": "p", "text": table, "title": "", "subject": "", "headings": ""}
    assert [record.value for record in lay_out(row).records] == ["Python"]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Otto Lund will pass these on to the Harbour Team.", "Harbour Team"),
        ("Video files are shown by a media player instead of a thumbnail.", "thumbnail"),
    ],
)
def test_what_a_relation_would_leave_out_is_not_left_out(text, cut):
    assert not [tail for _, _, tail in facts(read(text)) if tail == cut]
