"""How uncertain the configured model is of its own short answers, for the entropy gate."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from pydantic import BaseModel

from schemas.errors import UsageError
from schemas.settings import EngineSettings
from tasks.models.call import ModelAnswer, Request
from tasks.models.measures import MeasuredAnswer
from tasks.models.plain_answers import INSTRUCTION, ROOM
from tasks.models.stream import stream
from tasks.models.transports import finish, open_client, width
from tasks.progress import Report, silent
from warehouse.home import Home

PURPOSE = "uncertainty"
PROMPT = hashlib.sha256(INSTRUCTION.encode()).hexdigest()[:16]


def answer_uncertainty(
    questions: Sequence[str],
    settings: EngineSettings,
    home: Home,
    run_id: str,
    report: Report = silent,
) -> np.ndarray:
    """Return float64 (questions,): the mean token entropy of a greedy answer, in nats per token.

    Answers have at most 30 tokens. An endpoint reports only the most probable tokens, so its
    entropy is a lower bound; if it reports only the chosen tokens, the mean negative
    log-probability is returned instead; NaN if it reports nothing or does not answer. The calls are
    in `model_calls`, and a question that was answered before is not asked again. Raises UsageError
    if the engine has no model.
    """
    if settings.engine == "rules":
        raise UsageError(
            "The embedded engine has no answers of its own, so there is no uncertainty to "
            "measure. Choose an engine with a model, or another gate."
        )
    distinct = list(dict.fromkeys(questions))
    replies = short_answers(
        distinct, settings, home, run_id, lambda done: report(PURPOSE, done, len(distinct))
    )
    return np.array([uncertainty_of(replies[question]) for question in questions], np.float64)


def short_answers(
    texts: Sequence[str],
    settings: EngineSettings,
    home: Home,
    run_id: str,
    count: Callable[[int], None],
) -> dict[str, MeasuredAnswer | None]:
    """Return the model's short answer to each text, None without one.

    `count` is called with the number of replies so far.

    Raises AlmanacError when no further call can succeed or may be made.
    """
    client = open_client(home, settings, run_id)

    async def ask(text: str) -> tuple[str, ModelAnswer]:
        return text, await client.ask(uncertainty_request(text))

    replies: dict[str, MeasuredAnswer | None] = {}
    try:
        for text, answer in stream(ask, texts, width(settings), client.transport.close):
            replies[text] = answer.reply if isinstance(answer.reply, MeasuredAnswer) else None
            count(len(replies))
            home.ledger.seal_if_due()
        finish(client)
    finally:
        home.ledger.seal()
    return replies


def uncertainty_request(question: str) -> Request:
    """Return a request for a short answer in plain words, with the measure of its uncertainty."""
    return Request(
        purpose=PURPOSE,
        prompt_sha=PROMPT,
        system=INSTRUCTION,
        user=question,
        reply=MeasuredAnswer,
        most_tokens=ROOM,
        plain=True,
    )


def uncertainty_of(reply: BaseModel | None) -> float:
    """Return the entropy of a measured answer, else its surprise, in nats per token; else NaN."""
    if not isinstance(reply, MeasuredAnswer):
        return np.nan
    measures = (reply.entropy, reply.surprise)
    return next((value for value in measures if value is not None), np.nan)
