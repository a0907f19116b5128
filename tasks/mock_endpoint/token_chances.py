"""Chances of an answer's tokens: drawn by the hash of the conversation, always the same."""

import hashlib
import math
import re
from typing import Any

from tasks.mock_endpoint.chat_request import ChatRequest

MOST_TOKENS = 4_096  # of an answer that chances are told of
_TOKEN = re.compile(r"\s*\S{1,8}|\s+")
_LEFT = 0.9  # of what the chosen token leaves, the told rivals get so much


def token_chances(chat: ChatRequest, text: str) -> dict[str, Any] | None:
    """Return a choice's `logprobs`; None if they were not asked for.

    How sure the first tokens are depends on the conversation, so that questions differ; the chosen
    token is always the likeliest.
    """
    if chat.rivals is None:
        return None
    ground = _fraction(chat.sha, "conversation")
    tokens = _TOKEN.findall(text)[:MOST_TOKENS]
    content = []
    for place, token in enumerate(tokens):
        chance = 0.5 + 0.49 * (ground + _fraction(chat.sha, str(place))) / 2
        content.append(_told(token, chance, chat.rivals))
    return {"content": content, "refusal": None}


def _told(token: str, chance: float, rivals: int) -> dict[str, Any]:
    chances, left = [chance], (1 - chance) * _LEFT
    for _ in range(rivals - 1):
        left /= 2
        chances.append(left)
    names = [token, *(f"~{number}" for number in range(1, rivals))]
    top = [_one(name, one) for name, one in zip(names, chances, strict=True)] if rivals else []
    return {**_one(token, chance), "top_logprobs": top}


def _one(token: str, chance: float) -> dict[str, Any]:
    data = list(token.encode(errors="replace"))
    return {"token": token, "logprob": math.log(chance), "bytes": data}


def _fraction(sha: str, what: str) -> float:
    digest = hashlib.sha256(f"{sha}/{what}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48
