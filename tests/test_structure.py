"""Readers keep the structure of a text: tables, definitions, lists, and what points elsewhere."""

import time

import pytest

from tasks.extract.rules.layout import lay_out
from tasks.ingest.blocks import blocks_of
from tasks.ingest.formats.markdown import Cell, html_tables_as_markdown, table
from tests.documents import make_book, make_dump, read_one

BODY = """<nav><a href="/">Home</a></nav><main><h1>Tides</h1>
<p>The tide gauge at Brest is the oldest gauge in France and was built in 1807 by engineers of the
navy. It measures the height of the sea every ten minutes, and its records are kept in Paris. The
gauge stands in the harbour of Brest, near the castle. It has been rebuilt twice since it was first
opened to the public in 1850, and it is still in use.</p>
<dl><dt>Neap tide</dt><dd>a tide of small range</dd></dl>
<table><caption>Ports</caption><tr><th>Port</th><th>Range</th></tr>
<tr><td>Brest</td><td>7.3 m</td></tr></table>
<table><tr><td>layout</td><td>cell</td></tr><tr><td>x</td><td>y</td></tr></table>
<table><tr><th>Height</th><td>12 m</td></tr><tr><td><b>Built</b></td><td>1807</td></tr></table>
<p>The harbour offers:</p><ul><li><p>moorings</p></li><li>a crane<ul><li>of 20 t</li></ul></li></ul>
<blockquote><p>The sea gives.</p></blockquote><pre>port = open()</pre>
<ul><li><a href="#a">Use</a></li></ul></main>"""
WIKI = """{{Infobox settlement
| country = [[France]]
| built = 1807
}}
'''Brest''' is a port.

{| class="wikitext"
|+ Ports
! Port !! Range !! Built
|-
| rowspan="2" | Brest || 7.3 m || 1807
|-
| 6.9 m || 1850
|}
{|
| layout || cell
|-
| a || b
|}
; Neap tide
: a tide of small range

The harbour offers:
* moorings
** for boats

== See also ==
* [[Gauge]]
"""
HTML_TABLE = """# Plans

<table>
<thead><tr><th>Plan</th><th>Seats</th></tr></thead>
<tr><td>Basic</td><td><b>5</b></td></tr>
</table>

```
<table><tr><th>Code</th><th>x</th></tr><tr><td>a</td><td>b</td></tr></table>
```
"""


def blocks(text: str) -> list[tuple[str, str, str]]:
    return [(block.kind, text[block.start : block.end], block.lead) for block in blocks_of(text)]


def records(text: str) -> list[tuple[str, str, str]]:
    return [(r.subject, r.label, r.value) for r in lay_out({"text": text}).records]


@pytest.mark.parametrize("name", ["page.html", "book.epub"])
def test_the_structure_of_a_page(tmp_path, name):
    page = f"<html><head><title>Tides</title></head><body>{BODY}</body></html>"
    data = make_book("Tides", page) if name == "book.epub" else page.encode()
    (tmp_path / name).write_bytes(data)
    text = read_one(tmp_path).text
    found = [(kind, words.strip("`\n")) for kind, words, _ in blocks(text)]
    assert found[2:] == [
        ("pair", "a tide of small range"),
        ("prose", "Ports"),
        ("row", "| Brest | 7.3 m |"),
        ("markup", found[5][1]),
        ("pair", "12 m"),
        ("pair", "1807"),
        ("prose", "The harbour offers:"),
        ("item", "moorings"),
        ("item", "a crane"),
        ("item", "of 20 t"),
        ("quotation", "The sea gives."),
        ("code", "port = open()"),
        ("navigation", "[Use](#)"),
    ]
    assert records(text) == [
        ("", "Neap tide", "a tide of small range"),
        ("Brest", "Range", "7.3 m"),
        ("", "Height", "12 m"),
        ("", "Built", "1807"),
    ]


def test_the_structure_of_an_article(tmp_path):
    (tmp_path / "a.xml").write_text(make_dump(("Brest", 0, WIKI)))
    text = read_one(tmp_path).text
    assert blocks(text) == [
        ("pair", "France", "country"),
        ("pair", "1807", "built"),
        ("prose", "Brest is a port.", ""),
        ("prose", "Ports", ""),
        ("grouped row", "| Brest | 7.3 m | 1807 |", "| Port | Range | Built |"),
        ("grouped row", "| Brest | 6.9 m | 1850 |", "| Port | Range | Built |"),
        ("markup", "| layout | cell |\n| a | b |", ""),
        ("pair", "a tide of small range", "Neap tide"),
        ("prose", "The harbour offers:", ""),
        ("item", "moorings", "The harbour offers:"),
        ("item", "for boats", "moorings"),
        ("heading", "## See also", "See also"),
        ("navigation", "[Gauge](#)", ""),
    ]


def test_a_page_of_a_wiki_is_read_like_an_article(tmp_path):
    markup = (
        "== Brest ==\nIt is a [[port]]<ref>A note.</ref><s> and old</s> in {{nowrap|France}}.\n"
        "<pre>port = open()</pre>\n* moorings\n[[Category:Ports]]\n"
    )
    (tmp_path / "brest.mediawiki").write_text(markup)
    read = read_one(tmp_path)
    assert (read.title, read.metadata) == ("Brest", {"tags": ["Ports"]})
    assert read.text == "## Brest\n\nIt is a port in France.\n\n- moorings"


def test_a_wiki_keeps_captions_and_words_of_templates_that_a_sentence_needs(tmp_path):
    markup = (
        "[[File:a.png|thumb|left|The quay of [[Brest]].]]\n{{Main|Gauges}}\n"
        "It is in {{region|Brittany}}, {{x|a|b}}with {{formatnum:139342}} people.{{sfn|Orr}}\n"
        "<gallery>\nFile:b.png|The {{ship|Lenz}}\nFile:c.png\n</gallery>\n[[File:d.png|9px|A flag]]"
    )
    (tmp_path / "brest.mediawiki").write_text(markup)
    assert read_one(tmp_path).text == (
        "The quay of Brest.\n\nIt is in Brittany, with 139342 people.\n\n- The Lenz"
    )


def test_tables_in_html_inside_markdown(tmp_path):
    (tmp_path / "a.md").write_text(HTML_TABLE)
    text = read_one(tmp_path).text
    assert [kind for kind, _, _ in blocks(text)] == ["heading", "row", "code"]
    assert records(text) == [("Basic", "Seats", "5")]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Port | Range\nBrest | 7", ["markup"]),
        ("+-----+\n| Port |\n+-----+", ["markup"]),
        ("Port      Range    Built\nBrest     7.3 m    1807", ["markup"]),
        ("Home > Docs > Tides", ["navigation"]),
        ("Prices ........ 7\nRules . . . . . ix", ["navigation"]),
        ("`port = open()`", ["code"]),
        ("Page 2 of 9\n-----------", ["page"]),
        ("[Page 3]", ["page"]),
        ("— 4 —\n\nThe tide.", ["page", "prose"]),
        ('<p align="center">Brest is a port.</p>', ["prose"]),
        ("<div>\nThe tide is high.\nIt falls.\n</div>", ["prose"]),
        ("<pre>It is code.</pre>", ["markup"]),
        ("| a | b |\n| - | - |\n| 1 | 2 |\nBelow it.", ["nameless row", "prose"]),
        ("5 > 3 and 3 > 2 are true.", ["prose"]),
        ("It ends...   Then it begins.", ["prose"]),
    ],
)
def test_what_is_not_prose(text, kinds):
    assert [kind for kind, _, _ in blocks(text)] == kinds


def test_a_row_with_more_cells_than_headers_records_nothing():
    assert records("| a | b |\n| - | - |\n| Brest | 7 | 8 |\n| Toulon | 9 |") == [
        ("Toulon", "b", "9")
    ]


def test_cells_that_span_stand_in_each_place():
    rows = [
        [Cell("Port", True), Cell("Range", True, columns=2)],
        [Cell("Brest", rows=2), Cell("7"), Cell("m")],
        [Cell("6"), Cell("m")],
    ]
    assert table(rows).split("\n") == [
        "| Port | Range | Range |",
        "| --- | --- | --- |",
        "| Brest | 7 | m |",
        "| Brest | 6 | m |",
    ]


HALVES = [Cell("Port", rows=2), Cell("Berths", columns=2)]


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([HALVES, [Cell("long"), Cell("short")]], "| Port | Berths long | Berths short |"),
        (
            [[Cell(""), Cell("Berths", columns=2)], map(Cell, ("Port", "long", "short"))],
            "| Port | Berths long | Berths short |",
        ),
        ([[Cell("Port"), HALVES[1]]], "| Port | Berths | Berths |"),
        ([[Cell("Port", columns=2), Cell("Note")]], "| Port | Port | Note |"),
    ],
)
def test_headers_below_others_that_span_are_joined_with_them(rows, header):
    body = [[Cell("Brest"), Cell("30"), Cell("")], [Cell("Oban"), Cell("4"), Cell("9")]]
    lines = table([*rows, *body], is_headed=True).split("\n")
    assert (lines[0], lines[2:]) == (header, ["| Brest | 30 |  |", "| Oban | 4 | 9 |"])


def test_words_that_span_columns_beside_none_stand_once_and_name_no_row():
    head = map(Cell, ("Port", "Berths", "Cranes"))
    body = [Cell("Brest"), Cell("30"), Cell("4")]
    text = table([head, [Cell(""), Cell("Counted by hand", columns=2)], body], is_headed=True)
    assert "|  | Counted by hand |  |" in text
    assert records(text) == [("Brest", "Berths", "30"), ("Brest", "Cranes", "4")]


@pytest.mark.parametrize(
    "unit",
    ["<table>", "<table><tr><th>a", "<table>\n</table>\n", "<td rowspan=999 colspan=999>", "```\n"],
)
def test_hostile_tables_take_linear_time(unit):
    def seconds(length: int) -> float:
        text = f"<table><tr>{unit * (length // len(unit))}</table>"
        started = time.process_time()
        html_tables_as_markdown(text)
        return time.process_time() - started

    quarter, whole = (min(seconds(n) for _ in range(2)) for n in (20_000, 80_000))
    assert whole < 8 * max(quarter, 0.05)
