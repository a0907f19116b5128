"""Whether a source bears a claim out: whether its numbers, dates, names and words stand there.

All is judged by the wording, without a model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

from tasks.ask.contradiction import CLAUSE_ENDS, content, contradicts, share_of, states
from tasks.extract.by_model.amounts import points_of
from tasks.extract.rules.chinese.naming import looks_like_person
from tasks.text.chinese_words import NAME_TAGS, segmenter, simplified, tag_of
from tasks.text.english_words import is_word
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import HAN, language_of
from tasks.text.names import EXPANDED, strip_titles
from tasks.text.stems import stem
from tasks.text.values import Value, find_values
from tasks.text.values.chinese_numerals import NUMERAL_CHARACTERS, read_numeral
from tasks.text.values.value import in_base

SHARE = 0.2  # of a claim's own words that must stand in what it cites
ROUNDING = 0.05  # by how much "about 8,400" may be off
_NAME = re.compile(r"(?<![\w-])[A-Z][\w'’-]*(?:\.? [A-Z][\w'’-]*)*")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9'’-]+")
_WORD = re.compile(r"\w[\w'’-]*")
_PLAIN_NUMBER = re.compile(r"\d[\d,.:]*")
_TIME = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))?\s?([ap])\.?m\b\.?", re.IGNORECASE)
_CHINESE_TIME = re.compile(
    rf"(?:(上午|早上|中午|凌晨|下午|傍晚|晚上)([{NUMERAL_CHARACTERS}\d]{{1,3}})|(\d{{1,2}}))点(半?)"
)
_OF_SOURCES = re.compile(r"\b(?:sources?|documents?)\b|资料|来源|文档|片段", re.IGNORECASE)
_MEMBERS = re.compile(r"[,，、]|\band\b|[和及]")
_REFERRING = re.compile(r"\b(?:the|these|those)\s$|[这那]$", re.I)  # "the two" are not counted
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|over|more than)|[约近超]过?)\s*$",
    re.I,
)


@dataclass
class Source:
    """What a claim cites: `text`, of which the sentences in `quoted` are quoted.

    `named` is where its names may stand: all that its sentence cites, since a later part of a
    sentence says "she". What the question takes for granted is no news. `counted` are the numbers
    that its quotations give where the question asks for one.
    """

    text: str
    quoted: str
    named: str
    given: str
    counted: frozenset[float] = frozenset()

    def bears_out(self, claim: str) -> bool:
        """Return whether a claim's numbers, names and words agree with those of the source."""
        if not self.has_numbers_of(claim):
            return False
        if language_of(claim) != language_of(self.quoted):
            return True  # words of two languages cannot be compared
        return (
            self.has_names_of(claim)
            and self._has_words_of(claim)
            and not contradicts(claim, self.quoted, self.given)
        )

    def has_numbers_of(self, claim: str) -> bool:
        """Return whether every number and date of a claim stands in the source, in any form.

        One may also be the sum or difference of others that do, or the length of the claim's list.
        """
        claim = _on_24_hours(claim)
        wanted = find_values(claim, language_of(claim))
        unknown = [
            value
            for start, end, value in wanted
            if not self._has_value(claim[start:end], value, claim[:start])
        ]
        known = [value.number for _, _, value in wanted if value.number and value not in unknown]
        reckoned = {abs(one - other) for one, other in combinations(known, 2)} | {sum(known)}
        reckoned |= self.counted
        if not all(value.number in reckoned or _counts(claim, value) for value in unknown):
            return False
        loose = (
            match.group()
            for match in _PLAIN_NUMBER.finditer(claim)
            if not any(start <= match.start() < end for start, end, _ in wanted)
        )
        return all(_bare(number) in self._numbers for number in loose)

    def has_names_of(self, claim: str) -> bool:
        """Return whether the names within a claim stand in the source.

        The words of one name stand there side by side, or with one word between them.
        """
        known = f"{self.named}\n{self.given}"
        if HAN.search(claim):
            known = simplified(known).lower()
            return all(name.lower() in known for name in _names_in_han(claim))
        places: dict[str, set[int]] = {}
        for place, match in enumerate(_WORD.finditer(known)):
            for form in (_form(match.group()), stem(match.group())):
                places.setdefault(form, set()).add(place)
        first = _WORD.search(claim)
        return all(
            _stands(name, places)
            or (
                first
                and name[0] == first.group()
                and is_word(name[0].lower())
                and _stands(name[1:], places)
            )
            for name in _names(claim)
        )

    def _has_words_of(self, claim: str) -> bool:
        """Return whether a claim shares words with its source, and each of its clauses does.

        A clause with a number shares that; one about the sources themselves has words of its own.
        """
        known = f"{self.text}\n{self.given}"
        for start, end, _ in reversed(find_values(claim, language_of(claim))):
            claim = f"{claim[:start]}0{claim[end:]}"  # "three" as well as 3
        clauses = [one for one in CLAUSE_ENDS.split(claim) if not _PLAIN_NUMBER.search(one)]
        if not clauses or _OF_SOURCES.search(claim):
            return True
        if not _PLAIN_NUMBER.search(claim) and share_of(claim, known) < SHARE:
            return False
        return all(
            len(words) < 2 or any(states(known, word) for word in words)
            for words in map(content, clauses)
        )

    @cached_property
    def _numbers(self) -> set[str]:
        text = _on_24_hours(f"{self.text}\n{self.given}")
        return {_bare(number) for number in _PLAIN_NUMBER.findall(text)}

    @cached_property
    def _values(self) -> list[Value]:
        texts = (self.text, self.given)
        return [value for text in texts for _, _, value in find_values(text, language_of(text))]

    def _has_value(self, words: str, value: Value, before: str) -> bool:
        digits = [_bare(number) for number in _PLAIN_NUMBER.findall(words)]
        if not digits and _REFERRING.search(before):
            return True
        rounding = ROUNDING if _ABOUT.search(before) else 0.0
        if any(_same_value(value, other, rounding) for other in self._values):
            return True
        if len(digits) != 1 or digits[0] not in self._numbers:
            return False
        return value.number is None or str(value.number).removesuffix(".0") == digits[0]


def _same_value(one: Value, other: Value, rounding: float) -> bool:
    """Return whether two values are the same number, or dates that do not differ."""
    if one.date and other.date:
        stated = points_of(other.date)
        return all(any(day == known or known.startswith(f"{day}-") for known in stated)
                   for day in points_of(one.date))  # fmt: skip
    if one.number is None or other.number is None:
        return False
    (number, unit), (stated_number, stated_unit) = map(in_base, (one, other))
    if unit and stated_unit and unit != stated_unit:
        return False
    return abs(number - stated_number) <= max(rounding, 1e-9) * abs(stated_number)


def _counts(claim: str, value: Value) -> bool:
    """Return whether a number counts what the claim lists itself: "two cities: Ghent and Turin"."""
    _, colon, members = claim.partition("：" if "：" in claim else ":")
    return bool(colon) and value.number == count_of(members)


def count_of(members: str) -> int:
    """Return how many things a text lists: 3 in "Ghent, Turin and Lyon"."""
    return len(list(filter(str.strip, _MEMBERS.split(members))))


def _on_24_hours(text: str) -> str:
    """Return a text with its times as 19:30, whether it has 7:30 pm or 下午七点半."""
    return _CHINESE_TIME.sub(_time_in_chinese, _TIME.sub(_time, text))


def _time(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p")
    return f"{hour}:{match[2] or '00'}"


def _time_in_chinese(match: re.Match[str]) -> str:
    hour = int(read_numeral(match[2] or match[3]) or 0)
    late = match[1] in ("下午", "傍晚", "晚上") and hour < 12
    return f" {hour + 12 * late}:{'30' if match[4] else '00'}"


def _bare(number: str) -> str:
    return number.replace(",", "").rstrip(".:")


def _names(claim: str) -> Iterator[list[str]]:
    """Yield the words of each name in an English claim; dates are none."""
    for start, end, _ in find_values(claim, "en"):
        claim = claim[:start] + " " * (end - start) + claim[end:]
    for match in _NAME.finditer(claim):
        words = _WORD.findall(strip_titles(match.group()))
        yield [word for word in words if word.lower() not in FUNCTION_WORDS]


def _names_in_han(claim: str) -> Iterator[str]:
    yield from _LATIN.findall(claim)
    for run in HAN.findall(simplified(claim)):
        for word in segmenter().cut(run):
            if tag_of(word).startswith(NAME_TAGS) or (not tag_of(word) and looks_like_person(word)):
                yield word


def _stands(name: Sequence[str], places: dict[str, set[int]]) -> bool:
    """Return whether the words of a name stand in a text in their order, close to each other."""
    spots = [places.get(_form(word), set()) | places.get(stem(word), set()) for word in name]
    return all(spots) and all(
        any(place + step in second for place in first for step in (1, 2))
        for first, second in pairwise(spots)
    )


def _form(word: str) -> str:
    lower = word.lower().replace("’", "'").removesuffix("'s").rstrip("'")
    return EXPANDED.get(lower, lower)
