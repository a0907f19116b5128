"""Names linked to entities: recall@10 and accuracy@1 beside exact match and BM25, in one run.

    python -m benchmarks.linking [--most N] [--scale N]

Closed worlds. *mentions*: what twelve public sets mark in texts, to be linked to one of the
entities that any set or fb15k237 names (labels, and fb15k237's aliases, descriptions and edges
where it has them); `learned` adds the spellings that the *other* sets use. *fb15k237*, *medkg*: an alias of an
entity, without a text, where the aliases are known, or where one alias of each entity is left out;
*misspelled*: labels of fb15k237 (and Chinese ones of nlpcc) changed by one slip. `found_exactly`
tells the share that exact match can find at all.
"""

import argparse
import gzip
import json
import os
import random
import tempfile
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.results_file import write_results
from tasks.graphs.graph import Graph
from tasks.linking.build_names import build_name_index
from tasks.linking.descriptions import build_description_index
from tasks.linking.link import Linker
from tasks.names import is_pronoun

DATA = Path(os.environ.get("ALMANAC_DATA") or Path(__file__).parents[2] / "shared" / "data")
K = 10
SEED = 20260101
# The indexes measured here hold the names; the graph tells of neighbours alone.
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


Method = Callable[[Asked], list[int]]


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


def mentions() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield set, text, spelling, Wikidata id and label of what is marked, once each."""
    seen = set()
    for path in sorted((DATA / "linking").iterdir()):
        if path.name.startswith(("news-fair.", "news-fair-v2.")):  # the same with coreference
            continue
        family = path.name.partition(".")[0].partition("-no-")[0].removesuffix("-v2")
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for document in map(json.loads, lines):
                for label in document["labels"]:
                    start, end = label["span"]
                    spelling, key = document["text"][start:end], label["entity_id"]
                    fact = (document["text"], spelling, key)
                    if not key.startswith("Q") or is_pronoun(spelling, "en") or fact in seen:
                        continue
                    seen.add(fact)
                    around = document["text"][max(0, start - 300) : end + 300]
                    yield family, around, spelling, key, label["name"]


class Methods:
    """The three methods over one world's names."""

    def __init__(self, world: World, folder: Path) -> None:
        """Build the indexes of a world."""
        self.graph = world.graph()
        self.degree = np.diff(self.graph.out_offsets) + np.diff(self.graph.in_offsets)
        self.exactly: dict[str, set[int]] = defaultdict(set)
        rows = [
            (name, node, 1.0 if at == 0 else 0.5)
            for node, names in enumerate(world.names)
            for at, name in enumerate(names)
        ]
        for name, node, _ in rows:
            self.exactly[name].add(node)
        names, nodes, weights = zip(*rows, strict=True)
        build_name_index(folder, pa.array(names), nodes, weights)
        described = [(n, text) for n, text in enumerate(world.descriptions) if text]
        if described:
            build_description_index(
                folder, [n for n, _ in described], pa.array([text for _, text in described])
            )
        self.linker = Linker.open(folder, self.graph)
        self._bm25 = _bm25_index(names, nodes)

    def exact(self, asked: Asked) -> list[int]:
        """Return the bearers of exactly this name, the best connected first."""
        return sorted(self.exactly.get(asked.name, ()), key=lambda n: (-self.degree[n], n))[:K]

    def bm25(self, asked: Asked) -> list[int]:
        """Return nodes by the BM25 of their best name, ties to the best connected."""
        index, searcher = self._bm25
        import tantivy

        words = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            .filter(tantivy.Filter.lowercase())
            .build()
            .analyze(asked.name)
        )
        parts = [
            (tantivy.Occur.Should, tantivy.Query.term_query(index.schema, "name", word))
            for word in words
        ]
        hits = searcher.search(tantivy.Query.boolean_query(parts), 100, count=False).hits
        nodes = searcher.fast_field_values("node", [a for _, a in hits]) if hits else []
        best: dict[int, float] = {}
        for node, (score, _) in zip(nodes, hits, strict=True):
            best[node] = max(score, best.get(node, 0.0))
        return sorted(best, key=lambda n: (-best[n], -self.degree[n], n))[:K]

    def almanac(self, asked: Asked) -> list[int]:
        """Return what `link` returns."""
        return [link.node for link in self.linker.link(asked.text, [asked.name], K)]


def _bm25_index(names: Iterable[str], nodes: Iterable[int]) -> tuple[Any, Any]:
    import tantivy

    schema = tantivy.SchemaBuilder().add_integer_field("node", fast=True)
    index = tantivy.Index(schema.add_text_field("name").build())
    writer = index.writer(50_000_000, 1)
    for name, node in zip(names, nodes, strict=True):
        writer.add_document(tantivy.Document(node=node, name=name))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index, index.searcher()


def measure(methods: Methods, asked: list[Asked]) -> dict[str, Any]:
    """Return recall@10 and accuracy@1 of every method over the same names."""
    figures: dict[str, Any] = {"names": len(asked)}
    for name, find in (
        ("exact match", methods.exact),
        ("bm25", methods.bm25),
        ("almanac", methods.almanac),
    ):
        seconds, first, within = [], 0, 0
        for one in asked:
            began = time.perf_counter()
            found = find(one)
            seconds.append(time.perf_counter() - began)
            first += found[:1] == [one.node]
            within += one.node in found
        figures[name] = {
            "accuracy_at_1": round(first / len(asked), 4),
            "recall_at_10": round(within / len(asked), 4),
            "ms_p50": round(1000 * float(np.percentile(seconds, 50)), 3),
            "ms_p99": round(1000 * float(np.percentile(seconds, 99)), 3),
        }
    return figures


def mention_tasks(folder: Path, most: int) -> dict[str, Any]:
    """Measure the mentions in texts, without and with the spellings of the other sets."""
    world, marked = freebase(), list(mentions())
    for _, _, _, key, label in marked:
        world.add_name(world.node(key, label), label)
    asked = [Asked(spelling, text, world.nodes[key]) for _, text, spelling, key, _ in marked]
    figures = {"mentions": measure(Methods(world, folder / "labels"), asked[:most])}
    parts = []
    for family in sorted({row[0] for row in marked}):
        learned = World(world.keys, [list(n) for n in world.names], world.descriptions)
        learned.edges, learned.nodes = world.edges, world.nodes
        for other, _, spelling, key, _ in marked:
            if other != family:
                learned.add_name(world.nodes[key], spelling)
        own = [one for one, row in zip(asked, marked, strict=True) if row[0] == family]
        parts.append(measure(Methods(learned, folder / f"learned-{family}"), own[:most]))
    figures["mentions, learned"] = _together(parts)
    return figures


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of figures, each part as heavy as its names are many."""
    total = sum(part["names"] for part in parts)
    figures: dict[str, Any] = {"names": total}
    for method in (key for key in parts[0] if key != "names"):
        figures[method] = {
            measure: round(sum(p["names"] * p[method][measure] for p in parts) / total, 4)
            for measure in ("accuracy_at_1", "recall_at_10")
        }
    return figures


def alias_tasks(name: str, world: World, folder: Path, most: int) -> dict[str, Any]:
    """Measure the aliases of a world, all known, then one of each entity left out."""
    draw = random.Random(SEED)
    pairs = [Asked(a, "", node) for node, names in enumerate(world.names) for a in names[1:]]
    some = draw.sample(pairs, min(most, len(pairs)))
    figures = {f"{name}, aliases": measure(Methods(world, folder / f"{name}-known"), some)}
    left_out = []
    for node, names in enumerate(world.names):
        if len(names) > 1:
            left_out.append(Asked(names.pop(draw.randrange(1, len(names))), "", node))
    some = draw.sample(left_out, min(most, len(left_out)))
    figures[f"{name}, alias left out"] = measure(Methods(world, folder / f"{name}-out"), some)
    return figures


def slip_tasks(folder: Path, most: int) -> dict[str, Any]:
    """Measure labels with one slip of a kind in them."""
    world, draw = freebase(), random.Random(SEED)
    methods = Methods(world, folder / "slips")
    figures = {}
    for kind, slip in SLIPS.items():
        asked = [
            Asked(spelled, "", node)
            for node, names in enumerate(world.names)
            if (spelled := slip(names[0], draw)) and spelled != names[0]
        ]
        figures[f"slips, {kind}"] = measure(methods, draw.sample(asked, min(most, len(asked))))
    world = chinese()
    asked = [
        Asked(spelled, "", node)
        for node, names in enumerate(world.names)
        if 3 <= len(names[0]) <= 12 and (spelled := _chinese_slip(names[0], draw))
    ]
    some = draw.sample(asked, min(most, len(asked)))
    figures["slips, Chinese"] = measure(Methods(world, folder / "chinese"), some)
    return figures


def _typo(name: str, draw: random.Random) -> str:
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
    if not all("\u4e00" <= c <= "\u9fff" for c in name):
        return ""
    at = draw.randrange(len(name))
    return [name[:at] + name[at + 1 :], name[:at] + draw.choice("的之大中人") + name[at + 1 :]][
        draw.randrange(2)
    ]


SLIPS: dict[str, Callable[[str, random.Random], str]] = {
    "typo": _typo,
    "no diacritics": _without_marks,
    "word order": _turned,
    "initials": _initials,
    "a word missing": _part,
}


def scale(folder: Path, names: int) -> dict[str, Any]:
    """Measure building and asking an index of so many names made of real words."""
    draw = random.Random(SEED)
    words = [word for about in freebase().names for name in about for word in name.split()]
    made = pa.array(
        [" ".join(draw.choices(words, k=draw.choice((1, 2, 2, 2, 3, 3, 4)))) for _ in range(names)]
    )
    began = time.perf_counter()
    build_name_index(folder, made, np.arange(names), np.ones(names))
    built = time.perf_counter() - began
    linker, seconds = Linker.open(folder), defaultdict(list)
    for _ in range(500):
        name = made[draw.randrange(names)].as_py()
        for kind, find, asked in (
            ("exact", linker.names.bearers, name),
            ("near", linker.names.near, _typo(name, draw) or name),
            ("link", lambda n: linker.link("", [n]), _typo(name, draw) or name),
        ):
            began = time.perf_counter()
            find(asked)
            seconds[kind].append(1000 * (time.perf_counter() - began))
    return {
        "names": names,
        "build_seconds": round(built, 2),
        "index_mb": round(sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6, 1),
        **{
            f"{kind}_ms": {p: round(float(np.percentile(v, int(p[1:]))), 3) for p in ("p50", "p99")}
            for kind, v in seconds.items()
        },
    }


def main() -> None:
    """Measure and write the results."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--most", type=int, default=2000, metavar="N", help="names of a task")
    options.add_argument("--scale", type=int, default=1_000_000, metavar="N", help="names at scale")
    arguments = options.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        figures.update(mention_tasks(folder, 10**9))
        figures.update(alias_tasks("fb15k237", freebase(), folder, arguments.most))
        figures.update(alias_tasks("medkg", medical(), folder, arguments.most))
        figures.update(slip_tasks(folder, arguments.most))
        figures["scale"] = scale(folder / "scale", arguments.scale)
    for task, found in figures.items():
        print(task, json.dumps(found), flush=True)
    write_results("linking", "python -m benchmarks.linking", figures)


if __name__ == "__main__":
    main()
