"""Triples of the rules: which phrases may be heads and tails, and when a triple is valid."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from tasks.extract.extracted import Mention, evidence_columns, value_columns
from tasks.extract.rules.clauses import FINITE, SUBJECTS, Clause, Complement
from tasks.extract.rules.confidence import (
    antecedent_features,
    context_features,
    end_features,
    end_states,
    features,
    general_features,
    left_out,
    probability,
    sentence_features,
    word_features,
)
from tasks.extract.rules.kinds import kind_of_noun
from tasks.extract.rules.lexicon import ELSEWHERE, OFFICES
from tasks.extract.rules.modality import conditions_of, standing_of
from tasks.extract.rules.noun_phrases import (
    DETERMINERS,
    Called,
    call,
    core_phrase,
    is_one_of_several,
    possessors,
    whole_phrase,
    without_determiner,
)
from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.rules.repairs import CALENDAR, CALENDAR_NOUNS
from tasks.extract.rules.tree import Tree
from tasks.text.function_words import DEMONSTRATIVES, NEGATORS
from tasks.text.languages import word_set
from tasks.text.values import Value, find_values, parse_value

LONGEST_HEAD = 4
# What continues a word without a space; a head or tail that ends there is cut short.
_JOINED = re.compile(r"[-‐‑–/_@#&][^\W_]|[^\W_].?", re.DOTALL)
CODE = re.compile(r"(?=\S*[\d@/])\S{3,}|[\d ]+")
LONGEST_LIMIT = 16  # characters of "no later than"
LONGEST_TERM = 6
IN_SERIES = word_set("next last first second other new current latest previous")
GENERAL = word_set("a an all any each every")
STATING_VALUES = word_set("default cost equal limit cap set weigh measure last")
COMPARED = ("JJR", "RBR")
RELATIVE = ("WDT", "WP", "WP$")
PARTS = word_set("compound flat amod nummod")
POINTING = ELSEWHERE | DEMONSTRATIVES | word_set("such there another other others similar")
SORTS = word_set("type kind sort form one part member number variety example name")
PICTURES = word_set("photograph photo image picture illustration screenshot figure cartoon")
HEDGED = ("required", "possible", "future")
DENIED = word_set("adverb adverbial oblique time")
LOOSE_ENDS = ("ADP", "CCONJ", "SCONJ", "DET")
_GAP = re.compile(r" (?:\([^()]{1,40}\) )?")  # the tree is built without parentheses


@dataclass(slots=True)
class RuleTriple:
    """A triple with the tokens it was read from and the rule that read it."""

    rule: str
    head: Called
    relation: str
    tail: Called
    tokens: list[int]
    clause: Clause
    valid_from: str | None = None
    valid_to: str | None = None
    value: Value = field(default_factory=lambda: Value("text"))


def triple_row(passage: ParsedPassage, triple: RuleTriple) -> Mention:
    """Return a triple as a row of TripleMention, without its ordinal."""
    tree, head, tail, value = passage.tree, triple.head, triple.tail, triple.value
    states = triple_states(passage, triple)
    confidence = probability(triple_features(passage, triple), states=states)
    standing = standing_of(passage, triple.clause)
    # A triple, unlike a statement, has no argument for its condition.
    conditional = standing.modality in HEDGED and conditions_of(tree, triple.clause.predicate)
    return {
        "head": " ".join(head.name.split()),
        "head_kind": head.kind,
        "relation": triple.relation,
        "tail": " ".join(tail.name.split()),
        "tail_kind": tail.kind if tail.named else "",
        **value_columns(value, named=tail.named),
        "valid_from": triple.valid_from or value.valid_from,
        "valid_to": triple.valid_to or value.valid_to,
        "polarity": standing.polarity,
        "modality": "conditional" if conditional else standing.modality,
        **evidence_columns(tree.span(triple.tokens), confidence),
    }


def triple_features(passage: ParsedPassage, triple: RuleTriple) -> dict[str, float]:
    """Return the features from which a triple's confidence is computed."""
    head, tail = triple.head, triple.tail
    length, arguments = len(triple.relation.split()), [head.tokens, tail.tokens]
    return {
        **features(passage.tree, triple.clause, triple.rule, length, arguments),
        **sentence_features(passage, triple.clause),
        **antecedent_features(passage, head),
        **(general_features(passage.tree, triple.clause) if head.general else {}),
        **left_out(passage, triple.clause, triple.tokens),
        **word_features(head.name, triple.relation, tail.name),
        **end_features(passage, "head", head),
        **end_features(passage, "tail", tail),
        **context_features(passage, triple.clause, head, tail),
        f"tail value {'entity' if tail.named else triple.value.value_type}": 1.0,
    }


def triple_states(passage: ParsedPassage, triple: RuleTriple) -> np.ndarray:
    """Return the encoder's states at a triple's words, as an array of shape STATES."""
    return end_states(passage.tree, triple.clause, triple.head.tokens, triple.tail.tokens)


def is_whole(passage: ParsedPassage, triple: RuleTriple) -> bool:
    """Return whether head and tail are complete phrases that can be understood out of context.

    A head that is a term must have a value as its tail.
    """
    if triple.head.term and not _is_value(triple):
        return False
    head, tail = triple.head, triple.tail
    cut = _is_cut(passage, head, tail) or _is_cut(passage, tail, head)
    cut = cut or _is_alternative(passage.tree, triple)
    cut = cut or _denies_only_a_part(passage.tree, triple)
    return not cut and _is_whole(passage, head) and _is_whole(passage, tail)


def _is_value(triple: RuleTriple) -> bool:
    """Return whether the tail is a number, quantity, date or code: "tulip-42", an address."""
    beside = triple.rule == "oblique" and not triple.relation.endswith((" to", " at"))
    if beside or triple.relation[-5:] == " than" or triple.tail.name.lower() == "one":
        return False
    if triple.value.value_type != "text":
        return True
    name = triple.tail.name
    begins = any(start <= LONGEST_LIMIT for start, _, _ in find_values(name, "en")[:1])
    return not triple.tail.named and (begins or CODE.fullmatch(name) is not None)


def _is_whole(passage: ParsedPassage, end: Called) -> bool:
    tree = passage.tree
    if end.resolved or not end.tokens:
        return True
    tokens, text = set(end.tokens), tree.text
    before = text[: tree.start[end.tokens[0]]][-2:]
    behind = text[tree.end[end.tokens[-1]] :][:2]
    if _JOINED.fullmatch(before[::-1]) or _JOINED.fullmatch(behind):
        return False
    pointing = {t for t in tokens if tree.lower[t] in POINTING and tree.tag[t] not in RELATIVE}
    if pointing or any(tree.tag[token] in COMPARED for token in tokens):
        return False
    if tree.pos[end.tokens[-1]] in LOOSE_ENDS or tree.pos[end.tokens[0]] in LOOSE_ENDS[:3]:
        return False
    if not end.named and _points(passage, end.tokens):
        return False
    if end.named and tree.lower[max(end.tokens[0] - 1, 0)] in OFFICES:
        return True
    # "Acquired X" and "Native Xs" do not denote X; "the film X" does.
    return not any(
        tree.dep[child] in PARTS
        and child not in tokens
        and tree.lower[child] not in DETERMINERS
        and not (end.named and child == end.tokens[0] - 1 and _tells_kind(passage, child, end))
        for token in tokens
        for child in tree.children[token]
    )


def _tells_kind(passage: ParsedPassage, noun: int, end: Called) -> bool:
    """Return whether a common noun states the kind of the name after it: "the film X"."""
    tree = passage.tree
    kind = kind_of_noun(tree.lower[noun]) if tree.words[noun].islower() else "unknown"
    return tree.tag[noun] == "NN" and kind == passage.kind(end.name) != "unknown"


def _is_cut(passage: ParsedPassage, end: Called, other: Called) -> bool:
    """Return whether a phrase is cut off before its last noun or within coordinated verbs."""
    tree, after = passage.tree, end.tokens[-1] + 1 if end.tokens else len(passage.tree.words)
    if end.resolved or after >= len(tree.words) or after in other.tokens:
        return False
    if tree.pos[after - 1] == "VERB":
        return tree.words[after] == "," or tree.dep[after] == "cc"
    noun = after
    while tree.dep[noun] in PARTS and tree.head[noun] > noun:
        noun = tree.head[noun]
    return bool(
        tree.pos[after] in ("NOUN", "PROPN")
        and tree.tag[after] not in FINITE
        and _GAP.fullmatch(tree.text[tree.end[after - 1] : tree.start[after]])
        and tree.lower[after] not in CALENDAR | CALENDAR_NOUNS | OFFICES
        and tree.dep[noun] not in SUBJECTS
    )


def _is_alternative(tree: Tree, triple: RuleTriple) -> bool:
    """Return whether the head or tail is one of "A or B", of which only one may be meant.

    In a negated or modal clause all alternatives are meant.
    """
    clause, tokens = triple.clause, {*triple.head.tokens, *triple.tail.tokens}
    if clause.negated or any(tree.tag[token] == "MD" for token in clause.verb):
        return False
    return any(is_one_of_several(tree, t) for t in tokens if tree.head[t] not in tokens)


def _denies_only_a_part(tree: Tree, triple: RuleTriple) -> bool:
    """Return whether a negated triple leaves out what its clause denies: "do not directly infect".

    What stands before the negation or behind a comma is not denied; "no longer" is a negation.
    """
    clause, stated = triple.clause, set(triple.tokens)
    negations = [token for token in clause.verb if tree.lower[token] in NEGATORS]
    if not negations:
        return False
    dropped = (c.head for c in clause.complements if c.role in DENIED)
    parts = (tree.subtree(head) for head in dropped if head > negations[0])
    return any(
        stated.isdisjoint(part)
        and "," not in (tree.words[part[0]], tree.words[part[0] - 1])
        and tree.lower[part[0] - 1] != "no"
        for part in parts
    )


def _points(passage: ParsedPassage, tokens: list[int]) -> bool:
    """Return whether a phrase is merely demonstrative: "this territory"."""
    tree = passage.tree
    articles = {
        tree.lower[child]
        for token in tokens
        for child in tree.children[token]
        if tree.dep[child] == "det" and child < tokens[0]
    }
    return not articles.isdisjoint(POINTING)


def _modifies_noun(passage: ParsedPassage, token: int) -> bool:
    """Tell whether a name only tells which noun behind it is meant: "Board of Trade office"."""
    tree, name = passage.tree, passage.entities.get(token)
    noun = name.last if name else len(tree.words)
    if noun >= len(tree.words) or tree.tag[noun] not in ("NN", "NNS") or noun == token:
        return False
    tells = tree.head[noun - 1] == noun and tree.dep[noun - 1] == "compound"
    bare = tree.dep[noun] == "nmod" and tree.child(noun, "case") is None
    return tree.head[token] != noun and (tells or (bare and tree.head[noun] == token))


def head_of(passage: ParsedPassage, subject: int) -> Called | None:
    """Return the head that a subject gives: a name, or a noun phrase with its possessor's name.

    A clause about a predicative noun or an apposition is about the entity that it describes:
    "Apollo 11 was the first flight that landed on the Moon". "Its primary mirror" becomes "primary
    mirror of X".
    """
    tree = passage.tree
    if tree.tag[min(subject + 1, len(tree.tag) - 1)] == "POS":
        return None  # "Alaska's is the smallest"
    if _modifies_noun(passage, subject):
        return None
    called = call(passage, subject)
    if called is not None and called.named:
        return called
    bearers = [c for c in tree.children[subject] if tree.dep[c] == "appos"]
    denied = any(tree.lower[c] in NEGATORS for c in tree.children[subject])
    if tree.child(subject, "cop") is not None and not denied:
        bearers += [c for c in tree.children[subject] if tree.dep[c] == "nsubj"]
    if tree.dep[subject] == "appos":
        bearers.append(tree.head[subject])
    for bearer in bearers:
        named = call(passage, bearer)
        if named is not None and named.named:
            return named
    return None if called is None else _owned_phrase(passage, subject)


def head_in(passage: ParsedPassage, clause: Clause, subject: int) -> Called | None:
    """Return a clause's subject as a head: a name, a term, or a generic noun phrase."""
    return (
        head_of(passage, subject)
        or term_of(passage, clause, subject)
        or general_of(passage, clause, subject)
    )


def term_of(passage: ParsedPassage, clause: Clause, subject: int) -> Called | None:
    """Return a term of several words to which a text gives a value: "the maximum file size is".

    Only affirmative clauses in the present, about the term itself, are understood out of context.
    """
    tree, verb = passage.tree, clause.predicate
    present = any(tree.tag[t] in ("VBZ", "VBP") for t in clause.verb)
    stating = clause.kind == "copula" or tree.lemma[verb].lower() in STATING_VALUES
    if not present or not stating or clause.negated or not tree.words[subject].islower():
        return None
    own = [c for c in tree.children[subject] if tree.dep[c] in ("det", "nmod:poss")]
    tokens = without_determiner(passage, whole_phrase(passage, subject))
    pointed = any(tree.lower[t] in IN_SERIES or tree.pos[t] in ("PRON", "NUM") for t in tokens)
    pointed |= bool(tokens) and tree.pos[tokens[-1]] == "ADP"
    if any(tree.lower[c] != "the" for c in own) or pointed or not 1 < len(tokens) <= LONGEST_TERM:
        return None
    return Called(tree.join(tokens), "unknown", tokens, named=False, term=True)


def general_of(passage: ParsedPassage, clause: Clause, subject: int) -> Called | None:
    """Return a generic noun phrase, of which something holds in general: "line managers".

    The clause must be in the present tense or modal ("staff can take ten days"), and unconditional.
    A single noun after "the" refers to something mentioned before, so it is not generic.
    """
    tree = passage.tree
    if tree.pos[subject] != "NOUN" or clause.subject_from != "own":
        return None
    now = any(tree.tag[token] in ("VBZ", "VBP", "MD") for token in clause.verb)
    if not now or conditions_of(tree, clause.predicate):
        return None
    determiners = {tree.lower[c] for c in tree.children[subject] if tree.dep[c] == "det"}
    tokens = without_determiner(passage, whole_phrase(passage, subject))
    while tokens and tree.lower[tokens[0]] in GENERAL:
        tokens = tokens[1:]
    owned = tree.child(subject, "nmod:poss") is not None
    known = "the" in determiners or owned
    if not determiners <= GENERAL | {"the"} or not int(known) < len(tokens) <= LONGEST_TERM:
        return None
    unclear = IN_SERIES | POINTING | SORTS | PICTURES
    if any(tree.lower[t] in unclear or tree.pos[t] in ("PRON", "ADV") for t in tokens):
        return None
    return Called(tree.join(tokens), "unknown", tokens, named=False, general=True)


def _owned_phrase(passage: ParsedPassage, subject: int) -> Called | None:
    """Return "primary mirror of X" for "its primary mirror" and "the primary mirror of X"."""
    tree = passage.tree
    if tree.tag[subject] != "NN" or tree.child(subject, "nummod") is not None:
        return None
    if tree.lower[subject] in SORTS:
        return None
    for child in possessors(passage, subject):
        owner = call(passage, child)
        own = set(tree.subtree(child))
        tokens = [t for t in core_phrase(tree, subject) if t not in own]
        tokens = without_determiner(passage, tokens)
        if owner is not None and owner.named and 0 < len(tokens) <= LONGEST_HEAD:
            name = f"{tree.join(tokens)} of {owner.name}"
            spanned = sorted({*tokens, *owner.tokens})
            return Called(name, "unknown", spanned, named=False, resolved=owner.resolved)
    return None


def tail_of(passage: ParsedPassage, head: int) -> Called | None:
    """Return the phrase of a token as a tail; clauses and unresolved pronouns are no tails."""
    tree = passage.tree
    if tree.pos[head] in ("VERB", "AUX") or tree.child(head, "cop", "nsubj", "nsubj:pass"):
        return None
    called = call(passage, head)
    if called is None or called.named:
        return called
    tokens = called.tokens
    # The parser attached the object of a final preposition elsewhere.
    while tokens and tree.pos[tokens[-1]] in ("ADP", "DET", "CCONJ", "SCONJ", "PRON"):
        tokens = tokens[:-1]
    return replace(called, tokens=tokens, name=tree.join(tokens)) if tokens else None


def triple_of(
    rule: str, passage: ParsedPassage, clause: Clause, head: Called, relation: str, tail: Called
) -> RuleTriple:
    """Return a triple whose tail is parsed as a value if it contains a number."""
    tree = passage.tree
    tokens = sorted({*head.tokens, *tail.tokens, *clause.verb})
    value = Value("text")
    if not tail.named and any(
        tree.pos[t] == "NUM" or tree.words[t][:1].isdigit() for t in tail.tokens
    ):
        value = parse_value(tail.name, "en")
    return RuleTriple(rule, head, relation, tail, tokens, clause, value=value)


def triples_to(
    nouns: Iterable[int],
    rule: str,
    passage: ParsedPassage,
    clause: Clause,
    head: Called,
    relation: str,
) -> Iterator[RuleTriple]:
    """Yield a triple for each noun that can be a tail."""
    for tail in (tail_of(passage, noun) for noun in nouns):
        if tail is not None:
            yield triple_of(rule, passage, clause, head, relation, tail)


BOUNDS = word_set("since until till")
PERIOD_MARKS = BOUNDS | {"from", "between", "through"}
LONGEST_PERIOD = 60


def is_period(passage: ParsedPassage, complement: Complement) -> bool:
    """Return whether a complement states the start or end of a period, with a number."""
    tree = passage.tree
    if not complement.marks or tree.lower[complement.marks[0]] not in PERIOD_MARKS:
        return False
    return any(tree.pos[t] == "NUM" for t in tree.subtree(complement.head))


def tells_when(passage: ParsedPassage, complement: Complement) -> bool:
    """Return whether a complement bounds the time: "since 1999", or without a date "until then"."""
    if is_period(passage, complement):
        return True
    return bool(complement.marks) and passage.tree.lower[complement.marks[0]] in BOUNDS


def with_period(
    passage: ParsedPassage, clause: Clause, triples: list[RuleTriple]
) -> Iterator[RuleTriple]:
    """Yield a clause's triples with its only period: "from 1934 to 1940", "since 1999"."""
    periods = _periods(passage, clause)
    valid = periods[0] if len(periods) == 1 else None
    for triple in triples:
        if valid is not None:
            triple.valid_from, triple.valid_to = valid.valid_from, valid.valid_to
        yield triple


def _periods(passage: ParsedPassage, clause: Clause) -> list[Value | None]:
    """Return the periods of a clause; "from 1934 until 1940" is one.

    A period that cannot be read is None.
    """
    tree = passage.tree
    stated = [c for c in clause.complements if is_period(passage, c)]
    spans = sorted((min(c.marks), tree.subtree(c.head)[-1] + 1) for c in stated)
    joined: list[tuple[int, int]] = []
    for first, last in spans:
        if joined and first <= joined[-1][1]:
            first, _ = joined.pop()
        joined.append((first, last))
    periods: list[Value | None] = []
    for first, last in joined:
        text = tree.text[tree.start[first] : tree.end[last - 1]][:LONGEST_PERIOD]
        found = (v for _, _, v in find_values(text, "en") if v.valid_from or v.valid_to)
        periods.append(next(found, None))
    return periods
