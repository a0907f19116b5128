"""Names linked to entities: recall@10 and accuracy@1 beside exact match and BM25, in one run.

    python -m benchmarks.linking

*mentions*: the mentions that public data sets mark in texts, to be linked to one of the entities of
fb15k237 (labels, aliases, descriptions, edges). Names that mean nobody, where the figure is how
often nothing is returned: *none*: marked names that mean no entity of Wikidata, among the entities
of all sets, most of them known by their label alone; *elsewhere*: marked names of entities that are
not among those of fb15k237. Both also for names with a namesake, an entity with all words of the
name in one of its own, and for those without one. *ranked* is the accuracy@1 if no name were
refused.

The ranking was fitted (`recipes/linking_weights.py`), and so was what it refuses
(`recipes/linking_acceptance.py`), to other sets.
"""

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import parser_of, report, run_command
from benchmarks.path_vectors import with_interval
from recipes.linking_worlds import (
    FITTED,
    Asked,
    Marked,
    World,
    freebase,
    mentions,
)
from tasks.graphs.linking.likeness import tokens
from tasks.graphs.linking.link import logits
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
    firsts: dict[str, list[float]] = {}
    for name, find in (
        ("exact match", methods.exact),
        ("bm25", methods.bm25),
        ("almanac", methods.almanac),
        *([("ranked", methods.ranked)] if questions[0].text else []),
    ):
        seconds, within = [], 0
        firsts[name] = []
        for one in questions:
            began = time.perf_counter()
            found = find(one)
            seconds.append(time.perf_counter() - began)
            firsts[name].append(float(found[:1] == [one.node]))
            within += one.node in found
        figures[name] = {
            "accuracy_at_1": round(sum(firsts[name]) / len(questions), 4),
            "recall_at_10": round(within / len(questions), 4),
            "ms_p50": round(1000 * float(np.percentile(seconds, 50)), 3),
            "ms_p99": round(1000 * float(np.percentile(seconds, 99)), 3),
        }
        if name in ("almanac", "ranked"):
            gains = np.array(firsts[name]) - firsts["bm25"]
            figures[name]["over bm25"] = with_interval(gains.tolist())
    return figures


def mention_tasks(folder: Path) -> dict[str, Any]:
    """Measure the mentions in texts of the sets that the weights were not fitted to."""
    world, marked = freebase(), list(mentions())
    unseen = [one for one in marked if one.family not in FITTED]
    methods = Methods(world, folder / "known")
    known = [one for one in unseen if one.key in world.nodes]
    figures = {"mentions": measure(methods, [_asked(one, world) for one in known])}
    other = [one for one in unseen if one.key != "<NIL>" and one.key not in world.nodes]
    elsewhere = [Asked(one.spelling, one.text, -1) for one in other]
    figures["elsewhere"] = refusals(methods, elsewhere)
    for one in marked:
        if one.key != "<NIL>":
            world.add_name(world.node(one.key, one.label), one.label)
    nowhere = [Asked(one.spelling, one.text, -1) for one in unseen if one.key == "<NIL>"]
    figures["none"] = refusals(Methods(world, folder / "all"), nowhere)
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


def _asked(one: Marked, world: World) -> Asked:
    return Asked(one.spelling, one.text, world.nodes[one.key])


def main() -> None:
    """Measure and write the results."""
    parser_of(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report("linking", mention_tasks(Path(folder)))


if __name__ == "__main__":
    run_command(main)
