"""What the endpoint says: prepared answers where there are any, else the embedded engine's."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import orjson

from schemas.errors import UsageError
from tasks.mock_endpoint.chat_request import ChatRequest, messages_sha
from tasks.mock_endpoint.extraction_answer import FORMS, Extractor, looks_like_extraction
from tasks.mock_endpoint.schema_answer import example_of
from tasks.mock_endpoint.simple_answers import SIMPLE
from tasks.models.tokens import estimate_tokens

MOST_KEPT = 20_000  # answers that are remembered
PLAIN_WORDS = "This endpoint answers only the prompts it knows."


class Prompted(Protocol):
    """What an answer can be prepared for."""

    @property
    def purpose(self) -> str:
        """As in a Request."""
        ...

    @property
    def system(self) -> str:
        """As in a Request."""
        ...

    @property
    def user(self) -> str:
        """As in a Request."""
        ...


class Answers:
    """Answers by a request's first messages; the same request always has the same answer."""

    def __init__(self, prepared: Path | None = None) -> None:
        """Read the prepared answers, if there are any."""
        self._prepared = read_prepared(prepared) if prepared else {}
        self._kept: OrderedDict[str, tuple[str, int]] = OrderedDict()
        self._extractor = Extractor()
        # One thread: the engine works in order, and the server goes on meanwhile.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="endpoint-engine")

    async def answer(self, chat: ChatRequest) -> tuple[str, int]:
        """Return the text that answers a request, and its tokens."""
        asked = orjson.dumps([chat.form, chat.schema]).decode() if chat.purpose is None else ""
        key = chat.first_sha + asked
        known = self._prepared.get(chat.first_sha) or self._kept.get(key)
        if known is None:
            loop = asyncio.get_running_loop()
            known = await loop.run_in_executor(self._thread, self._worked_out, chat)
            self._kept[key] = known
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return known

    def close(self) -> None:
        """Let the engine's thread go."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _worked_out(self, chat: ChatRequest) -> tuple[str, int]:
        purpose = chat.purpose
        if purpose is None and looks_like_extraction(chat.user):
            purpose = "extract"
        if purpose is not None:
            text = written(purpose, chat.user, self._extractor)
        elif chat.form != "text":
            text = orjson.dumps(example_of(chat.schema or {"type": "object"})).decode()
        else:
            text = PLAIN_WORDS
        return text, estimate_tokens(text)


def written(purpose: str, user: str, extractor: Extractor) -> str:
    """Return the embedded engine's reply to a prompt of ours, as JSON."""
    value = extractor.reply(purpose, user) if purpose in FORMS else SIMPLE[purpose](user)
    return orjson.dumps(value).decode()


def prepare(requests: Iterable[Prompted], path: Path) -> int:
    """Write the answers to requests in advance, so that serving them is no work; return how many.

    The file has one JSON object a line: `sha`, of the messages, and `content`.
    """
    extractor, written_shas = Extractor(), set()
    with path.open("wb") as file:
        for request in requests:
            messages = [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ]
            sha = messages_sha(messages)
            if sha not in written_shas:
                written_shas.add(sha)
                content = written(request.purpose, request.user, extractor)
                file.write(orjson.dumps({"sha": sha, "content": content}) + b"\n")
    return len(written_shas)


def read_prepared(path: Path) -> dict[str, tuple[str, int]]:
    """Return prepared answers with their tokens, by the hash of their messages."""
    answers = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                entry = orjson.loads(line)
                content = str(entry["content"])
                answers[str(entry["sha"])] = (content, estimate_tokens(content))
            except (orjson.JSONDecodeError, KeyError, TypeError):
                raise UsageError(
                    f"Line {number} of {path} is no answer: it needs a sha and a content."
                ) from None
    return answers
