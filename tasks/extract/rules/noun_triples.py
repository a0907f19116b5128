"""Triples from nouns: classes, roles and attributes, by "be", apposition or possession."""

from collections.abc import Iterator

from tasks.extract.rules.attachments import KIN
from tasks.extract.rules.clauses import Clause
from tasks.extract.rules.kinds import FELLOWS
from tasks.extract.rules.lexicon import OFFICE_IN_FULL, OFFICES
from tasks.extract.rules.noun_phrases import (
    Called,
    call,
    called_by_name,
    conjuncts,
    core_phrase,
    members,
    possessors,
    without_determiner,
)
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.rules.repairs import CALENDAR_NOUNS
from tasks.extract.rules.tree import Tree
from tasks.extract.rules.triple import SORTS, RuleTriple, head_in, tail_of, triple_of, triples_to
from tasks.text.languages import word_set

LONGEST_ROLE = 5
FORMER = word_set("former ex outgoing then late")
DEGREES = word_set("more most less least")
MEASURES = {
    "long": "length", "high": "height", "tall": "height", "wide": "width", "deep": "depth",
    "old": "age", "heavy": "weight",
}  # fmt: skip
RELATING = word_set("of to between")
NO_CLASSES = CALENDAR_NOUNS | FELLOWS | OFFICES
VAGUE_ADJECTIVES = word_set("related associated concerned involved due able")


def of_copula(passage: ParsedPassage, clause: Clause, subject: int) -> Iterator[RuleTriple]:
    """Yield the triples of a clause with "be" for one of its subjects."""
    tree = passage.tree
    predicative = next(c for c in clause.complements if c.role == "predicative")
    # The relation "is a" would state more than "can be a".
    if clause.negated or any(tree.tag[token] == "MD" for token in clause.verb):
        return
    for noun in conjuncts(tree, predicative.head):
        # "The son of X and Y": the parser took Y for a second predicate.
        if noun in passage.entities and predicative.head not in passage.entities:
            continue
        if (tree.tag[noun] == "NNS") != (tree.tag[predicative.head] == "NNS"):
            continue
        if tree.child(noun, "nummod") is not None and len(conjuncts(tree, clause.subject)) > 1:
            continue  # "X, Y and Z are three ways"
        marks = predicative.marks if noun == predicative.head else []
        # "Its capital is Y" names the capital; "her mother was a teacher" names no mother.
        a_kind = any(tree.lower[c] in ("a", "an") for c in tree.children[noun])
        placed = any(tree.pos[m] == "ADP" for m in marks) and noun not in passage.entities
        attributes = [] if a_kind or placed else list(of_attribute(passage, clause, subject, noun))
        yield from attributes
        named = clause.subject in passage.entities | passage.referents
        if named and tree.pos[noun] == "NUM" and tree.child(noun, "nmod") is None:
            continue  # "she was 16"
        head = head_in(passage, clause, subject)
        if head is None or marks or (attributes and not head.named):
            continue
        if tree.pos[noun] in ("ADJ", "ADV") and tree.child(noun, "det") is None:
            yield from _of_adjective(passage, clause, head, noun)
        elif tree.pos[noun] in ("NOUN", "PROPN", "NUM", "ADJ", "SYM"):
            yield from _of_class(passage, clause, head, noun)


def _of_class(
    passage: ParsedPassage, clause: Clause, head: Called, noun: int
) -> Iterator[RuleTriple]:
    tree = passage.tree
    named = noun in passage.entities
    core = without_determiner(passage, core_phrase(tree, noun))
    if named or head.term:
        tail = call(passage, noun)
    elif core:
        tail = Called(tree.join(core), "", core, named=False)
    roles = [] if named else list(_of_role(passage, clause, head, noun, core))
    sort = tree.lemma[noun].lower() in SORTS
    definite = any(tree.lower[c] == "the" for c in tree.children[noun])
    # "The founder of X" is complete; "the founder" lacks of what, and "the app that" which one.
    which = tree.child(noun, "acl:relcl") is not None
    bare = definite and not named and (roles or len(core) == 1 or which)
    bare = bare or (not named and _is_relational(tree, noun))
    if (named or core) and tail is not None and not sort and not bare:
        relation = "is" if head.term or named else "is the" if definite else "is a"
        yield triple_of(_rule(clause), passage, clause, head, relation, tail)
    yield from roles


def _is_relational(tree: Tree, noun: int) -> bool:
    """Return whether a noun is incomplete without its complement: "a component of X"."""
    return any(
        tree.dep[child] == "nmod" and tree.lower[mark] in RELATING
        for child in tree.children[noun]
        if child > noun
        for mark in tree.children[child]
        if tree.dep[mark] == "case"
    )


def _of_role(
    passage: ParsedPassage, clause: Clause, head: Called, noun: int, core: list[int]
) -> Iterator[RuleTriple]:
    """Yield triples with relations like "capital of" and "physicist at" for a predicative noun."""
    tree = passage.tree
    for child in _modifiers(passage, noun):
        if len(core) > LONGEST_ROLE:
            return
        marks = [c for c in tree.children[child] if tree.dep[c] == "case" and c < child]
        relation = f"{tree.join(core)} {' '.join(tree.lower[m] for m in marks)}"
        things = members(tree, child, marks) if marks else []
        yield from triples_to(things, _rule(clause), passage, clause, head, relation)
        core = core + tree.subtree(child)  # "first point of contact for X"


def _modifiers(passage: ParsedPassage, noun: int) -> list[int]:
    """Return the modifiers behind a noun, with those of "the founder and president of X".

    The parser gave them to one of the two.
    """
    tree = passage.tree
    own = [c for c in tree.children[noun] if tree.dep[c] == "nmod" and c > noun]
    if own:
        return own
    if tree.dep[noun] == "conj":
        beside = tree.children[tree.head[noun]]
        last = min((c for c in beside if c > noun and tree.dep[c] == "conj"), default=None)
        return [
            c for c in beside if c > noun and tree.dep[c] == "nmod" and (last is None or c < last)
        ]
    others = [c for c in tree.children[noun] if tree.dep[c] == "conj"]
    article = tree.child(noun, "det")
    if not others or article is None or tree.lower[article] != "the":
        return []
    last = others[-1]
    shared = last not in passage.entities and tree.child(last, "det") is None
    return possessors(passage, last) if shared else []


def _of_adjective(
    passage: ParsedPassage, clause: Clause, head: Called, adjective: int
) -> Iterator[RuleTriple]:
    """Yield the triples of an adjective: "is famous for X", "is 30 km long", "is less warm than Y".

    Without its degree the last one would say the opposite.
    """
    tree = passage.tree
    degree = [c for c in tree.children[adjective] if c < adjective and tree.lower[c] in DEGREES]
    for complement in clause.complements:
        if tree.lower[adjective] in VAGUE_ADJECTIVES:
            return
        if complement.role == "oblique" and complement.marks:
            tail = tail_of(passage, complement.head)
            if tail is not None:
                words = [tree.lower[t] for t in (*degree, adjective, *complement.marks)]
                yield triple_of("predicative", passage, clause, head, " ".join(words), tail)
    if measure := MEASURES.get(tree.lower[adjective]):
        labels = ("obl:unmarked", "nmod:unmarked", "obl", "nummod")
        sizes = [c for c in tree.children[adjective] if tree.dep[c] in labels]
        yield from triples_to(sizes, "predicative", passage, clause, head, measure)


def of_attribute(
    passage: ParsedPassage, clause: Clause, subject: int, noun: int
) -> Iterator[RuleTriple]:
    """Yield triples whose relation is an attribute: "X's capital is Y", "the capital of X is Y"."""
    tree = passage.tree
    if subject in passage.entities or tree.pos[subject] != "NOUN":
        return
    for child in possessors(passage, subject):
        owner = call(passage, child)
        tail = call(passage, noun) if tree.pos[noun] not in ("VERB", "AUX") else None
        core = [t for t in core_phrase(tree, subject) if t not in tree.subtree(child)]
        core = without_determiner(passage, core)
        if owner is not None and owner.named and tail is not None and 0 < len(core) <= 4:
            yield triple_of(_rule(clause), passage, clause, owner, tree.join(core), tail)


def of_phrases(passage: ParsedPassage) -> Iterator[RuleTriple]:
    """Yield triples from appositions, titles and places.

    Examples: "X, the capital of Y", "the physicist X", "Idaho Gov. X" and "Ottawa, Canada".
    """
    tree = passage.tree
    for token, label in enumerate(tree.dep):
        above = tree.head[token]
        inner = place_inside(passage, token) if label == "appos" else None
        if inner is not None:
            head, tail = call(passage, inner), call(passage, token)
            if head is not None and tail is not None:
                clause = Clause("apposition", token, inner)
                yield triple_of("apposition", passage, clause, head, "located in", tail)
        elif label == "appos" and _has_comma(tree, above, token):
            yield from _of_apposition(passage, above, token)
        elif (
            label == "nmod:desc"
            and tree.pos[token] == "NOUN"
            and tree.lower[token] not in NO_CLASSES
        ):
            head = call(passage, above)
            if tree.child(token, "nmod:poss") is not None:
                yield from _of_apposition(passage, above, token)
            elif tree.lower[token] in KIN:
                continue  # Father Tom Hale
            elif head is not None and head.named and token not in head.tokens:
                tail = Called(tree.lower[token], "", [token], named=False)
                clause = Clause("apposition", token, above)
                yield triple_of("apposition", passage, clause, head, "is a", tail)
    for name in passage.names:
        yield from _of_office(passage, name)


def place_inside(passage: ParsedPassage, outer: int) -> int | None:
    """Return the place before the comma in "Ottawa, Canada"; None in a list of places."""
    tree, second = passage.tree, passage.entities.get(outer)
    comma = second.first - 1 if second else 0
    first = passage.entities.get(comma - 1) if comma > 0 and tree.words[comma] == "," else None
    if first is None or second is None or passage.kind(second.name) != "place":
        return None
    if _is_listed(passage, first, second):
        return None
    return first.first if passage.kind(first.name) == "place" else None


def _is_listed(passage: ParsedPassage, first: NameSpan, second: NameSpan) -> bool:
    """Return whether two names are part of a list.

    In a list, "and" or "or" follows, or there are more names than an address has.
    """
    tree, names = passage.tree, passage.entities
    chain = 2
    while tree.words[first.first - 1] == "," and first.first - 2 in names:
        first, chain = names[first.first - 2], chain + 1
    while tree.words[second.last : second.last + 1] == [","] and second.last + 1 in names:
        second, chain = names[second.last + 1], chain + 1
    behind = tree.lower[second.last : second.last + 2]
    joined = behind[1:] if behind[:1] == [","] else behind[:1]
    return chain > 3 or joined in (["and"], ["or"])


def _of_office(passage: ParsedPassage, name: NameSpan) -> Iterator[RuleTriple]:
    """Yield "governor of" for "Idaho Gov. Cecil Andrus" and "CEO of" for "Apple CEO Tim Cook"."""
    tree, office = passage.tree, name.first - 1
    if office < 0 or tree.lower[office] not in OFFICES or passage.kind(name.name) != "person":
        return
    word = tree.words[office] if tree.words[office].isupper() else tree.lower[office]
    word = OFFICE_IN_FULL.get(word, word)
    head = called_by_name(passage, name.name, range(name.first, name.last))
    clause = Clause("apposition", office, name.first)
    behind = office - 1 - (tree.lower[office - 1] == "'s")
    start, _ = passage.sentence_of(office)
    if not FORMER.isdisjoint(tree.lower[max(start, office - LONGEST_ROLE) : office]):
        word = f"former {word}"
    owner = call(passage, behind) if behind in passage.entities else None
    if owner is not None and owner.named and owner.kind != "person":
        yield triple_of("apposition", passage, clause, head, f"{word} of", owner)
    elif tree.dep[office - 1] not in ("compound", "amod"):
        tail = Called(word, "", [office], named=False)
        yield triple_of("apposition", passage, clause, head, "is a", tail)


def _has_comma(tree: Tree, name: int, noun: int) -> bool:
    """Return whether only commas separate an apposition from its noun.

    Dashes and colons belong to lists.
    """
    words = (token for token in tree.subtree(noun) if tree.pos[token] not in ("PUNCT", "SPACE"))
    first = next(words, noun)
    marks = {tree.words[token] for token in range(name + 1, first) if tree.pos[token] == "PUNCT"}
    return marks == {","}


def _of_apposition(passage: ParsedPassage, first: int, second: int) -> Iterator[RuleTriple]:
    tree = passage.tree
    if (first in passage.entities) == (second in passage.entities):
        return
    name, noun = (first, second) if first in passage.entities else (second, first)
    head = call(passage, name)
    if head is None or tree.pos[noun] != "NOUN":
        return
    clause = Clause("apposition", noun, name)
    if tree.child(noun, "nmod:poss") is not None:
        yield from of_attribute(passage, clause, noun, name)
    else:
        yield from _of_class(passage, clause, head, noun)


def _rule(clause: Clause) -> str:
    return "apposition" if clause.kind == "apposition" else "predicative"
