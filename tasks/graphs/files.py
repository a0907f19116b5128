"""A graph's arrays as files in one folder, mapped into memory when they are opened.

graph.json                     name and relations
labels.arrow                   names and entity ids of the nodes
NAME.npy                       one file an array of `tasks.graphs.graph.Graph`
"""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa

from tasks.graphs.graph import Graph

ARRAYS = tuple(field.name for field in fields(Graph) if field.type is np.ndarray)

KEYS = ("key_hashes.npy", "key_nodes.npy")


def save_graph(graph: Graph, folder: Path) -> None:
    """Write a graph into a folder, which must not hold one yet."""
    folder.mkdir(parents=True)
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", getattr(graph, name), allow_pickle=False)
    table = pa.table({"label": graph.labels, "id": graph.ids})
    path = str(folder / "labels.arrow")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    about = {"name": graph.name, "relations": graph.relations}
    (folder / "graph.json").write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")


def save_names(folder: Path, keys: np.ndarray, nodes: np.ndarray) -> None:
    """Give a graph that was saved without names its keys (uint64, sorted) and their nodes."""
    for name, array in zip(KEYS, (keys, nodes), strict=True):
        np.save(folder / name, array, allow_pickle=False)


def open_graph(folder: Path) -> Graph:
    """Return the graph that lies in a folder; its arrays are mapped, not read."""
    about = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    # As plain arrays over the mapped bytes: every slice of a memmap costs microseconds more.
    arrays = {
        name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
        for name in ARRAYS
    }
    with pa.memory_map(str(folder / "labels.arrow")) as file:
        table = pa.ipc.open_file(file).read_all().combine_chunks()
    labels, ids = (table[name].chunk(0) for name in ("label", "id")) if len(table) else ([], [])
    return Graph(about["name"], about["relations"], labels, ids, **arrays)
