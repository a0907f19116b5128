"""Clauses: predicates with their arguments, read off a dependency tree (after ClausIE, WWW 2013).

A clause is a predicate with its verb group, one subject and its complements. Subjects are found
through passives, relative pronouns, coordination and control; verbs in a chain ("began to work")
form one predicate.
"""

from dataclasses import dataclass, field

from tasks.extract.rules.tree import Tree
from tasks.text.english_words import is_base_verb
from tasks.text.function_words import NEGATORS
from tasks.text.languages import word_set

SUBJECTS = ("nsubj", "nsubj:pass", "nsubj:outer")
RELATIVES = word_set("who which that whom")
# Dependents of a noun that tell which of its kind is meant.
NARROWING = word_set("nmod acl acl:relcl")
FINITE = frozenset(["VBD", "VBZ", "VBP", "MD"])
PREDICATE_LABELS = word_set(
    "ROOT conj ccomp advcl advcl:relcl acl acl:relcl parataxis xcomp csubj csubj:pass appos dep"
)
ORDERING = word_set("please always never only just simply then also do not n't")
ROLES = {
    "obj": "object", "iobj": "indirect", "ccomp": "clause", "xcomp": "clause",
    "advcl": "adverbial", "advmod": "adverb",
}  # fmt: skip
# Adverbs that are particles right behind a verb: "passed away", "put forward", "moved back".
PARTICLES = word_set("aside ahead apart away back down forward home off on out over together up")
OBLIQUES = word_set("obl obl:agent obl:unmarked nmod:unmarked")


@dataclass(slots=True)
class Complement:
    """A complement or adjunct of a predicate, with the prepositions before it."""

    role: str
    head: int
    marks: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Clause:
    """One predicate with one subject; `subject_from` tells how the subject was found."""

    kind: str
    predicate: int
    subject: int
    subject_from: str = "own"
    verb: list[int] = field(default_factory=list)
    complements: list[Complement] = field(default_factory=list)
    passive: bool = False
    negated: bool = False


def find_clauses(tree: Tree) -> list[Clause]:
    """Return the clauses of all sentences in the order of their predicates."""
    linked = {tree.head[token] for token, label in enumerate(tree.dep) if label == "cop"}
    places = (t for t, label in enumerate(tree.dep) if label in PREDICATE_LABELS or t in linked)
    clauses = (_clause(tree, t) for t in places if _is_predicate(tree, t))
    return [clause for clause in clauses if clause is not None]


def find_instructions(tree: Tree) -> list[Clause]:
    """Return the clauses that instruct the reader: "Never use tabs"."""
    return [
        Clause(
            kind="verb",
            predicate=token,
            subject=token,
            subject_from="implied",
            verb=_verb_group(tree, token),
            complements=_complements(tree, token, -1),
            negated=any(tree.lower[c] in NEGATORS for c in tree.children[token]),
        )
        for first, last in tree.sentences
        for token in range(first, last)
        if _is_instruction(tree, token)
    ]


def has_two_subjects(tree: Tree, clause: Clause) -> bool:
    """Return whether the parser gave a verb several subjects before it, so that one is wrong.

    The parts of one name count as one subject.
    """
    verb = clause.predicate
    subjects = [c for c in tree.children[verb] if tree.dep[c] == "nsubj" and c < verb]
    words = tree.words[subjects[0] : subjects[-1] + 1] if len(subjects) > 1 else []
    return "," not in words and any(word[:1].islower() for word in words)


def _is_instruction(tree: Tree, token: int) -> bool:
    """Return whether a verb is an imperative that opens a sentence or follows a comma."""
    if tree.tag[token] != "VB" or not is_base_verb(tree.lower[token]):
        return False
    if tree.child(token, "obj", "obl") is None:
        return False
    if tree.dep[token] == "conj" and tree.head[token] < token:
        return _is_instruction(tree, tree.head[token]) and tree.child(token, *SUBJECTS) is None
    before = token - 1
    while before >= 0 and tree.lower[before] in ORDERING:
        before -= 1
    opens = any(before == first - 1 for first, _ in tree.sentences) or tree.words[before] == ","
    without = (*SUBJECTS, "expl", "cop", "aux:pass", "mark")
    return opens and tree.dep[token] == "ROOT" and tree.child(token, *without) is None


def _is_predicate(tree: Tree, token: int) -> bool:
    if _is_chained(tree, token):
        return False
    if tree.child(token, "cop") is not None:
        return True
    if tree.pos[token] in ("VERB", "AUX"):
        activity = tree.dep[token] == "conj" and tree.tag[token] == "VBG"
        if activity and tree.pos[tree.head[token]] == "NOUN":
            return False  # "a system for storing, querying"
        return tree.dep[token] != "appos"
    # A mistagged verb still has a verb's dependents.
    return tree.child(token, *SUBJECTS) is not None and (
        tree.child(token, "obj", "obl", "aux", "aux:pass", "xcomp", "ccomp") is not None
    )


def _is_chained(tree: Tree, token: int) -> bool:
    """Return whether a verb forms one predicate with the verb above it ("want to go").

    A verb in the past tense does not: parsers take the noun "wound" for one.
    """
    if (
        tree.dep[token] != "xcomp"
        or tree.tag[token] == "VBD"
        or tree.child(token, *SUBJECTS) is not None
    ):
        return False
    # "Became the first woman to serve": she became no "to serve".
    before = (c for c in tree.children[tree.head[token]] if c < token and tree.dep[c] == "xcomp")
    named = any(tree.pos[c] in ("NOUN", "PROPN") and not _marks(tree, c) for c in before)
    return not named and tree.child(tree.head[token], "obj", "iobj") is None


def _clause(tree: Tree, token: int) -> Clause | None:
    subject_and_origin = _subject(tree, token, 0)
    if subject_and_origin is None:
        return None
    subject, subject_from = subject_and_origin
    copular = tree.child(token, "cop") is not None
    existential = tree.child(token, "expl") is not None and tree.lemma[token] in ("be", "exist")
    verb = _verb_group(tree, token)
    alone = all(tree.dep[v] not in ("aux", "aux:pass") for v in verb)
    passive = (
        tree.child(token, "aux:pass") is not None
        or (subject_from == "participle" and tree.tag[token] in ("VBN", "VBD"))
        or (tree.tag[token] == "VBN" and alone and not copular)
    )
    return Clause(
        kind="copula" if copular else "existential" if existential else "verb",
        predicate=token,
        subject=subject,
        subject_from=subject_from,
        verb=verb,
        complements=_complements(tree, token, subject),
        passive=passive,
        negated=any(tree.lower[v] in NEGATORS for v in verb),
    )


def _subject(tree: Tree, token: int, depth: int) -> tuple[int, str] | None:
    """Return the subject's head and how it was found: own, relative, shared, controlled, …"""
    if depth > 8:
        return None
    label, above = tree.dep[token], tree.head[token]
    own = tree.child(token, *SUBJECTS)
    if own is not None:
        if tree.lower[own] in RELATIVES and label != "ROOT":
            return _antecedent(tree, token, own)
        return own, "own"
    if label == "conj":
        shared = _subject(tree, above, depth + 1)
        return shared and (shared[0], "shared" if shared[1] == "own" else shared[1])
    if label == "acl":
        return above, "participle"
    if label == "acl:relcl":
        return above, "relative"
    if label == "xcomp":
        controlled = tree.child(above, "obj", "iobj")
        if controlled is not None:
            return controlled, "controlled"
    if label in ("xcomp", "advcl", "ccomp"):
        shared = _subject(tree, above, depth + 1)
        return shared and (shared[0], "controlled")
    return None


def _antecedent(tree: Tree, token: int, pronoun: int) -> tuple[int, str] | None:
    """Return the antecedent of a relative pronoun, and how it was found."""
    if tree.dep[token] in ("acl:relcl", "acl"):
        return tree.head[token], "relative"
    if tree.dep[token] == "conj":
        shared = _subject(tree, tree.head[token], 1)
        return shared and (shared[0], "relative")
    # Parsers often attach "X, who ..." to the verb before: take the nearest noun to the left.
    for candidate in range(pronoun - 1, max(pronoun - 4, -1), -1):
        if tree.pos[candidate] in ("NOUN", "PROPN"):
            parts = ("compound", "flat", "nmod:desc")
            while tree.dep[candidate] in parts and tree.head[candidate] < pronoun:
                candidate = tree.head[candidate]
            return candidate, "relative"
    return None


def _verb_group(tree: Tree, token: int) -> list[int]:
    """Return auxiliaries, negation, particles and the verb (or the copula), in order."""
    copular = tree.child(token, "cop") is not None
    group = [] if copular else [token]
    group += [
        child
        for child in tree.children[token]
        if tree.dep[child] in ("aux", "aux:pass", "cop", "compound:prt")
        or (tree.dep[child] == "advmod" and tree.lower[child] in NEGATORS)
        or _is_particle(tree, child)
    ]
    if not any(tree.dep[t] in ("aux", "aux:pass") for t in group):
        group.extend(_shared_auxiliaries(tree, token))
    for child in tree.children[token]:
        if tree.dep[child] == "xcomp" and _is_chained(tree, child) and _is_verbal(tree, child):
            group.extend(c for c in tree.children[child] if tree.dep[c] == "mark")
            group.extend(_verb_group(tree, child))
    return sorted(set(group))


def _is_particle(tree: Tree, token: int) -> bool:
    """Return whether an adverb without words of its own changes what the verb before it says."""
    verb = tree.head[token]
    beside = tree.dep[token] == "advmod" and verb == token - 1 and tree.pos[verb] == "VERB"
    return beside and tree.lower[token] in PARTICLES and not tree.children[token]


def _is_verbal(tree: Tree, token: int) -> bool:
    return tree.pos[token] == "VERB" or tree.child(token, "cop") is not None


def _shared_auxiliaries(tree: Tree, token: int) -> list[int]:
    """Return the auxiliaries and negation shared by coordinated verbs: "was born and raised"."""
    above = tree.head[token]
    if tree.dep[token] != "conj" or tree.child(token, *SUBJECTS, "cop") is not None:
        return []
    if tree.tag[token] not in ("VBN", "VBG", "VB") or tree.tag[above] != tree.tag[token]:
        return []
    return [
        c
        for c in tree.children[above]
        if c < token and (tree.dep[c] in ("aux", "aux:pass") or tree.lower[c] in NEGATORS)
    ]


def _complements(tree: Tree, token: int, subject: int) -> list[Complement]:
    """Return the objects, obliques and clauses of a predicate and of the verbs chained to it."""
    complements: list[Complement] = []
    if tree.child(token, "cop") is not None:
        complements.append(Complement("predicative", token, _marks(tree, token)))
    for child in tree.children[token]:
        if child != subject:
            complements += _of_dependent(tree, child)
    if all(c.role in ("adverb", "adverbial", "time", "oblique") for c in complements):
        complements.extend(_shared(tree, token))
    return complements


def _of_dependent(tree: Tree, child: int) -> list[Complement]:
    """Return a dependent as a complement, or the complements of a chained verb."""
    label, marks = tree.dep[child], _marks(tree, child)
    if label == "xcomp" and _is_chained(tree, child):
        verbal = _is_verbal(tree, child)
        return (
            _complements(tree, child, -1) if verbal else [Complement("predicative", child, marks)]
        )
    if label in OBLIQUES:
        role = "agent" if label == "obl:agent" else "oblique" if marks else "time"
        return [Complement(role, child, marks)]
    if label not in ROLES or (label == "advmod" and tree.lower[child] in NEGATORS):
        return []
    return [Complement(ROLES[label], child, marks if label == "advcl" else [])]


def _marks(tree: Tree, token: int) -> list[int]:
    """Return the prepositions or conjunctions before a dependent, with their fixed parts."""
    marks: list[int] = []
    for child in tree.children[token]:
        if tree.dep[child] == "cc" and child < token and marks:
            break  # "created by and for X"
        if tree.dep[child] in ("case", "mark") and child < token:
            marks.append(child)
            marks.extend(c for c in tree.children[child] if tree.dep[c] == "fixed")
    return sorted(marks)


def _shared(tree: Tree, token: int) -> list[Complement]:
    """Return the object or agent that coordinated verbs share.

    It follows the last verb: "founded and led X", "written and led by X". A passive shares no
    object: "is stained and shows X".
    """
    first = tree.head[token] if tree.dep[token] == "conj" else token
    verbs = [first, *(c for c in tree.children[first] if _is_coordinate(tree, c))]
    last = verbs[-1]
    own = ("advmod", "compound", "aux", "aux:pass")
    inside = {c for verb in verbs for c in tree.children[verb] if tree.dep[c] in own}
    between = {*range(verbs[0], last)} - inside - {*verbs}
    if token not in verbs or any(tree.dep[t] not in ("cc", "punct") for t in between):
        return []
    for child in (c for verb in verbs for c in tree.children[verb] if c > last):
        if tree.dep[child] == "obj" and tree.child(token, "aux:pass") is None:
            return [Complement("object", child)]
        passive = all(tree.tag[verb] in ("VBN", "VBD") for verb in verbs)
        if tree.dep[child] == "obl:agent" and passive:
            return [Complement("agent", child, _marks(tree, child))]
    return []


def _is_coordinate(tree: Tree, token: int) -> bool:
    """Return whether a verb is coordinated with the one above, without a subject of its own."""
    verbal = tree.dep[token] == "conj" and tree.pos[token] == "VERB"
    return verbal and tree.child(token, *SUBJECTS) is None
