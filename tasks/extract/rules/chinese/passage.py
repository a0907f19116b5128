"""The state of reading a Chinese passage, and the facts found in it so far.

The confidence of a triple is learned from judged triples (`confidence.py`). The confidence of an
alias, statement, description or note is the precision of its pattern on a sample judged by hand
(see benchmarks/chinese.py); precision.json holds the counts as [right, judged]. The precision of a
pattern with few cases is smoothed towards that of all patterns together.
"""

import json
import math
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tasks.extract.extracted import Extracted, Mention, evidence_columns, value_columns
from tasks.extract.rules.attributes import Attribute
from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.naming import TypedName, clean, kind_of
from tasks.extract.rules.chinese.predicates import WRITTEN
from tasks.extract.rules.chinese.tokens import PROPER_TAGS, SegmentedSentence, Token, text_of
from tasks.extract.rules.confidence import probability
from tasks.extract.rules.modality import PLAIN, Standing
from tasks.extract.rules.usefulness import CLAUSE_FEATURES
from tasks.text.chinese_words import tag_of
from tasks.text.names import is_pronoun
from tasks.text.relations.vocabulary import names_alias
from tasks.text.values import Value, parse_value

PRIOR_CASES = 6  # the precision of all patterns together weighs as much as this many cases


@cache
def share(pattern: str) -> float:
    """Return the precision of a pattern, smoothed towards that of all patterns."""
    shares = json.loads(Path(__file__).with_name("precision.json").read_text("utf-8"))
    right, judged = map(sum, zip(*shares.values(), strict=True))
    mine, cases = shares[pattern]
    return round((mine + PRIOR_CASES * (right / judged)) / (cases + PRIOR_CASES), 3)


OR = re.compile("[」”]?(?:或者?|、|以及)[「“]?")
PREDICATE = re.compile("[为是].+的.+")  # after a name, the rest of the clause
POINTING = ("该", "此", "上述", "以下", "下列", "如下", "本条", "本法", "本规定", "本市")
APPOSED = frozenset(["apposition", "kin", "owned_work", "life", "alias"])  # asserted in any clause
LONGEST_NAME = 40
LONGEST_TAIL = 80
# Common nouns that mean the document's subject when they stand alone in its text.
GENERIC = {
    **dict.fromkeys(("学校", "该校"), ("大学", "学院", "学校", "学堂", "中学")),
    **dict.fromkeys(("全市", "该市", "城市"), ("市",)),
    **dict.fromkeys(("公司", "该公司"), ("公司", "集团")),
    "全省": ("省",),
    "全国": ("国",),
    "空间站": ("空间站",),
    "飞船": ("号", "飞船"),
    "该书": ("》",),
}


@dataclass(slots=True)
class PassageReading:
    """The state of reading a passage: its subject, the antecedents of pronouns, the facts found."""

    text: str
    title: TypedName
    forms: frozenset[str]
    extracted: Extracted
    document: bool = False  # the title is that of a law, a report or an article, not of a thing
    topic: TypedName | None = None
    person: TypedName | None = None
    thing: TypedName | None = None
    sentence: SegmentedSentence | None = None
    stated: set[tuple[str, str, str]] = field(default_factory=set)
    clause: Clause | None = None
    standing: Standing = PLAIN
    patterns: list[str] = field(default_factory=list)  # of the triples, as are `features`
    features: list[dict[str, float]] = field(default_factory=list)
    subjects: dict[int, TypedName] = field(default_factory=dict)  # by the start of the sentence
    verb: str = ""  # of the last clause
    object: TypedName | None = None  # of the last verb

    def name_of(self, text: str, kind: str = "unknown") -> TypedName:
        """Return the name for a text; the title's short forms stand for the title."""
        text = clean(text)
        if text in self.forms or text == self.title.text:
            return self.title
        return TypedName(text, kind)

    def name_phrase(self, tokens: list[Token]) -> TypedName:
        """Return the name that the tokens of a phrase form, with its kind."""
        return self.name_of(text_of(tokens), kind_of(tokens))

    def pronoun(self, text: str) -> TypedName | None:
        """Return the referent of a pronoun or generic noun, or None if it is uncertain."""
        if text in ("他", "她", "本人", "自己"):
            titled = self.title.kind in ("person", "unknown") and not self.document
            return self.person or (self.title if titled else None)
        if text == "其":
            return self.topic or (None if self.document else self.title)
        if text == "它":
            return self.thing or (self.title if self.title.kind != "person" else None)
        return self.title if self.title.text.endswith(GENERIC.get(text, ())) else None

    def spoke_of(self, name: TypedName) -> None:
        """Record the subject of a clause as the antecedent of later pronouns."""
        self.topic = name
        if name.kind == "person" or (name == self.title and self.title.kind == "unknown"):
            self.person = name
        if name.kind != "person":
            self.thing = name

    def triple(
        self,
        pattern: str,
        head: TypedName,
        relation: str,
        tail: str | TypedName,
        span: tuple[int, int],
        *,
        when: Value | None = None,
        value: Value | None = None,
    ) -> None:
        """Add a triple found by a pattern, unless it is unusable or a duplicate."""
        tail_text = tail.text if isinstance(tail, TypedName) else clean(tail)
        key = (head.text, relation, tail_text)
        if not usable(head.text, LONGEST_NAME) or not usable(tail_text, LONGEST_TAIL):
            return
        if head.text == tail_text or not relation or key in self.stated:
            return
        if value is None or value.value_type == "text":
            value = Value("text") if isinstance(tail, TypedName) else parse_value(tail_text, "zh")
        self.stated.add(key)
        standing = PLAIN if pattern in APPOSED else self.standing
        row: Mention = {
            "head": head.text,
            "head_kind": head.kind,
            "relation": relation,
            "tail": tail_text,
            "tail_kind": tail.kind if isinstance(tail, TypedName) else "",
            **value_columns(value, named=isinstance(tail, TypedName)),
            "valid_from": value.valid_from or (when.valid_from or when.date if when else None),
            "valid_to": value.valid_to or (when.valid_to if when else None),
            "polarity": standing.polarity,
            "modality": standing.modality,
        }
        self._append(pattern, row, span, self.text)

    def record(self, text: str, attribute: Attribute) -> None:
        """Add a table cell or a labelled value in the passage's `text`, and names that it lists."""
        self.sentence = self.clause = None
        row = {**attribute.triple(), "polarity": None, "modality": None}
        span = attribute.start, attribute.end
        self._append("record", row, span, text)
        if names_alias(attribute.relation):
            titled = attribute.head == self.title.text
            name = self.title if titled else TypedName(attribute.head, attribute.kind)
            for other in OR.split(attribute.tail):
                self.alias(name, other, span, "alias")

    def _append(self, pattern: str, row: Mention, span: tuple[int, int], text: str) -> None:
        row |= evidence_columns(span, 0.0)
        title, sentence, clause = self.title.text, self.sentence, self.clause
        values = triple_features(pattern, row, text, title, sentence, clause)
        self.patterns.append(pattern)
        self.features.append(values)
        _append(self.extracted.triples, row, span, probability(values, WEIGHTS))

    def alias(self, name: TypedName, other: str, span: tuple[int, int], pattern: str) -> None:
        """Add an alias, except a single character (京): it is too short for search, or cut off."""
        other = clean(other)
        known = any((a["name"], a["alias"]) == (name.text, other) for a in self.extracted.aliases)
        if (
            len(name.text) > 1
            and len(other) > 1
            and other != name.text
            and usable(other, LONGEST_NAME)
            and not known
        ):
            row = {"name": name.text, "alias": other, "kind": name.kind}
            _append(self.extracted.aliases, row, span, share(pattern))

    def state(self, span: tuple[int, int], standing: Standing = PLAIN, **parts: Any) -> None:
        """Add a statement by its columns; those not given are empty."""
        texts = ("subject", "subject_name", "predicate", "object", "time", "place")
        row: Mention = dict.fromkeys(texts, "") | {"arguments": []}
        row |= {"polarity": standing.polarity, "modality": standing.modality}
        row |= {"attribution": standing.attribution, **parts}
        ends = {"head": row["subject"], "relation": row["predicate"], "tail": row["object"]}
        row[CLAUSE_FEATURES] = _of_sentence(ends, self.sentence, self.clause)
        _append(self.extracted.statements, row, span, share("statement"))

    def other_name(self, name: TypedName, relation: str, other: str, span: tuple[int, int]) -> None:
        """Add other names of an entity, each as a triple and as an alias."""
        for part in OR.split(PREDICATE.sub("", other)):
            self.triple("alias", name, relation, part, span)
            self.alias(name, part, span, "alias")

    def description(self, name: TypedName, text: str, span: tuple[int, int], pattern: str) -> None:
        """Add a description of an entity, unless it is already known."""
        known = any(
            (d["entity"], d["text"]) == (name.text, text) for d in self.extracted.descriptions
        )
        if text and not known and usable(name.text, LONGEST_NAME):
            row = {"entity": name.text, "kind": name.kind, "text": text}
            _append(self.extracted.descriptions, row, span, share(pattern))

    def note(
        self, name: TypedName, aspect: str, question: str, span: tuple[int, int], pattern: str
    ) -> None:
        """Add a note on an aspect of an entity, with its question."""
        row = {"entity": name.text, "kind": name.kind, "aspect": aspect}
        row |= {"text": self.text[slice(*span)], "question": question}
        _append(self.extracted.aspects, row, span, share(pattern))


def _append(facts: list[Mention], row: Mention, span: tuple[int, int], probability: float) -> None:
    facts.append({"ordinal": len(facts), **row, **evidence_columns(span, probability)})


def usable(text: str, longest: int) -> bool:
    """Return whether a text can be a name or a tail: not empty, too long, or a pronoun."""
    return (
        0 < len(text) <= longest
        and text[0] not in "他她它这那"
        and not text.startswith(POINTING)
        and not is_pronoun(text, "zh")
    )


WEIGHTS = Path(__file__).with_name("confidence.json")
NAMED = PROPER_TAGS | WRITTEN


def triple_features(
    pattern: str,
    row: Mention,
    text: str,
    title: str,
    sentence: SegmentedSentence | None,
    clause: Clause | None,
) -> dict[str, float]:
    """Return the features of a row of TripleMention that a pattern found in `text`.

    Of a record none but its rule is one: the others, fitted to sentences, do not tell its worth.
    """
    if pattern == "record":
        return {"rule record": 1.0}
    tokens = sentence.tokens if sentence else []
    return {
        f"rule {pattern}": 1.0,
        f"relation {row['relation']}": 1.0,
        f"relation tag {tag_of(row['relation']) or 'none'}": 1.0,
        "relation length": math.log1p(len(row["relation"])),
        f"tail value {row['value_type']}": 1.0,
        f"modality {row['modality'] or 'asserted'}": 1.0,
        "negative": float(row["polarity"] == "negative"),
        **_end("head", row, text, title, tokens),
        **_end("tail", row, text, title, tokens),
        **_of_sentence(row, sentence, clause),
    }


def _end(side: str, row: Mention, text: str, title: str, tokens: list[Token]) -> dict[str, float]:
    name = row[side]
    start = text.find(name, row["span_start"], row["span_end"])
    end = start + len(name)
    inside = (
        [i for i, token in enumerate(tokens) if start <= token.start < end] if start >= 0 else []
    )
    own = [tokens[i] for i in inside]
    whole = bool(own) and own[0].start == start and own[-1].end == end
    before = tokens[inside[0] - 1] if inside and inside[0] else None
    after = tokens[inside[-1] + 1] if inside and inside[-1] + 1 < len(tokens) else None
    return {
        f"{side} is a {row[f'{side}_kind'] or 'phrase'}": 1.0,
        f"{side} is the subject": float(name == title),
        f"{side} stands in the sentence": float(bool(own)),
        f"{side} is cut": float(bool(own) and not whole),
        f"{side} opens with {_tag(own[0] if own else None)}": 1.0,
        f"{side} ends with {_tag(own[-1] if own else None)}": 1.0,
        f"before {side} {_tag(before)}": 1.0,
        f"after {side} {_tag(after)}": 1.0,
        f"{side} has a name": float(any(token.tag in NAMED for token in own)),
        f"{side} has a verb": float(any(token.tag[0] == "v" for token in own)),
        f"{side} has 的": float("的" in name),
        f"{side} is ASCII": float(name.isascii()),
        f"{side} has a digit": float(any(map(str.isdigit, name))),
        f"{side} is a word": float(bool(tag_of(name))),
        f"{side} length": math.log1p(len(name)),
        f"{side} words": math.log1p(len(own)),
        f"{side} stands elsewhere": math.log1p(max(text.count(name) - 1, 0)),
    }


def _of_sentence(
    row: Mention, sentence: SegmentedSentence | None, clause: Clause | None
) -> dict[str, float]:
    if sentence is None:
        return {"no sentence": 1.0}
    words = {token.text for token in sentence.tokens}
    values = {
        "sentence length": math.log1p(sentence.end - sentence.start),
        "sentence has no end": float(sentence.tokens[-1].text not in "。！？"),
        "sentence has a second person": float(not words.isdisjoint("你您")),
        "sentence has a first person": float(not words.isdisjoint(("我", "我们", "本"))),
        "sentence's breaks": math.log1p(sum(t.text in "，；：" for t in sentence.tokens)),
    }
    if clause is None:
        return values
    length = clause.end - clause.start
    stated = len(row["relation"]) + len(row["tail"]) + len(row["head"])
    return {
        **values,
        f"verb tag {tag_of(clause.verb) or 'none'}": 1.0,
        f"clause opens with {_tag(clause.tokens[0])}": 1.0,
        **{f"preposition {p.word}": 1.0 for p in clause.prepositions},
        "clause has no subject": float(not clause.subject),
        "clause has a second noun": float(bool(clause.second)),
        "clause has a time": float(bool(clause.times)),
        "clause opens the sentence": float(clause.start == sentence.start),
        "clause length": math.log1p(length),
        "clause adverbs": math.log1p(sum(t.tag == "d" for t in clause.tokens)),
        "clause verbs": math.log1p(sum(t.tag[0] == "v" for t in clause.tokens)),
        "share of the clause": min(stated / max(length, 1), 1.5),
    }


def _tag(token: Token | None) -> str:
    return "nothing" if token is None else token.text if token.tag == "x" else token.tag
