"""The words that an office file's own XML holds, found without the readers that are measured.

Words that people do not see are left out: deleted, struck and hidden ones, comments, notes of
speakers, tables of contents, names of fields, numbers of slides, and what old programs repeat.
"""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

TEXTS = re.compile(r"word/(document\d*|footnotes|endnotes)\.xml|ppt/slides/slide\d+\.xml")
DATA = re.compile(r"(word|ppt)/(charts/chart(Ex)?\d*|diagrams/data\d*)\.xml")
NOT_SEEN = (
    "del", "moveFrom", "Fallback", "rt", "tracked-changes", "annotation", "notes", "ruby-text",
    "table-of-content", "hidden-text", "hidden-paragraph", "forms", "delText", "bibliography",
    "page-number", "page-count", "note-citation", "externalData",
)  # fmt: skip
FRACTION = re.compile(r"-?\d+\.\d{15,}")
CONTENTS = re.compile(r"(TOC|Contents|toc)\s?\d", re.IGNORECASE)


def words_of_package(path: Path) -> str | None:
    """Return the words of a package, a line for each paragraph; None where it cannot be opened."""
    try:
        with zipfile.ZipFile(path) as package:
            names = package.namelist()
            if "content.xml" in names:
                root = etree.fromstring(package.read("content.xml"))
                return "\n".join(_paragraphs(root.find("{*}body"), ("p", "h")))
            roots = [(n, etree.fromstring(package.read(n))) for n in names if TEXTS.fullmatch(n)]
            lines = [line for _, r in roots if _is_shown(r) for line in _paragraphs(r, ("p",))]
            for name in filter(DATA.fullmatch, names):
                ends = ("p",) if "diagrams" in name else ("v", "p")
                # A chart repeats the labels for each series.
                lines += set(_paragraphs(etree.fromstring(package.read(name)), ends))
            return "\n".join(lines) if roots else None
    except (zipfile.BadZipFile, etree.XMLSyntaxError, OSError, RuntimeError, NotImplementedError):
        # Broken, encrypted or packed unusually: nothing to compare with, and counted as such.
        return None


def _is_shown(root: Any) -> bool:
    return root.get("show", "1") not in ("0", "false")


def _paragraphs(root: Any, ends: tuple[str, ...]) -> Iterator[str]:
    """Yield the words up to the end of each element that is named."""
    words: list[str] = []
    for event, element in _seen(root):
        name = etree.QName(element).localname
        plain = name in ("t", "v") or "opendocument" in element.tag
        if event == "start":
            words.append(_own(element, name) if plain else " " * (name in ("br", "tab", "s")))
            continue
        if name in ends:
            yield "".join(words)
            words = []
        words.append(element.tail or "" if "opendocument" in element.tag else "")
    yield "".join(words)


def _own(element: Any, name: str) -> str:
    """Return an element's own words; a binary fraction without the digits that it adds."""
    words = element.text or ""
    return f"{float(words):.15g}" if name == "v" and FRACTION.fullmatch(words) else words


def _seen(root: Any) -> Iterator[tuple[str, Any]]:
    walk = etree.iterwalk(root, events=("start", "end"), tag="{*}*")
    skipped = None
    for event, element in walk:
        if event == "start" and skipped is None and _is_unseen(element):
            walk.skip_subtree()
            skipped = element
        if skipped is None:
            yield event, element
        elif event == "end" and element is skipped:
            skipped = None


def _is_unseen(element: Any) -> bool:
    is_name = "svg-compatible" in element.tag  # of a picture
    name = etree.QName(element).localname
    if is_name or name in NOT_SEEN or element.get("type") == "slidenum":
        return True
    if element.find("{*}sdtPr/{*}showingPlcHdr") is not None:
        return True
    run = element.find("{*}rPr")
    if run is not None:
        marks = [run.find(f"{{*}}{name}") for name in ("vanish", "strike", "dstrike")]
        on = [m for m in marks if m is not None and "0" not in m.attrib.values()]
        return bool(on) or run.get("strike", "noStrike") != "noStrike"
    style = element.find("{*}pPr/{*}pStyle")
    return style is not None and bool(CONTENTS.match(next(iter(style.attrib.values()))))
