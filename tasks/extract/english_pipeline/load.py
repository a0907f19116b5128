"""Load the English pipeline: the shipped one, or another that the settings name."""

from collections.abc import Iterable
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import UsageError
from tasks.text.importing import without

if TYPE_CHECKING:
    from spacy import Language

SHIPPED_MODEL = Path(__file__).with_name("model")
MAX_CHARACTERS = 1_000_000


def load_english(name: str | None = None, disable: Iterable[str] = ()) -> "Language":
    """Return the shipped English pipeline, or the installed package or folder called `name`.

    The shipped pipeline uses Universal Dependencies labels (`dep_`), UPOS (`pos_`), Penn tags
    (`tag_`) and entity labels PERSON, LOC, ORG and MISC; its parser sets the sentence boundaries.
    Components in `disable` are not loaded, such as `("ner",)` where names are not needed.
    Pipelines are cached per process: treat them as read-only. Raises UsageError if `name` cannot
    be loaded.
    """
    return _load(name or str(SHIPPED_MODEL), tuple(sorted(set(disable))))


@lru_cache(maxsize=4)
def _load(name: str, disable: tuple[str, ...]) -> "Language":
    # Other pipelines may need PyTorch, which takes two seconds to load.
    with without("torch") if name == str(SHIPPED_MODEL) else nullcontext():
        import spacy

    try:
        nlp = spacy.load(name, exclude=list(disable))
    except OSError as error:
        raise UsageError(
            f"The English pipeline {name!r} is neither an installed spaCy package nor a pipeline "
            "folder. Install it, or leave the setting empty to use the one Almanac ships."
        ) from error
    nlp.max_length = MAX_CHARACTERS
    return nlp
