"""Descriptions: one sentence that says what an entity is, in the passage's own words."""

from collections.abc import Iterator
from dataclasses import dataclass

from tasks.extract.extracted import Mention
from tasks.extract.rules.clauses import Clause
from tasks.extract.rules.kinds import kind_of_noun
from tasks.extract.rules.modality import standing_of
from tasks.extract.rules.noun_phrases import Called, argument_phrase, call, called_by_name
from tasks.extract.rules.passage import ParsedPassage

LONGEST = 45
SHORTEST = 4
LONGEST_CLASS = 6


@dataclass(frozen=True, slots=True)
class Description:
    """What is said of an entity and the tokens that say it, a stretch of one sentence."""

    entity: Called
    first: int
    last: int
    confidence: float


def find_descriptions(passage: ParsedPassage, clauses: list[Clause]) -> list[Mention]:
    """Return at most one description per entity: a definition, else an apposition."""
    candidates = [*_definitions(passage, clauses), *_appositions(passage)]
    if not any(description.first == 0 for description in candidates):
        candidates.extend(_openings(passage))
    candidates.extend(_classes(passage))
    best: dict[str, Description] = {}
    for description in candidates:
        known = best.get(description.entity.name)
        if known is None or description.confidence > known.confidence:
            best[description.entity.name] = description
    return [
        {
            "entity": description.entity.name,
            "kind": description.entity.kind,
            **passage.stretch(description.first, description.last, description.confidence),
        }
        for description in sorted(best.values(), key=lambda d: (d.first, d.last))
    ]


def _definitions(passage: ParsedPassage, clauses: list[Clause]) -> Iterator[Description]:
    """Yield "X is a ..." in full, or up to the end of its predicate if the sentence is long."""
    tree = passage.tree
    for clause in clauses:
        if (
            clause.kind != "copula"
            or clause.negated
            or clause.subject_from not in ("own", "shared")
        ):
            continue
        if not _is_definition(passage, clause.predicate):
            continue
        if not standing_of(passage, clause).stated:
            continue
        entity = call(passage, clause.subject)
        if entity is None or not entity.named:
            continue
        start, end = passage.sentence_of(clause.predicate)
        main = tree.dep[clause.predicate] == "ROOT" and clause.subject_from == "own"
        first, last = (start, end) if main else (clause.subject, clause.predicate + 1)
        if last - first > LONGEST or not main:
            subject = argument_phrase(tree, clause.subject)
            phrase = tree.subtree(clause.predicate)
            first = min(subject[0], clause.subject) if subject else clause.subject
            last = min(max(phrase) + 1, first + LONGEST, end)
        defines = tree.child(clause.predicate, "det") is not None
        confidence = 0.9 if main and defines and not entity.resolved else 0.7
        if last - first >= SHORTEST:
            yield Description(entity, first, last, confidence)


def _classes(passage: ParsedPassage) -> Iterator[Description]:
    """Yield "the Dutch scientist X", which says little, but what X is."""
    tree = passage.tree
    for name in passage.names:
        noun = first = name.first - 1
        if noun < 1 or kind_of_noun(tree.lower[noun]) == "unknown" or noun in passage.entities:
            continue
        while first > 0 and tree.pos[first] in ("NOUN", "ADJ", "PROPN", "PUNCT"):
            first -= 1
        if tree.lower[first] in ("the", "a", "an") and noun - first < LONGEST_CLASS:
            yield Description(called_by_name(passage, name.name), first, name.last, 0.5)


def _openings(passage: ParsedPassage) -> Iterator[Description]:
    """Yield a first sentence that opens with the title and defines it, however it was parsed."""
    tree = passage.tree
    if not passage.title or not tree.sentences:
        return
    start, end = tree.sentences[0]
    verb = next((t for t in range(start, end) if tree.lemma[t] == "be"), None)
    if verb is None or verb + 1 >= end or not SHORTEST <= end - start <= LONGEST:
        return
    opening = set(tree.lower[start:verb])
    words = [word.lower() for word in passage.title.split()]
    titled = sum(word in opening for word in words) * 2 > len(words)
    if titled and tree.lower[verb + 1] in ("a", "an", "the", "one"):
        yield Description(called_by_name(passage, passage.title), start, end, 0.6)


def _is_definition(passage: ParsedPassage, noun: int) -> bool:
    """Whether a predicate is a noun phrase rather than a place or a quality."""
    tree = passage.tree
    if tree.child(noun, "case") is not None:
        return False
    return tree.pos[noun] in ("NOUN", "PROPN") or tree.child(noun, "det") is not None


def _appositions(passage: ParsedPassage) -> Iterator[Description]:
    """Yield "X, a river in Y"."""
    tree = passage.tree
    for token, label in enumerate(tree.dep):
        above = tree.head[token]
        name = passage.entities.get(above)
        if label != "appos" or name is None or token in passage.entities or token < above:
            continue
        if tree.pos[token] != "NOUN" or tree.child(token, "det") is None:
            continue
        tokens = argument_phrase(tree, token)
        if tokens and SHORTEST <= len(tokens) + name.last - name.first <= LONGEST:
            entity = called_by_name(passage, name.name)
            yield Description(entity, name.first, tokens[-1] + 1, 0.65)
