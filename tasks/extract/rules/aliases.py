"""Aliases of names: in parentheses, after "also known as", and surnames alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from tasks.extract.extracted import Mention, evidence_columns
from tasks.extract.rules.attributes import Attribute
from tasks.extract.rules.clauses import FINITE, SUBJECTS
from tasks.extract.rules.confidence import is_common, precision
from tasks.extract.rules.coreference import PERSONAL
from tasks.extract.rules.find_names import PARTS, ROMAN
from tasks.extract.rules.kinds import kind_of_noun
from tasks.extract.rules.lexicon import LINKS
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.rules.tree import Tree
from tasks.text.languages import word_set
from tasks.text.names import LEGAL_FORMS, is_acronym_of, normalise_name, strip_titles
from tasks.text.relations.vocabulary import names_alias

NAME = r"(?P<alias>[^\W_][^\n,;:()\"“”]{0,78}?[^\W_.]|[^\W_])"
QUOTED = r"[\"“”'‘]{1,2}(?P<quoted>[^\n\"“”]{1,60}?)[\"“”'’]{1,2}"
HOW = (
    r"(?:also|better|commonly|formerly|previously|originally|sometimes|popularly|often|professionally|"
    r"officially|usually|locally|simply|or|now|then)\s+"
)
SAYING = (
    r"(?:known\s+as|called|named|titled|published\s+as|released\s+as|referred\s+to\s+as|nicknamed|"
    r"abbreviated(?:\s+(?:as|to))?|short\s+for|spelled|written|styled(?:\s+as)?)"
)
MARKED = r"a\.?k\.?a\.?|née|né|nee|formerly|alias|officially|or\s+simply|born"
# In "X called Y" X may phone Y; "X, called Y" and "X was also called Y" state aliases.
AFTER = re.compile(
    rf"(?:\s?[,(]\s?(?:(?:who|which)\s+(?:is|was)\s+)?|\s+(?:is|was|are|were)\s+|\s+(?={HOW}))"
    rf"(?P<sign>(?:{HOW}){{0,3}}{SAYING}|{MARKED})\s+(?:the\s+|as\s+)?(?:{QUOTED}|{NAME})"
    rf"(?=[,;:.()]|\s(?:and|is|was)\s|$)"
)
IN_PARENTHESES = re.compile(rf"\s?\((?:or\s+|the\s+)?(?:{QUOTED}|{NAME})(?=[),;])")
_LISTED = re.compile(r"\s*[,;]\s*")
_JOINED = re.compile(r"\s(?:and|at|of|for|&)\s+(?:the\s+)?$")
_CAPITALISED = re.compile(r"\b[A-Z]")
_MOST_BEFORE = 80  # characters
INNER = word_set("conj compound amod flat nmod nmod:poss nmod:desc")


@dataclass(frozen=True, slots=True)
class StatedAlias:
    """Two names of one entity, the kind of evidence for it, and its character span."""

    name: str
    alias: str
    kind: str
    sign: str
    start: int
    end: int


def labelled_aliases(attribute: Attribute) -> Iterator[Mention]:
    """Yield the other names that a labelled value lists: "Also known as: Sea Hall, Port Hall"."""
    if names_alias(attribute.relation):
        evidence = evidence_columns((attribute.start, attribute.end), precision("alias", "said"))
        for alias in _LISTED.split(attribute.tail):
            if looks_like_name(alias) and normalise_name(alias) not in LEGAL_FORMS:
                yield {"name": attribute.head, "alias": alias, "kind": attribute.kind, **evidence}


def candidates(passage: ParsedPassage) -> Iterator[tuple[Mention, str]]:
    """Yield the aliases that a passage states, each pair once, with its kind of evidence."""
    stated = chain.from_iterable(_stated(passage, name) for name in passage.names)
    seen: set[tuple[str, str]] = set()
    for found in chain(stated, _surnames(passage)):
        name, alias = found.name, found.alias
        spelling = _within(name, alias) or (" " in alias and _within(alias, name))
        if not spelling and (name, alias) not in seen:
            seen.add((name, alias))
            evidence = evidence_columns((found.start, found.end), precision("alias", found.sign))
            yield {"name": name, "alias": alias, "kind": found.kind, **evidence}, found.sign


def _within(name: str, alias: str) -> bool:
    """Return whether an alias contains a name, up to normalisation."""
    return f" {normalise_name(name)} " in f" {normalise_name(alias)} "


def _stated(passage: ParsedPassage, name: NameSpan) -> Iterator[StatedAlias]:
    """Yield the alias stated right after a name: "X (Y)", "X, also known as Y"."""
    text = passage.tree.text
    full, behind = name.name, name.end
    if normalise_name(full).split()[-1] in LEGAL_FORMS and text[behind : behind + 1] == ".":
        behind += 1
    window = text[behind : behind + 160]
    match = AFTER.match(window)
    if match:
        alias = match["quoted"] or match["alias"]
        named = looks_like_name(alias) and _is_named(passage, name, alias)
        if named and not (match["sign"] == "born" and name.kind == "place"):
            yield _either(passage, name, alias, behind + match.end(), "said")
            return
    match = IN_PARENTHESES.match(window)
    if match is None:
        return
    alias = (match["quoted"] or match["alias"]).strip()
    end = behind + match.end()
    if is_acronym_of(alias, full, inner=alias.isupper()) or is_acronym_of(full, alias):
        yield _either(passage, name, alias, end, "initials")
    elif whole := _whole_name(text, name, alias):
        yield StatedAlias(whole, alias, passage.kind(alias), "initials", name.end - len(whole), end)
    elif match["quoted"] and looks_like_name(alias):
        # It is of the nearest name with its words: between them often stands an address.
        words, (first, _) = set(normalise_name(alias).split()), passage.sentence_of(name.first)
        near = [other for other in passage.names if first <= other.first <= name.first]
        sharing = [other for other in near if words <= set(normalise_name(other.name).split())]
        bearer = [name, *sharing][-1]
        if _is_named(passage, bearer, alias):
            yield _either(passage, bearer, alias, end, "quoted")


def _whole_name(text: str, name: NameSpan, alias: str) -> str:
    """Return the full name of an acronym in parentheses if `name` is its last part, else empty.

    Names are split at "and" or "at"; the initials show that the name began earlier.
    """
    before = text[max(0, name.start - _MOST_BEFORE) : name.start]
    if not alias.isupper() or not _JOINED.search(before):
        return ""
    starts = [word.start() for word in _CAPITALISED.finditer(before)]
    wholes = (before[start:] + text[name.start : name.end] for start in reversed(starts))
    return next((whole for whole in wholes if is_acronym_of(alias, whole)), "")


def _is_named(passage: ParsedPassage, name: NameSpan, alias: str) -> bool:
    """Return whether an alias belongs to a name, not to a longer phrase or clause around it.

    It does if it consists of the name's own words or initials. Otherwise the name must be the head
    of its phrase, must not be coordinated, must not follow a preposition, and must not be a place
    that ends an address.
    """
    words = normalise_name(alias).split()
    if name.name.split()[0].lower() in PARTS or (len(words) == 1 and is_common(words[0])):
        return False
    if is_acronym_of(alias, name.name) or set(words) <= set(normalise_name(name.name).split()):
        return True
    tree = passage.tree
    own = range(name.first, name.last)
    before = [word for word in tree.lower[max(0, name.first - 2) : name.first] if word != "the"]
    apart = tree.pos[name.first - 2] in ("PROPN", "NUM") and before[1:] == [","]
    head = next((t for t in own if tree.head[t] not in own or tree.head[t] == t), name.first)
    return (
        not (apart and name.kind == "place")
        and tree.dep[head] not in INNER
        and before[-1:] not in (["and"], ["or"])
        and tree.child(head, "conj") is None
        and not any(tree.dep[c] == "case" and c < name.first for c in tree.children[head])
    )


def _either(passage: ParsedPassage, name: NameSpan, alias: str, end: int, sign: str) -> StatedAlias:
    """Return the pair as a `StatedAlias` whose alias is the acronym, if one of the two is."""
    shortened = is_acronym_of(name.name, alias)
    full, short = (alias, name.name) if shortened else (name.name, alias)
    return StatedAlias(full, short, passage.kind(name.name), sign, name.start, end)


def looks_like_name(alias: str) -> bool:
    """Return whether words are a name by their capitals; only small words lack one."""
    words = alias.split()
    capitals = [word for word in words if word[:1].isupper()]
    if not 0 < len(words) <= 8 or not words[-1][:1].isupper():
        return False
    if words[0][:1].islower() and words[0] not in LINKS:
        return False
    return len(capitals) * 2 >= len(words)


def _surnames(passage: ParsedPassage) -> Iterator[StatedAlias]:
    """Yield surnames that stand alone after the full name of the only person who bears them."""
    bearers: dict[str, dict[str, str]] = {}
    evident = set(_persons(passage))
    for full in [passage.title, *(name.name for name in passage.names)]:
        words = strip_titles(full).split()
        if len(words) > 1 and _may_be_person(passage, full, words):
            bearers.setdefault(words[-1], {}).setdefault(normalise_name(full), full)
    seen: set[str] = set()
    for name in passage.names:
        if " " not in name.name:
            fulls = bearers.get(name.name, {})
            earlier = [f for f in fulls.values() if f in seen or f == passage.title]
            if len(fulls) == 1 and earlier and earlier[0] in evident:
                yield StatedAlias(earlier[0], name.name, "person", "surname", name.start, name.end)
        seen.add(name.name)


def _persons(passage: ParsedPassage) -> Iterator[str]:
    """Yield the title, and the names that the passage shows to belong to persons.

    The evidence is a title, a noun, the pronoun "he", or a role as an argument of a verb. A name in
    a list or taxonomy has no such role; a name in a sentence may have it by the surname alone.
    """
    tree = passage.tree
    actors = {name.name for token, name in passage.entities.items() if _acts(tree, token)}
    yield passage.title
    for token, referent in passage.referents.items():
        if tree.lower[token] in PERSONAL:
            yield referent
    for token, name in passage.entities.items():
        before = tree.lower[name.first - 1] if name.first else ""
        nouns = [tree.lemma[c].lower() for c in tree.children[token] if tree.dep[c] == "appos"]
        known = any(kind_of_noun(noun) == "person" for noun in (before, *nouns))
        described = any(tree.dep[t] == "nmod:desc" for t in range(name.first - 1, name.last))
        office = described or kind_of_noun(name.name.split()[0].lower()) == "person"
        titled = office or strip_titles(name.name) != name.name
        start, end = passage.sentence_of(token)
        agent = name.name.split()[-1] in actors and not FINITE.isdisjoint(tree.tag[start:end])
        if known or agent or titled or _acts(tree, token):
            yield name.name


def _acts(tree: Tree, token: int) -> bool:
    """Return whether a token is the subject or an object of a verb."""
    takes_part = tree.dep[token] in (*SUBJECTS, "obj", "iobj")
    return takes_part and tree.pos[tree.head[token]] == "VERB"


def _may_be_person(passage: ParsedPassage, full: str, words: list[str]) -> bool:
    """Return whether a name may be a person's by its kind, its capitals and its rare words."""
    if passage.kind(full) != "person" or " of " in full or "/" in full or "\n" in full:
        return False
    if len(set(words)) < len(words) or ROMAN.fullmatch(words[-1]):
        return False
    capitals = words[0][:1].isupper() and words[-1][:1].isupper()
    common = words[-1].lower() in passage.tree.words or all(map(is_common, words))
    return capitals and not common
