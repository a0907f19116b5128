"""The report as a whole: every page is there, and every link leads to something."""

from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from schemas.operations import Evaluation
from tasks.report.links import FolderLinks, relation_file
from tasks.report.records import record_page
from tasks.report.relations import RelationRows, relation_pages
from tasks.report.templates import PAGES
from warehouse.home import Home

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Addresses(HTMLParser):
    """The ids of a page, and where it leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in values if name == "id"}
        self.links += [values[name] for name in values if name in ("href", "src")]


def test_every_link_leads_to_something(small_report: Path) -> None:
    pages = {
        path.as_uri(): Addresses(path.read_text(encoding="utf-8"))
        for path in small_report.rglob("*.html")
    }
    links = {urljoin(uri, link) for uri, page in pages.items() for link in page.links}
    files = {path.as_uri() for path in small_report.rglob("*") if path.is_file()}
    targets = [urldefrag(link) for link in links]
    assert not {target.url for target in targets} - files
    lost = [t for t in targets if t.fragment and unquote(t.fragment) not in pages[t.url].ids]
    assert not lost


def test_pages_of_the_navigation_are_there(small_report: Path) -> None:
    assert {f"{name}.html" for name in PAGES} <= {path.name for path in small_report.iterdir()}


def test_sources_say_how_much_was_understood(small_report: Path) -> None:
    text = (small_report / "sources.html").read_text(encoding="utf-8")
    assert "gave a fact" in text and "<svg" in text


def test_changes_lead_to_their_documents(small_report: Path) -> None:
    links = Addresses((small_report / "editions.html").read_text(encoding="utf-8")).links
    assert any(link.startswith("documents/") for link in links)


def test_facts_of_a_large_relation_go_on_on_another_page() -> None:
    links = FolderLinks("000001-abc", 1, root="../")
    fact = {
        "head_id": "e1", "head": "<b>Io</b>", "tail_id": None, "tail": "1610", "valid_from": None,
        "valid_to": None, "manner": "negative", "confidence": 0.9, "document_id": None,
        "graph": "moons",
    }  # fmt: skip
    rows = RelationRows("orbits", "moons", [fact], 1, last=False)
    text = "".join(relation_pages([rows], links))
    assert "&lt;b&gt;Io&lt;/b&gt;" in text and "(negative)" in text
    assert relation_file(rows.anchor, 2) in text
    assert links.relation("orbits", "moons") in text


def test_evaluations_are_a_table_for_each_data_set_with_intervals(own_home: Path) -> None:
    figures = {"em": 0.5, "em_low": 0.4, "em_high": 0.625, "f1": 0.75}
    rows = [
        Evaluation(
            dataset="quiz", system=system, metric=name, value=value, items=9, measured_at=NOW
        )
        for system in ("auto", "text")
        for name, value in figures.items()
    ]
    home = Home(own_home)
    home.live.append({Evaluation: Evaluation.to_table(rows)})
    edition = home.require_edition()
    with edition.connect() as con:
        page = record_page("evaluations", con, home, edition, FolderLinks(edition.id, 1, 1))

    assert page.count("<h2>quiz</h2>") == 1
    assert page.count("0.4 to 0.625") == 2
    assert "em_low" not in page
    assert "em on quiz" in page
