"""What a text denies, supposes, reports as hearsay or plans is neither a fact nor an answer."""

from pathlib import Path

import pytest

from tasks.extract.rules import RulesEngine
from tasks.ingest.formats.inputs import ReadText
from tasks.reader.asserted import Asserted
from tasks.text.languages import language_of
from tasks.text.question import analyse
from tasks.text.standing import doubts
from tests.documents import read_all
from warehouse.asserted import ASSERTED

# A sentence, a question that its words seem to answer, and what is no answer.
NOT_ASSERTED = [
    ("It is untrue that Mira Sand built Corvo Hall.", "Who built Corvo Hall?", "Mira"),
    ("The story that Corvo Hall was built in 1902 is a hoax.", "When was it built?", "1902"),
    ("No record shows that Mira Sand built Corvo Hall.", "Who built Corvo Hall?", "Mira"),
    ("Mira Sand never built Corvo Hall.", "Who built Corvo Hall?", "Mira"),
    ("Lone Bank declined to buy Ferro Mines.", "Who bought Ferro Mines?", "Lone"),
    ("Unless rain falls, Mira Sand runs Corvo Hall.", "Who runs Corvo Hall?", "Mira"),
    ("Had he won, Otto Reve would have led Ferro Mines.", "Who led Ferro Mines?", "Otto"),
    ("Perhaps Otto Reve founded Ferro Mines.", "Who founded Ferro Mines?", "Otto"),
    ("Rumours say that Otto Reve owns Ferro Mines.", "Who owns Ferro Mines?", "Otto"),
    ("Lone Bank hopes to buy Ferro Mines.", "Who bought Ferro Mines?", "Lone"),
    ("Did Otto Reve found Ferro Mines?", "Who founded Ferro Mines?", "Otto"),
    ("The Corvo weighs 30 kilograms more than the Delva.", "How much does Corvo weigh?", "30"),
    ("Unlike Otto Reve, Mira Sand was born in Oslund.", "Where was Otto Reve born?", "Oslund"),
    ("陈石建造白塔楼的传闻没有根据。", "白塔楼是谁建造的？", "陈石"),
    ("白塔楼并非由陈石建造。", "白塔楼是谁建造的？", "陈石"),
    ("假使陈石同意，白塔楼归远洋公司所有。", "白塔楼归谁所有？", "远洋"),
    ("听说白塔楼由陈石建造。", "白塔楼是谁建造的？", "陈石"),
    ("远洋公司打算收购白塔楼。", "谁收购了白塔楼？", "远洋"),
    ("Mira Sand, not Otto Reve, built Corvo Hall.", "Who built Corvo Hall?", "Otto"),
    ("白塔楼由陈石而非王平建造。", "白塔楼是谁建造的？", "王平"),
    ("白塔楼比红塔楼高30米。", "白塔楼有多高？", "30"),
    ("远洋公司称白塔楼由陈石建造，法院不予采信。", "白塔楼是谁建造的？", "陈石"),
]
ASSERTED_ALL_THE_SAME = [
    ("Mira Sand not only built Corvo Hall but also led it.", "Who built Corvo Hall?", "Mira"),
    ("Nobody disputes that Mira Sand built Corvo Hall.", "Who built Corvo Hall?", "Mira"),
    ("Mira Sand, who had no house, was born in Oslund.", "Where was Mira born?", "Oslund"),
    ("Never Hall was built by Mira Sand.", "Who built Never Hall?", "Mira"),
    ("Otto Reve left, and if it rains the hall closes.", "Who left?", "Otto"),
    ("The Corvo weighs more than 30 kilograms.", "How much does the Corvo weigh?", "30"),
    ("Corvo Hall was built not by Otto Reve but by Mira Sand.", "Who built Corvo Hall?", "Mira"),
    ("Mira Sand, not Otto Reve, built Corvo Hall.", "Who built Corvo Hall?", "Mira"),
    ("白塔楼由陈石而非王平建造。", "白塔楼是谁建造的？", "陈石"),
    ("毫无疑问，白塔楼由陈石建造。", "白塔楼是谁建造的？", "陈石"),
    ("没有窗户的白塔楼由陈石建造。", "白塔楼是谁建造的？", "陈石"),
]
# Questions that ask for what is not asserted.
ASKED_FOR = [
    ("Mira Sand did not sign the treaty.", "Who did not sign the treaty?", "Mira"),
    ("Lone Bank plans to buy Ferro Mines.", "Who plans to buy Ferro Mines?", "Lone"),
    ("If the tank is full, the pump stops.", "What stops if the tank is full?", "pump"),
    ("Unless it rains, the hall opens at ten.", "When does the hall open when it rains?", "ten"),
    ("You cannot carry over more leave.", "How can I carry over leave?", "You"),
    ("It is false that Mira Sand built Corvo Hall.", "Did Mira Sand build Corvo Hall?", "Mira"),
    ("白塔楼预计明年建成。", "白塔楼预计何时建成？", "明年"),
]


# A rule, a question about it, and whether the words answer it.
RULES = [
    ("In no case may the barge be let to Mira Sand.", "To whom may we let it?", "Mira", False),
    ("The club need not warn Otto Reve.", "Whom must the club warn?", "Otto", False),
    ("Neither Mira Sand nor Otto Reve may sail.", "Who may sail?", "Otto", False),
    ("Otto Reve may not sail.", "Who may not sail?", "Otto", True),
    ("Otto Reve may sail if it is calm.", "Who may sail?", "Otto", True),
    ("If it is calm, Otto Reve may sail.", "Who may sail?", "Otto", True),
    ("No guest may stay for more than two weeks.", "How long may I stay?", "more", False),
    ("No guest may stay for more than two weeks.", "How long may I stay?", "two", True),
    ("Guests may not keep keys for longer than a day.", "How long may I keep keys?", "long", False),
    ("会员不得进入机房。", "谁可以进入机房？", "会员", False),
    ("会员不得进入机房。", "谁不得进入机房？", "会员", True),
    ("会员可以进入机房。", "谁可以进入机房？", "会员", True),
    ("每人不得领取超过三张票。", "每人可以领取几张票？", "超过", False),
    ("Article 3 Guests pay as in Article 2.", "What does Article 2 say?", "Guests", False),
    ("Article 2 Guests pay a fee.", "What does Article 2 say?", "Guests", True),
    ("第三条 依照第二条规定的会员应当缴费。", "第二条规定了什么？", "会员", False),
    ("第三条 依照第二条规定的会员应当缴费。", "依照第二条规定的会员应当做什么？", "缴费", True),
    # Of an exception the opposite is true.
    ("The pool is free except on Mondays.", "When is the pool free?", "Mond", False),
    ("The pool is shut except on Mondays.", "When is the pool open?", "Mond", True),
    ("Nobody may dive except members.", "Who may not dive?", "members", False),
    ("Nobody may dive except members.", "Who may dive?", "members", True),
    ("Guests other than pupils must pay a fee.", "Who must pay a fee?", "pupils", False),
    ("Guests other than pupils must pay a fee.", "Who must pay a fee?", "Guests", True),
    ("除会员外，任何人不得进入机房。", "谁不得进入机房？", "会员", False),
    ("除会员外，任何人不得进入机房。", "谁可以进入机房？", "会员", True),
    ("除会员外，任何人不得进入机房。", "谁可以进入机房？", "任何", False),
]


@pytest.mark.parametrize(("sentence", "question", "answer", "holds"), RULES)
def test_who_asks_what_is_allowed_is_not_told_what_is_forbidden(
    sentence: str, question: str, answer: str, holds: bool
) -> None:
    assert Asserted(analyse(question)).holds(sentence, sentence.index(answer)) is holds


@pytest.mark.parametrize(("sentence", "question", "answer"), NOT_ASSERTED)
def test_what_is_not_asserted_answers_nothing(sentence: str, question: str, answer: str) -> None:
    assert not Asserted(analyse(question)).holds(sentence, sentence.index(answer))


@pytest.mark.parametrize(("sentence", "question", "answer"), ASSERTED_ALL_THE_SAME + ASKED_FOR)
def test_innocent_words_and_such_questions_leave_an_answer(
    sentence: str, question: str, answer: str
) -> None:
    assert Asserted(analyse(question)).holds(sentence, sentence.index(answer))


@pytest.mark.parametrize(
    ("sentence", "question", "answer", "holds"),
    [
        ("The Corvo bridge may be widened in 2031.", "When was Corvo widened?", "2031", False),
        ("The bridge, which may sway, was widened in 1931.", "When was it widened?", "1931", True),
        ("Members may bring up to two dogs.", "Which animals are allowed?", "dogs", True),
        ("Mira Sand ran Corvo Hall until 2009; now Otto Reve does.", "Who runs it?", "Mira", False),
        ("Mira Sand ran Corvo Hall until 2009; now Otto Reve does.", "Who runs it?", "Otto", True),
        ("Mira Sand ran Corvo Hall until 2009.", "Who ran Corvo Hall?", "Mira", True),
        ("Corvo Hall was run by Mira Sand from 1999 to 2009.", "Who runs it?", "Mira", False),
        ("Lone Bank rents Corvo Hall until 2039.", "Who rents it?", "Lone", True),
        ("Mira Sand ran Corvo Hall until 2009.", "Who runs it in 2005?", "Mira", True),
    ],
)
def test_what_may_be_is_not_what_was_nor_what_ended_what_is(
    sentence: str, question: str, answer: str, holds: bool
) -> None:
    assert Asserted(analyse(question)).holds(sentence, sentence.index(answer)) is holds


@pytest.mark.parametrize(("sentence", "answer"), [(row[0], row[2]) for row in NOT_ASSERTED])
def test_what_is_not_asserted_is_no_plain_triple(sentence: str, answer: str) -> None:
    row = {"passage_id": "p", "title": "", "subject": "", "headings": "", "text": sentence}
    language = "en" if sentence.isascii() else "zh"
    extracted = next(RulesEngine().extract([row | {"language": language}]))
    about = [t for t in extracted.triples if answer in t["head"] or answer in t["tail"]]
    assert not [t for t in about if ASSERTED.items() <= t.items() and "born" not in t["relation"]]


def test_a_doubt_ends_with_the_part_that_it_governs() -> None:
    sentence = "Otto, who never sailed, lived in Rome; it is false that he died there."
    parts = [sentence[doubt.start : doubt.end] for doubt in doubts(sentence)]
    assert parts == ["who never sailed", " it is false ", "that he died there."]


def test_notes_that_deny_give_no_plain_triple(almanac_data: Path) -> None:
    read = read_all(almanac_data / "faults" / "70-denied")
    texts = [outcome for outcome in read if isinstance(outcome, ReadText)]
    rows = [
        {"passage_id": str(number), "title": "", "subject": "", "headings": ""}
        | {"text": text.text, "language": language_of(text.text)}
        for number, text in enumerate(texts)
    ]
    triples = [t for extracted in RulesEngine().extract(rows) for t in extracted.triples]
    assert len(rows) > 3
    assert not [t for t in triples if ASSERTED.items() <= t.items()]
