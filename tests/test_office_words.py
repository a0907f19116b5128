"""What Word, PowerPoint and OpenDocument show is read in its place, and what they hide is not."""

from pathlib import Path

import pytest

from tests.documents import read_one
from tests.office_files import (
    as_strict,
    flat_opendocument,
    opendocument_row,
    write_opendocument,
    write_slide,
    write_word,
)


def paragraph(*runs: str, settings: str = "") -> str:
    return f"<w:p><w:pPr>{settings}</w:pPr>{''.join(runs)}</w:p>"


def run(words: str, settings: str = "") -> str:
    return f'<w:r><w:rPr>{settings}</w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>'


def held(inside: str) -> str:
    """Return a content control."""
    return f"<w:sdt><w:sdtPr/><w:sdtContent>{inside}</w:sdtContent></w:sdt>"


def raised(words: str) -> str:
    return run(words, '<w:vertAlign w:val="superscript"/>')


def row(*cells: str) -> str:
    return "<w:tr>" + "".join(c if "<" in c else cell(c) for c in cells) + "</w:tr>"


def cell(words: str, settings: str = "") -> str:
    return f"<w:tc><w:tcPr>{settings}</w:tcPr>{paragraph(run(words))}</w:tc>"


def fields(*parts: str) -> str:
    return "".join(f'<w:r><w:fldChar w:fldCharType="{part}"/></w:r>' for part in parts)


FORMULA = (
    "<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den>"
    "</m:f></m:oMath>"
)
BOX = (
    "<w:r><w:pict><v:shape{}><v:textbox><w:txbxContent>{}</w:txbxContent></v:textbox></v:shape>"
    "</w:pict></w:r>"
)
GONE = '<w:pStyle w:val="Gone"/>'
STYLES = (
    '<w:style w:type="paragraph" w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="Old"><w:rPr><w:strike/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="Older"><w:basedOn w:val="Old"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Part"><w:name w:val="Teil"/><w:pPr>'
    '<w:outlineLvl w:val="1"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Kapitel"><w:basedOn w:val="Part"/></w:style>'
)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (held(paragraph(run("Ada "), held(held(run("Brook"))))), "Ada Brook"),
        (paragraph("<w:r><w:t>KV</w:t><w:noBreakHyphen/><w:t>2, so</w:t><w:softHyphen/>"
                   "<w:t>on</w:t></w:r>"), "KV-2, soon"),
        (paragraph('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>', run(" done")), "✓ done"),
        (paragraph(run("\uf061\uf0ba1", '<w:rFonts w:ascii="Symbol"/>')), "α≡1"),
        (paragraph(run("Half is "), FORMULA, run(".")), "Half is (a+b)/2."),
        (paragraph(run("9 km"), raised("2"), run(" and 10"), raised("1"), raised("2"), run(".")),
         "9 km^2 and 10^12."),
        (paragraph(run("The weir"), raised("3"), run(" of 1907"), raised("4"), run(".")),
         "The weir of 1907."),
        (paragraph(run("CO"), run("2", '<w:vertAlign w:val="subscript"/>')), "CO2"),
        (paragraph(run("Sold. ", "<w:dstrike/>"), run("Kept", '<w:strike w:val="0"/>')), "Kept"),
        (paragraph(run("Sold. ", '<w:rStyle w:val="Older"/>'), run("Kept")), "Kept"),
        (paragraph(run("Sold"), settings=GONE) + paragraph(run("Kept")), "Kept"),
        (paragraph(run("white", '<w:color w:val="FFFFFF"/>'), run("Kept")), "Kept"),
        (paragraph(run("Kept", '<w:color w:val="FFFFFF"/><w:shd w:fill="000000"/>')), "Kept"),
        (paragraph(run("tiny", '<w:sz w:val="2"/>'), run("Kept")), "Kept"),
        (paragraph("<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom>", run("moved"),
                   "</w:moveFrom><w:ins>", run("new"), "</w:ins><w:moveTo>", run(" here"),
                   "</w:moveTo>"), "new here"),
        (paragraph("<w:r><w:ruby><w:rt>", run("かん"), "</w:rt><w:rubyBase>", run("漢"),
                   "</w:rubyBase></w:ruby></w:r>"), "漢"),
        (paragraph(run("I"), settings='<w:framePr w:dropCap="margin"/>') + paragraph(run("da is.")),
         "Ida is."),
        (paragraph(run("One "), settings="<w:rPr><w:del/></w:rPr>") + paragraph(run("line")),
         "One line"),
        (paragraph(fields("begin"), run("PAGE"), fields("separate"), run("seven"), fields("end")),
         "seven"),
        (paragraph(run("Its mill."), BOX.format("", paragraph(run("Beside it.")))),
         "Its mill.\n\nBeside it."),
        (paragraph(run("It"), *[BOX.format("", paragraph(run(words))) for words in ("is", "old")]),
         "It\n\nis\n\nold"),
        ("<w:tbl>" + 2 * row("<w:tc/>", *[cell("7", '<w:gridSpan w:val="2"/>')] * 2) + "</w:tbl>",
         "| 7 | 7 |\n| --- | --- |\n| 7 | 7 |"),
        (paragraph(run("It"), BOX.format(" style='visibility:hidden'", paragraph(run("x")))), "It"),
        (paragraph(run("Mills"), settings='<w:pStyle w:val="Kapitel"/>'), "## Mills"),
        ("<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>" + paragraph(run("Enter"))
         + "</w:sdtContent></w:sdt>" + paragraph(run("Kept")), "Kept"),
        ("<mc:AlternateContent><mc:Choice>" + paragraph(run("Once")) + "</mc:Choice><mc:Fallback>"
         + paragraph(run("Once")) + "</mc:Fallback></mc:AlternateContent>", "Once"),
    ],
)  # fmt: skip
def test_words_of_word(tmp_path: Path, body: str, text: str) -> None:
    assert read_one(write_word(tmp_path / "a.docx", body, styles=STYLES, image1="")).text == text


def test_cells_of_word_count_in_each_column_and_row_that_they_span(tmp_path: Path) -> None:
    on = '<w:vMerge w:val="{}"/>'.format
    table = (
        row(cell("Mills in Pell", '<w:gridSpan w:val="3"/>'))
        + row("Mill", "Owner", "Use")
        + held(row("Alder", cell("Ida Morn", on("restart")), held(cell("flour"))))
        + row("Birch", cell("", "<w:vMerge/>"), "paper")
        + row(cell("North", '<w:gridSpan w:val="3"/>'))
        + f"<w:tr><w:trPr><w:del/></w:trPr>{cell('gone')}</w:tr>"
        + row("Cedar", cell("not known", '<w:gridSpan w:val="2"/>'))
    )
    text = read_one(write_word(tmp_path / "a.docx", f"<w:tbl>{table}</w:tbl>")).text
    assert text == (
        "Mills in Pell\n\n| Mill | Owner | Use |\n| --- | --- | --- |\n| Alder | Ida Morn | flour |"
        "\n| Birch | Ida Morn | paper |\n| North |  |  |\n| Cedar | not known | not known |"
    )


def test_notes_of_word_are_apart_even_with_the_same_number(tmp_path: Path) -> None:
    reference = '<w:r><w:{}noteReference w:id="1"{}/><w:t>*</w:t></w:r>'.format
    mark = ' w:customMarkFollows="1"'
    note = '<w:{0}note w:id="1"><w:p><w:r><w:t>{1}</w:t></w:r></w:p></w:{0}note>'.format
    body = paragraph(run("A mill"), reference("foot", mark), reference("end", mark), run("."))
    notes = {"footnotes": note("foot", "Of oak."), "endnotes": note("end", "Burnt.")}
    text = read_one(write_word(tmp_path / "a.docx", body, **notes)).text
    assert text == "A mill[^1][^e1].\n\n[^1]: Of oak.\n\n[^e1]: Burnt."


POINTS = '<c:pt idx="0"><c:v>{}</c:v></c:pt><c:pt idx="1"><c:v>{}</c:v></c:pt>'.format
NUMBERS = "<c:val><c:numCache><c:formatCode>{}</c:formatCode>{}</c:numCache></c:val>".format
CHART = (
    "<c:chart><c:title><a:p><a:r><a:t>Flour</a:t></a:r></a:p></c:title><c:ser><c:tx><c:v>2020</c:v>"
    f"</c:tx><c:cat>{POINTS('Alder', '02')}</c:cat>"
    f"{NUMBERS('General', POINTS('4.3', '0.30000000000000004'))}</c:ser>"
    f"<c:ser><c:tx><c:v>2021</c:v></c:tx><c:cat>{POINTS('Alder', '02')}</c:cat>"
    f"{NUMBERS('0%', POINTS('0.5', '#N/A'))}</c:ser>"
    "<c:catAx><c:title><a:p><a:r><a:t>Mill</a:t></a:r></a:p></c:title></c:catAx></c:chart>"
)
CHART_AS_TABLE = (
    "Flour\n\n| Mill | 2020 | 2021 |\n| --- | --- | --- |\n| Alder | 4.3 | 50% |\n| 02 | 0.3 |  |"
)
WATERFALL = (
    '<cx:data id="0"><cx:strDim><cx:lvl><cx:pt idx="0">Alder</cx:pt></cx:lvl></cx:strDim>'
    '<cx:numDim type="val"><cx:lvl><cx:pt idx="0">7</cx:pt></cx:lvl></cx:numDim></cx:data>'
    '<cx:series><cx:tx><cx:txData><cx:v>Flour</cx:v></cx:txData></cx:tx><cx:dataId val="0"/>'
    "</cx:series>"
)
DIAGRAM = (
    '<dgm:pt modelId="0" type="doc"/>'
    '<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Sow</a:t></a:r></a:p></dgm:t></dgm:pt>'
    '<dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Reap</a:t></a:r></a:p></dgm:t></dgm:pt>'
    '<dgm:pt modelId="3"><dgm:t><a:p><a:r><a:t>by hand</a:t></a:r></a:p></dgm:t></dgm:pt>'
    '<dgm:cxn srcId="0" destId="2" srcOrd="1"/><dgm:cxn srcId="0" destId="1" srcOrd="0"/>'
    '<dgm:cxn srcId="2" destId="3" srcOrd="0"/><dgm:cxn srcId="3" destId="2" srcOrd="0"/>'
)


@pytest.mark.parametrize(
    ("element", "part", "inside", "text"),
    [
        ("c:chart r:id", "chart1", CHART, CHART_AS_TABLE),
        ("cx:chart r:id", "waterfall1", WATERFALL, "|  | Flour |\n| --- | --- |\n| Alder | 7 |"),
        ("dgm:relIds r:dm", "data1", DIAGRAM, "- Sow\n- Reap\n  - by hand"),
        ("c:chart r:id", "chart1", "", "Its mills."),
    ],
)
def test_what_is_drawn_is_read_from_its_data(
    tmp_path: Path, element: str, part: str, inside: str, text: str
) -> None:
    drawn = f'<a:graphic><{element}="{part}"/></a:graphic>'
    body = paragraph(f"<w:r><w:drawing>{drawn}</w:drawing></w:r>", run("Its mills."))
    write_word(tmp_path / "a.docx", body, **{part: inside})
    write_slide(
        tmp_path / "b.ppsx",
        f"{shape('Its mills.')}<p:graphicFrame>{drawn}</p:graphicFrame>",
        **{part: inside},
    )
    assert text in read_one(tmp_path / "a.docx").text
    assert text in read_one(tmp_path / "b.ppsx").text


def test_strict_open_xml_is_read_as_transitional_is(tmp_path: Path) -> None:
    drawn = '<a:graphic><c:chart r:id="chart1"/></a:graphic>'
    body = paragraph(raised("1"), f"<w:r><w:drawing>{drawn}</w:drawing></w:r>")
    document = as_strict(write_word(tmp_path / "a.docx", body, chart1=CHART))
    show = as_strict(write_slide(tmp_path / "b.pptx", drawn, chart1=CHART))
    assert read_one(document).text == f"1\n\n{CHART_AS_TABLE}"
    assert read_one(show).text == CHART_AS_TABLE


def test_files_that_are_inserted_into_a_document_are_read(tmp_path: Path) -> None:
    inner = write_word(tmp_path / "b.docx", "<w:p><w:r><w:t>A weir.</w:t></w:r></w:p>")
    files = {
        "a.htm": b"<p>A mill.</p>",
        "b.docx": inner.read_bytes(),
        "c.mht": b"Content-Type: text/html\n\n<p>A dam.</p>",
        "d.rtf": b"{\\rtf1 unread}",
    }
    body = 2 * "".join(f'<w:altChunk r:id="{name}"/>' for name in files)
    row = f"<w:tr>{2 * '<w:tc><w:p/></w:tc>'}</w:tr>"
    cell = '<w:tr><w:tc><w:altChunk r:id="e.htm"/><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr>'
    whole, files["e.htm"] = f"{body}<w:tbl>{row}{cell}</w:tbl>", b"A lock."
    assert read_one(write_word(tmp_path / "a.docx", whole, files)).text == (
        "A mill.\n\nA weir.\n\nA dam.\n\n| A lock. |"
    )


def shape(words: str, settings: str = "", about: str = "", place: str = "") -> str:
    """Return a text shape of a slide, with the settings of its run."""
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr{about}/></p:nvSpPr><p:spPr>{place}</p:spPr><p:txBody><a:p><a:r>"
        f"<a:rPr{settings}/><a:t>{words}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def test_words_of_slides(tmp_path: Path) -> None:
    off = '<a:xfrm><a:off x="9000" y="0"/><a:ext cx="10" cy="10"/></a:xfrm>'
    line = (
        "<p:sp><p:txBody><a:p><a:r><a:t>9 × 10</a:t></a:r>"
        "<a:r><a:rPr baseline='30000'/><a:t>4</a:t></a:r><a:br/><a:r><a:t>in all</a:t></a:r>"
        f"<mc:AlternateContent><mc:Choice><a:m>{FORMULA}</a:m></mc:Choice></mc:AlternateContent></a:p></p:txBody></p:sp>"
    )
    shapes = [
        shape("struck", ' strike="sngStrike"'), shape("hidden", about=' hidden="1"'),
        shape("off", place=off), f"<p:grpSp>{shape('grouped')}</p:grpSp>", line,
    ]  # fmt: skip
    text = read_one(write_slide(tmp_path / "a.pptm", "".join(shapes))).text
    assert text == "grouped\n\n9 × 10^4\nin all(a+b)/2"


WHITE = '><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></a:rPr><a:rPr'
BLUE = '<a:solidFill><a:srgbClr val="0000FF"/></a:solidFill>'


def placed(left: int, fill: str = "") -> str:
    return f'<a:xfrm><a:off x="{left}" y="0"/><a:ext cx="10" cy="10"/></a:xfrm>{fill}'


@pytest.mark.parametrize(
    ("shapes", "text"),
    {
        "white": (shape("white", WHITE), ""),
        "in a blue shape": (shape("Seen", WHITE, place=BLUE), "Seen"),
        "on a blue shape": (shape("", place=placed(0, BLUE))
                            + shape("Seen", WHITE, place=placed(9)), "Seen"),
        "beside a blue shape": (shape("", place=placed(0, BLUE))
                                + shape("white", WHITE, place=placed(10)), ""),
        "on a picture": (f"<p:pic><p:spPr>{placed(0)}</p:spPr></p:pic>"
                         + shape("Seen", WHITE, place=placed(0)), "Seen"),
        "at an unknown place": (shape("", place=placed(0, BLUE)) + shape("Seen", WHITE), "Seen"),
    }.values(),
)  # fmt: skip
def test_white_words_on_a_white_slide_are_not_read(tmp_path: Path, shapes: str, text: str) -> None:
    show = write_slide(tmp_path / "a.pptx", shape("A mill.") + shapes)
    assert read_one(show).text == "\n\n".join(filter(None, ["A mill.", text]))


def test_date_footer_and_number_of_slides_are_not_read(tmp_path: Path) -> None:
    box = '<p:sp><p:nvSpPr><p:cNvPr/><p:nvPr><p:ph type="{}"/></p:nvPr></p:nvSpPr>'
    shapes = "".join(
        shape(kind).replace("<p:sp><p:nvSpPr><p:cNvPr/></p:nvSpPr>", box.format(kind))
        for kind in ("body", "dt", "ftr", "sldNum")
    )
    assert read_one(write_slide(tmp_path / "a.pptx", shapes)).text == "body"
    frames = "".join(
        f'<draw:frame show:class="{kind}"><draw:text-box><text:p>{kind}</text:p></draw:text-box>'
        "</draw:frame>"
        for kind in ("outline", "date-time", "footer", "page-number")
    )
    body = f"<office:presentation><draw:page>{frames}</draw:page></office:presentation>"
    (tmp_path / "a.fodp").write_text(flat_opendocument(body))
    assert read_one(tmp_path / "a.fodp").text == "outline"


def test_cells_of_slides_count_in_each_column_and_row_that_they_span(tmp_path: Path) -> None:
    def cells(*cells: str) -> str:
        return f"<a:tr>{''.join(cells)}</a:tr>"

    def cell(words: str, spans: str = "") -> str:
        return f"<a:tc{spans}><a:txBody><a:p><a:r><a:t>{words}</a:t></a:r></a:p></a:txBody></a:tc>"

    rows = (
        cells(cell("Mill"), cell("Owner"), cell("Use"))
        + cells(
            cell("Alder", ' rowSpan="2"'), cell("idle", ' gridSpan="2"'), cell("", ' hMerge="1"')
        )
        + cells(cell("", ' vMerge="1"'), cell("Ida"), cell("flour"))
    )
    text = read_one(
        write_slide(tmp_path / "a.potx", f"<p:graphicFrame><a:tbl>{rows}</a:tbl></p:graphicFrame>")
    ).text
    assert text.endswith("| Alder | idle | idle |\n| Alder | Ida | flour |")


MATH = "<math:math><math:msup><math:mi>x</math:mi><math:mn>2</math:mn></math:msup></math:math>"
OBJECT = '<draw:frame><draw:object xlink:href="./{}"/></draw:frame>'
SPAN = '<text:span text:style-name="{}">{}</text:span>'
CELL = "<table:table-cell table:number-{}s-spanned='2'><text:p>{}</text:p></table:table-cell>"
COVERED = "<table:covered-table-cell/>"
HIDDEN_COLUMN = "<table:table-column/><table:table-column table:visibility='collapse'/>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<text:p>Is {OBJECT.format('Sum')}.</text:p>", "Is x^2."),
        (f"<text:p>Is <draw:frame><draw:object>{MATH}</draw:object></draw:frame>.</text:p>",
         "Is x^2."),
        (f"<text:p>9 × 10{SPAN.format('R', '4')} m</text:p>", "9 × 10^4 m"),
        (f"<text:p>{SPAN.format('S2', 'Sold. ')}{SPAN.format('W', 'White.')}Kept</text:p>", "Kept"),
        ("<text:p>Kept</text:p><text:section text:display='none'><text:p>x</text:p></text:section>",
         "Kept"),
        (f"<table:table>{opendocument_row('Mill', 'Owner', 'Use')}"
         f"{opendocument_row(CELL.format('row', 'Alder'), CELL.format('column', 'idle'), COVERED)}"
         f"{opendocument_row(COVERED, 'Ida', 'flour')}</table:table>",
         "| Mill | Owner | Use |\n| --- | --- | --- |\n| Alder | idle | idle |\n"
         "| Alder | Ida | flour |"),
        (f"<table:table>{HIDDEN_COLUMN}{opendocument_row('Mill', 'Pay', 'Use')}"
         f"{opendocument_row('Alder', '7', 'flour')}</table:table>",
         "| Mill | Use |\n| --- | --- |\n| Alder | flour |"),
        (f"<text:p>Mills{OBJECT.format('Chart')}</text:p>",
         "Mills\n\nFlour\n\n| Mill | 2020 |\n| --- | --- |\n| Alder | 4 |"),
    ],
)  # fmt: skip
def test_words_of_opendocument(tmp_path: Path, body: str, text: str) -> None:
    chart = (
        "<chart:chart><chart:title><text:p>Flour</text:p></chart:title><table:table>"
        f"{opendocument_row('Mill', '2020')}{opendocument_row('Alder', '4')}</table:table>"
        "</chart:chart>"
    )
    objects = {
        "Sum": MATH.replace(":math>", ':math xmlns:math="http://www.w3.org/1998/Math/MathML">', 1),
        "Chart": flat_opendocument(f"<office:chart>{chart}</office:chart>"),
    }
    whole = f"<office:text>{body}</office:text>"
    write_opendocument(tmp_path / "a.ott", whole, **objects)
    assert read_one(tmp_path / "a.ott").text == text


def test_a_flat_opendocument_presentation(tmp_path: Path) -> None:
    page = (
        "<draw:page><draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>{}"
    )
    hidden = "<show:notes><text:p>x</text:p></show:notes></draw:page>"
    body = f"<office:presentation>{page.format('A mill.', hidden)}</office:presentation>"
    (tmp_path / "a.fodp").write_text(flat_opendocument(body))
    assert read_one(tmp_path / "a.fodp").text == "A mill."


def test_words_beside_a_slide_or_white_on_white_are_not_read_from_opendocument(
    tmp_path: Path,
) -> None:
    def frame(words: str, left: str, style: str = "") -> str:
        where = f'svg:x="{left}" svg:y="1cm" svg:width="4cm" svg:height="1cm"'
        text = f'<text:p><text:span text:style-name="{style}">{words}</text:span></text:p>'
        return f"<draw:frame {where}><draw:text-box>{text}</draw:text-box></draw:frame>"

    blue = '<draw:rect svg:x="20cm" svg:y="0cm" svg:width="8cm" svg:height="9cm"/>'
    shapes = (
        frame("A mill.", "1cm"), frame("white", "1cm", "W"), frame("beside", "28cm"),
        frame("above", "-4cm"), blue, frame("Seen", "21cm", "W"),
    )  # fmt: skip
    page = f'<draw:page draw:master-page-name="M">{"".join(shapes)}</draw:page>'
    (tmp_path / "a.fodp").write_text(
        flat_opendocument(f"<office:presentation>{page}</office:presentation>")
    )
    assert read_one(tmp_path / "a.fodp").text == "A mill.\n\nSeen"


def test_headers_footers_and_comments_of_word_are_read_once_behind_the_text(tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    for section in (document.sections[0], document.add_section()):
        section.header.is_linked_to_previous = section.footer.is_linked_to_previous = False
        section.header.paragraphs[0].text = "Norr Mills Ltd"
        section.footer.paragraphs[0].text = "Quay Street 5"
        section.first_page_header.paragraphs[0].text = "Unshown"
    run = document.paragraphs[-1].add_run("The mill is old.")
    document.add_comment(run, text="It burnt in 1931.", author="Ida Rook")
    document.save(str(tmp_path / "a.docx"))
    parts = ["The mill is old.", "Norr Mills Ltd", "Quay Street 5", "Comment by Ida Rook:"]
    assert read_one(tmp_path).text == "\n\n".join([*parts, "It burnt in 1931."])


def test_notes_of_a_slide_are_read_under_it(tmp_path: Path) -> None:
    import pptx

    show = pptx.Presentation()
    for title, note in (("Mills", "Ida Rook built them."), ("Dams", "")):
        slide = show.slides.add_slide(show.slide_layouts[5])
        slide.shapes.title.text = title
        slide.notes_slide.notes_text_frame.text = note
    show.save(str(tmp_path / "a.pptx"))
    assert read_one(tmp_path).text == "## Mills\n\n### Notes\n\nIda Rook built them.\n\n## Dams"


def test_comments_on_cells_are_read_with_who_wrote_them(tmp_path: Path) -> None:
    import openpyxl
    from openpyxl.comments import Comment

    book = openpyxl.Workbook()
    book.active.append(["Mill", "Year"])
    book.active.append(["Norr", 1931])
    book.active["B2"].comment = Comment("It burnt then.", "Ida Rook")
    threaded = "[Threaded comment]\n\nYour program cannot show it.\n\nComment:\n    Of oak."
    book.active["A2"].comment = Comment(threaded, "tc={12}")
    book.save(tmp_path / "a.xlsx")
    end = "Comment:\n\nOf oak.\n\nComment by Ida Rook:\n\nIt burnt then."
    assert read_one(tmp_path).text.endswith(f"| Norr | 1931 |\n\n{end}")


def test_numbers_of_clauses_are_those_that_word_shows(tmp_path: Path) -> None:
    kinds = ("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)"), ("bullet", "o")
    levels = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="{4 if not n else 1}"/><w:numFmt w:val="{kind}"/>'
        f'<w:lvlText w:val="{shown}"/></w:lvl>'
        for n, (kind, shown) in enumerate(kinds)
    )
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride>'
    lists = "".join(
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="0"/>{own}</w:num>'
        for n, own in ((1, ""), (2, override))
    )
    body = "".join(
        f'<w:p><w:pPr>{style}<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{of}"/></w:numPr>'
        f"</w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"
        for level, of, words, style in [
            (0, 1, "Rent", '<w:pStyle w:val="H"/>'), (1, 1, "Due", ""), (2, 1, "May", ""),
            (2, 1, "June", ""), (1, 1, "Paid", ""), (3, 1, "Cash", ""), (0, 1, "End", ""),
            (0, 2, "Annex", ""),
        ]
    )  # fmt: skip
    styles = '<w:style w:styleId="H"><w:name w:val="heading 2"/></w:style>'
    numbering = f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>{lists}'
    path = write_word(tmp_path / "a.docx", body, styles=styles, numbering=numbering)
    assert read_one(path).text == (
        "## 4. Rent\n\n  - 4.1. Due\n    - (a) May\n    - (b) June\n  - 4.2. Paid\n      - Cash\n"
        "- 5. End\n- 9. Annex"
    )


def test_a_table_of_word_keeps_its_rows_although_a_cell_holds_a_table(tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    table = document.add_table(3, 2)
    for place, words in enumerate(["Mill", "Owner", "Norr", "Ida", "Tarn", "Bo"]):
        table.cell(place // 2, place % 2).text = words
    inner = table.cell(1, 1).add_table(2, 1)
    inner.cell(0, 0).text, inner.cell(1, 0).text = "Tel 7", "Fax 8"
    document.save(str(tmp_path / "a.docx"))
    rows = "| Norr | Ida Tel 7 Fax 8 |\n| Tarn | Bo |"
    assert read_one(tmp_path).text == f"| Mill | Owner |\n| --- | --- |\n{rows}"
