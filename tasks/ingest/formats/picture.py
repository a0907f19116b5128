"""Pictures of text: scanned pages and images, which the extra `ocr` reads."""

import io
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from statistics import median
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from schemas.extras import pip_command
from tasks.ingest.formats.cleaning import clean
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import read_whole

_LARGEST = 4_000  # pixels of either side
_FEWEST = 3  # lines of a column
_COLUMN = 8.0  # times their height: how wide the lines of a column are
_INSIDE = 0.25  # of its height: so far within its box a line is sure to have letters


class Line(NamedTuple):
    """A line of text in a picture: its box in pixels from the top left, and how sure it is."""

    left: float
    top: float
    right: float
    bottom: float
    text: str
    confidence: float


def text_in_picture(picture: np.ndarray) -> tuple[str, float]:
    """Return the text of a picture, a line of it per line, and how sure it is, 0 to 1.

    The picture has the shape (height, width, 3): blue, green, red. It needs the extra. Raises
    `RefusalError` if the models fail, as for want of memory.
    """
    try:
        found = _engine()(picture)
    except Exception as error:  # of the library, of the models' runtime, or of OpenCV
        sentence = f"Its reader of pictures failed ({type(error).__name__})."
        raise RefusalError(Reason.BAD_FORMAT, sentence) from error
    if not found.txts:
        return "", 0.0
    lines = []
    for corners, text, confidence in zip(found.boxes, found.txts, found.scores, strict=True):
        (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
        within = _INSIDE * (bottom - top)
        lines.append(Line(left, top + within, right, bottom - within, text, confidence))
    sure = sum(len(line.text) * line.confidence for line in lines)
    rows = (" ".join(line.text for line in row) for row in rows_of_page(lines))
    return clean("\n".join(rows)), sure / sum(len(line.text) for line in lines)


def can_read_pictures() -> bool:
    """Tell whether the extra is installed."""
    return find_spec("rapidocr") is not None


def check_reader(name: str) -> None:
    """Raise `RefusalError` about the picture of this name if the extra is not installed."""
    if not can_read_pictures():
        sentence = f"{name} is a picture; {pip_command('ocr')} adds what reads its text."
        raise RefusalError(Reason.PICTURE, sentence)


def parse_picture(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the text of an image file, that of its pages with blank lines between."""
    check_reader("It")
    from PIL import Image, ImageOps, ImageSequence

    pages, sure = [], {}
    with Image.open(io.BytesIO(read_whole(file, limits))) as image:
        for number, frame in enumerate(ImageSequence.Iterator(image), 1):
            seen = ImageOps.exif_transpose(frame).convert("RGBA")
            seen.thumbnail((_LARGEST, _LARGEST))
            paper = Image.new("RGBA", seen.size, "white")
            picture = np.array(Image.alpha_composite(paper, seen).convert("RGB"))[:, :, ::-1]
            text, sure[number] = text_in_picture(picture)
            pages.append(text)
            yield None
    starts = [0, *accumulate(len(page) + 2 for page in pages[:-1])]
    yield ParsedText(
        text="\n\n".join(pages), page_starts=starts, metadata=described([recognised(sure)])
    )


def recognised(sure: Mapping[int, float]) -> tuple[str, str]:
    """Return the field of a document's metadata that says how sure the text of its pictures is."""
    return "recognised", "; ".join(f"page {page}: {share:.2f}" for page, share in sure.items())


@cache
def _engine() -> Any:
    """Return the models for English and Chinese, which come with the library."""
    from rapidocr import RapidOCR

    threads = {"intra_op_num_threads": 1, "inter_op_num_threads": 1}
    options = {f"EngineConfig.onnxruntime.{name}": value for name, value in threads.items()}
    return RapidOCR(params={"Global.log_level": "critical", **options})


def rows_of_page(lines: list[Line]) -> Iterator[list[Line]]:
    """Yield the rows of a page, one column after another (XY cut: Nagy and Seth 1984)."""
    across = sorted(lines)
    for n, right in enumerate(accumulate((line.right for line in across), max), 1):
        columns = across[:n], across[n:]
        apart = min(map(len, columns)) >= _FEWEST and right < columns[1][0].left
        if apart and all(map(_is_column, columns)):
            yield from rows_of_page(columns[0])
            yield from rows_of_page(columns[1])
            return
    down = sorted(lines, key=lambda line: line.top)
    bottoms = accumulate((line.bottom for line in down), max)
    pairs = zip(down[1:], bottoms, strict=False)
    gaps = ((after.top - bottom, n) for n, (after, bottom) in enumerate(pairs, 1))
    gap, n = max(gaps, default=(0.0, 0))
    if gap > 0:
        yield from rows_of_page(down[:n])
        yield from rows_of_page(down[n:])
    else:
        yield across


def _is_column(lines: list[Line]) -> bool:
    """Tell whether lines are long, as those of prose; cells of a table are read row by row."""
    return median((one.right - one.left) / (one.bottom - one.top) for one in lines) > _COLUMN
