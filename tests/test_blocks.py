"""The blocks of a text, the words in them, and what a passage's prose and records are."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extract.rules.layout import lay_out
from tasks.ingest.blocks import BlockKind, blocks_of
from tasks.ingest.prose import words_of
from tasks.ingest.split import split, subject_of

PAGE = """---
title: Tides
author: Ada
---
# Tides

The tide gauge at Brest is **old**.

![a gauge](gauge.png)

The harbour offers:

- moorings for 40 boats
- a crane. It lifts 20 t.
- [Prices](prices.md)

Opening hours: 8 to 18
Telephone: 02 98

- **Depth**: 6 m
- Note that fog is common here.

| Port | Range |
| ---- | ----- |
| Brest | 7.3 m |
| Toulon | 0.3 m |

> The sea gives.

Mean sea level
: the level between tides

```
port = open()
```

    port = open_again(1)

<div class="x"></div>

Low tide
--------
[^1]: Measured in 1807.
"""


def kinds(text: str) -> list[tuple[str, str, str]]:
    return [(block.kind, text[block.start : block.end], block.lead) for block in blocks_of(text)]


def test_every_block_has_its_kind_its_words_and_what_leads_to_it():
    assert kinds(PAGE) == [
        ("metadata", "---\ntitle: Tides\nauthor: Ada\n---", ""),
        ("heading", "# Tides", "Tides"),
        ("prose", "The tide gauge at Brest is **old**.", ""),
        ("image", "![a gauge](gauge.png)", ""),
        ("prose", "The harbour offers:", ""),
        ("item", "moorings for 40 boats", "The harbour offers:"),
        ("item", "a crane. It lifts 20 t.", "The harbour offers:"),
        ("navigation", "[Prices](prices.md)", ""),
        ("pair", "8 to 18", "Opening hours"),
        ("pair", "02 98", "Telephone"),
        ("pair", "6 m", "Depth"),
        ("item", "Note that fog is common here.", ""),
        ("row", "| Brest | 7.3 m |", "| Port | Range |"),
        ("row", "| Toulon | 0.3 m |", "| Port | Range |"),
        ("quotation", "The sea gives.", ""),
        ("pair", "the level between tides", "Mean sea level"),
        ("code", "```\nport = open()\n```", ""),
        ("code", "port = open_again(1)", ""),
        ("markup", '<div class="x"></div>', ""),
        ("heading", "Low tide\n--------", "Low tide"),
        ("footnote", "Measured in 1807.", ""),
    ]


def test_a_bold_label_may_have_a_dash():
    assert kinds("- **Depth** - Metres of water.\n- The **Orca** - a ship - sank.\n") == [
        ("pair", "Metres of water.", "Depth"),
        ("item", "The **Orca** - a ship - sank.", ""),
    ]


def test_levels_of_headings():
    levels = [block.level for block in blocks_of("# A\n\n### B\n\nC\n=\n\nD\n---\n")]
    assert levels == [1, 3, 1, 2]


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ('# <a name="tides"></a>Tides', "Tides"),
        ("## [Tides](tides.md) of `Brest`[^1] {#tides}", "Tides of Brest"),
        ("## C# and F#", "C# and F#"),
        ("## a * b, snake_case", "a * b, snake_case"),
        ("=======\n Tides\n=======", "Tides"),
    ],
)
def test_a_heading_has_words_alone(heading, words):
    (block,) = blocks_of(heading)
    assert (block.kind, block.lead) == (BlockKind.HEADING, words)


def test_indented_prose_is_prose():
    text = "Chapter I.\n\n    It was a bright day in April, and the clocks of the town struck.\n"
    assert [block.kind for block in blocks_of(text)] == [BlockKind.PROSE, BlockKind.PROSE]


def test_an_admonition_holds_blocks_of_every_kind():
    text = (
        '!!! tip ""\n    - The port has a crane.\n\n    | Port | Range |\n    | --- | --- |\n'
        '    | Brest | 7.3 m |\n\n!!! note "Only at high tide."\n    See the table.\n'
    )
    assert [(block.kind.value, text[block.start : block.end]) for block in blocks_of(text)] == [
        ("item", "The port has a crane."),
        ("row", "| Brest | 7.3 m |"),
        ("prose", "Only at high tide."),
        ("prose", "See the table."),
    ]


@given(st.text(alphabet='ab.:|-#*>` \n[]()!1?"', max_size=120))
def test_blocks_of_any_text_are_in_order_and_apart(text):
    end = 0
    for block in blocks_of(text):
        assert end <= block.start < block.end <= len(text)
        end = block.end


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("See the [**tide** table](a(b).md) now.", "See the tide table now."),
        ("See [max(tide[1h])](/q?e=max(tide[1h])&at=(now)) now.", "See max(tide[1h]) now."),
        (
            "HEIGHT`: of a wave; see `tide -h`, 用`tide`看.",
            "HEIGHT: of a wave; see tide -h, 用tide看.",
        ),
        ("Set `wave_height` to 2 * 3, *not* 4.", "Set wave_height to 2 * 3, not 4."),
        ("More, see https://example.org/a. Bye.[^2]", "More, see . Bye."),
        ("It is at https://example.org/a. Bye.", "It is at https://example.org/a. Bye."),
        ('"https://a.org/x" is its address.', '"https://a.org/x" is its address.'),
        ("Guide: [https://a.org/x](https://a.org/x).", "Guide: https://a.org/x."),
        ("网址：https://a.org/x。", "网址：https://a.org/x。"),
        ("Set `[a](b)` in\n`tide`<br/>and<br>\nebb.", "Set [a](b) in\ntide and\nebb."),
        ("See https://a.org/it's’ or https://a.org/港。它很老。", "See ’ or 。它很老。"),
        ("{% note %} Ebb &c. <b>flows</b> \\*out\\*", " Ebb &c. flows *out*"),
        ("- [x] Tides rise at [x] o'clock.", "-  Tides rise at [x] o'clock."),
        ("Built in 1990.\\\nAt C:\\tides\\", "Built in 1990.\nAt C:\\tides"),
    ],
)
def test_words_are_free_of_marks_and_targets(block, words):
    assert words_of(block).text == words


def test_words_know_their_places():
    block = "The [**tide** table](t.md) of `Brest`."
    words = words_of(block)
    for name in ("The", "tide", "table", "Brest"):
        start, end = words.in_source(words.text.index(name), words.text.index(name) + len(name))
        assert block[start:end] == name


@pytest.mark.parametrize(
    ("title", "text", "subject"),
    [
        ("Brest", "Brest is a port. In Brest it rains.", "Brest"),
        ("Storage", "Storage is local. Remote storage and other storage exist.", ""),
        ("Report 2024", "The company grew.", ""),
        ("Mercury (planet)", "Mercury has no moon.", "Mercury"),
        ("潮汐", "潮汐是海水的涨落。", "潮汐"),
        ("部署指南", "请先安装软件。", ""),
    ],
)
def test_a_title_is_a_subject_if_the_text_uses_it_as_a_name(title, text, subject):
    assert subject_of(title, text, blocks_of(text)) == subject


@pytest.mark.parametrize(
    "more",
    ["", "\n\nIda Morn was born in Pell.", "\n\n| Part | Maker |\n| --- | --- |\n| pump | Aas |"],
)
def test_labels_are_of_the_title_whatever_else_is_told(more: str) -> None:
    labels = "- Manufacturer: Tarn Works\n- Weight: 12 kg"
    for text in (labels + more, f"{more.strip()}\n\n{labels}"):
        assert subject_of("Selka K2", text, blocks_of(text)) == "Selka K2"


def laid_out(text: str) -> tuple[str, list[tuple[str, str, str]]]:
    row: dict[str, Any] = {"text": text}
    layout = lay_out(row)
    return layout.prose.text, [(r.subject, r.label, r.value) for r in layout.records]


def test_a_trail_above_sentences_hides_none_of_them():
    trail = "Port Office > News > Releases"
    assert [b.kind for b in blocks_of(trail)] == [BlockKind.NAVIGATION]
    prose, _ = laid_out(f"{trail}\nSkip to content\nThe pier was closed today after a storm.\n")
    assert "The pier was closed today" in prose


def test_attributes_of_a_block_are_no_words():
    prose, _ = laid_out('A **tide**{: data-type="term" #t1} rises.\n\n{: .note}\n')
    assert prose.strip() == "A tide rises."


def test_an_item_goes_on_with_the_sentence_before_its_list():
    prose, _ = laid_out("The harbour offers:\n\n- moorings\n- A crane stands here.\n")
    assert prose.split("\n\n")[1:3] == ["The harbour offers moorings", "A crane stands here."]


def test_an_item_of_what_follows_stands_alone():
    prose, _ = laid_out("The harbour offers the following:\n\n- moorings\n")
    assert "moorings" in prose.split("\n\n")


def test_tables_and_labels_are_records_and_code_is_nothing():
    prose, records = laid_out(PAGE)
    assert records == [
        ("", "Opening hours", "8 to 18"),
        ("", "Telephone", "02 98"),
        ("", "Depth", "6 m"),
        ("Brest", "Range", "7.3 m"),
        ("Toulon", "Range", "0.3 m"),
        ("", "Mean sea level", "the level between tides"),
    ]
    assert not any(word in prose for word in ("open", "author", "Prices", "gauge.png", "Port"))


def test_a_column_that_counts_and_an_icon_say_nothing():
    table = (
        "| No. | Port | Depth | Crane |\n| - | - | - | - |\n| 1 | Brest | >= 5 m | :m-check: |\n"
    )
    records = lay_out({"text": f"{table}| 2 | Toulon | > 7 m | two |\n"}).records
    assert [(record.subject, record.value) for record in records] == [
        ("Brest", ">= 5 m"),
        ("Toulon", "> 7 m"),
        ("Toulon", "two"),
    ]


def test_a_column_that_groups_numbered_rows_is_no_subject():
    rows = "| 1 | Cornwall | Truro |\n| 2 | Cornwall | Falmouth |\n| 3 | Wales | Barry |\n"
    _, records = laid_out(f"| No. | Coast | Port |\n| - | - | - |\n{rows}")
    assert records == [
        ("Truro", "Coast", "Cornwall"),
        ("Falmouth", "Coast", "Cornwall"),
        ("Barry", "Coast", "Wales"),
    ]


def test_a_column_that_groups_a_table_is_no_subject_in_its_last_rows():
    ports = ["Brest", "Lorient", "Vannes", "Falmouth", "Penzance", "Truro", "Barry"]
    coasts = ["Brittany"] * 3 + ["Cornwall"] * 3 + ["Wales"]
    rows = [f"| {coast} | {port} | 9 m |" for coast, port in zip(coasts, ports, strict=True)]
    table = "\n".join(["| Coast | Port | Depth |", "| - | - | - |", *rows])
    passages = split("c", "Ports", table, "en", 30)
    records = [record for row in passages for record in lay_out(row).records]
    assert len(passages) > 2
    assert [record.subject for record in records if record.label == "Depth"] == ports


def subjects(head: str, rows: list[str]) -> list[str]:
    """Return the subjects of the rows of a table in three columns and several passages."""
    lines = [f"| {row} |" for row in (head, "- | - | -", *rows)]
    found = [lay_out(row).records for row in split("c", "Ports", "\n".join(lines), "en", 40)]
    return list(dict.fromkeys(record.subject for records in found for record in records))


def test_an_odd_or_repeated_name_among_others_does_not_move_the_subjects_of_a_table():
    ports = ["Brest", "Barry", "Saint Helena, Ascension and Tristan", "Oban", "Truro", "Brest"]
    ports += ["The Old Harbour of the Fishers below the Castle", "Vannes", "12", "Zara"]
    rows = [f"{port} | Keeper {place} | {place} m" for place, port in enumerate(ports)]
    found = subjects("Port | Keeper | Depth", rows)
    assert found == [port for port in dict.fromkeys(ports) if port != "12"]


def test_a_table_no_column_of_which_tells_its_rows_apart_has_no_subjects():
    gulls = [f"{kind} | {isle} | {isle[:2]}7 g" for isle in ("Skye", "Mull") for kind in "ab" * 9]
    assert subjects("Kind | Isle | Mass", [*gulls, "c | Rum | 80 g"]) == []
    races = ["2014-07-08 | Brest | Oban", "2014-07-13 | Oban | Barry", "2018-07-15 | Vannes | Cork"]
    assert subjects("Day | Home | Guest", races) == []


def test_a_column_that_tells_what_things_do_is_no_subject():
    rows = "| + | Lifts the bridge |\n| - | Lowers all spans |\n| Q | Rings a bell |\n"
    _, records = laid_out(f"| Key | Effect |\n| - | - |\n{rows}")
    assert records == []


def test_a_head_over_columns_that_stand_apart_does_not_tell_whose_their_cells_are():
    head = "| Port | Old berths | Fee | New berths | Fee | Pilot | Pilot |\n"
    rows = f"{head}{'| - ' * 7}|\n| Brest | 4 | 7 EUR | 6 | 9 EUR | Le Goff | Ker |\n"
    assert [(label, value) for _, label, value in laid_out(rows)[1]] == [
        ("Old berths", "4"),
        ("New berths", "6"),
        ("Pilot", "Le Goff"),
        ("Pilot", "Ker"),
    ]


@pytest.mark.parametrize(
    ("head", "row", "subject"),
    [
        ("Port | Name | Berth", "Brest | Kelda | 4", "Kelda"),
        ("编号 | 名称 | 长度", "K2 | 海风号 | 9 m", "海风号"),
        ("first_name | last_name | Berth", "Ada | Bell | 4", "Ada Bell"),
        ("Crew no. | Surname | Given name", "K2 | Bell | Ada", "Ada Bell"),
        ("Port | Name of pilot | Berth", "Brest | Le Goff | 4", "Brest"),
    ],
)
def test_a_column_called_name_has_the_subjects_of_the_rows(head, row, subject):
    _, records = laid_out(f"| {head} |\n| - | - | - |\n| {row} |\n")
    assert {record[0] for record in records} == {subject}


@pytest.mark.parametrize("words", ["Total", "**Subtotal:**", "Average (2019)", "合計金額", "总计"])
def test_a_row_that_sums_up_a_table_is_about_no_thing(words):
    _, records = laid_out(f"| Port | Berths |\n| - | - |\n| Brest | 4 |\n| {words} | 4 |\n")
    assert records == [("Brest", "Berths", "4")]


@pytest.mark.parametrize(
    ("head", "rows", "first"),
    [
        ("商家 | 海风船厂 | 三桅船行", ["质保 | 1年 | 2年", "報價 | 300元 | 400元"],
         ("海风船厂", "质保", "1年")),
        ("項目 | 康華 | 三桅船行", ["面漆 | 隔熱漆 | 金絲猴"], ("康華", "面漆", "隔熱漆")),
        ("Offer | Ostrava | Kelda", ["Fee | 7 EUR | 9 EUR", "Length | 7 m | 9 m"],
         ("Ostrava", "Fee", "7 EUR")),
        ("项目 | 单价 | 状态", ["浮标 | 七元 | 已付"], ("浮标", "单价", "七元")),
        ("Timer | Least | Most", ["Lock | 7 s | 9 s", "Lift | 7 m | 9 m"],
         ("Lock", "Least", "7 s")),
        ("Squad | GF | GA", ["Brest | 1 | 2", "Oban | none | few"], ("Brest", "GF", "1")),
        ("Field | Type | Required", ["depth | metres | true"], ("depth", "Type", "metres")),
    ],
)  # fmt: skip
def test_columns_are_compared_where_rows_are_of_one_sort_or_the_first_head_names_no_things(
    head, rows, first
):
    width = head.count("|") + 1
    table = "\n".join(f"| {row} |" for row in (head, " | ".join("-" * width), *rows))
    assert laid_out(table)[1][0] == first


def test_a_table_of_two_columns_describes_what_its_first_row_names():
    rows = "| Index | Parameter |\n| - | - |\n| Model | Kelda 2 |\n| Reach | 45 m |\n| Crew | 9 |\n"
    assert laid_out(rows)[1] == [
        ("", "Model", "Kelda 2"),
        ("Kelda 2", "Reach", "45 m"),
        ("Kelda 2", "Crew", "9"),
    ]
    _, unnamed = laid_out(rows.replace("Model | Kelda 2", "Masts | 2"))
    assert unnamed[0] == ("Masts", "Parameter", "2")


def test_a_line_of_a_cell_ends_before_what_separates_it_from_the_next():
    _, records = laid_out("| Port | Berths |\n| - | - |\n| Brest | north quay / <br>pier 3 |\n")
    assert records == [("Brest", "Berths", "north quay"), ("Brest", "Berths", "pier 3")]


def test_a_table_without_headers_and_empty_cells_are_no_records():
    _, records = laid_out(
        "| a | b |\n\n"
        "| Port | Range | Note |\n| - | - | - |\n| Brest | - | n/a |\n| Oban | x | X |\n"
    )
    assert records == []


def test_what_elsewhere_says_nothing_is_a_value_in_a_column_of_codes():
    head = "| Port | Code | Class | Open |\n| - | - | - | - |\n"
    rows = "| Oban | NA | X | no |\n| Brest | BR | A | yes |\n| Ulm | UL | B | NA |\n"
    _, records = laid_out(head + rows)
    assert [value for subject, _, value in records if subject == "Oban"] == ["NA", "X", "no"]
    assert [value for subject, _, value in records if subject == "Ulm"] == ["UL", "B"]


@pytest.mark.parametrize(
    "words",
    ["N.A.", "Not yet known", "not applicable", "No data", "null", "不详", "不适用", "暂无数据"],
)
def test_a_cell_that_says_that_nothing_is_known_is_no_value(words):
    assert laid_out(f"| Port | Range |\n| - | - |\n| Brest | {words} |\n")[1] == []


def test_spans_of_prose_lead_back_to_the_passage():
    text = "The **port** offers:\n\n- *moorings* for boats\n"
    layout = lay_out({"text": text})
    place = layout.prose.text.rindex("moorings")
    start, end = layout.prose.in_source(place, place + len("moorings"))
    assert text[start:end] == "moorings"


@pytest.mark.parametrize(
    "unit", ["<!--", "{%", "[", "](", "![", "`", "a", " *", "\\", "- a:\n", "!!! note\n    b\n"]
)
def test_hostile_repetition_is_laid_out_in_linear_time(unit):
    def seconds(length: int) -> float:
        text = unit * (length // len(unit)) + ":\n\n- a\n"
        started = time.process_time()
        lay_out({"text": text})
        return time.process_time() - started

    quarter, whole = (min(seconds(n) for _ in range(2)) for n in (15_000, 60_000))
    assert whole < 8 * max(quarter, 0.05)  # 4 if linear, 16 if quadratic
