"""`almanac serve`: a real process, asked over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.settings import load_settings
from tasks.refresh import refresh
from tasks.service.tokens import TOKENS_FILE, Tokens
from tests.copied_home import copied_home
from tests.served import serving
from warehouse.home import Home


@pytest.fixture(scope="module")
def served_home(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_home(small_home, tmp_path_factory.mktemp("served") / "home")


@pytest.fixture(scope="module")
def tokens(served_home: Path) -> dict[str, str]:
    stored = Tokens(served_home / TOKENS_FILE)
    return {
        "read": stored.add("ann", ["read"]),
        "write": stored.add("bob", ["read", "feedback", "write"]),
    }


@pytest.fixture(scope="module")
def service(served_home: Path, tokens: dict[str, str]) -> Iterator[httpx.Client]:
    with serving(served_home) as client:
        client.headers["Authorization"] = f"Bearer {tokens['write']}"
        yield client


def test_a_question_is_answered_with_its_place(service: httpx.Client) -> None:
    answer = service.post("/v1/ask", json={"question": "Where was Ada Lovelace born?"}).json()

    assert answer["answer"] == "London"
    assert answer["evidence"][0]["uri"] == "ada.md"


def test_a_stream_has_sources_then_text_then_footnotes(service: httpx.Client) -> None:
    asked = {"question": "Where was Ada Lovelace born?"}
    text = service.post("/v1/ask/stream", json=asked).text

    events = [line[7:] for line in text.splitlines() if line.startswith("event: ")]
    assert events == ["sources", "text", "footnotes", "answer"]


def test_a_thing_has_its_facts_with_their_places(service: httpx.Client) -> None:
    page = service.get("/v1/entities/Ada Lovelace").json()

    assert page["name"] == "Ada Lovelace"
    assert {fact["uri"] for fact in page["facts"]} == {"ada.md"}


def test_a_document_tells_what_was_understood_where(service: httpx.Client) -> None:
    [entry] = service.get("/v1/documents", params={"uri": "ada.md"}).json()["items"]
    document = service.get(f"/v1/documents/{entry['document_id']}").json()

    span = next(span for span in document["spans"] if span["tail"] == "London")
    assert "London" in document["text"][span["span_start"] : span["span_end"]]


def test_a_fact_leads_to_the_words_that_state_it(service: httpx.Client) -> None:
    [fact] = service.get("/v1/facts", params={"limit": 1}).json()["items"]

    [place, *_] = service.get(f"/v1/facts/{fact['triple_id']}").json()["places"]
    assert place["document_id"] == fact["document_id"]


def test_pages_of_rows_join_without_gaps(service: httpx.Client) -> None:
    whole = service.get("/v1/facts", params={"limit": 200}).json()
    first = service.get("/v1/facts", params={"limit": 3}).json()
    rest = service.get("/v1/facts", params={"limit": 200, "after": first["next"]}).json()

    assert first["items"] + rest["items"] == whole["items"]
    assert whole["next"] is None


def test_a_search_finds_passages(service: httpx.Client) -> None:
    found = service.get("/v1/search", params={"q": "analytical engine"}).json()

    assert found[0]["title"] == "Analytical Engine"


def test_sql_reads_and_does_nothing_else(service: httpx.Client) -> None:
    count = "select count(*) as n from entities where name = 'Ada Lovelace'"
    assert service.post("/v1/sql", json={"query": count}).json()["rows"] == [[1]]

    refused = service.post("/v1/sql", json={"query": "drop table entities"})
    assert refused.status_code == 400
    assert "Refused" in refused.json()["detail"]


def test_an_unknown_parameter_is_refused_with_those_that_there_are(service: httpx.Client) -> None:
    refused = service.get("/v1/facts", params={"relatoin": "born in"})
    assert refused.status_code == 422 and "head_id, home, limit" in refused.json()["detail"]
    assert service.get("/v1/homes", params={"home": "home"}).status_code == 200


@pytest.mark.parametrize("choices", [["Paris"], ["Paris", "Paris "]])
def test_choices_are_two_that_differ(service: httpx.Client, choices: list[str]) -> None:
    body = {"question": "Where was Ada Lovelace born?", "choices": choices}
    assert service.post("/v1/ask", json=body).status_code == 422


@pytest.mark.parametrize(
    ("page", "form"),
    [
        ("/ask", {"question": "why " * 4_000}),
        ("/verdict", {"verdict": "so-so", "fact_id": "1"}),
        ("/correct", {"action": "marry", "subject": "1", "object": "2"}),
    ],
)
def test_a_form_with_a_wrong_value_is_refused(service: httpx.Client, page: str, form: Any) -> None:
    assert service.post(page, data=form).status_code == 422


def test_the_description_tells_who_may_ask_and_what_may_go_wrong(service: httpx.Client) -> None:
    paths = service.get("/openapi.json").json()["paths"]
    assert paths["/metrics"]["get"]["security"]
    assert {"401", "405", "409", "500"} < paths["/v1/corrections"]["post"]["responses"].keys()


def test_an_unchanged_edition_is_not_sent_again(service: httpx.Client) -> None:
    tag = service.get("/v1/facts").headers["etag"]

    again = service.get("/v1/facts", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_what_is_not_there_is_a_problem(service: httpx.Client) -> None:
    missing = service.get("/v1/entities/Nobody Atall")

    assert missing.status_code == 404
    assert missing.headers["content-type"] == "application/problem+json"
    assert missing.json()["title"] == "Not Found"


def test_a_browser_is_told_of_an_error_on_a_page(service: httpx.Client) -> None:
    missing = service.get("/e/Nobody Atall", headers={"Accept": "text/html"})

    assert missing.status_code == 404
    assert "<h1>Not Found</h1>" in missing.text and "Nobody Atall" in missing.text


def test_a_verdict_on_a_fact_is_what_audit_reads(service: httpx.Client, served_home: Path) -> None:
    from tasks.audit import verdicts_in_force

    [fact] = service.get("/v1/facts", params={"limit": 1}).json()["items"]
    verdict = {"fact_id": fact["triple_id"], "verdict": "useful"}
    assert service.post("/v1/feedback", json=verdict).json() == {"kept": True, "rejected": False}

    kept = verdicts_in_force(Home(served_home))
    assert kept[fact["triple_id"]]["verdict"] == "useful"


def test_a_verdict_on_an_answer_is_kept_beside_it(service: httpx.Client, served_home: Path) -> None:
    asked = service.post("/v1/ask", json={"question": "Who designed the Analytical Engine?"})
    question_id = asked.json()["question_id"]
    service.post("/v1/feedback", json={"question_id": question_id, "verdict": "right"})

    from schemas.operations import AnswerRecord
    from warehouse.live import latest

    rows = latest(Home(served_home).live, AnswerRecord).to_pylist()
    [row] = [row for row in rows if row["question_id"] == question_id]
    assert row["feedback"] == "1"


def test_a_correction_is_in_force(service: httpx.Client) -> None:
    [fact] = service.get("/v1/facts", params={"limit": 1}).json()["items"]
    rejection = {"action": "reject", "subject": fact["triple_id"], "reason": "a joke"}
    made = service.post("/v1/corrections", json=rejection).json()

    in_force = service.get("/v1/corrections").json()
    assert made["override_id"] in {row["override_id"] for row in in_force}


def test_a_merge_without_the_other_thing_is_told_so(service: httpx.Client) -> None:
    refused = service.post("/v1/corrections", json={"action": "merge", "subject": "London"})
    assert refused.status_code == 400 and "merge needs its `object`" in refused.json()["detail"]


def test_what_can_be_read_has_a_head(service: httpx.Client) -> None:
    for path in ("/v1/facts", "/health", "/"):
        head, whole = service.head(path), service.get(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]
    assert service.head("/v1/ask").status_code == 405


def test_who_may_read_may_not_correct(service: httpx.Client, tokens: dict[str, str]) -> None:
    reads = {"Authorization": f"Bearer {tokens['read']}"}

    assert service.get("/v1/facts", headers=reads).status_code == 200
    verdict = {"fact_id": "1", "verdict": "useful"}
    assert service.post("/v1/feedback", json=verdict, headers=reads).status_code == 403
    assert service.get("/v1/corrections", headers=reads).status_code == 403


def test_a_removed_token_is_refused_at_once(service: httpx.Client, served_home: Path) -> None:
    stored = Tokens(served_home / TOKENS_FILE)
    theirs = {"Authorization": f"Bearer {stored.add('eve', ['read'])}"}
    assert service.get("/v1/facts", headers=theirs).status_code == 200

    stored.remove("eve")
    assert service.get("/v1/facts", headers=theirs).status_code == 401


def test_a_browser_logs_in_asks_and_judges(service: httpx.Client, tokens: dict[str, str]) -> None:
    with httpx.Client(base_url=service.base_url, follow_redirects=True, timeout=60) as browser:
        browser.headers["Accept"] = "text/html"
        assert "Who is there?" in browser.get("/e/Charles Babbage").text
        form = {"token": tokens["write"], "then": "/e/Charles Babbage"}
        page = browser.post("/login", data=form)
        assert "<h1>Charles Babbage</h1>" in page.text
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]

        answer = browser.post("/ask", data={"question": "Who designed the Analytical Engine?"})
        assert "Charles Babbage" in answer.text
        [fact] = service.get("/v1/facts", params={"limit": 1}).json()["items"]
        judged = {"fact_id": fact["triple_id"], "verdict": "useful", "back": "//evil.example"}
        assert browser.post("/verdict", data=judged).url.path == "/"


def test_whoever_may_write_corrects_on_a_page(service: httpx.Client) -> None:
    ada = service.get("/v1/entities/Ada Lovelace").json()
    page = service.get(f"/e/{ada['entity_id']}").text
    assert 'action="/correct"' in page
    split = {"action": "split", "subject": ada["entity_id"], "object": ada["name"], "back": "/runs"}

    assert service.post("/correct", data=split).headers["location"] == "/runs"
    last = service.get("/v1/corrections").json()[-1]
    assert (last["action"], last["subject"]) == ("split", ada["entity_id"])
    split["object"] = "nobody"
    assert "no name of this entity" in service.post("/correct", data=split).text


def test_there_are_pages_beside_things_and_documents(service: httpx.Client) -> None:
    names = ("relations", "sources", "runs", "rejections", "evaluations", "editions")
    pages = {name: service.get(f"/{name}") for name in names}
    assert {page.status_code for page in pages.values()} == {200}
    assert "refresh" in pages["runs"].text


def test_each_relation_has_a_page_with_its_facts(service: httpx.Client) -> None:
    listed = service.get("/relations").text
    assert 'href="/r?relation=born+in&amp;graph=corpus"' in listed
    page = service.get("/r", params={"relation": "born in"})
    assert "Ada Lovelace" in page.text and "#c" in page.text
    twin = page.headers["link"].partition(">")[0].removeprefix("<")
    assert {fact["relation"] for fact in service.get(twin).json()["items"]} == {"born in"}
    for beyond in ({"relation": "no such"}, {"relation": "born in", "number": 2}):
        assert service.get("/r", params=beyond).status_code == 404


def test_a_page_names_its_twin_for_programs(service: httpx.Client) -> None:
    page = service.get("/e/Ada Lovelace")

    twin = page.headers["link"].partition(">")[0].removeprefix("<")
    assert service.get(twin).json()["name"] == "Ada Lovelace"


def test_the_first_token_counts_at_once_and_the_last_leaves_nobody(small_home, tmp_path):
    home = copied_home(small_home, tmp_path / "home")
    stored = Tokens(home / TOKENS_FILE)
    with serving(home) as open_to_all:
        assert open_to_all.get("/v1/homes").status_code == 200
        stored.add("ann", ["read"])
        assert open_to_all.get("/v1/homes").status_code == 401
        stored.remove("ann")
        assert open_to_all.get("/v1/homes").status_code == 401


def test_the_service_tells_its_figures(service: httpx.Client) -> None:
    assert service.get("/health").json()["status"] == "ok"
    assert "almanac_request_seconds_count" in service.get("/metrics").text


def test_a_new_edition_is_served_without_a_restart(
    service: httpx.Client, served_home: Path, tmp_path: Path
) -> None:
    (tmp_path / "bell.md").write_text("# Ann Bell\n\nAnn Bell was born in Leeds in 1850.\n")
    refresh(Home(served_home), [str(tmp_path)], load_settings(served_home))

    assert _becomes(service, "/v1/entities/Ann Bell", 200)


def _becomes(service: httpx.Client, path: str, status: int) -> bool:
    """Ask until a page has this status, for at most 20 seconds."""
    import time

    ends = time.monotonic() + 20
    while service.get(path).status_code != status and time.monotonic() < ends:
        time.sleep(0.1)
    return service.get(path).status_code == status
