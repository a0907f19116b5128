"""The report's pages, live: with a box to ask in, and buttons that keep verdicts.

Everything works by plain forms, so no script is needed.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, urlencode

import orjson
from fastapi import APIRouter, Depends, FastAPI, Form, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

import schemas
from schemas.errors import AlmanacError
from schemas.knowledge import CORPUS
from schemas.row import Row
from tasks.report.document import document_page, document_rows
from tasks.report.entity import entities_page
from tasks.report.first_page import first_page
from tasks.report.links import PART_CHARS, Links
from tasks.report.lists import ENTRIES, LISTS, TABLES, list_page
from tasks.report.reading import read
from tasks.report.records import RECORDS, record_page
from tasks.report.relations import ENTRIES as RELATIONS_SHOWN
from tasks.report.relations import RELATIONS, relation_pages, relation_rows, relations_page
from tasks.report.templates import STATIC, environment, page
from tasks.service import readings
from tasks.service.api import Home, Key, Reading, needs, reader_of
from tasks.service.guard import COOKIE, POLICY
from tasks.service.judging import keep_correction, keep_feedback
from tasks.service.messages import (
    MOST_TURNS,
    AskRequest,
    CorrectionRequest,
    EarlierTurn,
    FeedbackRequest,
)
from tasks.service.shelf import OpenEdition

TEMPLATES = Path(__file__).with_name("templates")
PAGE_POLICY = POLICY.partition("; frame-ancestors")[0]  # which a page cannot declare for itself
Text = Annotated[str, Form(max_length=20_000)]
Number = Annotated[int, Query(ge=0, le=100_000)]
Sent = TypeVar("Sent", bound=BaseModel)
Handler = Callable[[Request, Any], Any]  # an error as its problem details


@dataclass(frozen=True)
class ServiceLinks:
    """Addresses of pages of the service; `home` is named in each if it is not the first."""

    edition: str
    home: str | None = None
    writes: bool = False  # whether the reader may correct
    policy: str = PAGE_POLICY
    live: bool = True

    def page(self, name: str, number: int = 0) -> str:
        """Return the address of the first page, of a list, or of `ask`."""
        return self._address("/" if name == "index" else f"/{name}", number=number or None)

    def asset(self, name: str) -> str:
        """Return the address of a style sheet, script or picture."""
        return f"/assets/{name}"

    def entity(self, entity_id: str) -> str:
        """Return the address of an entity's page."""
        return self._address(f"/e/{quote(entity_id, safe='')}")

    def facts(self, entity_id: str, number: int) -> str:
        """Return the address of all facts about an entity, as JSON."""
        return self._address("/v1/facts", head_id=entity_id)

    def document(self, document_id: str) -> str:
        """Return the address of a document's first page."""
        return self._address(f"/d/{quote(document_id, safe='')}")

    def place(self, document_id: str, start: int) -> str:
        """Return the address of a character of a document."""
        path = f"/d/{quote(document_id, safe='')}"
        return f"{self._address(path, part=start // PART_CHARS or None)}#c{start}"

    def relation(self, relation: str, graph: str) -> str:
        """Return the address of a relation's page."""
        return self.relation_facts(relation, graph, 0)

    def relation_facts(self, relation: str, graph: str, number: int) -> str:
        """Return the address of a page, from 0, with facts of a relation that has many."""
        return self._address("/r", relation=relation, graph=graph, number=number or None)

    def _address(self, path: str, **query: Any) -> str:
        named = {name: value for name, value in query.items() if value is not None}
        named |= {"home": self.home} if self.home else {}
        return f"{path}?{urlencode(named)}" if named else path


def links_of(request: Request, opened: OpenEdition) -> Links:
    """Return the addresses for a request's pages."""
    writes = "write" in reader_of(request).scopes
    return ServiceLinks(opened.edition.id, request.query_params.get("home"), writes)


pages = APIRouter(
    include_in_schema=False,
    dependencies=[Depends(needs("read"))],
    default_response_class=HTMLResponse,
)


def name_twin(response: Response, address: str) -> None:
    """Tell where the same as a page is as JSON."""
    response.headers["Link"] = f'<{address}>; rel="alternate"; type="application/json"'


def checked(kind: type[Sent], **values: Any) -> Sent:
    """Return what a form sends; raise RequestValidationError, which is answered by 422."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None


@pages.get("/")
def first(request: Request, home: Home, opened: Reading) -> str:
    """Show the first page."""
    with opened.cursor() as con:
        return first_page(con, home.home, opened.edition, links_of(request, opened))


@pages.get("/entities")
@pages.get("/documents")
def listed(request: Request, response: Response, opened: Reading, number: Number = 0) -> str:
    """Show a page of all things or all documents."""
    name = request.url.path.strip("/")
    rows, last = _rows(opened, TABLES[name], LISTS[name], number, ENTRIES)
    name_twin(response, f"/v1/{name}")
    return list_page(name, rows, number, last, links_of(request, opened))


@pages.get("/relations")
def relations(request: Request, opened: Reading, number: Number = 0) -> str:
    """Show a page of all relations."""
    rows, last = _rows(opened, schemas.Relation, RELATIONS, number, RELATIONS_SHOWN)
    return relations_page(rows, number, last, links_of(request, opened))


@pages.get("/r")
def relation(
    request: Request,
    response: Response,
    opened: Reading,
    relation: Key,
    graph: Key = CORPUS,
    number: Number = 0,
) -> str:
    """Show facts of a relation, the best supported first."""
    with opened.cursor() as con:
        rows = relation_rows(con, readings.clean(relation), readings.clean(graph), number)
    name_twin(response, f"/v1/facts?{urlencode({'relation': relation, 'graph': graph})}")
    return "".join(relation_pages([rows], links_of(request, opened)))


def _rows(
    opened: OpenEdition, table: type[Row], query: str, number: int, entries: int
) -> tuple[list[dict[str, Any]], int]:
    """Return the rows on a page of a list, and the number of its last page, both from 0."""
    with opened.cursor() as con:
        rows = list(islice(read(con, query), number * entries, (number + 1) * entries))
    return rows, max(0, -(-opened.edition.rows(table) // entries) - 1)


def record(request: Request, home: Home, opened: Reading) -> str:
    """Show sources, runs, rejections, evaluations or editions."""
    name = request.url.path.strip("/")
    with opened.cursor() as con:
        return record_page(name, con, home.home, opened.edition, links_of(request, opened))


for name in RECORDS:
    pages.get(f"/{name}")(record)


@pages.get("/e/{entity_id}")
def entity(entity_id: str, request: Request, response: Response, opened: Reading) -> str:
    """Show a thing."""
    found = opened.entity(readings.clean(entity_id))
    name_twin(response, f"/v1/entities/{quote(found.entity_id, safe='')}")
    return "".join(entities_page([found], found.name, links_of(request, opened)))


@pages.get("/d/{document_id}")
def document(
    document_id: str,
    request: Request,
    response: Response,
    opened: Reading,
    part: Number = 0,
) -> str:
    """Show a part of a document, with what was understood in it."""
    with opened.cursor() as con:
        rows = document_rows(con, readings.clean(document_id))
    name_twin(response, f"/v1/documents/{quote(document_id, safe='')}")
    return document_page(rows, links_of(request, opened), part)


@pages.post("/ask")
async def ask(
    request: Request,
    home: Home,
    opened: Reading,
    question: Text,
    asked: Annotated[list[str] | None, Form(max_length=MOST_TURNS)] = None,
    answered: Annotated[list[str] | None, Form(max_length=MOST_TURNS)] = None,
) -> str:
    """Answer a question on a page; earlier turns of the conversation come with the form."""
    turns = [
        checked(EarlierTurn, question=q, answer=a)
        for q, a in zip(asked or [], answered or [], strict=False)
    ]
    sent = checked(AskRequest, question=question, history=turns)
    answer = await asyncio.wrap_future(home.askers.answer(opened, sent))
    request.app.state.metrics.answer(answer)
    said = answer.answer or answer.remark or ""
    return page(
        "answer.html",
        links_of(request, opened),
        title=answer.question,
        here="",
        answer=answer,
        said=said,
        turns=[*turns, EarlierTurn(question=answer.question, answer=said[:1_000])][-MOST_TURNS:],
        judges="feedback" in reader_of(request).scopes,
    )


@pages.post("/verdict", dependencies=[Depends(needs("feedback"))])
def verdict(
    home: Home,
    opened: Reading,
    verdict: Text,
    back: Text = "/",
    question_id: Text = "",
    fact_id: Text = "",
) -> RedirectResponse:
    """Keep a verdict, and go back to the page."""
    sent = checked(
        FeedbackRequest,
        verdict=verdict,
        question_id=question_id or None,
        fact_id=fact_id or None,
    )
    keep_feedback(home, opened, sent)
    return RedirectResponse(local(back), HTTPStatus.SEE_OTHER)


@pages.post("/correct", dependencies=[Depends(needs("write"))])
def correct(
    home: Home,
    opened: Reading,
    action: Text,
    subject: Text,
    object: Text,
    name: Text = "",
    back: Text = "/",
) -> RedirectResponse:
    """Merge a thing with another or split it, from the next edition on; go back to the page."""
    sent = checked(
        CorrectionRequest, action=action, subject=subject, object=object, name=name or None
    )
    keep_correction(home.home, opened, sent)
    return RedirectResponse(local(back), HTTPStatus.SEE_OTHER)


login = APIRouter(include_in_schema=False)


@login.get("/login")
def show_login(then: str = "/") -> HTMLResponse:
    """Show the form for a token."""
    links = ServiceLinks("", None)
    return HTMLResponse(page("login.html", links, title="Almanac", here="", then=local(then)))


@login.post("/login")
def log_in(request: Request, token: Text, then: Text = "/") -> RedirectResponse:
    """Keep a browser's token in a cookie that only requests of our own pages carry."""
    response = RedirectResponse(local(then), HTTPStatus.SEE_OTHER)
    response.set_cookie(
        COOKIE,
        quote(token.strip(), safe=""),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


def local(address: str) -> str:
    """Return an address if it is one of ours, else that of the first page."""
    ours = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if ours and address.isprintable() else "/"


def _readable(handler: Handler) -> Handler:
    """Return a handler of errors whose problem details a browser gets as a page."""

    def handle(request: Request, error: Exception) -> Response:
        response = handler(request, error)
        if "text/html" not in request.headers.get("accept", "") or not response.body:
            return response
        problem = orjson.loads(response.body)
        links = ServiceLinks("", request.query_params.get("home"))
        words = page(
            "problem.html", links, title=problem["title"], here="", detail=problem["detail"]
        )
        return HTMLResponse(words, response.status_code)

    return handle


def add_pages(app: FastAPI) -> None:
    """Add the pages to the service."""
    folders = environment().loader.searchpath  # type: ignore[union-attr]
    if str(TEMPLATES) not in folders:
        folders.append(str(TEMPLATES))
    for kind in (AlmanacError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _readable(app.exception_handlers[kind]))
    app.include_router(pages)
    app.include_router(login)
    app.mount("/assets", StaticFiles(directory=STATIC))
