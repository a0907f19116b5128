"""Names linked to entities: recall@10 and accuracy@1 beside exact match and BM25, in one run.

    python -m benchmarks.linking [--most N] [--scale N]

Closed worlds. *mentions*: the mentions that public data sets mark in texts, to be linked to one of
the entities of fb15k237 (labels, aliases, descriptions, edges). *mentions, all*: the same where any
entity of any set may be meant, most of them known by their label alone; *learned* adds the
spellings that the other sets use. *fb15k237*, *medkg*: an alias of an entity, without a text, where
the aliases are known, or where one alias of each entity is left out. *slips*: labels changed by one
slip of a kind.

Names that mean nobody; the figure is how often nothing is returned. *none*: marked names that mean
no entity of Wikidata, among the entities of all sets. *elsewhere*: marked names of entities that
are not among those of fb15k237. Both also for names with a namesake, an entity with all words of
the name in one of its own, and for those without one. *gone*: names without a text of which some
belong to a third of the entities that are gone, beside the accuracy on the others. *ranked* is the
accuracy@1 if no name were refused. *calibration*: for the scores of the first link to names of
*mentions, all* and *none*, each half of the weight, the mean score, the share that is right, and
the number of names.

The ranking was fitted (`recipes/linking_weights.py`), and so was what it refuses
(`recipes/linking_acceptance.py`), to other sets, and to other entities.
"""

import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.command import parser_of, report, run_command
from recipes.linking_worlds import (
    FITTED,
    SEED,
    SLIPS,
    Asked,
    Marked,
    World,
    chinese,
    chinese_slips,
    freebase,
    leave_out,
    medical,
    mentions,
    typo,
    with_nodes_gone,
)
from tasks.graphs.linking.likeness import tokens
from tasks.graphs.linking.link import Linker, logits
from tasks.graphs.linking.name_index import build_name_index
from tasks.graphs.name_keys import normal_form

K = 10

Method = Callable[[Asked], list[int]]


class Methods:
    """The three methods over one world's names."""

    def __init__(self, world: World, folder: Path) -> None:
        """Build the indexes of a world."""
        self.graph = world.graph()
        self.degree = np.diff(self.graph.out_offsets) + np.diff(self.graph.in_offsets)
        self.exactly: dict[str, set[int]] = defaultdict(set)
        rows = world.names_of_nodes()
        for name, node, _ in rows:
            self.exactly[name].add(node)
        self.linker = world.linker(folder)
        names, nodes, _ = zip(*rows, strict=True)
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

    def ranked(self, asked: Asked) -> list[int]:
        """Return the candidate that is ranked first, whether it is accepted or not."""
        nodes, features, _ = self.linker.candidates(asked.text, [asked.name])
        return [nodes[int(logits(features).argmax())]] if nodes else []

    def has_namesake(self, asked: Asked) -> bool:
        """Tell whether a node has a name with all words of the asked one."""
        words = set(tokens(normal_form(asked.name)))
        names = self.linker.names
        similar = [*names.bearers(asked.name), *names.near(asked.name)]
        return any(words <= set(tokens(spelling.normal)) for spelling in similar)


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


def measure(methods: Methods, questions: list[Asked]) -> dict[str, Any]:
    """Return recall@10 and accuracy@1 of every method over the same names."""
    figures: dict[str, Any] = {"names": len(questions)}
    for name, find in (
        ("exact match", methods.exact),
        ("bm25", methods.bm25),
        ("almanac", methods.almanac),
        *([("ranked", methods.ranked)] if questions[0].text else []),
    ):
        seconds, first, within = [], 0, 0
        for one in questions:
            began = time.perf_counter()
            found = find(one)
            seconds.append(time.perf_counter() - began)
            first += found[:1] == [one.node]
            within += one.node in found
        figures[name] = {
            "accuracy_at_1": round(first / len(questions), 4),
            "recall_at_10": round(within / len(questions), 4),
            "ms_p50": round(1000 * float(np.percentile(seconds, 50)), 3),
            "ms_p99": round(1000 * float(np.percentile(seconds, 99)), 3),
        }
    return figures


def mention_tasks(folder: Path, *, documented: bool) -> dict[str, Any]:
    """Measure the mentions in texts of the sets that the weights were not fitted to.

    `documented` leaves out whatever no document shows.
    """
    world, marked = freebase(), list(mentions())
    meant = [one for one in marked if one.key != "<NIL>"]
    unseen = [one for one in marked if one.family not in FITTED]
    methods = Methods(world, folder / "known")
    known = [one for one in unseen if one.key in world.nodes]
    figures = {"mentions": measure(methods, [_asked(one, world) for one in known])}
    other = [one for one in unseen if one.key != "<NIL>" and one.key not in world.nodes]
    elsewhere = [Asked(one.spelling, one.text, -1) for one in other]
    figures["elsewhere"] = refusals(methods, elsewhere)
    for one in meant:
        world.add_name(world.node(one.key, one.label), one.label)
    methods = Methods(world, folder / "all")
    nowhere = [Asked(one.spelling, one.text, -1) for one in unseen if one.key == "<NIL>"]
    figures["none"] = refusals(methods, nowhere)
    if documented:
        return figures
    questions = [_asked(one, world) for one in unseen if one.key != "<NIL>"]
    figures["mentions, all"] = measure(methods, questions)
    figures["calibration"] = calibration(methods, questions, nowhere)
    parts = []
    for family in sorted({one.family for one in unseen}):
        learned = World(world.keys, [list(n) for n in world.names], world.descriptions)
        learned.edges, learned.nodes = world.edges, world.nodes
        for one in meant:
            if one.family != family:
                learned.add_name(world.nodes[one.key], one.spelling)
        own = [_asked(one, world) for one in unseen if one.family == family and one in meant]
        parts.append(measure(Methods(learned, folder / f"learned-{family}"), own))
    figures["mentions, all, learned"] = _together(parts)
    return figures


def refusals(methods: Methods, nobody: list[Asked]) -> dict[str, Any]:
    """Return how often each method finds nothing for names that mean nobody."""
    with_one = [methods.has_namesake(asked) for asked in nobody]
    found: dict[str, list[bool]] = {
        name: [not find(asked) for asked in nobody]
        for name, find in (
            ("exact match", methods.exact),
            ("almanac", methods.almanac),
        )
    }
    return {
        group: {
            "names": sum(chosen),
            **{
                name: round(float(np.mean(np.array(refused)[chosen])), 4)
                for name, refused in found.items()
            },
        }
        for group, chosen in (
            ("all", [True] * len(nobody)),
            ("with a namesake", with_one),
            ("without a namesake", [not one for one in with_one]),
        )
        if any(chosen)
    }


def calibration(
    methods: Methods, meant: list[Asked], nobody: list[Asked]
) -> dict[str, dict[str, float]]:
    """Return for each fifth of the range of scores the mean score and the share that is right."""
    rows = []
    for asked in (*meant, *nobody):
        weight = 1 / len(nobody if asked.node < 0 else meant)
        links = methods.linker.link(asked.text, [asked.name], 1)
        rows += [(link.score, link.node == asked.node, weight) for link in links]
    scores, right, weights = map(np.array, zip(*rows, strict=True))
    fifths = np.minimum((scores * 5).astype(int), 4)
    return {
        f"{fifth / 5:.1f} to {(fifth + 1) / 5:.1f}": {
            "score": round(float(np.average(scores[own], weights=weights[own])), 3),
            "right": round(float(np.average(right[own], weights=weights[own])), 3),
            "names": int(own.sum()),
        }
        for fifth in range(5)
        if (own := fifths == fifth).any()
    }


def gone_tasks(folder: Path, most: int) -> dict[str, Any]:
    """Measure names without a text in worlds of which a part is gone."""
    figures = {}
    for name, world in (("fb15k237", freebase()), ("medkg", medical()), ("nlpcc", chinese())):
        draw = random.Random(SEED + 3)
        smaller, names = with_nodes_gone(world, draw, 0)
        methods = Methods(smaller, folder / f"{name}-gone")
        some = draw.sample(names, min(most, len(names)))
        meant = [asked for asked in some if asked.node >= 0]
        figures[f"gone, {name}"] = {
            "known": measure(methods, meant),
            "gone": refusals(methods, [asked for asked in some if asked.node < 0]),
        }
    return figures


def _asked(one: Marked, world: World) -> Asked:
    return Asked(one.spelling, one.text, world.nodes[one.key])


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of figures, each part weighted by its number of names."""
    total = sum(part["names"] for part in parts)
    figures: dict[str, Any] = {"names": total}
    for method in (key for key in parts[0] if key != "names"):
        figures[method] = {
            measure: round(sum(p["names"] * p[method][measure] for p in parts) / total, 4)
            for measure in ("accuracy_at_1", "recall_at_10")
        }
    return figures


def alias_tasks(name: str, world: World, folder: Path, most: int) -> dict[str, Any]:
    """Measure the aliases of a world, first all known, then with one per entity left out."""
    draw = random.Random(SEED)
    pairs = [
        Asked(alias, "", node)
        for node, names in enumerate(world.names)
        for alias in names[1:]
        if node % 2 == 0
    ]
    some = draw.sample(pairs, min(most, len(pairs)))
    figures = {f"{name}, aliases": measure(Methods(world, folder / f"{name}-known"), some)}
    left_out = leave_out(world, draw)
    left_out = [one for one in left_out if one.node % 2 == 0]
    some = draw.sample(left_out, min(most, len(left_out)))
    figures[f"{name}, alias left out"] = measure(Methods(world, folder / f"{name}-out"), some)
    return figures


def slip_tasks(folder: Path, most: int) -> dict[str, Any]:
    """Measure labels with one slip of a kind in them."""
    world, draw = freebase(), random.Random(SEED)
    methods = Methods(world, folder / "slips")
    figures = {}
    for kind, slip in SLIPS.items():
        questions = [
            Asked(spelled, "", node)
            for node, names in enumerate(world.names)
            if node % 2 == 0 and (spelled := slip(names[0], draw)) and spelled != names[0]
        ]
        figures[f"slips, {kind}"] = measure(
            methods, draw.sample(questions, min(most, len(questions)))
        )
    world = chinese()
    questions = [one for one in chinese_slips(world, draw) if one.node % 2 == 0]
    some = draw.sample(questions, min(most, len(questions)))
    figures["slips, Chinese"] = measure(Methods(world, folder / "chinese"), some)
    return figures


def scale(folder: Path, names: int) -> dict[str, Any]:
    """Measure building and querying an index of this many names made from real words."""
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
        for kind, find, query in (
            ("exact", linker.names.bearers, name),
            ("near", linker.names.near, typo(name, draw) or name),
            ("link", lambda n: linker.link("", [n]), typo(name, draw) or name),
        ):
            began = time.perf_counter()
            find(query)
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
    parser = parser_of(__doc__)
    parser.add_argument("--most", type=int, default=1000, metavar="N", help="names per task")
    parser.add_argument("--scale", type=int, default=1_000_000, metavar="N", help="names at scale")
    parser.add_argument(
        "--documented", action="store_true", help="only what docs/benchmarks.md shows"
    )
    arguments = parser.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        figures.update(mention_tasks(folder, documented=arguments.documented))
        if arguments.documented:
            report("linking", figures)
            return
        figures.update(alias_tasks("fb15k237", freebase(), folder, arguments.most))
        figures.update(alias_tasks("medkg", medical(), folder, arguments.most))
        figures.update(gone_tasks(folder, arguments.most))
        figures.update(slip_tasks(folder, arguments.most))
        figures["scale"] = scale(folder / "scale", arguments.scale)
    report("linking", figures)


if __name__ == "__main__":
    run_command(main)
