"""Names that are the same but for their spaces or their number: HR Links, HRLinks; KEP, KEPs."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tasks.extract.rules.english_words import is_word
from tasks.publish.resolve.senses import Sense

_ACRONYMS = re.compile(r"(?:.* )?[A-Z][A-Z0-9&/-]+s")
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
