"""Kinds of entities: stated by class nouns ("a river") and shown by the form of a name.

A passage states kinds in definitions ("X is a river"), appositions and "the probe X".
"""

from tasks.extract.rules.clauses import SUBJECTS
from tasks.extract.rules.lexicon import HANDLING, KIND_OF_NOUN
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.rules.tree import Tree
from tasks.text.english_words import is_word
from tasks.text.languages import word_set

KIND_OF_LABEL = {
    "PERSON": "person", "LOC": "place", "GPE": "place", "FAC": "place", "ORG": "organisation",
    "NORP": "unknown", "WORK_OF_ART": "work", "EVENT": "event", "PRODUCT": "thing",
    "MISC": "unknown",
}  # fmt: skip

_PERSON_ENDINGS = ("ist", "ician", "grapher", "logist", "woman", "sman", "wright")


SHIP_PREFIXES = word_set("HMS USS RMS SS MS HMAS HMCS RV")


def kind_of_noun(noun: str) -> str:
    """Return the kind of the things that a singular noun denotes, `unknown` if it is not known."""
    known = KIND_OF_NOUN.get(noun)
    if known:
        return known
    return "person" if len(noun) > 6 and noun.endswith(_PERSON_ENDINGS) else "unknown"


LINKS = word_set("of the de la le du des del der di von van den da dos el al y ibn bin")
FELLOWS = word_set("companion twin sister successor predecessor replacement")


def learn_kinds(passage: ParsedPassage) -> None:
    """Learn the kinds of names from definitions, appositions, class nouns and their form."""
    stated_kinds: dict[str, str] = {}
    for name in passage.names:
        kind = _kind_stated(passage, name)
        if kind != "unknown":
            stated_kinds.setdefault(name.name, kind)
    for name in passage.names:
        kind = _kind_of_form(passage.tree, name)
        if kind != "unknown":
            stated_kinds.setdefault(name.name, kind)
        elif name.kind == "person" and not _may_be_person(passage.tree, name):
            name.kind = passage.kinds[name.name] = "unknown"
    passage.stated_kinds.update(stated_kinds)
    passage.kinds.update(stated_kinds)


def _kind_of_form(tree: Tree, name: NameSpan) -> str:
    """Return the kind that a name of several words shows by itself, else `unknown`.

    The head noun of the name ("Ferry Building", "Office of Acquisition") is the best evidence. A
    recognised person nearly always is one if the last word, the surname, is in no dictionary.
    """
    words = tree.lower[name.first : name.last]
    end = next((at for at, word in enumerate(words) if at and word in ("of", "for")), len(words))
    kind = kind_of_noun(words[end - 1]) if len(words) > 1 else "unknown"
    titled = all(tree.words[t].istitle() for t in range(name.first, name.last))
    if name.kind == "person" and titled and len(words) > 1 and not is_word(words[-1]):
        return "person"
    return "unknown" if "person" in (kind, name.kind) else kind


def _may_be_person(tree: Tree, name: NameSpan) -> bool:
    """Return whether a name may be a person's.

    It has no lower-case dictionary word, genitive or "the", and acronyms only if all its words are.
    """
    words = tree.words[name.first : name.last]
    acronyms = [word for word in words if len(word) > 2 and word.isalpha() and word.isupper()]
    return (
        not any(word.islower() and is_word(word) and word not in LINKS for word in words)
        and words[0].lower() != "the"
        and not any(word.endswith(("'s", "’s")) for word in words)
        and (not acronyms or len(acronyms) == len(words))
    )


def _kind_stated(passage: ParsedPassage, name: NameSpan) -> str:
    tree = passage.tree
    for token in range(name.first, name.last):
        for noun in class_nouns(tree, token):
            kind = kind_of_noun(tree.lemma[noun].lower())
            if kind != "unknown" and noun not in passage.entities:
                return kind
        if tree.dep[token] == "obj" and tree.lemma[tree.head[token]] in HANDLING:
            return "thing"
    noun_before = class_noun_before(passage, name)
    before = "unknown" if noun_before is None else kind_of_noun(tree.lower[noun_before])
    prefix, _, rest = name.name.partition(" ")
    ship = before == "unknown" and rest and prefix in SHIP_PREFIXES
    return "thing" if ship else before


def class_nouns(tree: Tree, token: int) -> list[int]:
    """Return the nouns that state a token's class: "X is a river", "X, a river".

    "X is in the river" states no class.
    """
    nouns = [c for c in tree.children[token] if tree.dep[c] == "appos" and c > token]
    head = tree.head[token]
    is_class = tree.child(head, "cop") is not None and tree.child(head, "case") is None
    return [head, *nouns] if tree.dep[token] in SUBJECTS and is_class else nouns


def class_noun_before(passage: ParsedPassage, name: NameSpan) -> int | None:
    """Return the class noun right before a name: "the river X"."""
    tree, noun = passage.tree, name.first - 1
    if noun < 0 or noun in passage.entities or not tree.words[noun].islower():
        return None
    if tree.pos[noun] not in ("NOUN", "PROPN"):
        return None  # a single Prometheus
    own = range(name.first, name.last)
    if tree.head[noun] not in own and all(tree.head[token] != noun for token in own):
        return None  # After the war Turing left.
    return noun
