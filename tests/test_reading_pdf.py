"""What a page of a PDF shows is read, and what it hides or cannot explain is not."""

import io
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tasks.ingest.formats import picture
from tasks.ingest.formats.inputs import Reason, Refusal, RefusalError
from tasks.ingest.formats.legible import fault_of_letters
from tasks.ingest.formats.parsed_text import ParserLimits
from tasks.ingest.formats.pdf import parse_pdf
from tasks.ingest.formats.picture import Line, parse_picture, rows_of_page
from tasks.text.question import analyse
from tasks.text.words import words_outside_chinese
from tests.documents import HELVETICA, make_pdf, read_all, read_one, read_pdf

MILL = "(The mill at Norrby has two floors.) Tj "
PICTURE = "ET q 612 0 0 792 0 0 cm BI /W 2 /H 2 /BPC 8 /CS /G ID abcd EI Q BT /F1 12 Tf 72 720 Td "


def east_asian(encoding: str, ordering: str) -> bytes:
    """Return a font that the file does not bring, with a predefined CMap."""
    return (
        f"<< /Type /Font /Subtype /Type0 /BaseFont /None /Encoding /{encoding} "
        "/DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /None /DW 1000 "
        f"/CIDSystemInfo << /Registry (Adobe) /Ordering ({ordering}) /Supplement 2 >> >>] >>"
    ).encode()


@pytest.mark.parametrize(
    "hidden",
    [
        "3 Tr (Ghost.) Tj",
        "1 g (Ghost.) Tj",
        "0.98 0.98 0.98 rg (Ghost.) Tj",
        "0 0 0 0 k (Ghost.) Tj",
        "900 0 Td (Ghost.) Tj",
        "0 -900 Td (Ghost.) Tj",
    ],
)
def test_what_a_page_hides_is_not_read(tmp_path: Path, hidden: str) -> None:
    drawn = f"{MILL} 0 -40 Td {hidden} 0 g 0 Tr 1 0 0 1 72 600 Tm (It is red.) Tj"
    text = read_pdf(tmp_path, drawn, title="Mill").text
    assert text == "The mill at Norrby has two floors.\nIt is red."


def test_white_words_on_dark_ground_are_read(tmp_path: Path) -> None:
    drawn = f"ET 0 0 0.3 rg 60 700 400 50 re f BT /F1 12 Tf 1 g 72 720 Td {MILL}"
    assert read_pdf(tmp_path, drawn).text == "The mill at Norrby has two floors."


def test_the_invisible_text_of_a_scanned_page_is_its_text(tmp_path: Path) -> None:
    assert read_pdf(tmp_path, f"{PICTURE} 3 Tr {MILL}").text == "The mill at Norrby has two floors."


def test_neither_a_line_in_the_margin_nor_a_default_says_what_a_page_is(tmp_path: Path) -> None:
    stamp = "/F1 30 Tf 0 1 -1 0 40 200 Tm (Archive of Norrby, 7 May) Tj 1 0 0 1 72 720 Tm"
    page = make_pdf(f"{stamp} /F1 18 Tf (Mills) Tj 0 -40 Td /F1 12 Tf {MILL}", title="untitled")
    page = page.replace(b"/Title", b"/Author (Ada) /Subject (unspecified) /Title")
    (tmp_path / "a.pdf").write_bytes(page)
    read = read_one(tmp_path)
    assert (read.title, read.metadata) == ("Mills", {"author": "Ada"})


@pytest.mark.parametrize("times", [2, 3, 4])
def test_what_is_drawn_several_times_is_read_once(tmp_path: Path, times: int) -> None:
    lines = ["All mills here", "have two floors", "and a wheel", "of oak", "or iron", "or none."]
    drawn = "".join(
        f"1 0 0 1 {72 + 0.3 * copy} {720 - 20 * row} Tm ({line}) Tj "
        for copy in range(times)
        for row, line in enumerate(lines)
    )
    assert read_pdf(tmp_path, drawn, title="Mills").text == "\n".join(lines)


@pytest.mark.parametrize(
    ("encoding", "ordering", "codec", "text"),
    [
        ("KSCms-UHC-H", "Korea1", "uhc", "서울은 대한민국의 수도이다."),
        ("90ms-RKSJ-H", "Japan1", "cp932", "東京は日本の首都である。"),
        ("GBK-EUC-H", "GB1", "gbk", "红楼梦的作者是曹雪芹。"),
        ("ETen-B5-H", "CNS1", "big5", "臺北是臺灣的首都。"),
    ],
)
def test_letters_of_predefined_cmaps_are_read_one_by_one(
    tmp_path: Path, encoding: str, ordering: str, codec: str, text: str
) -> None:
    drawn = " ".join(f"<{letter.encode(codec).hex()}> Tj 13 0 Td" for letter in text)
    font = east_asian(encoding, ordering)
    assert read_pdf(tmp_path, drawn, title="Cities", font=font).text == text


@pytest.mark.parametrize(
    "broken", ["(unclosed Tj", "<41 42 Tj", "[(a) 20 (b"], ids=["string", "letters", "array"]
)
def test_a_broken_page_is_named_and_the_others_are_read(tmp_path: Path, broken: str) -> None:
    (tmp_path / "a.pdf").write_bytes(make_pdf(MILL, broken, "", MILL))
    refusal, read = read_all(tmp_path)
    assert isinstance(refusal, Refusal)
    assert (refusal.uri, refusal.reason) == ("a.pdf#page 2", Reason.BAD_FORMAT)
    assert read.text == "The mill at Norrby has two floors.\n\nThe mill at Norrby has two floors."


def test_a_page_whose_font_explains_nothing_is_refused_alone(tmp_path: Path) -> None:
    shifted = HELVETICA.replace(b">>", b"/ToUnicode 99 0 R /Encoding << /Differences [1 /g1] >> >>")
    codes = "".join(f"{ord(letter) - 64:02x}" for letter in "ABCDEFGHIJKLMNOPQR")
    (tmp_path / "a.pdf").write_bytes(make_pdf(MILL, f"<{codes}> Tj", font=shifted))
    refusal, read = read_all(tmp_path)
    assert isinstance(refusal, Refusal)
    assert refusal.uri == "a.pdf#page 2" and refusal.reason is Reason.ILLEGIBLE
    assert read.text == "The mill at Norrby has two floors."


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The mill at Norrby was built in 1931, of oak.", ""),
        ("Die Dampfschifffahrtsgesellschaft fuhr 1931.", ""),
        ("Μῆνιν ἄειδε θεὰ, 5 μm; naïve façade à côté", ""),
        ("红楼梦的作者是曹雪芹。NASA在1958年成立", ""),
        ("Việt Nam là quốc gia nằm ở phía đông", ""),
        ("\x04\x05\x06\x04\x07\x08", "many of its characters have no meaning"),
        ("ϯύϥϒϧͳ", "its letters are of scripts that do not fit together"),
        ("ÁîÃîÇäÀÛ ÖÐÎÄ", "its letters are of scripts that do not fit together"),
        ("ThemillatNorrbywasbuiltbyAnnaBerg", "its words have no spaces between them"),
        ("TThhee mmiillll iiss oolldd", "its letters stand there several times"),
        ("The mill.The mill.The mill.", "its letters stand there several times"),
    ],
)
def test_letters_that_cannot_be_words_are_told_from_words(text: str, fault: str) -> None:
    assert fault_of_letters(text) == fault


def test_a_scanned_page_is_named_as_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "find_spec", lambda name: None)
    file = io.BytesIO(make_pdf(f"{PICTURE} () Tj"))
    limits = ParserLimits("a.pdf", "", 10**6, 10**6, 10, "text")
    with pytest.raises(RefusalError) as refused:
        list(parse_pdf(file, limits))
    assert refused.value.reason is Reason.PICTURE
    assert refused.value.text.startswith("Page 1 is a picture; `pip install '.[ocr]'`")
    with pytest.raises(RefusalError, match="It is a picture"):
        list(parse_picture(file, limits))


def test_a_page_of_nothing_but_a_small_picture_is_a_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(picture, "find_spec", lambda name: None)
    limits = ParserLimits("a.pdf", "", 10**6, 10**6, 10, "text")
    photo, logo = (PICTURE.replace("612 0 0 792", f"{size} 0 0 {size}") for size in (200, 60))
    file = io.BytesIO(make_pdf(MILL, f"{photo} () Tj", f"{logo} () Tj"))
    one, read = filter(None, parse_pdf(file, limits))
    assert (one.name, one.reason) == ("page 2", Reason.PICTURE)
    assert read.text == "The mill at Norrby has two floors."


def test_a_scanned_page_that_the_models_cannot_read_is_refused_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[float] = []

    def read(page: np.ndarray) -> SimpleNamespace:
        seen.append(page.mean())
        if len(seen) == 2:
            raise MemoryError
        box = np.array([[0, 0], [90, 0], [90, 9], [0, 9]])
        return SimpleNamespace(txts=["The mill is old."], boxes=[box], scores=[0.9])

    monkeypatch.setattr(picture, "find_spec", lambda name: True)
    monkeypatch.setattr(picture, "_engine", lambda: read)
    limits = ParserLimits("a.pdf", "", 10**6, 10**6, 10, "text")
    file = io.BytesIO(make_pdf(*[f"{PICTURE} () Tj"] * 3))
    one, whole = filter(None, parse_pdf(file, limits))
    assert (one.name, one.reason) == ("page 2", Reason.BAD_FORMAT)
    assert whole.text == "The mill is old.\n\nThe mill is old."


def test_columns_of_a_picture_are_read_one_after_another_and_tables_by_rows() -> None:
    prose = [(left, 50 + 30 * row) for left in (0, 400) for row in range(4)]
    head = Line(100, 0, 600, 20, "head", 1.0)
    columns = [Line(x, y, x + 300, y + 20, f"{x} {y}", 1.0) for x, y in prose]
    cells = [Line(x, y, x + 60, y + 20, f"{x} {y}", 1.0) for x, y in prose]
    mixed = sorted([head, *columns], key=lambda line: line.top)
    assert [line for (line,) in rows_of_page(mixed)] == [head, *columns]
    assert [len(row) for row in rows_of_page(cells)] == [2, 2, 2, 2]


def test_an_image_is_read_where_the_extra_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr", reason="the extra `ocr` is not installed")
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (700, 160), "white")
    font = ImageFont.load_default(30)
    for row, line in enumerate(["The mill at Norrby was built", "by Anna Berg in 1931."]):
        ImageDraw.Draw(image).text((30, 30 + 50 * row), line, "black", font)
    image.save(tmp_path / "mill.png")
    read = read_one(tmp_path)
    assert read.text == "The mill at Norrby was built\nby Anna Berg in 1931."
    assert read.metadata["recognised"] > "page 1: 0.9"


def test_a_page_without_bounds_is_read(tmp_path: Path) -> None:
    data = make_pdf(MILL).replace(b"[0 0 612 792]", b"[0 0 1e30 1e30]")
    (tmp_path / "a.pdf").write_bytes(data)
    assert read_one(tmp_path).text == "The mill at Norrby has two floors."


def test_ligatures_that_a_font_does_not_name_are_those_that_make_words(tmp_path: Path) -> None:
    drawn = "(The of\\037cial Grif\\037th \\037lled an a\\015oat\\001 mill.) Tj"
    assert read_pdf(tmp_path, drawn).text == "The official Griffith filled an afloat mill."


def test_letters_in_forms_for_print_are_plain_ones_and_powers_stay(tmp_path: Path) -> None:
    printed = "The ﬁrst ofﬁce of ＡＢＣ Ｌｔｄ （２０２４年）； ⼤ｶﾞｽ, 𝐛𝐨𝐥𝐝; 5 m², ½, ①"
    (tmp_path / "a.txt").write_text(printed)
    plain = "The first office of ABC Ltd （2024年）； 大ガス, bold; 5 m², ½, ①"
    assert read_one(tmp_path).text == plain
    assert analyse(printed).text == plain
    assert words_outside_chinese("ﬁrst Ｌｔｄ") == "first ltd"
