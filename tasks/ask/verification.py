"""Checks an answer against its sources: quotations are found, claims are borne out or marked.

No model is asked. A quotation counts if its words stand in a source; a claim, which is a sentence
of the answer, counts if what it cites was quoted and has its numbers, dates and names.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from schemas.answers import Evidence
from tasks.ask.borne_out import Source, count_of
from tasks.ask.context import Context
from tasks.ask.contradiction import content
from tasks.ask.marks import FENCED, Mark, numbered_brackets, without_ordinals
from tasks.extract.by_model.located import Searchable, Span
from tasks.models.prompts.replies import CitedAnswer, Quote
from tasks.text.languages import language_of
from tasks.text.question import Question
from tasks.text.sentences import sentences
from tasks.text.stems import words_of

NEAR = 0.6  # words shared with a claim, of the most that a quotation of its source shares
LONGEST_CLAUSE = 400  # characters in front of a mark
_CLAUSE_BEGINS = re.compile(r"[.!?]\s|[。！？\n]")
UNSUPPORTED = "[?]"  # stands behind a claim that no quotation bears out
MOST_SOURCES = 99  # a number in brackets above it, which is no source's, cites none: [2021]
_WORD_BEFORE = re.compile(r"(\w{1,8})[*_`\"'”’)]*\Z")
_CLAUSE_END = re.compile(r"\s*(?:[^\w\s\[［【(（]|\Z)|[^\S\n]*\n")
_NEW_CLAUSE = re.compile(r"[,\s]*(?:and|but|while|whereas|;)\s|\s*[，；]")
MEMORY = re.compile(r"\s*\[(?:from )?memory\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer without the numbers of its sources, and these numbers.

    `parts` are the words before each of its citations, with the numbers of that citation alone.
    """

    words: str
    cites: tuple[int, ...]
    parts: tuple[tuple[str, tuple[int, ...]], ...] = ()


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
        self.spans: dict[int, list[Span]] = {}
        self.evidence: list[Evidence] = []
        self._numbers: dict[int, list[int]] = {}
        self._moved: dict[int, list[int]] = {}
        self.found = sum(map(self._find, quotes))

    def marks(self, text: str) -> list[Mark]:
        """Return the citations of a text, with the sources in which their quotations stand.

        Brackets of the text itself, such as [0, 1] or a year, are none.
        """
        return [
            replace(mark, numbers=tuple(dict.fromkeys(meant)))
            for mark in numbered_brackets(text)
            if self._cites(mark, text)
            for meant in [[n for number in mark.numbers for n in self._meant(number)]]
        ]

    def renumbered(self, text: str, before: str = "") -> str:
        """Return a text whose marks are the numbers of the evidence; unknown ones go.

        Of a source that is quoted more than once, a mark names the quotations that are most like
        the words in front of it; `before` is what precedes the text.
        """
        whole, place, written = before + text, len(before), ""
        clause, last = "", 0
        for mark in self.marks(whole):
            if mark.start > last:
                clause = _CLAUSE_BEGINS.split(whole[last : mark.start])[-1]
            last = mark.end
            if last > place:
                written += whole[place : mark.start]
                bracket = whole[max(place, mark.start) : mark.end]
                space = bracket[: -len(bracket.lstrip())]
                cited = self._mark(mark.numbers, words_of(clause[-LONGEST_CLAUSE:]))
                written += space + cited if cited else ""
                place = last
        return written + whole[place:]

    def is_quoted(self, number: int) -> bool:
        """Return whether a source may bear claims out: a passage only if it is quoted."""
        item = self._context[number]
        return item is not None and (number in self.places or item.evidence.kind != "passage")

    def all_evidence(self) -> list[Evidence]:
        """Return the evidence that is cited, then what is quoted but cited nowhere."""
        uncited = [places for number, places in self.places.items() if number not in self._numbers]
        return [*self.evidence, *(place for places in uncited for place in places)]

    def _meant(self, number: int) -> list[int]:
        """Return the sources that a number means: where what is quoted under it was found."""
        return [number] if number in self.places else self._moved.get(number, [number])

    def _cites(self, mark: Mark, text: str) -> bool:
        """Return whether numbers in brackets are a citation.

        One that no source has is dropped later, for a model invents such; a list with one is not.
        Brackets that stand so in a source are copied, unless they end a clause and name sources
        that are quoted, as each cited one should be.
        """
        numbers = [source for number in mark.numbers for source in self._meant(number)]
        known = [self._context[number] is not None for number in numbers]
        if self._is_copied(text[: mark.start], text[mark.start : mark.end]):
            quoted = all(map(self.is_quoted, numbers))
            return quoted and _CLAUSE_END.match(text, mark.end) is not None
        return all(known) or (len(numbers) == 1 and 1 <= numbers[0] <= MOST_SOURCES)

    def _is_copied(self, before: str, bracket: str) -> bool:
        """Return whether a bracket stands behind the same word in a source."""
        word = _WORD_BEFORE.search(before)
        looked_for = (word[1] if word else "") + "".join(bracket.split())
        return bool(word) and any(looked_for in text for text in self._unspaced)

    @cached_property
    def _unspaced(self) -> list[str]:
        return ["".join(item.text.split()) for item in self._context.items]

    def _mark(self, sources: Sequence[int], words: frozenset[str]) -> str:
        cited = dict.fromkeys(
            place for source in sources for place in self._nearest(self._numbered(source), words)
        )
        return "".join(f"[{place}]" for place in cited)

    def _nearest(self, numbers: Sequence[int], words: frozenset[str]) -> list[int]:
        shared = {n: len(words & words_of(self.evidence[n - 1].text)) for n in numbers}
        best = max(shared.values(), default=0)
        return [number for number in numbers if shared[number] >= NEAR * best]

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
                self.spans.setdefault(source, []).append(span)
                if source != number:
                    self._moved.setdefault(number, []).append(source)
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
        answer = self._reply.answer
        marks, plain = self._numbering.marks(answer), without_ordinals(answer)
        unsupported: list[str] = []
        written: list[str] = []
        claims = 0
        for start, end in _sentences(answer, marks):
            claim = _claim(plain, start, end, marks)
            text = self._numbering.renumbered(answer[start:end], answer[:start])
            if self._reply.found != "no" and self._is_checked(claim):
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
        texts = [self._cited(number) for number in claim.cites]
        named = "\n".join(text for text, _ in texts)
        for words, cites in claim.parts:
            own = [cited for number in cites if (cited := self._cited(number))[0]]
            source = Source(
                "\n".join(text for text, _ in own),
                "\n".join(quoted for _, quoted in own),
                named,
                self._question.text,
                self._counted(cites),
            )
            if not own or not source.bears_out(words):
                return False
        return True

    def _counted(self, cites: Sequence[int]) -> frozenset[float]:
        """Return how many quotations sources have, and what each lists, if a number is asked for.

        The prompt tells the model to quote what it counts.
        """
        if self._question.expected_answer.form != "number":
            return frozenset()
        quoted = [
            item.text[slice(*span)]
            for number in cites
            if (item := self._context[number])
            for span in set(self._numbering.spans.get(number, ()))
        ]
        return frozenset(map(float, [len(quoted), *map(count_of, quoted)])) - {0.0, 1.0}

    def _cited(self, number: int) -> tuple[str, str]:
        """Return a source's title and text, and its sentences that are quoted; else nothing.

        A source that is no passage is quoted as a whole.
        """
        item = self._context[number]
        if item is None or not self._numbering.is_quoted(number):
            return "", ""
        spans = self._numbering.spans.get(number)
        quoted = _touched(item.text, spans) if spans else item.text
        return f"{item.title}\n{item.text}", quoted

    def _is_checked(self, claim: Claim) -> bool:
        """Return whether a sentence must be borne out.

        One that cites nothing must be if it states a number or a name of its own, unless it is
        marked as from memory and may be.
        """
        if claim.cites:
            return True
        if self._memory and MEMORY.search(claim.words):
            return False
        known = Source("", "", "", self._question.text)
        return not (known.has_numbers_of(claim.words) and known.has_names_of(claim.words))


def _sentences(answer: str, marks: Sequence[Mark]) -> Iterator[tuple[int, int]]:
    """Yield the spans of sentences with the marks behind them, and of blocks of code.

    They follow each other without a gap.
    """
    ends = {mark.start: mark.end for mark in marks}
    place = 0
    for block in [*(match.span() for match in FENCED.finditer(answer)), (len(answer),) * 2]:
        for _, end in sentences(answer[: block[0]], language_of(answer)):
            while end in ends:  # `… in 1903. [2]`
                end = ends[end]
            if end > place:
                yield place, end
                place = end
        if block[1] > place:
            yield place, block[1]
            place = block[1]


def _touched(text: str, spans: Sequence[Span]) -> str:
    """Return the sentences of a text that spans touch."""
    return "\n".join(
        text[start:end]
        for start, end in sentences(text, language_of(text))
        if any(first < end and start < last for first, last in spans)
    )


def _claim(text: str, start: int, end: int, marks: Sequence[Mark]) -> Claim:
    """Return what a sentence claims by each of its citations; a block of code claims nothing."""
    if FENCED.match(text[start:end].lstrip()):
        return Claim("", ())
    parts: list[tuple[str, tuple[int, ...]]] = []
    place = start
    for mark in marks:
        if start <= mark.start < end:
            words = text[place : mark.start]
            before = parts.pop() if parts and not words else (words, ())
            parts.append((before[0], before[1] + mark.numbers))
            place = mark.end
    rest = text[place:end]
    cites = tuple(dict.fromkeys(number for _, numbers in parts for number in numbers))
    words = ("".join(part for part, _ in parts) + rest).strip()
    is_in_parts = all(_NEW_CLAUSE.match(part) for part, _ in parts[1:])
    if not parts or content(rest) or not is_in_parts:
        parts = [(words, cites)]  # `According to [1], …`, `Lint [1], Skell [2] and Orby [3]`
    return Claim(words, cites, tuple(parts))


def _marked(text: str) -> str:
    """Return a sentence with the mark of an unsupported claim before its final punctuation."""
    body = text.rstrip()
    stop = body[-1:] if body[-1:] in ".!?。！？" else ""
    return f"{body[: len(body) - len(stop)]} {UNSUPPORTED}{stop}{text[len(body) :]}"
