"""Web pages and chapters read as their readers see them: structure stays, furniture goes."""

from pathlib import Path

import pytest

from tasks.ingest.blocks import blocks_of
from tasks.ingest.formats.hidden_markup import hides, is_white
from tasks.ingest.formats.inputs import Reason, Refusal
from tests.documents import make_book, read_all, read_one

LONG = (
    "The tide gauge at Brest was built in 1807 by engineers of the navy, and it is the oldest one "
    "in France. It measures the height of the sea every ten minutes, and its records are kept in "
    "Paris, where scholars use them to study how the level of the sea has changed over the years."
)


def found(tmp_path: Path, body: str, head: str = "<title>Gauges</title>") -> list[tuple[str, str]]:
    page = f"<html><head>{head}</head><body>{body}</body></html>"
    (tmp_path / "a.html").write_text(page)
    text = read_one(tmp_path).text
    return [(block.kind, text[block.start : block.end]) for block in blocks_of(text)]


def test_a_page_without_containers_keeps_its_headings_and_all_words(tmp_path: Path) -> None:
    body = (
        f"<h1>Gauges</h1><h2>Brest</h2><p>{LONG}</p><h2>Use</h2>"
        "<p>If <var>zero</var> is set to <q>true</q>, the gauge starts at <kbd>0</kbd>.</p>"
    )
    assert found(tmp_path, body) == [
        ("heading", "# Gauges"), ("heading", "## Brest"), ("prose", LONG), ("heading", "## Use"),
        ("prose", "If `zero` is set to “true”, the gauge starts at `0`."),
    ]  # fmt: skip


def test_code_stays_apart_from_what_leads_to_it(tmp_path: Path) -> None:
    body = f"<p>{LONG}</p><ol><li>Run:<pre>gauge start</pre></li><li>Wait.</li></ol>"
    assert found(tmp_path, body)[1:] == [
        ("item", "Run:"),
        ("code", "```\ngauge start\n```"),
        ("item", "Wait."),
    ]


def test_what_stands_around_the_text_is_left_out(tmp_path: Path) -> None:
    links = "".join(f'<a href="/{n}">Port {n}</a> ' for n in range(30))
    body = (
        f'<div>{links}</div><div role="banner">We use cookies.</div><h1>Gauges</h1><p>{LONG}</p>'
        f"<p>{LONG.replace('Brest', 'Toulon')}</p><footer>All rights reserved.</footer>"
    )
    read = [words for kind, words in found(tmp_path, body) if kind != "navigation"]
    assert read == ["# Gauges", LONG, LONG.replace("Brest", "Toulon")]


@pytest.mark.parametrize(
    ("part", "is_read"),
    [
        ("<main>#<aside class='note'><p>Words.</p></aside></main>", True),
        ("<main>#<aside>On <a href='/n'>Words.</a></aside></main>", False),
        ("#<aside role='doc-footnote'>On <a href='/n'>Words.</a></aside>", True),
        ("<div><aside><p>Words.</p></aside></div><div>#</div>", False),
        ("<header><h1>Gauges</h1><p>Words.</p></header><div>#</div>", True),
        ("<header><h1>Sea</h1><p>Words.</p></header><main><h1>Gauges</h1>#</main>", False),
        ("#<blockquote><p>It is.</p><footer>Words.</footer></blockquote>", True),
        ("#<footer><p>Words.</p></footer>", False),
        ("#<form><table><tr><td>Zero</td><td>7</td></tr><tr><td>Top</td><td>Words.</td></tr>"
         "</table></form>", True),
        ("#<form><table><tr><td>Words.</td><td><input></td></tr></table></form>", False),
    ],
)  # fmt: skip
def test_asides_headers_and_forms_within_the_text_are_text(
    tmp_path: Path, part: str, *, is_read: bool
) -> None:
    read = found(tmp_path, part.replace("#", f"<p>{LONG}</p>"))
    assert any("Words." in words for _, words in read) is is_read


def test_a_table_in_a_table_is_words_of_its_cell(tmp_path: Path) -> None:
    head = "<tr><th>Port</th><th>Gauge</th></tr>"
    inner = "<table><tr><td>Zero</td><td>7 m</td></tr></table>"
    body = f"<table>{head}<tr><td>Brest</td><td>Old {inner}</td></tr></table>"
    assert found(tmp_path, body) == [("row", "| Brest | Old Zero 7 m |")]


def test_headings_of_empty_boxes_are_left_out(tmp_path: Path) -> None:
    boxes = "<h2>News</h2><ul></ul><h2>Partners</h2><p></p>"
    read = found(tmp_path, f"<h1>Harbours</h1>{boxes}<h2>Gauges</h2><p>{LONG}</p>")
    assert read == [("heading", "# Harbours"), ("heading", "## Gauges"), ("prose", LONG)]


def test_a_short_page_is_not_its_menu(tmp_path: Path) -> None:
    menu = "".join(f'<li><a href="/{n}">Gauges of the port number {n}</a></li>' for n in range(40))
    body = f"<nav><ul>{menu}</ul></nav><main><h1>Gauges</h1><p>The gauge is in Brest.</p></main>"
    assert found(tmp_path, body) == [("heading", "# Gauges"), ("prose", "The gauge is in Brest.")]


def test_a_form_around_the_whole_page_is_the_page(tmp_path: Path) -> None:
    assert found(tmp_path, f"<form><p>{LONG}</p></form>") == [("prose", LONG)]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<h2>Use <a href="#use">#</a></h2>', ("heading", "## Use")),
        ('<p>Built in 1807<sup><a href="#n2">[2]</a></sup>.</p>', ("prose", "Built in 1807.")),
        ("<p>It is 12<sup>2</sup> m.</p>", ("prose", "It is 12^2 m.")),
        ("<p>One<br>two</p>", ("prose", "One\ntwo")),
        ("<p>It costs 5 * 3 * 2 <b>euros</b>.</p>", ("prose", r"It costs 5 \* 3 \* 2 euros.")),
        ("<p>Write &lt;port&gt;.</p>", ("prose", r"Write \<port>.")),
        ('<p><a href="/e">Edit this page</a></p>', ("navigation", "[Edit this page](#)")),
        ('<p><a href="/b">It is in Brest.</a></p>', ("prose", "It is in Brest.")),
        ("<dl><dt>Ebb</dt><dd><p>The fall.</p></dd></dl>", ("pair", "The fall.")),
        ("<p>The <del>old</del> gauge.</p>", ("prose", "The gauge.")),
        ("<ruby>潮<rt>しお</rt></ruby>", ("prose", "潮")),
        ("<table><tr><td><p>In a box.</p></td></tr></table>", ("prose", "In a box.")),
    ],
)
def test_marks_of_a_page(tmp_path: Path, markup: str, expected: tuple[str, str]) -> None:
    assert found(tmp_path, markup) == [expected]


def test_a_list_that_begins_with_a_number_of_its_own_keeps_its_numbers(tmp_path: Path) -> None:
    found(tmp_path, "<ol start=5><li><p>Lift it.</p></li><li>Read it.</li></ol><ol><li>Go.</ol>")
    assert read_one(tmp_path).text == "- 5. Lift it.\n- 6. Read it.\n- Go."


def test_words_of_a_cell_stay_as_far_apart_as_they_are(tmp_path: Path) -> None:
    table = (
        "<table><tr><th>Name</th><th>Use</th></tr>"
        "<tr><td>zero</td><td>If <b>set</b>, it <p>starts</p><p>anew.</p></td></tr></table>"
    )
    assert found(tmp_path, table) == [("row", "| zero | If set, it starts anew. |")]


@pytest.mark.parametrize(
    ("head", "heading", "title"),
    [
        ("<title>Gauges | Sea Office</title>", "Gauges #", "Gauges"),
        ("<title>Sea Office » Gauges</title>", "Gauges", "Gauges"),
        ('<title>Gauges - Sea Office</title><meta property="og:site_name" content="Sea Office">',
         "All about gauges", "Gauges"),
        ("<title>Gauges - a history</title>", "Sea Office", "Gauges - a history"),
        ("<title>Gauges - Sea Office</title>", '<a href="/">Sea Office</a>', "Gauges"),
        ("<title>Sea Office - Gauges</title>", '<a href="../index.html">Sea Office</a>', "Gauges"),
    ],
)  # fmt: skip
def test_a_title_is_without_its_site(tmp_path: Path, head: str, heading: str, title: str) -> None:
    heading = heading.replace("#", '<a href="#top">#</a>')
    found(tmp_path, f"<h1>{heading}</h1><p>{LONG}</p>", head)
    assert read_one(tmp_path).title == title


def test_headings_and_notes_of_a_chapter_are_text_and_its_page_numbers_are_not(
    tmp_path: Path,
) -> None:
    chapter = (
        '<html xmlns:epub="u"><body><nav epub:type="toc"><a href="#a">Brest</a></nav><header>'
        '<h1>Brest</h1></header><p>It was <span epub:type="pagebreak">23</span>built in 1807'
        '<a epub:type="noteref" href="#n">1</a>.</p><aside><p>By the navy.</p></aside></body>'
    )
    (tmp_path / "a.epub").write_bytes(make_book("Gauges", chapter))
    assert read_one(tmp_path).text == "# Brest\n\nIt was built in 1807.\n\nBy the navy."


@pytest.mark.parametrize(
    ("style", "seen"),
    [
        ("visibility: hidden", "backface-visibility: hidden"), ("opacity: 0", "fill-opacity: 0"),
        ("font-size: .1em", "font-size: .9em"), ("opacity: 0%", "opacity: 50%"),
        ("font-size: .5px", "font-size: 12.5px"),
        ("font: 0/0 a", "font: bold 10px/1 a"), ("font: italic 0 a", "font: 400 1rem a"),
        ("left: -999em", "left: -99px"), ("right: -9999px", "right: -20px"),
        ("clip: rect(1px, 1px, 1px, 1px)", "clip: rect(10px, 90px, 90px, 10px)"),
        ("clip-path: inset(50%)", "clip-path: inset(5%)"),
        ("transform: scale(0)", "transform: scale(0.5)"),
        ("transform: translateX(-9999px)", "transform: translateX(-50px)"),
        ("color: rgba(0, 0, 0, 0)", "color: rgba(0, 0, 0, 0.5)"),
        ("color: rgb(0 0 0 / 0%)", "color: rgb(255, 0, 0)"), ("color: #12345600", "color: #1234f0"),
        ("color: #fefefe", "color: #fe0000"), ("color: #ffff", "color: #fff0aa"),
        ("color: rgb(255 255 254)", "color: rgb(255 255 0)"),
        ("color: hsl(0, 0%, 100%)", "color: hsl(0, 0%, 50%)"),
        ("a" * 5_000 + "; display: none", "a" * 5_000 + "; display: block"),
    ],
    ids=lambda style: style[-30:],
)  # fmt: skip
def test_words_that_a_style_hides_are_known(style: str, seen: str) -> None:
    assert hides(style) or is_white(style)
    assert not hides(seen) and not is_white(seen)


@pytest.mark.parametrize(
    ("sheet", "attributes", "is_read"),
    [
        (".a { display: none }", 'class="a"', False),
        ("div.a { display: none }", 'class="a b"', False),
        ("@media screen { .a { display: none } }", 'class="a"', False),
        ("@media print { .a { display: none } }", 'class="a"', True),
        ("@media only screen and (max-width: 40em) { .a { display: none } }", 'class="a"', True),
        ("@media (prefers-reduced-motion: reduce) { .a { opacity: 0 } }", 'class="a"', True),
        (".a { display: none } .a { display: block }", 'class="a"', True),
        (".a { display: block } .a { display: none }", 'class="a"', False),
        ("#i { display: block } .a { display: none }", 'class="a" id="i"', True),
        (".a { display: none !important } #i { display: block }", 'class="a" id="i"', False),
        (".a { display: none } .open .a { display: block }", 'class="a"', False),
        (".a { display: none }", 'class="a" style="display: block"', True),
        (".a { display: none } @media (min-width: 48em) { .m\\:a { display: block } }",
         'class="a m:a"', True),
        (".a { display: none } @media (max-width: 400px) { .a { display: block } }",
         'class="a"', False),
        (".a { opacity: 0; animation: appear 1s forwards }", 'class="a"', True),
        ("@keyframes k { from { opacity: 0 } } .a { font-size: .875rem }", 'class="a"', True),
        ("/* .a { } */ @import url(x.css); .a { visibility: hidden }", 'class="a"', False),
    ],
)  # fmt: skip
def test_a_rule_hides_what_it_hides_on_every_screen(
    tmp_path: Path, sheet: str, attributes: str, is_read: bool
) -> None:
    read = found(tmp_path, f"<p>Seen.</p><div {attributes}>Words.</div>", f"<style>{sheet}</style>")
    assert (("prose", "Words.") in read) is is_read


@pytest.mark.parametrize(
    ("tabs", "hiding", "is_read"),
    [
        ("<li role='tab'>Sea</li><li role='tab'>Land</li>", "hidden", True),
        ("<button role='tab'>Sea</button><button role='tab'>Land</button>", "hidden", True),
        ("<li role='tab'>Sea</li><li role='tab'>Land</li>", "hidden aria-hidden='true'", True),
        ("<li role='tab'>Sea</li><li role='tab'>Land</li>", "hidden style='opacity: 0'", False),
        ("<li role='tab'>Sea</li><li role='tab'></li>", "hidden", False),
        ("<li role='tab'>Sea</li><li role='tab' hidden>Land</li>", "hidden", False),
        ("<li role='tab'>Sea</li>", "hidden", False),
        ("", "hidden aria-hidden='true'", False),
    ],
)
def test_a_panel_is_hidden_unless_a_tab_opens_it(
    tmp_path: Path, tabs: str, hiding: str, is_read: bool
) -> None:
    panels = f"<p role='tabpanel'>Seen.</p><div role='tabpanel' {hiding}><p>Words.</p></div>"
    read = found(tmp_path, f"<div><ul role='tablist'>{tabs}</ul><div>{panels}</div></div>")
    assert ("prose", "Seen.") in read
    assert (("prose", "Words.") in read) is is_read


def test_words_in_a_size_of_their_own_are_seen_in_a_box_without_size(tmp_path: Path) -> None:
    sheet = "<style>.row { font-size: 0 } .cell { font-size: 1rem }</style>"
    assert found(tmp_path, '<div class="row"><p class="cell">Words.</p></div>', sheet)


def test_a_text_is_whole_from_its_heading_on(tmp_path: Path) -> None:
    other = LONG.replace("The", "A")
    words = f"<div>\n The\n {LONG}</div><div>\n At\n {other}</div>"
    read = found(tmp_path, f"<h1>Gauges</h1><p>3 May</p><h2>The sea</h2>{words}")
    assert [words for _, words in read] == [
        "# Gauges", "3 May", "## The sea", f"The {LONG}", f"At {other}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("<p>On <time>2 May</time> it broke.</p>", "On 2 May it broke."),
        ("<figure><img><figcaption>The float, cast in Nantes.</figcaption></figure>",
         "The float, cast in Nantes."),
        ("<figure><pre>gauge stop</pre></figure>", "```\ngauge stop\n```"),
        ("<figure><h3>The tides at Cherbourg</h3><figcaption>More</figcaption></figure>", LONG),
    ],
)  # fmt: skip
def test_a_text_is_whole_to_its_end_and_a_teaser_below_is_none_of_it(
    tmp_path: Path, end: str, words: str
) -> None:
    text = f"<p>{LONG.replace('Brest', 'Toulon')}</p><p>{LONG}</p>"
    read = found(tmp_path, f"<h1>Gauges</h1>{text}{end}<footer>All rights reserved.</footer>")
    assert read[-1][1] == words


def test_nested_elements_are_read_or_said_to_be_too_deep(tmp_path: Path) -> None:
    assert found(tmp_path, "<div>" * 400 + "<p>Words.</p>") == [("prose", "Words.")]
    (tmp_path / "a.html").write_text("<div>" * 5_000 + "<p>Words.</p>")
    (refusal,) = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.TOO_DEEP


@pytest.mark.parametrize(
    ("reference", "read"),
    [("&#2;", "It."), ("&#x1b;", "It."), ("\x08", "It."), ("&#12;", "It ."), ("&#151;", "It—.")],
)
def test_control_characters_do_no_harm(tmp_path: Path, reference: str, read: str) -> None:
    assert found(tmp_path, f"<p><b>It</b>{reference}.</p>") == [("prose", read)]
