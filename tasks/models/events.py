"""The events of a streamed completion: their texts are passed on, and the whole is put together."""

from collections.abc import Callable
from typing import Any

import orjson

Listener = Callable[[str], None]  # gets each piece of a reply's text as it arrives
STREAM = "text/event-stream"
_DATA = b"data:"
_END = b"[DONE]"


class Events:
    """Reads server-sent events; `body` is the completion as if it had not been streamed."""

    def __init__(self, listener: Listener) -> None:
        """Take who is told each piece of text."""
        self._listener = listener
        self._rest = b""
        self._text: list[str] = []
        self._finish: str | None = None
        self._last: dict[str, Any] = {}
        self._error: dict[str, Any] | None = None

    def feed(self, chunk: bytes) -> None:
        """Read some bytes; an event may be cut anywhere."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            data = line.removeprefix(_DATA).strip()
            if line.startswith(_DATA) and data != _END:
                self._read(data)

    def _read(self, data: bytes) -> None:
        try:
            event = orjson.loads(data)
        except orjson.JSONDecodeError:
            return
        if not isinstance(event, dict):
            return
        if event.get("error"):
            self._error = event
        known = ("model", "usage", "system_fingerprint")
        self._last |= {name: event[name] for name in known if event.get(name)}
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta")
        text = delta.get("content") if isinstance(delta, dict) else None
        if isinstance(text, str) and text:
            self._text.append(text)
            self._listener(text)

    @property
    def body(self) -> bytes:
        """The completion; one that broke off before it was finished has no message in it."""
        if self._error is not None:
            return orjson.dumps(self._error)
        if self._finish is None:
            return orjson.dumps({**self._last, "choices": []})
        message = {"role": "assistant", "content": "".join(self._text)}
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return orjson.dumps({**self._last, "choices": [choice]})
