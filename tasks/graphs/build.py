"""The graphs of an edition, as arrays under `graphs/`, made from its Parquet files alone."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import schemas
from tasks.graphs.files import save_graph
from tasks.graphs.graph import Graph
from tasks.graphs.name_keys import name_keys
from tasks.linking.build_names import build_name_index
from tasks.linking.descriptions import build_description_index
from warehouse.editions import Edition

FOLDER = "graphs"
NAMES = "names"  # within a graph's folder: what linking looks names up in
TABLES = (schemas.Entity, schemas.Triple, schemas.Alias)
BATCH = 100_000  # names hashed at a time

_NODES = """
create or replace temp table nodes as
select row_number() over (order by id nulls last, label) - 1 as node, id, label from (
    select entity_id as id, name as label from entities where graph = $graph
    union all
    select distinct null, tail from triples where graph = $graph and tail_id is null
)
"""
_RELATIONS = """
create or replace temp table numbered as
select row_number() over (order by relation) - 1 as number, relation
from (select distinct relation from triples where graph = $graph)
"""
_EDGES = """
select h.node as head, r.number as relation, coalesce(t.node, v.node) as tail
from triples f
join nodes h on h.id = f.head_id
join numbered r using (relation)
left join nodes t on t.id = f.tail_id
left join nodes v on f.tail_id is null and v.id is null and v.label = f.tail
where f.graph = $graph
"""
_SPELLINGS = """
select a.alias as name, n.node, a.weight from aliases a join nodes n on n.id = a.entity_id
union all
select label, node, 1.0 from nodes where id is null
"""
_DESCRIPTIONS = """
select n.node, e.description from entities e join nodes n on n.id = e.entity_id
where e.graph = $graph and e.description is not null
"""


def build_graphs(edition: Path) -> None:
    """Write one folder of arrays for each graph that the tables in a folder hold."""
    config: dict[str, Any] = {"memory_limit": "1GB", "threads": "2"}
    with duckdb.connect(":memory:", config=config) as con:
        for row in TABLES:
            con.read_parquet(str(edition / f"{row.table}.parquet")).create_view(row.table)
        graphs = con.sql("select distinct graph from entities order by graph").fetchall()
        for number, (graph,) in enumerate(graphs):
            folder = edition / FOLDER / f"{number:04d}"
            save_graph(_read_graph(con, graph), folder)
            _index_names(con, graph, folder / NAMES)


def _read_graph(con: duckdb.DuckDBPyConnection, graph: str) -> Graph:
    told = {"graph": graph}
    con.execute(_NODES, told)
    con.execute(_RELATIONS, told)
    relations = con.sql("select relation from numbered order by number").fetchall()
    labelled = con.sql("select label, id from nodes order by node").to_arrow_table()
    columns = con.execute(_EDGES, told).fetchnumpy()
    edges = np.stack([columns[name].astype(np.int32) for name in columns], 1)
    return Graph.from_arrays(
        graph,
        [relation for (relation,) in relations],
        labelled["label"].combine_chunks(),
        labelled["id"].combine_chunks(),
        edges,
        _names(con),
    )


def _index_names(con: duckdb.DuckDBPyConnection, graph: str, folder: Path) -> None:
    """Index names for look-ups that forgive, and descriptions for what names do not tell."""
    spelled = con.sql(_SPELLINGS).to_arrow_table()
    build_name_index(folder, spelled["name"], spelled["node"], spelled["weight"])
    described = con.sql(_DESCRIPTIONS, params={"graph": graph}).to_arrow_table()
    if len(described):
        build_description_index(folder, described["node"], described["description"])


def _names(con: duckdb.DuckDBPyConnection) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts = [
        (name_keys(batch["name"].to_pylist()), batch["node"].to_numpy(), batch["weight"].to_numpy())
        for batch in con.sql(_SPELLINGS).to_arrow_reader(BATCH)
    ]
    hashes, nodes, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return hashes, nodes.astype(np.int32), weights.astype(np.float32)


def graph_folders(edition: Edition) -> list[Path]:
    """Return the folders of an edition's graphs."""
    return sorted((edition.path / FOLDER).glob("[0-9]*"))
