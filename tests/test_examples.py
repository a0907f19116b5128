"""The sample corpus keeps what its README promises, and its questions can be answered from it."""

import csv
import gzip
import html
import io
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from tasks.text.languages import HAN

EXAMPLES = Path(__file__).parent.parent / "examples"
CORPUS = EXAMPLES / "corpus"
CHANGES = EXAMPLES / "changes"
MAX_BYTES = 20_000

Document = tuple[str, str]  # title, text


def _titled(text: str) -> Document:
    first, _, rest = text.partition("\n")
    return first.removeprefix("# ").strip(), rest


def _records(path: Path) -> list[Document]:
    """Return the documents of one file, read as simply as its format allows."""
    if path.suffix == ".docx":
        from docx import Document as Word

        return [_titled("\n".join(p.text for p in Word(str(path)).paragraphs))]
    if path.suffix == ".pdf":
        from pypdf import PdfReader

        return [_titled("\n".join(page.extract_text() for page in PdfReader(path).pages))]
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in text.splitlines()]
        return [(row["title"], row["text"]) for row in rows]
    if path.suffix == ".csv":
        return [(row["title"], row["text"]) for row in csv.DictReader(io.StringIO(text))]
    if path.suffix == ".html":
        article = re.search(r"<h1>(.*?)</h1>(.*)</article>", text, re.DOTALL)
        assert article is not None
        return [(article[1], html.unescape(re.sub(r"<[^>]+>", " ", article[2])))]
    return [_titled(text)]


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return [document for path in _files(CORPUS) for document in _records(path)]


@pytest.fixture(scope="module")
def texts(documents: list[Document]) -> dict[str, str]:
    return {title: _normal(text) for title, text in documents}


@pytest.fixture(scope="module")
def questions() -> list[dict]:
    lines = (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_counts_are_those_of_the_readme(documents):
    """The README and `almanac demo` speak of these numbers."""
    distinct = set(documents)
    chinese = [text for _, text in distinct if sum(map(len, HAN.findall(text))) > len(text) / 2]
    assert (len(documents), len(distinct), len(chinese)) == (114, 113, 21)
    assert len({title for title, _ in documents}) == 112


def test_files_are_small_and_named_plainly():
    """Names work on every file system; a reader opens each file at a glance."""
    for path in _files(CORPUS) + _files(CHANGES):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)+", path.name), path
        assert path.stat().st_size < MAX_BYTES, path


def test_documents_have_the_length_of_an_encyclopedia_entry(documents):
    """Nothing is a stub and nothing is so long that the demo slows down."""
    for title, text in documents:
        length = sum(map(len, HAN.findall(text))) / 1.5 + len(re.findall(r"[A-Za-z]+", text))
        assert 100 <= length <= 650, (title, length)


def test_every_format_is_there():
    """The demo shows each kind of input that needs no extra data."""
    suffixes = {path.suffix for path in _files(CORPUS)}
    assert suffixes == {".md", ".txt", ".html", ".jsonl", ".csv", ".docx", ".pdf", ".gz"}


def test_questions_are_complete_and_balanced(questions):
    """Forty questions of four kinds, each with what the form asks for."""
    assert len({question["id"] for question in questions}) == len(questions) == 40
    assert len({question["question"] for question in questions}) == 40
    tasks = {"one_hop": 16, "two_hop": 10, "comparison": 6, "unanswerable": 8}
    assert Counter(question["task"] for question in questions) == tasks
    for question in questions:
        is_chinese = bool(HAN.search(question["question"]))
        assert question["language"] == ("zh" if is_chinese else "en")
        assert bool(question["answers"]) == bool(question["gold"])
        assert bool(question["answers"]) == (question["task"] != "unanswerable")
    assert sum(question["language"] == "zh" for question in questions) == 9


def test_gold_documents_hold_the_answers(questions, texts):
    """Every accepted form stands in a gold document; a second hop names a second document."""
    for question in questions:
        assert set(question["gold"]) <= texts.keys(), question["id"]
        if question["task"] == "one_hop":
            assert len(question["gold"]) == 1
        elif question["gold"]:
            assert len(question["gold"]) == 2
        if question["task"] in ("one_hop", "two_hop"):
            held = [texts[title] for title in question["gold"]]
            for answer in question["answers"]:
                assert any(_normal(answer) in text for text in held), (question["id"], answer)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("companies/intel.md", "Intel is Pat Gelsinger", "Intel is Lip-Bu Tan"),
        ("astronomy/saturn.md", "146 known moons", "274 known moons"),
    ],
)
def test_a_change_replaces_one_paragraph(name, old, new):
    """A refresh after the change has one passage to extract anew, not a whole document."""
    before, after = (
        (folder / name).read_text(encoding="utf-8").split("\n\n") for folder in (CORPUS, CHANGES)
    )
    differing = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert len(differing) == 1
    assert old in differing[0][0] and new in differing[0][1]
    assert new not in "\n\n".join(before) and old not in "\n\n".join(after)


def test_changes_and_duplicates_belong_to_the_corpus():
    """Copying the changes over the corpus adds no file; the duplicates are what they claim."""
    for path in _files(CHANGES):
        assert (CORPUS / path.relative_to(CHANGES)).is_file(), path
    copy, original = CORPUS / "archive/voyager-1.txt", CORPUS / "astronomy/voyager-1.txt"
    assert copy.read_bytes() == original.read_bytes()
    edited, first = (
        (CORPUS / folder / "danube.md").read_text(encoding="utf-8").split()
        for folder in ("archive", "geography")
    )
    assert sum(a != b for a, b in zip(edited, first, strict=True)) == 3


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("louis-pasteur.txt", "medicine/louis-pasteur.docx"),
        ("edward-jenner.txt", "medicine/edward-jenner.pdf"),
        ("roald-amundsen.txt", "explorers/roald-amundsen.txt.gz"),
    ],
)
def test_binary_documents_say_what_their_sources_say(source, written):
    """An edited source needs `python examples/make_binary.py`, or the two drift apart."""
    expected = (EXAMPLES / "sources" / source).read_text(encoding="utf-8").replace("## ", "")
    assert " ".join(expected.split()) == " ".join(
        part for field in _records(CORPUS / written)[0] for part in field.split()
    )


def test_the_hidden_comment_is_false_and_stays_hidden(documents):
    """The page tempts a careless reader with a wrong birthplace that no visible text holds."""
    page = (CORPUS / "literature/jane-austen.html").read_text(encoding="utf-8")
    assert "born in Liverpool" in re.findall(r"<!--(.*?)-->", page, re.DOTALL)[0]
    assert not any("Liverpool" in text for _, text in documents)
