"""Put names where sentences have pronouns as subjects, so that each says whom it is about.

A passage is read in pieces, and "the elder daughter of Marie Curie, she was born in Paris" is taken
for an answer about the one name that it has. Extraction has found what each pronoun means.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from tasks.text.languages import word_set
from tasks.text.stems import words_of

PRONOUNS = word_set("he she it they 他 她 它 他们 她们 它们")


@dataclass(frozen=True, slots=True)
class NamedSubjects:
    """A text with names for pronouns, and what that moves: its characters from `places` on."""

    words: str
    places: tuple[int, ...]
    shifts: tuple[int, ...]

    def moved(self, place: int) -> int:
        """Return where a character of the original text is."""
        return place + self.shifts[bisect_right(self.places, place)]


def name_subjects(
    text: str, start: int, title: str, clauses: Iterable[Mapping[str, Any]]
) -> NamedSubjects:
    """Return a text with a name for the first pronoun of each clause about what its title names.

    `start` is the text's first character in its document. `clauses` are rows of the table
    `clauses` of this text. A pronoun that two clauses take for different names stays, as does one
    for another name: in a story it is too often the wrong one.
    """
    meant: dict[tuple[int, int], set[str]] = {}
    titled = words_of(title)
    for clause in clauses:
        pronoun, name = clause["subject"], clause["subject_name"]
        named = words_of(name)
        if pronoun.lower() in PRONOUNS and named & titled:
            name = title if titled <= named else name  # James Cook for Captain James Cook
            words = text[clause["span_start"] - start : clause["span_end"] - start]
            found = re.search(_whole_word(pronoun), words)
            if found:
                first = clause["span_start"] - start
                meant.setdefault((first + found.start(), first + found.end()), set()).add(name)
    places = sorted(place for place, names in meant.items() if len(names) == 1)
    parts, last = [], 0
    for begin, end in places:
        [name] = meant[begin, end]
        parts += [text[last:begin], name]
        last = end
    lengthened = (len(*meant[place]) - (place[1] - place[0]) for place in places)
    return NamedSubjects(
        "".join([*parts, text[last:]]),
        tuple(end for _, end in places),
        (0, *accumulate(lengthened)),
    )


def _whole_word(word: str) -> str:
    return re.escape(word) if not word.isascii() else rf"\b{re.escape(word)}\b"
