"""The costs of calls, by a file of prices per model; prices in the settings come first."""

import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from schemas.errors import UsageError
from schemas.settings import ModelSettings, Price
from tasks.models.call import RawReply, Sent
from tasks.models.tokens import most_tokens

MILLION = 1e6
PER_MESSAGE = 16  # tokens that an endpoint may add around each message


class PriceList(NamedTuple):
    """Prices by model, and their currency."""

    currency: str
    by_model: dict[str, Price]


@cache
def _price_list(path: str) -> PriceList:
    try:
        own = Path(path).expanduser() if path else files(__package__).joinpath("prices.toml")
        prices = tomllib.loads(own.read_text(encoding="utf-8"))
        return PriceList(prices.pop("currency"), {n: Price(**each) for n, each in prices.items()})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"The prices in {path} cannot be read ({error}). It must be a TOML file with a "
            'currency, such as currency = "EUR", and a table with input and output for each model.'
        ) from error


def currency_of(settings: ModelSettings) -> str:
    """Return the currency of prices and costs; raises `UsageError` for a broken file of prices."""
    return _price_list(settings.prices_file).currency


def price_of(model: str, settings: ModelSettings) -> Price | None:
    """Return a model's price, that in the settings before that in the file; None without either.

    Raises `UsageError` for a broken file of prices.
    """
    return settings.prices.get(model) or _price_list(settings.prices_file).by_model.get(model)


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
