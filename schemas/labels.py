"""Labels of sources, documents and graphs: a reader sees what has no label but those they hold."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from pydantic import AfterValidator

SENSITIVE = "sensitive"  # the label, in effect, of every document of a source that is marked so
NO_LABELS = "none"  # takes a source's labels away; of a reader, that they have none
_LONGEST = 60  # characters


def as_label(text: str) -> str:
    """Return a label in lower case with single spaces; raise ValueError if it cannot be one."""
    label = " ".join(text.split()).casefold()
    if not label or len(label) > _LONGEST or "," in label or not label.isprintable():
        raise ValueError(
            f"{text!r} cannot be a label: it has up to {_LONGEST} characters and no comma"
        )
    return label


def held_labels(texts: Iterable[str]) -> list[str] | None:
    """Return the labels that a reader holds, sorted: None if no text is given, [] for `none`.

    Raises ValueError if a text cannot be a label, or if `none` stands beside others.
    """
    labels = sorted({as_label(text) for text in texts})
    if NO_LABELS in labels and len(labels) > 1:
        raise ValueError(f"`{NO_LABELS}` is no label at all, so give it alone")
    return [label for label in labels if label != NO_LABELS] if labels else None


def given_labels(texts: Iterable[str]) -> list[str] | None:
    """Return the labels that a command gives a source, in the same form.

    Raises ValueError for `sensitive`, too, which is given in another way.
    """
    labels = held_labels(texts)
    if labels and SENSITIVE in labels:
        raise ValueError(f"`{SENSITIVE}` is no label to give; use --sensitive")
    return labels


def labels_of_reader(text: str | None) -> list[str] | None:
    """Return the labels that a text with commas between says, None for no text: the owner.

    Raises ValueError as `held_labels` does, for an empty text, too: it must not mean the owner.
    """
    return None if text is None else held_labels(text.split(","))


def _checked(read: Callable[[Any], object]) -> AfterValidator:
    """Return a check that a value can be read; the value stays as it was given."""

    def check(value: Any) -> Any:
        read(value)
        return value

    return AfterValidator(check)


GivenLabels = Annotated[list[str], _checked(given_labels)]  # texts that give a source labels
HeldLabels = Annotated[str | None, _checked(labels_of_reader)]  # what a reader holds, with commas
