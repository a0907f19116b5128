"""Answers one question from what programs look up, step by step where it describes things."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.expectation import Expectation, expect
from tasks.knowledge_bases.protocol import EntityRef
from tasks.names import normalise_name
from tasks.question import LinkedName
from tasks.reader import Asked, Reading, prepare, read
from tasks.recall.asked_kind import with_noun
from tasks.recall.judge import Judge
from tasks.recall.knowledge import CorpusKnowledge
from tasks.recall.look import Looked
from tasks.recall.nested import Nested, find_nested
from tasks.recall.records import Record
from tasks.stems import stem

DEEPEST = 4  # descriptions within one another
BEAM = 3  # things that a description may mean
READ = 40  # records that one step reads
BRIDGES = 12  # records whose names are looked up, too
MOST_BRIDGES = 12  # names
CHAIN = 3


@dataclass(frozen=True, slots=True)
class Step:
    """A possible answer: its text, how good it is, 0 to 1, and the readings it rests on.

    `words` were said around it, or are known of it. It is `known` where every reading is good
    enough, and `sure` where nothing of the question is left open.
    """

    text: str
    score: float
    readings: tuple[Reading, ...]
    words: frozenset[str]
    known: bool
    sure: bool


def _without_titles(question: str, names: Sequence[LinkedName]) -> str:
    """Return a question in which no word of a longer name asks: `How to Eat`."""
    for name in sorted(names, key=lambda name: -name.start):
        if " " in name.text and len(name.text) < len(question) / 2:
            question = f"{question[: name.start]}it{question[name.end :]}"
    return question


def solve(
    question: str,
    looked: Looked,
    knowledge: CorpusKnowledge,
    expectation: Expectation | None = None,
    depth: int = 0,
) -> list[Step]:
    """Return possible answers, best first; descriptions in the question are solved before it."""
    names = knowledge.names_asked(question)
    expectation = expectation or expect(_without_titles(question, names))
    nested = find_nested(question, names) if depth < DEEPEST else None
    direct: list[Step] = []
    if nested is None or not nested.clause:
        direct = directly(question, expectation, looked, knowledge)
    if nested and not any(step.sure for step in direct[:1]):
        found = [
            replace(step, score=step.score * inner.score, readings=inner.readings + step.readings)
            for inner in _things(nested, looked, knowledge, depth)
            for step in solve(nested.outer(inner.text), looked, knowledge, expectation, depth + 1)
            if step.known
        ]
        if found:
            return sorted(found, key=lambda step: -step.score)
        if nested.clause and depth:  # what is not found cannot be asked about
            return []
    return direct or directly(question, expectation, looked, knowledge)


def _things(nested: Nested, looked: Looked, knowledge: CorpusKnowledge, depth: int) -> list[Step]:
    """Return what a description may mean."""
    noun = stem(nested.noun.split()[-1])
    expected = expect(nested.described)
    if not nested.described.startswith("Who"):
        expected = Expectation("name", expect(f"Which {nested.noun}?").kinds, noun)
    found = solve(nested.described, looked, knowledge, expected, depth + 1)
    if not nested.clause:  # its noun is the relation, which has to be said
        found = [step for step in found if noun in step.words]
    return [step for step in found if step.known][:BEAM]


def directly(
    question: str,
    expectation: Expectation,
    looked: Looked,
    knowledge: CorpusKnowledge,
    chain: int = CHAIN,
) -> list[Step]:
    """Return what records say that are found for the question's names and for itself."""
    names = knowledge.names_asked(question)
    asked = prepare(question, expectation, names, knowledge.rarity, chain)
    said = [name.text for name in names]
    entities = looked.up([*said, question, *(f"about {name}" for name in said)])
    near = _best(asked, looked.of(entities), BRIDGES)
    entities = _without_namesakes(entities + looked.up(_bridges(near)), names)
    meant = [one for one in looked.of(entities) if not _of_namesake(one, names)]
    records = looked.called(_best(asked, meant, READ))
    kinds = knowledge.kinds_said(records)
    asked = replace(asked, expectation=with_noun(question, expectation, kinds.__contains__))
    judge = Judge(asked, looked.profiles(), looked.same())
    return [
        Step(
            knowledge.called(one.reading.phrase.text),
            one.score,
            (one.reading,),
            one.words,
            one.known,
            one.sure,
        )
        for one in judge.judged(read(asked, list(records), knowledge))
    ]


def _without_namesakes(
    entities: Sequence[EntityRef], names: Sequence[LinkedName]
) -> list[EntityRef]:
    """Return entities without those that are called as a name of the question, but not meant."""
    meant = {normalise_name(name.text): {b.entity for b in name.bearers} for name in names}
    return [
        entity
        for entity in dict.fromkeys(entities)
        if int(entity.key) in meant.get(normalise_name(entity.name), {int(entity.key)})
    ]


def _of_namesake(record: Record, names: Sequence[LinkedName]) -> bool:
    """Tell whether a triple is about another bearer of a name than the question means."""
    if record.source is None or record.source.kind != "triple":
        return False
    meant = {normalise_name(name.text): {b.entity for b in name.bearers} for name in names}
    return any(
        name.bearers[0].entity not in meant.get(normalise_name(name.text), {name.bearers[0].entity})
        for name in record.names
    )


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
