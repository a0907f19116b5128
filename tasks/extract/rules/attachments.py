"""Repairs of words that the parser attached to the wrong word, where the grammar tells which."""

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise

from tasks.extract.rules.clauses import FINITE, RELATIVES, SUBJECTS
from tasks.extract.rules.lexicon import KEEPING_OBJECT, KIND_OF_NOUN, OFFICES
from tasks.extract.rules.tree import Tree
from tasks.text.languages import word_set

CONJOINING = word_set("after before until since as than")
AGREEING = {"VBZ": "NN", "VBP": "NNS"}  # the number of a verb in the present and of its noun
LONGEST_CHAIN = 3
SELF = ("self", "selves")
GIVING = KEEPING_OBJECT | {"cost"}
POSTS = word_set("executive chief chair head partner owner member")  # some hold them as a group
HOLDERS = OFFICES | {noun for noun, kind in KIND_OF_NOUN.items() if kind == "person"}
KIN = word_set("son daughter child brother sister father mother husband wife widow widower")
PLACES = ("LOC", "GPE", "FAC")
CLAUSAL = word_set("nsubj nsubj:pass obj obl obl:agent nmod conj")
PARTS = word_set("compound flat amod nmod:desc nmod:unmarked")
HYPHENS = ("-", "‐", "‑", "–")
LIMIT = re.compile(
    r"\b(?:up to|at least|at most|(?:no|not) (?:later|earlier|more|less|fewer) than|"
    r"(?:more|less|fewer) than|as (?:many|much|few) as)(?=\s+(?:[$€£]\s?)?(?:\d|a |an |one |two |"
    r"three |four |five |six |seven |eight |nine |ten |twelve ))",
    re.IGNORECASE,
)


def hang(tree: Tree, token: int, head: int, label: str) -> None:
    """Attach a token to another head, unless that head is one of its descendants."""
    above = head
    while above != token and tree.head[above] != above:
        above = tree.head[above]
    if above != token:
        tree.head[token], tree.dep[token] = head, label


def _give_subjects(tree: Tree) -> None:
    """Make the noun before a finite verb its subject: "paid after a request has been checked".

    The parser took the conjunction for a preposition, and the verb for a conjunct of the first
    verb.
    """
    for verb, label in enumerate(tree.dep):
        auxiliaries = [c for c in tree.children[verb] if tree.dep[c] in ("aux", "aux:pass")]
        first = min(auxiliaries, default=verb)
        if label != "conj" or tree.tag[first] not in FINITE:
            continue
        around = (c for c in tree.children[tree.head[verb]] if tree.dep[c] == "obl")
        noun = next((c for c in around if tree.subtree(c)[-1] + 1 == first), verb)
        mark = tree.child(noun, "case")
        if mark is None or tree.lower[mark] not in CONJOINING:
            continue
        if tree.child(verb, *SUBJECTS, "cc") is None:
            hang(tree, noun, verb, "nsubj:pass" if tree.child(verb, "aux:pass") else "nsubj")
            hang(tree, mark, verb, "mark")
            tree.dep[verb] = "advcl"


def _hang_limits(tree: Tree) -> None:
    """Attach "up to" and "no later than" to the number that they limit."""
    for match in LIMIT.finditer(tree.text):
        first, last = bisect_left(tree.start, match.start()), bisect_right(tree.end, match.end())
        if not 0 < last - first <= 3 or last >= len(tree.words):
            continue
        limit, number = range(first, last), last
        noun = number
        while tree.head[noun] > noun and tree.dep[noun] in ("nummod", "compound", "det", "amod"):
            noun = tree.head[noun]
        for token in limit:
            for child in tree.children[token]:
                if child not in limit and child != noun:
                    hang(tree, child, noun, tree.dep[child])
            hang(tree, token, number, "advmod")
            tree.pos[token] = "ADV"
        after = next((t for t in range(noun + 1, len(tree.words)) if tree.pos[t] != "SPACE"), noun)
        step = tree.head[after]
        if tree.lower[after] in ("after", "before") and step > noun:
            hang(tree, step, noun, "nmod")
        tree.index()


def _hang_denials(tree: Tree) -> None:
    """Attach to "is" the "not" that the parser gave to the noun: "there isn't a lift"."""
    for token, word in enumerate(tree.lower):
        noun, verb = tree.head[token], token - 1
        if word in ("not", "n't") and tree.dep[noun] in SUBJECTS and tree.head[noun] == verb:
            tree.head[token], tree.dep[token] = verb, "advmod"
    tree.index()


def _hang_ages(tree: Tree) -> None:
    """Make one phrase of "aged 69", beside what the parser attached to its number."""
    for number in range(1, len(tree.words)):
        aged, verb = number - 1, tree.head[number - 1]
        if tree.lower[aged] != "aged" or tree.pos[number] != "NUM" or tree.pos[verb] != "VERB":
            continue
        for child in (*tree.children[number], *tree.children[aged]):
            if child > number:
                hang(tree, child, verb, "obl" if tree.dep[child] == "nmod" else tree.dep[child])
        hang(tree, number, aged, "nummod")
        tree.dep[aged] = "obl:unmarked"
        tree.index()


def _hang_owners(tree: Tree) -> None:
    """Attach an owner with 's to the noun after it where the parser made both objects."""
    for sign, owner in enumerate(tree.head):
        noun = next((c for c in tree.children[tree.head[owner]] if c > sign), owner)
        twins = noun != owner < sign and tree.dep[owner] == tree.dep[noun] in CLAUSAL
        if twins and tree.tag[sign] == "POS" and tree.subtree(noun)[0] == sign + 1:
            tree.head[owner], tree.dep[owner] = noun, "nmod:poss"
            tree.index()


def _part_labels(tree: Tree) -> None:
    """Make no subject of a label: "Lake Trust - Mr Lund left", "5. Grounds It was agreed".

    It stands before a dash, or right before a pronoun that is the subject.
    """
    for verb in range(len(tree.words)):
        subjects = [c for c in tree.children[verb] if tree.dep[c] in SUBJECTS and c < verb]
        for label, subject in pairwise(subjects):
            words = (t for t in tree.subtree(subject) if tree.pos[t] != "PUNCT")
            first = next(words, subject)
            dash = tree.words[first - 1] in (*HYPHENS, "—") and not tree.touches(first - 1)
            plain = tree.tag[subject] == "PRP" and not tree.lower[subject].endswith(SELF)
            if dash or (plain and first == tree.subtree(label)[-1] + 1):
                tree.dep[label] = "dislocated"


def _hang_relatives(tree: Tree) -> None:
    """Attach a relative clause to the noun that agrees with its verb: "a deal of firms that ends".

    The parser attached it to the nearer noun, whose number differs.
    """
    for verb, label in enumerate(tree.dep):
        verbs = [c for c in tree.children[verb] if tree.dep[c] in ("aux", "aux:pass", "cop")]
        tag = tree.tag[min([*verbs, verb])]
        subject = tree.child(verb, *SUBJECTS)
        if label != "acl:relcl" or tag not in AGREEING or subject is None:
            continue
        noun, wanted = tree.head[verb], AGREEING[tag]
        if tree.lower[subject] not in RELATIVES or tree.tag[noun] not in AGREEING.values():
            continue
        for _ in range(LONGEST_CHAIN):
            if tree.tag[noun] == wanted and tree.child(noun, "conj") is None:
                hang(tree, verb, noun, label)
                tree.index()
                break
            if tree.dep[noun] not in ("nmod", "nmod:poss") or tree.head[noun] > noun:
                break
            noun = tree.head[noun]


def _hang_classes(tree: Tree) -> None:
    """Attach "a mining company" to the name right before it: "the director of X, a mining company".

    The parser made it an object as well, or gave it to a noun of whose kind it cannot be.
    """
    for noun, label in enumerate(tree.dep):
        article, above = tree.child(noun, "det"), tree.head[noun]
        if article is None or tree.lower[article] not in ("a", "an"):
            continue
        name = article - 2
        if tree.words[article - 1] != "," or name <= above or tree.pos[name] != "PROPN":
            continue
        while tree.dep[name] in PARTS and tree.pos[tree.head[name]] == "PROPN":
            name = tree.head[name]
        if tree.child(noun, "cc", "case", "conj", *SUBJECTS) is not None or name == above:
            continue
        twins = label == tree.dep[name] == "obj" and above == tree.head[name]
        strange = label in ("appos", "conj") and _is_of_other_kind(tree, noun)
        if twins or strange or label == "nmod":
            hang(tree, noun, name, "appos")
            tree.index()


def _hang_origins(tree: Tree) -> None:
    """Attach to a subject "Ann, of Ulm, left" and "Ann was born in Ulm, the daughter of Bob"."""
    places = {t for first, last, label in tree.names if label in PLACES for t in range(first, last)}
    for token, label in enumerate(tree.dep):
        above, case = tree.head[token], tree.child(token, "case")
        child = label == "appos" and above in places and tree.lower[token] in KIN
        early = label == "obl" and token < above and case is not None and tree.lower[case] == "of"
        while child and above in places and tree.head[above] != above:
            above = tree.head[above]
        subject = tree.child(above, *SUBJECTS)
        if (child or early) and subject is not None and subject < token:
            hang(tree, token, subject, label if child else "nmod")
            tree.index()


def _is_of_other_kind(tree: Tree, noun: int) -> bool:
    """Return whether a noun tells no person, as what it belongs to or another noun of that does."""
    above = tree.head[noun]
    others = [above, *(c for c in tree.children[above] if c < noun and tree.dep[c] == "appos")]
    own = KIND_OF_NOUN.get(tree.lower[noun], "person")
    return own != "person" and any(tree.lower[other] in HOLDERS | POSTS for other in others)


def _part_objects(tree: Tree) -> None:
    """Make the first of two objects without a comma indirect: "cost the bank £75 million"."""
    for second, label in enumerate(tree.dep):
        verb, money = tree.head[second], tree.tag[second] == "$"
        gives = tree.lemma[verb].lower() in GIVING and tree.child(second, "nummod") is not None
        fits = (label == "obj" and (money or gives)) or (label == "parataxis" and money)
        objects = [c for c in tree.children[verb] if tree.dep[c] == "obj" and verb < c < second]
        if not fits or not objects or tree.pos[verb] != "VERB":
            continue
        last = tree.subtree(second)[0] - 1
        other = next((c for c in objects if tree.subtree(c)[-1] == last), None)
        # A bare singular is a verb taken for a noun: "helped unlock $500 million".
        if other is not None and (tree.tag[other] != "NN" or tree.children[other]):
            tree.dep[other], tree.dep[second] = "iobj", "obj"


ATTACHMENTS = (
    _hang_limits,
    _give_subjects,
    _hang_denials,
    _hang_ages,
    _hang_owners,
    _part_labels,
    _hang_relatives,
    _hang_classes,
    _hang_origins,
    _part_objects,
)
