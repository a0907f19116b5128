"""An object store: changes that one writer alone wins, whatever the network does to requests."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from schemas.errors import DamageError, StoreError, UsageError
from warehouse.object_store import ObjectStore, checked_address

ADDRESS = "s3://bucket/team"


@pytest.fixture
def store(bucket) -> ObjectStore:
    return ObjectStore(ADDRESS)


def counted(state: dict) -> dict:
    return {"count": state.get("count", 0) + 1}


def test_an_object_is_created_once(store):
    assert store.create("a/1", b"mine")
    assert not store.create("a/1", b"yours")
    assert store.get("a/1")[0] == b"mine"


def test_four_writers_move_a_pointer_and_each_move_has_one_winner(store):
    with ThreadPoolExecutor(4) as writers:
        moved = [
            state["count"]
            for states in writers.map(
                lambda _: [store.change("pointer", counted) for _ in range(12)], range(4)
            )
            for state in states
        ]
    assert sorted(moved) == list(range(1, 49))


@pytest.mark.parametrize("fault", ["busy", "lost", "cut"])
def test_a_change_is_made_once_whatever_happens_to_a_request(store, bucket, fault):
    store.change("pointer", counted)
    bucket.planned = [fault, fault]
    assert store.change("pointer", counted)["count"] == 2
    bucket.planned = [fault, fault]
    assert store.create("line", b"of mine")


def test_a_lost_reply_is_told_from_a_lost_race(store, bucket):
    bucket.planned = ["lost"]
    assert store.create("line", b"mine, token 1")
    bucket.planned = ["lost"]
    assert not store.create("line", b"yours, token 2")


def test_a_writer_whose_reply_was_lost_finds_its_change_below_a_later_one(store, bucket):
    def overtaken(state: dict) -> dict:
        bucket.planned = ["lost"]
        return counted(state)

    def by_another() -> None:
        ObjectStore(ADDRESS).change("pointer", counted)

    get, seen = store.get, []

    def get_late(key: str) -> tuple[bytes, str] | None:
        seen.append(key)
        [by_another() for _ in seen[1:2]]  # between the lost reply and the look
        return get(key)

    store.get = get_late  # type: ignore[method-assign]
    store.change("pointer", overtaken)
    assert b'"count":2' in get("pointer")[0]


def test_a_cut_upload_is_no_object_and_a_cut_download_no_file(store, bucket, tmp_path):
    bucket.fault_share = 1.0
    bucket.random.choice = lambda faults: "cut"
    with pytest.raises(StoreError, match="Nothing is lost"):
        store.put("part", b"x" * 1000)
    assert not bucket.objects
    bucket.objects["team/part"] = b"x" * 1000
    with pytest.raises(StoreError):
        store.fetch("part", tmp_path / "part", "0" * 64)
    assert not list(tmp_path.iterdir())


def test_a_file_with_another_hash_is_refused(store, tmp_path):
    store.put("part", b"other bytes")
    with pytest.raises(DamageError, match="not what was written"):
        store.fetch("part", tmp_path / "part", "0" * 64)
    assert not list(tmp_path.iterdir())


def test_a_store_that_fails_is_named_with_what_to_do(store, bucket):
    bucket.fault_share = 1.0
    bucket.random.choice = lambda faults: "busy"
    with pytest.raises(StoreError) as failed:
        store.put("part", b"x")
    assert str(failed.value) == (
        "s3://bucket/team/part: the store could not write it (503 Service Unavailable, 6 attempts)."
        " Check the network, the region and AWS_ENDPOINT_URL, then run the command again. "
        "Nothing is lost: finished work is kept on this machine and is sent at the next run."
    )


def test_large_files_and_long_listings_have_several_requests(store, bucket, tmp_path):
    large = tmp_path / "large"
    large.write_bytes(bytes(6 << 20))
    store.put("large", large)
    assert bucket.objects["team/large"] == large.read_bytes()
    bucket.objects |= {f"team/many/{number:04d}": b"" for number in range(1200)}
    assert len(store.listing("many/")) == 1200
    assert list(store.listing("many/", after="many/1197")) == ["many/1198", "many/1199"]
    store.delete(["large", "not/there"])
    assert "team/large" not in bucket.objects


@pytest.mark.parametrize(
    "address",
    ["s3://key:secret@bucket/team", "s3://bucket/team?token=secret", "s3://key@bucket", "s3:///x"],
)
def test_an_address_with_credentials_is_refused_without_being_repeated(address):
    with pytest.raises(UsageError) as refused:
        checked_address(address)
    assert "secret" not in str(refused.value)


def test_plain_http_beyond_this_machine_needs_leave(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://key:secret@store.example")
    with pytest.raises(UsageError, match=r"plain http to store\.example"):
        ObjectStore(ADDRESS)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    assert ObjectStore(ADDRESS).address == ADDRESS


@pytest.mark.parametrize("address", ["gs://bucket/team", "az://container/team"])
def test_other_clouds_are_opened_by_the_same_library(address, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    assert ObjectStore(f"{address}//x/").address == f"{address}/x"
