"""Passages: exact spans, whole sentences, one heading each, the same for the same text."""

import time
import timeit
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tasks.ingest.blocks import stored_blocks
from tasks.ingest.split import count_tokens, split
from tasks.text.sentences import on_one_line, sentences


def cut(
    text: str, title: str = "T", language: str = "en", budget: int = 160
) -> list[dict[str, Any]]:
    return split("c", title, text, language, budget)


def passage_texts(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in sentences(text, language)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. J. R. R. Tolkien wrote it.", "He lived at No. 20 Northmoor Road."],
        ["It sold 3.5 million copies in the U.S.", "The U.S. Army, e.g. on p. 5, disagrees."],
        ['He wrote "The Hobbit."', "Then he rested.", "Did he?", "Yes!"],
        ['"Why not?" he asked.', "Smith Jr. died in Jan. 1900."],
        ["U.S. Steel Corp. was founded by J.P. Morgan.", "It grew."],
        ["She was born c. 1900 (cf. fig. 3).", "See www.example.org for more."],
        ["She ran Orr Corp.", "Lind met Orr Corp. President Berg of Eider Inc. (Oslo).", "Go."],
        ["He left Orr & Co.", "Lind came.", "Orr & Co. Ltd. paid Lind of Co. Durham."],
        ["He lives in Washington, D.C.", "He likes it."],
        ["Wait... what?", "The end …", "Or not."],
        ["The bowl (cat. 17, inv. 1234) is on fol. 12r.", "See Art. IV and Acc. No. 3.", "Go."],
        ["She taught modern art.", "Paintings hung there.", "He fed the cat.", "Nobody saw it."],
        ["Er kam z.B. am 3. Mai.", "Dann ging er."],
        ["The bridge fell.[103]", "It was 1879.[a][note 2]", "Mr.[4] Bouch died.", "Why?[5]"],
        ["**Rent is due in June.**", 'Run `rent.`', "_So did the tenants._", "**Dr.** Ost did."],
        ["**Rent.** Due in June.", "**Who does not pay it?** We do.", '"_So?_"', "No."],
        ["他（1901年—？）是画家。", "她（？—1950年）呢？", "见图 cat. 12。", "你是——？", "谁？"],
        ["他说：“你好。”", "真的吗？！", "是的…", "好；", "J. K. 罗琳生于1965年。", "3.5万人"],
        ["他来了。", "**房租**很贵。", "(**不付。**)", "好。"],
    ],
)  # fmt: skip
def test_sentences(expected: list[str]) -> None:
    space = "" if expected[0][0] == "他" else " "
    assert passage_texts(space.join(expected), "zh" if not space else "en") == expected


def test_wrapped_lines_go_on_and_items_do_not() -> None:
    text = (
        "A line that was broken because the page was not wide enough\nfor all of it. Next\n"
        "paragraph goes on.\n\nNew paragraph without an end\n\n- item one\n- item two\n"
        "| a | b |\n| 1 | 2 |\nBorn: 1900\nDied: 1950"
    )
    assert passage_texts(text) == [
        "A line that was broken because the page was not wide enough\nfor all of it.",
        "Next\nparagraph goes on.", "New paragraph without an end", "- item one", "- item two",
        "| a | b |", "| 1 | 2 |", "Born: 1900", "Died: 1950",
    ]  # fmt: skip


def test_an_item_holds_its_mark_and_the_lines_that_are_indented_below_it() -> None:
    items = [
        "- oil the lamp\n  Before dusk, with a rag",
        "  * trim it\n    [as shown]",
        "1. Ring the bell.",
        "2. Row out\n   Two men at least.",
    ]
    assert passage_texts("\n".join(items) + "\nShort.\n  Indented.") == [
        *map(str.strip, items[:3]), "2. Row out\n   Two men at least.", "Short.", "Indented.",
    ]  # fmt: skip
    assert passage_texts("See the\n`lamp` and its\n[manual](m) here.") == [
        "See the\n`lamp` and its\n[manual](m) here."
    ]


def test_a_chinese_sentence_goes_on_after_a_line_that_fills_the_page() -> None:
    filled = "老灯塔建于一八九二年，最初由三名守塔人轮流看管，后来改由海港公司的职员\n每晚点灯。"
    assert passage_texts(filled, "zh") == [filled]
    listed = "- 夜间航行的船只必须在进港之前用无线电向港口的值班人员报告自己的船名\n  和吨位。"
    assert passage_texts(f"{listed}\n- 白天不用。", "zh") == [listed, "- 白天不用。"]
    assert on_one_line(f"{filled}\nSee\nbelow") == filled.replace("\n", "") + " See below"


@pytest.mark.parametrize(
    "lines",
    [
        ["潮水退去石滩宽", "渔火三更照水寒"],
        ["第一条 本规定适用于在本港停泊、装卸、补给和修理的一切船只和它们的船员", "第二条 略"],
        ["灯塔的开放时间以当天张贴在码头售票处门口的告示为准，游客请提前半小时到达：", "每天十点"],
        ["**开灯**\\", "灯塔每天在日落之前一刻钟开灯。"],
    ],
)
def test_chinese_lines_that_end_by_themselves_stay_apart(lines: list[str]) -> None:
    assert passage_texts("\n".join(lines), "zh") == lines


def test_a_period_joins_a_foreign_name_where_chinese_stops_end_sentences() -> None:
    named = ["花园的主人是画家安娜.贝尔，她住在镇上。", "她走了。"]
    assert passage_texts("".join(named), "zh") == named
    assert passage_texts("我去了.他来了.", "zh") == ["我去了.", "他来了."]


def test_headings_make_the_path_and_bound_passages() -> None:
    text = (
        "# France\n\nIntro.\n\nLand\n----\nHills. ## no heading\n\n### Rivers ###\n\nSeine.\n\n"
        "```\n# code\n```\n\n## **People**\nMany.\n#hashtag\n\n#\nBare."
    )
    passages = cut(text, "France")
    assert [(one["headings"], one["text"]) for one in passages] == [
        ("", "Intro."),
        ("Land", "Hills. ## no heading"),
        ("Land > Rivers", "Seine.\n\n```\n# code\n```"),
        ("People", "Many.\n#hashtag"),
        ("", "Bare."),
    ]


def test_front_matter_is_no_heading() -> None:
    passages = cut("---\ntitle: A\ndate: 1900\n---\n\n# A\n\nText.", "A")
    assert [(one["headings"], one["text"]) for one in passages] == [
        ("", "---\ntitle: A\ndate: 1900\n---"),
        ("", "Text."),
    ]


def test_budget_holds_and_sentences_stay_whole() -> None:
    text = " ".join(f"This is sentence number {n} of the text." for n in range(100))
    passages = cut(text, budget=40)
    assert len(passages) == 25
    for passage in passages:
        assert count_tokens(passage["text"]) <= 40
        assert passage["text"].endswith(".")


def test_an_overlong_sentence_is_cut_at_clauses_then_words() -> None:
    clauses = ", ".join(["one two three four five"] * 30)
    passages = cut(clauses, budget=40)
    assert all(passage["text"].endswith((",", "five")) for passage in passages)
    words = cut("word " * 500, budget=40)
    assert {passage["text"] for passage in words[:-1]} == {("word " * 40).strip()}


def test_an_address_and_a_time_are_not_cut_at_their_marks() -> None:
    addresses = " ".join(["https://tave.example/a,b;c 10:45"] * 40)
    passages = cut(addresses, budget=40)
    assert len(passages) > 1
    words = {word for passage in passages for word in passage["text"].split()}
    assert words == {"https://tave.example/a,b;c", "10:45"}


def test_chinese_is_counted_by_character() -> None:
    passages = cut("居里夫人出生于华沙。" * 40, language="zh")
    assert all(count_tokens(passage["text"]) <= 160 for passage in passages)
    assert all(passage["text"].endswith("。") for passage in passages)
    assert len(passages) == 3


def test_passage_id_depends_on_title_headings_and_text_alone() -> None:
    one = cut("# A\n\nSame text.\n\n# B\n\nSame text.")
    two = cut("Before it.\n\n# A\n\nSame text.")
    other = cut("# A\n\nSame text.", title="U")
    ids = {passage["passage_id"] for passage in (*one, other[0])}
    assert len(ids) == 3
    assert one[0]["passage_id"] == two[1]["passage_id"]
    assert all(len(identity) == 32 for identity in ids)


TEXT = st.lists(
    st.sampled_from(
        ["Dr. Smith came. ", "He left! ", "\n\n", "\n", "# Head\n", "## Sub\n", "- item\n",
         "word ", "居里夫人。", "他说：“好”", "\n---\n", "===", "...", "3.5", "\t", "a" * 90,
         ", ", "| c |\n", "```\n", "“Q.” ", "U.S. ", "e.g. ", "\u3000", "'", "*b*", "     "]
    )
    | st.text(max_size=12),
    max_size=60,
).map("".join)  # fmt: skip


@given(TEXT, st.integers(4, 60), st.sampled_from(["en", "zh", "und"]))
def test_spans_are_exact_ordered_and_cover_every_sentence(
    text: str, budget: int, language: str
) -> None:
    passages = cut(text, language=language, budget=budget)
    end = 0
    covered = bytearray(len(text))
    for passage in passages:
        assert passage["text"] == text[passage["span_start"] : passage["span_end"]]
        assert passage["text"].strip() == passage["text"] != ""
        assert passage["span_start"] >= end
        assert count_tokens(passage["text"]) <= budget
        end = passage["span_end"]
        covered[passage["span_start"] : end] = b"\1" * (end - passage["span_start"])
    headings = {one["headings"] for one in passages}
    assert all("\n" not in one for one in headings)
    assert passages == cut(text, language=language, budget=budget)
    for start, stop in sentences(text, language):
        words = text[start:stop]
        missed = [p for p in range(start, stop) if not covered[p] and not text[p].isspace()]
        lines = {text[: p + 1].count("\n") for p in missed}
        # What no passage covers stands in heading lines.
        for line in lines:
            assert is_heading(text.split("\n"), line), (words, line)


def is_heading(lines: list[str], number: int) -> bool:
    line = lines[number].strip()
    under = lines[number + 1].strip() if number + 1 < len(lines) else ""
    drawn = [set(one) <= {sign} for one in (line, under or "text") for sign in "=-"]
    return line.startswith("#") or any(drawn)


@given(TEXT, st.sampled_from(["en", "zh", "und"]))
def test_sentences_cover_all_but_white_space(text: str, language: str) -> None:
    spans = sentences(text, language)
    last = 0
    for start, end in spans:
        assert not text[last:start].strip()
        assert start < end
        assert not text[start].isspace() and not text[end - 1].isspace()
        last = end
    assert not text[last:].strip()


@pytest.mark.parametrize(
    "text",
    ["." * 160_000, "." * 160_000 + "a", "a" * 160_000, "\n" * 160_000, " " * 160_000 + "a",
     "#" * 160_000, "# " * 80_000, "```\n" * 32_000, "-\n" * 80_000, "=\n" * 80_000,
     "a. " * 48_000, "”" * 160_000, "。" * 160_000, ", " * 80_000, "| " * 80_000,
     "A" + " " * 96_000 + "b. " * 100, "x\n" * 80_000, "\n- " * 48_000, "U.S. " * 32_000,
         "```\nx\n```\n# h\nx\n" * 8_000, "```\n" * 16_000 + "~~~\n" * 16_000, "```a\n" * 32_000,
         "x\n--- \n" * 26_000, "1.\n" * 48_000, "**" * 80_000],
    ids=lambda text: repr(text[:6]),
)  # fmt: skip
def test_hostile_repetition_takes_linear_time(text: str) -> None:
    # Less than eight times its quarter: 4 if linear, 16 if quadratic.
    quarter, passages = text[: len(text) // 4], []
    assert any(
        seconds(lambda: passages.extend(cut(text))) < 8 * max(seconds(lambda: cut(quarter)), 0.05)
        for _ in range(3)
    )
    assert all(len(passage["text"]) < 20_000 for passage in passages)


def test_splitting_takes_little_longer_than_finding_the_blocks(almanac_data: Path) -> None:
    files = sorted((almanac_data / "factbook" / "europe").glob("*.md"))[:8]
    text = "\n\n".join(file.read_text(encoding="utf-8") for file in files)
    # In turn, and the least of each: what else the machine does only adds, and it comes and goes.
    tokens = passages = float("inf")
    for _ in range(6):
        tokens = min(tokens, seconds(lambda: MarkdownIt("commonmark").parse(text)))
        passages = min(passages, seconds(lambda: cut(text)))
        if passages < 2 * tokens:
            return
    raise AssertionError(f"{passages:.2f} s to split, {tokens:.2f} s to parse")


def seconds(run: Callable[[], object]) -> float:
    """Processor time of one run; the garbage of other tests is not collected meanwhile."""
    return timeit.timeit(run, timer=time.process_time, number=1)


CODE = "```\n" + "\n".join(f"run step-{n} --fast   # what step {n} does. Then?" for n in range(9))


@pytest.mark.parametrize(("budget", "passages"), [(160, 1), (40, 5)])
def test_code_stays_together_and_else_is_cut_between_lines(budget: int, passages: int) -> None:
    prose = "The steps of a run follow one another. " * 12
    texts = [row["text"] for row in cut(f"{prose}\n\n{CODE}\n```\n", budget=budget)]
    coded = [text for text in texts if "run step" in text]
    assert "\n".join(coded).splitlines() == [*CODE.splitlines(), "```"]
    assert len(coded) == passages


def test_a_row_of_a_table_stays_whole_and_the_rest_of_a_cut_one_is_no_row() -> None:
    songs = [f"| Who Left? (feat. Ann Orr) No. {n} | Moor {n} ... | {n} |" for n in range(40)]
    table = "\n".join(["| song | album | minutes |", "|---|---|---|", *songs])
    for row in cut(table):
        rows = [row["text"][b["start"] : b["end"]] for b in row["blocks"] if b["kind"] == "row"]
        assert set(rows) <= set(songs)
        assert rows == row["text"].splitlines()[-len(rows) :]
    long = "| Tarn | Lee | " + "It is deep. Few know it. " * 20 + "| 7 |"
    head = "| lake | shore | notes | depth |\n|---|---|---|---|\n"
    _, first, *rest = cut(f"{head}{long}\n| Mere | Ann | None. | 9 |", budget=40)
    assert [first["text"][b["start"] : b["end"]] for b in first["blocks"]] == ["| Tarn | Lee | "]
    assert [b["kind"] for row in rest for b in row["blocks"]][-2:] == ["markup", "row"]


def test_a_passage_that_says_he_or_she_has_what_is_before_it_below_its_heading():
    text = "Ada Smith came.\n\n# A\n\nBob Jones left. He ran. Rain fell. His cat slept. He did too."
    pieces = cut(text, budget=4)
    before = {piece["text"]: piece["before"].split("\n") for piece in pieces}
    assert before["Ada Smith came."] == before["Bob Jones left."] == before["Rain fell."] == [""]
    assert before["He ran."] == ["Bob Jones left. "]
    assert before["He did too."] == ["He ran. Rain fell. His cat slept. "]  # the last three
    ids = [piece["passage_id"] for piece in cut(text.replace("Bob", "Tom"), budget=4)]
    assert [old["passage_id"] == new for old, new in zip(pieces, ids, strict=True)] == [
        True, False, False, True, False, True
    ]  # fmt: skip


def test_what_leads_to_rows_and_items_is_stored_once_in_a_passage_and_never_without_bound() -> None:
    tables = [f"| {' | '.join(f'port{n}' for n in range(m))} |\n|{'---|' * m}\n" for m in (3, 9000)]
    rows = [f"| Berth {n} {'| low ' * m}|\n" * 40 for n, m in enumerate((2, 8999))]
    listed = "low tide and " * 9_000 + "so:\n\n" + "- wait\n" * 900
    made = [cut(text) for text in (tables[0] + rows[0], tables[1] + rows[1], listed)]
    for row in chain(*made):
        stored = sum(len(block["lead"] or "") for block in row["blocks"])
        assert stored <= 10_000 + len(row["text"])
    led = [{block.lead for row in some for block in stored_blocks(row)} - {""} for some in made[:2]]
    assert led[0] == {"| port0 | port1 | port2 |"}
    assert [lead[:34] for lead in led[1]] == ["| port0 | port1 | port2 | port3 | "]
