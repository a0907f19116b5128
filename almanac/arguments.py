"""Checks of what programs give to the methods of an open home."""

from collections.abc import Callable, Collection, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from datetime import date

# What the parameters of these names take, whichever method has them.
TAKEN: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("words", "query", "name", "route", "style"), (str,)),
    **dict.fromkeys(("graph", "edition", "where", "old", "new"), (str, NoneType)),
    **dict.fromkeys(("on_text", "on_progress"), (Callable, NoneType)),  # type: ignore[arg-type]
    **dict.fromkeys(("memory", "asserted", "sensitive"), (bool,)),
    **dict.fromkeys(("note", "home"), (str, Path)),
    "limit": (int,),
}
Given = ParamSpec("Given")
Result = TypeVar("Result")


def checked(method: Callable[Given, Result]) -> Callable[Given, Result]:
    """Let a method raise UsageError for arguments that are of no kind which it takes."""
    parameters = signature(method)

    @wraps(method)
    def called(*values: Given.args, **named: Given.kwargs) -> Result:
        for name, value in parameters.bind(*values, **named).arguments.items():
            if name in TAKEN:
                check_kinds(name, [value], *TAKEN[name])
        return method(*values, **named)

    return called


def check_options(
    choices: Sequence[str],
    min_score: float | None,
    as_of: "date | None",
    edition: str | None,
    style: str,
) -> None:
    """Raise UsageError for options that the command line would refuse, too."""
    from datetime import date, datetime

    from schemas.errors import UsageError

    are_texts = not isinstance(choices, str) and all(isinstance(one, str) for one in choices)
    if not are_texts or len(choices) == 1:
        raise UsageError("`choices` is a list of at least two texts.")
    if style not in ("full", "short"):
        raise UsageError("`style` is full or short.")
    check_share("min_score", min_score)
    if as_of is not None and (isinstance(as_of, datetime) or not isinstance(as_of, date)):
        raise UsageError("`as_of` is a day, a datetime.date without a time.")
    if as_of and edition:
        raise UsageError("Give `as_of` or `edition`, not both.")


def check_kinds(name: str, values: Any, *kinds: type) -> None:
    """Raise UsageError unless an argument has values of these kinds alone."""
    from schemas.errors import UsageError

    wanted = " or ".join(kind.__name__.removesuffix("Type") for kind in kinds)
    if isinstance(values, str) or not isinstance(values, Collection):  # a text is no list
        raise UsageError(f"`{name}` is a list of {wanted}.")
    for value in values:
        if not isinstance(value, kinds):
            raise UsageError(f"`{name}` takes {wanted}, not {type(value).__name__}.")


def check_share(name: str, value: float | None) -> None:
    """Raise UsageError for a number that is no share."""
    from schemas.errors import UsageError

    if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
        raise UsageError(f"`{name}` is a number between 0 and 1.")
