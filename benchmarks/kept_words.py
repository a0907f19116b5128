"""The words of other people's files that reading keeps: of those that another source has.

    python -m benchmarks.kept_words --kind office [FOLDER ...] [--part report] [--listed 20]

Without FOLDER the files are those of `foreign/KIND` in the benchmark data. The kinds are: office
(the words in a package's own XML); sheets (the texts of the cells that are seen, by openpyxl);
pages (those of `expected.html`, which a folder of mozilla/readability's tests holds beside each
`source.html`, without formulas); pdf (the words that pdfminer.six and pypdf both find). A file
belongs to one of three parts by the hash of its name, a page by that of its folder's: `tune` is
looked at while the readers are written, `choose` decides between two ways, and `report` is counted
alone. Without --part, all are read. Words are compared as often as they occur, in small letters
and NFKC, whatever their order; a Chinese or Japanese character is a word.
"""

import hashlib
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.command import data, parser_of, report, run_command
from benchmarks.pdf_words import words_of_pdf
from benchmarks.sheet_words import words_of_sheets
from benchmarks.xml_words import words_of_package
from schemas.settings import ReadSettings
from tasks.ingest.formats.inputs import ReadText, Refusal
from tasks.ingest.formats.read import read_item
from tasks.ingest.formats.sources import scan

PARTS = ("tune", "choose", "report")
FEW = 0.8  # a file that keeps fewer words needs a reason
PAGE = "source.html"
SOFT_HYPHEN = "\xad"
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])\w)+")


OFFICE = [
    *("docx", "docm", "dotx", "dotm", "pptx", "pptm", "potx", "potm", "ppsx", "ppsm"),
    *("odt", "ott", "odp", "otp"),
]


def words_of_page(path: Path) -> str | None:
    """Return the words of the main text that the folder of a page states; None for another file."""
    import lxml.html

    if path.name != PAGE:
        return None
    page = lxml.html.document_fromstring(path.with_name("expected.html").read_text("utf-8"))
    unread = list(page.iter("script", "style", "svg", "math", "button", "iframe", "sup"))
    for element in unread:
        if element.getparent() is not None:
            element.drop_tree()
    return " ".join(page.itertext())


class Kind(NamedTuple):
    """Files that are measured in the same way: their endings, and the words that they hold."""

    endings: frozenset[str]
    words: Callable[[Path], str | None]


KINDS = {
    "office": Kind(
        frozenset(OFFICE),
        words_of_package,
    ),
    "sheets": Kind(
        frozenset({"xlsx", "xlsm", "xltx", "xltm", "ods", "ots"}),
        words_of_sheets,
    ),
    "pages": Kind(frozenset({"html"}), words_of_page),
    "pdf": Kind(frozenset({"pdf"}), words_of_pdf),
}


class Kept(NamedTuple):
    """What reading kept of a file: words, and the reason where it was refused."""

    name: str
    words: int
    kept: int
    reason: str

    @property
    def share(self) -> float:
        """The share of the words that was kept."""
        return self.kept / self.words


def counted(text: str) -> Counter[str]:
    """Return how often each word occurs in a text."""
    plain = unicodedata.normalize("NFKC", text.replace(SOFT_HYPHEN, "")).casefold()
    return Counter(WORD.findall(plain))


def name_of(path: Path) -> str:
    """Return the name of a file or, for a page whose name says nothing, of its folder."""
    return path.parent.name if path.name == PAGE else path.name


def part_of(path: Path) -> str:
    """Return the part that a file belongs to, by the hash of its name."""
    return PARTS[hashlib.sha256(name_of(path).encode()).digest()[0] % len(PARTS)]


def kept_of(path: Path, stated: str) -> Kept:
    """Return what reading a file keeps of the words that are stated."""
    outcomes = [o for item in scan(str(path)).items for o in read_item(item, ReadSettings())]
    read = counted("\n".join(o.text for o in outcomes if isinstance(o, ReadText)))
    words = counted(stated)
    reasons = {f"{o.reason}: {o.text}" for o in outcomes if isinstance(o, Refusal)}
    return Kept(name_of(path), words.total(), (words & read).total(), "; ".join(sorted(reasons)))


def main() -> bool:
    """Run the benchmark and write its results; true if a file keeps less than .98 on average."""
    parser = parser_of(__doc__, part="", listed=0)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("folders", nargs="*", type=Path)
    arguments = parser.parse_args()
    kind = KINDS[arguments.kind]
    folders = arguments.folders or [data("foreign", arguments.kind)]
    paths = sorted(path for folder in folders for path in folder.rglob("*"))
    files, without, seconds = [], 0, 0.0
    for path in paths:
        wanted = arguments.part in ("", part_of(path))
        if not wanted or path.suffix[1:].lower() not in kind.endings:
            continue
        if not (stated := kind.words(path)) or not WORD.search(stated):
            without += 1
            continue
        start = time.perf_counter()
        files.append(kept_of(path, stated))
        seconds += time.perf_counter() - start
    worst = sorted((file for file in files if file.share < 1), key=lambda file: file.share)
    figures: dict[str, Any] = {
        "part": arguments.part or "all",
        "files": len(files),
        "files_without_words_to_compare": without,
        "refused": sum(bool(file.reason) for file in files),
        "words": sum(file.words for file in files),
        "kept": sum(file.kept for file in files) / max(sum(file.words for file in files), 1),
        "kept_per_file": sum(file.share for file in files) / max(len(files), 1),
        "files_below_.8": sum(file.share < FEW for file in files),
        "seconds": seconds,
        "worst": [(file.name, file.words, file.share, file.reason) for file in worst],
    }
    figures["worst"] = figures["worst"][: arguments.listed]
    report(f"kept-words-{arguments.kind}", figures)
    return figures["kept_per_file"] < 0.98


if __name__ == "__main__":
    run_command(main)
