"""Small repairs of parses where grammar leaves no doubt."""

import re

from tasks.rules.tree import Tree
from tasks.values.value import listed

DATE_MARKS = frozenset(["in", "on", "since", "from", "until", "till", "during", "between"])
MONTHS = frozenset(
    listed("january february march april may june july august september october november december")
)
YEAR = re.compile(r"1\d{3}|20\d\d|\d{4}s")
ARGUMENTS = frozenset(["obj", "obl", "xcomp", "obl:agent", "obl:unmarked", "iobj"])


def repair(tree: Tree) -> None:
    """Hang "in 1947" on the verb where the parser hung it on a noun after the verb."""
    changed = False
    for token, label in enumerate(tree.dep):
        if label in ("nmod", "nmod:unmarked") and _is_date(tree, token):
            verb = _verb_above(tree, tree.head[token])
            if verb is not None:
                tree.head[token] = verb
                tree.dep[token] = "obl"
                changed = True
    if changed:
        tree.index()


def _is_date(tree: Tree, token: int) -> bool:
    children = tree.children[token]
    dated = tree.lower[token] in MONTHS or YEAR.fullmatch(tree.words[token]) is not None
    if not dated and not any(tree.lower[c] in MONTHS for c in children):
        return False
    return any(tree.dep[c] == "case" and tree.lower[c] in DATE_MARKS for c in children)


def _verb_above(tree: Tree, noun: int) -> int | None:
    """Return the verb whose argument the noun is, directly or through "of" and the like."""
    for _ in range(3):
        head = tree.head[noun]
        if tree.dep[noun] in ARGUMENTS:
            return head if tree.pos[head] == "VERB" and head < noun else None
        if tree.child(noun, "cop") is not None:
            return noun
        if tree.dep[noun] not in ("nmod", "conj"):
            return None
        noun = head
    return None
