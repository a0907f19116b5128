"""PDF files: the text of their pages, where each page begins, and their title."""

import ctypes
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, BinaryIO

from tasks.ingest.formats.cleaning import clean
from tasks.ingest.formats.hidden_markup import drop_hidden_markup
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.names import given, sensible_title
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits, refused
from tasks.ingest.formats.pdf_page import read_page
from tasks.ingest.formats.picture import recognised
from tasks.ingest.formats.unpacking import read_whole
from tasks.text.languages import HAN_OR_KANA_CLASS

_SQUARES = Path(__file__).with_name("squares.ttf")  # made by recipes/square_font.py
_EAST_ASIAN = (128, 129, 134, 136)  # pdfium's numbers of Japanese, Korean and Chinese charsets
_LOWER = "a-z\u00df-\u00ff"
_HYPHENATED = re.compile(rf"([{_LOWER}]{{1,40}})-[ \t]*\n(?=([{_LOWER}]+))")
_COMPOUND = re.compile(rf"[{_LOWER}]{{1,40}}-(?=([{_LOWER}]+))")
_ENDS_HYPHENATED = re.compile(rf"[{_LOWER}]-\Z")
_ENDS_MID_SENTENCE = re.compile(r"[a-z,-]\Z")
_PROPERTIES = {
    "Author": "author",
    "CreationDate": "date",
    "ModDate": "modified",
    "Keywords": "keywords",
    "Subject": "description",
}
_DATES = ("%Y%m%d%H%M%S%z", "%Y%m%d%H%M%S", "%Y%m%d%H%M", "%Y%m%d", "%Y%m", "%Y")
_EDGE = 3  # lines at the top and at the bottom of a page
_FEWEST_HEADS = 3  # pages that repeat a line
# The number of a page in a line: named, or apart from other words, as `text_of_page` marks it.
_PAGE = re.compile(
    r"(?:\b(?:page|p\.)|第) ?\d{1,5}(?: ?页)?(?: ?(?:of|/) ?\d{1,5})?"
    r"|(?:\A|[\t|·•])[\W_]{0,9}(\d{1,5})(?: ?(?:of|/) ?\d{1,5})?[\W_]{0,9}(?:\Z|[\t|·•])",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"[\W_]*#(-?\d*)#[\W_]*")  # the shape of a line that is such a number
# A short line between a sentence's end and another sentence.
_HEADING_LINE = re.compile(r"(?<=[.!?])\n([A-Z0-9][^\n.!?:;,]{2,60})\n(?=[A-Z])")
# "3.2 Data types": a section's number and its title.
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.? ([A-Z][^\n]{2,90}[^\s.,;:])")
_FEWEST_SECTIONS = 3
_BULLET = re.compile(r"(?m)^[ \t]*[•●▪■◦‣⁃\uf0b7\uf0a7\uf0d8\uf076\uf0fc][ \t]*(?=\S)")
_STARTS_ITEM = re.compile(r"- \S|[(\[]?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)\]] ")
_NUMBER = re.compile(r"[(+\-–−]?[$€£]?\d[\d.,:/]*%?\)?|[-–—*.]{1,3}|n\.?a\.?", re.IGNORECASE)
_FEWEST_NUMBERS = 3  # in a line of a table
_WIDE_SCRIPT = re.compile(f"[{HAN_OR_KANA_CLASS}]")
_STOPS = (".", "!", "?")
_ROOM = 0.75  # of the width of a page's lines: a line that ends before it ended on purpose


def parse_pdf(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the text of all pages with blank lines between; words hyphenated at line ends join.

    Pages that cannot be read are refused one by one, as records of the name `page N`. The title
    comes from the metadata if it is sensible, else from the lines in the largest letters on the
    first page with words if they stand out. Raises `RefusalError` for an encrypted file, and if no
    page can be read.
    """
    from pypdfium2 import PdfDocument, PdfiumError
    from pypdfium2.raw import FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY

    _draw_missing_letters()
    if limits.compression:
        file = io.BytesIO(read_whole(file, limits))
    try:
        document = PdfDocument(file)
    except PdfiumError as error:
        if error.err_code in (FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY):
            raise RefusalError(Reason.ENCRYPTED, "It needs a password.") from None
        raise
    pages: list[str] = []
    problems: list[ParsedText] = []
    sure: dict[int, float] = {}  # of text in pictures, by page
    length, title = 0, ""
    with document:
        properties = document.get_metadata_dict()
        for number in range(len(document)):
            text = ""
            try:
                page = read_page(document, number, with_title=not length)
                text, title = drop_hidden_markup(clean(page.text)).strip(), title or page.title
                if page.sure is not None:
                    sure[number + 1] = page.sure
            except RefusalError as refusal:
                problems.append(refused(f"page {number + 1}", refusal.reason, refusal.text))
            pages.append(text)
            length += len(text)
            if length > limits.max_text_chars:
                break
            yield None
    if problems and not length:
        of_pages = f"None of its {len(pages)} pages can be read; " if len(pages) > 1 else ""
        raise RefusalError(Reason(problems[0].reason), of_pages + problems[0].sentence)
    yield from problems
    text, starts = _joined(_with_headings(_without_running_heads(pages)))
    yield ParsedText(
        title=sensible_title(properties["Title"]) or title,
        text=text,
        page_starts=starts,
        metadata=described([*_described(properties), recognised(sure)]),
    )


@cache
def _draw_missing_letters() -> Any:
    """Have pdfium draw letters of East Asian fonts that a file does not bring as squares.

    It would leave out letters without a shape that stand alone, and machines differ in fonts.
    pdfium reads what is returned as long as the process lives.
    """
    from pypdfium2.raw import FPDF_SYSFONTINFO, FPDF_SetSystemFontInfo

    font = _SQUARES.read_bytes()

    def map_font(_info: Any, _weight: int, _italic: int, charset: int, *_more: Any) -> int | None:
        return 1 if charset in _EAST_ASIAN else None

    def font_data(_info: Any, _font: Any, table: int, buffer: Any, size: int) -> int:
        if size >= len(font) and not table:
            ctypes.memmove(buffer, font, len(font))
        return 0 if table else len(font)

    types = dict(FPDF_SYSFONTINFO._fields_)
    calls = {"MapFont": map_font, "GetFontData": font_data}
    info = FPDF_SYSFONTINFO(1, **{name: types[name](call) for name, call in calls.items()})
    FPDF_SetSystemFontInfo(ctypes.byref(info))
    return info


def _described(properties: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield the file's properties under their common names, without defaults and invalid dates."""
    for name, common in _PROPERTIES.items():
        value = given(properties[name])
        yield common, _date(value) if name.endswith("Date") else value


def _date(value: str) -> datetime | None:
    """Return the time that a property states as `D:20200105120000+01'00'` or a part of it."""
    digits = re.sub(r"Z.*", "Z", value.removeprefix("D:").replace("'", ""))
    for form in _DATES:
        with suppress(ValueError):
            return datetime.strptime(digits, form)
    return None


def _without_running_heads(pages: list[str]) -> list[str]:
    """Return the pages without page numbers, and with each running head once.

    A running head is a line at an edge that more than a third of the pages repeat, but for the
    number of the page: left and right pages may have different ones. The copy that stays is the
    first around which no sentence continues. Numbers that are the whole text stay.
    """
    lines = [page.split("\n") for page in pages]
    shapes = [[_shape(line, number) for line in page] for number, page in enumerate(lines)]
    times = Counter(shape for page in shapes for shape in {*page[:_EDGE], *page[-_EDGE:]} - {""})
    filled = sum(any(page) for page in shapes)
    numbers = {shape for shape, n in times.items() if len(pages) > 1 and _is_number(shape, n)}
    often = {shape for shape, n in times.items() if n >= _FEWEST_HEADS and 3 * n > filled}
    parts: list[tuple[range, range, range]] = []
    homes: dict[str, tuple[bool, int]] = {}
    for number, (page, some) in enumerate(zip(lines, shapes, strict=True)):
        start = _opening(some[:_EDGE], often | numbers)
        end = len(some) - _opening(some[start:][: -_EDGE - 1 : -1], often | numbers)
        parts.append((range(start), range(start, end), range(end, len(some))))
        begins, ends = page[start:end][:1], page[start:end][-1:]
        for edge, goes_on in (
            (some[:start], any(line[:1].islower() for line in begins)),
            (some[end:], any(map(_ENDS_MID_SENTENCE.search, ends))),
        ):
            for shape in {*edge} - numbers:
                homes[shape] = min(homes.get(shape, (True, number)), (goes_on, number))
    left = []
    for number, (top, middle, bottom) in enumerate(parts):
        for place in (*top, *bottom):
            is_home = homes.get(shapes[number][place], (False, -1))[1] == number
            lines[number][place] = _PAGE.sub(" ", lines[number][place]) if is_home else ""
        kept = ([lines[number][place] for place in part] for part in (top, middle, bottom))
        words = ("\n".join(some).strip() for some in kept)
        left.append("\n\n".join(filter(None, words)).replace("\t", " "))
    return left if any(left) else pages


def _opening(shapes: list[str], wanted: set[str]) -> int:
    """Return how many shapes before the first other one are wanted."""
    return sum(1 for _ in takewhile(wanted.__contains__, shapes))


def _shape(line: str, page: int) -> str:
    """Return a line with the number of a page as what it is more than the page's place."""

    def counted(number: re.Match[str]) -> str:
        return f" #{int(number[1]) - page if number[1] else ''}# "

    return one_line(_PAGE.sub(counted, line))


def _is_number(shape: str, times: int) -> bool:
    """Tell whether a line is the number of its page: named, its place, or one that counts on."""
    number = _COUNTED.fullmatch(shape)
    return number is not None and (times > 1 or number[1] in ("", "1"))


def _with_headings(pages: list[str]) -> list[str]:
    """Return the pages with the numbered titles of sections as headings.

    The numbers of sections continue through the document, and text follows each title. The numbers
    of list items begin with one again, and the items follow each other directly.
    """
    lines = [page.split("\n") for page in pages]
    places = [(page, place) for page, of in enumerate(lines) for place in range(len(of))]
    last: tuple[int, ...] = (0,)
    listed = -1  # the last number that did not count a section
    headings: dict[tuple[int, int], int] = {}
    for (page, place), after in pairwise([*places, (0, 0)]):
        match = _NUMBERED.fullmatch(lines[page][place].strip())
        if match is None:
            continue
        number = tuple(map(int, match[1].split(".")))
        below = lines[after[0]][after[1]]
        next_number = _NUMBERED.match(below)
        starts_text = below[:1].isupper() and not next_number
        starts_part = next_number is not None and next_number[1].startswith(f"{match[1]}.")
        in_order = number in [(*last[:n], last[n] + 1) for n in range(len(last))] + [(*last, 1)]
        if in_order and (starts_text or starts_part) and number != (listed + 1,):
            headings[page, place] = len(number)
            last, listed = number, -1
        elif len(number) == 1:
            listed = number[0]
    for (page, place), depth in headings.items() if len(headings) >= _FEWEST_SECTIONS else ():
        lines[page][place] = f"\n{'#' * (depth + 1)} {lines[page][place].strip()}\n"
    return ["\n".join(page).strip("\n") for page in lines]


def _in_paragraphs(page: str) -> str:
    """Return a page with blank lines between paragraphs, and around other lines.

    A line with room for the word after it ended on purpose, as headings, addresses and captions do.
    Rows of numbers have bars, as those of a table without headers.
    """
    # An indent is a place on the page; Markdown would take it for code.
    lines = [line.strip() for line in _BULLET.sub("- ", page).split("\n")]
    lengths = sorted(len(line) for line in lines if line)
    long = [length for length in lengths if 2 * length > lengths[-1]]
    if len(long) < 3:
        return "\n".join(lines)
    width = _ROOM * long[len(long) // 2]
    parts: list[str] = []
    for place, line in enumerate(lines):
        numbers = _is_row(line)
        parts.append(_row(line) if numbers else line)
        after = lines[place + 1] if place + 1 < len(lines) else ""
        if line and after:
            apart = numbers != _is_row(after) or (not numbers and _ends_here(line, after, width))
            parts.append("\n\n" if apart else "\n")
        else:
            parts.append("\n")
    return "".join(parts).strip()


def _is_row(line: str) -> bool:
    words = line.split()
    numbers = sum(_NUMBER.fullmatch(word) is not None for word in words)
    ends = all(map(_NUMBER.fullmatch, words[-_FEWEST_NUMBERS:]))
    return numbers >= _FEWEST_NUMBERS and (ends or 2 * numbers > len(words))


def _row(line: str) -> str:
    """Return a row of numbers with bars around its cells: a label before numbers is one of them."""
    words = line.replace("|", "/").split()
    label = len(words) - sum(1 for _ in takewhile(_NUMBER.fullmatch, reversed(words)))
    label = label if label <= len(words) - _FEWEST_NUMBERS else 0
    cells = [" ".join(words[:label])] * (label > 0) + words[label:]
    return f"| {' | '.join(cells)} |"


def _ends_here(line: str, after: str, width: float) -> bool:
    """Tell whether a paragraph ends with a line, so that the line after it begins another."""
    if _STARTS_ITEM.match(after):
        return True
    if after[0].islower() or line.endswith(("-", ",")) or _WIDE_SCRIPT.search(line):
        return False
    if line.endswith(_STOPS) and not after.endswith(_STOPS) and len(after) < width:
        return True  # a heading below the last line
    return len(line) + 1 + len(after.split(maxsplit=1)[0]) < width


def _joined(pages: list[str]) -> tuple[str, list[int]]:
    """Join the pages into one text; return it with the offset of each page.

    A sentence that continues on the next page continues in the text. A word that is divided at the
    end of a line keeps its hyphen if it has one elsewhere in the text.
    """
    compounds = {match[0] + match[1] for page in pages for match in _COMPOUND.finditer(page)}

    def whole(divided: re.Match[str]) -> str:
        compound = f"{divided[1]}-"
        return compound if compound + divided[2] in compounds else divided[1]

    parts: list[str] = []
    starts: list[int] = []
    length, last, empty = 0, "", 0
    for page in pages:
        page = _HEADING_LINE.sub(r"\n\n\1\n\n", _HYPHENATED.sub(whole, _in_paragraphs(page)))
        if not page:
            empty += 1
            continue
        continues = page[0].islower()
        if continues and _ENDS_HYPHENATED.search(last):
            parts[-1] = parts[-1][:-1]
            length -= 1
        elif parts:
            gap = "\n" if continues and _ENDS_MID_SENTENCE.search(last) else "\n\n"
            parts.append(gap)
            length += len(gap)
        starts += [length] * (empty + 1)
        parts.append(page)
        length, last, empty = length + len(page), page[-2:], 0
    starts += [length] * empty
    return "".join(parts), starts
