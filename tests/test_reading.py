"""Plain text, webpages, dumps of wikis, records and feeds give their text, packed or not."""

import bz2
import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.settings import ReadSettings, Settings
from tasks.ingest.formats.inputs import ReadText, Reason, Refusal, Removal
from tasks.ingest.ingest import Ingestion
from tasks.refresh import pending_work
from tests.documents import make_dump, make_pdf, read_all, read_one, texts, write_texts
from warehouse.home import Home


def test_markdown_title_is_its_first_top_heading(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("intro\n\n# Marie *Curie* #\n\n## Life\n", encoding="utf-8")
    assert read_one(tmp_path).title == "Marie Curie"


@pytest.mark.parametrize("breaks", ["\n", "\r\n"])
def test_a_webpage_has_the_title_and_fields_of_its_front_matter(
    tmp_path: Path, breaks: str
) -> None:
    page = "---\ntitle: The ebb\nauthor: Ida Moe\n---\n<h2>Low</h2>\n<p>The <b>sea</b> falls.</p>\n"
    (tmp_path / "low-water.html").write_text(page, newline=breaks)
    (tmp_path / "ruled.html").write_text("--- <p>The sea rises.</p>")
    read, ruled = read_all(tmp_path)
    assert (read.title, read.metadata) == ("The ebb", {"author": "Ida Moe"})
    body = "The ebb\nauthor: Ida Moe\n---\n\n## Low\n\nThe sea falls."
    assert read.text.removeprefix("---\ntitle: ") == body
    assert "The sea rises." in ruled.text


def test_a_text_too_short_to_tell_is_in_the_language_that_it_states(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<html lang="en-GB"><body><p>Orr Vane 1934</p></body></html>')
    (tmp_path / "b.html").write_text('<html lang="en"><body>船到了。</body></html>')
    (tmp_path / "c.md").write_text("---\nlayout: the page of the site\n---\n\n船到了。\n")
    assert [read.language for read in read_all(tmp_path)] == ["en", "zh", "zh"]


def test_title_of_a_text_without_headings_comes_from_its_name(tmp_path: Path) -> None:
    (tmp_path / "marie-curie_notes.txt").write_text("She was born in Warsaw.")
    assert read_one(tmp_path).title == "Marie Curie Notes"


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: >\n  Tides of\n  Brest\nauthor: A", "Tides of Brest"),
        ("title:\n  Tides of\n  Brest", "Tides of Brest"),
        ('title: "Tides"', "Tides"),
    ],
)
def test_a_title_in_front_matter_may_go_on(tmp_path: Path, front: str, title: str) -> None:
    (tmp_path / "a.md").write_text(f"---\n{front}\n---\n\nThe sea rises twice a day.\n")
    assert read_one(tmp_path).title == title


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_unicode_encodings_are_detected(tmp_path: Path, encoding: str) -> None:
    text = "The head of the house was in the garden for an hour."
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    read = read_one(tmp_path)
    assert (read.text, read.language) == (text, "en")


LEGACY = [
    ("cp1252", "Le château était à côté de la forêt où les élèves sont. " * 4),
    ("gb18030", "居里夫人出生于华沙，是一位著名的物理学家和化学家。" * 8),
    ("cp1251", "Мария Кюри родилась в Варшаве и была известным физиком. " * 4),
    ("shift_jis", "マリー・キュリーはワルシャワで生まれた物理学者である。" * 8),
]


@pytest.mark.parametrize(("charset", "text"), LEGACY)
def test_bytes_of_no_declared_charset_are_refused_and_never_guessed(
    tmp_path: Path, charset: str, text: str
) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode(charset))
    (refusal,) = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.BAD_ENCODING
    assert "not valid UTF-8" in refusal.text and "charset" in refusal.text
    (read,) = read_all(tmp_path, ReadSettings(charset=charset))
    assert isinstance(read, ReadText) and read.text == text


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("iso2022_jp", "潮位は毎時 9 m である。\n港は古い。"),
        ("iso2022_kr", "항구는 오래되었다."),
        ("hz", "港口建于1807年。~ 是波浪号。"),
    ],
)
def test_letters_that_are_switched_on_are_decoded(tmp_path: Path, charset: str, text: str) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode(charset))
    assert read_one(tmp_path).text == text


@pytest.mark.parametrize("written", [b"It is \x1b$BD,)!\x1b(B.", b"It is ~{VPND~} ~x"])
def test_a_text_whose_switched_letters_are_broken_is_refused(
    tmp_path: Path, written: bytes
) -> None:
    (tmp_path / "a.txt").write_bytes(written)
    (refusal,) = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.BAD_ENCODING


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("\x1b[1;31mLow\x1b[0m \x1b]0;tides\x07water\x1b(B", "Low water"),
        ("\x1b]8;;https://lenz.example\x1b\\Lenz\x1b]8;;\x1b\\ is old", "Lenz is old"),
        ("L\bLO\bOW\bW _\bt_\bide" * 5, "LOW tide" * 5),
        ("a \beta of \x1bDay", "a eta of Day"),
    ],
)
def test_what_a_terminal_carries_out_is_not_read(tmp_path: Path, printed: str, text: str) -> None:
    (tmp_path / "a.txt").write_text(printed)
    assert read_one(tmp_path).text == text


def test_a_charset_in_the_settings_is_the_one_that_browsers_mean(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("①の㈱", encoding="cp932")
    (read,) = read_all(tmp_path, ReadSettings(charset="shift_jis"))
    assert isinstance(read, ReadText) and read.text == "①の㈱"


def test_a_text_in_another_charset_than_that_of_the_settings_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        "潮汐表由海軍工程師於1807年製成，每十分鐘記錄一次。", encoding="big5"
    )
    (refusal,) = read_all(tmp_path, ReadSettings(charset="gbk"))
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.BAD_ENCODING
    assert "another charset than GB18030" in refusal.text
    (tmp_path / "a.txt").write_bytes(b"\x81 is of no letter")
    (refusal,) = read_all(tmp_path, ReadSettings(charset="cp1252"))
    assert isinstance(refusal, Refusal) and "not valid CP1252" in refusal.text


def test_a_charset_in_the_settings_does_not_touch_what_is_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Élève à l'école", encoding="utf-8")
    rows = f"1,{'plain' * 200}\n" * 160
    (tmp_path / "b.csv").write_text(f"id,text\n{rows}2,Élève\n", "utf-8")
    read = read_all(tmp_path, ReadSettings(charset="cp1252"))
    assert isinstance(read[0], ReadText) and read[0].text == "Élève à l'école"
    assert isinstance(read[-1], ReadText) and read[-1].text == "Élève"
    with pytest.raises(ValueError, match="no-such is not a known charset"):
        ReadSettings(charset="no-such")


def test_invisible_characters_go_and_nothing_else(tmp_path: Path) -> None:
    written = "a\u200bb\u202ec \ue0041\U000e0041d\xa0e\r\nf\x00g\x07 cafe\u0301 “q” — …\ufeff\n"
    (tmp_path / "a.txt").write_text(written, encoding="utf-8", newline="")
    assert read_one(tmp_path).text == "abc \ue0041d e\nfg café “q” — …\n"


def test_words_count_characters_of_chinese(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("她出生于Warsaw城。", encoding="utf-8")
    assert read_one(tmp_path).words == 6


PAGE = """<!doctype html><html><head><title>Marie Curie - Some Site</title>
<style>.gone, #away { display : none } p {color: red}</style><script>var secret1;</script></head>
<body><!-- secret2 --><nav><a href="/">Home</a></nav><h1>Marie Curie</h1>
<p>She was <b>born</b> in <cite>Warsaw</cite> then.</p>
<p style="display: none">secret3</p><p hidden>secret4</p>
<div class="gone">secret5</div><div id="away">secret6</div><p style="font-size:0px">secret7</p>
<span style="visibility:hidden">secret8</span><p aria-hidden="true">secret9</p>
<h2>Life</h2><ul><li>Paris</li><li>Sceaux</li></ul>
<table><tr><th>Year</th><th>Prize</th></tr><tr><td>1903</td><td>Physics</td></tr></table>
<noscript>secret10</noscript><template>secret11</template></body></html>"""


def test_webpage_gives_what_a_reader_sees(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(PAGE)
    read = read_one(tmp_path)
    assert read.title == "Marie Curie"
    assert "secret" not in read.text and "Home" not in read.text
    for seen in ("# Marie Curie\n", "## Life\n", "She was born in Warsaw then.",
                 "- Paris\n- Sceaux", "1903 | Physics"):  # fmt: skip
        assert seen in read.text


def test_webpage_in_a_declared_encoding(tmp_path: Path) -> None:
    page = '<html><head><meta charset="windows-1250"></head><body><p>Łódź leży</p></body></html>'
    (tmp_path / "a.htm").write_bytes(page.encode("cp1250"))
    assert "Łódź leży" in read_one(tmp_path).text


@pytest.mark.parametrize(
    ("label", "charset", "words"),
    [
        ("Shift_JIS", "cp932", "髙い①の㈱"), ("x-sjis", "cp932", "①"),
        ("EUC-KR", "cp949", "똠방각"),
        ("ks_c_5601-1987", "cp949", "똠방각"), ("big5", "big5hkscs", "嘅喺度"),
        ("gb2312", "gb18030", "朱镕基"), ("euc-jp", "euc_jis_2004", "①番"),
        ("iso-8859-9", "cp1254", "“İstanbul” €5"), ("tis-620", "cp874", "ไทย…"),
        ("iso-2022-jp", "iso2022_jp", "東京"), ("us-ascii", "cp1252", "“é”"),
    ],
)  # fmt: skip
def test_a_charset_is_the_one_that_browsers_mean(
    tmp_path: Path, label: str, charset: str, words: str
) -> None:
    page = f"<!-- <meta charset=koi8-r> --><meta charset={label}><p>{words}</p>"
    (tmp_path / "a.html").write_bytes(page.encode(charset))
    assert read_one(tmp_path).text == words


def test_a_byte_order_mark_counts_more_than_a_declaration(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<meta charset=big5><p>Élève</p>", encoding="utf-8-sig")
    assert read_one(tmp_path).text == "Élève"


def test_a_broken_character_is_one_character(tmp_path: Path) -> None:
    page = f"<meta charset=utf-8><p>{'A long text. ' * 20}caf".encode() + b"\xe9.</p>"
    (tmp_path / "a.html").write_bytes(page)
    assert read_one(tmp_path).text.endswith("caf\ufffd.")


def test_declared_charsets_count_as_browsers_read_them(tmp_path: Path) -> None:
    page = "<html><head>{}</head><body><p>“Élève”</p></body></html>"
    meta = page.format('<meta charset="iso-8859-1">')
    (tmp_path / "a.html").write_bytes(meta.encode("cp1252"))
    declared = '<?xml version="1.0" encoding="windows-1252"?>' + page.format("")
    (tmp_path / "b.xhtml").write_bytes(declared.encode("cp1252"))
    (tmp_path / "c.html").write_bytes(page.format("").encode("cp1252"))
    (tmp_path / "d.html").write_bytes(page.format('<meta charset="utf-8">').encode("cp1252"))
    read = read_all(tmp_path)
    assert [getattr(one, "reason", one.text) for one in read] == [
        "“Élève”", "“Élève”", Reason.BAD_ENCODING, Reason.BAD_ENCODING,
    ]  # fmt: skip


def test_gzip_of_every_format_reads_as_the_format(tmp_path: Path) -> None:
    plain: dict[str, bytes] = {
        "a.txt": b"plain text", "b.md": b"# Head\n\ntext", "c.html": PAGE.encode(),
        "d.pdf": make_pdf(["Some words."]), "e.json": b'{"text": "json text"}',
        "f.jsonl": b'{"text": "line"}\n', "g.csv": b"id,text\n1,cell\n",
        "h.xml": make_dump(("A", 0, "Article text.")).encode(),
    }  # fmt: skip
    for name, data in plain.items():
        (tmp_path / name).write_bytes(data)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
    found = texts(tmp_path)
    packed = {uri.replace(".gz", ""): text for uri, text in found.items() if ".gz" in uri}
    assert packed == {uri: text for uri, text in found.items() if ".gz" not in uri}
    assert len(packed) == len(plain)


ARTICLE = """{{Infobox scientist|name=Marie Curie|birth_date={{birth date|1867|11|7}}
|birth_place=[[Warsaw]], [[Poland]]|image=x.jpg}}
'''Marie Curie''' ({{IPA|x}}) was a [[physicist|great physicist]]<ref>a note</ref>.<!-- hidden -->
[[File:x.jpg|thumb|a [[caption]]]]
== Life ==
* Paris
* Sceaux, {{convert|5|km}} away
{| class="wikitable"
! Year !! Prize
|-
| 1903 || Physics
|}
=== Death ===
She died&nbsp;in 1934. [[Category:People]]"""


@pytest.mark.parametrize("name", ["w.xml", "w.xml.gz", "w.xml.bz2"])
def test_wiki_dump(tmp_path: Path, name: str) -> None:
    pages = ("Marie Curie", 0, ARTICLE), ("Talk:A", 1, "talk"), ("R", 0, "#REDIRECT [[A]]")
    data = make_dump(*pages, ("Bohr", 0, "A Dane.")).encode()
    packed = {"gz": gzip.compress, "bz2": bz2.compress}.get(name.rpartition(".")[2], bytes)(data)
    (tmp_path / name).write_bytes(packed)
    curie, bohr = read_all(tmp_path)
    assert isinstance(curie, ReadText) and isinstance(bohr, ReadText)
    assert (curie.uri, curie.title, curie.version) == (f"{name}#Marie Curie", "Marie Curie", "901")
    assert curie.text == (
        "name: Marie Curie\nbirth date: 1867-11-07\nbirth place: Warsaw, Poland\n\n"
        "Marie Curie was a great physicist.\n\na caption\n\n## Life\n\n- Paris\n"
        "- Sceaux, 5 km away\n\n| Year | Prize |\n| --- | --- |\n| 1903 | Physics |\n\n"
        "### Death\n\nShe died in 1934."
    )
    assert bohr.text == "A Dane."


def test_a_broken_dump_gives_what_came_before_and_says_that_it_ends(tmp_path: Path) -> None:
    whole = make_dump(("A", 0, "First article."), ("B", 0, "x" * 200_000))
    (tmp_path / "w.xml").write_text(whole[:150_000])
    first, last = read_all(tmp_path)
    assert first.uri == "w.xml#A"
    assert (last.uri, getattr(last, "reason", None)) == ("w.xml", Reason.BAD_FORMAT)


# -- records of JSON, tables and Parquet, and feeds of changes ------------------------------------


def test_json_object_is_one_text_and_a_list_many(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"title": "One", "text": "the only text"}')
    (tmp_path / "b.json").write_text('[{"text": "first"}, {"text": "second", "id": "x"}]')
    (tmp_path / "c.json").write_text('{"total": 1, "rows": [{"text": "inside"}]}')
    found = {"a.json": "the only text", "b.json#1": "first", "b.json#x": "second"}
    assert texts(tmp_path) == found | {"c.json#1": "inside"}


def test_json_lines_refuse_only_bad_lines(tmp_path: Path) -> None:
    lines = ['{"text": "good", "id": 7}', "{broken", '{"other": 1}', '{"text": "  "}', "[1]"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    good, *bad = read_all(tmp_path)
    assert good.uri == "a.jsonl#7"
    assert [(one.uri, one.reason) for one in bad if isinstance(one, Refusal)] == [
        ("a.jsonl#2", Reason.BAD_FORMAT), ("a.jsonl#3", Reason.NO_TEXT_COLUMN),
        ("a.jsonl#4", Reason.EMPTY), ("a.jsonl#5", Reason.BAD_FORMAT),
    ]  # fmt: skip


def test_a_file_without_one_good_record_is_refused_whole(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text('{"other": 1}\n' * 50)
    (refusal,) = read_all(tmp_path)
    assert (refusal.uri, refusal.reason) == ("a.ndjson", Reason.NO_TEXT_COLUMN)


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
def test_tables(tmp_path: Path, name: str, mark: str) -> None:
    rows = "id|Title|text", '1|Curie|"Warsaw, and; more"', "2|Bohr|Physics"
    (tmp_path / name).write_text("\r\n".join(rows).replace("|", mark), newline="")
    one, two = read_all(tmp_path)
    assert isinstance(one, ReadText)
    assert (one.uri, one.title, one.text) == (f"{name}#1", "Curie", "Warsaw, and; more")
    assert two.uri == f"{name}#2"


def test_table_in_a_legacy_encoding_and_without_text_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id,text\n1,Élève à l'école\n".encode("latin-1"))
    (tmp_path / "b.csv").write_text(f"id,body\n1,{'A long text. ' * 20}\n")
    refusal, _ = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.BAD_ENCODING
    one, two = read_all(tmp_path, ReadSettings(charset="latin-1"))
    assert isinstance(one, ReadText) and one.text == "Élève à l'école"
    assert isinstance(two, Refusal) and two.reason is Reason.NO_TEXT_COLUMN
    assert "body" in two.text and "text_column under [read]" in two.text


def test_same_names_of_records_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\nx,one\nx,two\n")
    assert texts(tmp_path) == {"a.csv#x": "one", "a.csv#x~2": "two"}


def test_parquet_is_read_by_column(tmp_path: Path) -> None:
    rows = {"text": [f"text {n}" for n in range(200)], "id": list(range(200)), "v": [0.5] * 200}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet", row_group_size=50)
    found = texts(tmp_path)
    assert len(found) == 200
    assert found["a.parquet#199"] == "text 199"


def test_text_column_is_a_setting(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "the text"}\n')
    (one,) = read_all(tmp_path, ReadSettings(text_column="body"))
    assert isinstance(one, ReadText) and one.text == "the text"


def test_record_hash_depends_on_what_is_read_alone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "t", "id": 1, "views": 1}\n')
    (tmp_path / "b.jsonl").write_text('{"views": 2, "id": 1, "text": "t"}\n')
    one, two = read_all(tmp_path)
    assert isinstance(one, ReadText) and isinstance(two, ReadText)
    assert one.sha256 == two.sha256


CHANGES: list[dict[str, Any]] = [
    {"uri": "a", "text": "old a", "op": "upsert", "version": 9},
    {"uri": "b", "text": "b", "op": "upsert", "version": 1},
    {"uri": "a", "text": "new a", "op": "upsert", "version": 10},
    {"uri": "b", "text": None, "op": "delete", "version": 2},
    {"uri": "a", "text": "older a", "op": "upsert", "version": 3},
]


@pytest.mark.parametrize("name", ["feed.jsonl", "feed.parquet"])
def test_change_feed_the_newest_version_counts(tmp_path: Path, name: str) -> None:
    if name.endswith("jsonl"):
        (tmp_path / name).write_text("\n".join(json.dumps(change) for change in CHANGES))
    else:
        pq.write_table(pa.Table.from_pylist(CHANGES), tmp_path / name)
    text, removal = read_all(tmp_path)
    assert isinstance(text, ReadText)
    assert (text.uri, text.text, text.version) == ("a", "new a", "10")
    assert removal == Removal("b", "2")


def test_change_feed_of_unknown_operations(tmp_path: Path) -> None:
    changes = [{"uri": "a", "op": "explode"}, {"uri": "", "op": "upsert"}, CHANGES[1]]
    (tmp_path / "f.jsonl").write_text("\n".join(json.dumps(change) for change in changes))
    reasons = [one.reason for one in read_all(tmp_path) if isinstance(one, Refusal)]
    assert reasons == [Reason.BAD_FORMAT, Reason.BAD_FORMAT]


def brought_up_to_date(home: Home, folder: Path) -> Ingestion:
    """Read what has changed in a folder, without publishing it."""
    ingestion = Ingestion(home, str(folder), "run", Settings(), sensitive=False)
    list(ingestion.read_all())
    return ingestion


def held(home: Home, folder: Path) -> list[str]:
    """Return the texts of the corpus, of which none is split yet."""
    brought_up_to_date(home, folder)
    return pending_work(home, Settings()).contents["text"].to_pylist()


def write_change(folder: Path, name: str, **change: Any) -> None:
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"op": "upsert", "uri": "pier", **change}) + "\n")


@settings(max_examples=40)
@given(
    st.lists(st.booleans(), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=5, max_size=5),
)
def test_changes_end_in_the_highest_version_in_any_order_and_files(kept, random, places) -> None:
    changes = list(enumerate(kept, 1))
    random.shuffle(changes)
    with TemporaryDirectory() as temporary:
        folder, home = Path(temporary) / "feed", Home(Path(temporary) / "home")
        folder.mkdir()
        for (version, is_kept), (name, read_now) in zip(changes, places, strict=False):
            change = {"text": f"Pier {version} is open."} if is_kept else {"op": "delete"}
            write_change(folder, f"{name}.jsonl", version=version, **change)
            if read_now:
                brought_up_to_date(home, folder)
        last = [f"Pier {len(kept)} is open."]
        assert held(home, folder) == (last if kept[-1] else [])


@pytest.mark.parametrize("flaw", [{"op": "explode"}, {"text": None}, {"text": " "}])
def test_a_refused_change_leaves_the_document(tmp_path: Path, home: Home, flaw: Any) -> None:
    folder = tmp_path / "feed"
    folder.mkdir()
    write_change(folder, "a.jsonl", version=1, text="The pier is open.")
    write_change(folder, "a.jsonl", version=2, **{"text": "The pier is closed.", **flaw})
    assert held(home, folder) == ["The pier is open."]
    write_change(folder, "b.jsonl", version=3, **{"text": "The pier is closed.", **flaw})
    assert brought_up_to_date(home, folder).counts["refused"] == 1
    assert held(home, folder) == ["The pier is open."]


def test_a_record_of_a_file_has_the_version_that_the_file_gives(tmp_path: Path, home: Home) -> None:
    folder = tmp_path / "packages"
    for version in ("10", "9"):
        text = f"The pier has release {version}."
        write_texts(folder, {"a.jsonl": json.dumps({"id": 1, "version": version, "text": text})})
        brought_up_to_date(home, folder)
    assert held(home, folder) == ["The pier has release 9."]
