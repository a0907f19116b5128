"""Look-ups in a graph that was imported, beside pyoxigraph: `benchmarks.graph_import` runs it.

    python -m benchmarks.graph_lookup almanac HOME TRIPLES
    python -m benchmarks.graph_lookup pyoxigraph STORE TRIPLES

It looks up all triples of an entity, as head and as tail, and the candidates for a name: alone on
an open connection, then a thousand at a time. Entities are drawn evenly (`any`) and by their
triples (`known`), the same for both. In pyoxigraph, the only candidate is the resource with exactly
that name.
"""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import parser_of, run_command

ASKED = 1000
MOST = 20_000  # triples of one entity that are taken
IRI = "http://example.org/"
Asked = dict[str, list[str]]


def asked_names(number: int) -> Asked:
    """Return the names that are looked up in a graph of this many triples."""
    random = np.random.default_rng(5)
    evenly, skewed = random.random(ASKED), random.random(ASKED) ** 3
    drawn = {"any": evenly, "known": skewed}
    return {
        kind: [f"Entity number {int(share * (number // 5))}" for share in shares]
        for kind, shares in drawn.items()
    }


def timed(look_up: Callable[[Any], Sequence[Any]], names: Sequence[Any]) -> dict[str, float]:
    """Return milliseconds of single look-ups, and how many rows they found."""
    for one in names[:20]:
        look_up(one)
    seconds, found = [], 0
    for one in names:
        started = time.perf_counter()
        rows = look_up(one)
        seconds.append(time.perf_counter() - started)
        found += len(rows)
    return {
        "p50_ms": round(float(np.quantile(seconds, 0.5)) * 1000, 4),
        "p99_ms": round(float(np.quantile(seconds, 0.99)) * 1000, 4),
        "rows": found,
    }


def batched(look_up: Callable[[], Any], asked: int) -> dict[str, float]:
    """Return milliseconds per look-up in a batch."""
    look_up()
    started = time.perf_counter()
    look_up()
    return {"batched_ms": round((time.perf_counter() - started) / asked * 1000, 4)}


def each(look_up: Callable[[Any], Any], asked: Sequence[Any]) -> list[Any]:
    """Return what each look-up finds."""
    return [look_up(one) for one in asked]


def almanac(home: Path, names: Asked) -> dict[str, Any]:
    """Look up in the current edition of a home."""
    from tasks.programs.knowledge_bases.edition_graph import SURE, edition_graphs
    from warehouse.home import Home

    edition = Home(home).editions.current()
    assert edition
    graph = edition_graphs(edition)["measured"]
    figures: dict[str, Any] = {}
    for kind, texts in names.items():
        linked = [graph.entity_linking(name, [name]) for name in texts]
        refs = [found[0].entity for found in linked if found and found[0].score == SURE]
        ids = [graph.arrays.ids[int(ref.key)].as_py() for ref in refs]
        figures[f"triples_{kind}"] = {
            **timed(graph.get_entity_triples, refs),
            **batched(partial(graph.facts_around, refs), len(refs)),
        }
        figures[f"sql_head_{kind}"] = timed(_by_sql(edition.database), ids)
        figures[f"candidates_{kind}"] = {
            **timed(lambda name: graph.entity_linking(name, [name]), texts),
            **batched(partial(each, graph.arrays.named, texts), len(texts)),
        }
    misspelt = [name.replace("number", "nubmer") for name in names["any"][:100]]
    figures["candidates_misspelt"] = timed(lambda n: graph.entity_linking(n, [n]), misspelt)
    return figures


def _by_sql(database: Path) -> Callable[[str], Sequence[Any]]:
    """Return a look-up by SQL: the triples with an entity as head."""
    import duckdb

    con = duckdb.connect(str(database), read_only=True)
    query = "select * from triples where head_id = $id"
    return lambda entity: con.execute(query, {"id": entity}).fetchall()


def pyoxigraph(store: Path, names: Asked) -> dict[str, Any]:
    """Look up in a store."""
    import pyoxigraph as ox

    opened = ox.Store.read_only(str(store))

    def around(node: ox.NamedNode) -> list[Any]:
        leaving = opened.quads_for_pattern(node, None, None)
        return list(islice(chain(leaving, opened.quads_for_pattern(None, None, node)), MOST))

    def known(node: ox.NamedNode) -> list[Any]:
        return [node] if next(opened.quads_for_pattern(node, None, None), None) else []

    figures = {}
    for kind, texts in names.items():
        nodes = [ox.NamedNode(IRI + name.replace(" ", "_")) for name in texts]
        figures[f"triples_{kind}"] = {
            **timed(around, nodes),
            **batched(partial(each, around, nodes), len(nodes)),
        }
        figures[f"candidates_{kind}"] = {
            **timed(known, nodes),
            **batched(partial(each, known, nodes), len(nodes)),
        }
    return figures


def main() -> None:
    """Measure one of the two and print the figures."""
    parser = parser_of(__doc__)
    look_ups = {"almanac": almanac, "pyoxigraph": pyoxigraph}
    parser.add_argument("system", choices=look_ups)
    parser.add_argument("folder", type=Path)
    parser.add_argument("triples", type=int)
    chosen = parser.parse_args()
    print(json.dumps(look_ups[chosen.system](chosen.folder, asked_names(chosen.triples))))


if __name__ == "__main__":
    run_command(main)
