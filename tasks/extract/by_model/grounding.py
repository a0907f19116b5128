"""Ground a reply: store only facts whose quote and names occur in the text given to the model.

A fact belongs to the passage that contains its quote. Only that passage with its title and headings
counts as evidence, never another passage of the call, so the facts stored for a passage depend on
the passage and the reply alone. Confidence comes from the match; the model is not asked for it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from schemas.ontology import Ontology
from tasks.extract.by_model.located import Searchable, Span
from tasks.extract.by_model.passages import PassageRow, readable
from tasks.extract.extracted import Extracted, evidence_columns, value_columns
from tasks.models.prompts.replies import AspectReply, EntityReply, Extraction, TripleReply
from tasks.text.languages import word_set
from tasks.text.names import is_pronoun, normalise_name
from tasks.text.sentences import sentences
from tasks.text.values import Value, parse_value

# Raise it whenever other facts of some reply are stored; passages are then extracted again, from
# the recorded replies. `tests/test_versions.py` notices a change.
GROUNDING_VERSION = 1
# The confidence of a grounded fact, by how closely it matches the text. The values are not
# calibrated, for lack of a labelled sample of model extractions; the verdicts of a home's audits
# correct them (`tasks/publish/recalibrate.py`).
NEAR, WITH_TITLE, IN_WORDS, NAMED = 0.9, 0.8, 0.7, 0.85
MOST_FACTS = 400  # facts of one form per passage; a longer reply is a loop
MOST_PLACES = 20  # occurrences of one name noted per passage
LEAST_SHARE = 0.7  # the share of a description's words that the passage must have
SHOWN = 300  # characters shown of a rejected fact
_DIGIT = re.compile(r"\d")
TEXT = Value("text")
VAGUE = word_set(
    "has have had do does of about related relates with relation relationship information "
    "involves regarding other unknown none 有 在 的 相关 有关 关于 关系 信息 其他 未知 无"
) | {"related to", "relates to", "is related to", "associated with", "is associated with"}
Row = dict[str, Any]


class Evidence:
    """A passage that is searched for the names and quotes of a reply."""

    def __init__(self, row: PassageRow) -> None:
        """Prepare the passage for searching."""
        self.row = row
        self.language = "zh" if row["language"] == "zh" else "en"
        self.given = readable(row)
        self.text = Searchable(self.given.text)
        self.around = Searchable(f"{row['title']}\n{row['headings']}")
        self.extracted = Extracted(
            row["passage_id"], sentences=self.given.whole_sentences(self.language)
        )
        self.seen: set[tuple[str, ...]] = set()
        # A reply repeats the same names and quotes many times.
        self.find = cache(self.text.find)
        self.names = cache(self._names)
        self.bears_out = cache(self._bears_out)
        self._searchable = cache(Searchable)

    @cached_property
    def _sentences(self) -> list[Span]:
        return sentences(self.given.text, self.row["language"])

    def sentences_of(self, span: Span) -> Searchable:
        """Return the whole sentences that a span overlaps."""
        touched = [(a, b) for a, b in self._sentences if a < span[1] and b > span[0]] or [span]
        return self._searchable(self.given.text[touched[0][0] : touched[-1][1]])

    def columns(self, span: Span, confidence: float) -> Row:
        """Return the columns of evidence for a span of the text given to the model."""
        return evidence_columns(self.given.in_source(*span), confidence)

    def _names(self, name: str) -> float:
        """Return how well a name is supported: by the passage, by title or headings, or not (0)."""
        if self.text.find_name(name):
            return NEAR
        return WITH_TITLE if self.around.find_name(name) else 0.0

    def _bears_out(self, words: str) -> float:
        """Return how well a tail is supported: verbatim, by all of its words, or not (0)."""
        if self.text.find_name(words):
            return NEAR
        if self.text.share_of_words(words) == 1.0 and normalise_name(words):
            return IN_WORDS
        return WITH_TITLE if self.around.find_name(words) else 0.0


Place = tuple[Evidence, Span]


@dataclass(frozen=True, slots=True)
class RejectedFact:
    """A fact from a model that its text does not support.

    If no passage contains the quote, `passage_id` is that of the first passage of the call.
    """

    passage_id: str
    form: str
    reason: str
    text: str


@dataclass(slots=True)
class Grounded:
    """The facts to store, with one result per passage, and the rejected facts."""

    extracted: list[Extracted]
    rejected: list[RejectedFact] = field(default_factory=list)


def ground(reply: Extraction, rows: list[PassageRow], ontology: Ontology | None = None) -> Grounded:
    """Return the facts of a reply that its passages support, as journal rows, and the others."""
    passages = [Evidence(row) for row in rows]
    kinds: dict[str, str] = {
        normalise_name(name): entity.kind
        for entity in reply.entities
        for name in (entity.name, *entity.aliases)
    }
    for triple in reply.triples:
        kinds.setdefault(normalise_name(triple.s), "unknown")
    grounder = _Grounder(passages, kinds, ontology)
    for entity in reply.entities:
        grounder.entity(entity)
    for triple in reply.triples:
        grounder.triple(triple)
    for aspect in reply.aspects:
        grounder.aspect(aspect)
    for passage in passages:
        passage.extracted.names = list(_name_rows(passage, reply))
    return Grounded([passage.extracted for passage in passages], grounder.rejected)


class _Grounder:
    def __init__(
        self, passages: list[Evidence], kinds: dict[str, str], ontology: Ontology | None
    ) -> None:
        self.passages, self.kinds, self.ontology = passages, kinds, ontology
        self._is_strict = bool(ontology and ontology.mode == "strict" and ontology.relations)
        self.rejected: list[RejectedFact] = []

    def triple(self, fact: TripleReply) -> None:
        words = f"{fact.s} | {fact.p} | {fact.o}"
        place = self._place(fact.quote, fact.s, fact.o)
        known = self.ontology.by_wording.get(fact.p.casefold()) if self.ontology else None
        if known:
            relation, turned = known
            fact = fact._replace(p=relation, **({"s": fact.o, "o": fact.s} if turned else {}))
        if place is None or (self._is_strict and known is None):
            reason = "not_in_ontology" if place else "quote_not_found"
            self._reject(place, "triple", reason, words)
        elif reason := self._objection(fact, place):
            self._reject(place, "triple", reason, words)
        else:
            passage, span = place
            row = {
                "head": fact.s,
                "head_kind": self._kind(fact.s),
                "relation": fact.p,
                "tail": fact.o,
                **self._tail(fact.o, passage),
                **passage.columns(span, min(passage.names(fact.s), passage.bears_out(fact.o))),
            }
            facts = passage.extracted.triples
            self._add(place, "triple", facts, row, (fact.s, fact.p, fact.o))

    def _objection(self, fact: TripleReply, place: Place) -> str:
        """Return why a passage does not support a triple with a quote from it; empty if it does."""
        passage, span = place
        if not self._is_strict and (not fact.p or fact.p.lower() in VAGUE):
            return "vague_relation"
        if not passage.names(fact.s) or is_pronoun(fact.s, passage.language):
            return "head_not_found"
        if not passage.bears_out(fact.o) or is_pronoun(fact.o, passage.language):
            return "tail_not_found"
        if normalise_name(fact.s) == normalise_name(fact.o):
            return "same_head_and_tail"
        quoted = passage.sentences_of(span)
        named = any(
            quoted.find_name(name) or quoted.share_of_words(name) == 1.0
            for name in (fact.s, fact.o)
        )
        return "" if named else "quote_without_names"

    def entity(self, fact: EntityReply) -> None:
        place = self._place(fact.quote, fact.name, fact.description)
        for alias in fact.aliases:
            self._alias(fact, alias, place)
        if not fact.description:
            return
        words = f"{fact.name}: {fact.description}"
        if place is None:
            self._reject(None, "description", "quote_not_found", words)
            return
        passage, span = place
        share = passage.text.share_of_words(fact.description)
        if not passage.names(fact.name):
            self._reject(place, "description", "head_not_found", words)
        elif share < LEAST_SHARE:
            self._reject(place, "description", "words_not_found", words)
        else:
            confidence = min(NEAR if share == 1.0 else IN_WORDS, passage.names(fact.name))
            row: Row = {"entity": fact.name, "kind": fact.kind, "text": fact.description}
            row |= passage.columns(span, confidence)
            facts = passage.extracted.descriptions
            self._add(place, "description", facts, row, (fact.name, fact.description))

    def aspect(self, fact: AspectReply) -> None:
        words = f"{fact.entity} | {fact.aspect}: {fact.quote}"
        place = self._place(fact.quote, fact.entity, fact.aspect)
        if place is None:
            self._reject(None, "aspect", "quote_not_found", words)
            return
        passage, span = place
        confidence = passage.names(fact.entity)
        if not confidence or not fact.aspect:
            self._reject(place, "aspect", "head_not_found" if fact.aspect else "no_aspect", words)
            return
        text = passage.given.text[span[0] : span[1]]
        row = {
            "entity": fact.entity,
            "kind": self._kind(fact.entity),
            "aspect": fact.aspect,
            "text": text,
            "question": fact.question,
            **passage.columns(span, confidence),
        }
        facts = passage.extracted.aspects
        self._add(place, "aspect", facts, row, (fact.entity, fact.aspect, text))

    def _alias(self, fact: EntityReply, alias: str, place: Place | None) -> None:
        """Keep an alias only if one passage contains both names, as evidence that they corefer."""
        words = f"{fact.name} = {alias}"
        if not alias or normalise_name(alias) == normalise_name(fact.name):
            return
        for passage in [place[0]] if place else self.passages:
            span = passage.text.find_name(alias)
            if span and passage.names(fact.name) and not is_pronoun(alias, passage.language):
                row = {"name": fact.name, "alias": alias, "kind": fact.kind}
                row |= passage.columns(span, NAMED)
                facts = passage.extracted.aliases
                self._add((passage, span), "alias", facts, row, (fact.name, alias))
                return
        self._reject(place, "alias", "alias_not_found", words)

    def _place(self, quote: str, *names: str) -> Place | None:
        """Return a passage that holds a quote, preferably with the names, and the quote's span."""
        first = None
        for passage in self.passages:
            span = passage.find(quote)
            if span is None:
                continue
            if all(passage.names(name) or passage.bears_out(name) for name in names if name):
                return passage, span
            first = first or (passage, span)
        return first

    def _kind(self, name: str) -> str:
        return self.kinds.get(normalise_name(name), "unknown")

    def _tail(self, tail: str, passage: Evidence) -> Row:
        kind = self.kinds.get(normalise_name(tail))
        # A listed entity without a digit is no value; not parsing it saves half of the work.
        plain = kind is not None and not _DIGIT.search(tail)
        value = TEXT if plain else parse_value(tail, passage.language)
        named = kind is not None and value.value_type == "text"
        return {
            "tail_kind": kind if named else "",
            **value_columns(value, named=named),
            "valid_from": value.valid_from,
            "valid_to": value.valid_to,
        }

    def _add(
        self,
        place: Place,
        form: str,
        facts: list[Row],
        row: Row,
        fact: tuple[str, ...],
    ) -> None:
        passage, _ = place
        key = (form, *map(str.lower, fact))
        if key in passage.seen:
            return
        if len(facts) >= MOST_FACTS:
            self._reject(place, form, "too_many", " | ".join(fact))
            return
        passage.seen.add(key)
        facts.append({"ordinal": len(facts), **row})

    def _reject(self, place: Place | None, form: str, reason: str, words: str) -> None:
        passage = place[0] if place else self.passages[0]
        self.rejected.append(RejectedFact(passage.row["passage_id"], form, reason, words[:SHOWN]))


def _name_rows(passage: Evidence, reply: Extraction) -> Iterator[Row]:
    """Yield the mentions of the reply's entities in a passage, without overlaps."""
    taken: set[int] = set()
    names = [
        (name, entity.kind)
        for entity in reply.entities
        for name in (entity.name, *entity.aliases)
        if normalise_name(name)
    ]
    heads = {row["head"] for row in passage.extracted.triples} - {name for name, _ in names}
    names += [(head, "unknown") for head in sorted(heads)]
    for name, kind in sorted(names, key=lambda pair: -len(pair[0])):
        for start, end in passage.text.find_all_names(name, MOST_PLACES):
            if taken.isdisjoint(range(start, end)) and passage.given.stands_at(start):
                taken.update(range(start, end))
                first, last = passage.given.in_source(start, end)
                yield {"name": name, "kind": kind, "span_start": first, "span_end": last}
