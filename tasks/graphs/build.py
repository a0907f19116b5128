"""Build the graphs of an edition as arrays under `graphs/`, for traversal.

graphs/0000/            the corpus' graph, built from the edition's tables
graphs/0001/ ...        imported graphs, by name
    import.json         the id of the import, the derivation's version, and its rows in each table
    names/              the index for linking

If neither the import nor the program has changed, a graph is taken from the parent edition: its
files are hard-linked and its rows copied.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import schemas
from schemas.knowledge import CORPUS
from schemas.row import Row
from tasks.graphs.edition_rows import Rows, edition_rows
from tasks.graphs.graph import FOLDER, KEYS, NAMES, Graph, graph_folders, save_graph, save_names
from tasks.graphs.imported import ImportedGraph, current_imports, read_import
from tasks.graphs.linking.descriptions import build_description_index
from tasks.graphs.linking.name_index import build_name_index
from tasks.graphs.name_keys import each_once
from tasks.text.relations.vocabulary import single_valued
from tasks.text.word_index import open_table
from tasks.version import DERIVATION_VERSION
from warehouse import durable
from warehouse.asserted import create_asserted_view
from warehouse.derivation import EVERYBODY, Reader
from warehouse.editions import Building, Edition
from warehouse.journal import Journal
from warehouse.scratch import Scratch

IMPORT = "import.json"
TABLES = (schemas.Entity, schemas.Triple, schemas.Alias)
MADE_OF = "made-of.txt"  # within the names' folder: hashes of the program and of its input
SPELLED, DESCRIBED = "spelled.part", "described.part"  # temporary, until they are indexed
OF_CORPUS = {"graph": CORPUS}
MOST_BYTES = 1 << 31  # of strings with 32-bit offsets
NO_NAMES = (np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.float32))

_ANY = "select 1 from entities where graph = $graph limit 1"
_NODES = """
create or replace temp table nodes as
select row_number() over (order by id nulls last, label) - 1 as node, id, label from (
    select entity_id as id, name as label from entities where graph = $graph
    union all
    select distinct null, tail from asserted_triples where graph = $graph and tail_id is null
)
"""
_RELATIONS = """
create or replace temp table numbered as
select row_number() over (order by relation) - 1 as number, relation
from (select distinct relation from asserted_triples where graph = $graph)
"""
_EDGES = """
select h.node as head, r.number as relation, coalesce(t.node, v.node) as tail
from asserted_triples f
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


@dataclass(frozen=True)
class _Earlier:
    """A graph in the parent edition: its folder, its import and the ranges of its rows."""

    folder: Path
    source: tuple[str, int]  # id of the import, version of the derivation
    rows: dict[str, range]  # by table


class GraphFolders:
    """Builds the folders of an edition's graphs; a background thread indexes their names."""

    def __init__(self, building: Building, scratch: Scratch) -> None:
        """Write into a new edition's folder, taking unchanged graphs from its parent."""
        self._scratch = scratch
        self._building, self._number = building, 0
        self._edition, parent = building.folder, building.parent
        self._parent = parent = parent if parent and parent.is_of_this_version else None
        self._beside = ThreadPoolExecutor(1)
        self._indexing: list[Future[None]] = []
        folders = graph_folders(parent) if parent else []
        self._indexed = {_made_of(folder): folder for folder in folders}
        self._earlier = {g.source: g for g in _earlier_graphs(parent)} if parent else {}

    def __enter__(self) -> "GraphFolders":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def rows(self, journal: Journal, position: int, reader: Reader = EVERYBODY) -> Iterator[Rows]:
        """Write the arrays of the graphs imported up to a position; yield their tables' rows."""
        one_each = pa.array(single_valued())
        imports = current_imports(journal, position)
        for row in (row for row in imports if reader.may_read(row["graph"])):
            self._number += 1
            source = (row["import_id"], DERIVATION_VERSION)
            earlier = self._earlier.get(source)
            if earlier and self._taken(earlier.folder, self._folder(self._number)):
                made = self._copied(earlier)
            else:
                graph = read_import(journal, row, position)
                _lay_out(graph, self._folder(self._number))
                self._index(self._folder(self._number))
                made = edition_rows(graph, one_each)
            counts: Counter[str] = Counter()
            for table, rows in made:
                if len(rows):  # an empty row group would change the file
                    counts[table.table] += len(rows)
                    yield table, rows
            about = {"import": source[0], "derivation": source[1], "rows": counts}
            durable.write_json(self._folder(self._number) / IMPORT, about)

    def add_corpus(self) -> None:
        """Write the corpus' graph from the edition's tables; its names are indexed meanwhile."""
        with self._scratch.database() as con:
            for row in TABLES:
                con.read_parquet(str(self._edition / f"{row.table}.parquet")).create_view(row.table)
            create_asserted_view(con, schemas.Triple.table)
            if con.execute(_ANY, OF_CORPUS).fetchone():
                _lay_out_corpus(con, self._folder(0))
                self._index(self._folder(0))

    def finish(self) -> None:
        """Wait for all indexes of names."""
        for indexing in self._indexing:
            indexing.result()

    def stop(self) -> None:
        """Wait for running work and cancel the rest."""
        self._beside.shutdown(cancel_futures=True)

    def _index(self, folder: Path) -> None:
        self._indexing.append(self._beside.submit(self._index_names, folder))

    def _index_names(self, folder: Path) -> None:
        """Index names for fuzzy look-ups, and descriptions for look-ups by content."""
        sums = [durable.sha256_file(folder / name) for name in (SPELLED, DESCRIBED)]
        made_of = " ".join([str(DERIVATION_VERSION), *sums])
        earlier = self._indexed.get(made_of)
        if not earlier or not self._taken(earlier, folder, (f"{NAMES}/**/*", *KEYS)):
            # A graph that changes is imported as a whole; the corpus changes in a few places.
            _index_anew(folder, self._building if folder == self._folder(0) else None)
            (folder / NAMES / MADE_OF).write_text(made_of, encoding="utf-8")
        for name in (SPELLED, DESCRIBED):
            (folder / name).unlink()

    def _folder(self, number: int) -> Path:
        return self._edition / FOLDER / f"{number:04d}"

    def _copied(self, earlier: _Earlier) -> Iterator[Rows]:
        """Yield a graph's rows from the parent edition."""
        assert self._parent is not None
        for row in schemas.EDITION:
            for rows in _row_range(self._parent, row, earlier.rows.get(row.table, range(0))):
                yield row, rows

    def _taken(self, source: Path, target: Path, patterns: Iterable[str] = ("**/*",)) -> bool:
        """Link files of a parent's folder, but not the one that is always rewritten.

        Returns False, and leaves none of them, if one is damaged.
        """
        paths = [path for pattern in patterns for path in sorted(source.glob(pattern))]
        names = [path.relative_to(source) for path in paths if path.is_file()]
        names = [name for name in names if name.name != IMPORT]
        return self._building.take({target / name: source / name for name in names})


def _earlier_graphs(edition: Edition) -> Iterator[_Earlier]:
    """Yield the imported graphs of an edition; their rows come last in its tables."""
    folders = [folder for folder in graph_folders(edition) if folder.name != "0000"]
    ends = {row.table: edition.rows(row) for row in schemas.EDITION}
    for folder in reversed(folders):
        about = json.loads((folder / IMPORT).read_bytes())
        places = {}
        for table, rows in about["rows"].items():
            places[table] = range(ends[table] - rows, ends[table])
            ends[table] -= rows
        yield _Earlier(folder, (about["import"], about["derivation"]), places)


def _row_range(edition: Edition, row: type[Row], wanted: range) -> Iterator[pa.Table]:
    """Yield a range of a table's rows, by row group."""
    if not wanted:
        return
    with pq.ParquetFile(edition.parquet(row)) as file:
        start = 0
        for group in range(file.num_row_groups):
            end = start + file.metadata.row_group(group).num_rows
            low, high = max(start, wanted.start), min(end, wanted.stop)
            if low < high:
                yield file.read_row_group(group).slice(low - start, high - low)
            start = end


def _lay_out(graph: ImportedGraph, folder: Path) -> None:
    """Write an imported graph's arrays, and the names and descriptions to index."""
    none = pa.nulls(len(graph.values), pa.large_string())
    values = len(graph.values)
    arrays = Graph.from_arrays(
        graph.name,
        graph.relations.to_pylist(),
        _strings(graph.names, graph.values),
        _strings(graph.ids, none),
        np.stack([graph.heads, graph.joins, graph.tails], 1),
        NO_NAMES,
        _strings(graph.kinds, none),
    )
    save_graph(arrays, folder)
    value_nodes = np.arange(len(graph.ids), arrays.nodes, dtype=np.int32)
    spelled = {
        "name": _strings(graph.aliases, graph.values),
        "node": np.concatenate([graph.alias_nodes, value_nodes]),
        "weight": np.concatenate([graph.alias_shares, np.ones(values)]),
    }
    nodes = np.flatnonzero(graph.descriptions.is_valid().to_numpy(zero_copy_only=False))
    described = {"node": nodes.astype(np.int32), "description": graph.descriptions.take(nodes)}
    _keep(folder, pa.table(spelled), pa.table(described))


def _lay_out_corpus(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    con.execute(_NODES, OF_CORPUS)
    con.execute(_RELATIONS, OF_CORPUS)
    relations = con.sql("select relation from numbered order by number").fetchall()
    labelled = con.sql("select label, id from nodes order by node").to_arrow_table()
    columns = con.execute(_EDGES, OF_CORPUS).fetchnumpy()
    edges = np.stack([columns[name].astype(np.int32) for name in columns], 1)
    names = [relation for (relation,) in relations]
    labels, ids = (labelled[name].combine_chunks() for name in ("label", "id"))
    save_graph(Graph.from_arrays(CORPUS, names, labels, ids, edges, NO_NAMES), folder)
    described = con.sql(_DESCRIPTIONS, params=OF_CORPUS).to_arrow_table()
    _keep(folder, con.sql(_SPELLINGS).to_arrow_table(), described)


def _keep(folder: Path, spelled: pa.Table, described: pa.Table) -> None:
    """Store the tables that `_index_names` will index."""
    for name, table in ((SPELLED, spelled), (DESCRIBED, described)):
        with pa.ipc.new_file(str(folder / name), table.schema) as writer:
            writer.write_table(table)


def _index_anew(folder: Path, building: Building | None) -> None:
    spelled, described = open_table(folder / SPELLED), open_table(folder / DESCRIBED)
    keys, nodes = build_name_index(
        folder / NAMES, spelled["name"], spelled["node"], spelled["weight"], building
    )
    save_names(folder, *each_once(keys, nodes))
    if len(described):
        described = described["node"], described["description"]
        build_description_index(folder / NAMES, *described, building)


def _made_of(folder: Path) -> str:
    """Return the program and checksums from which a folder's names were built; empty if unknown."""
    path = folder / NAMES / MADE_OF
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _strings(*columns: pa.Array) -> pa.Array:
    """Concatenate columns, with 32-bit offsets if they suffice."""
    whole = pa.concat_arrays(columns)
    return whole.cast(pa.string()) if whole.nbytes < MOST_BYTES else whole
