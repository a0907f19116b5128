"""Answers one question from what programs look up, step by step where it describes things."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.expectation import Expectation, expect
from tasks.reader import Asked, Reading, prepare, read
from tasks.recall.knowledge import CorpusKnowledge
from tasks.recall.look import Looked
from tasks.recall.nested import Nested, find_nested
from tasks.recall.records import Record
from tasks.stems import stem

DEEPEST = 4  # descriptions within one another
BEAM = 3  # things that a description may mean
READ = 60  # records that one step reads
BRIDGES = 12  # records whose names are looked up, too
MOST_BRIDGES = 12  # names
CHAIN = 3
KNOWN = 0.53  # a reading below this score is no answer
COVERED = 0.64  # nor is one that speaks of less than this share of the question's words


@dataclass(frozen=True, slots=True)
class Step:
    """A possible answer: its text, how good it is, 0 to 1, and the readings it rests on."""

    text: str
    score: float
    readings: tuple[Reading, ...]

    @property
    def known(self) -> bool:
        """Whether every reading is good enough."""
        return all(r.score >= KNOWN and r.coverage >= COVERED for r in self.readings)


def solve(
    question: str,
    looked: Looked,
    knowledge: CorpusKnowledge,
    expectation: Expectation | None = None,
    depth: int = 0,
) -> list[Step]:
    """Return possible answers, best first; descriptions in the question are solved before it."""
    nested = find_nested(question, knowledge.names_asked(question)) if depth < DEEPEST else None
    if nested:
        found = [
            replace(step, score=step.score * inner.score, readings=inner.readings + step.readings)
            for inner in _things(nested, looked, knowledge, depth)
            for step in solve(nested.outer(inner.text), looked, knowledge, expectation, depth + 1)
            if step.known
        ]
        if found:
            return sorted(found, key=lambda step: -step.score)
    return [
        Step(reading.phrase.text, reading.score, (reading,))
        for reading in directly(question, expectation or expect(question), looked, knowledge)
    ]


def _things(nested: Nested, looked: Looked, knowledge: CorpusKnowledge, depth: int) -> list[Step]:
    """Return what a description may mean."""
    expected = expect(nested.described)
    noun = stem(nested.noun.split()[-1])
    if not expected.noun:
        expected = Expectation("name", expected.kinds, noun)
    found = solve(nested.described, looked, knowledge, expected, depth + 1)
    return [step for step in found if step.known][:BEAM]


def directly(
    question: str,
    expectation: Expectation,
    looked: Looked,
    knowledge: CorpusKnowledge,
    chain: int = CHAIN,
) -> list[Reading]:
    """Return what records say that are found for the question's names and for itself."""
    names = knowledge.names_asked(question)
    asked = prepare(question, expectation, names, knowledge.rarity, chain)
    entities = looked.up([*(name.text for name in names), question])
    near = _best(asked, looked.of(entities), BRIDGES)
    entities += looked.up(_bridges(near))
    records = _best(asked, looked.of(list(dict.fromkeys(entities))), READ)
    return read(asked, list(records), knowledge)


def _bridges(records: Sequence[Record]) -> list[str]:
    names = (name.text for record in records for name in record.names)
    return list(dict.fromkeys(names))[:MOST_BRIDGES]


def _best(asked: Asked, records: Sequence[Record], most: int) -> list[Record]:
    """Return the records that say most of the question, those that say any."""
    said = [
        (sum(asked.terms[w] for w in record.stems | record.title_stems if w in asked.terms), record)
        for record in records
    ]
    said.sort(key=lambda pair: -pair[0])
    return [record for weight, record in said[:most] if weight > 0]
