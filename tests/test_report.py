"""The report: a folder of pages in which every fact leads to its sentence, and back."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tasks.report.document import DocumentRows, document_page
from tasks.report.entity import entities_page, facts_page, timeline
from tasks.report.links import PART_CHARS, FolderLinks, document_file, entity_page
from tasks.report.reading import Groups
from tasks.report.search_index import _shards
from tasks.show import EntityPage, show_entity
from warehouse.home import Home

LINKS = FolderLinks("000001-abc", entity_pages=3, root="../")
HOSTILE = (
    '"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e{{ 7 * 7 }}javascript:alert(1)'
)
DOCUMENT = {
    "document_id": "d1",
    "source": "texts",
    "uri": "bohr.md",
    "title": "Bohr",
    "language": "en",
    "words": 6,
    "read_at": datetime(2026, 1, 1, tzinfo=UTC),
    "remembered": None,
    "near_duplicate_of": None,
}


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def values(self, attribute: str) -> list[str]:
        return [str(attrs[attribute]) for _, attrs in self.seen if attribute in attrs]


def finding(kind: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    row = {
        "kind": kind,
        "fact_id": f"{kind}{start}",
        "span_start": start,
        "span_end": end,
        "confidence": 0.9,
        "head_id": "e1",
        "head": "Bohr",
        "relation": "born in",
        "graph": "corpus",
        "tail_id": None,
        "tail": "Copenhagen",
        "manner": "",
    }
    return row | more


def document(text: str, *findings: dict[str, Any]) -> DocumentRows:
    passage = {"span_start": 0, "span_end": len(text), "headings": "", "page": None}
    return DocumentRows(DOCUMENT | {"text": text}, [passage], findings)


def entity(name: str, **more: Any) -> EntityPage:
    empty: dict[str, Any] = dict.fromkeys(
        ("aliases", "facts", "facts_as_tail", "statements", "descriptions", "aspects", "places"), []
    )
    return EntityPage(
        entity_id="e1", name=name, kind="person", graph="corpus", mentions=1, documents=1,
        description=None, **{**empty, **more},
    )  # fmt: skip


def fact(**more: Any) -> dict[str, Any]:
    row = dict.fromkeys(("tail_id", "date", "valid_from", "valid_to", "uri", "span_end"))
    return row | {
        "triple_id": "t1", "graph": "corpus", "head_id": "e1", "head": "Bohr",
        "relation": "born in", "tail": "Copenhagen", "support": 1, "confidence": 0.9,
        "document_id": "d1", "remembered": None, "span_start": 7,
    } | more  # fmt: skip


def pages(folder: Path) -> dict[str, str]:
    found = folder.rglob("*.html")
    return {str(page.relative_to(folder)): page.read_text(encoding="utf-8") for page in found}


def test_every_fact_leads_to_an_existing_place_in_a_document(small_report: Path) -> None:
    written = pages(small_report)
    entities = "".join(text for name, text in written.items() if name.startswith("entities/"))
    places = re.findall(r'href="\.\./(documents/[^"#]+)#(c\d+)"', entities)
    assert places
    for page, place in places:
        assert f'id="{place}"' in written[page]


def test_every_mark_leads_to_its_fact_and_the_fact_to_its_entity(small_report: Path) -> None:
    written = pages(small_report)
    documents = [text for name, text in written.items() if name.startswith("documents/")]
    for text in documents:
        for fragment in re.findall(r'<a class="mark[^>]*href="#([^"]+)"', text):
            assert text.count(f'id="{fragment}"') == 1
        for page, entity_id in re.findall(r'href="\.\./(entities/[^"#]+)#([^"]+)"', text):
            assert f'id="{entity_id}"' in written[page]


def test_no_id_stands_twice_on_a_page(small_report: Path) -> None:
    for name, text in pages(small_report).items():
        ids = Tags(text).values("id")
        assert len(ids) == len(set(ids)), name


def test_a_page_of_one_entity_is_that_of_the_folder(small_home: Path, small_report: Path) -> None:
    home = Home(small_home)
    alone = show_entity(home.require_edition(), "London")
    links = FolderLinks(home.require_edition().id, entity_pages=1, root="../")
    page = "".join(entities_page([alone], "London", links))
    article = page[page.index("<article") : page.index("</article>")]
    assert article in (small_report / "entities" / "0.html").read_text(encoding="utf-8")


def test_overlapping_facts_keep_the_text_whole() -> None:
    text = "Niels Bohr was born in Copenhagen in 1885."
    rows = document(text, finding("triple", 0, 33), finding("aspect", 0, 42),
                    finding("alias", 6, 10, tail="Bohr"))  # fmt: skip
    page = document_page(rows, LINKS)
    shown = re.sub(r"<[^>]+>", "", page[page.index('class="text"') :]).partition("\n")[0]
    assert text in shown
    assert {"mark aspect triple", "mark alias aspect triple", "mark aspect"} <= set(
        Tags(page).values("class")
    )


def test_what_is_denied_is_said_to_be() -> None:
    page = document_page(document("Bohr.", finding("triple", 0, 4, manner="negative")), LINKS)
    assert "(negative)" in page


def test_a_long_text_has_a_page_for_each_part_and_links_lead_to_the_right_one() -> None:
    text = "Bohr was born. " * 10_000
    start = text.index("Bohr", PART_CHARS)
    rows = document(text, finding("triple", start, start + 4))
    assert rows.parts == 2
    assert f'id="c{start}"' in document_page(rows, LINKS, 1)
    assert document_file("d1", 1) in LINKS.place("d1", start)


@pytest.mark.parametrize("text", [HOSTILE, "</script>", "<!--", "&#106;avascript:", "\x00"])
def test_hostile_names_and_texts_stay_text(text: str) -> None:
    row = fact(head=text, relation=text, tail=text, uri=text, tail_id="e2")
    note = {"text": text, "question": text, "aspect": text, "language": text} | fact(uri=text)
    known = entity(text, aliases=[text], facts=[row, row], descriptions=[note], aspects=[note])
    rows = document(text, finding("triple", 0, 1, head=text, relation=text, tail=text))
    hostile_document = replace(rows, document=rows.document | {"title": text, "uri": text})
    written = [
        "".join(entities_page([known], text, LINKS)),
        facts_page(known, [row], 0, True, LINKS),
        document_page(hostile_document, LINKS),
    ]
    for page in map(Tags, written):
        assert [attrs.get("src") for tag, attrs in page.seen if tag == "script"] == [
            "../assets/report.js"
        ]
        assert not {name for _, attrs in page.seen for name in attrs if name.startswith("on")}
        assert {"img", "style"}.isdisjoint(tag for tag, _ in page.seen)
        assert all(re.match(r"#|\.\./\w", address) for address in page.values("href"))


def test_dates_of_facts_make_a_time_line() -> None:
    dated = [fact(date="1922"), fact(valid_from="1885-10-07"), fact()]
    assert [when for when, _ in timeline(entity("Bohr", facts=dated))] == ["1885-10-07", "1922"]


def test_ids_of_every_make_fall_on_a_page_of_the_folder() -> None:
    assert {entity_page(f"entity {n}", 7) for n in range(200)} == set(range(7))


def test_groups_pass_over_keys_that_nobody_asks_for() -> None:
    groups = Groups([("a", 1), ("b", 2), ("b", 3), ("d", 4)])
    assert [list(groups.of(key)) for key in "bcd"] == [[2, 3], [], [4]]


def test_index_files_are_by_the_shortest_beginnings_that_keep_them_small() -> None:
    counted = [("bohr", 2_000), ("born", 2_000), ("zeno", 5)]
    assert list(_shards(counted, 1)) == [
        ("boh", ["bohr"]), ("bor", ["born"]), ("z", ["zeno"])
    ]  # fmt: skip


def test_the_first_page_tells_what_has_changed_and_where(small_report: Path) -> None:
    first = (small_report / "index.html").read_text(encoding="utf-8")
    assert re.search(r'"badge">changed</span>\s*<a href="documents/\w+\.html">london.md</a>', first)
    assert "England | capital | London" in first


def test_readers_see_labelled_and_sensitive_documents_only_with_their_labels(
    almanac: Any, tmp_path: Path
) -> None:
    texts = {"open": "Ada lives in York.", "pay": "Bo earns 50 pounds.", "plan": "Cy buys Zyxwia."}
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    home = str(tmp_path / "home")
    plain = ("--set", "engine.encoder=none")
    almanac(home, "refresh", str(tmp_path / "open.md"), *plain)
    almanac(home, "refresh", str(tmp_path / "pay.md"), "--label", "hr", *plain)
    almanac(home, "refresh", str(tmp_path / "plan.md"), "--sensitive", *plain)

    def shown(command: str, *labels: str) -> set[str]:
        out = tmp_path / "-".join((command, *labels))
        chosen = [word for label in labels for word in ("--label", label)]
        form = ["--format", "jsonl"] if command == "export" else []
        assert almanac(home, command, *form, "--out", str(out), *chosen)[0] == 0
        written = "".join(file.read_text(encoding="utf-8") for file in out.rglob("*.*[slmn]"))
        return {word for word in ("York", "pounds", "Zyxwia") if word in written}

    for command in ("report", "export"):
        assert shown(command) == {"York"}
    hides = {"index": "Hidden from", "runs": "Hidden from", "rejections": "Hidden from"}
    for name, words in (hides | {"editions": ">hidden"}).items():
        assert words in (tmp_path / "report" / f"{name}.html").read_text(encoding="utf-8")
    for command in ("report", "export"):
        assert shown(command, "hr") == {"York", "pounds"}
        assert shown(command, "hr", "sensitive") == {"York", "pounds", "Zyxwia"}
    assert almanac(home, "report", "--out", str(tmp_path / "no"), "--label", "it")[0] == 2
