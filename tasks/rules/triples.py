"""Triples for the knowledge base: a clear predicate between a name and a name or a value."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tasks.rules.clauses import Clause, Complement
from tasks.rules.mentions import Called, call, without_determiner
from tasks.rules.noun_phrases import conjuncts, core_phrase
from tasks.rules.passage import Passage
from tasks.rules.relations import is_vague, relation_of
from tasks.values import Value, find_values, parse_value
from tasks.values.value import listed

PERIOD_MARKS = frozenset(["from", "since", "until", "till", "between", "through"])
LONGEST_BETWEEN = 3
LONGEST_HEAD = 6
ENUMERATING = frozenset(["include", "comprise"])
MEASURES = {
    "long": "length", "high": "height", "tall": "height", "wide": "width", "deep": "depth",
    "old": "age", "heavy": "weight",
}  # fmt: skip
SORTS = frozenset(listed("type kind sort form one part member number variety example name"))


@dataclass(slots=True)
class Triple:
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


def find_triples(passage: Passage, clauses: list[Clause]) -> Iterator[Triple]:
    """Yield the triples of a passage, clause by clause."""
    for clause in clauses:
        yield from _with_period(passage, clause, list(_of_clause(passage, clause)))
    yield from _of_phrases(passage)


def _of_clause(passage: Passage, clause: Clause) -> Iterator[Triple]:
    tree = passage.tree
    for subject in conjuncts(tree, clause.subject):
        if clause.kind == "copula":
            yield from _of_copula(passage, clause, subject)
        elif clause.kind == "verb":
            yield from _of_enumeration(passage, clause, subject)
            head = _head(passage, subject)
            if head is not None:
                yield from _of_verb(passage, clause, head)


def _of_enumeration(passage: Passage, clause: Clause, subject: int) -> Iterator[Triple]:
    """Yield "his works include X" as (he, works, X)."""
    if passage.tree.lemma[clause.predicate] not in ENUMERATING:
        return
    for complement in clause.complements:
        if complement.role == "object":
            for thing in conjuncts(passage.tree, complement.head):
                yield from _of_attribute(passage, clause, subject, thing)


def _head(passage: Passage, subject: int) -> Called | None:
    """Return a subject that can be a head: a name, or a noun phrase of two words and more.

    What is said of a predicate noun or an apposition is said of what bears the name: "Apollo 11 was
    the first flight that landed on the Moon".
    """
    tree = passage.tree
    called = call(passage, subject)
    if called is not None and not called.named:
        bearer = tree.child(subject, "nsubj") if tree.child(subject, "cop") is not None else None
        if tree.dep[subject] == "appos":
            bearer = tree.head[subject]
        named = call(passage, bearer) if bearer is not None else None
        if named is not None and named.named:
            return named
        called = _short_phrase(passage, subject)
    return called


def _short_phrase(passage: Passage, subject: int) -> Called | None:
    """Return the bare noun phrase of a subject without a name, if it says enough."""
    tree = passage.tree
    tokens = without_determiner(passage, core_phrase(tree, subject))
    if tree.pos[subject] != "NOUN" or not 2 <= len(tokens) <= LONGEST_HEAD:
        return None
    return Called(tree.join(tokens), "unknown", tokens, named=False)


def _of_verb(passage: Passage, clause: Clause, head: Called) -> Iterator[Triple]:
    tree = passage.tree
    objects = [c for c in clause.complements if c.role in ("object", "predicative")]
    between: list[int] = []
    if objects and objects[0].role == "object" and tree.lemma[clause.predicate] == "have":
        yield from _of_possession(passage, clause, head, objects[0].head)
    if objects and not is_vague(tree, clause, []):
        for thing in conjuncts(tree, objects[0].head):
            tail = _tail(passage, thing)
            if tail is not None:
                relation = relation_of(tree, clause, objects[0].marks, [])
                yield _triple("object", passage, clause, head, relation, tail)
    if objects:
        between = without_determiner(passage, core_phrase(tree, objects[0].head))
        if len(between) > LONGEST_BETWEEN or tree.pos[objects[0].head] == "PRON":
            return
    for complement in clause.complements:
        if complement.role not in ("oblique", "agent") or _is_period(passage, complement):
            continue
        if is_vague(tree, clause, complement.marks) and not between:
            continue
        relation = relation_of(tree, clause, complement.marks, between)
        for thing in conjuncts(tree, complement.head):
            tail = _tail(passage, thing)
            if tail is not None:
                yield _triple("oblique", passage, clause, head, relation, tail)


def _of_possession(passage: Passage, clause: Clause, head: Called, thing: int) -> Iterator[Triple]:
    """Yield "X has a population of Y" and "X has two moons" as properties of X."""
    tree = passage.tree
    core = without_determiner(passage, core_phrase(tree, thing))
    number = tree.child(thing, "nummod")
    if clause.negated or thing in passage.entities or not 0 < len(core) <= LONGEST_HEAD:
        return
    if number is not None and tree.pos[thing] == "NOUN":
        noun = tree.join([token for token in core if token not in tree.subtree(number)])
        tail = Called(tree.join(core), "", core, named=False)
        yield _triple("object", passage, clause, head, f"number of {noun}", tail)
    for child in tree.children[thing]:
        if tree.dep[child] == "nmod" and tree.lower[tree.children[child][0]] == "of":
            tail_or_none = _tail(passage, child)
            if tail_or_none is not None:
                yield _triple("object", passage, clause, head, tree.join(core), tail_or_none)


def _of_copula(passage: Passage, clause: Clause, subject: int) -> Iterator[Triple]:
    tree = passage.tree
    predicative = next(c for c in clause.complements if c.role == "predicative")
    if clause.negated:
        return
    for noun in conjuncts(tree, predicative.head):
        yield from _of_attribute(passage, clause, subject, noun)
        head = _head(passage, subject)
        if head is None:
            continue
        marks = predicative.marks if noun == predicative.head else []
        if marks:
            tail = _tail(passage, noun)
            if tail is not None:
                words = " ".join(tree.lower[m] for m in marks)
                yield _triple("predicative", passage, clause, head, f"is {words}", tail)
        elif tree.pos[noun] == "ADJ" and tree.child(noun, "det") is None:
            yield from _of_adjective(passage, clause, head, noun)
        elif tree.pos[noun] in ("NOUN", "PROPN", "NUM", "ADJ"):
            yield from _of_class(passage, clause, head, noun)


def _of_class(passage: Passage, clause: Clause, head: Called, noun: int) -> Iterator[Triple]:
    tree = passage.tree
    named = noun in passage.entities
    core = without_determiner(passage, core_phrase(tree, noun))
    if named:
        tail = call(passage, noun)
    elif core:
        tail = Called(tree.join(core), "", core, named=False)
    if (named or core) and tail is not None and tree.lemma[noun].lower() not in SORTS:
        yield _triple(_rule(clause), passage, clause, head, "is" if named else "is a", tail)
    if named or len(core) > 5:
        return
    for child in tree.children[noun]:
        if tree.dep[child] != "nmod" or child < noun:
            continue
        marks = [c for c in tree.children[child] if tree.dep[c] == "case" and c < child]
        for thing in conjuncts(tree, child):
            role_tail = _tail(passage, thing)
            if marks and role_tail is not None:
                relation = f"{tree.join(core)} {' '.join(tree.lower[m] for m in marks)}"
                yield _triple(_rule(clause), passage, clause, head, relation, role_tail)


def _of_adjective(
    passage: Passage, clause: Clause, head: Called, adjective: int
) -> Iterator[Triple]:
    """ "is famous for X" and "is 30 km long"."""
    tree = passage.tree
    for complement in clause.complements:
        if complement.role == "oblique" and complement.marks:
            tail = _tail(passage, complement.head)
            if tail is not None:
                relation = (
                    f"{tree.lower[adjective]} {' '.join(tree.lower[m] for m in complement.marks)}"
                )
                yield _triple("predicative", passage, clause, head, relation, tail)
    measure = MEASURES.get(tree.lower[adjective])
    if measure:
        for child in tree.children[adjective]:
            if tree.dep[child] in ("obl:unmarked", "nmod:unmarked", "obl", "nummod"):
                tail = _tail(passage, child)
                if tail is not None:
                    yield _triple("predicative", passage, clause, head, measure, tail)


def _of_attribute(passage: Passage, clause: Clause, subject: int, noun: int) -> Iterator[Triple]:
    """ "X's capital is Y", "the capital of X is Y": the attribute is the relation."""
    tree = passage.tree
    if subject in passage.entities or tree.pos[subject] != "NOUN":
        return
    for child in tree.children[subject]:
        marks = [c for c in tree.children[child] if tree.dep[c] == "case"]
        of = tree.dep[child] == "nmod" and [tree.lower[m] for m in marks] == ["of"]
        if not of and tree.dep[child] != "nmod:poss":
            continue
        owner = call(passage, child)
        tail = _tail(passage, noun)
        core = [t for t in core_phrase(tree, subject) if t not in tree.subtree(child)]
        core = without_determiner(passage, core)
        if owner is not None and owner.named and tail is not None and 0 < len(core) <= 4:
            yield _triple("predicative", passage, clause, owner, tree.join(core), tail)


def _of_phrases(passage: Passage) -> Iterator[Triple]:
    """Yield "X, the capital of Y" and "the physicist X"."""
    tree = passage.tree
    for token, label in enumerate(tree.dep):
        if label == "appos":
            yield from _of_apposition(passage, tree.head[token], token)
        elif label == "nmod:desc" and tree.pos[token] == "NOUN":
            head = call(passage, tree.head[token])
            if head is not None and head.named and token not in head.tokens:
                tail = Called(tree.lower[token], "", [token], named=False)
                clause = _without_verb(token, tree.head[token])
                yield _triple("apposition", passage, clause, head, "is a", tail)


def _of_apposition(passage: Passage, first: int, second: int) -> Iterator[Triple]:
    tree = passage.tree
    if (first in passage.entities) == (second in passage.entities):
        return
    name, noun = (first, second) if first in passage.entities else (second, first)
    head = call(passage, name)
    if head is None or tree.pos[noun] != "NOUN":
        return
    yield from _of_class(passage, _without_verb(noun, name), head, noun)


def _without_verb(noun: int, name: int) -> Clause:
    return Clause("apposition", noun, name, "own", [], [], passive=False, negated=False)


def _rule(clause: Clause) -> str:
    return "apposition" if clause.kind == "apposition" else "predicative"


def _tail(passage: Passage, head: int) -> Called | None:
    """Return what a tail is called; clauses and bare pronouns are no tails."""
    tree = passage.tree
    if tree.pos[head] in ("VERB", "AUX") or tree.child(head, "cop", "nsubj", "nsubj:pass"):
        return None
    return call(passage, head)


def _triple(
    rule: str, passage: Passage, clause: Clause, head: Called, relation: str, tail: Called
) -> Triple:
    tree = passage.tree
    tokens = sorted({*head.tokens, *tail.tokens, *clause.verb})
    value = Value("text")
    if not tail.named and any(
        tree.pos[t] == "NUM" or tree.words[t][:1].isdigit() for t in tail.tokens
    ):
        value = parse_value(tail.name, "en")
    return Triple(rule, head, relation, tail, tokens, clause, value=value)


def _is_period(passage: Passage, complement: Complement) -> bool:
    tree = passage.tree
    if not complement.marks or tree.lower[complement.marks[0]] not in PERIOD_MARKS:
        return False
    return any(tree.pos[t] == "NUM" for t in tree.subtree(complement.head))


def _with_period(passage: Passage, clause: Clause, triples: list[Triple]) -> Iterator[Triple]:
    """Give a clause's triples the period it states: "from 1934 to 1940", "since 1999"."""
    tree = passage.tree
    valid: Value | None = None
    for complement in clause.complements:
        if _is_period(passage, complement):
            start, _ = tree.span(sorted([*complement.marks, complement.head]))
            text = tree.text[start : min(start + 60, tree.end[tree.subtree(complement.head)[-1]])]
            found = [v for _, _, v in find_values(text, "en") if v.valid_from or v.valid_to]
            valid = found[0] if found else valid
    for triple in triples:
        if valid is not None:
            triple.valid_from, triple.valid_to = valid.valid_from, valid.valid_to
        yield triple
