"""Find variants of names, such as those in spelling or number (HR Links, HRLinks; KEP, KEPs)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from tasks.extract.rules.kinds import kind_of_noun
from tasks.publish.resolve.senses import Sense
from tasks.text.english_words import is_plural, is_word
from tasks.text.names import LEGAL_FORMS, normalise_name, split_generation, strip_titles

_ACRONYMS = re.compile(r"(?:.* )?[A-Z][A-Z0-9&/-]+s")
_VOWEL = re.compile("[aeiouy]")
_SEVERAL = 2
_MANY = 3  # documents
_RARELY = 8  # a name must be this many times as frequent as all others that end like it
# Prefixes of a state's laws and offices, which are also named without them.
_STATES = ("中华人民共和国", "u s ", "us ", "united states ")
# Broken at the end of a line ("Open- Harbour") or at a bracket, or with a footnote mark.
_DEBRIS = re.compile(r"\w- \w|[(（][^)）]*$|[¹²³]|(?<=[a-z])\.$")
_LEAST_LETTERS = 5  # of names that differ only in spaces: "US A" is not USA


def plurals_beside(blocks: Mapping[str, list[Sense]]) -> Iterator[tuple[Sense, Sense]]:
    """Yield pairs of a common noun and its plural that many documents share, whatever the kinds."""
    for norm, senses in blocks.items():
        singular = blocks.get(norm.removesuffix("s"), [])
        if is_plural(norm) and len(senses) == len(singular) == 1 and is_word(norm[:-1]):
            one, other = singular[0], senses[0]
            together = one.documents & other.documents
            if len(together) >= _MANY and not one.firm and not other.firm:
                yield one, other


def variants(blocks: Mapping[str, list[Sense]]) -> Iterator[tuple[Sense, Sense]]:
    """Yield pairs of senses whose names are variants of each other and have only one sense."""
    single = {norm: senses[0] for norm, senses in blocks.items() if len(senses) == 1}
    for norm, sense in single.items():
        one = single.get(norm[:-1]) if norm.endswith("s") else None
        if one is not None and _is_plural(sense, _stand_together(one, sense)):
            yield one, sense
    for norm, sense in single.items():
        if sense.kind == "person" and (bare := _without_role(norm, single)):
            yield bare, sense
        short = _proper_part(norm, single) if sense.kind == "organisation" else None
        if short is not None and _always_beside(short, sense):
            yield sense, short
    yield from _with_subject(single)
    yield from _called_by_noun(single)
    for norm, sense in single.items():
        for state in _STATES:
            rest = norm.removeprefix(state)
            # "US Open" is no Open.
            if rest != norm and rest in single and (" " in rest or not rest.isascii()):
                yield single[rest], sense
    unspaced: dict[str, list[Sense]] = defaultdict(list)
    for norm, sense in single.items():
        if len(norm) >= _LEAST_LETTERS:
            unspaced[norm.replace(" ", "")].append(sense)
    for alike in unspaced.values():
        yield from (pair for pair in combinations(alike, 2) if not _are_told_apart(*pair))


def _are_told_apart(one: Sense, other: Sense) -> bool:
    """Tell whether a table or label has both names, or they are of places in one document."""
    places = one.kind == other.kind == "place" and _stand_together(one, other)
    return places or not _in_tables(one).isdisjoint(_in_tables(other))


def _in_tables(sense: Sense) -> set[str]:
    """Return the documents with the name in a table or label."""
    return {unit.document for member in sense.members for unit in member.units if unit.laid_out}


def _with_subject(single: Mapping[str, Sense]) -> Iterator[tuple[Sense, Sense]]:
    """Yield pairs of a name and the same name after a subject that half of all documents mention.

    At least half of the documents with the longer name have the shorter one, too, and hardly any
    other name ends like it: WidgetX Console and Console, but not HTTP API, as there is REST API.
    """
    total = len(set().union(*(sense.documents for sense in single.values()))) if single else 0
    ending: Counter[str] = Counter()
    for norm, sense in single.items():
        words = norm.split()
        ending.update({" ".join(words[at:]): sense.mentions for at in range(1, len(words))})
    for norm, sense in single.items():
        first, _, rest = norm.partition(" ")
        subject, short = single.get(first), single.get(rest)
        spaced = _written(sense).casefold().startswith(f"{first} ")  # x_session is an identifier
        if not spaced or subject is None or short is None:
            continue
        if len(subject.documents) * 2 < max(total, _MANY):
            continue
        others = ending[rest] - sense.mentions
        together = len(sense.documents & short.documents)
        plain = {sense.kind, short.kind}.isdisjoint(("person", "place", "work", "event"))
        if plain and others * _RARELY <= sense.mentions and together * 2 >= len(sense.documents):
            yield short, sense


def _called_by_noun(single: Mapping[str, Sense]) -> Iterator[tuple[Sense, Sense]]:
    """Yield pairs of a name and its head noun alone: the Court of Appeal, the Court.

    No other name of the corpus has that head noun, and no document has the noun without the name.
    """
    bearers: dict[str, list[Sense]] = defaultdict(list)
    for norm, sense in single.items():
        first, *rest = norm.split()
        if rest and " " in _written(sense):  # x_session is an identifier
            bearers[first if rest[0] == "of" else rest[-1]].append(sense)
    for noun, senses in bearers.items():
        short = single.get(noun)
        if short is None or len(senses) > 1 or not is_word(noun) or _written(short).isupper():
            continue
        plain = {short.kind, senses[0].kind}.isdisjoint(("person", "place", "work", "event"))
        if plain and _always_beside(short, senses[0]):
            yield senses[0], short


def _is_plural(sense: Sense, beside: bool) -> bool:
    """Tell whether a name that ends in s is a plural; `beside`: a document has the singular, too.

    An acronym with an s is one. A name of several words must occur beside its singular or end in a
    word of the dictionary. A single word must occur beside its singular, and that must be in the
    dictionary or have no vowel (Cdks): Windows is no plural elsewhere, nor is CAS of CA.
    """
    if sense.kind == "person" or (" " not in sense.norm and _written(sense).isupper()):
        return False
    *first, last = sense.norm.split()
    is_noun = is_word(last[:-1]) or not _VOWEL.search(last)
    plural = (beside or is_word(last)) if first else (beside and is_noun)
    return (plural and is_plural(last)) or bool(_ACRONYMS.fullmatch(_written(sense)))


def _stand_together(one: Sense, other: Sense) -> bool:
    return not one.documents.isdisjoint(other.documents)


def _always_beside(short: Sense, full: Sense) -> bool:
    """Tell whether several documents have the short name, and all of them the full one, too."""
    documents = short.documents
    return len(documents) >= _SEVERAL and documents <= full.documents


def _proper_part(norm: str, senses: Mapping[str, Sense]) -> Sense | None:
    """Return the sense of an organisation's first word, Laker of Laker Institute, if no person."""
    first, *rest = norm.split()
    if len(rest) != 1 or kind_of_noun(rest[0]) != "organisation":
        return None
    short = senses.get(first)
    return short if short is not None and short.kind != "person" else None


def _without_role(norm: str, senses: Mapping[str, Sense]) -> Sense | None:
    """Return the person whose name follows words for a role, as in "Sociologist Max Weber"."""
    words = norm.split()
    for start in range(1, len(words) - 1):
        if not is_word(words[start - 1]):
            return None
        person = senses.get(" ".join(words[start:]))
        if person is not None and person.kind == "person":
            return person
    return None


def _written(sense: Sense) -> str:
    """Return the commonest spelling of the name."""
    names: Counter[str] = Counter()
    for member in sense.members:
        for unit in member.units:
            if unit.norm == sense.norm:
                names.update(unit.names)
    return min(names, key=lambda name: (-names[name], name))


def is_other_name(form: str, name: str, kind: str) -> bool:
    """Tell whether a form is an entity's name itself or a genuine alias.

    It is not if it differs from the name only in spelling or number, is debris, or is a legal form
    or a single common word of the name ("Program"). For a person, it is not if it has a title, adds
    words to the name, or has several parts of it without the last.
    """
    if form == name:
        return True
    norm, own = normalise_name(form), normalise_name(name)
    if _DEBRIS.search(form) and not (kind == "person" and form[-1] == "."):  # King Jr.
        return False
    if norm == own or norm in LEGAL_FORMS or norm in (f"{own}s", own.removesuffix("s")):
        return False
    if kind == "person":
        cut = " " in norm and own.startswith(f"{norm} ") and split_generation(own)[0] != norm
        return not cut and f" {own} " not in f" {norm} " and strip_titles(form) == form
    return not (norm in own.split() and is_word(norm) and not form.isupper())
