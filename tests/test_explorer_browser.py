"""The live pages in a browser: log in, ask, judge, correct; with and without scripts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks.service.tokens import TOKENS_FILE, Tokens
from tests.copied_home import copied_home
from tests.served import serving

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed.")

SCREENS = [
    {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
    {"viewport": {"width": 1280, "height": 900}, "java_script_enabled": False},
]


@pytest.fixture(scope="module")
def service(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of the service, and the token of somebody who may write."""
    home = copied_home(small_home, tmp_path_factory.mktemp("explored") / "home")
    token = Tokens(home / TOKENS_FILE).add("ann", ["read", "feedback", "write"])
    with serving(home) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        yield client, token


@pytest.fixture(params=SCREENS, ids=["phone", "desktop without scripts"])
def page(request: Any, browser: Any, service: Any) -> Iterator[Any]:
    """A page of somebody who has logged in; nothing is complained of or asked of another host."""
    client, token = service
    address, troubles = str(client.base_url), []
    with browser.new_context(base_url=address, **request.param) as context:
        opened = context.new_page()
        opened.on("console", lambda message: troubles.append(message.text))
        opened.on("pageerror", lambda error: troubles.append(str(error)))
        context.route(lambda url: not url.startswith(address), lambda route: troubles.append(route))
        opened.goto("/")
        opened.get_by_label("Token").fill(token)
        opened.get_by_role("button", name="Enter").click()
        yield opened
    assert troubles == []


def test_a_question_leads_to_its_sentence_and_is_judged(page: Any, service: Any) -> None:
    page.get_by_label("Ask", exact=True).fill("Where was Ada Lovelace born?")
    page.get_by_role("button", name="Ask").click()
    assert "London" in page.locator(".said").inner_text()
    page.locator(".sentence").first.click()
    page.locator(":target").wait_for()
    page.go_back()
    page.get_by_role("button", name="Right").click()
    assert page.url == str(service[0].base_url.join("/"))


def test_every_page_is_reached_and_hinders_nobody(page: Any) -> None:
    names = page.locator("nav[aria-label=Pages] a").all_inner_texts()
    assert len(names) == 8
    for name in names:
        page.get_by_label("Pages", exact=True).get_by_role("link", name=name, exact=True).click()
        page.wait_for_load_state()
        assert page.locator("h1").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


@pytest.mark.parametrize("page", SCREENS[:1], ids=["phone"], indirect=True)
def test_forms_hinder_nobody(page: Any) -> None:
    page.goto("/e/Ada%20Lovelace")
    page.get_by_text("Correct", exact=True).click()
    found = axe.Axe().run(page, options={"preload": False}).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []


def test_a_thing_is_corrected_on_its_page(page: Any, service: Any) -> None:
    page.goto("/entities")
    page.get_by_role("link", name="Ada Lovelace", exact=True).first.click()
    page.get_by_text("Correct", exact=True).click()
    page.get_by_label("It is the same as").fill("Charles Babbage")
    page.get_by_role("button", name="Merge").click()
    assert page.locator("h1").inner_text() == "Ada Lovelace"
    last = service[0].get("/v1/corrections").json()[-1]
    assert last["action"] == "merge"
