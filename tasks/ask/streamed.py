"""Passes an answer on while a model writes it, with the numbers of its evidence."""

import re
from collections.abc import Callable

import orjson
from pydantic import ValidationError

from tasks.ask.verification import Numbering
from tasks.models.prompts.replies import CitedAnswer

_ANSWER = re.compile(r'"answer"\s*:\s*"')
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
# What the next piece may make a citation, an escape, or code. A reply may be hostile, so nothing is
# tried twice.
_HELD = re.compile(
    r"(?<!\s)(?<!\\n)(?:(?:\s|\\n)*+"
    r"(?:[\[［【(（]++[^\[［【(（\]］】)）]{0,60}+[\]］】)）]{0,2}+|`++[^`]*+`*+)){1,8}+\Z"
    r"|\\(?:u[0-9a-fA-F]{0,3})?\Z|(?<!\s)(?<!\\n)(?:\s|\\n)++\Z"
)
_CLOSE = re.compile(r'(?<!\\)(?:\\\\)*"')


class StreamedAnswer:
    """Reads a reply piece by piece, and passes on the answer in it.

    Nothing is passed on of an answer that is not all of what was asked for: the model may search
    and answer again.
    """

    def __init__(
        self, numbering: Callable[[CitedAnswer], Numbering], listener: Callable[[str], None]
    ) -> None:
        """Take what numbers the evidence of a reply's quotations, and who is told the text."""
        self._numbering, self._listener = numbering, listener
        self._written = ""
        self._numbers: Numbering | None = None
        self._begin = self._passed = 0
        self._silent = self._ended = False
        self._raw = ""  # the answer so far, with the numbers of sources
        self.text = ""  # that was passed on

    def __call__(self, piece: str) -> None:
        """Read a piece of the reply."""
        self._written += piece
        if self._silent or self._ended:
            return
        if self._numbers is None and not self._opened():
            return
        assert self._numbers is not None
        answer = self._written[self._begin :]
        end = next((m.end() - 1 for m in _CLOSE.finditer(answer)), None)
        self._ended = end is not None
        ready = answer[:end] if end is not None else _HELD.sub("", answer)
        if len(ready) > self._passed:
            new = _unescaped(ready[self._passed :])
            self._passed = len(ready)
            text = self._numbers.renumbered(new, self._raw)
            self._raw += new
            self.text += text
            self._listener(text)

    def _opened(self) -> bool:
        """Look for the beginning of the answer; what stands before it has the quotations."""
        found = _ANSWER.search(self._written)
        if found is None:
            return False
        try:
            before = orjson.loads(self._written[: found.start()] + '"answer": ""}')
            reply = CitedAnswer.model_validate(before)
        except (orjson.JSONDecodeError, ValidationError):
            self._silent = True
            return False
        if reply.found != "yes":
            self._silent = True
            return False
        self._numbers, self._begin = self._numbering(reply), found.end()
        return True


def _unescaped(text: str) -> str:
    """Return the characters that a part of a JSON string stands for."""
    whole: str = orjson.loads(f'"{text}"') if _ESCAPE.search(text) else text
    return whole
