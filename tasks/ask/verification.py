"""Checks an answer against its sources: quotations are found, claims are borne out or marked.

No model is asked. A quotation counts if its words stand in a source; a claim, which is a sentence
of the answer, counts if what it cites was quoted and has its numbers, dates and names.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from schemas.answers import Evidence
from tasks.ask.context import Context
from tasks.extract.by_model.located import Searchable
from tasks.models.prompts.replies import CitedAnswer, Quote
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import HAN, language_of
from tasks.text.question import Question
from tasks.text.sentences import sentences
from tasks.text.stems import words_of
from tasks.text.values import Value, find_values

UNSUPPORTED = "[?]"  # stands behind a claim that no quotation bears out
BORNE_OUT = 0.3  # share of a claim's own words that must stand in what it cites
MARK = re.compile(r"\s*[\[【]\s*(\d+(?:\s*[,，、;]\s*\d+)*)\s*[\]】]")
MEMORY = re.compile(r"\s*\[(?:from )?memory\]", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<![\w-])[A-Z][\w'’-]*")
_PLAIN_NUMBER = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer without the numbers of its sources, and these numbers."""

    words: str
    cites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer whose numbers are those of its evidence, and the claims that nothing bears out.

    `quoted` and `found` count quotations: those of the reply, and those that stand in a source.
    """

    answer: str
    evidence: list[Evidence] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    claims: int = 0
    quoted: int = 0
    found: int = 0


class Numbering:
    """Finds a reply's quotations, and numbers them as evidence in the order of citation."""

    def __init__(self, quotes: Sequence[Quote], context: Context) -> None:
        """Find the quotations in their sources; `found` counts those that stand in one."""
        self._context = context
        self.places: dict[int, list[Evidence]] = {}
        self.evidence: list[Evidence] = []
        self._numbers: dict[int, list[int]] = {}
        self.found = sum(map(self._find, quotes))

    def renumbered(self, text: str) -> str:
        """Return a text whose marks are the numbers of the evidence; unknown ones go."""
        return MARK.sub(self._mark, text)

    def is_quoted(self, number: int) -> bool:
        """Return whether a source may bear claims out: a passage only if it is quoted."""
        item = self._context[number]
        return item is not None and (number in self.places or item.evidence.kind != "passage")

    def all_evidence(self) -> list[Evidence]:
        """Return the evidence that is cited, then what is quoted but cited nowhere."""
        uncited = [places for number, places in self.places.items() if number not in self._numbers]
        return [*self.evidence, *(place for places in uncited for place in places)]

    def _mark(self, match: re.Match[str]) -> str:
        sources = [int(number) for number in _NUMBER.findall(match[1])]
        cited = dict.fromkeys(place for source in sources for place in self._numbered(source))
        space = match.group()[: -len(match.group().lstrip())]
        return space + "".join(f"[{place}]" for place in cited) if cited else ""

    def _numbered(self, source: int) -> list[int]:
        """Return the numbers of a source's evidence, which it gets when it is first cited."""
        if source not in self._numbers:
            first = len(self.evidence) + 1
            self.evidence += self._cited(source)
            self._numbers[source] = list(range(first, len(self.evidence) + 1))
        return self._numbers[source]

    def _cited(self, source: int) -> list[Evidence]:
        """Return the places for a source: its quotations, or the whole of it."""
        item = self._context[source]
        if source in self.places or item is None:
            return self.places.get(source, [])
        return list(item.stated_by) or [item.evidence]

    def _find(self, quote: Quote) -> bool:
        """Locate a quotation in its source or, if the number is wrong, in any other."""
        number = int(quote.source) if quote.source.isdecimal() else 0
        for source in dict.fromkeys((number, *range(1, len(self._context.items) + 1))):
            item = self._context[source]
            span = Searchable(item.text).find(quote.words) if item and quote.words else None
            if item and span:
                cited = item.stated_by or (item.cited(*span),)
                known = self.places.setdefault(source, [])
                known += [one for one in cited if one not in known]
                return True
        return False


class Verification:
    """The check of one reply against the items that the model saw."""

    def __init__(
        self, reply: CitedAnswer, context: Context, question: Question, *, memory: bool = False
    ) -> None:
        """Find the quotations in their sources; with `memory`, claims may be marked as from it."""
        self._reply, self._context, self._question = reply, context, question
        self._memory = memory
        self._numbering = Numbering(reply.quotes, context)

    def checked(self) -> Checked:
        """Return the answer with its evidence, numbered from 1 in the order of citation."""
        unsupported: list[str] = []
        written: list[str] = []
        claims = 0
        for sentence in _sentences(self._reply.answer):
            claim = _claim(sentence)
            text = self._numbering.renumbered(sentence)
            if self._is_checked(claim):
                claims += 1
                if not self._borne_out(claim):
                    unsupported.append(claim.words)
                    text = _marked(text)
            written.append(text)
        return Checked(
            "".join(written).strip(),
            self._numbering.all_evidence(),
            unsupported,
            claims,
            len(self._reply.quotes),
            self._numbering.found,
        )

    def _borne_out(self, claim: Claim) -> bool:
        cited = [number for number in claim.cites if self._numbering.is_quoted(number)]
        items = [item for number in cited if (item := self._context[number])]
        if not items:
            return False
        text = "\n".join(f"{item.title}\n{item.text}" for item in items)
        known = _Known(f"{text}\n{self._question.text}")
        if not known.has_numbers_of(claim.words) or not known.has_names_of(claim.words):
            return False
        own = words_of(claim.words) - words_of(self._question.text)
        if not own:
            return True
        stated = known.stems
        return len(own & stated) >= BORNE_OUT * len(own)

    def _is_checked(self, claim: Claim) -> bool:
        """Return whether a sentence must be borne out.

        One that cites nothing must be if it states a number or a name of its own, unless it is
        marked as from memory and may be.
        """
        if claim.cites:
            return True
        if self._memory and MEMORY.search(claim.words):
            return False
        known = _Known(self._question.text)
        return not (known.has_numbers_of(claim.words) and known.has_names_of(claim.words))


@dataclass
class _Known:
    """A text that is searched for the numbers, dates, names and words of a claim."""

    text: str

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(words_of(self.text))

    @cached_property
    def _lower(self) -> str:
        return self.text.lower()

    @cached_property
    def _numbers(self) -> set[str]:
        return {_bare(number) for number in _PLAIN_NUMBER.findall(self.text)}

    @cached_property
    def _values(self) -> list[Value]:
        return [value for _, _, value in find_values(self.text, language_of(self.text))]

    def has_numbers_of(self, claim: str) -> bool:
        """Return whether every number and date of a claim stands in the text, in any form."""
        wanted = find_values(claim, language_of(claim))
        if not all(self._has_value(claim[start:end], value) for start, end, value in wanted):
            return False
        covered = [(start, end) for start, end, _ in wanted]
        loose = (
            match
            for match in _PLAIN_NUMBER.finditer(claim)
            if not any(start <= match.start() < end for start, end in covered)
        )
        return all(_bare(match.group()) in self._numbers for match in loose)

    def _has_value(self, words: str, value: Value) -> bool:
        if words.lower() in self._lower:
            return True
        return any(_same_value(value, other) for other in self._values) or (
            not value.is_date
            and {_bare(number) for number in _PLAIN_NUMBER.findall(words)} <= self._numbers
        )

    def has_names_of(self, claim: str) -> bool:
        """Return whether the capitalised words within a claim stand in the text."""
        return all(
            name.lower() in self._lower or words_of(name) <= self.stems for name in _names(claim)
        )


def _same_value(one: Value, other: Value) -> bool:
    """Return whether two values are the same number, or dates that do not differ."""
    if one.date and other.date:
        stated = _days(other)
        return all(any(day == known or known.startswith(f"{day}-") for known in stated)
                   for day in _days(one))  # fmt: skip
    return one.number is not None and one.number == other.number


def _days(value: Value) -> set[str]:
    """Return the dates of a value; an interval, such as `until 1911`, has one or two."""
    return set((value.date or "").split("/")) - {"..", ""}


def _bare(number: str) -> str:
    return number.replace(",", "").rstrip(".")


def _names(claim: str) -> Iterator[str]:
    """Yield the capitalised words of a claim but for its first, which any word may be."""
    if HAN.search(claim):
        yield from re.findall(r"[A-Za-z][\w'’-]+", claim)
        return
    first = re.search(r"\w", claim)
    for match in _NAME.finditer(claim):
        word = match.group().removesuffix("'s").removesuffix("’s")
        begins = first is not None and match.start() == first.start()
        if not begins and word.lower() not in FUNCTION_WORDS:
            yield word


def _sentences(answer: str) -> Iterator[str]:
    """Yield the sentences of an answer with the marks behind them and the space between."""
    place = 0
    for _, end in sentences(answer, language_of(answer)):
        while mark := MARK.match(answer, end):  # `… in 1903. [2]`
            end = mark.end()
        if end > place:
            yield answer[place:end]
            place = end
    if answer[place:].strip():
        yield answer[place:]


def _claim(passage: str) -> Claim:
    cites = [int(n) for mark in MARK.findall(passage) for n in _NUMBER.findall(mark)]
    return Claim(MARK.sub("", passage).strip(), tuple(dict.fromkeys(cites)))


def _marked(text: str) -> str:
    """Return a sentence with the mark of an unsupported claim before its final punctuation."""
    body = text.rstrip()
    stop = body[-1:] if body[-1:] in ".!?。！？" else ""
    return f"{body[: len(body) - len(stop)]} {UNSUPPORTED}{stop}{text[len(body) :]}"
