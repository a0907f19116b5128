"""Sentences that can be understood out of context, and the names that they are about."""

import re

from tasks.extract.rules.clauses import FINITE, Clause
from tasks.extract.rules.confidence import FIRST_PERSON, is_common
from tasks.extract.rules.noun_phrases import OUTSIDE, phrase_without
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.rules.tree import Tree
from tasks.text.languages import word_set

LONGEST = 60
SHORTEST = 4
LONGEST_OPENING = 12
LONGEST_LABEL = 5
# A sentence that opens with one of these depends on the sentence before.
LEANING = word_set(
    "this that these those it they them he she his her its their here there such both either "
    "neither also and but or so then thus therefore however instead otherwise additionally "
    "moreover furthermore meanwhile finally next first second third lastly similarly likewise "
    "again yes no click see note please"
)
# These refer to another place in the text, or to its author.
_POINTING = word_set(
    "above below following previous preceding aforementioned former latter here same opposite"
)
_OBJECTS = word_set("it them him her they")
_DEMONSTRATIVE = word_set("this these those such that")
_FULL_STOP = re.compile(r"[.!][\"'”’)\]]*\Z")
_MARKUP = re.compile(
    r"[\[\]{}|<>\\`^]|__|(?:^|\s)[.,;] ?[,;]|https?:|"
    r"\.(?:jpe?g|png|gif|svg)\b|&#?\w+;|\n\s*\n|(?:^|\s)[-*•#]\s"
)
# At the start of a sentence, "Diagnosis" and "Relabeling" are mostly no names.
_ABSTRACT = re.compile(r".+(?:tions?|sis|ments?|ing|ness|ity|ism|ance|ence)", re.IGNORECASE)
_LINKING = word_set(
    "however therefore thus instead otherwise contrast likewise furthermore moreover then"
)
_BRACKETS = (("(", ")"), ("“", "”"))
_POSSESSIVE = ("'s", "’s", "'", "’")
_SET_OFF = word_set("appos parataxis")


def is_whole_sentence(tree: Tree, start: int, end: int, *, leans: bool = False) -> bool:
    """Return whether a sentence is understood alone: no item, caption, question or lead of a list.

    A sentence that `leans` may begin with a pronoun for what the sentence before named.
    """
    words = tree.text[tree.start[start] : tree.end[end - 1]].strip()
    first = next((t for t in range(start, end) if tree.words[t][:1].isalnum()), start)
    return (
        SHORTEST <= end - start <= LONGEST
        and not FINITE.isdisjoint(tree.tag[start:end])
        and (tree.words[first][:1].isupper() or tree.words[first][:1].isdigit())
        and (leans or tree.lower[first] not in LEANING)
        and tree.lower[first : first + 2] not in (["for", "example"], ["for", "instance"])
        and bool(_FULL_STOP.search(words))
        and not words.endswith("..")
        and not _MARKUP.search(words)
        and all(words.count(opens) == words.count(closes) for opens, closes in _BRACKETS)
        and words.count('"') % 2 == 0
        and ":" not in tree.words[first : first + LONGEST_LABEL]
        and not any(_points_away(tree, token) for token in range(start, end))
        and not _compares(tree, start, end)
        and not any(_is_dangling(tree, token) for token in range(start, end))
    )


def _points_away(tree: Tree, token: int) -> bool:
    """Return whether a word depends on the context: a demonstrative, a connective or "we"."""
    word = tree.lower[token]
    if word in _DEMONSTRATIVE:
        follows = tree.lower[token + 1] if token + 1 < len(tree.lower) else ""
        return tree.tag[token] in ("DT", "PDT", "JJ") and follows != "as"
    return word in _POINTING | _LINKING or (word in FIRST_PERSON and tree.pos[token] == "PRON")


def _is_dangling(tree: Tree, token: int) -> bool:
    """Return whether a pronoun is an object or oblique of the main verb.

    It cannot then mean the subject.
    """
    verb = tree.head[token]
    takes = tree.dep[verb] == "ROOT" and tree.dep[token] in ("obj", "iobj", "obl")
    return takes and tree.lower[token] in _OBJECTS


def _compares(tree: Tree, start: int, end: int) -> bool:
    """Return whether a sentence has a comparative without "than": "a richer language"."""
    more = [t for t in range(start, end) if tree.tag[t] in ("JJR", "RBR")]
    more = [t for t in more if tree.lower[t - 1] != "no" and tree.lower[t] != "later"]
    return bool(more) and "than" not in tree.lower[start:end]


def subject_name(passage: ParsedPassage, clause: Clause) -> NameSpan | None:
    """Return the name that is the whole subject of a sentence's main clause, None if none is.

    Its article and parts set off by commas or parentheses are ignored. Only a phrase that ends with
    a comma may precede the subject.
    """
    tree = passage.tree
    name = passage.entities.get(clause.subject)
    if name is None or clause.subject_from != "own" or tree.dep[clause.predicate] != "ROOT":
        return None
    set_off = {
        token
        for child in tree.children[clause.subject]
        if tree.dep[child] in _SET_OFF
        for token in tree.subtree(child)
    }
    phrase = [t for t in phrase_without(tree, clause.subject, OUTSIDE) if t not in set_off]
    while phrase and tree.lower[phrase[0]] in ("the", "a", "an"):
        phrase = phrase[1:]
    while phrase and tree.pos[phrase[-1]] == "PUNCT":
        phrase = phrase[:-1]
    followed = "".join(tree.words[name.last : name.last + 1])
    goes_on = followed[:1].isdigit() or followed in _POSSESSIVE
    whole = phrase == list(range(name.first, name.last)) and not goes_on
    return name if whole and _opens(passage, name) and is_sure(passage, name) else None


def _opens(passage: ParsedPassage, name: NameSpan) -> bool:
    """Return whether a name opens its sentence, apart from an article or a phrase with a comma."""
    tree, first = passage.tree, name.first
    start, _ = passage.sentence_of(first)
    if first > start and tree.lower[first - 1] in ("the", "a", "an"):
        first -= 1
    before = first - start
    if not before:
        return True
    clause_free = FINITE.isdisjoint(tree.tag[start:first])
    return before <= LONGEST_OPENING and tree.words[first - 1] == "," and clause_free


def is_sure(passage: ParsedPassage, name: NameSpan) -> bool:
    """Return whether a name is surely one: its capital is not that of a sentence or a label."""
    tree = passage.tree
    words = tree.lower[name.first : name.last]
    if name.name in (passage.title, passage.row["title"]):
        return True
    after_the = name.first > 0 and tree.lower[name.first - 1] == "the"
    if after_the and len(words) <= 2 and all(map(is_common, words)):
        return False
    if len(words) > 1:
        return not tree.words[name.last - 1].islower()
    if any(c.isupper() for c in name.name[1:]):
        return True
    starts = {start for start, _ in tree.sentences}
    if any(n.name == name.name and n.first not in starts for n in passage.names):
        return True
    common = is_common(name.name) or is_common(name.name.removesuffix("s"))
    return tree.pos[name.first] == "PROPN" and not common and not _ABSTRACT.fullmatch(name.name)
