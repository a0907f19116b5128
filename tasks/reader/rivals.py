"""Recognise a text that names another thing in the place of the one asked about.

`长河公司有多少员工？` is not answered by a sentence about 白云公司. The reader looks more at what
is said than of whom it is said, and vectors hardly tell two rare names apart. An English sentence
is about the name with which it begins or, if that is a pronoun, with which its paragraph begins.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise, product

from tasks.models.span_reader.reader import Span
from tasks.reader.texts import Part, Source, Text
from tasks.text.chinese_words import STOP_WORDS, segmenter, simplified, tag_of
from tasks.text.languages import HAN
from tasks.text.question import FUNCTION_WORDS, Question, word_spans
from tasks.text.stems import words_of

Words = tuple[str, ...]

_NAMES = ("", "nr", "ns", "nt", "nz")  # tags of words that are names; of those in no dictionary, ""
_DESCRIBES = ("r", "m", "q", "u")  # tags of the last word before a noun: 那, 一, 家, 的
_PARAGRAPH = re.compile(r"\n\s*\n|^[ \t]*(?:[-*+•|]|\d{1,3}[.)])[ \t]", re.M)
_PRONOUN = re.compile(r"(?:he|she|it|they|his|her|its|their)\b", re.I)
_BEFORE_NAME = re.compile(r"\W*(?:the\s+)?\W*", re.I)


class Rivals:
    """Tells the things and persons that a question names from others in a text."""

    def __init__(self, question: Question) -> None:
        """Find the nouns that follow each other (长河|公司) and the persons in the question.

        In English, find the words of names, which have capitals, and the other content words.
        """
        self._name_words = words_of("" if question.is_chinese else " ".join(_capitalised(question)))
        self._other_words = words_of(question.content_words) - self._name_words
        self._question = simplified(question.text)
        runs = list(_noun_runs(self._question)) if question.is_chinese else []
        self._things = [run[:end] for run in runs for end in range(2, len(run) + 1)]
        self._persons = [name for run in runs for name in _persons(run)]
        expected = question.expected_answer
        self._asks_person = expected.form == "name" and expected.kinds <= {"person"}

    def are_meant(self, text: Text, part: Part, span: Span, source: Source) -> bool:
        """Return whether a part of a text tells the answer in a span of another thing or person."""
        if self._name_words and self._is_about_another(text, part, source):
            return True
        if not (self._things or self._persons):
            return False
        return self._names_another_person(text, part, span, source) or self._names_another_thing(
            text, part, source
        )

    def _is_about_another(self, text: Text, part: Part, source: Source) -> bool:
        """Return whether a part says all that is asked, but of a known name that is not asked for.

        A name that is asked for is not in its paragraph, the title and the headings. The sentence
        that led to the text counts only before a pronoun: if all is said without it, it is no hop.
        """
        before, stated = text.words[: part.start], text.words[part.start : part.end]
        starts = [match.end() for match in _PARAGRAPH.finditer(before)]
        paragraph = before[starts[-1] if starts else 0 :] + stated
        if text.led and _PRONOUN.match(paragraph):
            paragraph = f"{text.led.evidence.text} {paragraph}"
        introduction = "" if text.led else text.introduced(part)
        names_it = bool(self._name_words & words_of(f"{introduction} {paragraph}"))
        if names_it or not self._other_words <= words_of(stated):
            return False
        about = paragraph if _PRONOUN.match(stated) else stated
        begin = _BEFORE_NAME.match(about)
        at = begin.end() if begin else 0
        first = next((name for name in source.names_in(about) if name.start <= at < name.end), None)
        return bool(first and _is_proper(first.text, source))

    def _names_another_person(self, text: Text, part: Part, span: Span, source: Source) -> bool:
        """Return whether a part names persons, and its text not the one asked about.

        If a person is asked for, the answer itself does not count. Who says 我 may be the one.
        """
        around = simplified(text.words)
        if "我" in around or all(person in around for person in self._persons):
            return False
        answer = text.words[span.start : span.end] if self._asks_person else ""
        return any(
            simplified(name.text) not in self._question
            and name.text not in answer
            and "person" in source.kinds_of(name.text)
            for name in source.names_in(text.introduced(part))
        )

    def _names_another_thing(self, text: Text, part: Part, source: Source) -> bool:
        """Return whether a part has a name with the same last words, and its text not the first.

        Such are 白云|公司 and 长河|公司. The name is known or, if the question surely has one, any
        nouns that follow each other.
        """
        stated, around = simplified(text.introduced(part)), simplified(text.words)
        things = [thing for thing in self._things if thing[-1] in stated]
        if not things:
            return False
        known = [_words(simplified(name.text)) for name in source.names_in(text.introduced(part))]
        nouns = list(_noun_runs(stated))
        return any(
            other not in self._question and own not in around
            for names in (known, nouns)
            for own, other in _differences(things, names)
            if names is known or tag_of(own) in _NAMES
        )


def _capitalised(question: Question) -> Iterator[str]:
    """Yield the capitalised words of a question after its first word, without those of dates."""
    dates = [(start, end) for start, end, value in question.values if value.is_date]
    for start, end in list(word_spans(question.text))[1:]:
        word = question.text[start:end]
        dated = any(a <= start < b for a, b in dates)
        if word[0].isupper() and word.lower() not in FUNCTION_WORDS and not dated:
            yield word


def _is_proper(name: str, source: Source) -> bool:
    """Return whether a name is more than a word with which a sentence begins."""
    several = sum(word[0].isupper() for word in name.split()) > 1
    return several or any(kind != "unknown" for kind in source.kinds_of(name))


def _differences(things: Iterable[Words], names: Sequence[Words]) -> Iterator[tuple[str, str]]:
    """Yield the words before the last words that things and names share."""
    for thing, name in product(things, names):
        shared = _shared_ends(thing, name)
        if 0 < shared < min(len(thing), len(name)) and len("".join(name[-shared:])) > 1:
            own, other = thing[-shared - 1], name[-shared - 1]
            if min(len(own), len(other)) > 1:
                yield own, other


def _shared_ends(one: Words, other: Words) -> int:
    """Return how many last words two names share."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _noun_runs(text: str) -> Iterator[Words]:
    """Yield the nouns that follow each other, unless the word before shows that they describe.

    那家食品公司 is no name.
    """
    before = ""
    for nouns, run in groupby(_words(text), _is_noun):
        words = tuple(run)
        if nouns and _tag(before) not in _DESCRIBES:
            yield words
        before = words[-1]


@lru_cache(maxsize=1 << 12)
def _words(text: str) -> Words:
    return tuple(segmenter().cut(text))


def _is_noun(word: str) -> bool:
    """Return whether a word may be part of a name."""
    return bool(HAN.fullmatch(word)) and _tag(word) in ("n", "j")


def _tag(word: str) -> str:
    """Return the part of speech of a word; one that is in no dictionary is a noun, but not 那处."""
    pronoun = tag_of(word[:1]) == "r"
    return tag_of(word)[:1] or ("r" if pronoun else "n")


def _persons(run: Words) -> Iterator[str]:
    """Yield the names of persons among nouns: 王小明, 陈|大伟, but not 马拉松 and 谷歌用."""
    from tasks.extract.rules.chinese.naming import looks_like_person  # loads its word lists

    for name in (*run, *map("".join, pairwise(run))):
        named = tag_of(name)[:2] in ("", "nr") and name[-1] not in STOP_WORDS
        if len(name) == 3 and named and looks_like_person(name):
            yield name
