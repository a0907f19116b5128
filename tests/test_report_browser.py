"""The report in a browser, from the disk: with and without its script, narrow and wide, by keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed.")

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
PAGES = (
    "index.html",
    "entities.html",
    "documents.html",
    "entities/0.html",
    "documents/*.html",
    "sources.html",
    "editions.html",
)


class Reader:
    """A page that keeps what its browser complains of and asks for beyond files."""

    def __init__(self, browser: Any, folder: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.folder = folder
        self.troubles: list[str] = []
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("requestfailed", lambda request: self.troubles.append(request.url))
        self.page.on("request", self._note)

    def _note(self, request: Any) -> None:
        self.troubles += [request.url] * (not request.url.startswith("file:"))

    def open(self, name: str) -> Any:
        path = next(iter(sorted(self.folder.glob(name))))
        self.page.goto(path.as_uri())
        return self.page


@pytest.fixture(params=[(PHONE, "dark"), (DESKTOP, "light")], ids=["phone", "desktop"])
def reader(request: Any, browser: Any, small_report: Path) -> Iterator[Reader]:
    viewport, scheme = request.param
    opened = Reader(browser, small_report, viewport=viewport, color_scheme=scheme)
    yield opened
    opened.context.close()
    assert opened.troubles == []


@pytest.fixture
def plain_reader(browser: Any, small_report: Path) -> Iterator[Reader]:
    opened = Reader(browser, small_report, viewport=PHONE, java_script_enabled=False)
    yield opened
    opened.context.close()
    assert opened.troubles == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_screen_and_hinders_nobody(reader: Reader, name: str) -> None:
    page = reader.open(name)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = axe.Axe().run(page, options={"preload": False}).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []


def test_a_name_leads_to_its_thing_and_to_the_sentence_behind_a_fact(reader: Reader) -> None:
    page = reader.open("index.html")
    page.get_by_label("Search or ask").fill("babbage")
    page.locator("#results a", has_text="Charles Babbage").first.click()
    page.wait_for_url("**/entities/**")
    assert page.locator("h1:visible").all_inner_texts() == ["Charles Babbage"]
    assert page.title() == "Charles Babbage"
    page.locator("tr:visible", has_text="London").locator(".sentence").first.click()
    assert page.locator(":target").inner_text()
    assert page.locator(".said:has(:target)").is_visible()


def test_a_suggested_question_finds_its_answer(reader: Reader) -> None:
    page = reader.open("index.html")
    question = page.locator(".suggestion").first.inner_text()
    page.locator(".suggestion").first.click()
    assert page.locator("#results li").first.locator("a").inner_text() == question


def test_words_in_chinese_and_words_mistyped_are_found(reader: Reader) -> None:
    page = reader.open("index.html")
    page.get_by_label("Search or ask").fill("babage")
    assert "Babbage" in page.locator("#results a").first.inner_text()
    page.get_by_label("Search or ask").fill("zzzzzz")
    page.get_by_text("Nothing found.").wait_for()


def test_without_its_script_every_fact_leads_to_its_sentence_and_back(plain_reader: Reader) -> None:
    page = plain_reader.open("index.html")
    assert page.locator("#search").is_hidden()
    page.get_by_role("link", name="Things", exact=True).click()
    page.get_by_role("link", name="Charles Babbage").click()
    assert page.locator("h1:visible").all_inner_texts() == ["Charles Babbage"]
    page.locator("tr:visible", has_text="London").locator(".sentence").first.click()
    mark = page.locator("a:target")
    mark.click()
    assert "Charles Babbage" in page.locator("li:target").inner_text()
    page.locator("li:target").get_by_role("link", name="Charles Babbage").click()
    assert page.locator("h1:visible").all_inner_texts() == ["Charles Babbage"]


def test_the_keyboard_alone_reaches_the_box_a_result_and_a_mark(reader: Reader) -> None:
    page = reader.open("index.html")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the text"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("babbage")
    page.locator("#results a").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/entities/**")
    page.locator(".sentence:visible").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/documents/**")
    page.locator("a:target").focus()
    tip = "getComputedStyle(document.activeElement, '::after').content"
    assert "Babbage" in page.evaluate(tip)


def test_paper_shows_the_text_without_the_navigation(reader: Reader) -> None:
    page = reader.open("documents/*.html")
    page.emulate_media(media="print")
    assert page.locator(".text").first.is_visible()
    assert page.locator("header nav").is_hidden()


def test_a_page_runs_no_script_of_a_document(browser: Any, small_report: Path) -> None:
    opened = Reader(browser, small_report)
    page = opened.open("index.html")
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 1\">')"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    opened.context.close()
