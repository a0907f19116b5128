"""Descriptions: one sentence that says what an entity is, in the passage's own words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.extract.extracted import Mention
from tasks.extract.rules.clauses import FINITE, Clause
from tasks.extract.rules.confidence import is_common, precision
from tasks.extract.rules.lexicon import ELSEWHERE, EMPTY_CLASSES, LEANING
from tasks.extract.rules.modality import standing_of
from tasks.extract.rules.noun_phrases import OUTSIDE, phrase_without
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.rules.tree import Tree
from tasks.text.english_words import is_plural
from tasks.text.function_words import DEMONSTRATIVES, FIRST_PERSON, NEGATORS
from tasks.text.languages import word_set

LONGEST_APPOSITION = 30


@dataclass(frozen=True, slots=True)
class DescriptionSpan:
    """A description of an entity, as a token range within one sentence."""

    rule: str
    entity: NameSpan
    first: int
    last: int


def find_descriptions(passage: ParsedPassage, clauses: list[Clause]) -> list[Mention]:
    """Return at most one description per entity, the one with the highest confidence."""
    best: dict[str, Mention] = {}
    for row, _ in candidates(passage, clauses):
        known = best.get(row["entity"])
        if known is None or row["confidence"] > known["confidence"]:
            best[row["entity"]] = row
    return sorted(best.values(), key=lambda row: (row["span_start"], row["span_end"]))


def candidates(passage: ParsedPassage, clauses: list[Clause]) -> Iterator[tuple[Mention, str]]:
    """Yield descriptions with the rule that read each; an entity may have several."""
    found = [*_definitions(passage, clauses), *_opening(passage), *_appositions(passage)]
    for description in found:
        name, first, last = description.entity.name, description.first, description.last
        stretch = passage.stretch(first, last, precision("description", description.rule))
        row = {"entity": name, "kind": passage.kind(name), **stretch}
        yield row, description.rule


def _definitions(passage: ParsedPassage, clauses: list[Clause]) -> Iterator[DescriptionSpan]:
    """Yield whole sentences of the form "X is a ..."."""
    tree = passage.tree
    for clause in clauses:
        if clause.kind != "copula" or clause.negated or not standing_of(passage, clause).stated:
            continue
        if len(clause.verb) > 1 or not _says_what(passage, clause):
            continue
        start, end = passage.sentence_of(clause.predicate)
        name = subject_name(passage, clause)
        if name is not None and is_whole_sentence(tree, start, end):
            yield DescriptionSpan("definition", name, start, end)


def _opening(passage: ParsedPassage) -> Iterator[DescriptionSpan]:
    """Yield the first sentence if it begins with the title and defines it, whatever its parse."""
    tree = passage.tree
    if not passage.title or not tree.sentences:
        return
    start, end = tree.sentences[0]
    first = start + (tree.lower[start] in ("the", "a", "an"))
    name = passage.entities.get(first)
    if name is None or name.first != first or name.name != passage.title or name.last + 2 >= end:
        return
    an_article = tree.lower[name.last + 1] in ("a", "an", "the", "one")
    if an_article and tree.lemma[name.last] == "be" and is_whole_sentence(tree, start, end):
        yield DescriptionSpan("opening", name, start, end)


def _says_what(passage: ParsedPassage, clause: Clause) -> bool:
    """Return whether a predicate is a class noun, not a place or a quality."""
    tree, noun = passage.tree, clause.predicate
    if not NEGATORS.isdisjoint(tree.lower[clause.subject : noun]):
        return False
    words = {tree.lower[child] for child in tree.children[noun]} | {tree.lemma[noun].lower()}
    if tree.child(noun, "case") is not None or not words.isdisjoint(EMPTY_CLASSES):
        return False
    modified = tree.child(noun, "amod", "compound", "nmod") is not None
    is_class = tree.tag[noun] == "NNS" or (tree.pos[noun] == "NOUN" and modified)
    return is_class or tree.child(noun, "det", "nmod:poss") is not None


def _appositions(passage: ParsedPassage) -> Iterator[DescriptionSpan]:
    """Yield appositions: "X, a river in Y"."""
    tree = passage.tree
    for token, label in enumerate(tree.dep):
        above = tree.head[token]
        name = passage.entities.get(above)
        if label != "appos" or name is None or token in passage.entities or token < name.last:
            continue
        tokens = phrase_without(tree, token)
        one = tree.pos[token] == "NOUN" and tree.tag[token] != "NNS"
        if not one or not tokens or tree.lower[tokens[0]] not in ("a", "an", "the"):
            continue
        last = tokens[-1] + 1
        between = tree.text[name.end : tree.start[tokens[0]]].strip()
        alone = tree.child(above, "conj") is None and tree.dep[above] != "conj"
        gapless = len(tokens) == last - tokens[0]
        fits = alone and gapless and SHORTEST <= last - name.first <= LONGEST_APPOSITION
        if fits and between == "," and is_sure(passage, name):
            yield DescriptionSpan("apposition", name, name.first, last)


LONGEST = 60
SHORTEST = 4
LONGEST_OPENING = 12
LONGEST_LABEL = 5
_POINTING = ELSEWHERE | {"previous", "preceding", "opposite"}
_DEMONSTRATIVE = DEMONSTRATIVES | {"such"}
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
    )


def _points_away(tree: Tree, token: int) -> bool:
    """Return whether a word depends on the context: a demonstrative, a connective or "we"."""
    word = tree.lower[token]
    if word in _DEMONSTRATIVE:
        follows = tree.lower[token + 1] if token + 1 < len(tree.lower) else ""
        return tree.tag[token] in ("DT", "PDT", "JJ") and follows != "as"
    return word in _POINTING | _LINKING or (word in FIRST_PERSON and tree.pos[token] == "PRON")


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
    is_phrase = first - start <= LONGEST_OPENING and FINITE.isdisjoint(tree.tag[start:first])
    return first == start or (is_phrase and tree.words[first - 1] == ",")


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
    starts = {start for start, _ in tree.sentences}
    inside = any(n.name == name.name and n.first not in starts for n in passage.names)
    if inside or any(c.isupper() for c in name.name[1:]):
        return True
    singular = name.name[:-1] if is_plural(name.name) else name.name
    common = is_common(name.name) or is_common(singular)
    return tree.pos[name.first] == "PROPN" and not common and not _ABSTRACT.fullmatch(name.name)
