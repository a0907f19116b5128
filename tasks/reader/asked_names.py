"""Whether a text bears the names that a question asks about.

A passage may say of somebody else, in the same words, what is asked of a name; so a text answers
only if it bears one of the names, and nothing answers a question about a name that no text has.
A sentence of the second round must concern a name of the question or of the sentence that led to
it, or else it is about a third thing, which only shares a passage with them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tasks.programs.planner.writer import written_names
from tasks.reader.texts import Source, Text, TextPart
from tasks.text.chinese_words import NAME_TAGS, tag_of, word_spans_of
from tasks.text.english_words import is_word
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import is_chinese
from tasks.text.question import Question, content_words
from tasks.text.stems import stems_of, words_of

_PRONOUN = re.compile(r"\b(?:he|she|him|her|his|hers|they|them|their|theirs)\b", re.I)
_CHINESE_PRONOUN = re.compile("(?:请问)?(?:[他她它]们?)(?!人)")
SHORTEST_CHINESE = 2  # characters of a name


class AskedNames:
    """The names in a question: capitalised or marked; in Chinese marked, or tagged as names."""

    def __init__(self, question: Question, source: Source) -> None:
        """Find the names in a question."""
        self._source = source
        self._asked = Names(asked_names(question), question.text, source)
        self._led: dict[str, Names] = {}

    def are_borne_by(self, text: Text) -> bool:
        """Tell whether a text, its title or its headings bear one of the names, or there is none.

        A name is borne by its rarest word, or by another name of the same entity.
        """
        whole = f"{text.words} {text.whole.text if text.whole else ''}"
        return not self._asked.names or self._asked.are_in(whole)

    def concern(self, text: Text, part: TextPart) -> bool:
        """Tell whether a part, or what its text is about, bears one of the names known before.

        Known are those in the question, and in the sentence that led to the text, if one did.
        """
        if text.led is None:
            return True
        led = text.led.evidence.text
        if led not in self._led:
            found = [name.text for name in self._source.names_in(led)]
            self._led[led] = Names(found, led, self._source)
        words = f"{text.subject} {part.evidence.text}"
        return self._asked.are_in(words) or self._led[led].are_in(words)


@dataclass
class Names:
    """Names that occur in a text, and where else they do."""

    names: Sequence[str]
    said_in: str
    source: Source

    def are_in(self, text: str) -> bool:
        """Tell whether a text has the rarest word of a name, or another name of its entity."""
        known, plain = words_of(text), text.casefold()
        for word in self._words:
            begins = (
                word in plain if is_chinese(word) else re.search(rf"\b{re.escape(word)}", plain)
            )
            if word in known or begins:
                return True
        bearers = {one.entity for name in self.source.names_in(text) for one in name.bearers}
        return bool(bearers & self._entities)

    @cached_property
    def _words(self) -> list[str]:
        """The rarest word of each name, as its stem."""
        rarest = []
        for name in self.names:
            if is_chinese(name):
                rarest.append(name)
                continue
            stems = [(self.source.rarity(name[a:b]), word) for a, b, word in stems_of(name)]
            rarest += [max(stems)[1]] if stems else []
        return rarest

    @cached_property
    def _entities(self) -> set[int]:
        names = self.source.names_in(self.said_in)
        known = [name for name in names if any(name.text in whole for whole in self.names)]
        return {one.entity for name in known for one in name.bearers}


def is_about_somebody_unnamed(question: Question) -> bool:
    """Tell whether the only subject of a question is a pronoun, as in `When did she die?`

    A pronoun after a noun may stand for it: `How does a user change their password?`
    """
    if question.is_chinese:
        return bool(_CHINESE_PRONOUN.match(question.text)) and not asked_names(question)
    pronoun = _PRONOUN.search(question.text)
    if pronoun is None or asked_names(question):
        return False
    return not content_words(question.text[: pronoun.start()])


def asked_names(question: Question) -> Sequence[str]:
    """Return the names in a question; not a first word that is capitalised for its place alone."""
    names = list(written_names(question))
    text = question.text
    if question.is_chinese:
        spans = sorted(word_spans_of(text))
        tagged = (text[start:end] for start, end in spans if end - start >= SHORTEST_CHINESE)
        return [*names, *(word for word in tagged if tag_of(word) in NAME_TAGS)]
    first, *_ = text.split(maxsplit=1) or [""]
    kept = []
    for name in names:
        if name.split()[:1] == [first] and is_word(first.lower()):
            name = name.removeprefix(first).strip()
        if name.strip() and name.lower() not in FUNCTION_WORDS:
            kept.append(name)
    return kept
