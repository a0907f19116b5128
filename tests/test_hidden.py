"""What a reader may not see is nowhere: in no file of his edition, no page, export or answer.

Each document that some readers do not see has a word of its own, in all that can be read of it.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

import schemas
from schemas.settings import Settings
from tasks.export.export import EXPORTERS, export
from tasks.import_graph import import_graph
from tasks.publish.for_reader import edition_for
from tasks.refresh import refresh
from tasks.report.write import write_report
from tasks.retrieval.words import WordIndex
from tasks.service.guard import Limits
from tasks.service.server import Serving, make_service, open_shelf
from tasks.service.tokens import TOKENS_FILE, Tokens
from tests.copied_home import copied_home
from tests.documents import write_texts
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.overrides import make_override

SETTINGS = Settings.model_validate({"workers": 1, "engine": {"encoder": "none"}})
SHARED = "Grace Hopper was born in New York in 1906. Grace Hopper wrote a compiler.\n"
OPEN = {
    "ada.md": "# Ada\n\nAda Lovelace was born in London in 1815. Ada Lovelace knew Mary Shelley.\n",
    "grace.md": f"# Grace\n\n{SHARED}",
}


def hidden(word: str, front_matter: str = "") -> dict[str, str]:
    """Return a document with a word in all that can be read of it, and two copies of open texts."""
    text = f"""---
author: {word} Smith
tags: [{word}]
status: {word}
{front_matter}
---
# {word} plans

Ada Lovelace lived in {word} City. Ada Lovelace, also called {word} Ada, owns {word} Ltd.
{word} Ltd is a company in Paris. Mary Shelley will leave {word} Ltd in 2031 because of {word}.

## {word} costs

{SHARED}
- {word}: Mary Shelley
"""
    return {
        f"{word}.md": text,
        f"{word}-copy.md": OPEN["ada.md"],
        f"{word}-near.md": OPEN["ada.md"].replace("knew", f"{word} knew"),
    }


WORDS = {"Qwhr": "hr", "Qwboard": "board", "Qwletter": "sensitive", "Qwgraph": "staff"}
READERS = [(), ("hr", "staff"), ("board", "sensitive")]


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with open documents, some of every kind that readers may not see, and a graph."""
    folder = tmp_path_factory.mktemp("hidden")
    home = Home(folder / "home")
    texts = OPEN | hidden("Qwboard", "labels: [Board]")
    copies = {
        name: f"---\nlabel: board\n---\n{text}" for name, text in texts.items() if "-" in name
    }
    refresh(home, [str(write_texts(folder / "open", texts | copies))], SETTINGS)
    sensitive = str(write_texts(folder / "letters", hidden("Qwletter")))
    refresh(home, [sensitive], SETTINGS, sensitive=True)
    graph = folder / "graph.tsv"
    graph.write_text("Ada Lovelace\tworks for\tQwgraph Ltd\n", encoding="utf-8")
    import_graph(home, graph, SETTINGS, name="staff", labels=["staff"])
    refresh(home, [str(write_texts(folder / "hr", hidden("Qwhr")))], SETTINGS, labels=["hr"])
    return home


@pytest.fixture(scope="module", params=READERS, ids=" ".join)
def read(request: pytest.FixtureRequest, labelled: Home) -> tuple[Edition, set[str]]:
    """A reader's edition, and the words that he may not see."""
    edition = edition_for(labelled, labelled.require_edition(), request.param)
    return edition, {word for word, label in WORDS.items() if label not in request.param}


def uris(edition: Edition) -> list[str]:
    return edition.table(schemas.Document)["uri"].to_pylist()


def words_in(text: str) -> set[str]:
    """Return which of the words stand in a text, in whatever case."""
    return {word for word in WORDS if word.lower() in text.lower()}


def texts_of(file: Path) -> Iterator[str]:
    """Yield what a file holds as texts: its name, and its rows, arrays, words or characters."""
    yield str(file.name)
    match file.suffix:
        case ".parquet":
            yield json.dumps(pq.read_table(file).to_pylist(), default=str)
        case ".arrow":
            yield json.dumps(pa.ipc.open_file(file).read_all().to_pylist(), default=str)
        case ".npy" | ".npz":
            loaded = np.load(file, allow_pickle=False)
            arrays = [loaded] if isinstance(loaded, np.ndarray) else list(loaded.values())
            yield from (repr(array.tolist()) for array in arrays)
        case ".duckdb":
            with duckdb.connect(str(file), read_only=True) as con:
                for (table,) in con.execute("select table_name from duckdb_tables()").fetchall():
                    yield json.dumps(con.table(table).to_arrow_table().to_pylist(), default=str)
        case _:
            yield file.read_bytes().decode("latin-1")


def words_below(folder: Path) -> set[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return {word for file in files for text in texts_of(file) for word in words_in(text)}


def test_no_file_of_an_edition_tells_of_what_is_hidden(read):
    edition, unseen = read
    assert words_below(edition.path) == WORDS.keys() - unseen
    indexes = [
        WordIndex(edition.path / "search" / "words" / name) for name in ("passages", "notes")
    ]
    assert not [word for word in unseen for index in indexes if index.frequency(word)]


def test_nor_does_a_report(read, labelled, tmp_path):
    edition, unseen = read
    write_report(labelled, edition, tmp_path)
    assert words_below(tmp_path) == WORDS.keys() - unseen


@pytest.mark.parametrize("format", EXPORTERS)
def test_nor_does_an_export(read, tmp_path, format):
    edition, unseen = read
    export(edition, format, tmp_path / "out", spill=tmp_path / "spill")
    assert words_below(tmp_path) <= WORDS.keys() - unseen


NUMBERS = """
    select 'fact', head, relation, tail, support, mentions, round(confidence, 6) from triples
    union all select 'thing', name, kind, description, mentions, documents, 0 from entities
    union all select 'name', name, alias, null, 0, 0, round(weight, 6)
        from aliases join entities using (entity_id)
    union all select 'yield', language, null, null, sentences, with_fact, 0 from yields
    union all select 'document', uri, near_duplicate_of, array_to_string(duplicates, ' '), words, 0,
        0 from documents
    order by all
"""


def test_an_edition_is_as_if_the_rest_were_not_there(labelled, tmp_path):
    alone = Home(tmp_path / "alone")
    refresh(alone, [str(write_texts(tmp_path / "open", OPEN))], SETTINGS)
    of_reader = edition_for(labelled, labelled.require_edition(), [])
    with of_reader.connect() as seen, alone.require_edition().connect() as expected:
        assert seen.execute(NUMBERS).fetchall() == expected.execute(NUMBERS).fetchall()


def test_other_labels_of_a_source_show_or_hide_it_in_every_edition(labelled, tmp_path):
    home = Home(copied_home(labelled.path, tmp_path / "home"))
    old = home.require_edition()
    assert words_in(str(uris(edition_for(home, old, [])))) == set()
    refresh(home, [str(labelled.path.parent / "hr")], SETTINGS, labels=["none"])
    assert words_in(str(uris(edition_for(home, old, [])))) == {"Qwhr"}
    assert words_in(str(uris(edition_for(home, home.require_edition(), [])))) == {"Qwhr"}
    refresh(home, [str(labelled.path.parent / "hr")], SETTINGS, labels=["board"])
    assert words_in(str(uris(edition_for(home, old, [])))) == set()


def test_readers_editions_go_with_the_one_that_they_are_made_from(labelled, tmp_path):
    home = Home(copied_home(labelled.path, tmp_path / "home"))
    first, *_, last = home.editions.all()
    beside = [edition_for(home, edition, []) for edition in (first, last)]
    assert first in home.editions.prune(keep=1, days=0)
    assert [edition.path.exists() for edition in beside] == [False, True]


@pytest.fixture(scope="module")
def service(labelled: Home) -> Iterator[TestClient]:
    """The service in this process, asked by readers with tokens."""
    serving = Serving(limits=Limits(rate=1e6, burst=10**6))
    shelf = open_shelf({"home": (labelled, SETTINGS)}, serving)
    Tokens(labelled.path / TOKENS_FILE).add("owner", ["write"])
    with TestClient(make_service(shelf, serving), base_url="http://localhost") as client:
        yield client


@pytest.fixture(params=READERS, ids=" ".join)
def asked(request, service, labelled) -> tuple[Callable[..., str], set[str]]:
    """What is sent to the service by a reader is answered, and the words that he may not see."""
    tokens = Tokens(labelled.path / TOKENS_FILE)
    token = tokens.add(f"reader {' '.join(request.param)}", ["read"], request.param)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}

    def text(method: str, address: str, **more: object) -> str:
        answered = service.request(method, address, headers=headers, **more)
        assert answered.status_code < 500
        return f"{answered.text} {answered.headers}"

    yield text, {word for word, label in WORDS.items() if label not in request.param}
    tokens.remove(f"reader {' '.join(request.param)}")


ADDRESSES = [
    "/v1/entities?limit=200", "/v1/facts?limit=200", "/v1/statements?limit=200",
    "/v1/documents?limit=200", "/v1/changes?limit=200", "/v1/search?q=Mary Shelley plans&limit=50",
    "/v1/entities/Ada Lovelace", "/v1/entities/Mary Shelley", "/v1/entities/Qw", "/v1/editions",
    "/", "/entities", "/documents", "/metrics",
]  # fmt: skip
TABLES = [row.table for row in (*schemas.EDITION, *schemas.LIVE, *schemas.VIEWS)]
EVERYTHING = " union all ".join(f"select to_json(t)::varchar from {table} t" for table in TABLES)
QUESTIONS = ["Where was Ada Lovelace born?", "Who is Mary Shelley?", "What are the main themes?"]


def test_nor_does_the_service(asked):
    text, unseen = asked
    answers = [text("GET", address) for address in ADDRESSES]
    answers.append(text("POST", "/v1/sql", json={"query": EVERYTHING, "limit": 10_000}))
    answers += [text("POST", "/v1/ask", json={"question": question}) for question in QUESTIONS]
    assert "error" not in answers[-4]
    assert words_in(" ".join(answers)) == WORDS.keys() - unseen


def test_nor_do_errors_on_the_way_to_something_hidden(asked, labelled):
    text, unseen = asked
    with labelled.require_edition().connect() as con:
        whole = con.execute("select document_id, uri from documents").fetchall()
        named = con.execute("select entity_id, name from entities").fetchall()
    closed = [key for key, name in (*whole, *named) if words_in(name) & unseen]
    assert closed
    kinds = ("documents", "entities")
    answers = [text("GET", f"/v1/{kind}/{key}") for kind in kinds for key in closed]
    answers += [text("GET", f"/{kind}/{key}") for kind in "de" for key in closed]
    assert not words_in(" ".join(answers)) & unseen


def test_nor_do_tools_of_models(asked):
    text, unseen = asked
    calls = [
        ("search", {"words": "Mary Shelley plans"}),
        ("entity", {"name": "Ada Lovelace", "graph": "corpus"}),
        ("facts", {"limit": 100}),
        ("documents", {"limit": 100}),
        ("sql", {"query": "from statements"}),
        ("ask", {"question": QUESTIONS[0]}),
    ]
    answers = [
        text("POST", "/mcp", json={
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        })
        for name, arguments in calls
    ]  # fmt: skip
    assert [answer for answer in answers if '"isError":false' not in answer] == []
    assert words_in(" ".join(answers)) == WORDS.keys() - unseen


def test_corrections_of_what_is_hidden_are_neither_seen_nor_undone(service, labelled):
    whole = labelled.require_edition()
    facts = {row["head"]: row["triple_id"] for row in whole.table(schemas.Triple).to_pylist()}
    closed, open_ = (
        make_override(labelled, whole, "reject", facts[head]).override_id
        for head in ("Qwhr Ltd", "Grace Hopper")
    )
    token = Tokens(labelled.path / TOKENS_FILE).add("editor", ["read", "write"])
    service.headers["Authorization"] = f"Bearer {token}"

    seen = {row["override_id"] for row in service.get("/v1/corrections").json()}
    assert open_ in seen and closed not in seen
    for subject, status in ((closed, 400), (open_, 200)):
        withdrawal = {"action": "withdraw", "subject": subject}
        assert service.post("/v1/corrections", json=withdrawal).status_code == status
    run = labelled.live.table(schemas.Run)["run_id"][0].as_py()
    excluded = {"action": "exclude", "subject": run}
    assert service.post("/v1/corrections", json=excluded).status_code == 400
