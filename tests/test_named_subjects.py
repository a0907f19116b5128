"""Sentences about what their document is about say so by its name, wherever a pronoun stands."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.reader.named_subjects import NamedSubjects, name_subjects

TEXT = "The daughter of Ann Bell, she was born in Ost. He taught her. Then she left."


def clause(text: str, sentence: str, pronoun: str, name: str, start: int = 0) -> dict[str, object]:
    place = start + text.index(sentence)
    return {
        "subject": pronoun,
        "subject_name": name,
        "span_start": place,
        "span_end": place + len(sentence),
    }


def named(*clauses: dict[str, object], title: str = "Ida Bell", start: int = 0) -> NamedSubjects:
    return name_subjects(TEXT, start, title, clauses)


def test_a_pronoun_for_the_title_gives_way_to_the_name():
    first = clause(TEXT, "The daughter of Ann Bell, she was born in Ost.", "she", "Ida Bell", 90)
    last = clause(TEXT, "Then she left.", "she", "Ida", 90)
    words = named(first, last, start=90).words
    assert words == (
        "The daughter of Ann Bell, Ida Bell was born in Ost. He taught her. Then Ida left."
    )


def test_a_name_is_as_short_as_the_title():
    row = clause(TEXT, "Then she left.", "she", "Captain Ida Bell")
    assert named(row).words.endswith("Then Ida Bell left.")


def test_a_pronoun_for_another_name_stays():
    assert named(clause(TEXT, "He taught her.", "He", "Otto Ray")).words == TEXT


def test_a_pronoun_that_clauses_take_for_two_names_stays():
    sentence = "Then she left."
    both = [clause(TEXT, sentence, "she", name) for name in ("Ida Bell", "Ann Bell")]
    assert named(*both).words == TEXT


def test_a_subject_that_is_no_pronoun_stays():
    assert named(clause(TEXT, "The daughter of Ann Bell", "The daughter", "Ida Bell")).words == TEXT


def test_a_chinese_pronoun_gives_way_to_the_name():
    text = "陈文是作家。他出生于东城。"
    row = clause(text, "他出生于东城。", "他", "陈文")
    assert name_subjects(text, 0, "陈文", [row]).words == "陈文是作家。陈文出生于东城。"


@given(st.lists(st.sampled_from(["he", "Ost", "she", "left."]), min_size=1, max_size=12))
def test_every_character_beyond_the_names_is_where_it_was_moved_to(words):
    text = " ".join(words)
    places = [at for at in range(len(text)) if text[at:].split(" ")[0] in ("he", "she")]
    clauses = [
        {
            "subject": text[at:].split(" ")[0],
            "subject_name": "Ida Bell",
            "span_start": at,
            "span_end": len(text),
        }
        for at in places
        if at == 0 or text[at - 1] == " "
    ]
    moved = name_subjects(text, 0, "Ida Bell", clauses)
    assert "he" not in moved.words.split() and "she" not in moved.words.split()
    for at, character in enumerate(text):
        if text[:at].count(" ") and character == " ":
            assert moved.words[moved.moved(at)] == " "
    assert moved.moved(len(text)) == len(moved.words)
