"""Short forms of names that a document also gives in full."""

import re
from collections.abc import Mapping
from functools import lru_cache

from tasks.publish.resolve.local_entities import Unit, kinds_clash
from tasks.text.english_words import is_inflected_verb, is_word
from tasks.text.names import (
    GENERATION,
    LEGAL_FORMS,
    MINOR_WORDS,
    disambiguator,
    is_acronym_of,
    normalise_name,
    other_names_in,
    split_generation,
    strip_titles,
    words_joined,
)

_SHIPS = frozenset({"hms", "uss", "rms", "ss", "hmas", "hmcs"})
_REST = re.compile(rf",(?! {GENERATION})| of ", re.IGNORECASE)  # ends a person's name proper
_ASIDE = re.compile(r"[(（][^)）]*[)）]")  # a maiden name or nickname within a name
_NAME_PARTS = re.compile(r"[\s·•・‧]+")
# A date marks an issue and a number a part of a series, so neither distinguishes namesakes; a year
# does, as it may be a film's.
_ISSUE = re.compile(
    r"\d{1,3}|\d{5,}|\d+\W\d+\W\d+|[ivx]+|[一二三四五六七八九十]+|[上中下续完]篇?|第\w{1,4}[篇章部集回]",
    re.IGNORECASE,
)
_MAX_PARTS = 6  # parts of a person's name
PERSONS = 4  # a name may be a surname if one in this many mentions is tagged as a person
_MOST_CAPITALS = 4  # capitalised parts of a person's name; more are a list


@lru_cache(maxsize=1 << 16)
def sense_of(name: str, kind: str) -> tuple[str, str]:
    """Return the normal forms of a name and its note: `Mercury (planet)`, `Cambridge, Ohio`."""
    base, note = disambiguator(name)
    if note and (other_names_in(base, note) or _ISSUE.fullmatch(note)):
        note = ""
    if not note and kind == "place" and base.count(", ") == 1:
        base, note = base.split(", ")
    if kind == "person":
        bare = strip_titles(base)
        base = bare if len(_parts(bare)) > 1 else base
    return normalise_name(base), normalise_name(note) if note else ""


def _parts(name: str) -> list[str]:
    """Return the parts of a person's name; a mere `·` is one."""
    return [part for part in _NAME_PARTS.split(name.strip()) if part] or [name]


def _usual_name(unit: Unit) -> str:
    if len(unit.names) == 1:
        return next(iter(unit.names))
    return max(unit.names, key=lambda raw: (unit.names[raw], raw))


@lru_cache(maxsize=1 << 16)
def _divided(name: str) -> tuple[list[str], str, str]:
    """Return the parts of a person's name proper, the generation, and what follows a comma or "of".

    The parts are without form of address, note, and other names in brackets.
    """
    base, _ = disambiguator(name)
    name = _ASIDE.sub("", base).strip() or base
    bare, *rest = _REST.split(name, maxsplit=1)
    if not bare or is_word(bare.lower()):
        bare, rest = name, []  # Secretary of State Ann Lee
    bare, generation = split_generation(strip_titles(bare))
    return _parts(bare), generation, normalise_name("".join(rest))


def forms_listed(unit: Unit) -> list[str]:
    """Return the normal forms of a name that are compared with short forms of fuller names."""
    if unit.kind not in ("person", "unknown"):
        return [unit.norm]
    parts, generation, _ = _divided(_usual_name(unit))
    bare = normalise_name(" ".join((*parts, generation)))
    return sorted((unit.norm, bare)) if bare != unit.norm else [bare]


def short_forms(unit: Unit, firsts: Mapping[str, int]) -> frozenset[str]:
    """Return the normalised short forms by which a document may refer to a name unexplained.

    For a person: any part of the name, or its first and last part, without form of address; a full
    name needs its generation, as George Adams is not George Adams Jr. For others: the name without
    its legal form, its initials (also of words written as one), and a ship's name without HMS or
    the like. For the organisation that the document is about, also its first word, if no other name
    of the corpus begins with it: `firsts` counts the first words.
    """
    name = _usual_name(unit)
    forms = _short_forms(unit.norm, name, unit.kind == "person")
    if unit.titled and unit.kind == "organisation" and not name.partition(" ")[0].isupper():
        first, _, rest = unit.norm.partition(" ")
        if rest and firsts[first] == 1:
            return forms | {first}
    return forms


@lru_cache(maxsize=1 << 16)
def _short_forms(norm: str, name: str, person: bool) -> frozenset[str]:
    forms: set[str] = set()
    words = norm.split()
    if person:
        parts, generation, _ = _divided(name)
        runs = {tuple(parts)}
        if _is_full_name(parts[:_MAX_PARTS]):
            ends = range(1, min(len(parts), _MAX_PARTS) + 1)
            runs |= {tuple(parts[start:end]) for end in ends for start in range(end)}
            first, *middle, last = parts
            runs.add((first, last))  # Ada Lovelace for Ada Byron Lovelace
            runs.add((first, *(part[0] for part in middle), last))  # Ada B. Lovelace
        for run in runs:
            if run[-1] == parts[-1]:
                forms.add(normalise_name(" ".join((*run, generation))))
            if run[-1] != parts[-1] or len(run) == 1:
                forms.add(normalise_name(" ".join(run)))
    elif len(words) > 1:
        heavy = [word for word in words if word not in MINOR_WORDS]
        forms = {without_legal_form(norm)} | {
            "".join(word[0] for word in some) for some in (words, heavy)
        }
        if words[0] in _SHIPS:
            forms.add(" ".join(words[1:]))
    elif parts := words_joined(name):
        forms = {"".join(part[0] for part in parts).casefold()}
    return frozenset(forms - {norm, ""})


def _is_full_name(parts: list[str]) -> bool:
    """Tell whether the parts may be a given name and a surname.

    Those of Hepatitis B, a list, Rome Rome, Lewis and Clark, and Supports Julia are not.
    """
    ends = parts[:1] + parts[-1:]
    heavy = [part for part in parts if not part[0].islower()]
    distinct = len(set(heavy)) == len(heavy)
    whole = all(len(part) > 1 and not part[0].islower() for part in ends)
    opener = parts[0].lower()
    begun = opener.endswith(("ing", "s")) and is_inflected_verb(opener)
    several = not {"and", "of"}.isdisjoint(parts)
    few = len(parts) > 1 and len(heavy) <= _MOST_CAPITALS
    return few and whole and distinct and not (begun or several)


def without_legal_form(norm: str) -> str:
    """Return a company's normal form without `inc`, `corporation` and the like."""
    words = norm.split()
    while len(words) > 1 and words[-1] in LEGAL_FORMS:
        words.pop()
    return " ".join(words)


def _may_be_person(unit: Unit) -> bool:
    """Tell whether enough mentions are tagged as a person that the other tags may be errors."""
    return PERSONS * unit.kinds["person"] >= unit.mentions - unit.kinds["unknown"] > 0


def gives_full_name(unit: Unit) -> bool:
    """Tell whether a name is more than a surname with a form of address, such as "M. Martin"."""
    parts, generation, _ = _divided(_usual_name(unit))
    return unit.kind != "person" or len(parts) > 1 or bool(generation)


def adds_role(full: Unit, short: Unit) -> bool:
    """Tell whether `full` is `short` preceded by common words, as in "Republican Ann Lee"."""
    role = full.norm.removesuffix(f" {short.norm}")
    first, _, rest = short.norm.partition(" ")
    persons = full.kind == short.kind == "person"
    named = persons and bool(rest) and role != full.norm and not is_word(first)
    return named and all(map(is_word, role.split()))


def _is_no_other(short: Unit, full: Unit, firsts: Mapping[str, int]) -> bool:
    """Tell whether a short form means the person, whatever kind is guessed for it.

    It is not guessed to be a place, and no name of the corpus begins with it, as that of a company
    may; that the full name is a person's is no guess.
    """
    guessed = not short.kind_stated and short.kind != "place"
    return guessed and full.kind_stated and not firsts[short.norm]


def may_shorten(short: Unit, full: Unit, firsts: Mapping[str, int]) -> bool:
    """Tell whether a name that equals a short form of another can refer to the same entity."""
    if full.norm.split()[0] in _SHIPS:
        return short.norm == full.norm.partition(" ")[2]
    if full.kind == "person":
        parts, _, rest = _divided(_usual_name(full))
        if rest and _divided(_usual_name(short))[2] not in ("", rest):
            return False  # Ann Lee of Ulm, Ann Lee of Bonn
        surname = normalise_name(parts[-1])
        ends_alike = short.norm.rpartition(" ")[2] == surname
        if ends_alike and (_may_be_person(short) or _is_no_other(short, full, firsts)):
            return True
    acronym = is_acronym_of(_usual_name(short), _usual_name(full))
    if kinds_clash(short.kind, full.kind, full.norm if acronym else short.norm):
        return False  # an acronym's kind is a guess
    if full.kind == "person":
        return short.kind == "person" or surname in forms_listed(short)
    if short.norm == full.norm.split()[0] and full.titled:
        return short.kind == full.kind
    if short.norm == without_legal_form(full.norm):
        return True
    # IP and DB mean much else; US and UK are places. A code in a table means what its row is about.
    surely = len(short.norm) > 2 or short.stated or full.kind == "place"
    beside = short.laid_out and full.laid_out and not full.titled
    return surely and acronym and not beside
