"""Chat completions: answers cut to the permitted number of tokens, and their cost."""

import hashlib
import math
import re
import time
from bisect import bisect_right
from typing import Any

import orjson

from tasks.mock_endpoint.answers import Answers
from tasks.mock_endpoint.chat_request import ChatRequest
from tasks.mock_endpoint.replies import Billed, HttpReply
from tasks.models.call import MOCK
from tasks.models.tokens import estimate_tokens

SYSTEMS_SEEN = 1_000


class Chat:
    """Answers chat completions, and remembers the system prompts that it has seen."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._systems: dict[str, int] = {}  # by text, with their tokens

    async def complete(
        self, chat: ChatRequest, key: str | None = None
    ) -> tuple[dict[str, Any], Billed]:
        """Return a completion's body and its cost; `key` is the key that the client sent."""
        text, tokens, obeyed = await self._answers.answer(chat, key)
        finish = "stop"
        if chat.most_tokens is not None and tokens > chat.most_tokens:
            text, finish = cut_to(text, chat.most_tokens), "length"
            tokens = chat.most_tokens
        billed = Billed(chat.prompt_tokens(), tokens, self._cached(chat.system), obeyed)
        return completion(chat, text, finish, billed), billed

    def _cached(self, system: str) -> int:
        if not system:
            return 0
        if system in self._systems:
            return self._systems[system]
        if len(self._systems) >= SYSTEMS_SEEN:
            self._systems.pop(next(iter(self._systems)))
        self._systems[system] = estimate_tokens(system)
        return 0


def completion(chat: ChatRequest, text: str, finish: str, billed: Billed) -> dict[str, Any]:
    """Return a completion's body as OpenAI's endpoints write it."""
    return {
        "id": f"chatcmpl-{chat.sha[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": chat.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": token_probabilities(chat, text),
                "finish_reason": finish,
            }
        ],
        "usage": {
            "prompt_tokens": billed.tokens_in,
            "completion_tokens": billed.tokens_out,
            "total_tokens": billed.tokens_in + billed.tokens_out,
            "prompt_tokens_details": {"cached_tokens": billed.tokens_cached},
        },
        "system_fingerprint": MOCK,
    }


def cut_to(text: str, tokens: int) -> str:
    """Return the longest beginning of a text that has at most this number of tokens."""
    lengths = range(1, len(text) + 1)
    return text[: bisect_right(lengths, tokens, key=lambda length: estimate_tokens(text[:length]))]


def streamed(body: dict[str, Any], *, with_usage: bool) -> HttpReply:
    """Return a completion as the events of a stream, all at once."""
    choice = body["choices"][0]
    shared = {**body, "object": "chat.completion.chunk", "usage": None}
    content = {"role": "assistant", "content": choice["message"]["content"]}
    ends = [(content, None), ({}, choice["finish_reason"])]
    chunks = [
        {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in ends
    ]
    if with_usage:
        chunks.append({**shared, "choices": [], "usage": body["usage"]})
    lines = b"".join(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks)
    return HttpReply(body=lines + b"data: [DONE]\n\n", content_type="text/event-stream")


MOST_TOKENS = 4_096  # of an answer that get probabilities
_TOKEN = re.compile(r"\s*\S{1,8}|\s+")
_RIVALS = 0.9  # share of the remaining probability that the listed rivals get


def token_probabilities(chat: ChatRequest, text: str) -> dict[str, Any] | None:
    """Return a choice's `logprobs`; None if they were not requested.

    The probabilities depend on the conversation, so that questions differ; the chosen token is
    always the most probable one.
    """
    if chat.rivals is None:
        return None
    base = fraction(f"{chat.sha}/conversation")
    content = []
    for place, token in enumerate(_TOKEN.findall(text)[:MOST_TOKENS]):
        first = 0.5 + 0.49 * (base + fraction(f"{chat.sha}/{place}")) / 2
        rest = (1 - first) * _RIVALS
        rivals = [_entry(f"~{n}", rest / 2**n) for n in range(1, chat.rivals)]
        chosen = _entry(token, first)
        content.append({**chosen, "top_logprobs": [chosen, *rivals] if chat.rivals else []})
    return {"content": content, "refusal": None}


def _entry(token: str, probability: float) -> dict[str, Any]:
    data = list(token.encode(errors="replace"))
    return {"token": token, "logprob": math.log(probability), "bytes": data}


def fraction(name: str) -> float:
    """Return a pseudo-random number in [0, 1) that depends only on the name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6]) / 2**48
