"""What files say of themselves becomes metadata of their documents, and nothing else."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemas
from flows.commands.ask import place_of
from schemas.answers import Evidence
from schemas.row import Row
from schemas.settings import EngineSettings, Settings
from tasks.ask.documents import Documents
from tasks.ingest.blocks import BlockKind, blocks_of
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.names import title_of_text
from tasks.ingest.front_matter import front_matter_end, hides_labels, read_front_matter
from tasks.refresh import refresh
from tests.documents import make_book, make_dump, make_pdf, read_one
from warehouse.derivation import Derivation
from warehouse.home import Home

SETTINGS = Settings(engine=EngineSettings(encoder="none"), workers=1)
YAML = """---
title: "Tides: a history"
author: [Ada Lovelace, {name: Bob, email: b@x.org}]
date: 2020-01-05
tags: [sea, moon]
version: 1.10
api_key: hidden
source: https://user:hidden@x.org/a?token=hidden&page=2
nested: {deep: {deeper: 1}}
---
The tide is high.
"""
TOML = """+++
title = "Tides"
authors = ["Ada Lovelace"]
date = 2021-02-03T04:05:06Z
[taxonomies]
tags = ["sea"]
+++
The tide is high.
"""
BROKEN = """---
title: Tides: ebb: flow
authors: Ada & *Bob
date: March 3, 2020
---
The tide is high.
"""
MAIL = """From: Ada Lovelace <ada@x.org>
To: bob@x.org
Subject: Tides
 and ebbs
Date: Tue, 5 Jan 2021 10:00:00 +0100

The tide is high.
"""


@pytest.mark.parametrize(
    ("text", "title", "metadata"),
    [
        (YAML, "Tides: a history",
         {"author": "Ada Lovelace; Bob", "date": "2020-01-05", "source": "https://x.org/a?page=2",
          "tags": ["sea", "moon"], "version": "1.10"}),
        (TOML, "Tides",
         {"author": "Ada Lovelace", "date": "2021-02-03T04:05:06+00:00", "tags": ["sea"]}),
        ("---\n    title: Tides\n    tags: [ebb, sea]\n---\nThe tide is high.\n", "Tides",
         {"tags": ["ebb", "sea"]}),
        ("---\n  title: Tides: ebb\n  author: Ida Moe\n---\nThe tide is high.\n", "Tides: ebb",
         {"author": "Ida Moe"}),
        ("---\ntitle: Tides\nrevdate: 4 May 2020 by the board\n---\nThe tide is high.\n", "Tides",
         {"modified": "2020-05-04"}),
        (BROKEN, "Tides: ebb: flow", {"author": "Ada & *Bob", "date": "2020-03-03"}),
        (MAIL, "Tides and ebbs",
         {"author": "Ada Lovelace", "date": "2021-01-05T10:00:00+01:00", "to": "bob@x.org"}),
    ],
)  # fmt: skip
def test_front_matter_is_metadata_and_no_prose(
    tmp_path: Path, text: str, title: str, metadata: dict[str, object]
) -> None:
    (tmp_path / "a.md").write_text(text)
    read = read_one(tmp_path)
    assert (read.title, read.metadata) == (title, metadata)
    first, *rest = blocks_of(read.text)
    assert first.kind is BlockKind.METADATA
    assert [read.text[block.start : block.end] for block in rest] == ["The tide is high."]


@pytest.mark.parametrize(
    "text",
    [
        '---\ntitle: Travel\nauthor: Ida Moe\nexcerpt: "Book early,\nor stay."\n---\n\nWords.\n',
        "---\n\ntitle: Travel\nauthor: Ida Moe\n\n---\n\nWords.\n",
    ],
)
def test_a_quoted_value_in_front_matter_may_go_on_in_further_lines(text: str) -> None:
    assert text[front_matter_end(text) :].strip() == "Words."


@pytest.mark.parametrize(
    ("text", "words", "fields"),
    [
        ("/* Free.\n   Keep. */\n\n# Tides\n", "# Tides", {}),
        ("<!-- Free. -->\n/* Keep. */\n潮水很高。", "潮水很高。", {}),
        ("/* Free. */\n---\ntitle: Tides\n---\n\nWords.", "Words.", {"title": "Tides"}),
        ("---\ntitle: Tides\n---\n/* Free. */\n\nWords.", "Words.", {"title": "Tides"}),
        ("/* one */ Words. */", "/* one */ Words. */", {}),
        ("/* Words.", "/* Words.", {}),
    ],
)
def test_comments_above_a_text_are_front_matter(text: str, words: str, fields: dict) -> None:
    assert text[front_matter_end(text) :].strip() == words
    assert read_front_matter(text) == fields


def test_a_comment_in_front_matter_is_no_title() -> None:
    text = "---\n# Licence: free\ntype: guide\n---\n\n# Travel\n\nBook early.\n"
    assert title_of_text(text) == "Travel"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Cook&#8217;s Bay &amp; Tides\n---\n\nWords.", "Cook’s Bay & Tides"),
        ("Words.\n\n# Tides in C#\n", "Tides in C#"),
        ('# <a name="t"></a>[Tides](t.md)[^1]\n', "Tides"),
        ("# ![logo](logo.png)\n\n# Tides\n", "Tides"),
        ("```\n# install it\n```\n\nWords.\n", ""),
        ("## Tides\n\nWords.\n\n### Spring\n", "Tides"),
        ("## Tides\n\nWords.\n\n## Spring\n", ""),  # one of several parts
        ("Words.\n\n## Tides\n", ""),
    ],
)
def test_a_title_is_the_heading_above_all(text: str, title: str) -> None:
    assert title_of_text(text) == title


@pytest.mark.parametrize(
    "text",
    [
        "---\nThe tide is high.\n\n---\n\nIt falls.",
        "---\n\n# Tides\n\nNote: the tide is high.\n\n---\n\nIt falls.",
        "---\nNote: the tide is high.\nIt falls.\n---\n\nIt rises.",
        "Note: the tide is high.\nHint: it falls.\n\nWords",
        "---\n\n    port: 7000\n\n---\n\nIt falls.",
        "",
    ],
)
def test_a_rule_or_a_remark_is_no_front_matter(text: str) -> None:
    assert front_matter_end(text) == 0
    assert read_front_matter(text) == {}


def test_what_a_page_says_of_itself(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<html lang="en-GB"><head><title>Tides</title><meta name="author" content="Ada">'
        '<meta property="article:published_time" content="2020-02-03T00:00:00Z">'
        '<meta name="keywords" content="sea, moon"><meta name="csrf-token" content="hidden">'
        '<meta name="viewport" content="width=1"><script type="application/ld+json">'
        '{"@graph": [{"@type": "BlogPosting", "author": {"@type": "Person", "name": "Bob"},'
        ' "dateModified": "2021-01-01"}, {"@type": "Organization", "author": "Nobody"}]}</script>'
        '<script type="application/ld+json">{broken</script></head><body><p>The tide.</p></body>'
    )
    assert read_one(tmp_path).metadata == {
        "author": "Bob; Ada", "date": "2020-02-03T00:00:00Z", "language": "en-GB",
        "modified": "2021-01-01", "tags": ["sea", "moon"],
    }  # fmt: skip


@pytest.mark.parametrize("number", ["9" * 9_000, "0x" + "f" * 9_000])
def test_a_number_too_long_to_write_is_left_out(number: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"+++\nauthor = 'Ada'\nn = {number}\n+++\nThe tide is high.\n")
    (tmp_path / "a.jsonl").write_text(f'{{"text": "The tide.", "date": {"9" * 9_000}}}')
    assert read_one(tmp_path / "a.md").metadata["author"] == "Ada"
    assert read_one(tmp_path / "a.jsonl").metadata == {}


def test_what_office_documents_say_of_themselves(tmp_path: Path) -> None:
    from datetime import datetime

    import docx
    import openpyxl
    import pptx

    document, show, book = docx.Document(), pptx.Presentation(), openpyxl.Workbook()
    document.add_paragraph("The tide is high.")
    show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = "The tide"
    book.active.append(["The tide"])
    for properties in (document.core_properties, show.core_properties):
        properties.author, properties.keywords = "Ada", "sea; moon"
    book.properties.creator, book.properties.keywords = "Ada", "sea; moon"
    for file, made in (("a.docx", document), ("a.pptx", show), ("a.xlsx", book)):
        core = book.properties if file == "a.xlsx" else made.core_properties
        core.created = core.modified = datetime(2020, 1, 5)
        made.save(str(tmp_path / file))
        metadata = read_one(tmp_path / file).metadata
        assert (metadata["author"], metadata["tags"]) == ("Ada", ["sea", "moon"])
        assert metadata["date"].startswith("2020-01-05T00:00:00")


def test_what_books_dumps_records_and_pdf_say_of_themselves(tmp_path: Path) -> None:
    title = "Tides</dc:title><dc:creator>Ada</dc:creator><dc:title>"
    (tmp_path / "a.epub").write_bytes(make_book(title, "<p>The tide.</p>"))
    assert read_one(tmp_path / "a.epub").metadata == {"author": "Ada"}
    dump = make_dump(("Tide", 0, "The tide is high. [[Category:Sea|x]]"))
    stamp = "<timestamp>2020-01-05T00:00:00Z</timestamp>"
    (tmp_path / "a.xml").write_text(dump.replace("</contributor>", f"</contributor>{stamp}"))
    wanted = {"modified": "2020-01-05T00:00:00Z", "tags": ["Sea"]}
    assert read_one(tmp_path / "a.xml").metadata == wanted
    record = {"id": 1, "text": "The tide.", "author": "Ada", "password": "hidden", "score": 4}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    assert read_one(tmp_path / "a.jsonl").metadata == {"author": "Ada"}
    pdf = make_pdf(["The tide."], title="Tides")
    pdf = pdf.replace(b"/Title (Tides)", b"/Title (Tides) /Author (Ada) /CreationDate (D:20200105)")
    (tmp_path / "a.pdf").write_bytes(pdf)
    assert read_one(tmp_path / "a.pdf").metadata == {"author": "Ada", "date": "2020-01-05T00:00:00"}


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("words", "date"),
    [
        ("2021-02-30", ""), ("2021-13", ""), ("UNKNOWN-DATE", ""), ("Mon, 30 Feb 2021", ""),
        ("2021-02-28T25:00:00", "2021-02-28"), ("2021-02", "2021-02"),
        ("2021年2月3日", "2021-02-03"),
        ("Summer 2021", "2021"), ("Posted on 3 May 2021", "2021-05-03"),
    ],
)  # fmt: skip
def test_only_what_can_be_a_date_is_one(words: str, date: str) -> None:
    fields = [("date", words), ("created", "1999-01-01")]
    assert described(fields) == {"date": date or "1999-01-01"}


@given(st.dictionaries(st.sampled_from(["author", "tags", "date", "x"]) | st.text(), ANY))
def test_metadata_of_anything_is_small_and_plain(fields: dict[str, object]) -> None:
    metadata = described(fields.items())
    assert json.loads(json.dumps(metadata)) == metadata
    assert all(isinstance(value, str) for name, value in metadata.items() if name != "tags")
    assert described(metadata.items()).keys() <= metadata.keys()


def test_metadata_is_bounded_and_clean() -> None:
    many = [(f"field {number}", "x" * 10_000) for number in range(10_000)]
    metadata = described([("tags", ["a"] * 10_000), ("author", "A\u202eda\x00"), *many])
    assert len(json.dumps(metadata)) < 30_000
    assert metadata["author"] == "Ada"


@pytest.mark.parametrize("unit", ["[", "{", "a: ", "- ", "&a [*a", "? ", "'", "a:\n ", "X: y\n"])
@pytest.mark.parametrize("fence", ["---", "+++"])
def test_hostile_front_matter_is_read_in_bounded_time(unit: str, fence: str) -> None:
    text = f"{fence}\nlabel: b\n{unit * (15_000 // len(unit))}\n{fence}\n"
    started = time.process_time()
    read_front_matter(text)
    hides_labels(text * 20)
    assert time.process_time() - started < 5


def test_labels_less_indented_than_the_field_above_are_not_overlooked() -> None:
    text = "---\n  title: Tides\nlabels: [board]\n---\n\nThe tide is high.\n"
    assert hides_labels(text)
    assert not hides_labels(text.replace("\nlabels", "\n  labels"))


def test_changed_metadata_changes_the_document_alone(tmp_path: Path) -> None:
    page = "<html><head><meta name='author' content='{}'></head><p>Brest is a port.</p></html>"
    source, home = tmp_path / "corpus", Home(tmp_path / "home")
    source.mkdir()
    (source / "a.html").write_text(page.format("Ada"))
    refresh(home, [str(source)], SETTINGS)
    (source / "a.html").write_text(page.format("Bob Smith"))
    refresh(home, [str(source)], SETTINGS)
    with home.editions.current().pinned() as edition:
        documents = pq.read_table(edition.parquet(schemas.Document))
        changes = pq.read_table(edition.parquet(schemas.Change)).to_pylist()
    assert json.loads(documents["metadata"][0].as_py()) == {"author": "Bob Smith"}
    assert [(row["fact_kind"], row["kind"]) for row in changes] == [("document", "changed")]


def test_an_edition_without_the_column_is_a_parent(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(own_home)
    with home.editions.current().pinned() as edition:
        path = edition.parquet(schemas.Document)
        older = pq.read_table(path).drop_columns(["metadata"])
        pq.write_table(older, tmp_path / path.name)

        class Older:
            def parquet(self, row: type[Row]) -> Path:
                return tmp_path / path.name if row is schemas.Document else edition.parquet(row)

        for few in (0, len(older)):  # a table of few rows is handed over, another one viewed
            monkeypatch.setattr("warehouse.derivation.FEW_ROWS", few)
            derivation = Derivation(home.journal, home.journal.position, home.scratch)
            derivation.compare_with(Older())
            metadata = derivation.table("parent_documents")["metadata"]
            assert metadata.to_pylist() == [None] * len(older)
            derivation.close()


def test_the_sources_of_an_answer_have_author_and_date(tmp_path: Path) -> None:
    columns = {
        "document_id": ["d", "e"],
        "uri": ["d", "e"],
        "title": ["", ""],
        "sensitivity": ["normal", "normal"],
        "page_starts": [[0, 10], None],
        "source": ["file", "file"],
        "read_at": [datetime.now(UTC)] * 2,
        "metadata": [None, '{"author": "Ada", "date": "2020-01-05T10:00:00"}'],
    }
    pq.write_table(pa.table(columns), tmp_path / "documents.parquet")
    passage = {"text": "The tide.", "kind": "passage", "span_start": 12, "score": 1}
    evidence = [
        Evidence.model_validate({**passage, "document_id": name, "uri": name})
        for name in ("d", "e", None)
    ]
    found = Documents(tmp_path).completed(evidence)
    places = [place_of(place) for place in found]
    assert places == ["d, page 2", "e, Ada, 2020-01-05", "corpus"]
