"""Reading replies: what is one JSON object is taken, and nothing else, however it is written."""

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tasks.models.call import Outcome
from tasks.models.prompts.replies import NeedsMore, Program, TripleExtraction
from tasks.models.validation import LONGEST, BadReply, parse_object, parse_reply

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)


def outcome_of(text: str) -> Outcome:
    with pytest.raises(BadReply) as bad:
        parse_object(text)
    assert len(bad.value.words) < 700
    return bad.value.outcome


# --- what is taken -----------------------------------------------------------------------

TAKEN = [
    '{"a": 1}',
    ' \n{"a": 1}\r\n\t',
    '\ufeff{"a": 1}',
    '```json\n{"a": 1}\n```',
    '```\n{"a": 1}```',
    'As {asked} [1]:\n```json\n{"a": 1}\n```\nI hope that {this} helps.',
    'Sure! Here is the JSON:\n{"a": 1}',
    '{"a": 1}\n\nLet me know if you need more.',
    '<think>The text says {much} [1].</think>\n{"a": 1}',
    'The text says {much} [1].</think>\n{"a": 1}',
    'As [2] and [3] say:\n\n{"a": 1}\n\nSee also [4].',
    f'{"First I look at each of the sources. " * 40}\n\n{{"a": 1}}',
    '{"a": 1.0e0}',
    '{"\\u0061": 1}',
]


@pytest.mark.parametrize("text", TAKEN)
def test_one_object_is_taken_however_it_is_wrapped(text):
    assert parse_object(text) == {"a": 1}


def test_a_tag_within_an_object_ends_no_reasoning():
    assert parse_object('{"a": "</think>{}"}') == {"a": "</think>{}"}


@given(st.dictionaries(st.text(max_size=10), VALUE))
def test_every_object_is_taken_as_it_is(value):
    try:
        written = json.dumps(value, ensure_ascii=False)
        written.encode()
    except UnicodeEncodeError:
        return
    assert parse_object(written) == value


@pytest.mark.parametrize(
    "inside",
    [
        '""', '"\\""', '"\\\\"', '"\\/"', '"\\b\\f\\n\\r\\t"', '"\\u4e2d"', '"中文"',
        '"\\ud83d\\ude00"',
        '"😀"', '"\u2028"', "0", "-0", "1e5", "1E+2", "-1.5e-3", "123456789012345678", "true",
        "null",
        "[]", "{}", "[[[]]]", '[1, "a", null]', '{"b": {"c": []}}', '" a "',
    ],
)  # fmt: skip
def test_valid_json_is_taken(inside):
    assert parse_object('{"a": ' + inside + "}") == {"a": json.loads(inside)}


# --- what is not -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inside",
    [
        "NaN", "Infinity", "-Infinity", "nan", "undefined", "True", "None", "'a'", "01", "+1", ".5",
        "1.", "1e", "0x10", "1_000", "-", "--1", '"\\x41"', '"\\u00"', '"\\ud800"',
        '"\\udc00\\ud800"',
        '"a', '"\t"', '"\n"', '"\x00"', '"\x1f"', "[1,]", "[,1]", "[1 2]", '{"b": 1,}', '{b: 1}',
        '{"b" 1}', '{"b": }', "{1: 2}", "[", "]", "[1", '{"b": 1', "/* c */ 1", "1 // c", "#",
        "1 1",
        "1" * 60, "-" + "9" * 41,
    ],
)  # fmt: skip
def test_invalid_json_is_not_mended(inside):
    assert outcome_of('{"a": ' + inside + "}") is Outcome.INVALID


@pytest.mark.parametrize(
    "text",
    [
        "[]", '[{"a": 1}]', '"ok"', "null", "1", "true", "{", "}", '{"a": 1}{"a": 1}',
        '{"a": 1}\n{"b": 2}', '{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 1}}', "{'a': 1}", "{}}",
        "{{}",
        'data: {"choices": []}\n\ndata: [DONE]\n\n', "<html></html>", "the " * 1000,
        'Here: [{"a": 1}, {"b": 2}]', 'Here:\n[\n{"a": 1}\n]',
    ],
)  # fmt: skip
def test_what_is_not_one_object_is_refused(text):
    assert outcome_of(text) is Outcome.INVALID


def test_the_example_of_a_prompt_that_is_repeated_is_no_reply():
    prompt = f'{"Reply as one JSON object, as here. " * 20}Reply: {{"a": 1}}'
    with pytest.raises(BadReply, match="repeats"):
        parse_object(prompt, prompt)
    assert parse_object('Sure: {"a": 1}', prompt) == {"a": 1}


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\ufeff", "<think>hm</think>"])
def test_nothing_is_empty_and_not_wrong(text):
    assert outcome_of(text) is Outcome.EMPTY


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.", "I’m sorry, I cannot process this.",
        "Sorry, no.", "As an AI model, I must decline.", "I can't do that.", "抱歉，我无法处理。",
        "我不能回答这个问题。",
    ],
)  # fmt: skip
def test_a_refusal_is_known(text):
    assert outcome_of(text) is Outcome.REFUSED


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"a": "' + "x" * LONGEST + '"}',
        "{" * LONGEST,
        "```" * 100_000,
        "<think>" * 100_000,
    ],
    ids=["brackets", "objects", "deep list", "too long", "braces", "fences", "thoughts"],
)
def test_hostile_replies_are_refused_quickly(text):
    began = time.perf_counter()
    assert outcome_of(text) in (Outcome.INVALID, Outcome.EMPTY)
    assert time.perf_counter() - began < 1.0


@given(st.text(max_size=300) | st.binary(max_size=300).map(lambda data: data.decode("latin-1")))
def test_any_text_is_an_object_or_a_bad_reply(text):
    with contextlib.suppress(BadReply):
        assert isinstance(parse_object(text), dict)


# --- its shape ---------------------------------------------------------------------------


class Shape(BaseModel):
    name: str
    numbers: list[int]


def test_a_reply_of_the_right_shape_is_taken():
    assert parse_reply('{"name": "a", "numbers": [1]}', Shape) == Shape(name="a", numbers=[1])


def test_what_is_wrong_with_a_shape_is_said_without_its_content():
    with pytest.raises(BadReply) as bad:
        parse_reply('{"name": "SECRET TEXT", "numbers": ["PRIVATE"]}', Shape)
    assert "numbers.0" in bad.value.words
    assert "SECRET" not in bad.value.words and "PRIVATE" not in bad.value.words


def test_only_the_first_errors_are_told():
    with pytest.raises(BadReply) as bad:
        parse_reply(json.dumps({"name": 1, "numbers": ["x"] * 500}), Shape)
    assert len(bad.value.words) < 600 and "more)" in bad.value.words


CODE = 'def search():\n    return get_entity_info(["Lake Ohrid"])[1]'
TYPED = json.dumps({"need_knowledge": "Yes", "thought": "t", "code": CODE, "ok": "yes"}, indent=1)
TYPINGS = {
    "line breaks": TYPED.replace("\\n", "\n"),
    "triple quotes": f'{{"need_knowledge": "yes", "code": """{CODE}"""}}',
    "Python": repr(json.loads(TYPED)),
    "a trailing comma": f"{TYPED.rstrip()[:-1]},}}",
    "no comma": TYPED.replace('"t",', '"t"'),
    "curly quotes": "{“need_knowledge”: “yes”, “code”: “" + CODE.replace('"', "'") + "”}",
}


@pytest.mark.parametrize("typed", TYPINGS.values(), ids=TYPINGS)
def test_a_program_is_taken_however_it_is_typed_and_facts_are_not(typed: str) -> None:
    reply = parse_reply(typed, Program)
    assert reply.need_knowledge == "yes" and reply.code.replace("'", '"') == CODE
    with pytest.raises(BadReply):
        parse_reply(typed.replace("code", "triples"), TripleExtraction)
    hostile = ("{" * 50_000, "{" + "-" * 500_000 + "1}", '{"a": 1, "a": 2}')
    for text in hostile:
        with pytest.raises(BadReply):
            parse_object(text, mended=True)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ('{"more": "Yes"}', "yes"),
        ("Yes, I need to know more.", "yes"),
        ('{"more": "No, another is not needed"}', "no"),
        ("**No**", "no"),
        ("是", "yes"),
        ("I cannot know", None),
    ],
)
def test_yes_and_no_are_read_from_the_first_word_alone(text: str, more: str | None) -> None:
    if more:
        assert parse_reply(text, NeedsMore).more == more
        return
    with pytest.raises(BadReply):
        parse_reply(text, NeedsMore)
