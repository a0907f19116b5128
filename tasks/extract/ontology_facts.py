"""Facts for an ontology's relations, each asked of a sentence as a question (Levy et al. 2017).

The span reader finds the tail of a relation for a given head. It finds facts that the rules miss,
and relations without training data, by their names and descriptions. Heads are the names in the
sentence and its subjects, as titles are often no names to the rules ("More than Frost"). Tails must
fit the ontology's value types, and kinds must fit if the passage states them; guessed kinds exclude
nothing, as they are least reliable for rare names.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from schemas.ontology import VALUE_KINDS, Ontology
from tasks.extract.extracted import Mention, evidence_columns, value_columns
from tasks.extract.rules.clauses import Clause
from tasks.extract.rules.kinds import class_noun_before, class_nouns, with_parents
from tasks.extract.rules.modality import standing_of
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.models.span_reader.reader import Span, minilm_reader
from tasks.models.span_reader.relation_question import relation_question
from tasks.ontology.fit import misfit, tail_kind
from tasks.ontology.kinds import KindNouns
from tasks.text.names import normalise_name
from tasks.text.values import Value, find_values

LEAST_SCORE = 3.0
# What makes a score a probability, fitted to judged facts: python -m recipes.ontology_confidence
SLOPE, INTERCEPT = 0.2425, -2.3885
LEADING = 2.0  # added to the margin of a head that is a subject, and of one at the beginning
BEGINNING = 4  # tokens of a sentence in which such a head begins
LONGEST_CLASS = 5  # words
LONGEST_SUBJECT = 80  # characters
NUMBER = re.compile(r"\d[\w-]*|[()]")
SUBJECTS = frozenset(("nsubj", "nsubj:pass"))
ARTICLE = re.compile(r"^(?:an?|the)\s+", re.I)


@dataclass(slots=True)
class PassageEntity:
    """An entity of a passage: a name with its mentions, or a date; spans are in characters."""

    name: str
    kind: str
    mentions: list[tuple[int, int]] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)  # one per mention
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """A relation that a sentence states between a head and a tail.

    `score` is the reader's margin, and more for heads that stand where subjects do.
    """

    head: PassageEntity
    relation: str
    tail: str
    tail_kind: str  # empty for a value or a phrase
    tail_start: int
    value: Value
    span: tuple[int, int]  # the sentence
    score: float


def ontology_triples(
    passage: ParsedPassage, clauses: list[Clause], ontology: Ontology
) -> list[Mention]:
    """Return a passage's facts for an ontology's relations as rows of TripleMention."""
    entities = _entities_of(passage)
    ontology = with_parents(ontology)
    kinds = stated_kinds(passage, ontology)
    return [
        _row(fact)
        for first, last in passage.tree.sentences
        for fact in _of_sentence(passage, entities, kinds, ontology, (first, last))
        if _is_asserted(passage, clauses, fact)
    ]


def _entities_of(passage: ParsedPassage) -> list[PassageEntity]:
    """Return the names of a passage with all their mentions, and its dates."""
    tree = passage.tree
    by_name: dict[str, PassageEntity] = {}
    for span in passage.names:
        key = normalise_name(span.name)
        entity = by_name.setdefault(key, PassageEntity(span.name, passage.kind(span.name)))
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
            entities.append(
                PassageEntity(tree.text[start:end], "date", [(start, end)], [token], value)
            )
    return entities


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
    """Return whether the smallest clause around head and tail is positive and asserted.

    Without such a clause the result is true.
    """
    tree = passage.tree
    tail = bisect_right(tree.start, fact.tail_start) - 1
    inside = range(*passage.sentence_of(tail))
    head = min((t for t in fact.head.tokens if t in inside), key=lambda t: abs(t - tail))
    around = [clause for clause in clauses if {head, tail} <= set(tree.subtree(clause.predicate))]
    if not around:
        return True
    standing = standing_of(passage, min(around, key=lambda c: len(tree.subtree(c.predicate))))
    return standing.polarity == "positive" and standing.modality == "asserted"


def _of_sentence(
    passage: ParsedPassage,
    entities: list[PassageEntity],
    kinds: dict[str, str],
    ontology: Ontology,
    sentence: tuple[int, int],
) -> Iterator[Related]:
    tree = passage.tree
    start, end = tree.start[sentence[0]], tree.end[sentence[1] - 1]
    inside = [e for e in entities if any(sentence[0] <= t < sentence[1] for t in e.tokens)]
    text = tree.text[start:end]
    facts = []
    for head, kind in _heads(passage, inside, kinds, sentence):
        others = [entity for entity in inside if not _is_within(entity, head, (start, end))]
        leading = LEADING * _leads(passage, head, sentence)
        for name, relation in ontology.relations.items():
            if ontology.fits(kind, relation.domain):
                question = relation_question(head.name, in_words(name), relation.description)
                for span in _apart(minilm_reader().read(question, [text])):
                    fact = _related(text, start, span, others, kinds, head, name, ontology)
                    if fact and fact.score + leading >= LEAST_SCORE:
                        facts.append(replace(fact, score=fact.score + leading))
    yield from _best(facts)


def in_words(relation: str) -> str:
    """Return a relation's name in words: "birth place" of `birthPlace` and `birth_place`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", relation).strip()


def _heads(
    passage: ParsedPassage,
    inside: list[PassageEntity],
    kinds: dict[str, str],
    sentence: tuple[int, int],
) -> Iterator[tuple[PassageEntity, str]]:
    """Yield the names of a sentence, with numbers before them, and its other subjects.

    With each comes the kind that the passage states for it, else `unknown`.
    """
    named = {entity.name for entity in inside}
    ends = {last for entity in inside for _, last in entity.mentions}
    for entity in inside:
        if entity.value is None:
            yield _with_number(passage, entity, sentence), kinds.get(entity.name, "unknown")
    for subject in _subjects(passage, sentence):
        # "the poet Lind" is the name with its class; "More than Frost" is more than a name.
        is_class = not subject.name[0].isupper() and subject.mentions[0][1] in ends
        if subject.name not in named and not is_class:
            named.add(subject.name)
            yield subject, "unknown"


def _with_number(
    passage: ParsedPassage, entity: PassageEntity, sentence: tuple[int, int]
) -> PassageEntity:
    """Return an entity whose name includes the numbers before it: "1687 Lindtia"."""
    tree = passage.tree
    token = next(t for t in entity.tokens if sentence[0] <= t < sentence[1])
    name = passage.entities.get(token)
    first = name.first if name else token
    while name and first > sentence[0] and NUMBER.fullmatch(tree.words[first - 1]):
        first -= 1
    if name is None or first == name.first or first > sentence[0]:
        return entity
    return replace(entity, name=tree.text[tree.start[first] : tree.end[name.last - 1]])


def _subjects(passage: ParsedPassage, sentence: tuple[int, int]) -> Iterator[PassageEntity]:
    """Yield the noun phrases that are subjects and have capitals, as entities of unknown kind."""
    tree = passage.tree
    for token in range(*sentence):
        if tree.dep[token] not in SUBJECTS or tree.pos[token] == "PRON":
            continue
        phrase = [t for t in tree.subtree(token) if sentence[0] <= t < sentence[1]]
        first = next(t for t in phrase if t == token or tree.pos[t] not in ("DET", "ADP", "ADV"))
        ends = (t for t in phrase if t > token and _ends_phrase(passage, t))
        stop = min(ends, default=phrase[-1] + 1)
        while stop - 1 > token and tree.pos[stop - 1] in ("CCONJ", "PUNCT"):
            stop -= 1
        if any(tree.pos[t] in ("VERB", "AUX", "PRON") for t in range(first, token)):
            continue
        words = tree.text[tree.start[first] : tree.end[stop - 1]].strip(" \"'“”")
        is_name = words[:1].isalnum() and any(c.isupper() or c.isdigit() for c in words)
        if is_name and len(words) <= LONGEST_SUBJECT:
            span = tree.start[first], tree.end[stop - 1]
            yield PassageEntity(words, "unknown", [span], [first])


def _ends_phrase(passage: ParsedPassage, token: int) -> bool:
    """Return whether a subject ends before a token: a clause, a preposition, another name."""
    tree = passage.tree
    is_other_name = tree.dep[token - 1] == "cc" and token in passage.entities
    return (
        is_other_name
        or tree.words[token] in (",", ";", ":", "(", "–", "—")
        or tree.dep[token] in ("acl", "acl:relcl", "appos")
        or tree.pos[token] in ("VERB", "AUX")
        or (tree.pos[token] == "ADP" and tree.words[token].lower() != "of")
    )


def _is_within(entity: PassageEntity, head: PassageEntity, sentence: tuple[int, int]) -> bool:
    """Return whether an entity is only a part of a head in the same sentence."""
    spans = [(a, b) for a, b in head.mentions if sentence[0] <= a < sentence[1]]
    return entity.name != head.name and any(
        a <= first and last <= b for first, last in entity.mentions for a, b in spans
    )


def _leads(passage: ParsedPassage, head: PassageEntity, sentence: tuple[int, int]) -> int:
    """Return 1 for a head that is a subject, and 1 more if it begins the sentence."""
    tree = passage.tree
    tokens = [t for t in head.tokens if sentence[0] <= t < sentence[1]]
    is_subject = False
    for token in tokens:
        name = passage.entities.get(token)
        within = range(name.first, name.last) if name else range(token, token + 1)
        root = next((t for t in within if tree.head[t] not in within), token)
        is_subject |= tree.dep[root] in SUBJECTS or tree.dep[token] in SUBJECTS
    return is_subject + (min(tokens) - sentence[0] < BEGINNING)


def _best(facts: Iterable[Related]) -> Iterator[Related]:
    """Yield facts by descending score, one head per relation and tail, one relation per pair."""
    taken: set[tuple[str, str]] = set()
    for fact in sorted(facts, key=lambda fact: -fact.score):
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
    entities: list[PassageEntity],
    kinds: dict[str, str],
    head: PassageEntity,
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
    confidence = round(1.0 / (1.0 + math.exp(-(SLOPE * fact.score + INTERCEPT))), 3)
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
