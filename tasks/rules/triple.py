"""A triple as the rules make it, and what may stand at its ends."""

from dataclasses import dataclass, field

from tasks.rules.clauses import Clause
from tasks.rules.mentions import Called, call, without_determiner
from tasks.rules.noun_phrases import core_phrase
from tasks.rules.passage import Passage
from tasks.values import Value, parse_value

LONGEST_HEAD = 6


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


def head_of(passage: Passage, subject: int) -> Called | None:
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


def tail_of(passage: Passage, head: int) -> Called | None:
    """Return what a tail is called; clauses and bare pronouns are no tails."""
    tree = passage.tree
    if tree.pos[head] in ("VERB", "AUX") or tree.child(head, "cop", "nsubj", "nsubj:pass"):
        return None
    return call(passage, head)


def triple_of(
    rule: str, passage: Passage, clause: Clause, head: Called, relation: str, tail: Called
) -> Triple:
    """Return the triple with its tail read as a value where it holds a number."""
    tree = passage.tree
    tokens = sorted({*head.tokens, *tail.tokens, *clause.verb})
    value = Value("text")
    if not tail.named and any(
        tree.pos[t] == "NUM" or tree.words[t][:1].isdigit() for t in tail.tokens
    ):
        value = parse_value(tail.name, "en")
    return Triple(rule, head, relation, tail, tokens, clause, value=value)
