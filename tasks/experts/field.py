"""The field of an expert: the names of the things that it was asked about in training.

A small model answers any question, and is as sure of what it invents as of what it knows. So an
expert keeps the names from its training questions, as 64-bit hashes, and the subject of a question
is looked up among them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tasks.graphs.name_keys import name_keys, ranges_of
from tasks.graphs.question_names import is_whole_name
from tasks.text.chinese_words import segmenter
from tasks.text.names import other_genitive
from tasks.text.question import Question, Span, name_spans

NAMES, KEYS = "names.safetensors", "keys"  # the file, and the array in it
LONGEST_CHINESE = 40  # characters of a name that is looked for
SHORT = 2  # characters of a Chinese name that must be words, or any text would have it
_QUOTED = re.compile("[《“「『](.+?)[》”」』]")


@dataclass(frozen=True)
class Field:
    """The names that an expert was asked about, as sorted hashes, uint64 (names,)."""

    keys: np.ndarray

    @classmethod
    def of(cls, names: Iterable[str]) -> "Field":
        """Return the field of these names."""
        return cls(np.unique(name_keys(names)))

    @classmethod
    def load(cls, folder: Path) -> "Field | None":
        """Return the field that stands beside an expert's weights; None without one."""
        from safetensors.numpy import load_file

        path = folder / NAMES
        return cls(load_file(path)[KEYS].view(np.uint64)) if path.exists() else None

    def save(self, folder: Path) -> None:
        """Write the field beside an expert's weights."""
        from safetensors.numpy import save_file

        save_file({KEYS: self.keys.view(np.int64)}, folder / NAMES)

    def has(self, names: Sequence[str]) -> np.ndarray:
        """Return whether each name belongs to the field, bool (names,)."""
        low, high = ranges_of(self.keys, name_keys(names))
        return np.asarray(high > low)

    def subject(self, question: Question) -> Span | None:
        """Return where the question names something of the field; None where it does not.

        It is the longest such name that is no part of a longer one.
        """
        text = question.text
        spans = list(name_spans(text, longest_chinese=LONGEST_CHINESE, shortest_chinese=1))
        names = [text[slice(*span)] for span in spans]
        known = self.has([form for name in names for form in (name, other_genitive(name) or name)])
        is_whole = _whole_in_chinese if question.is_chinese else is_whole_name
        pairs = zip(spans, known.reshape(-1, 2), strict=True)
        named = (span for span, either in pairs if either.any())
        return next((span for span in named if is_whole(text, span)), None)


def _whole_in_chinese(text: str, span: Span) -> bool:
    """Return whether a name is no part of a title or quotation, nor a short one of a word."""
    for quoted in _QUOTED.finditer(text):
        inner = quoted.span(1)
        if inner[0] < span[1] and span[0] < inner[1]:
            return inner[0] >= span[0] and span[1] >= inner[1]
    if span[1] - span[0] > SHORT:
        return True
    ends = {0}
    for word in segmenter().cut(text):
        ends.add(max(ends) + len(word))
    return span[0] in ends and span[1] in ends
