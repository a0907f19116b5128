"""Remote knowledge bases that fail or send nonsense; their cache and limits."""

import gzip
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.settings import EngineSettings, KnowledgeBaseSettings, Settings
from tasks.ask.asker import Asker
from tasks.import_graph import import_graph
from tasks.programs.knowledge_bases.cndbpedia import CnDbpedia
from tasks.programs.knowledge_bases.protocol import EntityRef, KnowledgeBase
from tasks.programs.knowledge_bases.web import Web
from tasks.programs.knowledge_bases.wikidata import Wikidata
from tasks.programs.knowledge_bases.wikipedia import Wikipedia
from tasks.programs.program_run import run_program
from tests.knowledge_server import Handler, World
from tests.remote_bases import MIRA, PROGRAM, OpenRemote, RemoteBases, replying, stated, status
from warehouse.home import Home


def test_troubles_stand_in_the_messages_of_a_program(world: World, open_remote: OpenRemote) -> None:
    world.always = status(403)
    remote = open_remote()
    run = run_program(PROGRAM, remote.wikipedia(), "How many live where Mira Holt was born?")
    host = f"127.0.0.1:{world.port}"
    wanted = f"[FROM Wikipedia/Wikidata] {host} refused the request (HTTP 403). It may wish for an"
    assert run.messages[-1].startswith(wanted)
    assert not run.found


def test_people_are_told_of_a_knowledge_base_that_failed(home: Home, world: World) -> None:
    world.always = status(403)
    settings = Settings(
        engine=EngineSettings(encoder="none"), knowledge_bases=world.settings(remote=True)
    )
    (home.path.parent / "kb.tsv").write_text("Ada\tlikes\ttea\n", encoding="utf-8")
    import_graph(home, home.path.parent / "kb.tsv", settings, name="poets")
    with Asker(home, home.require_edition(), settings) as asker:
        assert asker.warnings == []
        assert asker.answer("Where was Mira Holt born?").answer is None
        assert any("refused the request (HTTP 403)" in words for words in asker.warnings)


def slow(seconds: float) -> Any:
    def fault(handler: Handler) -> None:
        time.sleep(seconds)
        handler.reply(200, b"{}")

    return fault


def dripping(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)
    handler.close_connection = True


def huge(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b"[" * 100_000)
    handler.close_connection = True


def cut(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b"{")
    handler.close_connection = True


def hang_up(handler: Handler) -> None:
    handler.close_connection = True
    handler.connection.close()


def elsewhere(handler: Handler) -> None:
    port = handler.world.port
    handler.reply(302, b"", Location=f"http://127.0.0.2:{port}/wikidata/w/api.php")


def in_circles(handler: Handler) -> None:
    handler.reply(302, b"", Location=handler.path)


def api_error(code: str) -> Any:
    body = b'{"error": {"code": "%s", "info": "Say it again."}}' % code.encode()
    return replying(200, body)


BOMB = gzip.compress(b"[" + b" " * 20_000_000)
FAULTS = {
    "slow": (slow(5), "did not answer within 0.4 seconds"),
    "dripping": (dripping, "did not answer within 0.4 seconds"),
    "huge": (huge, "more than 1,000,000 bytes"),
    "bomb": (replying(200, BOMB, Content_Encoding="gzip"), "more than 1,000,000 bytes"),
    "no JSON": (replying(200, b'{"search": ['), "not JSON"),
    "nested": (replying(200, b"[" * 100_000 + b"]" * 100_000), "not JSON"),
    "cut": (cut, "was not reached"), "hang up": (hang_up, "was not reached"),
    "elsewhere": (elsewhere, "another host"), "in circles": (in_circles, "without end"),
    "busy": (status(503), "is busy (HTTP 503)"),
    "too many": (status(429, Retry_After="600"), "asked again in"),
    "forbidden": (status(403), "refused the request (HTTP 403)"),
    "brotli": (replying(200, b"{}", Content_Encoding="br"), "compression"),
    "damaged": (replying(200, b"{}", Content_Encoding="gzip"), "damaged"),
    "refusal": (api_error("badvalue"), "Say it again"),
    "lag": (api_error("maxlag"), "Say it again"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_service_that_fails_makes_a_knowledge_base_silent(
    name: str, world: World, tmp_path: Path
) -> None:
    world.always, words = FAULTS[name]
    deadline = 0.4 if words.startswith("did not answer") else 10.0
    remote = RemoteBases(
        tmp_path, world, deadline_seconds=deadline, attempts=2, max_reply_bytes=1_000_000
    )
    base = remote.wikidata()
    begin = time.monotonic()
    assert base.entity_linking("Who is Mira Holt?", ["Mira Holt"]) == []
    before = len(world.asked)
    assert base.get_entity_triples(MIRA) == []
    assert base.get_entity_info(MIRA) == ""
    assert time.monotonic() - begin < 5.0
    assert len(base.troubles) <= 2  # the API and the query service
    assert words in base.troubles[0]
    assert len(world.requests("/wikidata/")) == before  # it was left alone afterwards
    remote.web.close()


@pytest.mark.parametrize("fault", [status(503), hang_up, cut, api_error("ratelimited")])
def test_what_passes_is_tried_again(fault: Any, world: World, remote: RemoteBases) -> None:
    world.faults = [fault]
    base = remote.wikidata()
    assert base.entity_linking("Who is Mira Holt?", ["Mira Holt"])
    assert base.troubles == []
    assert len(world.asked) == 2


def test_the_pause_that_is_asked_for_is_kept_by_everybody(
    world: World, remote: RemoteBases
) -> None:
    world.faults = [status(429, Retry_After="1")]
    begin = time.monotonic()
    assert remote.cndbpedia().entity_linking("李明是谁？", ["李明"])
    assert time.monotonic() - begin >= 1.0
    world.faults = [status(429, Retry_After="300")]
    first, second = remote.wikidata(), remote.cndbpedia()
    assert first.entity_linking("Who?", ["Bergen"]) == []
    before = len(world.asked)
    assert second.entity_linking("谁？", ["小李"]) == []  # the same host, another question
    assert "is busy (HTTP 429). It is asked again in" in second.troubles[0]
    assert len(world.asked) == before


def test_a_redirect_within_the_host_is_followed(world: World, remote: RemoteBases) -> None:
    world.faults = [
        lambda handler: handler.reply(
            301, b"", Location=handler.path.replace("/wikidata/w/", "/wikidata/new/")
        )
    ]
    assert remote.wikidata().entity_linking("Who is Mira Holt?", ["Mira Holt"])
    assert world.asked[1][0] == "/wikidata/new/api.php"


def test_a_service_that_is_not_there(open_remote: OpenRemote) -> None:
    remote = open_remote(attempts=1, cndbpedia_url="http://127.0.0.1:1/api")
    base = remote.cndbpedia()
    assert base.entity_linking("李明是谁？", ["李明"]) == []
    assert base.troubles[0].startswith("127.0.0.1:1 was not reached")


def test_facts_of_an_entity_without_the_query_service(open_remote: OpenRemote) -> None:
    remote = open_remote(attempts=1, wikidata_sparql_url="http://127.0.0.1:1/sparql")
    base = remote.wikidata()
    assert ("child", "2", False) in stated(base.get_entity_triples(MIRA))
    assert len(base.troubles) == 1
    assert base.entity_linking("Who is Mira Holt?", ["Mira Holt"])
    remote = open_remote(wikidata_sparql_url="")
    base = remote.wikidata()
    assert not any(fact.inverse for fact in base.get_entity_triples(MIRA))
    assert base.troubles == []


def test_refusals_are_not_kept(world: World, remote: RemoteBases) -> None:
    world.faults = [api_error("badvalue")]
    assert remote.wikidata().entity_linking("Who is Mira Holt?", ["Mira Holt"]) == []
    assert remote.wikidata().entity_linking("Who is Mira Holt?", ["Mira Holt"])


HOSTILE = [
    "", " ", "|", "Q1|Q2", "a" * 100_000, "\ud800", "\x00\x1b[31m", "'; DROP TABLE replies; --",
    "} ?s ?p ?o . {", "../../etc/passwd", "http://127.0.0.1:1/", "\u202eevil", "[[x]]",
    "％\r\nHost: x",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_only_names(name: str, remote: RemoteBases, world: World) -> None:
    for base in (remote.wikidata(), remote.wikipedia(), remote.cndbpedia()):
        assert isinstance(base.entity_linking(name, [name, "Mira Holt"]), list)
        hostile = EntityRef(base.name, name, name)
        assert base.get_entity_triples(hostile) == []
        assert base.get_entity_info(hostile) == ""
        assert base.troubles == []
    assert world.requests("/sparql") == []


KEYS = [
    "search", "entities", "Q1", "claims", "labels", "en", "value", "results", "bindings", "subject",
    "query", "pages", "title", "extract", "ret", "status", "mainsnak", "datavalue", "pageprops",
    "P1", "id",
]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=12,
)


class Canned(Web):
    """Gives one reply to everything, sending nothing."""

    def __init__(self, settings: KnowledgeBaseSettings, value: Any) -> None:
        super().__init__(settings, Path("/nonexistent/cache.sqlite"))
        self.value = value

    def fetch(self, calls: Any, until: float) -> list[Any]:
        from tasks.programs.knowledge_bases.remote_call import RemoteReply

        return [RemoteReply(self.value) for _ in calls]


@given(JSON)
def test_json_of_any_shape_is_borne(value: Any) -> None:
    settings = KnowledgeBaseSettings(remote=True)
    web = Canned(settings, value)
    bases: list[KnowledgeBase] = [
        Wikidata(web, settings, "en"), Wikipedia(web, settings, "en"), CnDbpedia(web, settings)
    ]  # fmt: skip
    for base in bases:
        for one in base.entity_linking("Who is Mira?", ["Mira"]):
            assert one.entity.name
        assert isinstance(base.get_entity_info(MIRA), str)
        for fact in base.get_entity_triples(MIRA):
            assert isinstance(fact.relation, str)
            assert isinstance(fact.text, str)


# -- the cache, and limits of time and of requests at once ----------------------------------------


def test_a_question_has_so_much_time_for_a_knowledge_base(
    world: World, open_remote: OpenRemote
) -> None:
    remote = open_remote(question_seconds=0.4)
    assert remote.cndbpedia().entity_linking("李明是谁？", ["李明"])  # all is loaded
    world.delay = 0.15
    base = remote.wikipedia()
    begin = time.monotonic()
    found = base.entity_linking("Where was Mira Holt born?", ["Mira Holt"])
    base.get_entity_triples(found[0].entity if found else MIRA)
    assert time.monotonic() - begin < 1.0
    assert base.troubles


def test_not_more_requests_at_once_than_allowed(world: World, open_remote: OpenRemote) -> None:
    world.delay = 0.05
    remote = open_remote(concurrency=2)
    remote.wikidata()._labels.names([f"Q{number}" for number in range(1, 400)])
    assert world.most_at_once == 2


def test_many_questions_at_once(world: World, remote: RemoteBases) -> None:
    def ask(_: int) -> int:
        base = remote.wikipedia()
        found = base.entity_linking("Where was Mira Holt born?", ["Mira Holt"])
        return len(base.get_entity_triples(found[0].entity))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(16))) == {8}
    assert world.most_at_once <= remote.settings.concurrency * 2  # two names of one host


def test_a_forked_process_asks_with_its_own_connections(world: World, remote: RemoteBases) -> None:
    assert remote.cndbpedia().entity_linking("李明是谁？", ["李明"])
    child = os.fork()
    if child == 0:
        found = remote.cndbpedia().entity_linking("小李是谁？", ["小李"])
        os._exit(0 if found else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert remote.wikidata().entity_linking("Who is Mira Holt?", ["Mira Holt"])


def test_replies_are_kept_in_the_home(world: World, open_remote: OpenRemote) -> None:
    for _ in range(2):
        remote = open_remote()
        assert remote.cndbpedia().entity_linking("李明是谁？", ["李明"])
        remote.web.close()
    assert len(world.asked) == 1


def test_old_replies_are_asked_again_and_stand_in_for_a_service_that_fails(
    world: World, open_remote: OpenRemote
) -> None:
    remote = open_remote(fresh_days=0, attempts=1)
    for _ in range(2):
        assert remote.cndbpedia().entity_linking("李明是谁？", ["李明"])
    assert len(world.asked) == 2
    world.always = status(500)
    base = remote.cndbpedia()
    assert base.entity_linking("李明是谁？", ["李明"])
    assert "is busy (HTTP 500). A reply from 0 days ago is used." in base.troubles[0]


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\0broken"])
def test_a_damaged_cache_is_begun_anew(
    content: bytes, world: World, tmp_path: Path, open_remote: OpenRemote
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "knowledge_bases.sqlite").write_bytes(content)
    for _ in range(3):
        remote = open_remote()
        assert remote.cndbpedia().entity_linking("李明是谁？", ["李明"])
        remote.web.close()
    assert len(world.asked) <= 2


def test_no_cache_at_all(tmp_path: Path, open_remote: OpenRemote) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    remote = open_remote()
    assert remote.cndbpedia().entity_linking("李明是谁？", ["李明"])


def test_the_cache_forgets_the_oldest(tmp_path: Path) -> None:
    from tasks.programs.knowledge_bases.reply_cache import PRUNED_EVERY, ReplyCache

    cache = ReplyCache(tmp_path / "kept.sqlite", 1_000.0, most_bytes=1_000)
    for number in range(PRUNED_EVERY):
        cache.put(f"key {number:03}", b"x" * 100)
    kept = [number for number in range(PRUNED_EVERY) if cache.get(f"key {number:03}")]
    assert kept == list(range(PRUNED_EVERY - 10, PRUNED_EVERY))
    cache.close()
    assert ReplyCache(tmp_path / "kept.sqlite", 0.0).get(f"key {PRUNED_EVERY - 1:03}") is None
