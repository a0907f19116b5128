import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.names import (
    disambiguator,
    gender_of_title,
    is_acronym_of,
    is_pronoun,
    normalise_name,
    other_genitive,
    other_names_in,
    strip_titles,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("J. R. R. Tolkien", "J.R.R. Tolkien"), ("JRR Tolkien", "J. R. R. Tolkien"),
        ("A. A. Milne", "A A Milne"), ("Emily Brontë", "emily bronte"), ("Łódź", "Lodz"),
        ("the Royal Society", "Royal Society"), ("St. Petersburg", "Saint Petersburg"),
        ("Simon & Garfunkel", "Simon and Garfunkel"),
        ("Trans-Alpine Railway", "Trans–Alpine  Railway"), ("Curie's", "Curie"),
        ("Curie’s", "Curie"), ("“The Hobbit”", "The Hobbit"), ("Mercury (planet)", "Mercury"),
        ("U.S.", "US"), ("《红楼梦》", "红楼梦"), ("玛丽·居里", "玛丽 居里"),
        ("Ｍｅｒｃｕｒｙ（行星）", "Mercury"), ("Mer\u200bcury\u202e", "Mercury"),
    ],
)  # fmt: skip
def test_spellings_of_one_name_are_equal(one: str, other: str) -> None:
    assert normalise_name(one) == normalise_name(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C", "C++"), ("C", "C#"), ("Windows 3.1", "Windows 31"), ("Henry V", "Henry VI"),
        ("Wall St.", "Wall Saint"), ("Marie Curie", "Pierre Curie"), ("Mars", "Mar"),
        ("北京", "南京"), ("ぱ", "は"),
    ],
)  # fmt: skip
def test_different_names_stay_different(one: str, other: str) -> None:
    assert normalise_name(one) != normalise_name(other)


@pytest.mark.parametrize("name", ["A", "The The", "!!!", "The", "🙂", "(planet)", "...", "'s"])
def test_a_visible_name_never_becomes_empty(name: str) -> None:
    assert normalise_name(name)


@given(st.text())
def test_any_text_has_a_normal_form_without_loose_spaces(text: str) -> None:
    form = normalise_name(text)
    assert form == " ".join(form.split())
    assert form == normalise_name(f"  {text}  ") or len(text) > 390


@given(st.from_regex(r"(?:[A-Za-z0-9]{1,4} ?){1,4}", fullmatch=True))
def test_plain_names_have_the_same_form_as_in_quotes(name: str) -> None:
    assert normalise_name(name) == normalise_name(f"“{name}”")


@pytest.mark.parametrize("piece", ["(", "a", "A.", "\u0300", "\ufdfa", "'s", "St. ", "«", "&"])
def test_hostile_names_cost_no_time(piece: str) -> None:
    began = time.perf_counter()
    for look in (normalise_name, disambiguator, strip_titles):
        look(piece * 10_000)
    is_acronym_of(piece * 10_000, piece * 10_000)
    is_pronoun(piece * 10_000, "en")
    assert time.perf_counter() - began < 0.5


@pytest.mark.parametrize(
    ("title", "parts"),
    [
        ("Mercury (planet)", ("Mercury", "planet")), ("水星（行星）", ("水星", "行星")),
        ("Mercury", ("Mercury", "")), ("(planet)", ("(planet)", "")),
        ("(I Can't Get No) Satisfaction", ("(I Can't Get No) Satisfaction", "")),
        ("Mercury ()", ("Mercury ()", "")), ("", ("", "")),
    ],
)  # fmt: skip
def test_disambiguator(title: str, parts: tuple[str, str]) -> None:
    assert disambiguator(title) == parts


@pytest.mark.parametrize(
    ("text", "language", "pointing"),
    [
        ("she", "en", True), ("It", "en", True), ("她", "zh", True), ("该", "zh", True),
        ("US", "en", False), ("IT", "en", False), ("Curie", "en", False), ("I", "en", True),
        ("it", "zh", False), ("", "en", False),
    ],
)  # fmt: skip
def test_is_pronoun(text: str, language: str, pointing: bool) -> None:
    assert is_pronoun(text, language) is pointing


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Sir Isaac Newton", "Isaac Newton"), ("Prime Minister Tony Blair", "Tony Blair"),
        ("Dr. Mae Jemison", "Mae Jemison"), ("Marie Curie, PhD", "Marie Curie"),
        ("President", "President"), ("Duke of Strelsau", "Duke of Strelsau"), ("居里夫人", "居里"),
        ("", ""),
    ],
)  # fmt: skip
def test_strip_titles(name: str, bare: str) -> None:
    assert strip_titles(name) == bare


@pytest.mark.parametrize(
    ("short", "long", "right"),
    [
        ("NASA", "National Aeronautics and Space Administration", True),
        ("MIT", "Mountain Institute of Timber", True), ("U.S.", "United States", True),
        ("DoH", "Department of Harbours", True), ("HSM", "HarbourSignalMap", True),
        ("FBI", "Fishing Reserve", False), ("UN", "United Nations Organisation", False),
        ("Un", "United Nations", False), ("U N", "United Nations", False), ("UN", "Unity", False),
    ],
)  # fmt: skip
def test_is_acronym_of(short: str, long: str, right: bool) -> None:
    assert is_acronym_of(short, long) is right


@pytest.mark.parametrize(
    ("short", "long", "right"),
    [
        ("TMCH", "Trademark Clearinghouse", True), ("NPRM", "Notice of Proposed Rulemaking", True),
        ("NPR", "Notice of Rulemaking", False), ("TMX", "Trademark Clearinghouse", False),
        ("MCH", "Trademark Clearinghouse", False),
    ],
)  # fmt: skip
def test_words_may_give_inner_letters_to_an_acronym(short: str, long: str, right: bool) -> None:
    assert is_acronym_of(short, long, inner=True) is right
    assert not is_acronym_of(short, long)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("the harbour of Alma", "Alma's harbour"),
        ("3rd district of the Old Town", "Old Town's 3rd district"),
        ("mayor of the city of Corve", "city of Corve's mayor"),
        ("Alma's harbour", "harbour of Alma"), ("Alma’s harbour", "harbour of Alma"),
        ("harbour", None), ("of Alma", None), ("Alma's", None),
    ],
)  # fmt: skip
def test_a_genitive_has_two_forms(name: str, other: str | None) -> None:
    assert other_genitive(name) == other


def test_a_long_name_without_an_end_takes_no_time_to_turn_round() -> None:
    began = time.process_time()
    other_genitive("of " * 20_000)
    other_genitive("a's " * 20_000 + " ")
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("River Clearinghouse (RC)", ["RC"]),
        ("流域信息交换库（River Clearinghouse，简称 RVCH）", ["River Clearinghouse", "RVCH"]),
        ("水文组织（Water Body）", ["Water Body"]), ("梧溪（云南）", []), ("Mercury (planet)", []),
        ("红/绿（Signal）", []),
    ],
)  # fmt: skip
def test_parentheses_give_other_names_or_tell_apart(name: str, others: list[str]) -> None:
    assert other_names_in(*disambiguator(name)) == others


@pytest.mark.parametrize(
    ("name", "gender"),
    [
        ("Lord Ashby", "man"), ("Mrs. Field", "woman"), ("Prof. Dame Ann Lee", "woman"),
        ("Lord Mayor Field", None), ("Mr Justice Field", None), ("Lady", None), ("Dr. Lee", None),
        ("周先生", "man"), ("周夫人", "woman"), ("夫人", None),
    ],
)  # fmt: skip
def test_a_form_of_address_tells_a_man_from_a_woman(name: str, gender: str | None) -> None:
    assert gender_of_title(name) == gender
