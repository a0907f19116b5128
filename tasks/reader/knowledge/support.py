"""How well the known facts about the entities in a reading support it as an answer."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tasks.reader.knowledge.lookup import Lookup
from tasks.reader.reading import Reading, WeightedQuestion
from tasks.reader.sentence import Sentence
from tasks.text.languages import HAN
from tasks.text.names import normalise_name
from tasks.text.stems import words_of

PROFILE_NEAR = 0.4  # nearness of words from other records of the answer's entity
STRANGER = 0.08  # penalty on a value that is stated of another thing
RELATION = 0.3  # share of the words outside names that must be covered
# A reading that covers at least `MUCH` words of a long question needs only this score and coverage.
MUCH = 5.0
MUCH_SCORE, MUCH_COVERAGE = 0.45, 0.42
STRETCHES = 0.6  # share of the segments of a Chinese question without names that must be covered
BEFORE_NAME = 3, 8  # words, or Chinese characters, before the name that a phrase ends with
_ASKS_ASIDE = re.compile(
    r"where\b|(?:in|on|at|with|from|to|through|by|for|under)\s+(?:which|what|whom)\b", re.I
)
_APPOSITION = re.compile(r"[,，(（]")
COMPLETE = 0.95  # coverage from which a reading is complete


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate answer: its text, its score from 0 to 1, and the readings that support it.

    `words` are the stems around it or in records of its entity. It is `supported` if every reading
    is good enough, and `complete` if the readings cover the whole question.
    """

    text: str
    score: float
    readings: tuple[Reading, ...]
    words: frozenset[str]
    supported: bool
    complete: bool


class Support:
    """Turns the readings of one question into candidates."""

    def __init__(self, question: WeightedQuestion, lookup: Lookup) -> None:
        """Take the question and the records that were looked up for it."""
        self._question, self._knowledge = question, lookup.knowledge
        self._profiles, self._coreferent = lookup.profiles(), lookup.coreferent()
        self._asks_value = question.expected.form in ("date", "number")
        self._named = self._things({node for _, bearers in question.names for node in bearers})

    def candidates(self, readings: Iterable[Reading]) -> list[Candidate]:
        """Return candidates, best first, without those that only repeat a name in the question.

        Words from any record of an answer's entity count towards its coverage.
        """
        candidates = [self._candidate(r) for r in readings if not self._repeats(r)]
        return sorted(candidates, key=lambda candidate: -round(candidate.score, 6))

    def _candidate(self, reading: Reading) -> Candidate:
        terms, weight = self._question.terms, self._question.weight
        around = frozenset().union(*(s.stems | s.title_stems for s in reading.chain))
        words = around.union(*(self._profiles.get(node, ()) for node in self._named_by(reading)))
        share = sum(terms[word] for word in (words - around) & terms.keys()) / weight
        reading = replace(
            reading,
            coverage=min(1.0, reading.coverage + share),
            nearness=min(1.0, reading.nearness + PROFILE_NEAR * share),
        )
        first = reading.chain[0]
        stated = first.is_statement
        supported = (
            self._says_relation(_beside(reading) if stated else around)
            and not (stated and self._is_part(reading, first))
            and self._says_enough(reading, words)
            and (bool(self._question.names) or self._says_stretches(words))
        )
        return Candidate(
            self._knowledge.full_name(reading.phrase.text),
            reading.score - STRANGER * self._is_strange(reading),
            (reading,),
            words,
            supported,
            supported and reading.coverage >= COMPLETE,
        )

    def _is_part(self, reading: Reading, statement: Sentence) -> bool:
        """Return whether a phrase is but a part of the ends of a statement, or apart from them.

        Nor may the statement leave out a name that the question has.

        Nothing is stated of a name in the middle of a phrase, nor of one whose other end is not
        what the question is about. Who asks where, or "with whom", does not ask for an end. A value
        may stand anywhere.
        """
        named = statement.stems | statement.title_stems
        if not all(name <= named for name, _ in self._question.names):
            return True
        if self._asks_value:
            return False
        if not (reading.stated or _ASKS_ASIDE.match(self._question.question.text)):
            return True
        key = normalise_name(reading.phrase.text)
        ends = statement.fact.ends if statement.fact else ()
        parts = (part for end in ends for part in (end, _APPOSITION.split(end)[0]))
        return not any(_closes(normalise_name(part), key) for part in parts)

    def _says_relation(self, around: frozenset[str]) -> bool:
        """Return whether enough words outside names are covered, as these say what is asked.

        However much is known about people, it need not say where they died.
        """
        named = frozenset().union(*(words for words, _ in self._question.names))
        others = {word: w for word, w in self._question.terms.items() if word not in named}
        weight = sum(w for word, w in others.items() if word in around)
        return not others or weight >= RELATION * sum(others.values())

    def _says_stretches(self, words: frozenset[str]) -> bool:
        """Return whether enough of a Chinese question is covered, with each segment counted once.

        Its words overlap: three of the four in `李明的出生地` are parts of `出生地`, and the fourth
        is the person, who may be unknown.
        """
        terms = [word for word in self._question.terms if HAN.search(word)]
        whole = [w for w in terms if not any(w in other for other in terms if other != w)]
        covered = [any(part in words for part in terms if part in segment) for segment in whole]
        return sum(covered) >= STRETCHES * len(whole)

    def _says_enough(self, reading: Reading, words: frozenset[str]) -> bool:
        """Return whether a reading covers nearly all of the question, or much of a long one.

        If the long question asks for a value, all of its names must be covered, too.
        """
        if reading.is_enough:
            return True
        much = reading.coverage * len(self._question.terms) >= MUCH
        named = not self._asks_value or all(name <= words for name, _ in self._question.names)
        enough = reading.score >= MUCH_SCORE and reading.coverage >= MUCH_COVERAGE
        return named and much and enough

    def _repeats(self, reading: Reading) -> bool:
        """Return whether a phrase repeats a name in the question, perhaps with more words."""
        words = words_of(reading.phrase.text)
        return any(len(name) > 1 and name <= words for name, _ in self._question.names)

    def _named_by(self, reading: Reading) -> set[int]:
        phrase = reading.phrase
        return self._things(
            name.bearers[0].entity
            for name in reading.chain[0].names
            if name.start <= phrase.start and phrase.end <= name.end
        )

    def _things(self, nodes: Iterable[int]) -> set[int]:
        return {other for node in nodes for other in self._coreferent.get(node, (node,))}

    def _is_strange(self, reading: Reading) -> bool:
        """Return whether a value is stated of a thing that the question does not name."""
        if not self._asks_value or not self._named:
            return False
        return int(reading.chain[0].topic) not in self._named


def _beside(reading: Reading) -> frozenset[str]:
    """Return the stems of a reading's first sentence that stand outside its phrase."""
    sentence, phrase = reading.chain[0], reading.phrase
    around = (w for start, end, w in sentence.words if end <= phrase.start or phrase.end <= start)
    return sentence.title_stems.union(around)


def _closes(end: str, name: str) -> bool:
    """Return whether an end is a name, or ends with it after few words: `the physicist Ada`."""
    before = end.removesuffix(name)
    words, characters = BEFORE_NAME
    few = len(before) <= characters if HAN.search(end) else len(before.split()) <= words
    return end.endswith(name) and few
