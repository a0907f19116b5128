"""A text that does not bear the names in a question gives no answer to it."""

from dataclasses import replace

import pytest

from schemas.answers import Evidence
from tasks.reader.asked_names import (
    AskedNames,
    QuestionYears,
    asked_names,
    lone_pronoun,
    may_mean,
    with_name,
)
from tasks.reader.asserted import Asserted
from tasks.reader.followed_names import leads_to
from tasks.reader.texts import Text, TextPart
from tasks.retrieval.linked_names import LinkedName
from tasks.text.question import analyse


class Words:
    """A source without known names, where longer words are rarer."""

    def names_in(self, text):
        return []

    def is_said(self, name):
        return False

    def rarity(self, word):
        return float(len(word))

    def kinds_of(self, name):
        return {"Ost": ["place"], "Ann Lee": ["person"], "Max Moor": ["person"]}.get(name, [])


class Said(Words):
    """A source whose passages have all the words of every name."""

    def is_said(self, name):
        return True


def borne(question: str, text: str) -> bool:
    return AskedNames(analyse(question), Words()).are_borne_by(Text(text, ()))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the capital of Varland?", "Varland: The capital is Ost."),
        ("Who leads the Ministry of Lamplighting?", "The Lamplighting Ministry is led by Ann."),
        ("Which port does it use?", "The port is 80."),  # no name
        ("塔林的首都是哪里？", "塔林：首都是东城。"),
        ("Who founded KDP?", "Write to help@kdp.example."),  # as the beginning of a word
    ],
)
def test_a_text_with_the_name_may_answer(question, text):
    assert borne(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the capital of Varland?", "Norland: Its capital is Ost."),
        ("Who leads the Ministry of Lamplighting?", "The Ministry of Rails is led by Ann."),
        ("蒙古的首都是哪里？", "首都是东城。"),
        ("《山雨》的作者是谁？", "《海风》的作者是陈文。"),
        ("谁创办了机器人公司 Korvex？", "陈文创办了机器人公司 Lumo。"),
        ("Korvex是谁创办的？", "Lumo是陈文创办的。"),
    ],
)
def test_a_text_without_the_name_may_not(question, text):
    assert not borne(question, text)


@pytest.mark.parametrize(
    ("question", "sentence", "may_answer"),
    [
        ("Who led the club in 2019?", "In 2002 Ann Lee led the club.", False),
        ("Who led the club in 2019?", "In 2019 Ann Lee led the club.", True),
        ("Who led the club in 2019?", "Ann Lee led the club from 2015 to 2021.", True),
        ("Who led the club in 2019?", "Ann Lee has led the club since 2015.", True),
        ("Who led the club in 2019?", "Ann Lee led the club.", True),
        ("Who led the club?", "In 2002 Ann Lee led the club.", True),
        ("Who led the club in 2019?", "In 2002 Ann Lee from Ost led the club.", False),
        ("Who led the club in the 2010s?", "In 2002 Ann Lee led the club.", False),
        ("Who led the club in the 2010s?", "In 2014 Ann Lee led the club.", True),
        ("Who led the club in 2019?", "Ann Lee led the club and its 1500 members.", True),
        ("2019年谁领导俱乐部？", "2002年陈文领导俱乐部。", False),
        ("2019年谁领导俱乐部？", "自2002年起陈文领导俱乐部。", True),
    ],
)
def test_a_sentence_about_other_years_does_not_answer(question, sentence, may_answer):
    assert QuestionYears(analyse(question)).may_be_those_of(sentence) == may_answer


class Linked(Words):
    """A source that knows all words with a capital as names."""

    def names_in(self, text):
        words = [word.strip(".,") for word in text.split() if word.istitle()]
        return [LinkedName(text.find(word), 0, word, []) for word in words]


def part(text: str) -> TextPart:
    return TextPart(0, len(text), Evidence(text=text, kind="passage", score=1.0))


@pytest.mark.parametrize(
    ("subject", "sentence", "concerned"),
    [
        ("Ost", "Its mayor is Ann.", True),  # what the text is about is named before
        ("Rivers", "The mayor of Ost is Ann.", True),  # by the sentence itself
        ("Norland", "The council of Varland has met.", True),  # by the question
        ("Norland", "Its mayor is Ann.", False),  # a third thing
    ],
)
def test_a_second_round_concerns_a_name_of_the_question_or_the_first(subject, sentence, concerned):
    question = analyse("Who is the mayor of the town on the border of Varland?")
    led, said = part("near the border lies the town of Ost."), part(sentence)
    text = Text(sentence, (said,), led=led, subject=subject)
    assert AskedNames(question, Linked()).concern(text, said) is concerned  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "led", "sentence", "is_needed"),
    [
        ("Who is the mayor of the town below Varl?", "Ost lies below Varl.", "Ann led Ost.", True),
        ("Who is the mayor of Varl?", "Varl is a town.", "Its mayor is Ann.", True),
        ("Who is the mayor of Varl?", "Varl has a mayor.", "The mayor of Varl is Ann.", False),
        ("Who is the mayor of Varl?", "The mayor is busy.", "Ann was elected in Varl.", False),
        ("Who leads the town on the isle?", "Ost is on the isle.", "Ann leads the town.", True),
        ("Who leads the town?", "The town is small.", "Ann leads the town.", False),
    ],
)
def test_a_sentence_that_led_to_an_answer_is_shown_if_it_has_names_that_the_answer_lacks(
    question, led, sentence, is_needed
):
    text = Text(sentence, (part(sentence),), led=part(led))
    assert leads_to(text.parts[0], text, analyse(question)) is is_needed


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("布伦霍尔姆在哪里？", ["布伦霍尔姆"]),
        ("周去病出生在哪里？", ["周去病"]),
        ("研究生宿舍归哪个部门管？", []),  # ends in a verb
        ("网信办要跟谁应对事故？", []),  # ends in a preposition
        ("速冻水饺还可以加哪些配料？", []),
        ("切好的苹果怎样保存？", []),
        ("租船四年要交多少钱？", []),
    ],
)
def test_a_chinese_question_begins_with_a_person_that_no_dictionary_has(question, names):
    assert list(asked_names(analyse(question))) == names


def test_a_first_word_is_no_name_for_its_place_alone():
    assert list(asked_names(analyse("Describe the harbour of Ost."))) == ["Ost"]


def test_a_name_may_begin_small_or_with_a_small_letter_and_a_number():
    question = analyse("When did Ost give every eReader of the libPress union an mp3?")
    assert list(asked_names(question)) == ["Ost", "eReader of the libPress", "mp3"]


@pytest.mark.parametrize(
    ("question", "unnamed"),
    [
        ("When did she die?", True),
        ("他出生在哪里？", True),
        ("How does a user change their password?", False),
        ("When did Ann Ost say she would come?", False),
        ("When was the mill built?", False),
    ],
)
def test_a_pronoun_without_a_name_means_nobody(question, unnamed):
    assert bool(lone_pronoun(analyse(question))) is unnamed


@pytest.mark.parametrize(
    ("question", "text", "is_borne"),
    [
        ("When was Ada Lovering born?", "Ada Brook was born in 1931.", False),
        ("When was Voltar 7 launched?", "Voltar 1 was launched in 1977.", False),
        ("When was Ada Broook born?", "Ada Brook was born in 1931.", True),  # misspelt
        ("When was Professor Ada Brook born?", "Ada Brook was born in 1931.", True),
        ("When was Aida Brook born?", "Ada Brook was born in 1931.", False),
        ("When was Edvin Moss born?", "Edwin Moss was born in 1931.", False),
        ("When was Edwin Moss born?", "Edvin Moss and Edwin Moss were born in 1931.", True),
        ("王建石出生在哪里？", "王建国出生在东城。", False),
        ("东城工学院创办于哪一年？", "东城中学创办于1931年。", False),
    ],
)
def test_of_a_name_that_no_text_has_all_words_count(question, text, is_borne):
    assert borne(question, text) == is_borne


@pytest.mark.parametrize("question", ["How tall is it?", "Who founded it?", "What is its aim?"])
def test_a_thing_that_only_a_pronoun_names_is_unnamed(question):
    assert lone_pronoun(analyse(question))


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("When did she die?", "When did Ada Brook die?"),
        ("What was her aim?", "What was Ada Brook's aim?"),
        ("Who was with her in 1931?", "Who was with Ada Brook in 1931?"),
        ("请问她出生在哪里？", "请问Ada Brook出生在哪里？"),
    ],
)
def test_a_name_takes_the_place_of_a_pronoun(question, named):
    pronoun = lone_pronoun(analyse(question))
    assert with_name(pronoun, "Ada Brook") == named
    assert may_mean(pronoun, "person") and not may_mean(pronoun, "place")


def test_of_a_name_that_texts_have_the_rarest_word_counts():
    named = AskedNames(analyse("When was Ada Lovering born?"), Said())  # type: ignore[arg-type]
    assert named.are_borne_by(Text("Lovering was born in 1931.", ()))


@pytest.mark.parametrize(
    ("question", "sentence", "bears_all"),
    [
        ("When did Ann Lee meet Max Moor?", "Ann Lee met Max Moor in 1931.", True),
        ("When did Ann Lee meet Max Moor?", "He met Ann Lee in 1931.", True),
        ("When did Ann Lee meet Max Moor?", "Ann Lee met Tom Firth in 1931.", False),
        ("When did Ann Lee reach Ost?", "Ann Lee arrived in 1931.", True),  # a place narrows
        ("When did Kay Holm meet Ann Lee?", "Ann Lee met him in 1931.", False),  # in no text
        ("Who was born first, Ann Lee or Max Moor?", "Ann Lee was born in 1931.", True),
    ],
)
def test_a_sentence_bears_every_person_of_a_question_or_refers_to_one(
    question, sentence, bears_all
):
    before = "Max Moor was a painter. "
    at = {"span_start": len(before), "span_end": len(before + sentence)}
    second = replace(part(before + sentence), start=len(before))
    second = replace(second, evidence=second.evidence.model_copy(update={"text": sentence, **at}))
    whole = Evidence(text=before + sentence, kind="passage", score=1.0, span_start=0)
    text = Text(before + sentence, (part(before[:-1]), second), whole)
    assert AskedNames(analyse(question), Words()).all_act_in(text, second) is bears_all  # type: ignore[arg-type]


TABLE = "| Option | Text |\n| --- | --- |\n| keep_ms | Kept. 30 is usual. |\n| Ost Gate | Open. |\n"


@pytest.mark.parametrize(
    ("question", "lead_in", "is_of_it"),
    [
        ("What is usual for keep_ms?", "| keep_ms | Kept. ", True),
        ("What is usual for lose_ms?", "| keep_ms | Kept. ", False),  # in no row
        ("What is usual for the Ost Gate?", "| keep_ms | Kept. ", False),  # in another row
        ("What is usual for the Option?", "| keep_ms | Kept. ", True),  # in the head
        ("lose_ms通常是多少？", "| keep_ms | Kept. ", False),
        ("What is usual for keep_ms?", "", True),  # in prose the passage has it
        ("What is usual for lose_ms?", "", False),
    ],
)
def test_a_sentence_in_a_row_says_nothing_of_another_row(question, lead_in, is_of_it):
    cell, sentence = replace(part("30 is usual."), lead_in=lead_in), "30 is usual."
    whole = Evidence(text=TABLE, kind="passage", score=1.0, span_start=0)
    text = Text(sentence, (cell,), whole)
    assert AskedNames(analyse(question), Said()).all_act_in(text, cell) is is_of_it  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "text", "is_of_it"),
    [
        ("Who is the deputy warden of Ost?", "Ann Lee is the warden of Ost.", False),
        ("Who is the deputy warden of Ost?", "The Ost deputy park warden is Ann Lee.", True),
        ("Who is the warden of Ost?", "Ann Lee is the vice-warden of Ost.", False),
        ("Who is the warden of Ost?", "The warden of Ost and his deputy warden met.", True),
        ("Who is the former warden of Ost?", "Ann Lee is the warden of Ost.", False),
        ("Who is the former warden of Ost?", "Ann Lee was the warden of Ost.", True),
        ("Who is the warden of Ost?", "Ann Lee, former warden of Ost, spoke.", False),
        ("Who was the warden of Ost?", "Ann Lee, former warden of Ost, spoke.", True),
        ("Where was Warden Quillan born?", "Assistant Warden Quillan was born in Ost.", True),
        ("Where was former Warden Quillan born?", "Quillan was born in Ost.", True),
        ("东城中学的校长是谁？", "东城中学副校长陈文讲话。", False),
        ("东城中学的副校长是谁？", "东城中学校长陈文讲话。", False),
        ("东城中学的副校长是谁？", "东城中学常务副校长陈文讲话。", True),
        ("副本数是多少？", "默认的副本数量为3。", True),  # the word begins with it by chance
    ],
)
def test_no_deputy_answers_for_an_office_nor_its_holder_for_a_deputy(question, text, is_of_it):
    assert Asserted(analyse(question)).keeps_offices(text) is is_of_it
