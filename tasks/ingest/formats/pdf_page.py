"""A page of a PDF: its words as pdfium finds them, its lines, and those in the largest letters."""

import io
import re
import zlib
from collections import Counter
from collections.abc import Container, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.legible import fault_of_letters, looks_like_words
from tasks.ingest.formats.likeness import has_words
from tasks.ingest.formats.names import sensible_title
from tasks.ingest.formats.pdf_drawn import DrawnPage
from tasks.ingest.formats.picture import can_read_pictures, check_reader, text_in_picture
from tasks.text.english_words import is_word

_LINE_END_HYPHEN = "\ufffe"  # what pdfium makes of a hyphen and the end of its line
_SAME_LINE = 0.5  # of the lower of two boxes: so much of it is beside the other one
_WORD_GAP = 0.15  # of the height of letters: a wider gap divides words
_COLUMN_GAP = 1.0  # of the height of letters: a wider gap divides columns
_LARGER = 1.15  # a title's letters are at least this many times the page's usual size
_MEASURED = 8  # letters of a line whose size is measured
_SAMPLE = 64  # letters of a page of which is looked up whether their font explains them
_UNEXPLAINED = 0.3  # of them: a page with more is legible only if it looks like words
_SHOWN = 0.05  # of a page without words: pictures that cover so much are what it shows
_LIGATURES = ("ff", "fi", "fl", "ffi", "ffl")
_UNNAMED = re.compile("([A-Za-z]*)([\x01-\x08\x0b-\x1f])([A-Za-z]*)")
_BESIDE_NUMBER = re.compile(r"\A\d{1,5} (?=\S)|(?<=\S) (?=\d{1,5}\s*\Z)")
_DOTS = 200  # per inch, of a page that is read as a picture
# Operators that begin text or paint.
_DRAWS = re.compile(rb"(?<!\S)(?:BT\s[^(<]*[(<]|(?:Do|BI|sh|[SsfFBb]\*?)(?!\S))")
_CONTENT = re.compile(rb"/Contents ?\[?(?:\s*\d+ 0 R)+")
_LONGEST_CONTENT = 1_000_000  # bytes that are looked through


class Page(NamedTuple):
    """What is read of a page."""

    text: str  # one line of the page per line
    title: str = ""  # what stands out by its size
    sure: float | None = None  # 0 to 1, of text that is read from a picture


def read_page(document: Any, number: int, *, with_title: bool) -> Page:
    """Read a page of a PDF, numbered from zero, as a picture if it is one or not legible.

    Raises `RefusalError` for a page that is broken, and for one that only the extra `ocr` reads.
    """
    name = f"Page {number + 1}"
    try:
        page = document[number]
        words = page.get_textpage()
        drawn = DrawnPage(page, words)
        unseen = drawn.unseen_places(words.get_text_range())
        is_broken = not drawn.objects and _is_drawn_on(document, number)
    except (PdfiumError, ValueError, ArithmeticError):  # damage shows itself in many ways
        is_broken = True
    if is_broken:
        raise RefusalError(Reason.BAD_FORMAT, f"{name} is broken.")
    text = with_ligatures(text_of_page(words, unseen))
    fault = _fault(words, text)
    if not fault and (has_words(text) or drawn.share_of_pictures() < _SHOWN):
        return Page(text, in_large_letters(words, unseen) if with_title else "")
    if not fault or can_read_pictures():
        check_reader(name)
        text, sure = text_in_picture(page.render(scale=_DOTS / 72).to_numpy()[:, :, :3])
        if text or not fault:
            return Page(text, sure=sure) if text else Page("")
    raise RefusalError(Reason.ILLEGIBLE, f"{name} is not legible: {fault}.")


def _fault(words: Any, text: str) -> str:
    """Return why a text cannot be what the page shows, as a clause about it; else nothing."""
    count = words.count_chars()
    sample = range(0, count, max(1, count // _SAMPLE))
    unexplained = sum(pdfium.FPDFText_HasUnicodeMapError(words, n) == 1 for n in sample)
    if unexplained > _UNEXPLAINED * len(sample) and not looks_like_words(text):
        return "its font does not say which letters it draws"
    return fault_of_letters(text)


def _is_drawn_on(document: Any, number: int) -> bool:
    """Tell whether the content of a page draws something, or is damaged."""
    alone, file = PdfDocument.new(), io.BytesIO()
    alone.import_pages(document, [number])
    alone.save(file)
    numbers = re.findall(rb"\d+(?= 0 R)", b" ".join(_CONTENT.findall(file.getvalue())))
    for place in numbers:
        stream = rb"\s%s 0 obj\b.*?stream\r?\n(.*?)endstream" % place
        content = b"".join(re.findall(stream, file.getvalue(), re.DOTALL)[:1])
        try:
            content = zlib.decompressobj().decompress(content, _LONGEST_CONTENT)
        except zlib.error:  # as of a stream that cannot be unpacked
            return True
        if _DRAWS.search(content):
            return True
    return False


def text_of_page(words: Any, unseen: Container[int] = ()) -> str:
    """Return the text of a page, one line of it per line, but for the places `unseen`.

    A tab stands for a wide gap after a number that opens a line, or before one that ends it.
    """
    text = words.get_text_range()
    parts: list[str] = []
    start, last = 0, -1
    for line in text.split("\r\n"):
        places: Sequence[int] = range(start, start + len(line))
        start += len(line) + 2
        if unseen:
            places = [n for n in places if n not in unseen]
            line = "".join(text[n] for n in places)
            if not line.strip():
                continue
        if parts:
            parts.append(_between(words, text, last, places[0]) if line and last >= 0 else "\n")
        for gap in _BESIDE_NUMBER.finditer(line):
            at = gap.end() - 1
            if _between(words, text, places[at - 1], places[at + 1]) == "\n":
                line = f"{line[:at]}\t{line[at + 1 :]}"
        parts.append(line)
        last = places[-1] if line else -1
    return "".join(parts).replace(_LINE_END_HYPHEN, "-\n")


def with_ligatures(text: str) -> str:
    """Return a text with the ligatures that a font does not name, where English words show which.

    A character without meaning stands for the ligature that alone makes words of most it is in.
    """
    votes: Counter[tuple[str, str]] = Counter()
    for before, code, after in {*_UNNAMED.findall(text)}:
        words = {end: f"{before}{end}{after}".lower() for end in _LIGATURES}
        meant = [end for end, word in words.items() if len(word) > len(end) + 1 and is_word(word)]
        votes.update((code, end) for end in meant if len(meant) == 1)
    ligatures = {code: end for (code, end), _ in reversed(votes.most_common())}

    def written(word: re.Match[str]) -> str:
        ligature = ligatures.get(word[2], word[2]) if word[1] or word[3] else word[2]
        return word[1] + ligature + word[3]

    return _UNNAMED.sub(written, text) if ligatures else text


def in_large_letters(words: Any, unseen: Container[int] = ()) -> str:
    """Return the first lines in the largest letters of a page; empty if they do not stand out.

    A line has the size, in points, of most of its letters: an initial may be larger. The places
    `unseen` in the page's text do not count, nor do lines across the others, as in a margin.
    """
    page: Counter[tuple[bool, float]] = Counter()
    lines: list[tuple[tuple[bool, float], str]] = []
    text, start = words.get_text_range(), 0
    for line in text.split("\r\n"):
        seen = [n for n, c in enumerate(line, start) if c > " " and n not in unseen]
        step = max(1, len(seen) // _MEASURED)
        letters = Counter(_form(words, text, n) for n in seen[::step])
        lines += [(form, line) for form, _ in letters.most_common(1)]
        for form, number in letters.items():
            page[form] += number * step
        start += len(line) + 2
    if not lines:
        return ""
    (direction, usual), _ = page.most_common(1)[0]
    sizes = [(size, line) for (towards, size), line in lines if towards == direction]
    largest = max((size for size, _ in sizes), default=0.0)
    if largest < _LARGER * usual:
        return ""
    first = [size for size, _ in sizes].index(largest)
    title = takewhile(lambda line: line[0] == largest, sizes[first:])
    return sensible_title(" ".join(text for _, text in title))


def _between(words: Any, text: str, last: int, end: int) -> str:
    """Return what stands for a line's end: nothing or a space within what is one line to readers.

    pdfium also ends a line before and after an exponent, an index or the mark of a footnote.
    """
    before = last - text[last].isspace()
    if before < 0:
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


def _form(words: Any, text: str, place: int) -> tuple[bool, float]:
    """Return whether a letter stands upright, and its size in points, as scaled on the page."""
    matrix, character = pdfium.FS_MATRIX(), _character(words, text, place)
    pdfium.FPDFText_GetMatrix(words, character, matrix)
    size = pdfium.FPDFText_GetFontSize(words, character) * (matrix.d or matrix.b)
    return abs(matrix.d) > abs(matrix.b), round(abs(size), 1)


def _character(words: Any, text: str, place: int) -> int:
    """Return pdfium's number of a character of the page's text."""
    units = place if text.isascii() else len(text[:place].encode("utf-16-le")) // 2
    return int(pdfium.FPDFText_GetCharIndexFromTextIndex(words, units))
