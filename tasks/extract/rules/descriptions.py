"""Descriptions: one sentence that says what an entity is, in the passage's own words."""

from collections.abc import Iterator
from dataclasses import dataclass

from tasks.extract.extracted import Mention
from tasks.extract.rules.clauses import NEGATIONS, Clause
from tasks.extract.rules.confidence import precision
from tasks.extract.rules.modality import standing_of
from tasks.extract.rules.noun_phrases import phrase_without
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.rules.standalone import SHORTEST, is_sure, is_whole_sentence, subject_name
from tasks.extract.rules.tree import Tree
from tasks.text.languages import word_set

LONGEST_APPOSITION = 30
# "X is a way" is no description of X.
EMPTY_CLASSES = word_set(
    "way step thing choice example reason problem accident case point lot bit fit matter issue "
    "idea stranger fact time start result leap unit goal cause priority challenge subject topic "
    "concern question answer first last most best option no different same other similar good "
    "great valuable important next another figure staple game maze available"
)


@dataclass(frozen=True, slots=True)
class Description:
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


def _definitions(passage: ParsedPassage, clauses: list[Clause]) -> Iterator[Description]:
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
            yield Description("definition", name, start, end)


def _opening(passage: ParsedPassage) -> Iterator[Description]:
    """Yield the first sentence if it begins with the title and defines it, whatever its parse."""
    tree = passage.tree
    if not passage.title or not tree.sentences:
        return
    start, end = tree.sentences[0]
    first = start + (tree.lower[start] in ("the", "a", "an"))
    name = passage.entities.get(first)
    if name is None or name.first != first or name.name != passage.title or name.last + 2 >= end:
        return
    defines = tree.lemma[name.last] == "be" and tree.lower[name.last + 1] in (
        "a",
        "an",
        "the",
        "one",
    )
    if defines and is_whole_sentence(tree, start, end):
        yield Description("opening", name, start, end)


def _says_what(passage: ParsedPassage, clause: Clause) -> bool:
    """Return whether a predicate is a class noun, not a place or a quality."""
    tree, noun = passage.tree, clause.predicate
    if not NEGATIONS.isdisjoint(tree.lower[clause.subject : noun]):
        return False
    words = {tree.lower[child] for child in tree.children[noun]} | {tree.lemma[noun].lower()}
    if tree.child(noun, "case") is not None or not words.isdisjoint(EMPTY_CLASSES):
        return False
    if tree.child(noun, "det", "nmod:poss") is not None:
        return True
    modified = tree.child(noun, "amod", "compound", "nmod") is not None
    is_quality = tree.lower[noun].endswith("ing")
    return tree.tag[noun] == "NNS" or (tree.pos[noun] == "NOUN" and modified and not is_quality)


def _appositions(passage: ParsedPassage) -> Iterator[Description]:
    """Yield appositions: "X, a river in Y"."""
    tree = passage.tree
    for token, label in enumerate(tree.dep):
        name = passage.entities.get(tree.head[token])
        if label != "appos" or name is None or token in passage.entities or token < name.last:
            continue
        tokens = phrase_without(tree, token)
        one = tree.pos[token] == "NOUN" and tree.tag[token] != "NNS"
        if not one or not tokens or tree.lower[tokens[0]] not in ("a", "an", "the"):
            continue
        last = tokens[-1] + 1
        between = tree.text[name.end : tree.start[tokens[0]]].strip()
        alone = (
            tree.child(tree.head[token], "conj") is None and tree.dep[tree.head[token]] != "conj"
        )
        gapless = len(tokens) == last - tokens[0]
        if not (alone and gapless and between == "," and is_sure(passage, name)):
            continue
        if SHORTEST <= last - name.first <= LONGEST_APPOSITION and _ends(tree, last):
            yield Description("apposition", name, name.first, last)


def _ends(tree: Tree, last: int) -> bool:
    """Return whether punctuation ends the phrase before a token, and no list continues after it."""
    if last >= len(tree.words) or tree.words[last] not in (",", ".", ";", ")", ":"):
        return False
    goes_on = tree.pos[last + 1] if last + 1 < len(tree.words) else ""
    return tree.words[last] != "," or goes_on in ("VERB", "AUX", "ADV", "PRON", "ADP", "SCONJ")
