"""Office documents, OpenDocument, PDF and EPUB give text and title, and nothing that is hidden."""

import io
import zipfile
from datetime import date, datetime
from pathlib import Path

import pytest

from tasks.ingest.blocks import BlockKind, blocks_of
from tasks.ingest.formats.inputs import ReadText, Reason, Refusal
from tasks.ingest.formats.office import opening_heading
from tests.documents import SONG, make_book, make_pdf, read_all, read_one, read_pdf
from tests.office_files import opendocument_row, write_opendocument


def test_pdf_text_and_title(tmp_path: Path) -> None:
    lines = ["Marie Curie was born in War-", "saw in 1867.", "She lived in Paris."]
    read = read_pdf(tmp_path, lines, title="The life of Marie Curie")
    assert read.title == "The life of Marie Curie"
    assert read.text == "Marie Curie was born in Warsaw in 1867.\nShe lived in Paris."


def test_a_word_divided_at_its_hyphen_keeps_it(tmp_path: Path) -> None:
    page = ["A tide-driven mill has a tide-", "driven wheel and no en-", "gine."]
    assert read_pdf(tmp_path, page, title="Mills").text == (
        "A tide-driven mill has a tide-driven wheel and no engine."
    )


def test_pdf_tells_where_its_pages_begin(tmp_path: Path) -> None:
    pages = [["Marie Curie was born in War-"], ["saw. She lived in"], [], ["Paris. She", "died."]]
    read = read_pdf(tmp_path, *pages, ["# The end"], [])
    words = "Marie Curie was born in Warsaw. She lived in\n\nParis. She\ndied.\n\n# The end"
    assert read.text == words
    assert read.page_starts is not None
    begins = [read.text[start:].split()[:1] for start in read.page_starts]
    assert begins == [["Marie"], ["saw."], ["Paris."], ["Paris."], ["#"], []]


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        ("(It has 5 km) Tj /F1 7 Tf 59 6 Td (2) Tj /F1 12 Tf 8 -6 Td (of rock.) Tj",
         "It has 5 km2 of rock."),
        ("(The left) Tj T* (column.) Tj 200 28 Td (The right) Tj T* (one.) Tj",
         "The left\ncolumn.\nThe right\none."),
        ("0 1 -1 0 300 100 Tm (It stands) Tj T* (upright.) Tj", "It stands\nupright."),
        ("(In bold.) Tj 1 0 0 1 72.2 720 Tm (In bold.) Tj", "In bold."),
        ("[(The) -300 (Orvel) -300 (dam)] TJ", "The Orvel dam"),
        ("(A) Tj 9 0 Td (s it is.) Tj", "As it is."),
    ],
)  # fmt: skip
def test_words_of_a_pdf_stand_as_they_are_seen(tmp_path: Path, drawn: str, expected: str) -> None:
    assert read_pdf(tmp_path, drawn, title="Words").text == expected


def test_chinese_letters_need_no_font_of_the_machine(tmp_path: Path) -> None:
    text = "红楼梦的作者是曹雪芹。"
    letters = [letter.encode("utf-16-be").hex() for letter in text]
    alone = " ".join(f"<{letter}> Tj 13 0 Td" for letter in letters)
    for drawn in (f"<{''.join(letters)}> Tj", alone):
        assert read_pdf(tmp_path, drawn, title="红楼梦", font=SONG).text == text


@pytest.mark.parametrize("password", ["", "secret"])
def test_a_pdf_that_only_forbids_printing_is_read(tmp_path: Path, password: str) -> None:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(PdfReader(io.BytesIO(make_pdf(["Some words."]))))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    writer.write(tmp_path / "a.pdf")
    (outcome,) = read_all(tmp_path)
    if password:
        assert isinstance(outcome, Refusal) and outcome.reason is Reason.ENCRYPTED
    else:
        assert isinstance(outcome, ReadText) and outcome.text == "Some words."


@pytest.mark.parametrize(
    ("title", "lines", "size", "expected"),
    [
        ("", ["The radium book", "By somebody", "# install it", "so on"], 24, "The radium book"),
        ("Microsoft Word - draft3.docx", ["Radium", "Words of it", "# a"], 18, "Radium"),
        ("C:\\\\draft.tex", ["page 7 of many", "# not a title", "====", "words"], 12, "My Paper"),
        ("20417.exe", ["Radium", "Words of it"], 18, "Radium"),
        ("\\(anonymous\\)", ["Radium", "Words of it"], 18, "Radium"),
        ("12-3", ["all in one size", "======", "words that follow"], 12, "My Paper"),
    ],
)
def test_title_of_a_pdf_is_no_random_line(
    tmp_path: Path, title: str, lines: list[str], size: int, expected: str
) -> None:
    (tmp_path / "my_paper.pdf").write_bytes(make_pdf(lines, title=title, first_size=size))
    assert read_one(tmp_path).title == expected


def test_numbered_sections_of_a_pdf_are_headings_and_items_are_none(tmp_path: Path) -> None:
    lines = ["1. Origins", "Orr Bridge was built in 1921.", "2. Orr Bridge", "Orr Bridge spans it."]
    steps = ["1. Close the road", "2. Lift the deck", "3. Dry the ropes", "It took a year."]
    repairs = [
        "2.1 Repairs", "Workers took these steps:", *steps, "3. Tolls", "Carts paid a penny.",
    ]  # fmt: skip
    text = read_pdf(tmp_path, lines, repairs).text
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == ["## 1. Origins", "## 2. Orr Bridge", "### 2.1 Repairs", "## 3. Tolls"]
    assert "\n\n## 2. Orr Bridge\n\nOrr Bridge spans" in text
    assert "#" not in read_pdf(tmp_path, [*steps[:2], "Wait."]).text


def test_slides(tmp_path: Path) -> None:
    import pptx
    from pptx.util import Inches

    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Marie Curie"
    slide.placeholders[1].text = "She was born in Warsaw.\nShe lived in Paris."
    second = show.slides.add_slide(show.slide_layouts[5])
    second.shapes.title.text = "Prizes"
    table = second.shapes.add_table(2, 2, 0, 0, Inches(4), Inches(2)).table
    for row, cells in enumerate((("Year", "Prize"), ("1903", "Physics"))):
        for column, words in enumerate(cells):
            table.cell(row, column).text = words
    unseen = second.shapes.add_textbox(0, 0, Inches(1), Inches(1))
    unseen.text_frame.text = "secret"
    unseen._element.nvSpPr.cNvPr.set("hidden", "1")
    hidden = show.slides.add_slide(show.slide_layouts[5])
    hidden.shapes.title.text = "secret"
    hidden.element.set("show", "0")
    show.core_properties.title = "PowerPoint-Präsentation"
    show.save(str(tmp_path / "a.pptx"))
    read = read_one(tmp_path)
    assert read.title == "Marie Curie"
    assert read.text == (
        "## Marie Curie\n\nShe was born in Warsaw.\n\nShe lived in Paris.\n\n## Prizes\n\n"
        "| Year | Prize |\n| --- | --- |\n| 1903 | Physics |"
    )


def test_a_heading_of_a_later_slide_is_no_title() -> None:
    assert opening_heading("## Tides\n\nOf Brest.\n\n## Thanks") == "Tides"
    assert opening_heading("Tides of Brest.\n\n## Thanks") == ""


def test_workbook(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Prizes"
    sheet.append(["Year", "Prize", "Share", None])
    sheet.append([date(1903, 12, 10), "Physics|radium", 0.25, None])
    sheet.append([None, None, None])
    sheet.append([datetime(1911, 12, 10, 18), "Chemistry", 1])
    hidden = book.create_sheet("Secrets")
    hidden.append(["secret"])
    hidden.sheet_state = "hidden"
    book.save(tmp_path / "curie.xlsx")
    read = read_one(tmp_path)
    assert read.title == "Curie"
    assert read.text == (
        "## Prizes\n\n| Year | Prize | Share |\n| --- | --- | --- |\n"
        "| 1903-12-10 | Physics/radium | 0.25 |\n| 1911-12-10 18:00:00 | Chemistry | 1 |"
    )


def test_book(tmp_path: Path) -> None:
    chapters = [
        "<html><h1>Later</h1><p>She lived in <i>Paris</i>.</p><p hidden>secret</p></html>",
        "<html><title>x</title><body><h1>Early</h1><p>Born in Warsaw.</p></body></html>",
    ]
    (tmp_path / "a.epub").write_bytes(make_book("Marie Curie", *chapters))
    read = read_one(tmp_path)
    assert read.title == "Marie Curie"
    assert read.text == "# Early\n\nBorn in Warsaw.\n\n# Later\n\nShe lived in Paris."


def test_word_document(tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    document.add_heading("Marie Curie", 1)
    paragraph = document.add_paragraph("She was born ")
    hidden = paragraph.add_run("secret")
    hidden.font.hidden = True
    paragraph.add_run("in Warsaw.")
    document.add_heading("Prizes", 2)
    document.add_paragraph("physics", style="List Bullet")
    document.add_paragraph("radiation", style="List Bullet 2")
    document.add_paragraph("Nothing is to be feared.", style="Quote")
    table = document.add_table(2, 2)
    for place, words in enumerate(["Year", "Prize", "1903", "Physics"]):
        table.cell(place // 2, place % 2).text = words
    document.save(str(tmp_path / "a.docx"))
    read = read_one(tmp_path)
    assert read.title == "Marie Curie"
    assert read.text == (
        "# Marie Curie\n\nShe was born in Warsaw.\n\n## Prizes\n\n- physics\n  - radiation\n\n"
        "> Nothing is to be feared.\n\n"
        "| Year | Prize |\n| --- | --- |\n| 1903 | Physics |"
    )


def test_word_footnotes_are_footnotes_and_its_contents_are_none(tmp_path: Path) -> None:
    import docx
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    document = docx.Document()
    contents = document.styles.add_style("toc 1", 1)
    document.add_paragraph("Life\t3", style=contents)
    run = document.add_paragraph("She was born in Warsaw").add_run()
    reference = OxmlElement("w:footnoteReference")
    reference.set(qn("w:id"), "2")
    run._r.append(reference)
    notes = (
        '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:footnote w:id="0" w:type="separator"><w:p><w:r><w:t>--</w:t></w:r></w:p></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>In 1867.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    part = Part(PackURI("/word/footnotes.xml"), kind, notes.encode(), document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    document.save(str(tmp_path / "a.docx"))
    assert read_one(tmp_path).text == "She was born in Warsaw[^2]\n\n[^2]: In 1867."


def test_a_running_head_of_a_pdf_is_read_once_and_page_numbers_are_not(tmp_path: Path) -> None:
    pages = [
        ["Radium 2020", "It was found by the", "Page 1 of 3"],
        ["Radium 2020", "Curies. It shines.", "Later use", "It was used in clocks.", "Page 2 of 3"],
        ["Radium 2020", "In 1911 it was rare.", "Page 3 of 3"],
    ]
    read = read_pdf(tmp_path, *pages, title="Radium")
    assert read.text == (
        "Radium 2020\n\nIt was found by the\n\nCuries. It shines.\n\nLater use\n\n"
        "It was used in clocks.\n\nIn 1911 it was rare."
    )
    assert read.page_starts is not None
    starts = [read.text[start:].split()[0] for start in read.page_starts]
    assert starts == ["Radium", "Curies.", "In"]


def test_a_number_on_the_only_page_stays(tmp_path: Path) -> None:
    assert read_pdf(tmp_path, ["Sum of radium in mg", "139"], title="Rays").text.endswith("139")


def test_a_line_of_a_pdf_that_ends_on_purpose_ends_its_paragraph(tmp_path: Path) -> None:
    page = [
        "OFFICE OF THE SEA", "May 2, 1903",
        "The tide gauge at Brest was built by engineers",
        "of the navy, and it measures the height of the",
        "sea every ten minutes, as it did in 1807.",
        "Ports and ranges", "Brest 7.3 6.9 6.1", "Port of Saint Malo 12.2 11.0 9.8",
        "The gauge was rebuilt twice since it was first",
        "opened, and it is still in use at the castle.",
        "It has:", "\\267 a float", "\\267 a clock",
    ]  # fmt: skip
    assert read_pdf(tmp_path, page, title="Gauges").text == (
        "OFFICE OF THE SEA\n\nMay 2, 1903\n\n"
        "The tide gauge at Brest was built by engineers\nof the navy, and it measures the height of"
        " the\nsea every ten minutes, as it did in 1807.\n\nPorts and ranges\n\n"
        "| Brest | 7.3 | 6.9 | 6.1 |\n| Port of Saint Malo | 12.2 | 11.0 | 9.8 |\n\n"
        "The gauge was rebuilt twice since it was first\nopened, and it is still in use at the"
        " castle.\n\nIt has:\n\n- a float\n\n- a clock"
    )


def test_an_indented_line_of_a_pdf_is_no_code(tmp_path: Path) -> None:
    page = ["Sincerely,", "      ", "        Orr Vane, harbour master of Tavemouth"]
    text = read_pdf(tmp_path, page, title="A letter").text
    assert {block.kind for block in blocks_of(text)} == {BlockKind.PROSE}


def test_left_and_right_pages_have_heads_of_their_own(tmp_path: Path) -> None:
    heads = ("(By Ann Lee) Tj 400 0 Td ({}) Tj", "({}) Tj 400 0 Td (On Radium) Tj")
    pages = [f"{heads[n % 2].format(n + 11)} -400 -28 Td (Page of {n * 'x'}.) Tj" for n in range(7)]
    text = read_pdf(tmp_path, *pages, title="Radium").text
    assert text.startswith("By Ann Lee\n\nPage of .\n\nOn Radium\n\nPage of x.\n\nPage of xx.")


def test_lines_of_a_pdf_that_differ_in_more_than_the_page_are_no_running_heads(
    tmp_path: Path,
) -> None:
    pages = [
        [f"Receipt {n}", f"Paid in {n + 1990}: {n * n} crowns.", "To the mill", f"{7 * n}"]
        for n in (1, 2, 3)
    ]
    text = read_pdf(tmp_path, *pages, title="Mill").text
    assert text == "\n\n".join("\n".join(page) for page in pages)


def test_a_running_head_stays_where_no_sentence_goes_on(tmp_path: Path) -> None:
    pages = [["It was built", "by the"], ["Mills", "people of Norr."], ["Mills", "It runs."]]
    text = read_pdf(tmp_path, *pages, ["Mills", "It is old."], title="Mill").text
    assert text == "It was built\nby the\npeople of Norr.\n\nMills\n\nIt runs.\n\nIt is old."


def test_boxes_bold_lines_and_bullets_of_word(tmp_path: Path) -> None:
    import docx
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    document = docx.Document()
    document.add_paragraph().add_run("The gauge").bold = True
    document.add_paragraph("• a float")
    box = (
        f'<w:r {nsdecls("w")} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006'
        '">{hiding}<mc:AlternateContent><mc:Choice Requires="x"><w:txbxContent><w:p><w:r><w:t>'
        "{words}</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent><w:p>"
        "<w:r><w:t>{words}</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent>"
        "</w:r>"
    )
    paragraph = document.add_paragraph("It is in Brest.")
    paragraph._p.append(parse_xml(box.format(words="A note beside it.", hiding="")))
    hiding = "<w:rPr><w:vanish/></w:rPr>"
    paragraph._p.append(parse_xml(box.format(words="secret", hiding=hiding)))
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "It is old.", "It is in use."
    document.save(str(tmp_path / "a.docx"))
    read = read_one(tmp_path)
    assert read.text == (
        "### The gauge\n\n- a float\n\nIt is in Brest.\n\nA note beside it.\n\n"
        "It is old.\n\nIt is in use."
    )


def test_properties_that_a_file_lacks_are_not_made_up(tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    document.add_paragraph("It is in Brest.")
    document.save(str(tmp_path / "whole.docx"))
    with (
        zipfile.ZipFile(tmp_path / "whole.docx") as whole,
        zipfile.ZipFile(tmp_path / "gauge.docx", "w") as bare,
    ):
        for name in whole.namelist():
            if name != "docProps/core.xml":
                content = whole.read(name)
                if name == "_rels/.rels":
                    start = content.index(b"<Relationship ", content.index(b"core-prop") - 200)
                    content = content[:start] + content[content.index(b"/>", start) + 2 :]
                bare.writestr(name, content)
    (tmp_path / "whole.docx").unlink()
    read = read_one(tmp_path)
    assert read.title == "Gauge"
    assert read.metadata == {}


SITE_PAGE = """---
title: "Orr Mill"
---

<figure>
  <img src="mill.jpg" alt="the mill">
</figure>
<div class="wide">
  <h2>Its wheel</h2>

    <p class="first">The wheel of the mill was built in 1790 by Tam Brook.
    It drove two stones.</p>

    <p>The mill burnt down in <b>1903</b>.</p>
</div>
"""


def test_the_body_of_a_static_sites_page_is_read_as_html(tmp_path: Path) -> None:
    (tmp_path / "mill.md").write_text(SITE_PAGE)
    page = read_one(tmp_path / "mill.md")
    assert page.title == "Orr Mill"
    assert page.text.startswith(SITE_PAGE[: SITE_PAGE.index("<figure")].rstrip())
    assert "<p" not in page.text and "## Its wheel" in page.text
    kinds = [b.kind for b in blocks_of(page.text) if "1903" in page.text[b.start : b.end]]
    assert set(kinds) == {BlockKind.PROSE}


def test_markdown_below_a_picture_in_html_stays_markdown(tmp_path: Path) -> None:
    text = '<p align="center"><img src="mill.jpg"></p>\n\n# Orr Mill\n\nIt *works* in spring.'
    (tmp_path / "mill.md").write_text(text)
    assert read_one(tmp_path / "mill.md").text == text


# -- OpenDocument ---------------------------------------------------------------------------------


def test_opendocument_text(tmp_path: Path) -> None:
    write_opendocument(
        tmp_path / "a.odt",
        "<office:text>"
        "<text:tracked-changes><text:p>deleted words</text:p></text:tracked-changes>"
        '<text:p text:style-name="P1">The Orr Bridge</text:p>'
        "<text:table-of-content><text:p>Building 2</text:p></text:table-of-content>"
        '<text:h text:outline-level="2">Building</text:h>'
        '<text:p>It<text:s/>opened <text:span text:style-name="H">secret </text:span>in 1921'
        '<text:note text:id="n1"><text:note-citation>1</text:note-citation><text:note-body>'
        "<text:p>In May.</text:p></text:note-body></text:note>"
        "<office:annotation><text:p>comment</text:p></office:annotation>.</text:p>"
        '<text:p text:style-name="B">Who paid</text:p>'
        "<text:p><draw:frame><draw:text-box><text:p>Lena Orr paid.</text:p></draw:text-box>"
        "</draw:frame></text:p>"
        "<text:list><text:list-item><text:p>stone</text:p><text:list><text:list-item>"
        "<text:p>granite</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>iron</text:p></text:list-item></text:list>"
        "<text:list><text:list-item><text:h>Later</text:h></text:list-item></text:list>"
        "<table:table><table:table-header-rows>"
        f"{opendocument_row('Year', 'Span')}</table:table-header-rows>"
        f"{opendocument_row('1921', '40 m')}</table:table>"
        f"<table:table>{opendocument_row('A box with words.')}</table:table>"
        "</office:text>",
        "<dc:title>Letterhead</dc:title><meta:initial-creator>Lena Orr</meta:initial-creator>"
        "<dc:language>en</dc:language>",
    )
    read = read_one(tmp_path)
    assert read.title == "The Orr Bridge"
    assert read.text == (
        "# The Orr Bridge\n\n## Building\n\nIt opened in 1921[^n1].\n\n[^n1]: In May.\n\n"
        "### Who paid\n\nLena Orr paid.\n\n- stone\n  - granite\n- iron\n\n# Later\n\n"
        "| Year | Span |\n| --- | --- |\n| 1921 | 40 m |\n\nA box with words."
    )
    assert read.metadata["author"] == "Lena Orr"


def test_opendocument_spreadsheet_repeats_cells_but_not_without_end(tmp_path: Path) -> None:
    wide = (
        '<table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>7</text:p>'
        '</table:table-cell><table:table-cell table:number-columns-repeated="16000"/>'
        "</table:table-row>"
    )
    sheet = (
        f'<table:table table:name="Tolls">{opendocument_row("Cart", "Horse")}{wide}</table:table>'
    )
    write_opendocument(tmp_path / "a.ods", f"<office:spreadsheet>{sheet}</office:spreadsheet>")
    text = "## Tolls\n\n| Cart | Horse |\n| --- | --- |\n| 7 | 7 |"
    assert read_one(tmp_path).text == text


def test_opendocument_sheet_of_two_tables(tmp_path: Path) -> None:
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    row = "<table:table-row>{}</table:table-row>".format
    number = " office:value-type='float'"
    rows = [
        row(cell(" table:number-columns-spanned='2'", "Towns") + "<table:covered-table-cell/>"),
        row(cell("", "Town") + cell("", "People")),
        row(cell("", "Osel") + cell(number, "7")),
        "<table:table-row table:number-rows-repeated='2'/>",
        row(cell("", "Ship") + cell("", "Tons")),
        row(cell("", "Selka") + cell(" office:value-type='percentage'", "25.5%")),
        row(cell("", "Gorm") + cell(number, "#N/A")),
    ]
    sheet = f"<table:table table:name='One'>{''.join(rows)}</table:table>"
    write_opendocument(tmp_path / "a.ods", f"<office:spreadsheet>{sheet}</office:spreadsheet>")
    assert read_one(tmp_path).text == (
        "## One\n\nTowns\n\n| Town | People |\n| --- | --- |\n| Osel | 7 |\n\n"
        "| Ship | Tons |\n| --- | --- |\n| Selka | 25.5% |\n| Gorm |  |"
    )


def test_opendocument_presentation(tmp_path: Path) -> None:
    write_opendocument(
        tmp_path / "a.odp",
        "<office:presentation><draw:page><draw:frame show:class='title'><draw:text-box>"
        "<text:p>The Orr Bridge</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box>"
        "<text:p>It opened in 1921.</text:p></draw:text-box></draw:frame>"
        "<show:notes><text:p>Speak slowly.</text:p></show:notes></draw:page></office:presentation>",
    )
    assert read_one(tmp_path).text == "## The Orr Bridge\n\nIt opened in 1921."
