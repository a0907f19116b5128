"""The wording of relations.

An active verb keeps its preposition ("worked at", "lies on"), a passive is its participle ("born
in", "founded by"); modals and "not" stay in front ("may cause", "not accepted by"). A predicative
noun is the relation itself ("capital of"), or the relation is "is a" or "is the" before a class and
"is" before a name. The tense is that of the text: past ("died in", "wrote") or present ("lies on"),
whether the text has "wrote", "has written" or "having written".
"""

from tasks.extract.rules.clauses import NEGATIONS, Clause
from tasks.extract.rules.tree import Tree
from tasks.text.english_words import verb_forms
from tasks.text.languages import word_set

SPELT_OUT = {"'ll": "will", "wo": "will", "ca": "can"}
SILENT = word_set("be have do would")
VAGUE = word_set("have be do get go say tell think believe know see seem appear want try need mean")
# Without these adverbs a fact would seem to hold today.
NO_LONGER = word_set("previously formerly originally initially")
ALWAYS_VAGUE = word_set("involve relate concern associate regard affect")
VAGUE_ADJECTIVES = word_set("related associated concerned involved due able")
# With one of these prepositions a vague verb is specific enough: "come from", "known as".
TELLING = word_set("from as by for into with in at to of on after against")


def relation_of(tree: Tree, clause: Clause, marks: list[int], between: list[int]) -> str:
    """Return the relation of a clause: the verb, the object `between`, and the preposition."""
    words = [
        tree.lower[child]
        for child in tree.children[clause.predicate]
        if tree.dep[child] == "advmod" and tree.lower[child] in NO_LONGER and clause.kind == "verb"
    ]
    words += _verb_words(tree, clause)
    words += [tree.phrase(between)] if between else []
    words += [tree.lower[token] for token in marks if tree.pos[token] != "DET"]
    return " ".join(words)


def _verb_words(tree: Tree, clause: Clause) -> list[str]:
    """Return the words of a verb group: the first verb inflected, verbs chained to it unchanged."""
    words: list[str] = []
    modal = chained = False
    for token in clause.verb:
        lower = tree.lower[token]
        if lower in NEGATIONS:
            words.append("never" if lower == "never" else "not")
        elif tree.dep[token] in ("aux", "aux:pass", "cop"):
            if chained or modal or tree.lemma[token].lower() not in SILENT:
                words.append(SPELT_OUT.get(lower, lower))
                modal = True
        elif tree.pos[token] != "VERB" or chained:
            words.append(lower)
        else:
            words += _first_verb(tree, clause, token, words, modal)
        chained |= tree.pos[token] == "VERB" and tree.dep[token] != "aux"
    return words


def _first_verb(
    tree: Tree, clause: Clause, token: int, before: list[str], modal: bool
) -> list[str]:
    """Return the verb that carries the tense.

    A "not" in `before` is removed there and returned after "did" or "does".
    """
    participle = tree.child(token, "aux:pass") is not None
    if participle or (clause.passive and token == clause.predicate):
        return [tree.lower[token]]
    lemma = tree.lemma[token].lower()
    if modal:
        return [tree.lower[token] if before[-1:] in (["have"], ["be"], ["been"]) else lemma]
    past = is_past(tree, [t for t in clause.verb if t <= token])
    if before == ["not"]:
        before.clear()
        return ["did" if past else "does", "not", lemma]
    return [inflected(tree, token, past=past)]


def is_vague(tree: Tree, clause: Clause, marks: list[int]) -> bool:
    """Return whether a predicate is too vague for a triple ("have", "involve")."""
    verbs = [t for t in clause.verb if tree.pos[t] == "VERB"]
    lemma = tree.lemma[verbs[-1]].lower() if verbs else ""
    if lemma in ALWAYS_VAGUE:
        return True
    if lemma not in VAGUE:
        return False
    return not any(tree.lower[mark] in TELLING for mark in marks)


PERFECT = word_set("VBN VBD")
DEEPEST = 8


def is_past(tree: Tree, verbs: list[int]) -> bool:
    """Return whether a verb group is in the past; without a finite verb, the verb above decides."""
    above = verbs[-1]
    for _ in range(DEEPEST):
        tense = _tense(tree, verbs)
        if tense:
            return tense == "past"
        if tree.head[above] == above:
            break
        above = tree.head[above]
        verbs = [*(c for c in tree.children[above] if tree.pos[c] == "AUX"), above]
    return any(tree.tag[verb] in PERFECT for verb in verbs)


def _tense(tree: Tree, verbs: list[int]) -> str:
    for at, verb in enumerate(verbs):
        tag = tree.tag[verb]
        if tag == "VBD":
            return "past"
        if tag in ("VBZ", "VBP"):
            perfect = tree.lemma[verb] == "have" and tree.pos[verb] == "AUX"
            return "past" if perfect and at < len(verbs) - 1 else "present"
        if tag == "MD":
            return "past" if tree.lower[verb] in ("would", "could") else "present"
    return ""


def inflected(tree: Tree, verb: int, *, past: bool) -> str:
    """Return a verb as it appears in a relation: in the simple past or the third person present."""
    lower, wanted = tree.lower[verb], "VBD" if past else "VBZ"
    forms = verb_forms(tree.lemma[verb].lower(), wanted)
    fits = lower in forms or (tree.tag[verb] == wanted and lower[:1].isalpha())
    return lower if fits or not forms else forms[0]
