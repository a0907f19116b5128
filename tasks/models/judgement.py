"""What a reply is worth: nothing of it is believed before."""

from dataclasses import dataclass

from pydantic import BaseModel

from tasks.models.call import Outcome, RawReply, Request
from tasks.models.keys import holds_secret
from tasks.models.measures import MeasuredAnswer, Measures
from tasks.models.reply_text import BadReply, parse_reply


@dataclass(frozen=True, slots=True)
class Judged:
    """What a reply is worth; `reply` is of the shape that was asked for, or None."""

    outcome: Outcome
    reply: BaseModel | None = None
    detail: str | None = None


def judge(request: Request, raw: RawReply) -> Judged:
    """Return what a reply to a request is worth."""
    if raw.refusal:
        return Judged(Outcome.REFUSED, detail="the model refused")
    if raw.finish == "content_filter":
        return Judged(Outcome.FILTERED, detail="the endpoint's filter cut the reply")
    if request.plain:
        return _plain(raw)
    if raw.finish == "length":
        return Judged(Outcome.TRUNCATED, detail="the reply did not fit")
    if raw.text is None or not raw.text.strip():
        return Judged(Outcome.EMPTY, detail="a reply without content")
    if holds_secret(raw.text):
        return Judged(Outcome.SECRET, detail="the reply held a secret")
    try:
        return Judged(Outcome.OK, parse_reply(raw.text, request.reply))
    except BadReply as bad:
        return Judged(bad.outcome, detail=bad.words)


def _plain(raw: RawReply) -> Judged:
    """Return what a plain reply is worth: it may be cut short, and empty if it was measured."""
    text = (raw.text or "").strip()
    if not text and raw.measures is None:
        return Judged(Outcome.EMPTY, detail="a reply without content")
    if holds_secret(text):
        return Judged(Outcome.SECRET, detail="the reply held a secret")
    told = raw.measures or Measures()
    # Halves of characters can be told, but not stored.
    text = text.encode(errors="replace").decode()
    answer = MeasuredAnswer(answer=text, surprise=told.surprise, entropy=told.entropy)
    return Judged(Outcome.OK, answer)
