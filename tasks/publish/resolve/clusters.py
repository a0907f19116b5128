"""Join senses of different names into entities, strongest evidence first, without contradictions.

A cluster never holds two senses of one name: senses that were distinguished stay distinct, whatever
chain of aliases connects them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from rapidfuzz import fuzz

from tasks.extract.rules.confidence import is_common
from tasks.publish.resolve.likeness import Likeness
from tasks.publish.resolve.local_entities import Unit, kinds_clash, voted_kind
from tasks.publish.resolve.senses import Sense
from tasks.publish.resolve.short_forms import without_legal_form
from tasks.publish.resolve.variants import plurals_beside, variants
from tasks.text.chinese_words import tag_of
from tasks.text.languages import HAN
from tasks.text.names import split_generation

STATED, SHORTENED, PLURAL, VARIANT, SURNAME, SPELLING = range(6)
"""Kinds of evidence, strongest first."""

_MIN_FUZZY_LENGTH = 12
_MIN_FUZZY_RATIO = 92.0
_MIN_FUZZY_ALIKE = 1.1
_MAX_FUZZY_BLOCK = 100


@dataclass(slots=True, eq=False)
class Cluster:
    """Units that refer to one entity."""

    units: list[Unit]

    def __post_init__(self) -> None:
        """Sort the units."""
        self.units.sort(key=lambda unit: unit.key)

    @property
    def key(self) -> tuple[str, str, str]:
        """The cluster's identity and sort key."""
        return self.units[0].key


class SenseLink(NamedTuple):
    """Evidence that two senses are one entity; links sort by strength."""

    kind: int
    documents: int  # negative, so that more of them sort first
    one: tuple[str, int]
    other: tuple[str, int]


@dataclass(slots=True, eq=False)
class _Group:
    """Senses joined so far."""

    senses: dict[str, Sense]
    kinds: Counter[str]
    descriptions: list[str] = field(default_factory=list)


def join_senses(blocks: dict[str, list[Sense]], likeness: Likeness) -> list[Cluster]:
    """Return the clusters after following every link that contradicts nothing."""
    joiner = _Joiner(blocks, likeness)
    for links in (
        _alias_links(blocks),
        [SenseLink(PLURAL, 0, one.key, other.key) for one, other in plurals_beside(blocks)],
        [SenseLink(VARIANT, 0, one.key, other.key) for one, other in variants(blocks)],
        _surname_links(blocks),
        _spelling_links(blocks, likeness),
    ):
        for link in sorted(links):
            joiner.follow(link)
    return joiner.clusters()


def _lived_apart(one: _Group, other: _Group) -> bool:
    """Tell whether two groups tell other dates of birth or death, and share no tie."""
    return any(
        a.life.has_other_dates(b.life) and not a.life.ties & b.life.ties
        for a in one.senses.values()
        for b in other.senses.values()
        if a.life and b.life
    )


class _Joiner:
    """A union-find in which some unions are forbidden; most senses have no link, and no group."""

    def __init__(self, blocks: dict[str, list[Sense]], likeness: Likeness) -> None:
        self.blocks, self.likeness = blocks, likeness
        self.groups: dict[tuple[str, int], _Group] = {}

    def group(self, key: tuple[str, int]) -> _Group:
        if key not in self.groups:
            norm, number = key
            sense = self.blocks[norm][number]
            self.groups[key] = _Group({norm: sense}, Counter(sense.kinds), sense.descriptions[:])
        return self.groups[key]

    def follow(self, link: SenseLink) -> None:
        one, other = self.group(link.one), self.group(link.other)
        # A word that occurs beside its plural is a common noun, whose kinds are guesses.
        if one is other or self._contradicts(one, other, kinds_matter=link.kind != PLURAL):
            return
        if link.kind != STATED and _lived_apart(one, other):
            return
        if len(one.senses) < len(other.senses):
            one, other = other, one
        for norm, sense in other.senses.items():
            one.senses[norm] = sense
            self.groups[sense.key] = one
        one.kinds.update(other.kinds)
        one.descriptions = (one.descriptions + other.descriptions)[:8]

    def _contradicts(self, one: _Group, other: _Group, *, kinds_matter: bool) -> bool:
        if one.senses.keys() & other.senses.keys():
            return True
        fullest = max((*one.senses, *other.senses), key=lambda norm: (len(norm), norm))
        if kinds_matter and kinds_clash(voted_kind(one.kinds), voted_kind(other.kinds), fullest):
            return True
        pairs = [(a, b) for a in one.descriptions for b in other.descriptions]
        return bool(pairs) and all(self.likeness.differ(a, b, fullest, False) for a, b in pairs)

    def clusters(self) -> list[Cluster]:
        distinct = {id(group): group for group in self.groups.values()}.values()
        parts = [list(group.senses.values()) for group in distinct]
        parts += [
            [sense]
            for senses in self.blocks.values()
            for sense in senses
            if sense.key not in self.groups
        ]
        clusters = [
            Cluster([unit for sense in part for member in sense.members for unit in member.units])
            for part in parts
        ]
        return sorted(clusters, key=lambda cluster: cluster.key)


def _alias_links(blocks: dict[str, list[Sense]]) -> Iterator[SenseLink]:
    """Link a sense to the only sense elsewhere that fits one of its aliases in a document."""
    claims: dict[str, dict[Sense, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    for sense, unit in _other_names(blocks):
        if (unit.stated or unit.kind != "person") and not _is_of_its_document(sense, unit):
            claims[unit.norm][sense][STATED if unit.stated else SHORTENED] += 1
    for norm, senses in blocks.items():
        short = without_legal_form(norm)
        if short != norm:
            for sense in senses:
                if sense.kind == "organisation":
                    claims[short][sense][SHORTENED] += 1
    for norm, claimants in claims.items():
        yield from _unambiguous(claimants, blocks.get(norm, []))


def _is_of_its_document(sense: Sense, unit: Unit) -> bool:
    """Tell whether a name elsewhere says nothing: "the chair", 学校, or a person's given name."""
    if HAN.search(unit.norm):
        return tag_of(unit.norm) == "n"
    if sense.kind == "person" and unit.norm in sense.norm.split()[:-1]:
        return True
    return all(n == n.lower() for n in unit.names) and all(map(is_common, unit.norm.split()))


def _unambiguous(claimants: dict[Sense, Counter[int]], targets: list[Sense]) -> Iterator[SenseLink]:
    stated = [claimant for claimant, evidence in claimants.items() if STATED in evidence]
    fits = [
        (claimant, target)
        for claimant in stated or claimants
        for target in targets
        if not kinds_clash(claimant.kind, target.kind, claimant.norm)
    ]
    by_claimant = Counter(claimant for claimant, _ in fits)
    by_target = Counter(target for _, target in fits)
    for claimant, target in fits:
        if by_claimant[claimant] == by_target[target] == 1:
            evidence = claimants[claimant]
            yield SenseLink(min(evidence), -evidence.total(), claimant.key, target.key)


def _surname_links(blocks: dict[str, list[Sense]]) -> Iterator[SenseLink]:
    """Link a surname alone to its only bearer, if a document shortens the bearer's name to it."""
    bearers: dict[str, set[Sense]] = defaultdict(set)
    shortened = Counter((unit.norm, sense.key) for sense, unit in _other_names(blocks))
    for norm, senses in blocks.items():
        first, _, last = split_generation(norm)[0].rpartition(" ")
        if first:
            bearers[last].update(sense for sense in senses if sense.kind == "person")
    for surname, persons in bearers.items():
        alone = blocks.get(surname, [])
        targets = [s for s in alone if s.kind == "person"]
        # If the surname is also known as a ship or a crater, a guessed kind is not enough.
        if any(s.firm and s.kind not in ("person", "unknown") for s in alone):
            targets = [s for s in targets if s.firm]
        if len(persons) == len(targets) == 1:
            (person,), (target,) = persons, targets
            documents = shortened[surname, person.key]
            if documents:
                yield SenseLink(SURNAME, -documents, person.key, target.key)


def _other_names(blocks: dict[str, list[Sense]]) -> Iterator[tuple[Sense, Unit]]:
    for senses in blocks.values():
        for sense in senses:
            for member in sense.members:
                for unit in member.units:
                    if unit.norm != sense.norm:
                        yield sense, unit


def _spelling_links(blocks: dict[str, list[Sense]], likeness: Likeness) -> list[SenseLink]:
    """Link long names of one kind that differ little and have similar descriptions."""
    pairs = sorted(set(_similar_spellings(blocks)))
    by_key = {sense.key: sense for senses in blocks.values() for sense in senses}
    likeness.prepare(text for pair in pairs for key in pair for text in by_key[key].descriptions)
    links = []
    for one, other in pairs:
        texts = [(a, b) for a in by_key[one].descriptions for b in by_key[other].descriptions]
        if any(likeness.alike(a, b, one[0]) >= _MIN_FUZZY_ALIKE for a, b in texts):
            links.append(SenseLink(SPELLING, 0, one, other))
    return links


def _similar_spellings(
    blocks: dict[str, list[Sense]],
) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    nearby: dict[tuple[str, str], list[Sense]] = defaultdict(list)
    for senses in blocks.values():
        for sense in senses:
            words = sense.norm.split()
            if sense.descriptions and sense.kind != "unknown" and len(words) > 1:
                for word in {words[0], words[-1]}:
                    nearby[sense.kind, word].append(sense)
    for group in nearby.values():
        if len(group) <= _MAX_FUZZY_BLOCK:
            for one, other in combinations(sorted(group, key=lambda s: s.key), 2):
                if one.norm != other.norm and _similar(one.norm, other.norm, one.kind):
                    yield one.key, other.key


def _similar(one: str, other: str, kind: str) -> bool:
    if [c for c in one if c.isdigit()] != [c for c in other if c.isdigit()]:
        return False
    if split_generation(one)[1] != split_generation(other)[1]:
        return False
    if kind == "person" and _same_person_name(one.split(), other.split()):
        return True
    return (
        min(len(one), len(other)) >= _MIN_FUZZY_LENGTH
        and fuzz.ratio(one, other) >= _MIN_FUZZY_RATIO
    )


def _same_person_name(one: list[str], other: list[str]) -> bool:
    """Tell whether two names share a surname and differ in given names only by initials or gaps."""
    few, many = sorted((one[:-1], other[:-1]), key=len)
    if one[-1] != other[-1] or not few:
        return False
    if few == ["".join(name[0] for name in many)] or many == ["".join(n[0] for n in few)]:
        return True
    rest = iter(many)
    return all(any(a == b or a == b[0] or b == a[0] for b in rest) for a in few)
