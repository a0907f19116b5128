"""Grounding: what a passage bears out is stored with its place; everything else with its reason."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.observations import (
    AliasMention,
    AspectMention,
    DescriptionMention,
    NameMention,
    TripleMention,
)
from schemas.ontology import Ontology
from tasks.extract.by_model import grounding
from tasks.extract.by_model.grounding import Grounded
from tasks.extract.by_model.located import Searchable
from tasks.extract.by_model.passages import (
    PassageRow,
    halves,
    into_calls,
    read_extraction_text,
    render,
    show_facts,
    uncovered,
)
from tasks.models.prompts.replies import Extraction
from tasks.text.languages import HAN
from tasks.text.stems import stems_of
from tests.case_tables import cases

ADA = (
    "Ada Lovelace (1815–1852), known as the “Enchantress of Numbers”, was an English "
    "mathematician. She worked with Charles Babbage on the Analytical Engine. Her notes of 1843 "
    "cover 20 pages."
)
XUN = "鲁迅，原名周树人，是中国作家。1918年他发表了《狂人日记》，全文约4700字。"


def passage(text: str = ADA, **more: Any) -> PassageRow:
    return {
        "passage_id": "p1", "text": text, "title": "Ada Lovelace", "headings": "", "language": "en",
        "content_id": "c", "document_id": "d", "sensitive": False, "span_start": 0, "place": 1,
        **more,
    }  # fmt: skip


WITH = "She worked with Charles Babbage"
WORKED = ["Ada Lovelace", "worked with", "Charles Babbage", WITH]
CHINESE = passage(XUN, title="鲁迅", language="zh")


def reply(
    triples: list[list[str]] | None = None,
    entities: list[list[str]] | None = None,
    aspects: list[list[str]] | None = None,
) -> Extraction:
    content = {"entities": entities or [], "triples": triples or [], "aspects": aspects or []}
    return Extraction.model_validate(content)


def ground(
    answer: Extraction, rows: list[PassageRow], ontology: Ontology | None = None
) -> Grounded:
    """Ground a reply about passages that were shown whole."""
    return grounding.ground([(answer, rows)], rows, ontology)


def grounded(*fact: str) -> Grounded:
    """Ground one triple in the passage about Ada Lovelace."""
    return ground(reply([list(fact)]), [passage()])


def reasons(found: Grounded) -> list[str]:
    return [fact.reason for fact in found.rejected]


# --- what is borne out -------------------------------------------------------------------

QUOTES = [
    "She worked with Charles Babbage",
    "SHE WORKED WITH CHARLES BABBAGE",
    " she worked  with\nCharles Babbage. ",
    "She worked with … the Analytical Engine",
    "She worked with ... the Analytical Engine",
    '"Enchantress of Numbers", was an English mathematician',
    "Ada Lovelace (1815-1852)",
]


@pytest.mark.parametrize("quote", QUOTES)
def test_a_quote_is_found_however_it_was_copied(quote: str) -> None:
    span = Searchable(ADA).find(quote)
    assert span is not None and 0 <= span[0] < span[1] <= len(ADA)


@pytest.mark.parametrize("quote", ["１９１８年他发表了", "1918 年 他 发表了", "发表了《狂人日记》"])
def test_a_chinese_quote_is_found_in_other_widths_and_gaps(quote: str) -> None:
    span = Searchable(XUN).find(quote)
    assert span is not None and "发表了" in XUN[span[0] : span[1]]


@pytest.mark.parametrize(
    "quote",
    ["", " ", "…", "She worked with Alan Turing", "the Analytical Engine … She worked with"],
)
def test_what_does_not_stand_there_is_not_found(quote: str) -> None:
    assert Searchable(ADA).find(quote) is None


def test_a_triple_is_stored_with_its_place_and_our_confidence() -> None:
    found = ground(reply([WORKED], entities=[["Charles Babbage", "person", "", ""]]), [passage()])
    [triple] = found.extracted[0].triples
    assert ADA[triple["span_start"] : triple["span_end"]] == WITH
    assert (triple["tail_kind"], triple["value_type"]) == ("person", "entity")
    assert 0 < triple["confidence"] < 1
    assert found.rejected == []


@pytest.mark.parametrize(
    ("where", "tail", "quote", "columns"),
    [
        (passage(), "20 pages", "cover 20 pages", {"number": 20.0}),
        (passage(), "1843", "Her notes of 1843", {"value_type": "year", "date": "1843"}),
        (CHINESE, "1918年", "1918年他发表了", {"date": "1918"}),
    ],
)
def test_tails_are_read_as_values(
    where: PassageRow, tail: str, quote: str, columns: dict[str, Any]
) -> None:
    head = where["title"]
    found = ground(reply([[head, "relates by", tail, quote]]), [where])
    [triple] = found.extracted[0].triples
    assert {name: triple[name] for name in columns} == columns


def test_descriptions_aspects_and_aliases_are_stored_as_rows_of_the_journal() -> None:
    answer = reply(
        [WORKED],
        [["Ada Lovelace", "person", "an English mathematician", "was an English mathematician",
          "Enchantress of Numbers"]],
        [["Ada Lovelace", "work", "With whom did she work?",
          "She worked with Charles Babbage on the Analytical Engine."]],
    )  # fmt: skip
    found = ground(answer, [passage()])
    [extracted] = found.extracted
    assert found.rejected == []
    [description], [aspect], [alias] = (
        extracted.descriptions, extracted.aspects, extracted.aliases,
    )  # fmt: skip
    assert description["text"] == "an English mathematician"
    assert aspect["text"] == "She worked with Charles Babbage on the Analytical Engine."
    assert ADA[alias["span_start"] : alias["span_end"]] == "Enchantress of Numbers"
    names = {name["name"] for name in extracted.names}
    assert names == {"Ada Lovelace", "Enchantress of Numbers"}
    stamp = {"passage_id": "p1", "engine": "openai", "prompt_sha": "x"}
    for row, made in (
        (NameMention, extracted.names),
        (TripleMention, extracted.triples),
        (DescriptionMention, [description]),
        (AspectMention, [aspect]),
        (AliasMention, [alias]),
    ):
        row.to_table([row(**{**fact, **stamp}) for fact in made])


def test_chinese_facts_are_stored() -> None:
    answer = reply(
        [["鲁迅", "发表", "《狂人日记》", "1918年他发表了《狂人日记》"]],
        entities=[["鲁迅", "person", "中国作家", "是中国作家", "周树人"]],
    )
    found = ground(answer, [CHINESE])
    [one] = found.extracted
    assert found.rejected == []
    assert [len(rows) for rows in (one.triples, one.descriptions, one.aliases)] == [1, 1, 1]


def test_facts_about_a_translated_name_are_stored_under_the_name_in_the_text() -> None:
    text = "白鹿河博物馆于1962年建成，现有藏品300件。"
    where = "白鹿河博物馆于1962年建成"
    entity = ["White Deer River Museum", "organisation", "", where, "白鹿河博物馆"]
    facts = [["White Deer River Museum", "built in", "1962", where]]
    found = ground(reply(facts, [entity]), [passage(text, title="博物馆", language="zh")])
    [built] = found.extracted[0].triples
    assert (built["head"], built["tail"]) == ("白鹿河博物馆", "1962")
    assert reasons(found) == ["alias_not_found"]  # the text has no other name
    bare = ground(reply(facts), [passage(text, title="博物馆", language="zh")])
    assert reasons(bare) == ["head_not_found"]
    common = [*entity[:4], "the museum"]
    plain = "Since 1962 the museum is open."
    facts[0][3] = common[3] = plain
    found = ground(reply(facts, [common]), [passage(plain, title="")])
    assert "head_not_found" in reasons(found)


def test_names_match_without_accents_and_rates_with_either_word() -> None:
    text = "The hall was designed by Jørgen Åkesson. Rent is 40 euros a month."
    facts = [
        ["hall", "designed by", "Jorgen Akesson", "designed by Jørgen Åkesson"],
        ["Rent", "is", "40 euros per month", "Rent is 40 euros a month"],
    ]
    entity = ["Jorgen Akesson", "person", "", "designed by Jorgen Akesson"]
    found = ground(reply(facts, [entity]), [passage(text, title="Hall")])
    assert reasons(found) == []
    [designed, _] = found.extracted[0].triples
    assert "Jørgen Åkesson" in text[designed["span_start"] : designed["span_end"]]


# --- what is not -------------------------------------------------------------------------

BABBAGE = ("worked with", "Charles Babbage")
REJECTED = [
    (["Ada Lovelace", *BABBAGE, "She flew to Mars"], "sentence_not_found"),
    (["Ada Lovelace", *BABBAGE, ""], "sentence_not_found"),
    (["Alan Turing", *BABBAGE, WITH], "head_not_found"),
    (["She", *BABBAGE, WITH], "head_not_found"),
    (["Ada Lovelace", "worked with", "Alan Turing", WITH], "tail_not_found"),
    (["Ada Lovelace", "worked with", "CANARY-7Q", WITH], "tail_not_found"),
    (["Ada Lovelace", "wrote in", "1844", "Her notes of 1843 cover 20 pages"], "tail_not_found"),
    (["Ada Lovelace", "worked on", "the Analytical Engin", WITH], "tail_not_found"),
    (["Ada Lovelace", "", "Charles Babbage", WITH], "vague_relation"),
    (["Ada Lovelace", "related to", "Charles Babbage", WITH], "vague_relation"),
    (["Ada Lovelace", "is", "Ada Lovelace", "Ada Lovelace (1815"], "same_head_and_tail"),
    (["Ada Lovelace", "is", "English mathematician", "cover 20 pages"], "tail_not_found"),
    (["Charles Babbage", "is", "English mathematician", "was an English"], "head_not_in_sentence"),
    (["Charles Babbage", "worked with", "Ada Lovelace", "known as"], "head_not_in_sentence"),
]


@pytest.mark.parametrize(("fact", "reason"), REJECTED)
def test_a_triple_that_is_not_borne_out_is_rejected(fact: list[str], reason: str) -> None:
    found = grounded(*fact)
    assert (found.extracted[0].triples, reasons(found)) == ([], [reason])
    assert found.rejected[0].form == "triple" and fact[2] in found.rejected[0].text


def test_a_malformed_row_is_rejected_alone_unless_all_are() -> None:
    short, named = WORKED[:3], ["Ada Lovelace", "person", "", WITH]
    found = ground(reply([WORKED, short], [named, [None, *named]]), [passage()])
    assert len(found.extracted[0].triples) == 1
    assert [fact.form for fact in found.rejected] == ["description", "triple"]
    assert str(short) in found.rejected[1].text
    with pytest.raises(ValidationError, match="a row of 3"):
        reply([short])


@pytest.mark.parametrize(
    ("name", "description", "quote", "reason"),
    cases("""
Alan Turing | an English mathematician | an English mathematician | head_not_found
Ada Lovelace | a French violinist of Paris | an English mathematician | words_not_found
Ada Lovelace | an English mathematician of 1999 | an English mathematician | words_not_found
Ada Lovelace | an English mathematician | not in the text | sentence_not_found
"""),
)
def test_a_description_that_is_not_borne_out_is_rejected(
    name: str, description: str, quote: str, reason: str
) -> None:
    found = ground(reply(entities=[[name, "person", description, quote]]), [passage()])
    assert (found.extracted[0].descriptions, reasons(found)) == ([], [reason])


def test_an_alias_that_stands_nowhere_is_rejected() -> None:
    entity = ["Ada Lovelace", "person", "", "an English mathematician", "Countess X", "She"]
    found = ground(reply(entities=[entity]), [passage()])
    assert found.extracted[0].aliases == []
    assert set(reasons(found)) == {"alias_not_found"}


@pytest.mark.parametrize(
    ("name", "aliases", "text", "kept"),
    [
        (
            "Corvin Mill",
            ["the mill", "Corvin"],
            "Corvin Mill burnt; the mill of Corvin.",
            ["Corvin"],
        ),
        ("星桥科技", ["公司", "该公司", "星桥"], "星桥科技是公司，该公司又称星桥。", ["星桥"]),
        ("西红柿", ["番茄"], "西红柿又名番茄。", ["番茄"]),
    ],
)
def test_words_that_name_nothing_by_themselves_are_no_aliases(
    name: str, aliases: list[str], text: str, kept: list[str]
) -> None:
    where = passage(text, title=name, language="zh" if HAN.search(name) else "en")
    found = ground(reply(entities=[[name, "thing", "", "1", *aliases]]), [where])
    assert [row["alias"] for row in found.extracted[0].aliases] == kept
    assert found.rejected == []
    assert not {"the mill", "公司", "该公司"} & {row["name"] for row in found.extracted[0].names}


@given(
    st.text(st.characters(categories=["Lu", "Ll"], max_codepoint=0x24F), min_size=4, max_size=20)
)
def test_an_invented_name_never_passes(name: str) -> None:
    known, own = ({stem for *_, stem in stems_of(text)} for text in (f"{ADA} Ada Lovelace", name))
    if not own or own & known or name.lower() in ADA.lower():
        return
    answer = reply(
        [[name, "worked with", "Charles Babbage", WITH], ["Ada Lovelace", "knew", name, WITH]],
        entities=[["Ada Lovelace", "person", "", "", name], [name, "person", "an English", WITH]],
    )
    extracted = ground(answer, [passage()]).extracted[0]
    assert (extracted.triples, extracted.aliases, extracted.descriptions) == ([], [], [])


@given(st.text(max_size=80), st.text(max_size=40), st.text(max_size=40))
def test_what_is_stored_lies_in_the_passage(quote: str, head: str, tail: str) -> None:
    try:
        answer = reply([[head, "says", tail, quote]], aspects=[[head, "side", "?", quote]])
    except ValueError:
        return
    for extracted in ground(answer, [passage(f"{head} {quote} {tail}"), passage()]).extracted:
        for fact in [*extracted.triples, *extracted.aspects, *extracted.names]:
            assert 0 <= fact["span_start"] < fact["span_end"]


# --- passages, vocabulary, amounts -------------------------------------------------------


def test_a_fact_belongs_to_the_passage_that_holds_its_quote() -> None:
    oslo, turku = "Oslo lies in Norway.", "Turku lies in Finland."
    texts = [passage(oslo, title="Towns"), passage(turku, title="Towns", passage_id="p2")]
    found = ground(reply([["Turku", "lies in", "Finland", turku]]), texts)
    assert [len(one.triples) for one in found.extracted] == [0, 1]
    crossed = ground(reply([["Oslo", "lies in", "Finland", turku]]), texts)
    assert reasons(crossed) == ["head_not_in_sentence"]


def test_a_fact_said_twice_is_stored_once_and_too_many_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert len(ground(reply([WORKED] * 3), [passage()]).extracted[0].triples) == 1
    monkeypatch.setattr(grounding, "MOST_FACTS", 1)
    found = ground(reply([WORKED, ["Ada Lovelace", "knew", "Charles Babbage", WITH]]), [passage()])
    assert reasons(found) == ["too_many"]


def test_an_ontology_spells_relations_turns_them_and_if_strict_allows_no_other() -> None:
    relations = {"colleague of": {"wordings": ["worked with"], "inverse": "had as colleague"}}
    facts = [[
        "Ada Lovelace", relation, "Charles Babbage", WITH
    ] for relation in ("Worked With", "had as colleague", "knew")]  # fmt: skip

    def triples(mode: str) -> list[tuple[str, str, str]]:
        ontology = Ontology.model_validate({"mode": mode, "relations": relations})
        results.append(ground(reply(facts), [passage()], ontology))
        rows = results[-1].extracted[0].triples
        return [(row["head"], row["relation"], row["tail"]) for row in rows]

    results: list[Grounded] = []
    fitting = [
        ("Ada Lovelace", "colleague of", "Charles Babbage"),
        ("Charles Babbage", "colleague of", "Ada Lovelace"),
    ]
    assert triples("strict") == fitting
    assert reasons(results[0]) == ["not_in_ontology"]
    assert triples("warn") == [*fitting, ("Ada Lovelace", "knew", "Charles Babbage")]


def test_hostile_sizes_end_soon() -> None:
    began = time.perf_counter()
    facts, notes = [["a", "b", "c", "a " * 9_000 + "x"]] * 20, [["a", "s", "?", "…" * 9_000]]
    ground(reply(facts, aspects=notes), [passage("a " * 250_000)])
    Searchable("天 " * 100_000).find("天" * 5_000 + "地")
    Searchable("a b").find("a" + " " * 100_000 + "b…")
    assert time.perf_counter() - began < 5


# --- calls -------------------------------------------------------------------------------


def test_only_passages_of_one_text_share_a_call_up_to_a_budget() -> None:
    passages = [
        passage("one two three.", passage_id="a"),
        passage("four five six.", passage_id="b"),
        passage("seven.", passage_id="c", sensitive=True),
        passage("eight.", passage_id="d", content_id="e"),
        passage("nine.", passage_id="f", content_id="e", language="zh"),
    ]
    calls = [[p["passage_id"] for p in call] for call in into_calls(passages, 100)]
    assert calls == [["a", "b"], ["c"], ["d"], ["f"]]
    assert [len(call) for call in into_calls(passages[:2], 5)] == [1, 1]
    assert [len(call) for call in into_calls([passage("word " * 500)], 5)] == [1]


def test_a_message_can_be_read_back() -> None:
    texts = {"One.": "H", "Two.": "H", "Three.": "I"}
    dated = {"metadata": '{"date": "1843-08-01"}'}
    values = render([passage(text, headings=heading, **dated) for text, heading in texts.items()])
    assert values["head"] == "Title: Ada Lovelace\nDate: 1843-08-01"
    assert values["text"] == "## H\n1: One.\n\n2: Two.\n\n## I\n3: Three."
    title, passages = read_extraction_text(f"{values['head']}\n\n{values['text']}")
    assert title == "Ada Lovelace"
    assert passages == [[(1, "One.")], [(2, "Two.")], [(3, "Three.")]]


def test_what_is_too_long_is_cut_between_pieces_then_between_sentences() -> None:
    one, two, three = (passage(passage_id=name) for name in "abc")
    cut = halves([one, two, three])
    assert cut is not None and [len(half) for half in cut] == [1, 2]
    cut = halves([one])
    assert cut is not None
    assert cut[0][0]["text"] + cut[1][0]["text"] == ADA
    assert cut[0][0]["passage_id"] == cut[1][0]["passage_id"] == "a"
    assert halves([passage("One sentence alone.")]) is None


@pytest.mark.parametrize(
    ("text", "language", "shown"),
    [
        ("She worked with Charles Babbage.", "en", True),
        ("It was built within 40 days.", "en", True),
        ("Nobody knows why this is so, and it is a pity.", "en", False),
        ("鲁迅是中国作家。", "zh", True),
        ("大家都觉得这样很好。", "zh", False),
    ],
)
def test_passages_show_facts_by_names_and_numbers(text: str, language: str, shown: bool) -> None:
    assert show_facts([{"text": text, "language": language}]) is shown


def test_a_description_lies_where_all_of_its_sentences_do() -> None:
    text = "Ketil Bru\n\nKetil Bru built boats. Nobody else did. He lived on Skar."
    for where, stated in (
        ("Ketil Bru Ketil Bru built boats.", "Ketil Bru\n\nKetil Bru built boats."),
        ("built boats. Nobody else", "Ketil Bru built boats. Nobody else did."),
        ("He lived on Skar.", "He lived on Skar."),
    ):
        entity = ["Ketil Bru", "person", "Ketil Bru built boats and lived on Skar", where]
        [row] = ground(reply(entities=[entity]), [passage(text)]).extracted[0].descriptions
        assert text[row["span_start"] : row["span_end"]] == stated


def test_a_second_look_is_for_sentences_that_nothing_covers() -> None:
    found = grounded(*WORKED)
    [left] = uncovered([passage()], found.extracted)
    assert "Enchantress" in left["text"] and left["passage_id"] == "p1"
    everything = ground(reply(aspects=[["Ada Lovelace", "all", "?", ADA]]), [passage()])
    assert uncovered([passage()], everything.extracted) == []
