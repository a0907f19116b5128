"""Small repairs of parses where grammar leaves no doubt."""

import re

from tasks.extract.rules.lexicon import OPENERS
from tasks.extract.rules.tree import Tree
from tasks.text.languages import word_set

DATE_MARKS = word_set("in on since from until till during between")
MONTHS = word_set(
    "january february march april may june july august september october november december"
)
YEAR = re.compile(r"1\d{3}|20\d\d|\d{4}s")
CALENDAR_NOUNS = word_set("year month day week century decade summer winter time")
CLAUSAL = word_set("nsubj nsubj:pass obj obl obl:agent nmod conj")
ARGUMENTS = word_set("obj obl xcomp obl:agent obl:unmarked iobj")


def repair(tree: Tree) -> None:
    """Mend what is certain: dates that belong to the verb, class nouns that belong to a name."""
    changed = _loosen_openers(tree)
    changed |= _join_class_nouns(tree)
    for token, label in enumerate(tree.dep):
        if label in ("nmod", "nmod:unmarked") and is_date(tree, token):
            verb = _verb_above(tree, tree.head[token])
            if verb is not None:
                tree.head[token] = verb
                tree.dep[token] = "obl"
                changed = True
    if changed:
        tree.index()


def _loosen_openers(tree: Tree) -> bool:
    """Make "Afterwards" an adverb where the parser took it for the first part of a name."""
    changed = False
    for opener, _ in tree.sentences:
        parts = [c for c in tree.children[opener] if tree.dep[c] in ("flat", "compound")]
        if tree.lower[opener] not in OPENERS or tree.pos[opener] != "PROPN" or not parts:
            continue
        first = parts[0]
        tree.dep[first] = tree.dep[opener]
        tree.head[first] = first if tree.head[opener] == opener else tree.head[opener]
        for child in tree.children[opener]:
            if child != first:
                tree.head[child] = first
        tree.head[opener], tree.dep[opener], tree.pos[opener] = tree.head[first], "advmod", "ADV"
        changed = True
    if changed:
        tree.index()
    return changed


def _join_class_nouns(tree: Tree) -> bool:
    """Hang "river" on "Danube" where the parser made the two one verb's arguments each."""
    changed = False
    for noun in range(len(tree.words) - 1):
        name = noun + 1
        while tree.dep[name] in ("flat", "compound") and tree.head[name] > name:
            name = tree.head[name]
        twins = tree.head[noun] == tree.head[name] and tree.dep[noun] == tree.dep[name]
        if (
            twins
            and tree.dep[noun] in CLAUSAL
            and tree.pos[noun] == "NOUN"
            and tree.pos[noun + 1] == tree.pos[name] == "PROPN"
            and tree.lower[noun] not in CALENDAR_NOUNS
        ):
            for child in tree.children[noun]:
                tree.head[child] = name
            tree.head[noun], tree.dep[noun] = name, "nmod:desc"
            changed = True
            tree.index()
    return changed


def is_date(tree: Tree, token: int) -> bool:
    """Whether a noun with its preposition tells a date: "in 1999", "on 3 May"."""
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
