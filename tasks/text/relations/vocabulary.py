"""The vocabulary of common relations: the names under which editions store what texts state.

`vocabulary.toml` holds the data; the forms of its wordings (see `forms`) decide which other
wordings mean the same relation.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal

from schemas.ontology import KINDS
from tasks.text.languages import is_chinese
from tasks.text.relations.forms import Form, bare_words, form_of

_AUXILIARY = re.compile(r"^(?:(?:is|are|was|were|has|have|had|been|an?|the)\s+)+")
End = Literal["thing", "time", "measure"]
ENDS: tuple[End, ...] = ("thing", "time", "measure")
# Single-valued properties whose names are not nouns: as a verb, "follows" has more uses than the
# property. Listed, as an edition is often built where no forms of words are loaded.
NO_NOUNS = frozenset(
    {
        "cause of death", "dissolved", "flows into", "followed by", "follows",
        "headquarters location", "killed by", "location of formation", "orbits", "replaced by",
        "replaces",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KnownRelation:
    """A relation of the vocabulary, as `vocabulary.toml` describes it.

    `chinese` and `chinese_inverse` are its names where all texts that state it are Chinese.
    """

    name: str
    inverse: str | None
    chinese: str | None
    chinese_inverse: str | None
    end: End
    single: bool
    symmetric: bool


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a wording: a relation's name, and whether the wording starts from the tail."""

    name: str
    turned: bool


def meaning_of(
    wording: str, end: End = "thing", head_kind: str = "", tail_kind: str = ""
) -> Meaning | None:
    """Return the meaning of a wording in the vocabulary; None if it lacks the wording."""
    form = form_of(wording)
    listed = _listed()
    flipped = listed.between.get((*form.undirected, head_kind, tail_kind))
    if flipped is None:
        flipped = listed.forms.get(_key(form, end))
    if flipped is None:
        return None
    symmetric = known_relations()[flipped.name].symmetric
    return Meaning(flipped.name, not symmetric and flipped.turned != form.turned)


def exact_meaning(wording: str, end: End, head_kind: str, tail_kind: str) -> Meaning | None:
    """Return the meaning of a wording that the vocabulary has word for word; None without one.

    Only auxiliaries and articles before it may differ, and its case. Ends of kinds that the
    relation does not join exclude it: who attends an opening is not educated there.
    """
    whole = plain_wording(wording).casefold()
    for words in (whole, _AUXILIARY.sub("", whole)):
        meaning = _exact().get((words, head_kind, tail_kind)) or _exact().get((words, end))
        if meaning:
            ends = (tail_kind, head_kind) if meaning.turned else (head_kind, tail_kind)
            return meaning if _joins(meaning.name, *ends) else None
    return None


def names_alias(wording: str) -> bool:
    """Return whether a wording, such as 英文名, says that the tail is another name of the head."""
    meaning = exact_meaning(wording, "thing", "", "")
    return meaning is not None and meaning.name == "also known as"


def plain_wording(wording: str) -> str:
    """Return a wording with single spaces instead of underscores and the like."""
    return " ".join(wording.replace("_", " ").split())


def kinds_of_tails(wording: str) -> frozenset[str]:
    """Return the kinds of entities that may be tails of every relation that a wording names.

    There are none if no relation is known by the wording, or it takes tails of any kind.
    """
    return _kinds_of_end(wording, 1, ("thing",))


@lru_cache(maxsize=1 << 12)
def kinds_of_heads(wording: str) -> frozenset[str]:
    """Return the same for heads, whether tails are things, times or measures."""
    return _kinds_of_end(wording, 0, ENDS)


def _kinds_of_end(wording: str, side: int, ends: Iterable[End]) -> frozenset[str]:
    found = [
        (relation.head_kinds, relation.tail_kinds)[side]
        for relation in common_relations().values()
        if wording in (relation.name, *relation.wordings)
    ]
    for end in ends:
        meaning = exact_meaning(wording, end, "", "")
        property_id = _entries()[meaning.name].get("property", "") if meaning else ""
        relation = common_relations().get(property_id.lstrip("-"))
        if meaning and relation:
            turned = meaning.turned != property_id.startswith("-")
            found.append((relation.head_kinds, relation.tail_kinds)[side ^ turned])
    known = [kinds for kinds in found if kinds]
    return frozenset.intersection(*known) if known else frozenset()


def meanings_alone(wording: str) -> list[Meaning]:
    """Return the meanings of a wording as the name of a relation, without any ends.

    A bare noun such as "director" leads from the entity that has one; a property of Wikidata is
    recognised by its name.
    """
    meanings = {meaning for end in ENDS if (meaning := meaning_of(wording, end))}
    for name, entry in _entries().items():
        id_ = entry.get("property", "")
        if id_ and common_relations()[id_.lstrip("-")].name == wording:
            meanings.add(Meaning(name, id_.startswith("-")))
    return sorted(meanings, key=lambda meaning: (meaning.name, meaning.turned))


@cache
def known_relations() -> dict[str, KnownRelation]:
    """Return the relations of the vocabulary by their names."""
    return {
        name: KnownRelation(
            name,
            name if entry.get("symmetric") else entry.get("inverse"),
            next(filter(is_chinese, entry.get("says", ())), None),
            next(filter(is_chinese, entry.get("turned", ())), None),
            entry.get("tail", "thing"),
            entry.get("single", False),
            entry.get("symmetric", False),
        )
        for name, entry in _entries().items()
    }


def depends_on_kinds(wording: str) -> bool:
    """Return whether the relation that a wording means depends on the kinds of its ends."""
    return form_of(wording).undirected in _listed().by_kinds


def wordings_of_all() -> list[str]:
    """Return the wordings of all relations of the vocabulary."""
    return [wording for _, wording, _ in _wordings()]


def single_valued() -> list[str]:
    """Return the wordings of relations with one tail per head at a time, for any graph."""
    names = {name for name, relation in known_relations().items() if relation.single}
    return sorted(names | {w for name, w, turned in _wordings() if name in names and not turned})


def same_verb(verb: str) -> str:
    """Return the verb that represents all with the same meaning; the verb itself if none does."""
    return _verbs().get(verb, verb)


@cache
def _verbs() -> dict[str, str]:
    lines = _vocabulary()["verbs"]["same"]
    return {verb: line.split()[0] for line in lines for verb in line.split()}


@cache
def vocabulary_version() -> str:
    """Return the start of the hash of the vocabulary; comments do not count."""
    return hashlib.sha256(json.dumps(_vocabulary()).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class _Listed:
    # By form and end, and by form and kinds: the relation, and whether a form that is not turned
    # starts from the tail.
    forms: dict[tuple[Any, ...], Meaning]
    between: dict[tuple[Any, ...], Meaning]
    by_kinds: frozenset[tuple[Any, ...]]


@cache
def _vocabulary() -> dict[str, Any]:
    file = files(__package__).joinpath("vocabulary.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def _entries() -> dict[str, dict[str, Any]]:
    """Return the vocabulary's entries, and entries for properties that it lacks.

    The latter have only a name, as other wordings in `common_relations` may mean several relations.
    """
    entries: dict[str, dict[str, Any]]
    entries = {name: dict(entry) for name, entry in _vocabulary()["relations"].items()}
    known = common_relations()
    missing = dict(known)
    for entry in entries.values():
        id_ = entry.get("property", "").lstrip("-")
        if id_:
            del missing[id_]
            # A bare noun such as "director" is listed with the kinds between which it means this.
            between = (*entry.get("between", ()), *entry.get("turned_between", ()))
            listed = {line.partition(":")[0] for line in between}
            if known[id_].name not in listed:
                side = "turned" if entry["property"].startswith("-") else "says"
                entry[side] = [*entry.get(side, ()), known[id_].name]
    for relation in missing.values():
        entries.setdefault(
            relation.name,
            {
                "tail": "time" if relation.tail_kinds == {"date"} else "thing",
                "single": relation.single and relation.name not in NO_NOUNS,
                "symmetric": relation.symmetric,
            },
        )
    return entries


def _wordings() -> Iterator[tuple[str, str, bool]]:
    """Yield the wordings of each relation, and whether they start from the tail."""
    for name, entry in _entries().items():
        yield name, name, False
        for wording in entry.get("says", ()):
            yield name, wording, False
        inverse = None if entry.get("symmetric") else entry.get("inverse")
        for wording in (*entry.get("turned", ()), *filter(None, [inverse])):
            yield name, wording, True


def _key(form: Form, end: End) -> tuple[Any, ...]:
    words = bare_words(form) if end == "time" else form.words
    return form.kind, words, form.marks, end


@cache
def _listed() -> _Listed:
    relations = known_relations()
    forms: dict[tuple[Any, ...], Meaning] = {}
    for name, wording, turned in _wordings():
        form = form_of(wording)
        forms.setdefault(_key(form, relations[name].end), Meaning(name, form.turned != turned))
    between = {}
    for name, entry in _entries().items():
        for side in ("between", "turned_between"):
            for wording, head, tail in map(_between, entry.get(side, ())):
                form = form_of(wording)
                turned = form.turned != (side == "turned_between")
                between[form.kind, form.words, form.marks, head, tail] = Meaning(name, turned)
    return _Listed(forms, between, frozenset(key[:3] for key in between))


def _between(line: str) -> tuple[str, str, str]:
    """Return wording, head kind and tail kind of a line such as "director: work > person"."""
    wording, _, kinds = line.partition(":")
    head, _, tail = (part.strip() for part in kinds.partition(">"))
    return wording, head, tail


@cache
def _exact() -> dict[tuple[str, ...], Meaning]:
    """Return the meanings of listed wordings, by end or by the kinds between which they hold."""
    relations, exact = known_relations(), dict[tuple[str, ...], Meaning]()
    roles = []
    for name, wording, turned in _wordings():
        words, end = wording.casefold(), relations[name].end
        if wording not in _entries()[name].get("loose", ()):
            exact.setdefault((words, end), Meaning(name, turned))
        if turned and words.endswith(" of"):  # whoever is the founder of something is its founder
            roles.append(((words.removesuffix(" of"), end), Meaning(name, False)))
    for key, meaning in roles:
        exact.setdefault(key, meaning)
    for name, entry in _entries().items():
        for side in ("between", "turned_between"):
            for wording, head, tail in map(_between, entry.get(side, ())):
                exact[wording.casefold(), head, tail] = Meaning(name, side == "turned_between")
    return exact


def _joins(name: str, head_kind: str, tail_kind: str) -> bool:
    """Return whether a relation may join ends of these kinds; anything else is of no kind."""
    property_id = _entries()[name].get("property", "")
    relation = common_relations().get(property_id.lstrip("-"))
    if relation is None:
        return True
    allowed = relation.head_kinds, relation.tail_kinds
    ends = (tail_kind, head_kind) if property_id.startswith("-") else (head_kind, tail_kind)
    return all(
        not kinds or kind in kinds or kind not in KINDS
        for kind, kinds in zip(ends, allowed, strict=True)
    )


# -- common relations by their Wikidata property, from relations.toml ------------------------------


@dataclass(frozen=True, slots=True)
class CommonRelation:
    """A relation whose facts read "head name tail".

    `wordings` lead from head to tail, `reversed` from tail to head; `inverse` is the first of
    these, empty without any. `head_kinds` and `tail_kinds` are the kinds of entities that may stand
    there, `date` among them; empty for any. `single` if a head has at most one tail.
    """

    id: str
    name: str
    description: str
    wordings: tuple[str, ...]
    reversed: tuple[str, ...]
    head_kinds: frozenset[str]
    tail_kinds: frozenset[str]
    single: bool
    symmetric: bool = False

    @property
    def inverse(self) -> str:
        """Return the name of the relation from tail to head, empty if it has none."""
        return self.reversed[0] if self.reversed else ""


@cache
def common_relations() -> dict[str, CommonRelation]:
    """Return the relations of relations.toml by their Wikidata property."""
    text = files(__package__).joinpath("relations.toml").read_text(encoding="utf-8")
    return {
        property_id: CommonRelation(
            id=property_id,
            name=row["name"],
            description=row["description"],
            wordings=_phrases(row["wordings"]),
            reversed=_phrases(row["reversed"]),
            head_kinds=frozenset(row["head"].split()),
            tail_kinds=frozenset(row["tail"].split()),
            single=row["single"],
            symmetric=row.get("symmetric", False),
        )
        for property_id, row in tomllib.loads(text).items()
    }


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split(";") if phrase.strip())
