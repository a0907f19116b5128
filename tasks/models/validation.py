"""Validates models' replies before anything in them is used.

A valid reply contains exactly one JSON object of the requested schema. White space, a byte-order
mark, one Markdown fence, a model's reasoning up to `</think>`, and prose may surround it, without
braces if there is no fence. The example of the prompt after long prose is no reply, but a
repetition of the prompt. NaN, a repeated key, a lone surrogate, a trailing comma or single quotes
are errors. Only in replies with a thought, which are programs and decisions and state no facts, is
the typing mended.
"""

import ast
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from tasks.models.call import Outcome, RawReply, Request
from tasks.models.keys import holds_secret
from tasks.models.measures import MeasuredAnswer, Measures

Reply = TypeVar("Reply", bound=BaseModel)

LONGEST = 4_000_000  # characters; longer replies are invalid
LONG_PROSE = 300  # characters around the object
SHOWN_ERRORS = 3
# Some servers keep the opening tag, which is a part of the prompt, to themselves.
_THOUGHTS = re.compile(r"\A(?![`{]).*?</think>\s*", re.DOTALL)
_CURLY_KEY = re.compile(r"\{\s*[“”]")
_STRAIGHT = str.maketrans("“”", '""')
_NO_COMMA = re.compile(r"""(["'}\]])(\s*\n\s*["'])""")
_BLANK = "\ufeff \t\r\n"
_FENCE = re.compile(r"^```|```\Z", re.MULTILINE)  # no string in JSON has a line break
_REFUSAL = re.compile(
    r"(?i)\A(?:i['’]?m (?:very |really |so )?sorry|sorry|i (?:can(?:['’]t|not)|am unable|won['’]t)"
    r"|as an ai|unfortunately,? i|抱歉|对不起|很遗憾|我(?:无法|不能))"
)


class BadReply(Exception):  # noqa: N818 - it describes a reply, not a failure of this program
    """An invalid reply; `words`, the reason, may be shown to the model."""

    def __init__(self, outcome: Outcome, words: str) -> None:
        """Store the reason, without words from the reply or from any document."""
        super().__init__(words)
        self.outcome, self.words = outcome, words


def parse_reply(text: str, reply: type[Reply], prompt: str = "") -> Reply:
    """Parse the reply to a prompt in a text; raise BadReply if it is invalid."""
    if (alone := getattr(reply, "alone", None)) and "{" not in text:
        text = json.dumps({alone: _THOUGHTS.sub("", text.strip(_BLANK))})
    value = parse_object(text, prompt, mended="thought" in reply.model_fields)
    try:
        return reply.model_validate(value)
    except ValidationError as error:
        raise BadReply(Outcome.INVALID, _in_words(error)) from None
    except RecursionError:
        raise BadReply(Outcome.INVALID, "it is nested too deeply") from None


def parse_object(text: str, prompt: str = "", *, mended: bool = False) -> dict[str, Any]:
    """Return the only JSON object in a text; raise BadReply if it has none or several.

    With `mended`, one that is typed as Python, or with curly quotes, open line breaks or a missing
    comma at the end of a line, is taken as well.
    """
    stripped = _THOUGHTS.sub("", text.strip(_BLANK)).strip(_BLANK)
    if not stripped:
        raise BadReply(Outcome.EMPTY, "it is empty")
    if len(stripped) > LONGEST:
        raise BadReply(Outcome.INVALID, f"it is longer than {LONGEST} characters")
    parts = _FENCE.split(stripped)
    inner = parts[1] if len(parts) == 3 else stripped
    first, last = inner.find("{"), inner.rfind("}")
    if first < 0 or last < first:
        if _REFUSAL.match(stripped):
            raise BadReply(Outcome.REFUSED, "it is a refusal")
        raise BadReply(Outcome.INVALID, "it holds no JSON object")
    written, before, after = inner[first : last + 1], inner[:first], inner[last + 1 :]
    if len(stripped) - len(written) > LONG_PROSE and written in prompt:
        raise BadReply(Outcome.INVALID, "it repeats the prompt")
    if before.rstrip().endswith("[") and after.lstrip()[:1] in ("]", ","):
        raise BadReply(Outcome.INVALID, "it must be one JSON object, not a list")
    if before.rpartition("\n")[2].strip() == "data:":
        raise BadReply(Outcome.INVALID, "it is an event of a stream")
    return _strictly(_mended(written) if mended else written)


def _mended(text: str) -> str:
    """Return an object that is JSON but for its typing as JSON; any other text as it is."""
    with suppress(ValueError):
        orjson.loads(text)
        return text
    plain = text.translate(_STRAIGHT) if _CURLY_KEY.match(text) else text
    for written in (plain, _NO_COMMA.sub(r"\1,\2", plain)):
        for read in (partial(json.loads, strict=False), ast.literal_eval):
            with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                return json.dumps(read(written))
    return text


def _strictly(text: str) -> dict[str, Any]:
    try:
        orjson.loads(text)  # refuses NaN, lone surrogates, deep nesting, control characters
    except orjson.JSONDecodeError as error:
        where = f"{error.msg.split(':')[0]} at character {error.pos}"  # without the text itself
        raise BadReply(Outcome.INVALID, f"it is not JSON: {where}") from None
    except UnicodeEncodeError:
        raise BadReply(Outcome.INVALID, "it holds half a character") from None
    try:
        value = json.loads(text, object_pairs_hook=_each_key_once, parse_int=_bounded)
    except (ValueError, RecursionError) as error:
        words = str(error) if isinstance(error, _RuleError) else "it is not JSON"
        raise BadReply(Outcome.INVALID, words) from None
    if not isinstance(value, dict):
        raise BadReply(Outcome.INVALID, "it is not a JSON object")
    return value


def refuse_repeated_keys(text: str | bytes) -> None:
    """Raise BadReply if an object anywhere in a valid JSON text has a key twice."""
    try:
        json.loads(text, object_pairs_hook=_each_key_once, parse_int=float)
    except _RuleError as rule:
        raise BadReply(Outcome.INVALID, str(rule)) from None
    except RecursionError:
        raise BadReply(Outcome.INVALID, "it is nested too deeply") from None


class _RuleError(ValueError):
    """A violation of a rule that JSON itself lacks; the message may be shown to the model."""


def _each_key_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RuleError("a key stands twice in one object")
    return value


def _bounded(digits: str) -> int:
    if len(digits) > 40:
        raise _RuleError("a number has more than 40 digits")
    return int(digits)


def _in_words(error: ValidationError) -> str:
    errors = [
        f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    more = f" (and {len(errors) - SHOWN_ERRORS} more)" if len(errors) > SHOWN_ERRORS else ""
    return "; ".join(errors[:SHOWN_ERRORS])[:500] + more


@dataclass(frozen=True, slots=True)
class Validated:
    """The result of validating a reply; `reply` has the requested schema, or is None.

    `doubt` is what a model is told about a valid reply that is probably wrong.
    """

    outcome: Outcome
    reply: BaseModel | None = None
    detail: str | None = None
    doubt: str | None = None

    @property
    def words(self) -> str:
        """Return the message that the model is shown before its second try."""
        return self.doubt or f"That reply was not usable: {self.detail}."


def validate(request: Request, raw: RawReply) -> Validated:
    """Validate a reply to a request."""
    if raw.refusal:
        return Validated(Outcome.REFUSED, detail="the model refused")
    if raw.finish == "content_filter":
        return Validated(Outcome.FILTERED, detail="the endpoint's filter cut the reply")
    if request.plain:
        return _plain(raw)
    if raw.finish == "length":
        return Validated(Outcome.TRUNCATED, detail="the reply did not fit")
    if raw.text is None or not raw.text.strip():
        return Validated(Outcome.EMPTY, detail="a reply without content")
    if holds_secret(raw.text):
        return Validated(Outcome.SECRET, detail="the reply held a secret")
    try:
        reply = parse_reply(raw.text, request.reply, request.system)
    except BadReply as bad:
        return Validated(bad.outcome, detail=bad.words)
    doubt = request.doubt(reply) if request.doubt else None
    return Validated(Outcome.NO_FACTS if doubt else Outcome.OK, reply, doubt=doubt)


def ends_in_thought(raw: RawReply) -> bool:
    """Return whether a reply was cut short before the model had done with its reasoning."""
    text = (raw.text or "").strip()
    open_thought = text.startswith("<think>") and "</think>" not in text
    return raw.finish == "length" and (not text or open_thought)


def _plain(raw: RawReply) -> Validated:
    """Validate a plain reply: it may be cut short, and empty if it was measured."""
    text = "" if ends_in_thought(raw) else _THOUGHTS.sub("", (raw.text or "").strip())
    if not text and raw.measures is None:
        return Validated(Outcome.EMPTY, detail="a reply without content")
    if holds_secret(text):
        return Validated(Outcome.SECRET, detail="the reply held a secret")
    measures = raw.measures or Measures()
    # A reply can contain lone surrogates, which cannot be stored.
    text = text.encode(errors="replace").decode()
    answer = MeasuredAnswer(answer=text, surprise=measures.surprise, entropy=measures.entropy)
    return Validated(Outcome.OK, answer)
