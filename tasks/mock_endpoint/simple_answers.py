"""Replies to the prompts that do not extract: honest, simple, by the words they share."""

import re
from collections.abc import Callable
from typing import Any

_WORD = re.compile(r"[^\W_]{2,}|[\u3400-\u9fff]")


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


def _answer(user: str) -> dict[str, Any]:
    return {"thought": "", "answerable": "no", "answer": ""}


def _text(user: str) -> dict[str, Any]:
    return {"text": user}


SIMPLE: dict[str, Callable[[str], dict[str, Any]]] = {
    "answer": _answer,
    "link": lambda user: {"thought": "", "choice": "[NONE]"},
    "program": lambda user: {
        "need_knowledge": "no",
        "thought": "",
        "code": "",
        "introspection": "",
        "ok": "yes",
    },
    "yes_no": lambda user: {"thought": "", "verdict": "unknown"},
    "source": lambda user: {"thought": "", "source": "none"},
    "describe_graph": _text,
    "rewrite": _text,
}
