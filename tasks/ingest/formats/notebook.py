"""Jupyter notebooks: the text around the code, without the code and what it printed."""

from typing import Any, BinaryIO

import orjson

from tasks.ingest.formats.cleaning import decode
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import read_whole


def parse_notebook(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the Markdown cells of a notebook; raises `RefusalError` for other JSON."""
    try:
        notebook = orjson.loads(decode(read_whole(file, limits)))
        sheets = notebook.get("worksheets") or [notebook]  # of version 3
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        text = "\n\n".join(filter(None, map(_text, cells)))
        fields = notebook.get("metadata", {}).items()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RefusalError(Reason.BAD_FORMAT, "It is no notebook.") from error
    if cells and not text.strip():
        sentence = "It holds code and what the code printed, and no words about it."
        raise RefusalError(Reason.EMPTY, sentence)
    yield ParsedText(text=text, metadata=described(fields, only_known=True))


def _text(cell: Any) -> str:
    source = cell.get("source") or ""
    words = source if isinstance(source, str) else "".join(source)
    if cell.get("cell_type") == "heading":  # of version 3
        return f"{'#' * int(cell.get('level') or 1)} {words}"
    return words if cell.get("cell_type") == "markdown" else ""
