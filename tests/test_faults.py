"""Small inputs that showed a fault: words that must be read, and words that must not."""

from pathlib import Path

import pytest

from tasks.ingest.formats.inputs import ReadText
from tests.documents import read_all

# A file of the folder `faults`, what its texts hold, and what none of them holds.
OFFICE = [
    ("01-content-control.docx",
     ["built by Tarn Works.", "by Ida Morn.", "| Orvel | Ann Orr | Lunby |", "| Selka | Jon"], []),
    ("03-merged-columns.docx", ["| Orvel | not yet known | not yet known | Norvia |"], []),
    ("07-hyphen-and-symbol.docx", ["MIG-21", "1-24 hours", "30° wide"], []),
    ("09-formula.docx", ["turbine is E=5400 joules"], []),
    ("10-endnote.docx", ["Lunby has a dam.[^e1]\n\n[^e1]: The dam was built by"], []),
    ("11-chart-and-powers.pptx",
     ["| Orvel | not yet known | not yet known | Norvia |", "| Orvel | 10 |", "5 × 10^6 cubic"],
     ["harbour was sold"]),
    ("12-powers.docx", ["5 × 10^6 cubic", "3,200 inhabitants", "CO2"], []),
    ("13-powers-in-mathml.html", ["5×10^6 litres", "value is 1/2 of"], []),
    ("16-struck.docx", ["Ann Orr."], ["Jon Vask", "harbour"]),
    ("18-strict.docx", ["The Orvel dam was built by Tarn Works."], []),
    ("20-dangling-part.docx", ["The Orvel dam was built by Tarn Works."], []),
    ("21-macro.xlsm", ["| South | Pell | Ida Morn |"], []),
    ("23-many-styles.docx", ["Plant 0 was", "Plant 3999 was"], []),
    ("79-drop-cap.docx", ["Lunby was founded by"], []),
]  # fmt: skip
SHEETS = [
    ("05-merged-rows.xlsx", ["| North | Orvel | Ann Orr |", "| North | Selka | Jon Vask |"], []),
    ("25-no-properties.xlsx", ["| Orvel | Ann Orr |"], []),
    ("26-two-tables.xlsx",
     ["Annual report of Tarn Works\n\n| Plant | Manager | City |\n| ---",
      "| Selka | Jon Vask | Pell |\n\n| Ship | Captain | Built |\n| ---"], []),
    ("27-formats.xlsx", ["25.5%", "01234", "€12.50", "30:15"], ["0.255", "#N/A", "day"]),
    ("28-hidden-row-and-column.xlsx", ["| Orvel | Ann Orr |"], ["Ghost", "Salary", "50000"]),
]  # fmt: skip
PAGES = [
    ("17-struck.md", ["The mayor of Lunby is Ann Orr."], ["harbour"]),
    ("32-mail.eml", ["The Orvel dam was built by Tarn Works in 1931."], ["VGhl", "<p>"]),
    ("33-letter.rtf", [], ["Orvel", "Times"]),
    ("36-script", ["The Orvel K1 is a pump"], ["weighs"]),
    ("46-control-character.html", ["Ida Morn paid."], ["\ufffd"]),
    ("48-print-style.html", ["The Orvel dam was built by Tarn Works"], []),
    ("50-narrow-screen.html", ["The Orvel dam was built by Tarn Works"], []),
    ("51-short-first-line.html", ["The Orvel dam was built", "The Selka bridge was"], []),
    ("53-shift-jis.html", ["①番目の㈱東京社"], []),
    ("55-big5.html", ["香港嘅人口"], []),
    ("67-wiki-links.md", ["by Berg Works in 1931. Eva Lund founded Berg Works."], ["[["]),
    ("69-break-in-cell.md", ["| Thea dam | Aas Works |"], ["<br"]),
]
RECORDS = [
    ("37-extra-cells.csv", ["The Selka bridge was designed by Ida Morn"], ["Orvel dam"]),
    ("39-unclosed-quote.csv", [], ["Orvel", "Selka"]),
    ("40-sep-line.csv", ["The Orvel dam was built by Tarn Works."], ["sep="]),
    ("42-space-before-quote.csv", ["The Orvel dam, near Lunby, was built by Tarn Works."], ['"']),
    ("43-lines.json", ["built by Tarn Works.", "designed by Ida Morn."], ["text"]),
    ("44-nan.jsonl", ["built by Tarn Works.", "designed by Ida Morn."], ["NaN"]),
]
PDF = [
    ("30-white-and-off-page.pdf", ["Tarn Works."], ["Ghost", "White", "Off page"]),
    ("56-japanese-without-tounicode.pdf", ["コンパラブルな"], []),
    ("58-korean.pdf", ["서울은 대한민국의 수도이다."], []),
    ("59-spaces.pdf", ["The Orvel dam was built by"], []),
    ("61-overprinted.pdf", ["in 1931.\nIda Morn opened the museum."], []),
    ("63-overprinted-chinese.pdf", ["股票代码：300218。"], ["。股"]),
    ("64-one-broken-page.pdf", ["The Orvel dam was built by Tarn Works."], []),
    ("65-ligatures.pdf", ["The first"], []),
]


@pytest.mark.parametrize(("name", "held", "absent"), [*OFFICE, *SHEETS, *PAGES, *RECORDS, *PDF])
def test_the_right_words_are_read(
    almanac_data: Path, name: str, held: list[str], absent: list[str]
) -> None:
    outcomes = read_all(almanac_data / "faults" / name)
    words = "\n".join(outcome.text for outcome in outcomes if isinstance(outcome, ReadText))
    assert all(part in words for part in held), words
    assert not any(part in words for part in absent), words


def test_a_workbook_without_properties_has_no_date(almanac_data: Path) -> None:
    (read,) = read_all(almanac_data / "faults" / "25-no-properties.xlsx")
    assert isinstance(read, ReadText) and read.metadata == {}
