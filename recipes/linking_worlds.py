"""Closed worlds of named entities, and the names that are asked in them."""

import gzip
import json
import random
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from recipes.command import DATA
from tasks.graphs.graph import Graph
from tasks.graphs.linking.descriptions import build_description_index
from tasks.graphs.linking.link import Linker
from tasks.graphs.linking.name_index import build_name_index
from tasks.text.languages import HAN
from tasks.text.names import is_pronoun

# The sets that the weights were fitted to; of entities those with odd numbers.
FITTED = ("rss-500", "oke-2015-train", "oke-2016-train", "news-fair")
SEED = 20260101
# The indexes measured here hold the names; the graph holds neighbours alone.
NO_NAMES = (np.zeros(0, np.uint64), np.zeros(0, np.int32), np.zeros(0, np.float32))


@dataclass(frozen=True)
class Asked:
    """A name in a text (empty without one) and the node it means."""

    name: str
    text: str
    node: int


@dataclass
class World:
    """Entities with their names: the first is the label."""

    keys: list[str] = field(default_factory=list)
    names: list[list[str]] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    edges: list[tuple[int, str, int]] = field(default_factory=list)
    nodes: dict[str, int] = field(default_factory=dict)

    def node(self, key: str, label: str, description: str = "") -> int:
        """Return the node of a key, made with this label if it is new."""
        if key not in self.nodes:
            self.nodes[key] = len(self.keys)
            self.keys.append(key)
            self.names.append([label])
            self.descriptions.append(description)
        return self.nodes[key]

    def add_name(self, node: int, name: str) -> None:
        """Give a node another name."""
        if name and name not in self.names[node]:
            self.names[node].append(name)

    def without(self, gone: Collection[int]) -> "World":
        """Return the same world without some nodes; the others keep their keys."""
        smaller = World()
        for node, (key, names, about) in enumerate(
            zip(self.keys, self.names, self.descriptions, strict=True)
        ):
            if node not in gone:
                kept = smaller.node(key, names[0], about)
                smaller.names[kept] = list(names)
        places = [smaller.nodes.get(key, -1) for key in self.keys]
        edges = ((places[head], relation, places[tail]) for head, relation, tail in self.edges)
        smaller.edges = [edge for edge in edges if edge[0] >= 0 and edge[2] >= 0]
        return smaller

    def graph(self) -> Graph:
        """Return the graph of the edges."""
        relations = {name: at for at, name in enumerate(dict.fromkeys(r for _, r, _ in self.edges))}
        edges = np.array(
            sorted({(h, relations[r], t) for h, r, t in self.edges}), np.int32
        ).reshape(-1, 3)
        labels = pa.array([names[0] for names in self.names])
        return Graph.from_arrays(
            "world", list(relations), labels, pa.array(self.keys), edges, NO_NAMES
        )

    def names_of_nodes(self) -> list[tuple[str, int, float]]:
        """Return every name with its node and weight: 1 for a label, .5 for another name."""
        return [
            (name, node, 1.0 if at == 0 else 0.5)
            for node, names in enumerate(self.names)
            for at, name in enumerate(names)
        ]

    def linker(self, folder: Path) -> Linker:
        """Return what links names to these entities; its indexes are built in a folder."""
        names, nodes, weights = zip(*self.names_of_nodes(), strict=True)
        build_name_index(folder, pa.array(names), nodes, weights)
        described = [(n, text) for n, text in enumerate(self.descriptions) if text]
        if described:
            texts = pa.array([text for _, text in described])
            build_description_index(folder, [n for n, _ in described], texts)
        return Linker.open(folder, self.graph())


def freebase() -> World:
    """Return the entities of fb15k237; their keys are Wikidata's where they have one."""
    world = World()
    named = json.loads(gzip.decompress((DATA / "fb15k237/entity2wikidata.json.gz").read_bytes()))
    own = {}
    for key, about in named.items():
        label, description = about["label"] or key, about["description"] or ""
        own[key] = world.node(about["wikidata_id"] or key, label, description)
        for alias in about["alternatives"] or []:
            world.add_name(own[key], alias)
    with gzip.open(DATA / "fb15k237/train_named.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            head, relation, tail = line.rstrip("\n").split("\t")
            if head in own and tail in own:
                world.edges.append((own[head], relation.rpartition("/")[2], own[tail]))
    return world


def medical() -> World:
    """Return the concepts of medkg."""
    world = World()
    with gzip.open(DATA / "medkg/ddb_triples.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            head, relation, tail = line.rstrip("\n").split("\t")
            world.edges.append((world.node(head, head), relation, world.node(tail, tail)))
    with gzip.open(DATA / "medkg/ddb_aliases.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            name, alias = line.rstrip("\n").split("\t")[:2]
            world.add_name(world.node(name, name), alias)
    return world


def chinese() -> World:
    """Return the entities of nlpcc's closed knowledge base."""
    world = World()
    with gzip.open(DATA / "nlpcc/gold_triples_kb.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            head, relation, tail = line.rstrip("\n").split("\t")[:3]
            world.edges.append((world.node(head, head), relation, world.node(tail, tail)))
    return world


@dataclass(frozen=True)
class Marked:
    """A marked mention: a spelling, and the Wikidata id and label of its entity."""

    family: str
    document: str
    text: str
    spelling: str
    key: str  # `<NIL>` where Wikidata has no such entity
    label: str


def mentions() -> Iterator[Marked]:
    """Yield each marked mention once, without pronouns."""
    seen = set()
    for path in sorted((DATA / "linking").iterdir()):
        if path.name.startswith(("news-fair.", "news-fair-v2.")):  # the same with coreference
            continue
        family = path.name.partition(".")[0].partition("-no-")[0].removesuffix("-v2")
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, document in enumerate(map(json.loads, lines)):
                for label in document["labels"]:
                    start, end = label["span"]
                    spelling, key = document["text"][start:end], label["entity_id"]
                    fact = (document["text"], spelling, key)
                    known = key.startswith("Q") or key == "<NIL>"
                    if not known or is_pronoun(spelling, "en") or fact in seen:
                        continue
                    seen.add(fact)
                    around = document["text"][max(0, start - 300) : end + 300]
                    place = f"{path.name} {number}"
                    yield Marked(family, place, around, spelling, key, label["name"])


def leave_out(world: World, draw: random.Random) -> list[Asked]:
    """Take one alias from each entity that has any; return what to ask for."""
    return [
        Asked(names.pop(draw.randrange(1, len(names))), "", node)
        for node, names in enumerate(world.names)
        if len(names) > 1
    ]


def with_nodes_gone(world: World, draw: random.Random, odd: int) -> tuple[World, list[Asked]]:
    """Return a world without some nodes, and names, without a text, of these and of others.

    Of the nodes whose number modulo 2 is `odd`, a third are gone; what a name of theirs means is
    -1. The names are their labels, another name, and spellings with one slip of each kind.
    """
    own = range(odd, len(world.keys), 2)
    gone = set(draw.sample(own, len(own) // 3))
    smaller = world.without(gone)
    names = []
    for node in own:
        label, *others = world.names[node]
        slips = [_chinese_slip] if HAN.search(label) else SLIPS.values()
        spelled = {label, *draw.sample(others, min(1, len(others)))}
        spelled |= {slip(label, draw) for slip in slips} - {""}
        meant = -1 if node in gone else smaller.nodes[world.keys[node]]
        names += [Asked(name, "", meant) for name in sorted(spelled)]
    return smaller, names


def typo(name: str, draw: random.Random) -> str:
    """Return a name with a letter lost, added, changed or swapped; empty for a short one."""
    places = [at for at, letter in enumerate(name[:-1]) if at and letter.isalpha()]
    if len(name) < 5 or not places:
        return ""
    at, kind = draw.choice(places), draw.randrange(4)
    letter = draw.choice("abcdefghijklmnopqrstuvwxyz")
    return [
        name[:at] + name[at + 1 :],
        name[:at] + letter + name[at:],
        name[:at] + letter + name[at + 1 :],
        name[:at] + name[at + 1] + name[at] + name[at + 2 :],
    ][kind]


def _without_marks(name: str, draw: random.Random) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c))


def _turned(name: str, draw: random.Random) -> str:
    words = name.split()
    return " ".join([words[-1], *words[:-1]]) if len(words) > 1 else ""


def _initials(name: str, draw: random.Random) -> str:
    words = name.split()
    if not 2 <= len(words) <= 4 or not all(word[0].isupper() for word in words):
        return ""
    return " ".join([*(f"{word[0]}." for word in words[:-1]), words[-1]])


def _part(name: str, draw: random.Random) -> str:
    words = name.split()
    if len(words) < 3:
        return ""
    out = draw.randrange(len(words))
    return " ".join(word for at, word in enumerate(words) if at != out)


def _chinese_slip(name: str, draw: random.Random) -> str:
    if name and not HAN.fullmatch(name):
        return ""
    at = draw.randrange(len(name))
    return [name[:at] + name[at + 1 :], name[:at] + draw.choice("的之大中人") + name[at + 1 :]][
        draw.randrange(2)
    ]


SLIPS: dict[str, Callable[[str, random.Random], str]] = {
    "typo": typo,
    "no diacritics": _without_marks,
    "word order": _turned,
    "initials": _initials,
    "a word missing": _part,
}


def chinese_slips(world: World, draw: random.Random) -> list[Asked]:
    """Return Chinese labels of some length with one slip in them."""
    return [
        Asked(spelled, "", node)
        for node, names in enumerate(world.names)
        if 3 <= len(names[0]) <= 12 and (spelled := _chinese_slip(names[0], draw))
    ]
