"""The service over HTTP: JSON for programs, described by its own OpenAPI document."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response, Security
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, StreamingResponse
from fastapi.security import HTTPBearer
from fastapi.sse import format_sse_event
from pydantic import BaseModel, TypeAdapter
from starlette.exceptions import HTTPException

import schemas
from schemas.answers import Answer
from schemas.errors import AlmanacError
from schemas.observations import Override
from tasks.ask.route import Watcher
from tasks.service import messages, readings
from tasks.service.judging import corrections_seen, keep_correction, keep_feedback
from tasks.service.messages import Page, Problem
from tasks.service.metrics import Metrics
from tasks.service.problems import problem, problem_of
from tasks.service.shelf import OpenEdition, ServedHome, Shelf
from tasks.service.tokens import Reader, Scope
from tasks.show import EntityPage
from tasks.version import code_version

DESCRIPTION = """
What an almanac knows, with the place of every fact. Each response tells its edition as `ETag`;
send it as `If-None-Match`, and an unchanged edition costs nothing (304). Lists go on with `after`.
With several homes, `home` names one. Errors are problem details (RFC 9457).
"""
Key = Annotated[str, Query(min_length=1, max_length=2_000)]
Filter = Annotated[str | None, Query(max_length=2_000)]
After = Annotated[str | None, Query(max_length=200, description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=readings.MOST_ROWS)]
HomeName = Annotated[
    str | None, Query(max_length=100, description="One of several homes (the first).")
]
_problem = {"content": {"application/problem+json": {"schema": Problem.model_json_schema()}}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": HTTPStatus(status).phrase, **_problem}
    for status in (400, 401, 403, 404, 405, 408, 409, 413, 421, 422, 429, 500, 503)
}
UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "The edition is unchanged."}}


def reader_of(request: Request) -> Reader:
    """Return who asks, as the guard found out."""
    reader: Reader = request.scope["reader"]
    return reader


def needs(scope: Scope) -> Callable[[Request], Awaitable[None]]:
    """Return a dependency that refuses readers without a scope."""

    async def check(request: Request) -> None:
        if scope not in reader_of(request).scopes:
            raise HTTPException(HTTPStatus.FORBIDDEN, f"This needs a token with the scope {scope}.")

    return check


async def served_home(request: Request, home: HomeName = None) -> ServedHome:
    """Return the home that a request names, or the first."""
    shelf: Shelf = request.app.state.shelf
    return shelf.home(home)


Home = Annotated[ServedHome, Depends(served_home)]


async def reading(request: Request, response: Response, home: Home) -> AsyncIterator[OpenEdition]:
    """Yield the edition for the reader; answer 304 if the client has read it already."""
    labels = reader_of(request).labels
    opened = home.take_open(labels)
    if opened is None:
        opened = await asyncio.to_thread(home.take, labels)
    try:
        tag = f'"{opened.edition.id}"'
        if request.method == "GET" and tag in request.headers.get("if-none-match", ""):
            raise HTTPException(HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
        response.headers["ETag"] = tag
        yield opened
    finally:
        opened.release()


Reading = Annotated[OpenEdition, Depends(reading)]


async def known_parameters(request: Request, home: HomeName = None) -> None:
    """Refuse a request with a parameter that its address does not have; each may name a home."""
    known = _parameters(request.scope["route"].dependant)
    unknown = sorted(request.query_params.keys() - known)
    if unknown:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"There is no parameter {unknown[0]!r} here. The parameters: "
            f"{', '.join(sorted(known))}.",
        )


def _parameters(dependant: Dependant) -> set[str]:
    own = {field.alias for field in dependant.query_params}
    return own.union(*map(_parameters, dependant.dependencies))


ALLOWED = [Depends(needs("read")), Security(HTTPBearer(auto_error=False))]
router = APIRouter(
    prefix="/v1", dependencies=[*ALLOWED, Depends(known_parameters)], responses=PROBLEMS
)


# -- questions ------------------------------------------------------------------------------------


@router.post("/ask")
async def ask(request: Request, asked: messages.AskRequest, home: Home, opened: Reading) -> Answer:
    """Answer a question, with its sources; `answerable` is false if the almanac does not know."""
    answer = await asyncio.wrap_future(home.askers.answer(opened, asked))
    request.app.state.metrics.answer(answer)
    return answer


@router.post(
    "/ask/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Events: `sources` (places that are read), `text` (pieces), `footnotes` "
            "(the evidence) and `answer` (all of it), or `problem`.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def ask_streamed(
    request: Request, asked: messages.AskRequest, home: Home, opened: Reading
) -> StreamingResponse:
    """Answer a question while it is written: sources first, then text, then footnotes."""
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()

    def put(event: tuple[str, Any] | None) -> None:
        loop.call_soon_threadsafe(events.put_nowait, event)

    watcher = Watcher(
        lambda places: put(("sources", list(places))), lambda piece: put(("text", piece))
    )
    future = home.askers.answer(opened, asked, watcher)
    future.add_done_callback(lambda _: put(None))

    async def written() -> AsyncIterator[bytes]:
        shown: set[str] = set()
        while (event := await events.get()) is not None:
            shown.add(event[0])
            yield _event(*event)
        try:
            answer = future.result()
        except AlmanacError as error:
            yield _event("problem", bytes(problem_of(error).body))
            return
        request.app.state.metrics.answer(answer)
        evidence = [one.model_dump(mode="json") for one in answer.evidence]
        if "sources" not in shown:
            yield _event("sources", list(dict.fromkeys(one.cited_as for one in answer.evidence)))
        if "text" not in shown:
            yield _event("text", answer.answer or answer.remark or "")
        yield _event("footnotes", evidence)
        yield _event("answer", answer.model_dump_json().encode())

    return StreamingResponse(written(), media_type="text/event-stream")


_JSON = TypeAdapter(Any)


def _event(name: str, data: Any) -> bytes:
    """Return a server-sent event; `data` is a JSON value, or bytes that are JSON already."""
    text = data if isinstance(data, bytes) else _JSON.dump_json(data)
    written: bytes = format_sse_event(event=name, data_str=text.decode())
    return written


@router.get("/search", responses=UNCHANGED)
def search(
    opened: Reading,
    q: Annotated[str, Query(min_length=1, max_length=2_000, examples=["radium discovery"])],
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
    where: messages.Where = None,
) -> list[messages.Found]:
    """Find passages and notes by words and meaning, best first."""
    return [messages.Found(**row) for row in opened.search(q, limit, where)]


@router.post("/sql")
def sql(asked: messages.SqlRequest, home: Home, opened: Reading) -> readings.SqlRows:
    """Run one read-only query on the edition, with the limits of `almanac sql`."""
    return readings.sql_rows(home, opened, asked.query, asked.limit)


# -- rows -----------------------------------------------------------------------------------------


def _add_list(name: str, item: type[BaseModel], words: str) -> None:
    """Add the address that lists a table, with a parameter for each column that filters it."""
    listed = readings.LISTED[name]

    def given(**values: str | None) -> dict[str, str | None]:
        return values

    filters = [
        Parameter(column, Parameter.KEYWORD_ONLY, default=None, annotation=Filter)
        for column in listed.filters
    ]
    given.__signature__ = Signature(filters)  # type: ignore[attr-defined]

    @router.get(f"/{name}", responses=UNCHANGED, name=name, description=words)
    def rows(
        opened: Reading,
        filters: Annotated[dict[str, str | None], Depends(given)],
        after: After = None,
        limit: Limit = 50,
    ) -> Page[item]:  # type: ignore[valid-type]
        if listed.row is schemas.Change and not opened.edition.is_whole:
            words = "What changed is hidden from readers who do not see every document."
            raise HTTPException(HTTPStatus.FORBIDDEN, words)
        found, more = readings.page_of(opened, listed, filters, after, limit)
        return Page(items=found, next=more)


_add_list("entities", schemas.Entity, "List things.")
_add_list("facts", schemas.Triple, "List facts.")
_add_list("statements", schemas.Statement, "List what clauses say, in their own words.")
_add_list("documents", messages.DocumentEntry, "List documents, without their texts.")
_add_list("changes", schemas.Change, "List what differs from the edition before.")


@router.get("/entities/{entity}", responses=UNCHANGED)
def entity(entity: str, opened: Reading, graph: Filter = None) -> EntityPage:
    """Tell everything that is known about the thing with this id, name or alias."""
    return opened.entity(readings.clean(entity), graph)


@router.get("/facts/{fact_id}", responses=UNCHANGED)
def fact(fact_id: str, opened: Reading) -> messages.FactWithPlaces:
    """Tell a fact, with every place that states it."""
    row = readings.row_of(opened, readings.LISTED["facts"], fact_id)
    places = [messages.Place(**place) for place in readings.places_of(opened, fact_id)]
    return messages.FactWithPlaces(fact=row, places=places)


@router.get("/statements/{statement_id}", responses=UNCHANGED)
def statement(statement_id: str, opened: Reading) -> schemas.Statement:
    """Tell a statement."""
    row = readings.row_of(opened, readings.LISTED["statements"], statement_id)
    return schemas.Statement(**row)


@router.get("/documents/{document_id}", responses=UNCHANGED)
def document(
    document_id: str,
    opened: Reading,
    start: Annotated[int, Query(ge=0, le=1 << 40)] = 0,
    length: Annotated[int, Query(ge=1, le=200_000)] = 20_000,
) -> messages.DocumentText:
    """Give a part of a document's text, and what was understood in it."""
    return messages.DocumentText(**readings.document_of(opened, document_id, start, length))


@router.get("/editions", responses=UNCHANGED)
def editions(home: Home, opened: Reading) -> list[messages.EditionEntry]:
    """List the published editions, oldest first."""
    stored = home.home.editions
    return [
        messages.EditionEntry(
            edition=edition.id, built_at=edition.built_at, state=stored.state(edition)
        )
        for edition in stored.history()
    ]


@router.get("/homes")
def homes(request: Request) -> list[str]:
    """List the names of the homes that are served; the first is meant where none is named."""
    shelf: Shelf = request.app.state.shelf
    return list(shelf.homes)


# -- verdicts and corrections ---------------------------------------------------------------------


@router.post("/feedback", dependencies=[Depends(needs("feedback"))])
def feedback(
    asked: messages.FeedbackRequest, home: Home, opened: Reading
) -> messages.FeedbackResult:
    """Judge an answer or a fact; `almanac audit` and `almanac feedback` count it."""
    return keep_feedback(home, opened, asked)


@router.get("/corrections", dependencies=[Depends(needs("write"))])
def corrections(home: Home, opened: Reading) -> list[Override]:
    """List the corrections in force of what the reader may see."""
    return [Override(**row) for row in corrections_seen(home.home, opened)]


@router.post("/corrections", dependencies=[Depends(needs("write"))])
def correct(asked: messages.CorrectionRequest, home: Home, opened: Reading) -> Override:
    """Correct what is read, as `almanac override` does, or withdraw a correction."""
    return keep_correction(home.home, opened, asked)


# -- the application ------------------------------------------------------------------------------


def make_app(shelf: Shelf, metrics: Metrics) -> FastAPI:
    """Return the application; its lifespan opens the homes, warms the models, and closes them."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as running:
            for home in shelf.homes.values():
                running.push_async_callback(asyncio.to_thread, home.close)
                await asyncio.to_thread(home.start)
            for manager in app.state.managers:
                await running.enter_async_context(manager.run())
            yield

    app = FastAPI(
        title="Almanac",
        version=code_version(),
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.shelf, app.state.metrics, app.state.managers = shelf, metrics, []
    app.include_router(router)

    @app.get("/health")
    async def health() -> messages.Health:
        """Say that the service is up; needs no token."""
        return messages.Health(
            version=code_version(),
            editions={name: home.edition for name, home in shelf.homes.items()},
        )

    @app.get("/metrics", response_class=PlainTextResponse, dependencies=ALLOWED, responses=PROBLEMS)
    def figures() -> Response:
        """Give figures that Prometheus reads."""
        numbers = {name: int(home.edition.partition("-")[0]) for name, home in shelf.homes.items()}
        return Response(metrics.text(numbers), media_type="text/plain; version=0.0.4")

    app.add_exception_handler(AlmanacError, _ours)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _unexpected)
    return app


def _ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, AlmanacError)
    return problem_of(error)


def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.NOT_MODIFIED:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return problem(error.status_code, error.detail, headers)


def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [
        {"at": ".".join(map(str, fault["loc"])), "says": fault["msg"]} for fault in error.errors()
    ]
    words = "; ".join(f"{fault['at']}: {fault['says']}" for fault in faults[:3])
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{words}.", errors=faults)


def _unexpected(_: Request, error: Exception) -> Response:
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "Something unexpected went wrong; the service's log on its machine says where.",
    )
