"""The words of a PDF page, as pdfium finds them: its lines, and those in the largest letters."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import takewhile
from typing import Any

from tasks.ingest.formats.names import sensible_title

_LINE_END_HYPHEN = "\ufffe"  # what pdfium makes of a hyphen and the end of its line
_LINE_END = re.compile("\r\n")
_SAME_LINE = 0.5  # of the lower of two boxes: so much of it is beside the other one
_WORD_GAP = 0.15  # of the height of letters: a wider gap divides words
_COLUMN_GAP = 1.0  # of the height of letters: a wider gap divides columns
_LARGER = 1.15  # a title's letters are at least this many times the page's usual size
_LOST = 3  # text objects in a row without a width; a single one may be a space


def text_of_page(page: Any, words: Any, read_otherwise: Callable[[], str]) -> str:
    """Return the text of a page, one line of it per line.

    pdfium leaves characters out that are placed one by one in a font that neither the file nor the
    machine has, as Chinese ones often are: such a page is `read_otherwise`.
    """
    if _loses_words(page, words):
        return read_otherwise()
    text = words.get_text_range()
    parts: list[str] = []
    done = 0
    for end in _LINE_END.finditer(text):
        parts += [text[done : end.start()], _between(words, text, *end.span())]
        done = end.end()
    return "".join([*parts, text[done:]]).replace(_LINE_END_HYPHEN, "-\n")


def in_large_letters(words: Any) -> str:
    """Return the first lines in the largest letters of a page; empty if they do not stand out.

    A line has the size, in points, of most of its letters: an initial may be larger.
    """
    page: Counter[float] = Counter()
    sizes: list[tuple[float, str]] = []
    text, start = words.get_text_range(), 0
    for line in text.split("\r\n"):
        letters = Counter(_size(words, text, start + n) for n, c in enumerate(line) if c > " ")
        sizes += [(size, line) for size, _ in letters.most_common(1)]
        page += letters
        start += len(line) + 2
    largest = max((size for size, _ in sizes), default=0.0)
    if not sizes or largest < _LARGER * page.most_common(1)[0][0]:
        return ""
    first = [size for size, _ in sizes].index(largest)
    title = takewhile(lambda line: line[0] == largest, sizes[first:])
    return sensible_title(" ".join(text for _, text in title))


def _between(words: Any, text: str, start: int, end: int) -> str:
    """Return what stands for a line's end: nothing or a space within what is one line to readers.

    pdfium also ends a line before and after an exponent, an index or the mark of a footnote.
    """
    before = start - 1 - (text[start - 1].isspace())
    if before < 0 or end == len(text):
        return "\n"
    left, bottom, right, top = words.get_charbox(_character(words, text, before), loose=True)
    box = words.get_charbox(_character(words, text, end), loose=True)
    next_left, next_bottom, _, next_top = box
    lower = min(top - bottom, next_top - next_bottom)
    height, gap = max(top - bottom, next_top - next_bottom), next_left - right
    is_beside = min(top, next_top) - max(bottom, next_bottom) >= _SAME_LINE * lower
    if not is_beside or next_left < left or gap > _COLUMN_GAP * height:
        return "\n"
    return " " if gap > _WORD_GAP * height else ""


def _size(words: Any, text: str, place: int) -> float:
    """Return the size of a letter in points, as scaled on the page."""
    from pypdfium2.raw import FS_MATRIX, FPDFText_GetFontSize, FPDFText_GetMatrix

    matrix, character = FS_MATRIX(), _character(words, text, place)
    FPDFText_GetMatrix(words, character, matrix)
    return round(abs(FPDFText_GetFontSize(words, character) * (matrix.d or matrix.b)), 1)


def _character(words: Any, text: str, place: int) -> int:
    """Return pdfium's number of a character of the page's text."""
    from pypdfium2.raw import FPDFText_GetCharIndexFromTextIndex

    units = place if text.isascii() else len(text[:place].encode("utf-16-le")) // 2
    return int(FPDFText_GetCharIndexFromTextIndex(words, units))


def _loses_words(page: Any, words: Any) -> bool:
    """Tell whether the page has text in which pdfium sees no letters."""
    from pypdfium2.raw import FPDF_PAGEOBJ_TEXT, FPDFPage_CountObjects

    if 2 * FPDFPage_CountObjects(page) < words.count_chars():
        return False  # placed in words or lines
    lost = 0
    for placed in page.get_objects(filter=[FPDF_PAGEOBJ_TEXT]):
        left, _, right, _ = placed.get_bounds()
        is_lost = right - left < 0.01 and not placed.get_font().is_embedded
        lost = lost + 1 if is_lost else 0
        if lost == _LOST:
            return True
    return False
