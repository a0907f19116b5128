"""How certain a model was of a reply, from the probabilities of its tokens."""

import math
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Measures:
    """Means over a reply's tokens, in nats; None if not reported.

    `surprise` is the negative log-probability of the chosen tokens, `entropy` the entropy of the
    distributions that they were chosen from.
    """

    surprise: float | None = None
    entropy: float | None = None


class MeasuredAnswer(BaseModel):
    """A plain answer and how certain the model was of it."""

    answer: str
    surprise: float | None
    entropy: float | None


def reported_measures(logprobs: Any) -> Measures | None:
    """Return the measures in a chat completion's `logprobs`; None if it has none.

    An endpoint reports only the likeliest tokens; the remaining probability counts as one more
    token, so that the entropy is a lower bound. It is None if a token has no alternatives.
    """
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content:
        return None
    logs = [log for log in map(_log, content) if log is not None]
    if len(logs) < len(content):
        return None
    entropies = [entropy for entropy in map(_entropy, content) if entropy is not None]
    complete = len(entropies) == len(content)
    entropy = math.fsum(entropies) / len(content) if complete else None
    return Measures(-math.fsum(logs) / len(content), entropy)


def _entropy(token: dict[str, Any]) -> float | None:
    """Return the entropy over a token's reported alternatives; None without any."""
    rivals = token.get("top_logprobs")
    if not isinstance(rivals, list) or len(rivals) < 2:
        return None
    logs = [log for log in map(_log, rivals) if log is not None]
    if len(logs) < len(rivals):
        return None
    shares = [math.exp(log) for log in logs]
    total = math.fsum(shares)
    if total > 1:
        shares = [share / total for share in shares]
    shares.append(max(1 - total, 0.0))
    return math.fsum(-share * math.log(share) for share in shares if share > 0)


def _log(token: Any) -> float | None:
    """Return a token's log-probability, at most 0; None if it has no valid one."""
    value = token.get("logprob") if isinstance(token, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return min(float(value), 0.0)
