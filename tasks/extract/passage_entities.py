"""Typed facts of a parsed passage: relations between its names and dates, by the trained model.

The model complements the rules: it assigns a standard relation to what the clauses state, and finds
what they miss (places in places, "the French painter", facts about a pronoun). The names, kinds,
referents and dates are those that the rules found.
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import product

import numpy as np

from tasks.extract.extracted import Mention, evidence_columns, value_columns
from tasks.extract.rules.clauses import Clause
from tasks.extract.rules.modality import standing_of
from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.typed.model import Span, typed_model
from tasks.text.common_relations import CommonRelation, common_relations
from tasks.text.names import normalise_name
from tasks.text.values import Value, find_values

MOST_PAIRS = 400  # per passage
LOWEST = -3.0  # lower scores never reach the least probability
LEAST = 0.85  # probability, on Wikipedia
# Subtracted from the logit outside Wikipedia, where .57 of the facts from .85 on were right.
ELSEWHERE = 2.2
# Inverse relations: facts of the first are published as facts of the second.
TURNED = {
    "P150": "P131", "P527": "P361", "P710": "P1344", "P674": "P1441", "P156": "P155",
    "P1366": "P1365", "P355": "P749", "P1376": "P36",
}  # fmt: skip


@dataclass(slots=True)
class Entity:
    """An entity of a passage: a name with its mentions, or a date; spans are in characters."""

    name: str
    kind: str
    mentions: list[Span] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)  # one per mention
    value: Value | None = None


def typed_triples(passage: ParsedPassage, clauses: list[Clause]) -> list[Mention]:
    """Return the typed facts of a passage as rows of TripleMention, without ordinals."""
    entities = entities_of(passage)
    pairs = _pairs(passage, entities)
    if not len(pairs):
        return []
    text, mentions = read_part(passage, entities)
    kinds = [entity.kind for entity in entities]
    scores = typed_model().scores(text, mentions, kinds, pairs, typed_model().own_vectors())
    return [
        _row(passage, entities[head], relation, entities[tail], confidence)
        for head, relation, tail, confidence in _chosen(entities, pairs, scores)
        if is_asserted(passage, clauses, *_nearest(passage, entities[head], entities[tail]))
    ]


def entities_of(passage: ParsedPassage) -> list[Entity]:
    """Return the names of a passage with all their mentions, and its dates."""
    tree = passage.tree
    by_name: dict[str, Entity] = {}
    for span in passage.names:
        key = normalise_name(span.name)
        entity = by_name.setdefault(key, Entity(span.name, passage.kind(span.name)))
        entity.mentions.append((span.start, span.end))
        entity.tokens.append(span.first)
    for token, name in passage.referents.items():
        known = by_name.get(normalise_name(name))
        if known:
            known.mentions.append((tree.start[token], tree.end[token]))
            known.tokens.append(token)
    entities = list(by_name.values())
    starts = np.array(tree.start)
    for start, end, value in find_values(tree.text, "en"):
        if value.is_point and not any(
            a < end and start < b for entity in entities for a, b in entity.mentions
        ):
            token = max(int(np.searchsorted(starts, start, "right")) - 1, 0)
            entities.append(Entity(tree.text[start:end], "date", [(start, end)], [token], value))
    return entities


def _pairs(passage: ParsedPassage, entities: list[Entity]) -> np.ndarray:
    """Return the entity pairs that share a sentence, int64 (pairs, 2); a date is never a head."""
    places = [_sentences(passage, entity) for entity in entities]
    pairs = [
        (head, tail)
        for head, tail in product(range(len(entities)), repeat=2)
        if places[head] & places[tail] and _may_be_related(entities[head], entities[tail])
    ]
    return np.array(pairs[:MOST_PAIRS], np.int64).reshape(-1, 2)


def _may_be_related(head: Entity, tail: Entity) -> bool:
    """Return whether a pair are two entities: "Smith" and "Anna Smith" are mostly the same."""
    words = [set(normalise_name(end.name).split()) for end in (head, tail)]
    return head.value is None and not (words[0] <= words[1] or words[1] <= words[0])


def _sentences(passage: ParsedPassage, entity: Entity) -> set[int]:
    """Return the first tokens of the sentences that mention an entity."""
    return {passage.sentence_of(token)[0] for token in entity.tokens}


def read_part(passage: ParsedPassage, entities: list[Entity]) -> tuple[str, list[list[Span]]]:
    """Return the sentences with two or more entities as one text, and the mentions in it.

    The other sentences are left out to save time, as they contain no pair.
    """
    tree = passage.tree
    held = Counter(first for entity in entities for first in _sentences(passage, entity))
    text, shifts = "", {}
    for first, last in tree.sentences:
        if held[first] > 1:
            text += " " if text else ""
            shifts[first] = len(text) - tree.start[first]
            text += tree.text[tree.start[first] : tree.end[last - 1]]
    mentions = []
    for entity in entities:
        spans = []
        for (start, end), token in zip(entity.mentions, entity.tokens, strict=True):
            shift = shifts.get(passage.sentence_of(token)[0])
            if shift is not None:
                spans.append((start + shift, end + shift))
        mentions.append(spans)
    return text, mentions


@cache
def _named() -> dict[str, CommonRelation]:
    """Return the common relations that restrict the kind of their head or tail.

    On texts unlike Wikipedia, the model assigned unrestricted relations ("follows", "part of") to
    arbitrary pairs of names.
    """
    known = common_relations().items()
    return {key: relation for key, relation in known if relation.head_kinds | relation.tail_kinds}


def _chosen(
    entities: list[Entity], pairs: np.ndarray, scores: np.ndarray
) -> list[tuple[int, CommonRelation, int, float]]:
    """Return the facts that are likely enough, each in one direction, by descending probability."""
    rows, places = np.nonzero(scores > LOWEST)
    model, relations = typed_model(), _named()
    facts: dict[tuple[int, str, int], float] = {}
    for row, place in zip(rows.tolist(), places.tolist(), strict=True):
        head, tail = (int(end) for end in pairs[row])
        relation = model.relations[place]
        probability = model.probability(float(scores[row, place]), relation)
        if relation not in relations or probability < LEAST:
            continue
        if TURNED.get(relation) in relations:
            head, tail, relation = tail, head, TURNED[relation]
        if fits(relations[relation], entities[head], entities[tail]):
            key = head, relation, tail
            facts[key] = max(facts.get(key, 0.0), probability)
    kept: list[tuple[int, CommonRelation, int, float]] = []
    for (head, name, tail), probability in sorted(facts.items(), key=lambda item: -item[1]):
        relation_of = relations[name]
        taken = {(h, r.id, t) for h, r, t, _ in kept}
        if relation_of.symmetric and (tail, name, head) in taken:
            continue
        if relation_of.single and any((h, r) == (head, name) for h, r, _ in taken):
            continue
        kept.append((head, relation_of, tail, probability))
    return kept


def fits(relation: CommonRelation, head: Entity, tail: Entity) -> bool:
    """Return whether head and tail are known to have the kinds that the relation requires.

    An unknown kind meets no requirement: the model was wrong too often about names without a kind.
    """
    if ("date" in relation.tail_kinds) != (tail.value is not None) or head.value is not None:
        return False
    return all(
        not kinds or end.kind in kinds
        for kinds, end in ((relation.head_kinds, head), (relation.tail_kinds, tail))
    )


def is_asserted(passage: ParsedPassage, clauses: list[Clause], first: int, second: int) -> bool:
    """Return whether the smallest clause around two tokens is positive and asserted.

    Without such a clause the result is true.
    """
    tree = passage.tree
    around = [
        clause for clause in clauses if {first, second} <= set(tree.subtree(clause.predicate))
    ]
    if not around:
        return True
    clause = min(around, key=lambda clause: len(tree.subtree(clause.predicate)))
    standing = standing_of(passage, clause)
    return standing.polarity == "positive" and standing.modality == "asserted"


def _nearest(passage: ParsedPassage, head: Entity, tail: Entity) -> tuple[int, int]:
    """Return the tokens of the two nearest mentions that share a sentence."""
    return min(
        (
            (first, second)
            for first, second in product(head.tokens, tail.tokens)
            if passage.sentence_of(first) == passage.sentence_of(second)
        ),
        key=lambda pair: abs(pair[0] - pair[1]),
    )


def _row(
    passage: ParsedPassage,
    head: Entity,
    relation: CommonRelation,
    tail: Entity,
    confidence: float,
) -> Mention:
    tree = passage.tree
    first, second = sorted(_nearest(passage, head, tail))
    start = tree.start[passage.sentence_of(first)[0]]
    end = tree.end[passage.sentence_of(second)[1] - 1]
    value = tail.value or Value("text")
    named = tail.value is None
    return {
        "head": head.name,
        "head_kind": head.kind,
        "relation": relation.name,
        "tail": " ".join(tail.name.split()),
        "tail_kind": tail.kind if named else "",
        **value_columns(value, named=named),
        "valid_from": value.valid_from,
        "valid_to": value.valid_to,
        "polarity": "positive",
        "modality": "asserted",
        **evidence_columns((start, end), _elsewhere(confidence)),
    }


def _elsewhere(probability: float) -> float:
    """Return the probability corrected for texts outside Wikipedia."""
    certain = min(probability, 0.999)
    logit = math.log(certain / (1.0 - certain)) - ELSEWHERE
    return round(1.0 / (1.0 + math.exp(-logit)), 3)
