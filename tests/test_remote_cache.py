"""Remote knowledge bases keep replies, and limits of time and of requests at once."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.knowledge_server import World
from tests.remote_bases import MIRA, OpenRemote, RemoteBases, status


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
