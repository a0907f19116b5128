"""How a predicate is written as a relation.

An active verb is its lemma with the preposition ("work at", "discover"), a passive its participle
("born in", "founded by"), modals and "not" stay in front ("may cause", "not accepted by"). A noun
after "be" is the noun ("capital of"), with "is a" before a class and "is" before a name.
"""

from tasks.rules.clauses import NEGATIONS, Clause
from tasks.rules.tree import Tree
from tasks.values.value import listed

SILENT = frozenset(listed("be have do will would shall"))
VAGUE = frozenset(
    listed("have be do get go say tell think believe know see seem appear want try need mean")
)
ALWAYS_VAGUE = frozenset(["involve", "relate", "concern", "associate", "regard", "affect"])
VAGUE_ADJECTIVES = frozenset(["related", "associated", "concerned", "involved", "due", "able"])
# With one of these a vague verb says something after all: "come from", "known as".
TELLING = frozenset(listed("from as by for into with in at to of on after against"))


def relation_of(tree: Tree, clause: Clause, marks: list[int], between: list[int]) -> str:
    """Return the relation of a clause: verb, words of the object in between, preposition."""
    words: list[str] = []
    last = max((t for t in clause.verb if tree.pos[t] == "VERB"), default=clause.predicate)
    for token in clause.verb:
        lower = tree.lower[token]
        if lower in NEGATIONS:
            words.append("not")
        elif tree.dep[token] in ("aux", "aux:pass", "cop"):
            if tree.lemma[token].lower() not in SILENT:
                words.append(lower)
        elif clause.passive and token == last:
            words.append(lower)
        else:
            words.append(lower if tree.dep[token] == "mark" else tree.lemma[token].lower())
    words += [tree.words[token] for token in between]
    words += [tree.lower[token] for token in marks]
    return " ".join(words)


def is_vague(tree: Tree, clause: Clause, marks: list[int]) -> bool:
    """Whether a predicate is too vague for a triple ("have", "involve")."""
    if clause.kind != "verb":
        return False
    verbs = [t for t in clause.verb if tree.pos[t] == "VERB"]
    lemma = tree.lemma[verbs[-1]].lower() if verbs else ""
    if lemma in ALWAYS_VAGUE:
        return True
    if lemma not in VAGUE:
        return False
    return not any(tree.lower[mark] in TELLING for mark in marks)
