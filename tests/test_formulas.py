"""Formulas of web pages and of Office are one line of text, as one types it."""

import lxml.etree
import lxml.html
import pytest

from tasks.ingest.formats.formulas import linear

X = "<mi>x</mi>"
TWO = "<mn>2</mn>"
HALF = f"<mfrac><mn>1</mn>{TWO}</mfrac>"


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (f"<mn>7</mn><mo>×</mo><msup><mn>10</mn><mrow><mo>−</mo>{TWO}</mrow></msup>", "7×10^-2"),
        (f"{TWO}{HALF}", "2 1/2"),
        (f"<mfrac><mrow>{X}<mo>+</mo>{TWO}</mrow>{X}</mfrac>", "(x+2)/x"),
        (f"<mi>cos</mi><mo>\u2061</mo>{X}", "cos x"),
        (f"<msqrt>{X}</msqrt><mroot>{X}{TWO}</mroot>", "√(x)(x)^(1/2)"),
        (f"<munderover><mo>∫</mo><mn>0</mn><mn>1</mn></munderover>{X}", "∫_0^1x"),
        ("<mn>8</mn><msup><mrow></mrow><mo>∘</mo></msup>", "8°"),
        (f"<mover>{X}<mo>¯</mo></mover>", "x\u0305"),
        (f"<mmultiscripts>{X}<mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>", "_6^14 x"),
        (f"<mtable><mtr><mtd>{X}</mtd><mtd>{TWO}</mtd></mtr></mtable>", "[x, 2]"),
        (f"<semantics>{X}<annotation>\\x</annotation></semantics>", "x"),
        (f"{'<mrow>' * 150}{X}{'</mrow>' * 150}", "x"),
    ],
)
def test_mathml(inside: str, text: str) -> None:
    assert linear(lxml.html.fragment_fromstring(f"<math>{inside}</math>")) == text


def run(words: str) -> str:
    return f"<m:r><m:t>{words}</m:t></m:r>"


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (run("p=") + run("4") + run("2"), "p=42"),
        (f"<m:sSubSup><m:e>{run('a')}</m:e><m:sub>{run('i')}</m:sub><m:sup>{run('2')}</m:sup>"
         "</m:sSubSup>", "a_i^2"),
        (f"<m:nary><m:naryPr><m:chr m:val='∏'/></m:naryPr><m:sub>{run('k=1')}</m:sub><m:sup/>"
         f"<m:e>{run('k')}</m:e></m:nary>", "∏_(k=1) k"),
        (f"<m:d><m:dPr><m:begChr m:val='|'/><m:endChr m:val='|'/></m:dPr><m:e>{run('x')}</m:e>"
         "</m:d>", "|x|"),
        (f"<m:limLow><m:e>{run('lim')}</m:e><m:lim>{run('n→∞')}</m:lim></m:limLow>", "lim_(n→∞)"),
        (f"<m:func><m:fName>{run('log')}</m:fName><m:e>{run('x')}</m:e></m:func>", "log x"),
        (f"<m:rad><m:deg/><m:e>{run('x')}</m:e></m:rad>", "√(x)"),
        (f"<m:eqArr><m:e>{run('a=1')}</m:e><m:e>{run('b=2')}</m:e></m:eqArr>", "a=1; b=2"),
    ],
)  # fmt: skip
def test_formulas_of_office(inside: str, text: str) -> None:
    assert linear(lxml.etree.fromstring(f"<m:oMath xmlns:m='x'>{inside}</m:oMath>")) == text
