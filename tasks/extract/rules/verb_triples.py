"""Triples from verbs: subject, verb with its preposition, and object or oblique."""

from collections.abc import Iterator
from dataclasses import replace

from tasks.extract.rules.clauses import NARROWING, Clause, Complement
from tasks.extract.rules.lexicon import KEEPING_OBJECT, VAGUE
from tasks.extract.rules.modality import modality_of
from tasks.extract.rules.noun_phrases import (
    Called,
    conjuncts,
    core_phrase,
    members,
    without_determiner,
)
from tasks.extract.rules.noun_triples import of_attribute
from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.rules.repairs import CALENDAR, CALENDAR_NOUNS, is_date
from tasks.extract.rules.tree import Tree
from tasks.extract.rules.triple import (
    LONGEST_HEAD,
    RuleTriple,
    tail_of,
    tells_when,
    triple_of,
    triples_to,
)
from tasks.text.english_words import verb_forms
from tasks.text.function_words import NEGATORS
from tasks.text.languages import word_set

LONGEST_BETWEEN = 3
# Nouns of light verb constructions: "take part in", "take place in".
LIGHT = word_set("part place care charge command control possession refuge")
REPLACING = word_set("instead rather")  # "is shown by a player instead of an image"
SCENES = word_set("after before during following amid despite like unlike")
DEFINING = word_set(
    "define describe regard treat classify view characterize designate recognize consider portray"
)
ENUMERATING = word_set("include comprise")


def of_verb(passage: ParsedPassage, clause: Clause, head: Called) -> Iterator[RuleTriple]:
    """Yield the triples of a clause with a full verb for one of its subjects."""
    tree = passage.tree
    gap = _gap(passage, clause)
    if gap is not None:
        clause = replace(clause, complements=[c for c in clause.complements if c.head < gap])
    mains = [c for c in clause.complements if c.role in ("object", "predicative")]
    wanted = "adverbial" if modality_of(tree.lemma[clause.predicate]) else "clause"
    if any(c.role in ("clause", wanted) and tree.tag[c.head] == "VB" for c in clause.complements):
        return  # "X expects sales to grow" does not mean that X expects sales.
    if mains:
        yield from _of_object(passage, clause, head, mains[0])
    between: list[int] = []
    if mains and not _is_calendar_date(passage, mains[0].head):
        between = without_determiner(passage, core_phrase(tree, mains[0].head))
        # What stands beside a name tells nothing that is needed to know which it is.
        aside = set() if mains[0].head in passage.entities else {"appos"}
        narrowed = any(tree.dep[c] in NARROWING | aside for c in tree.children[mains[0].head])
        if len(between) > LONGEST_BETWEEN or narrowed or tree.pos[mains[0].head] in ("PRON", "DET"):
            return
    for complement in clause.complements:
        if complement.role not in ("oblique", "agent") or tells_when(passage, complement):
            continue
        if not _sets_the_scene(passage, clause, complement):
            yield from _of_oblique(passage, clause, head, complement, between)


def _is_calendar_date(passage: ParsedPassage, noun: int) -> bool:
    """Return whether an object is a date: "died 3 May 1910 in Rome"."""
    tree = passage.tree
    words = [noun, *(c for c in tree.children[noun] if tree.dep[c] == "flat")]
    dated = any(tree.lower[t].strip(".") in CALENDAR for t in words)
    return dated and noun not in passage.entities


def _gap(passage: ParsedPassage, clause: Clause) -> int | None:
    """Return where an elliptical clause without verb begins: "X was born in A, and Y in B"."""
    if not clause.passive or passage.tree.lemma[clause.predicate] in KEEPING_OBJECT:
        return None
    objects = (
        c.head
        for c in clause.complements
        if c.role in ("object", "predicative") or (c.role == "agent" and not c.marks)
    )
    return next((head for head in objects if head in passage.entities), None)


def _sets_the_scene(passage: ParsedPassage, clause: Clause, complement: Complement) -> bool:
    """Return whether an oblique states circumstances without a name or date: "In a rare move"."""
    tree, head = passage.tree, complement.head
    fronted = head < clause.subject < clause.predicate
    if not fronted and (not complement.marks or tree.lower[complement.marks[0]] not in SCENES):
        return False
    return head not in passage.entities and not is_date(tree, head)


def _of_object(
    passage: ParsedPassage, clause: Clause, head: Called, main: Complement
) -> Iterator[RuleTriple]:
    tree = passage.tree
    if main.role == "object" and tree.lemma[clause.predicate] == "have":
        yield from _of_possession(passage, clause, head, main.head)
    if is_vague(tree, clause, []) or tree.lower[main.head] in LIGHT or _goes_on(tree, clause):
        return
    relation = relation_of(tree, clause, main.marks, [])
    things = conjuncts(tree, main.head)
    yield from triples_to(things, "object", passage, clause, head, relation)


def _goes_on(tree: Tree, clause: Clause) -> bool:
    """Return whether an object is incomplete without its complement.

    Examples: "made X public", "defines X as Y", "deprived X of Y".
    """
    defines = tree.lemma[clause.predicate].lower() in DEFINING
    wanted = (["of"], ["as"]) if defines else (["of"],)  # "deprived X of Y"
    return any(
        complement.role == "clause"
        and tree.pos[complement.head] != "VERB"
        or complement.role == "oblique"
        and complement.head > clause.predicate
        and [tree.lower[mark] for mark in complement.marks] in wanted
        and tree.pos[complement.head] != "NUM"  # "passed the Bill of 1833"
        for complement in clause.complements
    )


def _of_oblique(
    passage: ParsedPassage, clause: Clause, head: Called, complement: Complement, between: list[int]
) -> Iterator[RuleTriple]:
    """Yield triples with relations like "work at" or, with an object, "win prize in"."""
    tree = passage.tree
    replaces = complement.marks and tree.lower[complement.marks[0]] in REPLACING
    if not between and (replaces or is_vague(tree, clause, complement.marks)):
        return
    for thing in members(tree, complement.head, complement.marks):
        if _is_bare_time(passage, thing):
            continue
        own = [c for c in tree.children[thing] if tree.dep[c] == "case" and c < thing]
        marks = own if thing != complement.head and own else complement.marks
        relation = relation_of(tree, clause, marks, between)
        yield from triples_to([thing], "oblique", passage, clause, head, relation)


def _is_bare_time(passage: ParsedPassage, thing: int) -> bool:
    """Return whether a noun is a time without a date: "for years", "in the same year"."""
    tree = passage.tree
    nouns = {thing, *(c for c in tree.children[thing] if tree.dep[c] in ("nmod", "obl"))}
    bare = tree.lemma[thing].lower() in CALENDAR_NOUNS
    dated = any(tree.pos[t] == "NUM" for n in nouns for t in tree.subtree(n))
    return bare and not dated and thing not in passage.entities


def _of_possession(
    passage: ParsedPassage, clause: Clause, head: Called, thing: int
) -> Iterator[RuleTriple]:
    """Yield "X has a population of Y" and "X has two moons" as attributes of X."""
    tree = passage.tree
    core = without_determiner(passage, core_phrase(tree, thing))
    number = tree.child(thing, "nummod")
    if clause.negated or thing in passage.entities or not 0 < len(core) <= LONGEST_HEAD:
        return
    if number is not None and tree.pos[thing] == "NOUN":
        noun = tree.join([token for token in core if token not in tree.subtree(number)])
        tail = Called(tree.join(core), "", core, named=False)
        yield triple_of("object", passage, clause, head, f"number of {noun}", tail)
    for child in tree.children[thing]:
        case = tree.child(child, "case")
        if tree.dep[child] != "nmod" or case is None:
            continue
        if tree.lower[case] in ("in", "at") and tree.tag[thing] == "NNS" and core:
            for place in conjuncts(tree, child):
                called = tail_of(passage, place)
                if called is not None and called.named:
                    relation = f"has {tree.join(core)} {tree.lower[case]}"
                    yield triple_of("object", passage, clause, head, relation, called)
        if tree.lower[case] == "of" and number is None:  # "has three decades of experience"
            yield from triples_to([child], "object", passage, clause, head, tree.join(core))


def of_enumeration(passage: ParsedPassage, clause: Clause, subject: int) -> Iterator[RuleTriple]:
    """Yield (he, works, X) for "his works include X"."""
    if passage.tree.lemma[clause.predicate] not in ENUMERATING:
        return
    for complement in clause.complements:
        if complement.role == "object":
            for thing in conjuncts(passage.tree, complement.head):
                yield from of_attribute(passage, clause, subject, thing)


SPELT_OUT = {"'ll": "will", "wo": "will", "ca": "can"}
SILENT = word_set("be have do would")
# Without these adverbs a fact would seem to hold today.
NO_LONGER = word_set("previously formerly originally initially")
ALWAYS_VAGUE = word_set("involve relate concern associate regard affect")
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
        if lower in NEGATORS:
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
    bare = lemma == "call" and len(clause.verb) == 1 and not clause.passive
    if lemma in ALWAYS_VAGUE or bare:
        return True  # whom X called may be named, phoned or summoned
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
