"""Examples, conditions and listed requirements are told from what a text asserts."""

import pytest

from tasks.extract.extracted import Extracted
from tasks.extract.rules import RulesEngine

ENGINE = RulesEngine()


def read(text: str, language: str = "en", headings: str = "") -> Extracted:
    row = {"passage_id": "p", "title": "", "subject": "", "headings": headings}
    return next(ENGINE.extract([row | {"text": text, "language": language}]))


def modality_of(extracted: Extracted, subject: str) -> str:
    return next(s["modality"] for s in extracted.statements if s["subject"] == subject)


@pytest.mark.parametrize(
    "text",
    [
        "**Example 1**<br>\nOtto is a sailor.\n\nOtto sold boats in Japan.",
        "**Example:** Otto sold boats in Japan.",
        "Example: Otto sold boats in Japan.",
        "### Scenario 2\n\nOtto sold boats in Japan.",
        "Imagine a harbour. Otto sold boats in Japan.",
        "**Both of these must be true:**\n- Otto sold boats in Japan, **and**\n- You live there",
        "The fee is due if:\n\n- Otto sold boats in Japan.",
        "The fee is due if in the last year:\n\n(A) Otto sold boats in Japan; and\n\n(B) Rome won.",
        "4.1 The club may close unless\n\n- (a) Otto sold boats in Japan.",
    ],
)
def test_examples_and_listed_conditions_are_only_supposed(text):
    extracted = read(text)
    assert not [t for t in extracted.triples if t["head"] == "Otto"]
    assert modality_of(extracted, "Otto") == "supposed"


def test_an_example_ends_with_its_heading_and_may_be_one():
    extracted = read("**Example 1**<br>\nOtto left Rome.\n\n## Boats\n\nAnna sold boats in Japan.")
    assert modality_of(extracted, "Anna") == "asserted"
    assert modality_of(read("Otto sold boats.", headings="Sales > Examples"), "Otto") == "supposed"
    assert modality_of(read("Otto sold boats.", headings="Examples > Sales"), "Otto") == "asserted"
    extracted = read("**Example:** Otto left Rome.\n\nIf you sail, for example, Anna sold boats.")
    assert modality_of(extracted, "Anna") == "conditional"


def test_a_chinese_example_is_only_supposed():
    text = "示例：张三是北京大学的教授。\n\n李四是清华大学的教授。"
    heads = {triple["head"] for triple in read(text, "zh").triples}
    assert "李四" in heads
    assert "张三" not in heads


@pytest.mark.parametrize(
    ("text", "predicate", "arguments", "modality"),
    [
        ("If it fails, Acme sends a mail.", "sends", ["If it fails"], "conditional"),
        ("If it fails, Acme stops it and sends a mail.", "sends", ["If it fails"], "conditional"),
        ("Unless you leave, Acme pays the fee.", "pays", ["Unless you leave"], "conditional"),
        ("If the disk is full, the server stops.", "stops", ["If the disk is full"], "conditional"),
        ("Acme sends a mail only if it fails.", "sends", ["only if it fails"], "conditional"),
        ("Acme pays as long as you sail.", "pays", ["as long as you sail"], "conditional"),
        ("Acme printed the form (Smith and Miller 2010).", "printed", [], "asserted"),
        ("Even if it rains, Acme sells boats.", "sells", [], "asserted"),
        ("Acme printed the form (Form B-2741).", "printed", ["Form B-2741"], "asserted"),
        ("Acme sold boats by mail (Form B-27).", "sold", ["by mail", "Form B-27"], "asserted"),
        ("Acme pays the fee (only if due).", "pays", ["only if due"], "asserted"),
    ],
)
def test_a_statement_carries_its_condition(text, predicate, arguments, modality):
    statement = next(s for s in read(text).statements if s["predicate"] == predicate)
    assert (statement["arguments"], statement["modality"]) == (arguments, modality)


def test_items_go_on_with_you_and_only_list_conditions():
    extracted = read("**All of these must be true. You:**\n- Served in Rome for 30 days\n")
    (item,) = [s for s in extracted.statements if s["predicate"] == "Served in"]
    assert (item["subject"], item["object"], item["modality"]) == ("You", "Rome", "supposed")


def test_what_is_denied_is_denied_once():
    (statement,) = read("The card is not available.").statements
    assert (statement["predicate"], statement["object"]) == ("is not", "available")


def test_marks_of_a_box_are_no_words():
    names = {s["subject"] for s in read(":::info\nAcme sells cars.\n:::\n").statements}
    assert names == {"Acme"}


def test_of_two_conditions_none_is_the_others():
    found = read("If you would like a locker, or if you need a mat, please mail Acme.")
    supposed = [s for s in found.statements if s["modality"] == "supposed"]
    assert {s["predicate"] for s in supposed} == {"would like", "need"}
    assert not [s for s in supposed if any("if" in a.lower() for a in s["arguments"])]


def test_whether_is_no_condition_and_no_longer_stays_whole():
    (care, _) = read("They care about whether they can see it.").statements
    assert care["modality"] == "asserted"
    (kept,) = read("The libraries are no longer maintained.").statements
    assert (kept["predicate"], kept["object"]) == ("are", "no longer maintained")


@pytest.mark.parametrize(
    "text",
    [
        "This is not to say that Heliox is made by Corvia.",
        "It does not mean that Heliox is made by Corvia.",
        "Corvia does not directly sell Heliox.",
        "Corvia did not sell Heliox in Norway until 1942.",
        "Corvia does not sell Heliox if a permit is missing.",
    ],
)
def test_what_is_denied_only_in_part_or_as_a_consequence_is_no_fact(text):
    assert not [t for t in read(text).triples if t["tail"] in ("Corvia", "Heliox")]


@pytest.mark.parametrize(
    "text",
    [
        "Corvia does not sell Heliox.",
        "However, Corvia does not sell Heliox, because of its price.",
        "Corvia no longer sells Heliox.",
    ],
)
def test_what_is_denied_as_a_whole_is_a_fact(text):
    stated = {(t["polarity"], t["tail"]) for t in read(text).triples}
    assert ("negative", "Heliox") in stated


@pytest.mark.parametrize("degree", ["less", "more"])
def test_a_comparison_keeps_its_direction(degree):
    [triple] = read(f"Brenholm is much {degree} popular than Orsk.").triples
    assert (triple["head"], triple["relation"]) == ("Brenholm", f"{degree} popular than")


@pytest.mark.parametrize(
    ("text", "subject", "modality"),
    [
        ("Mr Lund advised that Otto had left Rome.", "Otto", "reported"),
        ("The clerk informed us that Otto sells boats.", "Otto", "reported"),
        ("The doctor advised that Otto leave Rome.", "Otto", "required"),
        ("Otto announced plans to build a bridge in Bern.", "Otto", "asserted"),
        ("Otto plans to build a bridge in Bern.", "Otto", "intended"),
    ],
)
def test_what_is_advised_or_planned_is_told_from_who_advises_or_announces(text, subject, modality):
    assert modality_of(read(text), subject) == modality


@pytest.mark.parametrize(
    ("text", "subject", "modality"),
    [
        ("Where the guard finds a boat, Otto may sell it.", "the guard", "supposed"),
        ("Subject to rule 4, Otto owns the boat.", "Otto", "conditional"),
        ("2.3 Subject to rule 4, Otto owns the boat.", "Otto", "conditional"),
        ("Otto shall sell or burn the boat.", "Otto", "possible"),
        ("Otto sold or burnt the boat.", "Otto", "possible"),
        ("Otto shall not sell or burn the boat.", "Otto", "required"),
        ("Otto sells boats or maps.", "Otto", "asserted"),
        ("Otto is a sailor or a clerk.", "Otto", "asserted"),
    ],
)
def test_a_rule_is_told_from_its_condition_and_from_one_of_its_alternatives(
    text, subject, modality
):
    assert modality_of(read(text), subject) == modality


@pytest.mark.parametrize(
    "names", ["Ana Rook nor Ben Tull", "Ida Rook nor Otto Tull", "Ana Lund nor Ben Sand"]
)
def test_neither_before_names_denies_what_is_said_of_them(names):
    found = read(
        f"Bo Rook pays.\n\nNeither {names} may sell the boat without the help of Orr Bank."
    )
    denied = [f for f in (*found.statements, *found.triples) if "sell" in str(f)]
    assert denied
    assert {fact["polarity"] for fact in denied} == {"negative"}
    assert not any(name["name"].startswith("Neither") for name in found.names)


@pytest.mark.parametrize("text", ["1.2.3 Credits help Otto.", "WHEREAS, Credits help Otto;"])
def test_what_opens_a_clause_of_a_contract_is_no_word_of_it(text):
    assert [s["subject"] for s in read(text).statements] == ["Credits"]


@pytest.mark.parametrize(
    "text",
    ["Otto cites Articles V.", "NOW, THEREFORE, Otto left.", "Otto pays Ten Thousand Euros."],
)
def test_formulas_amounts_and_numbered_parts_are_no_names(text):
    assert [name["name"] for name in read(text).names] == ["Otto"]


def test_an_amount_in_capitalised_words_is_one_value():
    found = read("The price of Corvo Hall is Two Million Six Hundred Forty-Six U.S. Dollars.")
    (triple,) = found.triples
    assert (triple["number"], triple["unit"]) == (2_000_646, "USD")
    assert found.statements[0]["object"] == "Two Million Six Hundred Forty-Six U.S. Dollars"
