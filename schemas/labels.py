"""Labels of sources, documents and graphs: a reader sees what has no label but those he holds."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

SENSITIVE = "sensitive"  # the label, in effect, of every document of a source that is marked so
NO_LABELS = "none"  # takes a source's labels away
_LONGEST = 60  # characters


def as_label(text: str) -> str:
    """Return a label in lower case with single spaces; raise ValueError if it cannot be one."""
    label = " ".join(text.split()).casefold()
    if not label or len(label) > _LONGEST or "," in label or not label.isprintable():
        raise ValueError(
            f"{text!r} cannot be a label: it has up to {_LONGEST} characters and no comma"
        )
    return label


def given_labels(texts: Iterable[str]) -> list[str] | None:
    """Return the labels that a command gives, sorted: None if it gives none, [] for `none`.

    Raises ValueError if a text cannot be a label, or if `none` stands beside others.
    """
    labels = sorted({as_label(text) for text in texts})
    if not labels:
        return None
    if NO_LABELS in labels and len(labels) > 1:
        raise ValueError(f"`{NO_LABELS}` takes labels away, so give it alone")
    if SENSITIVE in labels:
        raise ValueError(f"`{SENSITIVE}` is no label to give; use --sensitive")
    return [] if labels == [NO_LABELS] else labels


def _checked(texts: list[str]) -> list[str]:
    given_labels(texts)
    return texts


GivenLabels = Annotated[list[str], AfterValidator(_checked)]  # the labels that a command gives
