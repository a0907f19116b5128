"""How sure a model was of a reply, from the chances of its tokens."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Measures:
    """Means over a reply's tokens, in nats; None where nobody tells.

    `surprise` is the negative log-probability of the tokens chosen, `entropy` that of what they
    were chosen from.
    """

    surprise: float | None = None
    entropy: float | None = None


class MeasuredAnswer(BaseModel):
    """A plain answer and how sure the model was of it."""

    answer: str
    surprise: float | None
    entropy: float | None


def measures_told(logprobs: Any) -> Measures | None:
    """Return the measures in a chat completion's `logprobs`; None if there are none in it.

    An endpoint tells the likeliest tokens only: what probability is left counts as one more token,
    so that the entropy is never above the true one. It is None if some token has no rivals.
    """
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content:
        return None
    chosen = [_log(token) for token in content]
    if any(log is None for log in chosen):
        return None
    surprise = -math.fsum(log for log in chosen if log is not None) / len(chosen)
    entropies = [_entropy(token) for token in content]
    known = [entropy for entropy in entropies if entropy is not None]
    entropy = math.fsum(known) / len(known) if len(known) == len(entropies) else None
    return Measures(surprise, entropy)


def _entropy(token: dict[str, Any]) -> float | None:
    """Return the entropy of the tokens that could have stood here, as far as they are told."""
    rivals = token.get("top_logprobs")
    if not isinstance(rivals, list) or len(rivals) < 2:
        return None
    logs = list(_logs(rivals))
    if len(logs) < len(rivals):
        return None
    chances = [math.exp(log) for log in logs]
    total = math.fsum(chances)
    if total > 1:
        chances = [chance / total for chance in chances]
    chances.append(max(1 - total, 0.0))
    return math.fsum(-chance * math.log(chance) for chance in chances if chance > 0)


def _logs(tokens: Sequence[Any]) -> Iterator[float]:
    for token in tokens:
        log = _log(token)
        if log is not None:
            yield log


def _log(token: Any) -> float | None:
    """Return a token's log-probability, at most 0; None for what is none."""
    value = token.get("logprob") if isinstance(token, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return min(float(value), 0.0)
