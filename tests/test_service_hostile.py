"""The service asked by people and by pages of other sites that mean harm."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import httpx
import pytest

from schemas.errors import UsageError
from tasks.service.guard import Bucket, Limits
from tasks.service.server import Serving, check_exposure
from tests.hostile_requests import Hostile, hostile_requests
from tests.served import serving

PATHS = re.compile(r"/(root|home|tmp|usr|work|var)/[\w./-]+|Traceback|\.py\b")
EVERY = 6  # the benchmark sends all


@pytest.fixture(scope="module")
def service(small_home: Path) -> Iterator[httpx.Client]:
    with serving(small_home, "--set", "rate=10000", "--set", "burst=10000") as client:
        yield client


@pytest.mark.parametrize("request_", islice(hostile_requests(), 0, None, EVERY), ids=str)
def test_no_request_hurts(service: httpx.Client, request_: Hostile) -> None:
    answered = service.request(request_.method, request_.path, **request_.more)

    assert answered.status_code < 500
    assert not PATHS.search(answered.text)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_pages_of_other_sites_are_refused(
    service: httpx.Client, headers: dict[str, str], status: int
) -> None:
    asked = {"question": "Where was Ada Lovelace born?"}
    assert service.post("/v1/ask", json=asked, headers=headers).status_code == status


def test_a_request_has_a_size(service: httpx.Client) -> None:
    assert service.post("/v1/ask", content=b"a" * (2 << 20)).status_code == 413


def test_a_bucket_refills_at_its_rate() -> None:
    limits = Limits(rate=1_000_000, burst=1)
    bucket = Bucket(1)

    assert bucket.take(Limits(rate=0.001, burst=1)) == 0
    assert bucket.take(Limits(rate=0.001, burst=1)) > 0
    bucket.at -= 1
    assert bucket.take(limits) == 0


@pytest.mark.parametrize(
    ("serving_", "has_tokens"),
    [
        (Serving(host="0.0.0.0"), False),
        (Serving(host="0.0.0.0"), True),
        (Serving(behind_proxy=True), False),
        (Serving(tls_cert=Path("cert.pem")), True),
    ],
)
def test_nothing_is_open_to_others_by_mistake(serving_: Serving, has_tokens: bool) -> None:
    with pytest.raises(UsageError):
        check_exposure(serving_, has_tokens=has_tokens)
