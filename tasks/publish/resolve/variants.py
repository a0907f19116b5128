"""Names that are the same but for spelling or number (HR Links, HRLinks; KEP, KEPs), and others."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tasks.extract.rules.english_words import is_word
from tasks.publish.resolve.senses import Sense
from tasks.text.names import LEGAL_FORMS, normalise_name, strip_titles

_ACRONYMS = re.compile(r"(?:.* )?[A-Z][A-Z0-9&/-]+s")
_GENERATIONS = frozenset({"jr", "sr", "ii", "iii", "iv"})
_LEAST_LETTERS = 5  # of names that differ in spaces: "US A" is not USA


def variants(blocks: Mapping[str, list[Sense]]) -> Iterator[tuple[Sense, Sense]]:
    """Yield pairs of senses whose names are variants, of names that have only one sense."""
    single = {norm: senses[0] for norm, senses in blocks.items() if len(senses) == 1}
    for norm, sense in single.items():
        one = single.get(norm[:-1]) if norm.endswith("s") else None
        if one is not None and _is_plural(sense):
            yield one, sense
    unspaced: dict[str, list[Sense]] = defaultdict(list)
    for norm, sense in single.items():
        if len(norm) >= _LEAST_LETTERS:
            unspaced[norm.replace(" ", "")].append(sense)
    for alike in unspaced.values():
        for other in alike[1:]:
            yield alike[0], other


def _is_plural(sense: Sense) -> bool:
    """Whether a name that ends in s is one in the plural: of an acronym, or by its last word."""
    if sense.kind == "person":
        return False
    *first, last = sense.norm.split()
    return bool(_ACRONYMS.fullmatch(_written(sense)) or (first and is_word(last)))


def _written(sense: Sense) -> str:
    """Return how the name is written most often."""
    names: Counter[str] = Counter()
    for member in sense.members:
        for unit in member.units:
            if unit.norm == sense.norm:
                names.update(unit.names)
    return min(names, key=lambda name: (-names[name], name))


def is_other_name(form: str, name: str, kind: str) -> bool:
    """Tell whether a form is the name itself or another one of what is called so.

    It is none if it differs in spelling or number alone, or is a legal form or one plain word of a
    longer name ("Program"); of a person, if it has a title or more words around the name, or lacks
    the last of several.
    """
    if form == name:
        return True
    norm, own = normalise_name(form), normalise_name(name)
    if norm == own or norm in LEGAL_FORMS or norm in (f"{own}s", own.removesuffix("s")):
        return False
    if kind == "person":
        rest = own.removeprefix(f"{norm} ")
        cut = " " in norm and rest != own and rest not in _GENERATIONS
        return not cut and f" {own} " not in f" {norm} " and strip_titles(form) == form
    return not (norm in own.split() and is_word(norm) and not form.isupper())
