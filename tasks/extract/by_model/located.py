"""Find a reply's words in a passage, ignoring case, accents, white space and styles of quotes."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tasks.text.languages import HAN, HAN_CLASS
from tasks.text.names import fold_letters

LONGEST_GAP = 400  # the most characters that an ellipsis in a quote stands for
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´＇", "'"),
        **dict.fromkeys("“”„‟″«»「」『』＂", '"'),
        **dict.fromkeys("‐‑‒–—―−－", "-"),
    }
)
_LAST_WORD = re.compile(r"[A-Za-z]{3,}\Z")
_INFLECTION = re.compile(r"(?:s|es|d|ed|ing)?")
_ELLIPSIS = re.compile(r"…|\.{3}|\[\.\.\.\]")
_GAP = re.compile(r"\s")
_ACCENTED = re.compile(r"[À-ɏͰ-ϿḀ-ỿἀ-῿]")  # Latin and Greek letters
_HAN = f"[{HAN_CLASS}]"
_UNEVEN = re.compile(f"\\A\\s|\\s\\s|{_HAN}\\s|\\s{_HAN}")  # folding drops spaces here

Span = tuple[int, int]


@dataclass(frozen=True)
class Searchable:
    """A text in which a reply's words are searched."""

    text: str

    @cached_property
    def _folded(self) -> tuple[str, Sequence[int]]:
        return _fold(self.text)

    def find(self, words: str) -> Span | None:
        """Return the span of the words; an ellipsis in them stands for a gap of limited length."""
        if "..." not in words and "…" not in words:
            return self._find_whole(words, 0)
        parts = [stripped for part in _ELLIPSIS.split(words) if (stripped := part.strip())]
        spans: list[Span] = []
        for part in parts:
            span = self._find_whole(part, spans[-1][1] if spans else 0)
            if span is None or (spans and span[0] - spans[-1][1] > LONGEST_GAP):
                return None
            spans.append(span)
        return (spans[0][0], spans[-1][1]) if spans else None

    def find_name(self, name: str) -> Span | None:
        """Return the first span of a name as whole words, or None."""
        spans = self.find_all_names(name, 1)
        return spans[0] if spans else None

    def find_all_names(self, name: str, most: int) -> list[Span]:
        """Return the first `most` spans of a name as whole words."""
        folded, places = self._folded
        wanted = _folded_words(name.strip()).strip()
        spans: list[Span] = []
        at = folded.find(wanted) if wanted else -1
        while at >= 0 and len(spans) < most:
            end = at + len(wanted)
            if _is_edge(folded, at) and _is_edge(folded, end):
                spans.append((places[at], places[end - 1] + 1))
            at = folded.find(wanted, end)
        return spans

    def _find_whole(self, words: str, start: int) -> Span | None:
        folded, places = self._folded
        wanted = _folded_words(words).strip(" .,;:\"'")
        if not wanted:
            return None
        begin = next((n for n, place in enumerate(places) if place >= start), 0) if start else 0
        at = folded.find(wanted, begin)
        return (places[at], places[at + len(wanted) - 1] + 1) if at >= 0 else None


@lru_cache(maxsize=4096)
def _folded_words(words: str) -> str:
    """Fold a quote or a name; cached, as each is searched in every passage of a call."""
    return _fold(words)[0]


def _fold(text: str) -> tuple[str, Sequence[int]]:
    """Normalise case, accents, white space and punctuation; return also each character's offset.

    Next to Chinese characters white space means nothing and is dropped.
    """
    text = text.translate(_ALIKE)
    lower = text.lower()
    # A plain text has no accents and no compatibility forms of characters.
    plain = text.isascii() or (
        unicodedata.is_normalized("NFKC", text) and not _ACCENTED.search(text)
    )
    if plain and len(lower) == len(text) and not _UNEVEN.search(text):
        return _GAP.sub(" ", lower), range(len(text))
    return _fold_each(text)


def _fold_each(text: str) -> tuple[str, list[int]]:
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isspace():
            if folded and folded[-1] != " " and not HAN.match(folded[-1]):
                folded.append(" ")
                places.append(place)
            continue
        plain = character
        if not character.isascii():
            plain = fold_letters(unicodedata.normalize("NFKC", character))
            if HAN.match(character) and folded[-1:] == [" "]:
                folded.pop()
                places.pop()
        for sign in plain.lower():
            folded.append(sign)
            places.append(place)
    return "".join(folded), places


def _is_edge(text: str, at: int) -> bool:
    """Return whether a word may begin or end here; next to Chinese characters it always may."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    return not (before.isalnum() and after.isalnum()) or bool(HAN.match(before) or HAN.match(after))


def is_cut(words: str, text: str) -> bool:
    """Return whether words end within a word of a text; stems would not tell."""
    last = _LAST_WORD.search(words)
    rests = re.findall(rf"\b{last[0]}(\w*)", text, re.IGNORECASE) if last else []
    return bool(rests) and not any(map(_INFLECTION.fullmatch, rests))
