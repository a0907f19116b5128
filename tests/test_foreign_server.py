"""The wire to an endpoint against a server that is not ours: `transformers serve`, a tiny model."""

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.settings import ModelSettings
from tasks.models.call import CallError, Outcome, RawReply, Sent
from tasks.models.endpoint import Endpoint
from tasks.models.loaded_model import load_model
from tasks.models.prompts.replies import YesNo
from tasks.models.strict_schema import strict_schema
from tasks.models.validation import BadReply, parse_reply
from tests.tiny_models import make_chat_model

START_SECONDS = 90.0


def _up(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as response:
            return bool(response.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The base URL of a standing server and the name of its model."""
    folder = tmp_path_factory.mktemp("served")
    model = make_chat_model(folder / "model")
    (folder / "cache").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    url = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | quiet)
    try:
        patience = time.monotonic() + START_SECONDS
        while not _up(url):
            if server.poll() is not None or time.monotonic() > patience:
                pytest.fail((folder / "log").read_text(encoding="utf-8", errors="replace")[-2000:])
            time.sleep(0.2)
        yield f"{url}/v1", str(model)
    finally:
        server.kill()
        server.wait()


def sent_request(text: str, room: int) -> Sent:
    messages = [{"role": "system", "content": "Say."}, {"role": "user", "content": text}]
    return Sent(messages, "yes_no", strict_schema(YesNo), room)


def replies(settings: ModelSettings, *calls: Sent) -> list[RawReply]:
    async def together() -> list[RawReply]:
        wire = Endpoint(settings)
        try:
            return await asyncio.gather(*(wire.send(call) for call in calls))
        finally:
            await wire.close()

    return asyncio.run(together())


def test_a_foreign_server_is_talked_to(served, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    url, name = served
    settings = ModelSettings(name=name, base_url=url, deadline_seconds=60)
    prompts = (("the cat", 8), ("Ada met Charles", 12), ("the cat", 8))
    calls = [sent_request(text, room) for text, room in prompts]
    first, second, again = replies(settings, *calls)
    assert first.text and first.text == again.text
    ours = load_model(name, "cpu")
    for reply, call in zip((first, second), calls, strict=False):
        assert reply.tokens_in == len(ours.prompt(call.messages))
    assert (first.tokens_out, second.tokens_out) == (8, 12)
    assert first.finish == "length"
    # This server takes no notice of the asked form; what comes is noise and told as such.
    with pytest.raises(BadReply) as caught:
        parse_reply(first.text, YesNo)
    assert caught.value.outcome is Outcome.INVALID


def test_a_model_that_a_foreign_server_does_not_have_is_an_error_in_words(served, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    url, _ = served
    settings = ModelSettings(name="no/such-model", base_url=f"{url}/nowhere", deadline_seconds=60)
    with pytest.raises(CallError) as caught:
        replies(settings, sent_request("the cat", 8))
    assert caught.value.outcome is Outcome.STOPPED
