"""How good a reading is, by what is known of the things that it speaks of."""

from collections.abc import Iterable
from dataclasses import replace

from tasks.knowledge_bases.protocol import EntityRef
from tasks.reader import Asked, Reading
from tasks.recall.records import Record

PROFILE_NEAR = 0.4  # how near to the answer counts what is known of it otherwise
STRANGER = 0.08  # off the score of a value that is stated of something else


class Judge:
    """Judges the readings of one question."""

    def __init__(self, asked: Asked, profiles: dict[EntityRef, frozenset[str]]) -> None:
        """Take the words that are known of each entity."""
        self._asked = asked
        self._named = {node for _, bearers in asked.names for node in bearers}
        self._profiles = {int(entity.key): words for entity, words in profiles.items()}

    def judged(self, readings: Iterable[Reading]) -> list[tuple[float, Reading]]:
        """Return readings with their scores, best first.

        What is known of an answer counts as said of it, wherever it was said.
        """
        found = [self._judged(reading) for reading in readings]
        return sorted(found, key=lambda pair: (-pair[0], pair[1].phrase.text))

    def speaks_of(self, reading: Reading) -> frozenset[str]:
        """Return the words that are said around a reading, or known of what it names."""
        words = frozenset().union(*(one.stems | one.title_stems for one in reading.chain))
        return words.union(*(self._profiles.get(node, ()) for node in self._meant(reading)))

    def _judged(self, reading: Reading) -> tuple[float, Reading]:
        said = {word for one in reading.chain for word in one.stems | one.title_stems}
        more = self.speaks_of(reading) & self._asked.terms.keys() - said
        share = sum(self._asked.terms[word] for word in more) / self._asked.weight
        reading = replace(
            reading,
            coverage=min(1.0, reading.coverage + share),
            nearness=min(1.0, reading.nearness + PROFILE_NEAR * share),
        )
        return reading.score - STRANGER * self._is_strange(reading), reading

    def _meant(self, reading: Reading) -> set[int]:
        """Return the nodes that a phrase names."""
        phrase, sentence = reading.phrase, reading.chain[0]
        return {
            name.bearers[0].entity
            for name in sentence.names
            if name.start <= phrase.start and phrase.end <= name.end
        }

    def _is_strange(self, reading: Reading) -> bool:
        """Tell whether a value is stated of something else than what the question names."""
        first = reading.chain[0]
        about = int(first.about.key) if isinstance(first, Record) and first.about else -1
        value = self._asked.expectation.form in ("date", "number")
        return value and bool(self._named) and about not in self._named
