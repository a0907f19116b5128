"""The mock endpoint with what only tests and benchmarks need: `python -m tests.mock_server`.

It knows all options of `almanac mock-endpoint`, and more: obedience, prepared answers, fewer
log-probabilities, batches that lose requests, and a certificate that nobody trusts.
"""

import argparse
import asyncio
import json
import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson

from flows.commands.mock_endpoint import announce
from tasks.mock_endpoint.answers import Answer, Answers
from tasks.mock_endpoint.batches import Batch, Batches, BatchLine, Results, result
from tasks.mock_endpoint.chat import fraction
from tasks.mock_endpoint.chat_request import ChatRequest
from tasks.mock_endpoint.options import EndpointOptions
from tasks.mock_endpoint.replies import ApiError
from tasks.mock_endpoint.server import HOST, MockEndpoint, Routes, serve
from tasks.models.tokens import estimate_tokens
from tests.obedience import Obedience
from tests.schema_example import example_of


def main() -> None:
    """Serve until a signal stops it; the first line says where."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, field in EndpointOptions.model_fields.items():
        switch = field.annotation is bool
        how: dict[str, Any] = {"action": "store_true"} if switch else {"default": field.default}
        parser.add_argument(f"--{name.replace('_', '-')}", help=field.description, **how)
    parser.add_argument("--json", action="store_true", help="say where as JSON")
    parser.add_argument("--answers", type=Path, help="prepared answers, by hash of the messages")
    parser.add_argument("--logprobs", choices=("top", "chosen", "ignored", "refused"))
    parser.add_argument("--obey", action="store_true", help="do whatever the texts say")
    parser.add_argument("--tls-self-signed", action="store_true", help="a certificate of its own")
    parser.add_argument("--batch-faults", type=json.loads, default={}, help="a JSON object")
    given = parser.parse_args()
    options = EndpointOptions(
        **{name: getattr(given, name) for name in EndpointOptions.model_fields}
    )
    routes = partial(
        FaultyRoutes,
        answers=FaultyAnswers(given.answers, obey=given.obey),
        batches=partial(FaultyBatches, faults=BatchFaults(**given.batch_faults)),
        logprobs=given.logprobs,
    )
    tls = self_signed() if given.tls_self_signed else None
    asyncio.run(serve(MockEndpoint(options, routes, tls), partial(announce, as_json=given.json)))


class FaultyAnswers(Answers):
    """Prepared answers where there are any, and answers that obey the texts they are about.

    Foreign prompts get the simplest value that their schema allows.
    """

    def __init__(self, prepared: Path | None, *, obey: bool = False) -> None:
        """Read the prepared answers."""
        super().__init__()
        self._prepared = read_prepared(prepared) if prepared else {}
        self._obedience = Obedience() if obey else None

    async def answer(self, chat: ChatRequest, key: str | None) -> Answer:
        """Return the answer to a request; an instruction in its text can ask for the `key`."""
        known = self._prepared.get(chat.first_sha) or await super().answer(chat, key)
        if self._obedience is None:
            return known
        done = self._obedience.obey(chat.purpose, known.text, chat.user, key)
        return Answer(done.text, estimate_tokens(done.text), done.kinds)

    def text(self, chat: ChatRequest) -> str:
        """Return the text of an answer."""
        if chat.purpose is None and chat.form != "text":
            return orjson.dumps(example_of(chat.reply_schema or {"type": "object"})).decode()
        return super().text(chat)


def read_prepared(path: Path) -> dict[str, Answer]:
    """Return prepared answers by the hash of their messages."""
    answers = {}
    for entry in map(orjson.loads, path.read_bytes().splitlines()):
        answers[entry["sha"]] = Answer(entry["content"], estimate_tokens(entry["content"]))
    return answers


class FaultyRoutes(Routes):
    """Routes that return fewer log-probabilities than requested."""

    def __init__(self, *arguments: Any, logprobs: str | None, **more: Any) -> None:
        """`logprobs`: chosen tokens' alone (chosen), none without a word (ignored), or refused."""
        super().__init__(*arguments, **more)
        self._logprobs = logprobs

    def read_chat(self, body: bytes) -> ChatRequest:
        """Return what a body requests, as far as this endpoint knows log-probabilities."""
        if self._logprobs in (None, "top") or b"logprobs" not in body:
            return super().read_chat(body)
        fields = orjson.loads(body)
        if self._logprobs == "ignored":
            for name in ("logprobs", "top_logprobs"):
                fields.pop(name, None)
            return super().read_chat(orjson.dumps(fields))
        if fields.get("top_logprobs") or (self._logprobs == "refused" and fields.get("logprobs")):
            raise ApiError(400, "logprobs are not supported here", param="logprobs")
        return super().read_chat(body)


@dataclass(frozen=True)
class BatchFaults:
    """What goes wrong with batches; shares are of their requests."""

    missing: float = 0.0  # in neither results file
    failing: float = 0.0  # in the error file
    doubled: float = 0.0  # in the results file, twice
    unknown: float = 0.0  # additional lines with an id that nobody sent
    outcome: str = "completed"  # of the first batch; or expired (half is there), failed (nothing)


class FaultyBatches(Batches):
    """Batches that lose, fail, double and invent results; each request is hit only once.

    Faults are drawn by the hash of seed and custom_id, so that a run can be repeated.
    """

    def __init__(self, *arguments: Any, faults: BatchFaults) -> None:
        """Begin with no batch."""
        super().__init__(*arguments)
        self._faults = faults
        self._hit: set[str] = set()
        self._outcome = faults.outcome  # of the next batch

    async def answer(self, batch: Batch, lines: list[BatchLine]) -> Results:
        """Answer requests, but for those that meet a fault."""
        outcome, self._outcome = self._outcome, "completed"
        if outcome == "failed":
            raise RuntimeError("failed on purpose")
        faults, done = self._faults, lines[: len(lines) // 2] if outcome == "expired" else lines
        drawn = {line.custom_id: self._drawn(line.custom_id) for line in done}
        limit = faults.missing + faults.failing
        results = await super().answer(
            batch, [line for line in done if drawn[line.custom_id] >= limit]
        )
        error = {"error": {"message": "failed on purpose", "code": "server_error"}}
        results.bad += [
            result(name, 500, error)
            for name, number in drawn.items()
            if faults.missing <= number < limit
        ]
        late = {"code": "batch_expired", "message": "the completion window is over"}
        for line in lines[len(done) :]:
            results.bad.append({**result(line.custom_id, 0, {}), "response": None, "error": late})
        results.outcome = outcome
        batch.request_counts["failed"] = len(results.bad)
        doubled = [
            line for line in results.good if drawn[line["custom_id"]] < limit + faults.doubled
        ]
        unknown = {**results.good[0], "custom_id": uuid4().hex} if results.good else {}
        results.good += doubled + [unknown] * round(faults.unknown * len(done)) * bool(unknown)
        return results

    def _drawn(self, custom_id: str) -> float:
        """Return a number from 0 to 1 for a new request, 1 for one that comes again."""
        if custom_id in self._hit:
            return 1.0
        self._hit.add(custom_id)
        return fraction(f"{self._options.seed}/batch/{custom_id}")


def self_signed() -> ssl.SSLContext:
    """Return what a server needs to speak TLS with a certificate of its own making."""
    from cryptography.hazmat.primitives import serialization

    key, certificate = _key_and_certificate()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The ssl module reads certificates from files alone.
    with tempfile.TemporaryDirectory(prefix="almanac-mock-") as folder:
        path = Path(folder) / "both.pem"
        path.touch(mode=0o600)
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(path)
    return context


def _key_and_certificate() -> tuple[Any, Any]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "almanac mock endpoint")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), False)
        .sign(key, hashes.SHA256())
    )
    return key, certificate


if __name__ == "__main__":
    main()
