"""The costs of calls, by a table of prices per model in which the user's own come first."""

import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from schemas.settings import ModelSettings, Price
from tasks.models.call import RawReply, Sent
from tasks.models.tokens import most_tokens

MILLION = 1e6
PER_MESSAGE = 16  # tokens that an endpoint may add around each message


@cache
def _built_in() -> dict[str, Price]:
    text = files(__package__).joinpath("prices.toml").read_text(encoding="utf-8")
    return {name: Price(**price) for name, price in tomllib.loads(text).items()}


def price_of(model: str, settings: ModelSettings) -> Price | None:
    """Return a model's price, the user's before the built-in one; None if neither is known."""
    return settings.prices.get(model) or _built_in().get(model)


def cost(price: Price | None, raw: RawReply, *, batch: bool = False) -> float | None:
    """Return the cost of a call; None, not 0, if its price or its tokens are not known."""
    if price is None or raw.tokens_in is None or raw.tokens_out is None:
        return None
    cached = min(raw.tokens_cached or 0, raw.tokens_in)
    dear = price.input if price.cached is None else price.cached
    paid = (raw.tokens_in - cached) * price.input + cached * dear + raw.tokens_out * price.output
    return paid / MILLION * (price.batch if batch else 1.0)


def most_cost(price: Price | None, sent: Sent) -> float:
    """Return a call's highest possible cost: one token per byte, and the longest reply."""
    if price is None:
        return 0.0
    return (_most_in(sent) * price.input + sent.most_tokens * price.output) / MILLION


def capped(raw: RawReply, sent: Sent) -> tuple[RawReply, str | None]:
    """Return a reply with its usage capped at the possible maximum, and a note if it was capped.

    An endpoint that reports too many tokens would use up the budget and stall the limiter.
    """
    bounds = {"tokens_in": _most_in(sent), "tokens_out": sent.most_tokens}
    bounds["tokens_cached"] = min(raw.tokens_in or 0, bounds["tokens_in"])
    reported = {name: getattr(raw, name) or 0 for name in bounds}
    over: dict[str, Any] = {name: most for name, most in bounds.items() if reported[name] > most}
    note = "; ".join(
        f"{name} {reported[name]:.4g} reported, {most} possible" for name, most in over.items()
    )
    return replace(raw, **over), note or None


def _most_in(sent: Sent) -> int:
    prompt = sum(most_tokens(message["content"]) + PER_MESSAGE for message in sent.messages)
    return prompt + most_tokens(str(sent.schema))
