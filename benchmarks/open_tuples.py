"""Open triples: clauses as relation words and arguments in the sentence's own wording.

A clause gives one tuple: relation, subject, and all its complements, the main one first. Without
an object or predicate noun the first preposition goes into the relation ("was born in").
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tasks.extract.rules.clauses import Clause, Complement
from tasks.extract.rules.noun_phrases import (
    OUTSIDE,
    SIDE_REMARKS,
    argument_phrase,
    phrase_without,
)
from tasks.extract.rules.tree import Tree

ASIDE = frozenset(["oblique", "agent", "time"])


@dataclass(slots=True)
class OpenTriple:
    """A relation and its arguments as tokens; `implied` is a word that the sentence leaves out."""

    rule: str
    clause: Clause
    relation: list[int]
    arguments: list[list[int]]
    implied: str = ""

    def words(self, tree: Tree) -> tuple[str, list[str]]:
        """Return the relation's and the arguments' words."""
        relation = f"{self.implied} {tree.join(self.relation)}".strip()
        return relation, [tree.join(argument) for argument in self.arguments]


def open_triples(tree: Tree, clauses: list[Clause]) -> Iterator[OpenTriple]:
    """Yield the open triples of a passage."""
    for clause in clauses:
        if clause.kind != "existential" and not _is_gerund_after_noun(tree, clause):
            subject = phrase_without(tree, clause.subject, OUTSIDE | SIDE_REMARKS)
            triple = _of_clause(tree, clause, subject)
            if subject and (triple.relation or triple.implied):
                yield triple
    for token, label in enumerate(tree.dep):
        if label == "appos":
            yield _of_apposition(tree, tree.head[token], token)


def _is_gerund_after_noun(tree: Tree, clause: Clause) -> bool:
    """Return whether it is "the risk of losing" or "the ability to see", without a subject."""
    if clause.subject_from != "participle":
        return False
    return tree.child(clause.predicate, "mark", "case") is not None


def _of_clause(tree: Tree, clause: Clause, subject: list[int]) -> OpenTriple:
    mains = [c for c in clause.complements if c.role in ("object", "predicative")]
    clausal = [c for c in clause.complements if c.role == "clause"]
    if not mains:
        mains, clausal = clausal[:1], clausal[1:]
    extra = [c for c in clause.complements if c.role == "indirect"] + clausal
    aside = sorted((c for c in clause.complements if _is_aside(clause, c)), key=lambda c: c.head)
    implied = "is" if clause.subject_from == "participle" and clause.passive else ""
    verb = _with_adverbs(tree, clause)
    if mains:
        marks, phrase = mains[0].marks, _phrase(tree, mains[0])[len(mains[0].marks) :]
        rule, relation = mains[0].role, verb + marks
        arguments = [subject, phrase, *(_phrase(tree, c) for c in extra + aside)]
    elif aside:
        first = _first_step(clause, aside)
        others = [_phrase(tree, c) for c in aside if c is not first]
        rule, relation = "oblique", verb + first.marks
        arguments = [subject, _phrase(tree, first)[len(first.marks) :], *others]
    else:
        adverbs = [
            c
            for c in clause.complements
            if c.role in ("adverb", "adverbial") and c.head not in verb
        ]
        rule, relation = "bare", verb
        arguments = [subject, _phrase(tree, adverbs[0]) if adverbs else []]
    return OpenTriple(rule, clause, relation, arguments, implied)


def _with_adverbs(tree: Tree, clause: Clause) -> list[int]:
    """Return the verb group with single adverbs inside it or right before it."""
    verb = clause.verb
    if not verb:
        return verb
    adverbs = [
        child
        for child in tree.children[clause.predicate]
        if tree.dep[child] == "advmod"
        and not tree.children[child]
        and (verb[0] < child < verb[-1] or (child == verb[0] - 1 and tree.tag[child] == "RB"))
    ]
    return sorted({*verb, *adverbs})


def _is_aside(clause: Clause, complement: Complement) -> bool:
    if complement.role == "adverbial":
        return complement.head > clause.predicate and bool(complement.marks)
    return complement.role in ASIDE


def _first_step(clause: Clause, aside: list[Complement]) -> Complement:
    """Return the first prepositional phrase after the verb, else any, else a bare time."""
    after = [c for c in aside if c.marks and c.head > clause.predicate]
    return (after or [c for c in aside if c.marks] or aside)[0]


def _phrase(tree: Tree, complement: Complement) -> list[int]:
    if complement.role in ("clause", "adverbial"):
        marks = set(complement.marks)
        rest = [t for t in tree.subtree(complement.head) if t not in marks]
        return complement.marks + rest
    if complement.role == "predicative":
        phrase = _predicate_phrase(tree, complement.head)
        return complement.marks + [t for t in phrase if t not in complement.marks]
    return complement.marks + argument_phrase(tree, complement.head)


def _predicate_phrase(tree: Tree, head: int) -> list[int]:
    """Return the noun or adjective phrase that a subject is said to be, and no more."""
    remarks = SIDE_REMARKS - {"acl:relcl"} | {"obl", "obl:agent", "obl:unmarked"}
    copula = tree.child(head, "cop")
    after = copula if copula is not None and copula < head else -1
    return phrase_without(tree, head, OUTSIDE | remarks, after)


def _of_apposition(tree: Tree, first: int, second: int) -> OpenTriple:
    clause = Clause("apposition", second, first, "own", [], [], passive=False, negated=False)
    arguments = [
        phrase_without(tree, first, OUTSIDE | SIDE_REMARKS | {"conj"}),
        argument_phrase(tree, second),
    ]
    return OpenTriple("apposition", clause, [], arguments, implied="is")
