"""Answers questions that compare two things from extracted knowledge.

Nothing is guessed: an answer needs a record of each of the two things.
"""

from collections.abc import Iterable, Sequence

from tasks.reader.comparison import (
    Comparison,
    PairQuestion,
    PropertyComparison,
    ValueComparison,
    winner,
)
from tasks.reader.knowledge.lookup import Lookup
from tasks.reader.reading import ENOUGH_FOR_PART, Reading, read, weigh
from tasks.reader.sentence import Sentence
from tasks.retrieval.linked_names import LinkedName
from tasks.text.expected_answer import ExpectedAnswer, expected_answer
from tasks.text.names import normalise_name
from tasks.text.question import Question, analyse
from tasks.text.stems import stem, words_of

HAS_PROPERTY = 0.6  # share of a property's words that a record of a thing must have
AHEAD = 0.1  # least difference between the shares of two things
_LIES = ("is", "in", "country", "city", "capital")  # beginnings of relations between places
_COUNTRY = "countri"
_COUNTRIES = frozenset(map(stem, ("country", "kingdom", "republic", "nation", "empire")))

Answered = tuple[str, list[Sentence]]  # an answer, and the sentences that support it


def answer_comparison(comparison: Comparison, lookup: Lookup) -> Answered | None:
    """Return the answer to a comparison; None if too little is known of the two things."""
    if isinstance(comparison, ValueComparison):
        return _by_value(comparison, lookup)
    if isinstance(comparison, PropertyComparison):
        return _by_property(comparison, lookup)
    if comparison.shared_noun:
        return _by_shared_place(comparison, lookup)
    return _both(comparison, lookup)


def _by_value(comparison: ValueComparison, lookup: Lookup) -> Answered | None:
    """Read the value of each thing; answer with the one that has the winning value."""
    readings = [
        reading
        for part, option in zip(comparison.parts, comparison.options, strict=True)
        for reading in _values_of(option, part, comparison.expected, lookup)[:1]
    ]
    number = winner(comparison, readings)
    if number is None:
        return None
    return comparison.options[number], [s for reading in readings for s in reading.chain]


def _values_of(
    option: str, part: Question, expected: ExpectedAnswer, lookup: Lookup
) -> list[Reading]:
    knowledge = lookup.knowledge
    weighted = weigh(part, expected, knowledge.names_in_question(part), knowledge.rarity, chain=1)
    readings = read(weighted, _records_about(option, lookup), knowledge)
    return [reading for reading in readings if reading.score >= ENOUGH_FOR_PART]


def _records_about(option: str, lookup: Lookup) -> list[Sentence]:
    names = lookup.knowledge.names_in_question(analyse(option))
    whole = [name.text for name in names if len(name.text) >= len(option) - 2]
    first = min(names, key=lambda name: name.start).text if names else option
    records = lookup.records_of(lookup.entities(whole or [first], option))
    # A statement that only names a thing is about something else.
    return [r for r in records if not (r.is_statement and r.fact and r.fact.inverse)]


def _by_property(comparison: PropertyComparison, lookup: Lookup) -> Answered | None:
    """Return the option whose record covers more of the property."""
    shares = [_property_of(option, comparison.property, lookup) for option in comparison.options]
    if abs(shares[0][0] - shares[1][0]) < AHEAD:
        return None
    number = int(shares[1][0] > shares[0][0])
    return comparison.options[number], shares[number][1]


def _both(pair: PairQuestion, lookup: Lookup) -> Answered | None:
    shares = [_property_of(option, pair.property, lookup) for option in pair.options]
    if not all(records for _, records in shares):
        return None
    both = all(share >= HAS_PROPERTY for share, _ in shares)
    return "yes" if both else "no", [record for _, records in shares for record in records]


def _property_of(option: str, property: Question, lookup: Lookup) -> tuple[float, list[Sentence]]:
    """Return the largest share of a property in one record of a thing, and that record."""
    terms = weigh(property, property.expected_answer, [], lookup.knowledge.rarity).terms
    terms = {word: weight for word, weight in terms.items() if word not in words_of(option)}
    total = sum(terms.values()) or 1.0
    best: tuple[float, list[Sentence]] = (0.0, [])
    for record in _records_about(option, lookup):
        share = sum(weight for word, weight in terms.items() if word in record.stems) / total
        if share > best[0]:
            best = (share, [record])
    return best


# -- common places ---------------------------------------------------------------------------------


def _by_shared_place(pair: PairQuestion, lookup: Lookup) -> Answered | None:
    """Answer whether two things share a place of the kind that the noun names."""
    noun = pair.shared_noun
    kinds = expected_answer(f"Which {noun}").kinds or frozenset({"place"})
    places: list[dict[str, None]] = []
    evidence: list[Sentence] = []
    for option in pair.options:
        records = _best_records(option, pair.property, kinds, lookup)
        if not records:
            return None
        named = (_places_in(record, noun, kinds, lookup) for record in records)
        places.append(dict.fromkeys(key for keys in named for key in keys))
        evidence.append(records[0])
    shared = places[0].keys() & places[1].keys()
    if stem(noun) == _COUNTRY:
        if not shared and not all(_has_country(keys, lookup) for keys in places):
            return None  # two villages may lie in one country
    elif all(shared <= {list(keys)[-1]} for keys in places):
        # Lists of places go from small to large: a place that only ends both is too large.
        shared = shared if any(len(keys) == 1 for keys in places) else set()
    return "yes" if shared else "no", evidence


def _best_records(
    option: str, property: Question, kinds: frozenset[str], lookup: Lookup
) -> list[Sentence]:
    """Return the records of a thing that cover most of a property and name one of the kinds."""
    own = words_of(option)
    terms = weigh(property, ExpectedAnswer("name", kinds), [], lookup.knowledge.rarity).terms
    best: tuple[float, list[Sentence]] = (0.0, [])
    for record in _records_about(option, lookup):
        if not any(words_of(name.text) - own for name in _of_kinds(record.names, kinds, lookup)):
            continue
        share = sum(weight for word, weight in terms.items() if word in record.stems)
        if share > best[0]:
            best = (share, [])
        if share == best[0]:
            best[1].append(record)
    return best[1]


def _of_kinds(
    names: Sequence[LinkedName], kinds: frozenset[str], lookup: Lookup
) -> list[LinkedName]:
    return [n for n in names if lookup.knowledge.kind_of(n.bearers[0].entity) in kinds]


def _places_in(
    record: Sentence, noun: str, kinds: frozenset[str], lookup: Lookup
) -> dict[str, None]:
    """Return the names of the given kinds in a record, in order.

    If the noun fits some of them, only those are returned. If it is `country`, the places in which
    they lie are included.
    """
    named = _of_kinds(sorted(record.names, key=lambda name: name.start), kinds, lookup)
    keys = {normalise_name(name.text): None for name in named}
    if stem(noun) == _COUNTRY:
        around = lookup.records_of(lookup.entities(name.text for name in named))
        return keys | {
            normalise_name(name.text): None
            for other in around
            if other.fact is None or other.fact.relation.startswith(_LIES)
            for name in _of_kinds(other.names, kinds, lookup)
        }
    fitting = (name for name in named if _has_noun(name, noun, record, lookup))
    return {normalise_name(name.text): None for name in fitting} or keys


def _has_noun(name: LinkedName, noun: str, record: Sentence, lookup: Lookup) -> bool:
    beside = record.text[max(0, name.start - 15) : name.end + 15]
    description = lookup.knowledge.description_of(name.bearers[0].entity)
    return stem(noun) in words_of(beside) | words_of(description)


def _has_country(names: Iterable[str], lookup: Lookup) -> bool:
    entities = lookup.entities(names)
    descriptions = (lookup.knowledge.description_of(int(entity.key)) for entity in entities)
    return any(_COUNTRIES & words_of(description) for description in descriptions)
