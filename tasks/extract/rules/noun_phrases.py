"""Noun phrases: the tokens that belong to a head noun, its conjuncts, and its canonical wording."""

from collections.abc import Iterable
from dataclasses import dataclass

from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.rules.tree import Tree
from tasks.text.function_words import ARTICLES, DEMONSTRATIVES, POSSESSIVES
from tasks.text.languages import word_set

SIDE_REMARKS = word_set(
    "acl:relcl appos parataxis ccomp advcl advcl:relcl discourse vocative dep orphan list"
)
CLAUSE_PARTS = word_set(
    "nsubj nsubj:pass nsubj:outer csubj csubj:pass cop aux aux:pass mark expl obj iobj xcomp"
)
OUTSIDE = CLAUSE_PARTS | word_set("case cc cc:preconj mark reparandum")
CORE_LABELS = word_set("compound flat amod nummod det nmod:desc fixed nmod:poss")


def conjuncts(tree: Tree, head: int) -> list[int]:
    """Return a head and its conjuncts in order, except clauses and negated ones."""
    heads = [head]
    for child in tree.children[head]:
        denied = any(tree.lower[c] in ("not", "never", "rather") for c in tree.children[child])
        is_clause = tree.child(child, "nsubj", "nsubj:pass", "cop") is not None
        if tree.dep[child] == "conj" and not is_clause and not denied:
            heads.extend(conjuncts(tree, child))
    return heads


def members(tree: Tree, head: int, marks: list[int]) -> list[int]:
    """Return the conjuncts after a preposition; none for "between A and B", which is one thing."""
    heads = conjuncts(tree, head)
    is_one = len(heads) > 1 and "between" in (tree.lower[mark] for mark in marks)
    return [] if is_one else heads


def is_one_of_several(tree: Tree, head: int) -> bool:
    """Return whether "or" joins a singular noun to others, so that another may be meant."""
    first = head
    while tree.dep[first] == "conj":
        first = tree.head[first]
    joined = (c for h in conjuncts(tree, first) for c in tree.children[h] if tree.dep[c] == "cc")
    return tree.tag[head] != "NNS" and any(tree.lower[c] == "or" for c in joined)


def core_phrase(tree: Tree, head: int) -> list[int]:
    """Return a head with its determiners, possessors, adjectives, compounds and numbers."""
    tokens = [head]
    for child in tree.children[head]:
        if tree.dep[child] in CORE_LABELS:
            tokens.extend(_below(tree, child, word_set("acl:relcl appos parataxis")))
    return _trimmed(tree, sorted(tokens))


def phrase_without(
    tree: Tree, head: int, dropped: frozenset[str] = OUTSIDE, after: int = -1
) -> list[int]:
    """Return a head's subtree after the token `after`.

    The head's own dependents with the labels `dropped` are left out.
    """
    return _trimmed(tree, [token for token in _below(tree, head, dropped) if token > after])


def _below(tree: Tree, head: int, dropped: frozenset[str]) -> list[int]:
    tokens = [head]
    for child in tree.children[head]:
        is_sign = tree.dep[child] == "punct" and not tree.words[child][0].isalnum()
        if tree.dep[child] not in dropped and (is_sign or tree.dep[child] != "punct"):
            tokens.extend(tree.subtree(child))
    return sorted(tokens)


def _trimmed(tree: Tree, tokens: list[int]) -> list[int]:
    """Drop punctuation and conjunctions at both ends, and punctuation next to a gap."""
    start, end = 0, len(tokens)
    while start < end and _is_loose(tree, tokens[start]):
        start += 1
    while end > start and _is_loose(tree, tokens[end - 1]):
        end -= 1
    return _without_lone_signs(tree, tokens[start:end])


def _is_loose(tree: Tree, token: int) -> bool:
    if tree.pos[token] == "SPACE" or tree.words[token] in (".", ",", ";", ":"):
        return True
    if tree.dep[token] == "cc":
        return True
    return tree.dep[token] == "punct" and tree.words[token] not in ("''", '"', "``", "%", "'", ")")


def _without_lone_signs(tree: Tree, tokens: list[int]) -> list[int]:
    """Drop commas and dashes whose neighbour on one side was dropped."""
    kept: list[int] = []
    present = set(tokens)
    for token in tokens:
        lonely = tree.dep[token] == "punct" and not (token - 1 in present and token + 1 in present)
        if not (lonely and tree.words[token] in (",", ";", ":", "--", "-", "(", "-LRB-")):
            kept.append(token)
    return kept


DETERMINERS = ARTICLES | DEMONSTRATIVES | {"its", "their"}
OWNERS = POSSESSIVES | {"whose"}
LONGEST_PHRASE = 12


@dataclass(slots=True)
class Called:
    """The wording of a noun phrase; `name` has no article, `named` is true of proper names.

    A `term` is a noun phrase without a possessor; only a value can be stated of it. A `general`
    phrase is generic: what is stated of it holds for all things or persons that it describes.
    """

    name: str
    kind: str
    tokens: list[int]
    named: bool
    resolved: bool = False
    term: bool = False
    general: bool = False


def call(passage: ParsedPassage, head: int) -> Called | None:
    """Return the wording of a head's phrase; None for pronouns without a safe antecedent."""
    tree = passage.tree
    referent = passage.referents.get(head)
    if referent:
        return called_by_name(passage, referent, (head,), resolved=True)
    name = passage.entities.get(head)
    if name is not None:
        return called_by_name(passage, name.name, range(name.first, name.last))
    if tree.pos[head] == "PRON" or tree.tag[head] in ("DT", "WDT", "WP", "EX"):
        return None
    tokens = without_determiner(passage, whole_phrase(passage, head))
    if not tokens:
        return None
    return Called(tree.join(tokens), "unknown", tokens, named=False)


def called_by_name(
    passage: ParsedPassage, name: str, tokens: Iterable[int] = (), *, resolved: bool = False
) -> Called:
    """Return a name as `Called`, with its kind in the passage."""
    return Called(name, passage.kind(name), list(tokens), named=True, resolved=resolved)


def possessors(passage: ParsedPassage, noun: int) -> list[int]:
    """Return a noun's possessors: "X" of "X's capital" and of "the capital of X"."""
    tree = passage.tree
    return [
        child
        for child in tree.children[noun]
        if (tree.dep[child] == "nmod:poss" and not passage.owns_within_name(child))
        or tree.dep[child] == "nmod"
        and [tree.lower[c] for c in tree.children[child] if tree.dep[c] == "case"] == ["of"]
    ]


def whole_phrase(passage: ParsedPassage, head: int) -> list[int]:
    """Return a phrase with all restrictive modifiers; empty if it is too long or has gaps."""
    tree = passage.tree
    aside = {
        child
        for child in tree.children[head]
        if tree.dep[child] in ("acl", "acl:relcl", "nmod") and _after_comma(tree, child)
    }
    dropped = OUTSIDE | SIDE_REMARKS - {"acl:relcl"} | {"conj"}
    tokens = phrase_without(tree, head, dropped)
    for child in aside:
        below = set(tree.subtree(child))
        tokens = _trimmed(tree, [token for token in tokens if token not in below])
    gapless = bool(tokens) and len(tokens) == tokens[-1] + 1 - tokens[0]
    return tokens if gapless and len(tokens) <= LONGEST_PHRASE else []


def _after_comma(tree: Tree, clause: int) -> bool:
    first = tree.subtree(clause)[0]
    return first > 0 and tree.words[first - 1] == "," or tree.words[first] == ","


def without_determiner(passage: ParsedPassage, tokens: list[int]) -> list[int]:
    """Drop the articles, demonstratives and possessive pronouns at the start."""
    tree = passage.tree
    start = 0
    while start < len(tokens) and (
        tree.lower[tokens[start]] in DETERMINERS or tree.lower[tokens[start]] in OWNERS
    ):
        start += 1
    return tokens[start:]
