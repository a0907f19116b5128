"""Ground a reply: store only facts that the text given to the model bears out.

A fact cites sentences by number, or by a quote. Its tail must stand in one of them, numbers and
dates by value, and its head must be named there or be whom the sentence is about
(`evidence.py`). It belongs to the passage of that sentence. All passages of the call are evidence,
never another text. Confidence comes from the match; the model is not asked for it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.ontology import Ontology
from tasks.extract.by_model.amounts import (
    date_of,
    days_between,
    is_relative,
    numbers_in,
    without_numbers,
)
from tasks.extract.by_model.evidence import (
    CallText,
    Entity,
    Evidence,
    Shown,
    Stated,
    Unit,
    cited_part,
    content,
    shown,
)
from tasks.extract.by_model.located import Span, is_cut
from tasks.extract.by_model.passages import PassageRow
from tasks.extract.extracted import Extracted, value_columns
from tasks.extract.rules.chinese.lexicon import NEGATIONS
from tasks.models.prompts.replies import AspectReply, EntityReply, Extraction, TripleReply, merged
from tasks.text.chinese_words import NAME_TAGS, segmenter, tag_of
from tasks.text.function_words import (
    ARTICLES,
    DEMONSTRATIVES,
    NEGATED,
    POSSESSIVES,
    PREPOSITIONS,
)
from tasks.text.languages import HAN, word_set
from tasks.text.names import is_pronoun, normalise_name
from tasks.text.values import Value, parse_value

# Raise it whenever other facts of some reply are stored; passages are then extracted again, from
# the recorded replies. `tests/test_versions.py` notices a change.
GROUNDING_VERSION = 7
# The confidence of a grounded fact, by how closely it matches the text. The values are not
# calibrated, for lack of a labelled sample of model extractions; the verdicts of a home's audits
# correct them (`tasks/publish/recalibrate.py`).
NEAR, MEANT, IN_WORDS, NAMED = 0.9, 0.8, 0.7, 0.85
MOST_FACTS = 400  # facts of one form per passage; a longer reply is a loop
LEAST_SHARE = 0.7  # the share of a description's words that the call must have
LEAST_CITED = 0.5  # the share of a tail's words that its sentence must have; the call has the rest
SHOWN = 300  # characters shown of a rejected fact
_CLAUSE = re.compile(r"[,，:：]|\b(?=(?:but|although|while|because|which|who)\b)|(?=但)")
_DENIED = re.compile(r"\b(?:den(?:y|ies|ied)|refus(?:es?|ed)|fail(?:s|ed)?|lack(?:s|ed)?)\b", re.I)
_NOT_ONLY = re.compile(r"\b(?:not (?:only|just|merely)|no (?:fewer|less|more) than)\b", re.I)
_REFERRING = re.compile("[该本此这那其我]")
_DIGIT = re.compile(r"\d")
TEXT = Value("text")
VAGUE = word_set(
    "has have had do does of about related relates with relation relationship information "
    "involves regarding other unknown none 有 在 的 相关 有关 关于 关系 信息 其他 未知 无"
) | {"related to", "relates to", "is related to", "associated with", "is associated with"}
Row = dict[str, Any]


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


Replies = Sequence[tuple[Extraction, Sequence[PassageRow]]]


def ground(replies: Replies, rows: list[PassageRow], ontology: Ontology | None = None) -> Grounded:
    """Return the facts of a call's replies that its passages support, as rows, and the others.

    Each reply stands beside the passages as they were shown: all of the call, or parts of them.
    """
    call = CallText(rows, merged(reply for reply, _ in replies))
    grounder = _Grounder(call, ontology)
    for reply, passages in replies:
        grounder.given = shown(passages)
        for entity in reply.entities:
            grounder.entity(entity)
        for triple in reply.triples:
            grounder.triple(triple)
        for aspect in reply.aspects:
            grounder.aspect(aspect)
    for passage in call.passages:
        passage.extracted.names = list(_name_rows(passage))
    return Grounded([passage.extracted for passage in call.passages], grounder.rejected)


@dataclass(frozen=True, slots=True)
class _Place:
    """The unit that states a fact, the words in it from head to tail, and how well they match."""

    unit: Unit
    span: Span  # in the passage
    confidence: float


class _Grounder:
    def __init__(self, call: CallText, ontology: Ontology | None) -> None:
        self.call, self.ontology = call, ontology
        self.given: Shown = []
        self._is_strict = bool(ontology and ontology.mode == "strict" and ontology.relations)
        self.rejected: list[RejectedFact] = []

    # -- triples ----------------------------------------------------------------------------

    def triple(self, fact: TripleReply) -> None:
        words = f"{fact.s} | {fact.p} | {fact.o}"
        units = self.call.cited(fact.where, self.given)
        known = self.ontology.by_wording.get(fact.p.casefold()) if self.ontology else None
        if known:
            relation, turned = known
            ends = {"s": fact.o, "o": fact.s} if turned else {}
            fact = fact.model_copy(update={"p": relation, **ends})
        fact = fact.model_copy(update={"s": self._supported(fact.s)})
        if not units or (self._is_strict and known is None):
            reason = "not_in_ontology" if units else "sentence_not_found"
            self._reject(units, "triple", reason, words)
            return
        place = self._place(fact, units)
        if isinstance(place, str):
            self._reject(units, "triple", place, words)
            return
        passage = place.unit.passage
        fact = fact.model_copy(update={"s": self._named(fact.s), "o": self._named(fact.o)})
        row = {
            "head": fact.s,
            "head_kind": self._kind(fact.s) or "unknown",
            "relation": fact.p,
            "tail": fact.o,
            **self._tail(fact.o, passage),
            **self._standing(fact, units),
            **passage.columns(place.span, place.confidence),
        }
        facts = passage.extracted.triples
        key = (fact.s, fact.p, fact.o, row["polarity"], row["modality"])
        if self._add(passage, "triple", facts, row, key):
            passage.extracted.statements.append(_statement(row, len(passage.extracted.statements)))

    def _place(self, fact: TripleReply, units: list[Unit]) -> _Place | str:
        """Return where a triple is stated, or why none of its sentences states it."""
        language = units[0].passage.language
        if not self._is_strict and (not fact.p or fact.p.lower() in VAGUE):
            return "vague_relation"
        if is_pronoun(fact.s, language) or not self.call.support(fact.s):
            return "head_not_found"
        if is_pronoun(fact.o, language) or not normalise_name(fact.o):
            return "tail_not_found"
        head, tail = self.call.entity(fact.s), self.call.entity(fact.o)
        if head is tail or normalise_name(fact.s) == normalise_name(fact.o):
            return "same_head_and_tail"
        reason = "tail_not_found"
        for unit in units:
            named = self.call.place_of(head, unit)
            words = fact.p if self._kind(fact.o) else f"{fact.p} {fact.o}"
            borne = self._bears_out(fact.o, tail, Stated(head, named and named[0], words), unit)
            if borne is None:
                continue
            span, confidence = borne
            others = (other for other in units if other.sentence != unit.sentence)
            if named is None and not any(self.call.place_of(head, other) for other in others):
                # With both ends left out, nothing ties the fact to its sentence.
                is_meant = self.call.is_pronoun_for if span is None else self.call.is_meant
                if not is_meant(head, unit, Stated(tail, span and span[0], words)):
                    reason = "head_not_in_sentence"
                    continue
                confidence = min(confidence, MEANT)
            if named and span and _is_about_another(fact, named, span, unit):
                reason = "another_subject"
                continue
            is_clause = fact.is_asserted and not _is_title(named, span, unit)
            if is_clause and _is_denied(unit, span or named, fact):
                reason = "denied"
                continue
            first, last = named or (unit.span[0], unit.span[0]), span or unit.span
            around = min(first[0], last[0]), max(first[1], last[1])
            return _Place(unit, around, confidence)
        return reason

    def _bears_out(
        self, words: str, tail: Entity, stated: Stated, unit: Unit
    ) -> tuple[Span | None, float] | None:
        """Return where a unit has a tail, and how well; None if it does not.

        A tail that is an entity may be meant by a pronoun, and then has no place of its own.
        """
        at = unit.text.find_name(words)
        if at:
            return (at[0] + unit.span[0], at[1] + unit.span[0]), NEAR
        if is_cut(words, unit.text.text):
            return None
        listed = self._kind(words) is not None
        if listed and (place := self.call.place_of(tail, unit)):
            return place, NEAR
        if not _DIGIT.search(words) and listed:
            is_meant = self.call.is_pronoun_for if stated.end is None else self.call.is_meant
            meant = self.call.support(words) and is_meant(tail, unit, stated)
            return (None, MEANT) if meant else None
        passage = unit.passage
        dates = date_of(words, passage.language)
        if dates:
            exact = all(unit.amounts.have_date(date, self.call.years) for date in dates)
            return (unit.place_of_words(words), NEAR) if exact else None
        if not unit.amounts.have_numbers(words):
            return None
        # The unit of a number may stand in the header of its table.
        wanted = content(without_numbers(words))
        here = content(without_numbers(unit.text.text)) | content(self.call.around.text)
        enough = len(wanted & here) >= LEAST_CITED * len(wanted) or any(numbers_in(words))
        if not (enough and wanted <= self.call.words):
            return None
        return unit.place_of_words(words), IN_WORDS

    def _standing(self, fact: TripleReply, units: list[Unit]) -> Row:
        """Return when a triple holds, if the text tells, and how it is meant."""
        language, times = units[0].passage.language, {}
        for column, words in (("valid_from", fact.since), ("valid_to", fact.until)):
            dates = date_of(words, language)[:: 1 if column == "valid_from" else -1]
            if dates and self._tells_when(dates[0], units):
                times[column] = dates[0]
            elif words:
                self._reject(units, "time", "time_not_found", f"{fact.s} | {fact.p} | {words}")
        return {**times, "polarity": fact.polarity, "modality": fact.modality}

    def _tells_when(self, date: str, units: list[Unit]) -> bool:
        """Return whether sentences tell a date, or refer to it: "last year", "two years later"."""
        if self.call.own_dates.have_date(date, frozenset()):
            return True
        for unit in units:
            if unit.amounts.have_date(date, self.call.years):
                return True
            if is_relative(unit.text.text) and self._is_near(date, unit):
                return True
        return False

    def _is_near(self, date: str, unit: Unit) -> bool:
        """Return whether words such as "last" may mean a date.

        A day or a month must be near the document's date, a year some stated number of years from
        a stated one.
        """
        if len(date) > len("2019"):
            most = 366 if len(date) == len("2019-03") else 31
            return days_between(date, self.call.date) <= most
        steps = {0, *unit.amounts.numbers}
        return any(abs(int(date) - year) in steps for year in self.call.years)

    # -- entities and notes -----------------------------------------------------------------

    def entity(self, fact: EntityReply) -> None:
        units = self.call.cited(fact.where, self.given)
        given = fact.name
        fact = fact.model_copy(update={"name": self._supported(given)})
        for alias in (*fact.aliases, given):
            self._alias(fact, alias, units)
        if not fact.description:
            return
        words = f"{fact.name}: {fact.description}"
        meant = content(without_numbers(fact.description))
        share = len(meant & self.call.words) / len(meant) if meant else 0.0
        if not units:
            self._reject(units, "description", "sentence_not_found", words)
        elif not self.call.support(fact.name):
            self._reject(units, "description", "head_not_found", words)
        elif share < LEAST_SHARE or not self.call.amounts.have_numbers(fact.description):
            self._reject(units, "description", "words_not_found", words)
        else:
            passage, span = cited_part(units)
            row: Row = {"entity": fact.name, "kind": fact.kind, "text": fact.description}
            row |= passage.columns(span, NEAR if share == 1.0 else IN_WORDS)
            facts = passage.extracted.descriptions
            self._add(passage, "description", facts, row, (fact.name, fact.description))

    def aspect(self, fact: AspectReply) -> None:
        units = self.call.cited(fact.where, self.given)
        words = f"{fact.entity} | {fact.aspect}: {fact.question}"
        fact = fact.model_copy(update={"entity": self._supported(fact.entity)})
        if not units:
            self._reject(units, "aspect", "sentence_not_found", words)
        elif not self.call.support(fact.entity) or not fact.aspect:
            reason = "head_not_found" if fact.aspect else "no_aspect"
            self._reject(units, "aspect", reason, words)
        else:
            passage, span = cited_part(units)
            text = passage.given.text[span[0] : span[1]]
            named = any(self.call.place_of(self.call.entity(fact.entity), unit) for unit in units)
            row = {
                "entity": fact.entity,
                "kind": self._kind(fact.entity) or "unknown",
                "aspect": fact.aspect,
                "text": text,
                "question": fact.question,
                **passage.columns(span, NEAR if named else MEANT),
            }
            facts = passage.extracted.aspects
            self._add(passage, "aspect", facts, row, (fact.entity, fact.aspect, text))

    def _alias(self, fact: EntityReply, alias: str, units: list[Unit]) -> None:
        """Keep an alias if the call has both names; "the bridge" names nothing by itself."""
        language = self.call.passages[0].language
        is_same = normalise_name(alias) == normalise_name(fact.name)
        if not alias or is_same or _is_common(alias, fact.name):
            return
        for passage in self.call.passages:
            span = passage.text.find_name(alias)
            if span and self.call.support(fact.name) and not is_pronoun(alias, language):
                row = {"name": fact.name, "alias": alias, "kind": fact.kind}
                row |= passage.columns(span, NAMED)
                facts = passage.extracted.aliases
                self._add(passage, "alias", facts, row, (fact.name, alias))
                return
        self._reject(units, "alias", "alias_not_found", f"{fact.name} = {alias}")

    # -- rows -------------------------------------------------------------------------------

    def _named(self, name: str) -> str:
        """Return the full name of an entity of the reply, if the call supports it."""
        full = self.call.entity(name).name
        return full if self.call.support(full) else name

    def _supported(self, name: str) -> str:
        """Return another name of an entity if the call supports only that, as if translated."""
        entity = self.call.entity(name)
        if self.call.support(name) or entity.name != name:
            return name
        others = (alias for alias in entity.names if not _is_common(alias, name))
        return next(filter(self.call.support, others), name)

    def _kind(self, name: str) -> str | None:
        """Return the kind of an entity of the reply; None for any other words."""
        entity = self.call.entities.get(normalise_name(name))
        return entity.kind if entity else None

    def _tail(self, tail: str, passage: Evidence) -> Row:
        kind = self._kind(tail)
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
        self, passage: Evidence, form: str, facts: list[Row], row: Row, fact: tuple[str, ...]
    ) -> bool:
        """Add a row unless the passage has it already or too many; return whether it was added."""
        key = (form, *map(str.lower, fact))
        if key in passage.seen:
            return False
        if len(facts) >= MOST_FACTS:
            self._reject([], form, "too_many", " | ".join(fact), passage)
            return False
        passage.seen.add(key)
        facts.append({"ordinal": len(facts), **row})
        return True

    def _reject(
        self,
        units: list[Unit],
        form: str,
        reason: str,
        words: str,
        passage: Evidence | None = None,
    ) -> None:
        passage = passage or (units[0].passage if units else self.call.passages[0])
        self.rejected.append(RejectedFact(passage.row["passage_id"], form, reason, words[:SHOWN]))


def _statement(triple: Row, ordinal: int) -> Row:
    """Return a triple as a row of StatementMention."""
    since, until = triple.get("valid_from"), triple.get("valid_to")
    copied = ("polarity", "modality", "span_start", "span_end", "confidence")
    return {
        "ordinal": ordinal,
        "subject": triple["head"],
        "subject_name": triple["head"],
        "predicate": triple["relation"],
        "object": triple["tail"],
        "arguments": [],
        "time": "/".join(dict.fromkeys(filter(None, (since, until)))),
        "place": "",
        "attribution": "",
        **{column: triple[column] for column in copied},
    }


def _clauses(unit: Unit) -> Iterator[Span]:
    """Yield the parts of a unit between commas and conjunctions."""
    start = unit.span[0]
    for cut in _CLAUSE.finditer(unit.passage.given.text, *unit.span):
        yield start, cut.end()
        start = cut.end()
    yield start, unit.span[1]


def _is_about_another(fact: TripleReply, head: Span, tail: Span, unit: Unit) -> bool:
    """Return whether a unit names a head, but says this of another: "A (chair), B and C"."""
    predicate = unit.text.find_name(fact.p)
    if predicate:
        first, last = (place + unit.span[0] for place in predicate)
        if head[1] == first:
            return False
        of_tail = fact.p.lower().split()[-1] in PREPOSITIONS  # "B was replaced by A"
        if of_tail and tail[1] <= first and last <= head[0]:
            return True
    clause = next(clause for clause in _clauses(unit) if _overlap(tail, clause))
    before = [m.start for m in unit.mentions if m.start < min(head[0], tail[0])]
    return not _overlap(head, clause) and any(clause[0] <= start for start in before)


def _is_title(head: Span | None, tail: Span | None, unit: Unit) -> bool:
    """Return whether a tail stands right before the head or in it: "Judge A found no evidence"."""
    if head is None or tail is None:
        return False
    between = unit.passage.given.text[tail[1] : head[0]]
    return _overlap(head, tail) or (tail[1] <= head[0] and not between.strip())


def _is_denied(unit: Unit, end: Span | None, fact: TripleReply) -> bool:
    """Return whether the clause of a triple is negative, and the words of the triple are not.

    It is the clause that shares most words with the predicate, else that of the tail, else of
    the head.
    """
    text, predicate = unit.passage.given.text, content(fact.p)
    ranked = [
        (len(content(text[start:stop]) & predicate), _overlap(end, (start, stop)), (start, stop))
        for start, stop in _clauses(unit)
    ]
    shared, has_end, span = max(ranked, key=lambda clause: clause[:2])
    start, stop = span if shared or has_end else unit.span
    return _is_negative(text[start:stop]) and not _is_negative(f"{fact.p} {fact.o}")


def _overlap(one: Span | None, other: Span) -> bool:
    return one is not None and one[0] < other[1] and other[0] < one[1]


def _is_negative(words: str) -> bool:
    if HAN.search(words):
        return not NEGATIONS.isdisjoint(segmenter().cut(words))
    return bool(NEGATED.search(_NOT_ONLY.sub("", words)) or _DENIED.search(words))


def _is_common(alias: str, name: str) -> bool:
    """Return whether other words for a name are no name by themselves: the firm, 该馆, 公司."""
    if HAN.search(alias):
        tag = "" if tag_of(name) else tag_of(alias)
        return bool(_REFERRING.match(alias)) or (tag != "" and not tag.startswith(NAME_TAGS))
    article, _, rest = alias.partition(" ")
    return article.lower() in ARTICLES | DEMONSTRATIVES | POSSESSIVES and rest == rest.lower()


def _name_rows(passage: Evidence) -> Iterator[Row]:
    """Yield the mentions of the reply's entities in a passage, without overlaps."""
    for mention in passage.mentions:
        entity = mention.entity
        is_name = mention.name == entity.name or not _is_common(mention.name, entity.name)
        if is_name and passage.given.stands_at(mention.start):
            first, last = passage.given.in_source(mention.start, mention.end)
            yield {
                "name": mention.name,
                "kind": entity.kind,
                "span_start": first,
                "span_end": last,
            }
