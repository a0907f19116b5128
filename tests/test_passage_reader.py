"""Answers come with their places, comparisons compare, and what is not there is not known."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.settings import EngineSettings
from tasks.models.encoders.e5 import e5_is_installed
from tasks.models.span_reader.reader import Span, minilm_reader
from tasks.models.span_reader.windows import without_markup
from tasks.reader.answers import FoundAnswer, fits, older_last, with_probabilities
from tasks.reader.asserted import Asserted, asks_of_now
from tasks.reader.comparison import are_same, find_comparison, same_of_each, winner
from tasks.reader.lists import items_after
from tasks.reader.passage_reader import PassageReader
from tasks.reader.whole import apart, whole_span
from tasks.refresh import refresh
from tasks.text.code_lines import sentences_and_lines
from tasks.text.expected_answer import expected_answer
from tasks.text.question import analyse
from tasks.text.stems import stem, stems_of
from tests.current_edition import SETTINGS, current
from tests.documents import write_texts
from tests.small_edition import indexed_edition
from warehouse.home import Home

LEXICAL = EngineSettings(encoder="none")
exact = pytest.mark.skipif(
    not e5_is_installed(), reason="the network on MiniLM alone does not find the exact words"
)
TEXTS = {
    "Marie Curie": "Marie Curie was born in Warsaw on 7 November 1867. She discovered polonium "
    "with Pierre Curie in 1898.",
    "Warsaw": "Warsaw is the capital of Poland. It lies on the Vistula.",
    "Lise Meitner": "Lise Meitner was born in Vienna on 7 November 1878.",
    "Crossing": "The fare of the crossing is paid in coins, tokens and stamps at the gate.",
    "Danube": "The Danube is 2,850 kilometres long and flows through Vienna.",
    "Vistula": "The Vistula is 1,047 kilometres long. It is the longest river of Poland.",
    "Ferry": "Tickets for the ferry are sold at these places:\n\n- the harbour office\n"
    "- the kiosk\n\nThe ferry sails daily.",
    "Lighthouse": "The keepers of the lighthouse wrote down the weather every evening. " * 12,
    "泊位": "第九条 没有执照的船舶，泊位合同无效。但在出航前取得执照的，应当认定有效。",
    "Bells": "The bell of the tower is rung by commands.\n\n```\nbell hour          # strike the "
    "full hour\nbell quarter       # strike the quarter of an hour\nbell mute --until  # keep the "
    "tower silent\n```",
    "灯塔": "灯塔的信号有三种颜色可以选择：\n\n- 红色\n- 绿色\n- 白色\n\n灯塔每天晚上开放。",
    "渔船规则": "**第一条**　申请渔船证应当提交下列文件：\n\n（一）船舶照片；\n（二）身份证明。\n\n"
    "**第二条**　渔船证的申请由港务处受理，文件齐全的，应当办理。",
    "长江": "长江是中国最长的河流，全长约6300公里。长江发源于青藏高原。",
    "黄河": "黄河是中国的第二长河，全长5464公里。",
}
ENTITIES = {
    "Marie Curie": ("person", ["Curie"]), "Pierre Curie": ("person", []),
    "Lise Meitner": ("person", []), "Warsaw": ("place", []), "Vienna": ("place", []),
    "Poland": ("place", []), "Vistula": ("place", []), "Danube": ("place", []),
    "polonium": ("thing", []), "长江": ("place", []), "黄河": ("place", []),
    "青藏高原": ("place", []),
}  # fmt: skip
FACTS = [
    ("Marie Curie", "Marie Curie", "born in", "Warsaw"),
    ("Marie Curie", "Marie Curie", "discover", "polonium"),
    ("Warsaw", "Warsaw", "lie on", "Vistula"),
]

DESCRIPTIONS = {"Vistula": "the longest river of Poland", "Warsaw": "the capital of Poland"}
TWO_HOPS = "On which river does the birthplace of Marie Curie lie?"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> PassageReader:
    folder = tmp_path_factory.mktemp("edition")
    return PassageReader(indexed_edition(folder, TEXTS, ENTITIES, FACTS, DESCRIPTIONS), LEXICAL)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where was Marie Curie born?", "Warsaw"),
        ("When was Marie Curie born?", "7 November 1867"),
        ("In which year did Marie Curie discover polonium?", "1898"),
        pytest.param("How long is the Danube?", "2,850 kilometres", marks=exact),
        (TWO_HOPS, "Vistula"),
        ("Who was born earlier, Lise Meitner or Marie Curie?", "Marie Curie"),
        ("Which river is longer, the Vistula or the Danube?", "the Danube"),
        ("What is the Danube?", "The Danube is 2,850 kilometres long and flows through Vienna."),
        ("Where are tickets for the ferry sold?",
         "Tickets for the ferry are sold at these places:\n- the harbour office\n- the kiosk"),
        ("没有执照的泊位合同有效吗？",
         "第九条 没有执照的船舶，泊位合同无效。但在出航前取得执照的，应当认定有效。"),
        ("What does bell quarter do?", "strike the quarter of an hour"),
        ("长江全长多少公里？", "约6300公里"),
        ("长江和黄河，哪一条更长？", "长江"),
        ("长江发源于哪里？", "青藏高原"),
    ],
)  # fmt: skip
def test_what_the_texts_say_is_answered(reader: PassageReader, question: str, answer: str) -> None:
    assert reader.answer(analyse(question)).answers[:1] == [answer]


@pytest.mark.parametrize(
    "question",
    [
        "What was the name of Marie Curie's dog?", "How many employees does Warsaw have?",
        "When did Lise Meitner die?",
        "Who painted the ceiling of the Sistine Chapel?", "长江的水温是多少度？",
        "复旦大学创建于哪一年？", "?", "",
    ],
)  # fmt: skip
def test_what_they_do_not_say_is_not_known(reader: PassageReader, question: str) -> None:
    answer = reader.answer(analyse(question))
    assert answer.answers == []


def test_all_items_of_a_list_are_the_answer(reader: PassageReader) -> None:
    answer = reader.answer(analyse("灯塔的信号有哪三种颜色？"))
    assert answer.answers == ["红色", "绿色", "白色"]
    assert all(item in answer.evidence[0].text for item in answer.answers)


def test_items_answer_for_the_line_that_introduces_them(reader: PassageReader) -> None:
    answer = reader.answer(analyse("申请渔船证应当提交哪些文件？"))
    assert answer.answers == ["船舶照片", "身份证明"]


@exact
def test_all_of_a_sentence_that_lists_are_the_answer(reader: PassageReader) -> None:
    answer = reader.answer(analyse("Which three things is the fare of the crossing paid in?"))
    assert answer.answers == ["coins", "tokens", "stamps"]


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> PassageReader:
    """Return a reader of texts about one company, one of them in traditional characters."""
    folder = tmp_path_factory.mktemp("company")
    texts = {
        "海滨公司简介": "海滨公司成立于2009年3月，总部位于临江市，共有员工1260人。",
        "人物": "林知远1980年出生于临江市，2011年加入海滨公司。",
        "董事會會議": "會議批准在青城設立西南分公司，負責人為韓冬梅，預計投資4500萬元。",
    }
    entities = {"海滨公司": ("organisation", []), "林知远": ("person", []), "临江市": ("place", [])}
    return PassageReader(indexed_edition(folder, texts, entities), LEXICAL)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("海滨公司有多少员工？", "1260人"), ("海滨公司的总部在哪里？", "临江市"),
        ("林知远哪一年加入海滨公司？", "2011年"), ("西南分公司的负责人是谁？", "韓冬梅"),
        ("西南分公司預計投資多少錢？", "4500萬元"), ("海濱公司有多少員工？", "1260人"),
        ("那家航运公司有多少员工？", "1260人"),
    ],
)  # fmt: skip
def test_questions_and_texts_may_be_in_different_chinese_scripts(
    company: PassageReader, question: str, answer: str
) -> None:
    assert answer in " ".join(company.answer(analyse(question)).answers)


def test_one_answer_gets_no_values_of_a_relation_that_is_not_asked_for(tmp_path: Path) -> None:
    texts = {
        "Mira Sand": "Mira Sand was born in Oslund, Norland, in 1931.",
        "Corvo": "Corvo is in Norland.",
    }
    entities = {name: ("place", []) for name in ("Oslund", "Norland", "Corvo")}
    located = [("Mira Sand", "Oslund", "located in", "Norland"),
               ("Corvo", "Corvo", "located in", "Norland")]  # fmt: skip
    reader = PassageReader(indexed_edition(tmp_path, texts, entities, located), LEXICAL)
    answers = reader.answer(analyse("Where was Mira Sand born?")).answers
    assert "Oslund" in answers[0]
    assert "Corvo" not in answers


def test_each_passage_is_shown_once_where_there_is_no_answer(reader: PassageReader) -> None:
    nearest = reader.answer(analyse("How much were the keepers of the lighthouse paid?")).evidence
    shown = [evidence.text for evidence in nearest]
    assert TEXTS["Lighthouse"] in shown
    assert len(shown) == len(set(shown))


def test_a_passage_without_an_answer_is_shown_from_its_likeliest_sentence_on(
    reader: PassageReader,
) -> None:
    answer = reader.answer(analyse("Which metal did Marie Curie's husband melt?"), 1.0)
    assert answer.answers == []
    nearest = answer.evidence[0]
    assert nearest.text == "She discovered polonium with Pierre Curie in 1898."
    assert TEXTS["Marie Curie"][nearest.span_start : nearest.span_end] == nearest.text


def test_evidence_is_where_it_says(reader: PassageReader) -> None:
    answer = reader.answer(analyse("Who was born earlier, Lise Meitner or Marie Curie?"))
    assert len(answer.evidence) > 1
    for evidence in answer.evidence:
        text = TEXTS[(evidence.uri or "").removeprefix("test/")]
        assert text[evidence.span_start : evidence.span_end] == evidence.text
        assert 0 < evidence.score <= 1


@given(st.text(max_size=60))
def test_any_question_gets_a_reply(reader: PassageReader, question: str) -> None:
    answer = reader.answer(analyse(question))
    assert answer.evidence or not answer.answers


def test_a_long_hostile_question_is_answered_in_time(reader: PassageReader) -> None:
    began = time.process_time()
    reader.answer(analyse("Why " + "A or B, " * 20_000 + "?"))
    assert time.process_time() - began < 5


def test_code_is_given_whole() -> None:
    sentence = "Of all commands `bell fire --now` rouses the whole town."
    start, end = whole_span(analyse("Which command rouses the town?"), sentence, (22, 26), [])
    assert sentence[start:end] == "`bell fire --now`"


def test_code_keeps_its_brackets_and_tags() -> None:
    text = "Set `[tide].gate` of `<port>`, see [`a[1]`](b)."
    assert without_markup(text) == "Set [tide].gate of <port>, see a[1]."
    assert without_markup("It is `sea/<name>/log`.", 11, 17) == "<name>"


def test_a_box_ends_its_sentences_and_its_mark_is_in_none() -> None:
    long = "The lower gate of the harbour is closed in every month of the year by order"
    text = f":::tip Gates: see {long}\n{long}.\n{long}\n:::\n\n!!! note\n\n    It is new."
    spans = sentences_and_lines(text)
    assert [text[a:b] for a, b in spans] == [f"Gates: see {long}", f"{long}.", long, "It is new."]


@pytest.mark.parametrize(
    ("question", "form", "kinds"),
    [
        ("Who founded Amazon?", "name", {"person", "organisation"}),
        ("In which village was Jane Austen born?", "name", {"place"}),
        ("What is the date of birth of Ada?", "date", set()),
        ("How wide is the mirror?", "number", set()),
        ("Is the Earth flat?", "yes", set()),
        ("The show is on a network founded by who?", "name", {"person", "organisation"}),
        ("第一任校长是谁？", "name", {"person"}),
        ("它建于哪一年？", "date", set()),
        ("船厂是几年开工的？", "date", set()),
        ("船员的任期是几年？", "number", set()),
        ("Tidewater: date of foundation?", "date", set()),
        ("Tidewater: founder?", "name", {"person"}),
        ("what films are about time?", "name", set()),
    ],
)
def test_the_form_of_the_answer_is_told(question: str, form: str, kinds: set[str]) -> None:
    expected = expected_answer(question)
    assert (expected.form, set(expected.kinds)) == (form, kinds)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who is older, Ann Lee or Bo Derry?",
         ["When was Ann Lee born?", "When was Bo Derry born?"]),
        ("Which mill was built first, Elm Mill or Low Mill?",
         ["When was Elm Mill built?", "When was Low Mill built?"]),
        ("Which is longer, the Orr or the Tave?",
         ["How long is the Orr?", "How long is the Tave?"]),
        ("Which town has more wells, Orr or Tave?",
         ["How many wells does Orr have?", "How many wells does Tave have?"]),
        ("Which moon has the larger diameter, Orr or Tave?",
         ["What is the diameter of Orr?", "What is the diameter of Tave?"]),
        ("Which mill was built first Elm Mill or Low Mill?",
         ["When was Elm Mill built?", "When was Low Mill built?"]),
        ("橡河和榆河，哪一条更长？", ["橡河全长多少公里？", "榆河全长多少公里？"]),
        ("呼和浩特和橡镇哪个人口更多？", ["呼和浩特人口是多少？", "橡镇人口是多少？"]),
        ("橡河與榆河中更長的是哪一條？", ["橡河全长多少公里？", "榆河全长多少公里？"]),
        ("安嵐和林海，誰後來當過船長？", []),
        ("缆绳和船帆由哪个仓库发放？", None),
        ("木匠和学徒都病了，谁修船？", None),
        ("橡镇和榆镇与中国哪个港口通航？", None),
        ("Is the mill in Orr or Tave?", None),
        ("Who is Ann Lee?", None),
    ],
)  # fmt: skip
def test_comparisons_are_taken_apart(question: str, parts: list[str] | None) -> None:
    comparison = find_comparison(analyse(question))
    assert (comparison and [part.text for part in comparison.parts]) == parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Are Orr and Tave both located in the same province?",
         ["What province is Orr located in?", "What province is Tave located in?"]),
        ("Do the mills Elm and Low have the same owner?",
         ["What owner does Elm have?", "What owner does Low have?"]),
        ("Were Ann Lee and Bo Derry born in the same year?",
         ["What year was Ann Lee born in?", "What year was Bo Derry born in?"]),
        ("橡镇和榆镇在同一个省吗？", ["橡镇在哪个省？", "榆镇在哪个省？"]),
        ("橡镇和榆镇的邮编相同吗？", ["橡镇的邮编是什么？", "榆镇的邮编是什么？"]),
        ("Are Orr and Tave towns?", []),
    ],
)  # fmt: skip
def test_two_things_are_asked_for_what_may_be_the_same(question: str, parts: list[str]) -> None:
    assert [part.text for part in same_of_each(analyse(question))] == parts


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        ("Paris, Orleans", ["Paris", "Orleans"]),
        ("Ida, Andor and Orson", ["Ida", "Andor", "Orson"]),
        ("salt, tar, & the rope", ["salt", "tar", "rope"]),
        ("1,200 sheep and 30 cows", ["1,200 sheep", "30 cows"]),
        ("苏丹、埃及和乍得", ["苏丹", "埃及", "乍得"]),
        ("呼和浩特", ["呼和浩特"]),
    ],
)
def test_an_enumeration_is_split_between_its_items(answer: str, items: list[str]) -> None:
    assert apart([answer]) == items


@pytest.mark.parametrize(
    "listed",
    [
        "\n（一）甲；\n（二）乙。",
        "\n一、甲\n二、乙\n",
        "\n（1）甲\n（2）乙",
        "\n① 甲\n② 乙",
        "\n(a) 甲\n(b) 乙",
        "\ni) 甲\nii) 乙",
        "\n1. 甲\n2. 乙",
    ],
)
def test_items_of_laws_and_letters_are_a_list(listed: str) -> None:
    assert items_after(listed) == ["甲", "乙"]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Orr has two wells (Ezra 3:4).", True), ("It seats 1800.", True),
        ("Only one of its wells is dry.", True), ("It is one of the wells of Orr.", False),
        ("On May 3 and in 1950 its third well was dug (2 Kings 3:4, 5).", False),
    ],
)  # fmt: skip
def test_what_counts_nothing_is_no_answer_to_how_many(text: str, counts: bool) -> None:
    assert fits(text, expected_answer("How many wells has Orr?"), lambda _: ()) == counts


@pytest.mark.parametrize(
    ("text", "fit"), [("数万元", True), ("万元", False), ("（百万元）", False)]
)
def test_the_scale_of_a_head_is_no_number(text: str, fit: bool) -> None:
    assert fits(text, expected_answer("水文局的经费是多少？"), lambda _: ()) == fit


@pytest.mark.parametrize(
    ("question", "answer", "holds"),
    [
        ("Who was robbed in Orr?", "the miller", False), ("Who was robbed in Orr?", "Bo", True),
        ("Who was Bo robbed by?", "the miller", True), ("Who robbed Bo?", "the miller", True),
        ("Who was robbed by the miller?", "Bo", True), ("Who was jailed?", "the miller", True),
        ("Who was the thief?", "the miller", True),
    ],
)  # fmt: skip
def test_who_did_it_is_not_whom_it_was_done_to(question: str, answer: str, holds: bool) -> None:
    sentence = "Bo was robbed in Orr by the miller, who was jailed."
    assert Asserted(analyse(question)).holds(sentence, sentence.index(answer)) == holds


@pytest.mark.parametrize(
    ("question", "is_of_now"),
    [
        ("Who leads the choir?", True), ("Where is the choir based?", True),
        ("How many days before a concert must singers arrive?", True),
        ("Who led the choir?", False), ("Who was the leader when the hall burnt?", False),
        ("Did the choir sing?", False), ("Who is the former leader?", False),
        ("What is the fee in 2021?", False), ("What is the fee as of March 2020?", False),
        ("合唱团的团长是谁？", True), ("前往大厅的票价是多少？", True),
        ("谁创办了合唱团？", False), ("大厅是谁设计的？", False), ("前任团长是谁？", False),
        ("2021年的会费是多少？", False), ("去年的会费是多少？", False),
    ],
)  # fmt: skip
def test_a_question_is_of_now_unless_it_tells_another_time(question: str, is_of_now: bool) -> None:
    assert asks_of_now(analyse(question)) == is_of_now


def test_an_older_document_is_no_rival_and_comes_last() -> None:
    def answer(text: str, worth: float, date: str) -> FoundAnswer:
        return FoundAnswer(text, Span(0, 0, 4, worth, worth), worth, date=date)

    def found(*answers: FoundAnswer) -> list[FoundAnswer]:
        rows = with_probabilities(list(answers), minilm_reader(), ["en"], "words")
        return older_last(rows, rows, 0.6)

    new, old = answer("Omar", 5.0, "2024-05"), answer("Ruth", 8.0, "2021-03-02")
    first, last = found(old, new)
    assert (first.text, last.text, last.outdated) == ("Omar", "Ruth", True)
    assert first.probability == found(new)[0].probability
    assert [one.text for one in found(old, answer("Omar", -1.0, "2024"))] == ["Ruth", "Omar"]
    for date in ("", "2021", "2021-03"):  # it is unknown which one is newer
        assert [one.text for one in found(old, answer("Omar", 5.0, date))] == ["Ruth", "Omar"]


def test_the_same_is_said_in_whole_words() -> None:
    assert are_same("the town of Orr", "Orr") and are_same("湖北省武汉市", "武汉市")
    assert not are_same("Oman", "Romania") and not are_same("", "Oman")


def test_values_are_compared_in_one_unit() -> None:
    longer = find_comparison(analyse("Which is longer, the Orr or the Tave?"))
    older = find_comparison(analyse("Who is older, Ann Lee or Bo Derry?"))
    assert longer and older
    assert winner(longer, ["800 metres", "1.2 km"]) == 1
    assert winner(longer, ["800 metres", "3 hours"]) is None
    assert winner(older, ["on 3 May 1950", "1961"]) == 0
    assert winner(older, ["1950", "a baker"]) is None


def test_words_of_one_family_are_one_word() -> None:
    assert stem("died") == stem("death")
    assert stem("founders") == stem("founded")
    text = "她毕业于北京大学 in 1898"
    places = {word: text[start:end] for start, end, word in stems_of(text)}
    assert places["北京大学"] == "北京大学"
    assert places["1898"] == "1898"


def test_who_held_an_office_before_is_no_further_holder_of_it(tmp_path: Path) -> None:
    harbour = {
        "a.md": "The harbour master of Hollin is Bodil Krag.",
        "b.md": "Rune Falk was the harbour master of Hollin from 1991 to 2007.",
        "c.md": "Stig Lie is the harbour master of Hollin.",
        "d.md": "Eva Moe was the harbour master of Hollin from 2007 to 2015.",
    }
    home = Home(tmp_path / "home")
    refresh(home, [str(write_texts(tmp_path / "texts", harbour))], SETTINGS)
    reader = PassageReader(current(home), LEXICAL)
    now = reader.answer(analyse("Who is the harbour master of Hollin?")).answers
    ever = reader.answer(analyse("Who were the harbour masters of Hollin?")).answers
    assert sorted(now) == ["Bodil Krag", "Stig Lie"]
    assert sorted(ever) == ["Bodil Krag", "Eva Moe", "Rune Falk", "Stig Lie"]
