"""Prompts: strict names, checked examples, versions that change exactly when a reply could."""

import string

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extract.by_model.grounding import ground
from tasks.extract.by_model.passages import render
from tasks.models.call import Request
from tasks.models.prompts import PURPOSES, Prompt, examples, load_prompt, prompt, purpose_of
from tasks.models.prompts.replies import (
    AnswerReply,
    Choice,
    CitedAnswer,
    EntityReply,
    Extraction,
    Program,
    TripleReply,
    merged,
)
from tasks.models.strict_schema import strict_schema
from tasks.models.tokens import estimate_tokens
from tasks.models.validation import BadReply, parse_reply
from tests.golden_outputs import example_passages

LANGUAGES = ("en", "zh")
ALL = [(purpose, language) for purpose in PURPOSES for language in LANGUAGES]


def load(purpose: str, language: str = "en", vocabulary: str = "") -> Prompt:
    fixed = {"vocabulary": vocabulary} if purpose.startswith("extract") else {}
    if purpose == "cited":
        fixed = {"style": "Be brief.", "memory": "", "catalogue": ""}
    return load_prompt(purpose, language, **fixed)


# --- what a prompt is --------------------------------------------------------------------


@pytest.mark.parametrize(("purpose", "language"), ALL)
def test_every_purpose_has_a_prompt_with_valid_examples(purpose, language):
    loaded = load(purpose, language)
    shown = examples(purpose)[language]
    assert shown
    for example in shown:
        written = orjson.dumps(example["reply"]).decode()
        parse_reply(written, loaded.reply)
        assert written in loaded.system
        loaded.request(example["values"], most_tokens=10)


@pytest.mark.parametrize(("purpose", "language"), ALL)
def test_a_prompt_is_known_by_its_first_line(purpose, language):
    assert purpose_of(load(purpose, language).system) == purpose


@pytest.mark.parametrize("system", ["", "# Something else", "You are a helpful assistant."])
def test_other_prompts_are_not_ours(system):
    assert purpose_of(system) is None


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_fixed_part_comes_first_and_says_that_texts_are_data(purpose):
    loaded = load(purpose)
    values = examples(purpose)["en"][0]["values"]
    first, second = loaded.request(values, most_tokens=10).messages
    assert (first["role"], second["role"]) == ("system", "user")
    assert "$" not in first["content"].replace("$examples", "")
    assert "data" in first["content"] and "instruction" in first["content"]


# --- names -------------------------------------------------------------------------------


def test_a_name_too_few_or_too_many_is_an_error():
    loaded = load("answer")
    with pytest.raises(KeyError):
        loaded.request({"question": "Who?"}, most_tokens=10)
    with pytest.raises(KeyError, match="nobody"):
        loaded.request({"question": "", "knowledge": "", "nobody": ""}, most_tokens=10)
    with pytest.raises(KeyError):
        load_prompt("extract")
    with pytest.raises(KeyError):
        load_prompt("answer", vocabulary="x")


@given(st.text(st.sampled_from(string.printable + "$${}天"), max_size=60))
def test_a_text_is_inserted_once_and_as_it_is(text):
    request = load("answer").request({"question": text, "knowledge": "$question"}, most_tokens=10)
    assert request.user == f"Query: {text}\nKnowledge:\n$question"


# --- versions ----------------------------------------------------------------------------


def test_the_version_is_the_same_in_all_languages():
    assert load("extract", "en").sha == load("extract", "zh").sha
    assert load("extract", "fr").system == load("extract", "en").system


def test_versions_differ_from_purpose_to_purpose_and_with_what_is_fixed():
    assert len({load(purpose).sha for purpose in PURPOSES}) == len(PURPOSES)
    assert load("extract").sha != load("extract", vocabulary="\nUse only these p: born in").sha


@pytest.mark.parametrize("changed", ["template", "example"])
def test_a_changed_prompt_is_another_version(changed, monkeypatch):
    before = load("answer").sha
    fixed, slots = prompt._parts("answer")
    pairs = examples("answer")
    if changed == "template":
        monkeypatch.setattr(prompt, "_parts", lambda purpose: (fixed + " Be kind.", slots))
    else:
        other = {language: shown[:1] for language, shown in pairs.items()}
        monkeypatch.setattr(prompt, "examples", lambda purpose: other)
    assert load("answer").sha != before


def test_equal_requests_have_one_hash_whoever_asks():
    def request_about(**about: object) -> Request:
        values = {"question": "Who?", "knowledge": ""}
        return load("answer").request(values, most_tokens=10, **about)  # type: ignore[arg-type]

    assert request_about(document_id="a").sha("m", "e") == request_about(
        document_id="b", sensitive=True
    ).sha("m", "e")
    assert request_about().sha("m", "e") != request_about().sha("n", "e")
    assert request_about().sha("m", "e") != request_about().sha("m", "f")
    assert request_about().sha("m", "e") != request_about().sha("m", None)


# --- replies -----------------------------------------------------------------------------


def objects_in(schema: object) -> list[dict[str, object]]:
    if isinstance(schema, dict):
        mine = [schema] if schema.get("type") == "object" else []
        return mine + [one for value in schema.values() for one in objects_in(value)]
    return (
        [one for value in schema for one in objects_in(value)] if isinstance(schema, list) else []
    )


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_schema_that_is_sent_is_strict(purpose):
    found = objects_in(strict_schema(load(purpose).reply))
    assert found
    for one in found:
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])  # type: ignore[call-overload]
    assert b"$ref" not in orjson.dumps(strict_schema(load(purpose).reply))


def test_rows_may_be_objects_and_keys_of_nobody_are_dropped():
    fact = {"s": "a", "p": "b", "o": "c", "quote": "d", "confidence": 1.0, "document_id": "x"}
    content = {"entities": [], "triples": [fact], "aspects": [], "run_id": "x"}
    reply = Extraction.model_validate(content)
    assert reply.triples == [TripleReply(s="a", p="b", o="c", where="d")]
    assert orjson.loads(reply.model_dump_json())["triples"] == [["a", "b", "c", "d"]]


def test_the_rest_of_an_entitys_row_are_its_aliases():
    reply = {"entities": [["A", "person", "", "q", "B", "C"]], "triples": [], "aspects": []}
    [entity] = Extraction.model_validate(reply).entities
    assert entity == EntityReply(
        name="A", kind="person", description="", where="q", aliases=["B", "C"]
    )


@pytest.mark.parametrize(
    "row",
    [
        ["a", "b", "c"], list("abcdefghi"), ["a", "b", 1, "d"], ["a", "b", None, "d"],
        ["a", "b", "c", "x\x00y"], ["a", "b", "c", "x\x1by"], ["a", "b", "c", "d" * 20_001],
        ["a" * 1_001, "b", "c", "d"], [], "abcd", [["a"], "b", "c", "d"],
    ],
)  # fmt: skip
def test_a_row_that_is_not_one_is_refused(row):
    written = orjson.dumps({"entities": [], "triples": [row], "aspects": []}).decode()
    with pytest.raises(BadReply):
        parse_reply(written, Extraction)


def test_an_unknown_kind_is_unknown_and_not_an_error():
    reply = {"entities": [["A", "wizard", "", "q"]], "triples": [], "aspects": []}
    assert Extraction.model_validate(reply).entities[0].kind == "unknown"


@pytest.mark.parametrize(("choice", "good"), [("[ENT 1]", True), ("[NONE]", True), ("1", False)])
def test_a_choice_names_a_candidate_or_none(choice, good):
    written = orjson.dumps({"thought": "", "choice": choice}).decode()
    if good:
        assert parse_reply(written, Choice).choice == choice
    else:
        with pytest.raises(BadReply):
            parse_reply(written, Choice)


@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        (Program, {"need_knowledge": "no"}),
        (Program, {"need_knowledge": "no", "code": None}),
        (Program, {"need_knowledge": "yes", "code": "def search():\r\n    return ''"}),
        (AnswerReply, {"thought": "nothing says so", "answerable": "no"}),
        (AnswerReply, {"thought": None, "answerable": "no", "answer": None}),
        (AnswerReply, {"answerable": "yes", "answer": "Lund"}),
    ],
)
def test_a_reply_may_omit_what_nobody_reads(kind, reply):
    """KnowledGPT: without need of knowledge only the first key, without an answer no `answer`."""
    read = parse_reply(orjson.dumps(reply).decode(), kind)
    assert not any("\r" in text for text in dict(read).values())


@pytest.mark.parametrize(
    ("kind", "reply"), [(Program, {"need_knowledge": "yes"}), (AnswerReply, {"answerable": "yes"})]
)
def test_what_was_promised_may_not_be_omitted(kind, reply):
    with pytest.raises(BadReply):
        parse_reply(orjson.dumps(reply).decode(), kind)


CITED = {"quotes": [["2", "built in 1787"]], "found": "yes", "answer": "In 1787 [2]."}


@pytest.mark.parametrize(
    "habits",
    [
        {"quotes": [{"source": 2, "words": "built in 1787"}]},
        {"quotes": [{"number": 2, "quote": "built in 1787"}]},
        {"quotes": [{"text": "built in 1787", "id": "[2]"}]},
        {"quotes": [{"source": 2, "quote": "built in 1787"}]},
        {"quotes": [{"source": 2, "words": "built in 1787", "page": 3}]},
        {"quotes": [["source 2", "built in 1787"]]},
        {"found": "Yes"},
        {"found": True},
        {"found": " YES ", "compute": False},
        {"values": None, "search": ""},
    ],
)
def test_habits_of_models_do_not_spoil_a_cited_answer(habits):
    written = orjson.dumps({**CITED, **habits}).decode()
    assert parse_reply(written, CitedAnswer) == CitedAnswer.model_validate(CITED)


def test_values_without_a_sentence_are_the_answer():
    given = {**CITED, "values": "1787", "answer": None}
    assert CitedAnswer.model_validate(given).answer == "1787 [2]"
    assert CitedAnswer.model_validate({**given, "found": "no"}).answer == ""


# --- the extraction prompt ---------------------------------------------------------------


@pytest.mark.parametrize("purpose", [p for p in PURPOSES if p.startswith("extract")])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fact_of_an_example_is_borne_out_by_its_text(purpose, language):
    for example in examples(purpose)[language]:
        rows = example_passages(example, language)
        assert render(rows) == example["values"]
        reply = load(purpose).reply.model_validate(example["reply"])
        found = ground([(merged([reply]), rows)], rows)
        assert found.rejected == []
        assert any(any(extracted.facts) for extracted in found.extracted)


@pytest.mark.parametrize(
    ("written", "read"),
    [("1", "1"), ("1-3", "1-3"), (4, "4"), ([1, 2], "1,2"), ("its words", "its words")],
)
def test_a_row_cites_sentences_by_numbers_or_words(written, read):
    assert TripleReply.model_validate(["a", "b", "c", written]).where == read


def test_a_row_says_when_and_how_it_is_meant():
    row = TripleReply.model_validate(["a", "b", "c", "1", "2019", "", "not", "possible"])
    assert (row.since, row.polarity, row.modality) == ("2019", "negative", "possible")
    assert not row.is_asserted
    plain = TripleReply.model_validate(["a", "b", "c", "1", "", "", "no", ""])
    assert plain.is_asserted and plain.model_dump() == ["a", "b", "c", "1", "", "", "no"]
    assert TripleReply.model_validate(["a", "b", "c", "1", "", ""]).model_dump() == list("abc1")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_fixed_part_is_long_enough_to_be_cached_and_not_much_longer(language):
    assert 1_024 < estimate_tokens(load("extract", language).system) <= 1_600


def test_the_paper_s_requirements_are_in_the_prompt():
    system = load("extract").system
    for words in ("Do not miss any knowledge points", "nothing else", "cite sentences"):
        assert words in system
