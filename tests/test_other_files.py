"""Mails, notebooks, subtitles and articles give their words; code and drawings are refused."""

import base64
import json
from pathlib import Path

import docx
import pytest

from schemas.settings import Settings
from tasks.ingest.blocks import BlockKind, blocks_of
from tasks.ingest.formats.inputs import ReadText, Reason, Refusal
from tasks.refresh import refresh
from tests.documents import make_dump, read_all, read_one, texts, write_texts
from warehouse.home import Home


def mail(body: str, *headers: str) -> bytes:
    head = ("From: Ida Rook <ida@lenz.example>", "Subject: =?utf-8?q?Port_of_L=C3=A9nz?=", *headers)
    return "\r\n".join((*head, "", body)).encode()


def test_a_mail_is_its_plain_words_with_its_headers_as_metadata(tmp_path: Path) -> None:
    words = base64.encodebytes("Lénz has a port.\n-- \nIda".encode()).decode()
    parts = (
        "--b", "Content-Type: text/html", "", "<p>Markup</p>",
        "--b", "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: base64", "", words, "--b--",
    )  # fmt: skip
    kind = "Content-Type: multipart/alternative; boundary=b"
    to = 'To: "Vask, Jon" <jon@tarn.example>, bo@tarn.example'
    (tmp_path / "a.eml").write_bytes(mail("\r\n".join(parts), to, kind))
    read = read_one(tmp_path)
    assert (read.title, read.text) == ("Port of Lénz", "Lénz has a port.\n\nIda")
    assert read.metadata == {
        "author": "Ida Rook", "to": '"Vask, Jon" <jon@tarn.example>, bo@tarn.example',
    }  # fmt: skip


def test_a_mail_in_html_is_what_its_reader_sees_and_its_attachments_are_named(
    tmp_path: Path,
) -> None:
    parts = (
        "--b", "Content-Type: text/html; charset=ks_c_5601-1987",
        "Content-Transfer-Encoding: quoted-printable", "",
        "<p>=8Cc has a <s>lake</s>port.</p><p hidden>secret</p>",
        "--b", "Content-Disposition: attachment; filename=plan.pdf", "", "secret", "--b--",
    )  # fmt: skip
    kind = "Content-Type: multipart/mixed; boundary=b"
    (tmp_path / "a.eml").write_bytes(mail("\r\n".join(parts), kind))
    read = read_one(tmp_path)
    assert read.text == "똠 has a port." and read.metadata["attachments"] == "plan.pdf"


def parts_of(kind: str, *parts: str) -> bytes:
    body = "".join(f"--b\r\n{part}\r\n" for part in parts)
    return mail(f"{body}--b--", f"Content-Type: multipart/{kind}; boundary=b")


def test_mails_and_texts_that_are_attached_are_documents_of_their_own(tmp_path: Path) -> None:
    inner = "From: Bo Vask <bo@tarn.example>\nSubject: Quay\n\nThe quay is old."
    encoded = base64.encodebytes(inner.encode()).decode()
    named = "Content-Disposition: attachment; filename="
    whole = parts_of(
        "mixed",
        "Content-Type: text/plain\n\nSee below.",
        f"Content-Type: message/rfc822\n\n{inner}",
        f"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{encoded}",
        f"Content-Type: image/png\n{named}a.png\n\nsecret",
        f"Content-Type: text/csv\n{named}depths.csv\n\nPort,Depth\nLenz,9 m\nTarn,7 m",
        "Content-Type: text/plain\nContent-Disposition: attachment\n\nThe dam is new.",
        f"Content-Type: text/plain\n{named}run.py\n\nx = 1",
    )
    (tmp_path / "a.eml").write_bytes(whole)
    *read, refusal = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.UNSUPPORTED
    assert [(one.uri, one.title) for one in read if isinstance(one, ReadText)] == [
        ("a.eml", "Port of Lénz"), ("a.eml#1", "Quay"), ("a.eml#2", "Quay"), ("a.eml#4", "Depths"),
        ("a.eml#5", "A 5"),
    ]  # fmt: skip
    assert texts(tmp_path)["a.eml#2"] == "The quay is old."
    assert "| Lenz | 9 m |" in texts(tmp_path)["a.eml#4"]


@pytest.mark.parametrize(
    ("name", "uri", "above"),
    [
        ("1606.M1P2.lenz,S=90:2,S", "1606.M1P2.lenz,S=90:2,S", ""),
        ("7.emlx", "7.emlx", "{length}\n"),
        ("Inbox", "Inbox#1", "From - Mon May 03 2021\n"),
    ],
)
def test_a_mail_that_a_program_keeps_is_read_as_one(
    tmp_path: Path, name: str, uri: str, above: str
) -> None:
    written = "To: bo@tarn.example\nFrom: Ida\nSubject: =?utf-8?q?L=C3=A9nz?=\n\nThe quay is old."
    below = "<plist/>" if name.endswith(".emlx") else ""
    (tmp_path / name).write_text(above.format(length=len(written)) + written + below)
    read = read_one(tmp_path)
    assert (read.uri, read.title, read.text) == (uri, "Lénz", "The quay is old.")


def test_a_text_with_two_headers_of_mails_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "memo").write_text("From: Ida\nDate: May\nPort: Lenz\n\nThe quay is old.")
    assert read_one(tmp_path).text.startswith("From: Ida")


@pytest.mark.parametrize("charset", ["Big5", "GB2312", "EUC-JP", "EUC-KR", "Shift_JIS"])
def test_a_dump_in_a_charset_of_several_bytes_is_read(tmp_path: Path, charset: str) -> None:
    declared = f'<?xml version="1.0" encoding="{charset}"?>'
    word = "항구" if charset == "EUC-KR" else "港口"
    dump = declared + make_dump((word, 0, f"{word} 1807"))
    (tmp_path / "a.xml").write_bytes(dump.encode(charset))
    assert texts(tmp_path) == {f"a.xml#{word}": f"{word} 1807"}


def test_a_digest_is_its_mails(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(parts_of("digest", "\nSubject: One\n\nIt is old."))
    assert texts(tmp_path) == {"a.eml#1": "It is old."}


def test_of_alternatives_the_one_with_the_most_words_is_read(tmp_path: Path) -> None:
    rows = "<tr><th>Port</th><th>Depth</th></tr><tr><td>Lenz</td><td>9 m</td></tr>"
    plain = "Content-Type: text/plain\n\nYour program shows no HTML: https://lenz.example/a/b/c/d"
    html = f"Content-Type: text/html\n\n<p>These are the ports:</p><table>{rows}</table>"
    (tmp_path / "a.eml").write_bytes(parts_of("alternative", plain, html))
    assert read_one(tmp_path).text.endswith("| Port | Depth |\n| --- | --- |\n| Lenz | 9 m |")


@pytest.mark.parametrize(
    "whole",
    [
        parts_of("encrypted", "Content-Type: application/octet-stream\n\nabcd"),
        mail("-----BEGIN PGP MESSAGE-----\n\nabcd\n-----END PGP MESSAGE-----\n"),
        mail("abcd", "Content-Type: application/pkcs7-mime; name=smime.p7m"),
    ],
)
def test_a_mail_that_is_encrypted_is_refused_as_such(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / "a.eml").write_bytes(whole)
    (refusal,) = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.ENCRYPTED


def test_an_archived_page_is_read_as_a_page(tmp_path: Path) -> None:
    parts = ("--b", "Content-Type: text/html", "", "<h1>Lenz</h1><p>It is old.</p>", "--b--")
    kind = 'Content-Type: multipart/related; type="text/html"; boundary=b'
    (tmp_path / "a.mhtml").write_bytes(mail("\r\n".join(parts), kind))
    assert read_one(tmp_path).text == "# Lenz\n\nIt is old."


def test_lines_of_a_mail_that_go_on_are_one_line(tmp_path: Path) -> None:
    kind = "Content-Type: text/plain; format=flowed"
    (tmp_path / "a.eml").write_bytes(mail("Lenz has \r\na port.\r\n> It \r\n> is old.", kind))
    assert read_one(tmp_path).text == "Lenz has a port.\n> It \n> is old."
    (tmp_path / "a.eml").write_bytes(mail("It is o \r\nld  \r\nnow.", f"{kind}; delsp=yes"))
    assert read_one(tmp_path).text == "It is old now."


@pytest.mark.parametrize(
    ("form", "header"),
    [
        ("plain", "From: Bo\nSent: May 3\nTo: Ida;\nJon\nSubject: Quay\n"),
        ("html", "<p>Subject: Quay<p>Date: May 3<p>From: Bo"),
        ("html", "<p>发件人：Bo<br>发送时间：May 3<br>主题：Quay</p>"),
    ],
)
def test_headers_of_a_mail_that_is_quoted_describe_that_one(
    tmp_path: Path, form: str, header: str
) -> None:
    body = f"Yes.\n\n____\n{header}\nThe quay is old.\n\nFrom: Lenz\nTo: Tarn\nDate: May 4\n"
    (tmp_path / "a.eml").write_bytes(mail(body, f"Content-Type: text/{form}; charset=utf-8"))
    text = read_one(tmp_path).text
    kinds = {text[b.start : b.end]: b.kind for b in blocks_of(text)}
    labelled = [words for words, kind in kinds.items() if kind is BlockKind.PAIR]
    assert labelled == (["Lenz", "Tarn", "May 4"] if form == "plain" else [])
    assert any("Quay" in words and kind is BlockKind.QUOTATION for words, kind in kinds.items())


def test_a_box_of_mails_is_one_text_for_each(tmp_path: Path) -> None:
    box = b"From x Mon\n" + mail("One.\n\n>From here.") + b"\n\nFrom y Tue\n" + mail("Two.")
    (tmp_path / "a.mbox").write_bytes(box)
    assert texts(tmp_path) == {"a.mbox#1": "One.\n\nFrom here.", "a.mbox#2": "Two."}


def test_a_mail_of_a_box_begins_with_an_address_a_date_and_headers(tmp_path: Path) -> None:
    words = "It is old.\n\nFrom the start, Bo paid for it.\nFrom Tarn it came."
    second = b"From ida at lenz.example  Tue May  4 10:00:00 2021\r\n" + mail("It is new.")
    (tmp_path / "a.mbox").write_bytes(b"From - Mon May  3\n" + mail(words) + b"\n" + second)
    assert texts(tmp_path) == {"a.mbox#1": words, "a.mbox#2": "It is new."}


def test_a_notebook_is_its_text_without_code_and_outputs(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Lenz\n", "It has a ~~lake~~ port."]},
        {"cell_type": "code", "source": "secret()", "outputs": [{"text": "secret"}]},
        {"cell_type": "markdown", "source": "It is old."},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    assert read_one(tmp_path).text == "# Lenz\nIt has a port.\n\nIt is old."


SUBRIP = """1
00:00:01,000 --> 00:00:02,500
<i>Lenz has</i>
a port

2
00:00:03,000 --> 00:00:04,000
{\\an8}of 1931.

3
00:00:05,000 --> 00:00:06,000
- Is it old?
- It was built in
1931
"""
WEBVTT = """WEBVTT - secret
Kind: secret

STYLE
::cue { color: red }

secret name
00:01.000 --> 00:02.000 align:start
<v Ida>Lenz has a port

NOTE secret
of two lines

00:02.000 --> 00:03.000
of <00:02.500>Rook &amp; Sons,&nbsp;&lt; 9 m.
"""
VOICES = "WEBVTT\n\n" + "\n\n".join(
    f"00:0{second}.000 --> 00:0{second}.900\n{words}"
    for second, words in enumerate([
        "<v Ida Rook>I know", "<v Ida Rook>I know\n<v Ida Rook>that one <c>now</c>", "that one now",
        "<v.loud Bo>it cost", "- Tarn is on", "on",
    ])
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "written", "read"),
    [
        ("a.srt", SUBRIP, "Lenz has a port of 1931.\nIs it old?\nIt was built in 1931"),
        ("a.vtt", WEBVTT, "Ida:\n\nLenz has a port of Rook & Sons, < 9 m."),
        ("b.vtt", VOICES, "Ida Rook:\n\nI know that one now\n\nBo:\n\nit cost\nTarn is on on"),
    ],
)
def test_subtitles_are_what_is_said(tmp_path: Path, name: str, written: str, read: str) -> None:
    (tmp_path / name).write_bytes(written.replace("\n", "\r\n").encode())
    assert read_one(tmp_path).text == read


ARTICLE = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) v1.2//EN" "JATS.dtd">
<article xmlns:m="http://www.w3.org/1998/Math/MathML"><front>
<journal-meta><journal-title>Sea Letters</journal-title></journal-meta><article-meta>
<title-group><article-title>Tides of <italic>Lenz</italic></article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Rook</surname>
<given-names>Ida</given-names></name></contrib></contrib-group>
<pub-date><month>June</month><year>2021</year></pub-date>
<pub-date iso-8601-date="2021-05-03"><day>3</day><month>5</month><year>2021</year></pub-date>
<abstract><p>Tides rise.<sup><xref ref-type="bibr">1</xref></sup></p></abstract></article-meta>
</front><body><sec><label>1</label><title>Gauges</title><p>It is 5 × 10<sup>6</sup>.</p>
<sec><title>Places</title><list><list-item><p>Lenz</p></list-item></list></sec></sec></body>
<back><ref-list><ref>secret</ref></ref-list></back>
<floats-group><table-wrap><caption><p>Ports.</p></caption><table>
<tr><th>Port</th><th>Tide</th></tr><tr><td>Lenz</td><td>4 m</td></tr></table></table-wrap>
</floats-group><sub-article><front-stub><title-group><article-title>Letter</article-title>
</title-group><contrib-group><contrib contrib-type="author"><collab>secret</collab></contrib>
</contrib-group></front-stub><body><p>It is sound.</p></body></sub-article></article>"""


@pytest.mark.parametrize("name", ["a.nxml", "a.xml"])
def test_an_article_has_title_abstract_and_sections(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(ARTICLE, encoding="utf-8")
    read = read_one(tmp_path)
    assert read.title == "Tides of Lenz"
    assert read.metadata == {
        "author": "Ida Rook", "date": "2021-05-03", "publisher": "Sea Letters",
    }  # fmt: skip
    assert read.text == (
        "# Tides of Lenz\n\nTides rise.\n\n## Gauges\n\nIt is 5 × 10^6.\n\n### Places\n- Lenz"
        "\n\nPorts.\n\n| Port | Tide |\n| --- | --- |\n| Lenz | 4 m |\n\n## Letter\n\nIt is sound."
    )


@pytest.mark.parametrize("name", ["page", "page.txt"])
def test_a_page_in_xml_without_an_ending_is_a_page(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("<?xml version='1.0'?><!-- A --><html><p>It is old.</p></html>")
    assert read_one(tmp_path).text == "It is old."


@pytest.mark.parametrize("name", ["letter", "letter.txt"])
def test_a_document_of_word_is_read_under_any_name(tmp_path: Path, name: str) -> None:
    document = docx.Document()
    document.add_paragraph("The quay is old.")
    document.save(str(tmp_path / name))
    assert read_one(tmp_path).text == "The quay is old."


def test_an_article_of_another_kind_is_refused(tmp_path: Path) -> None:
    words = "<abstract><para>A port.</para></abstract><sect1><para>It is old.</para></sect1>"
    (tmp_path / "a.xml").write_text(f"<article><title>Lenz</title>{words}</article>")
    (refusal,) = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.BAD_FORMAT


@pytest.mark.parametrize(
    ("month", "date"), [("<month>June</month>", "2021-06"), ("<season>Spring</season>", "2021")]
)
def test_an_article_without_a_day_has_the_date_that_it_states(
    tmp_path: Path, month: str, date: str
) -> None:
    front = f"<article-meta><pub-date>{month}<year>2021</year></pub-date></article-meta>"
    (tmp_path / "a.jats").write_text(
        f"<article><front>{front}</front><body><p>It is old.</p></body></article>"
    )
    assert read_one(tmp_path).metadata == {"date": date}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("build.py", "x = 1"), ("a.diff", "- a"), ("a.min.js", "x"),
        ("Makefile", "all: x"), ("a.toml", "[x]"), ("a.yml", "x: 1"),
        ("a.tex", "% Ghost.\nIt rises.\n"), ("a.org", "# Ghost.\nIt rises.\n"),
        ("a.ics.gz", "BEGIN:VCALENDAR"),
        ("run", "#!/bin/sh\necho x"), ("run.txt", "#!/usr/bin/python3\n"),
        ("odd.xyz", "int x;\nint y;\nf() {\n"), ("letter.rtf", "{\\rtf1 x}"),
        ("lenz.env", "A=1"), ("lenz", "USER_NAME=ida\nexport PASS=tide\n"),
        ("a.txt", f"-----BEGIN CERTIFICATE-----\n{'QUJD' * 16}\n"),
        ("a.md", f"The gate's:\n-----BEGIN EC PRIVATE KEY-----\nA: b\n\n{'QUJD' * 16}\n"),
        ("tide.1", ".TH TIDE 1\n.SH NAME\n"), ("a.fig", "%!PS-Adobe\n"), ("a.po", "msgid \"\""),
        ("web", "WARC/1.0\r\n"), ("staff", "dn: cn=Ida,dc=lenz\n"),
        ("letter.txt", "{\\rtf1 x}"), ("a.svg", "<svg/>"), ("a.xml", "<?xml?><svg><g/></svg>"),
    ],
)  # fmt: skip
def test_what_is_no_text_is_refused(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    (refusal,) = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.UNSUPPORTED


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xml", "<feed><entry/></feed>", "of another kind"),
        ("a.xml", "<!DOCTYPE patent [ ]><patent/>", "of another kind"),
        ("a.xml", "<!DOCTYPE mediawiki [ ]><mediawiki/>", "has a DOCTYPE"),
        ("a.rss", '<rss version="2.0"><channel/></rss>', "of another kind"),
        ("a.txt", '<?xml version="1.0"?><!-- A --><port>Lenz</port>', "of another kind"),
        ("ports", "<!-- A --><r:RDF xmlns:r='urn:x'/>", "of another kind"),
        ("a.xml", '<?xml version="1.0" encoding="Big5"?><a>\xb4\xe4</a>', "of another kind"),
        ("a.msg", "\xd0\xcf\x11\xe0", "end in .msg are not read; save it as .eml"),
        (
            "a.ttl",
            "@prefix l: <urn:l> .",
            "save it as N-Triples (.nt), which `almanac",
        ),
        ("a.nt", "<urn:l> <urn:m> <urn:n> .", "`almanac import-graph` reads them"),
        ("a.eml", parts_of("mixed", "\nIt is old.").decode().replace("--b", "--c"), "divided"),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": "x = 1"}]}', "code and what"),
    ],
)
def test_a_refusal_says_what_kind_of_file_is_not_read(
    tmp_path: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(content, encoding="latin-1")
    (refusal,) = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and words in refusal.text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NOTES", "It rises; it falls;\nand it rests.\nSo it is.\n"),
        ("a.md", "A key opens with\n\n-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"),
        ("tides.draft", "\\documentclass{article}\n\\begin{document}\nThe sea rises.\n"),
    ],
)
def test_a_text_with_marks_of_programs_is_a_text(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_one(tmp_path).text == text


def test_a_run_says_of_which_endings_are_the_files_that_it_refused(
    home: Home, tmp_path: Path
) -> None:
    endings = ("zip", "rar", "c", "d", "h", "m", "r", "v")
    by_name = dict.fromkeys(("run", "b.zip", *(f"a.{ending}" for ending in endings)), "#!")
    notes = refresh(home, [str(write_texts(tmp_path / "files", by_name))], Settings()).notes
    shown = "10 refused as unsupported (2 .zip, 1 .c, 1 .d, 1 .h, 1 .m, 1 .r, 3 of others), such as"
    assert notes[0].startswith(shown)
