"""Facts for an ontology's relations, each asked of a sentence as a question (Levy et al. 2017).

The span reader finds the tail of a relation for a given head. It finds facts that the rules miss,
and relations without training data, by their names and descriptions. Tails must fit the ontology's
value types, and kinds must fit if the passage states them; guessed kinds exclude nothing, as they
are least reliable for rare names.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from schemas.ontology import VALUE_KINDS, Ontology
from tasks.extract.extracted import Mention, evidence_columns, value_columns
from tasks.extract.rules.clauses import Clause
from tasks.extract.rules.kinds import class_noun_before, class_nouns
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.typed.facts import Entity, entities_of, is_asserted
from tasks.models.span_reader.reader import Span, trained_reader
from tasks.models.span_reader.relation_question import relation_question
from tasks.ontology.fit import misfit, tail_kind
from tasks.ontology.kinds import KindNouns
from tasks.text.names import normalise_name
from tasks.text.values import Value, find_values

LEAST_MARGIN = 0.0
LONGEST_CLASS = 5  # words
ARTICLE = re.compile(r"^(?:an?|the)\s+", re.I)


@dataclass(frozen=True, slots=True)
class Related:
    """A relation that a sentence states between a head and a tail; `margin` is its score."""

    head: Entity
    relation: str
    tail: str
    tail_kind: str  # empty for a value or a phrase
    tail_start: int
    value: Value
    span: tuple[int, int]  # the sentence
    margin: float


def ontology_triples(
    passage: ParsedPassage, clauses: list[Clause], ontology: Ontology
) -> list[Mention]:
    """Return a passage's facts for an ontology's relations as rows of TripleMention."""
    entities = entities_of(passage)
    kinds = stated_kinds(passage, ontology)
    return [
        _row(fact)
        for first, last in passage.tree.sentences
        for fact in _of_sentence(passage, entities, kinds, ontology, (first, last))
        if _is_asserted(passage, clauses, fact)
    ]


def stated_kinds(passage: ParsedPassage, ontology: Ontology) -> dict[str, str]:
    """Return the kinds that a passage states for its names: the ontology's, else common kinds."""
    nouns = KindNouns(ontology)
    kinds = {name: passage.kind(name) for name in passage.stated_kinds}
    own: dict[str, str] = {}
    for name in passage.names:
        phrases = [nouns.of_phrase(phrase) for phrase in _class_phrases(passage, name)]
        if kind := next(filter(None, [*phrases, nouns.of_name(name.name)]), None):
            own.setdefault(name.name, kind)
    return kinds | own


def _class_phrases(passage: ParsedPassage, name: NameSpan) -> Iterator[str]:
    """Yield the phrases that state a name's class, up to their nouns: "a 2010 silent film"."""
    tree = passage.tree
    before = class_noun_before(passage, name)
    classes = [n for token in range(name.first, name.last) for n in class_nouns(tree, token)]
    for noun in [*classes, *([before] if before is not None else [])]:
        if noun not in passage.entities:
            below = [t for t in tree.subtree(noun) if t <= noun and tree.pos[t] != "PUNCT"]
            yield tree.phrase(below[-LONGEST_CLASS:])


def _is_asserted(passage: ParsedPassage, clauses: list[Clause], fact: Related) -> bool:
    tree = passage.tree
    tail = bisect_right(tree.start, fact.tail_start) - 1
    inside = range(*passage.sentence_of(tail))
    head = min((t for t in fact.head.tokens if t in inside), key=lambda t: abs(t - tail))
    return is_asserted(passage, clauses, head, tail)


def _of_sentence(
    passage: ParsedPassage,
    entities: list[Entity],
    kinds: dict[str, str],
    ontology: Ontology,
    sentence: tuple[int, int],
) -> Iterator[Related]:
    tree = passage.tree
    start, end = tree.start[sentence[0]], tree.end[sentence[1] - 1]
    inside = [e for e in entities if any(sentence[0] <= t < sentence[1] for t in e.tokens)]
    text = tree.text[start:end]
    facts = []
    for head in inside:
        if head.value is not None:
            continue
        for name, relation in ontology.relations.items():
            if ontology.fits(kinds.get(head.name, "unknown"), relation.domain):
                question = relation_question(head.name, name, relation.description)
                for span in _apart(trained_reader().read(question, [text])):
                    if span.margin >= LEAST_MARGIN:
                        facts.append(
                            _related(text, start, span, inside, kinds, head, name, ontology)
                        )
    yield from _best(fact for fact in facts if fact)


def _best(facts: Iterable[Related]) -> Iterator[Related]:
    """Yield facts by descending margin, one head per relation and tail, one relation per pair."""
    taken: set[tuple[str, str]] = set()
    for fact in sorted(facts, key=lambda fact: -fact.margin):
        tail = normalise_name(fact.tail)
        keys = {(fact.relation, tail), (fact.head.name, tail)}
        if taken.isdisjoint(keys):
            taken |= keys
            yield fact


def _apart(spans: list[Span]) -> Iterator[Span]:
    """Yield the spans that overlap no better span."""
    kept: list[Span] = []
    for span in spans:
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
            yield span


def _related(
    text: str,
    start: int,
    span: Span,
    entities: list[Entity],
    kinds: dict[str, str],
    head: Entity,
    relation: str,
    ontology: Ontology,
) -> Related | None:
    """Return the fact whose tail is a span; None if the tail does not fit."""
    begin, stop = start + span.start, start + span.end
    tail, kind, value = text[span.start : span.end].strip(" .,;:'\""), "", Value("text")
    entity = next((e for e in entities if any(a < stop and begin < b for a, b in e.mentions)), None)
    if entity is None:
        tail = ARTICLE.sub("", tail)
        value = next((value for _, _, value in find_values(tail, "en")), value)
    else:
        tail, kind, value = entity.name, entity.kind, entity.value or value
    named = entity is not None and entity.value is None
    if not tail or normalise_name(tail) == normalise_name(head.name):
        return None
    what = tail_kind("entity" if named else value.value_type, kinds.get(tail))
    if misfit(ontology, relation, "unknown", what, value.unit):
        return None
    if named and set(ontology.relations[relation].range) & set(VALUE_KINDS):
        return None
    kind = kind if named else ""
    return Related(
        head, relation, tail, kind, begin, value, (start, start + len(text)), span.margin
    )


def _row(fact: Related) -> Mention:
    named = bool(fact.tail_kind)
    confidence = trained_reader().relation_probability(fact.margin)
    return {
        "head": " ".join(fact.head.name.split()),
        "head_kind": fact.head.kind,
        "relation": fact.relation,
        "tail": " ".join(fact.tail.split()),
        "tail_kind": fact.tail_kind,
        **value_columns(fact.value, named=named),
        "valid_from": fact.value.valid_from,
        "valid_to": fact.value.valid_to,
        "polarity": "positive",
        "modality": "asserted",
        **evidence_columns(fact.span, confidence),
    }
