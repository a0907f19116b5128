"""The graph of passages and the entities they name, over which search walks."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import schemas
from tasks.retrieval.texts import corpus_aliases, corpus_batches
from tasks.text.names import normalise_name

# Chosen on HotpotQA, MuSiQue and 2WikiMultiHop together; flat around these values.
TITLE_WEIGHT = 3.0  # of an edge to the passage about an entity; mentions weigh log(1 + times)
FACT_WEIGHT = 1.0
FOLLOW = 0.7  # the probability of following a link rather than returning to the start
REST = 3e-6  # a node with less time than this per link passes none of it on
ROWS = 1 << 20  # triples whose ends are looked up at a time
LINK_COLUMNS = ["entity_id", "document_id", "passage_id", "times"]


@dataclass(frozen=True)
class PassageGraph:
    """Edges as arrays (int32) of entity rows and passage rows.

    named: (entity, passage, times), sorted by passage: how often a passage names an entity.
    titled: (entity, passage): the first passage of a document whose title names the entity.
    related: (head, tail): triples between entities.
    """

    entities: int
    passages: int
    named: np.ndarray
    titled: np.ndarray
    related: np.ndarray

    def save(self, path: Path) -> None:
        """Write the arrays."""
        sizes = np.array([self.entities, self.passages])
        np.savez(path, sizes=sizes, named=self.named, titled=self.titled, related=self.related)

    @classmethod
    def load(cls, path: Path) -> "PassageGraph":
        """Read the arrays."""
        with np.load(path, allow_pickle=False) as file:
            entities, passages = map(int, file["sizes"])
            return cls(entities, passages, file["named"], file["titled"], file["related"])


@dataclass(frozen=True)
class EntityNames:
    """The names of the corpus' entities: entity rows (int32), normalised names and weights."""

    entities: np.ndarray
    keys: list[str]
    weights: np.ndarray

    @classmethod
    def read(cls, edition: Path, entity_rows: dict[str, int]) -> "EntityNames":
        """Read the names of the entities in `entity_rows`, which maps ids to rows."""
        entities: list[int] = []
        keys: list[str] = []
        weights: list[float] = []
        for batch in corpus_aliases(edition, entity_rows, ["alias", "weight"]):
            entities += [entity_rows[entity_id] for entity_id in batch["entity_id"].to_pylist()]
            keys += [normalise_name(alias) for alias in batch["alias"].to_pylist()]
            weights += batch["weight"].to_pylist()
        return cls(np.array(entities, np.int32), keys, np.array(weights, np.float64))


def build_passage_graph(
    edition: Path, passages: pa.Table, entity_rows: dict[str, int], names: EntityNames
) -> PassageGraph:
    """Build the graph from an edition's tables; `passages` gives the order of passages."""
    ids = pa.array(entity_rows, pa.string())
    named = pq.read_table(edition / f"{schemas.EntityPassage.table}.parquet", columns=LINK_COLUMNS)
    there = pc.index_in(_places(named), value_set=_places(passages))
    links = _edges(pc.index_in(named["entity_id"], value_set=ids), there, named["times"])
    links = links[np.lexsort((links[:, 0], links[:, 1]))]
    titled = _titled(passages, links, names)
    related = _related(edition, ids)
    return PassageGraph(len(entity_rows), len(passages), links, titled, related)


def _places(table: pa.Table) -> Any:
    """Return document and passage of each row as one string."""
    return pc.binary_join_element_wise(table["document_id"], table["passage_id"], " ")


def _titled(passages: pa.Table, links: np.ndarray, names: EntityNames) -> np.ndarray:
    """Return which entity each document is about, judging by its title.

    Among namesakes only those that the document names count; a title that the document does not
    name still counts if only one entity bears it.
    """
    documents = passages["document_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    worded = np.flatnonzero(pc.not_equal(passages["text"], "").to_numpy())
    numbers, first = np.unique(documents[worded], return_index=True)
    first = worded[first]
    titles = passages["title"].take(pa.array(first)).to_pylist()
    keys = [normalise_name(title) for title in titles]
    bearers: dict[str, set[int]] = {key: set() for key in keys}
    for entity, key in zip(names.entities.tolist(), names.keys, strict=True):
        if key in bearers:
            bearers[key].add(entity)
    wanted = np.array([entity for entities in bearers.values() for entity in entities], np.int32)
    relevant = links[np.isin(links[:, 0], wanted)]
    inside = set(zip(documents[relevant[:, 1]].tolist(), relevant[:, 0].tolist(), strict=True))
    titled = []
    for document, row, key in zip(numbers.tolist(), first.tolist(), keys, strict=True):
        candidates = bearers[key]
        chosen = {entity for entity in candidates if (document, entity) in inside}
        if not chosen and len(candidates) == 1:
            chosen = candidates
        titled += [(entity, row) for entity in sorted(chosen)]
    return np.array(titled, np.int32).reshape(-1, 2)


def _related(edition: Path, entity_ids: pa.Array) -> np.ndarray:
    pairs = [np.empty((0, 2), np.int32)]
    for batch in corpus_batches(edition, schemas.Triple, ["head_id", "tail_id"], ROWS):
        ends = _edges(*(pc.index_in(ids, value_set=entity_ids) for ids in batch.columns))
        pairs.append(ends[ends[:, 0] != ends[:, 1]])
    return np.unique(np.concatenate(pairs), axis=0)


def _edges(*columns: Any) -> np.ndarray:
    """Return the edges in which no column is null, as int32 (edges, columns)."""
    table = pa.table(list(columns), list(map(str, range(len(columns))))).drop_null()
    return np.stack([column.to_numpy().astype(np.int32) for column in table.columns], 1)


class Walker:
    """Personalised PageRank over passages and entities.

    The walk starts at the question's entities and at the passages retrieved for it, follows random
    links and often restarts, so it favours nodes that several starting points lead to (Haveliwala
    2002; on passages and entities, HippoRAG, Gutiérrez et al. 2024). It is computed by pushing
    shares of time from node to node (Andersen, Chung, Lang 2006, "Local graph partitioning using
    PageRank vectors"), so its cost is bounded whatever the size of the graph.
    """

    def __init__(self, graph: PassageGraph) -> None:
        self.graph = graph
        entity, passage, times = graph.named.T
        about, first_passage = graph.titled.T
        head, tail = graph.related.T
        base = graph.entities
        one_way = np.concatenate([entity, about, head])
        other = np.concatenate([passage + base, first_passage + base, tail])
        weight = np.concatenate(
            [np.log1p(times), np.full(len(about), TITLE_WEIGHT), np.full(len(head), FACT_WEIGHT)]
        )
        left = np.concatenate([one_way, other]).astype(np.int64)
        edges = np.arange(len(left))
        # Sorting node and edge in one number is several times faster than `argsort`.
        order = np.sort(left << 32 | edges) & 0xFFFFFFFF
        nodes = base + graph.passages
        both = np.concatenate([weight, weight])
        total = np.bincount(left, both, nodes)
        self._links = np.bincount(left, minlength=nodes)  # of each node
        self._first = np.cumsum(self._links) - self._links
        self._to = np.concatenate([other, one_way])[order]
        self._share = (both / total[left])[order]
        self.passages_of = np.bincount(entity, minlength=base)

    def walk(self, entities: dict[int, float], passages: dict[int, float]) -> np.ndarray:
        """Return the share of time that the walk spends at each passage, float (passages,).

        No node is left with more than REST for each of its links to pass on, and at most
        1 / (REST * (1 - FOLLOW)) links are followed.
        """
        base, nodes = self.graph.entities, self.graph.entities + self.graph.passages
        waiting = np.zeros(nodes)  # time that is still to be spent or passed on
        for row, weight in entities.items():
            waiting[row] += weight
        for row, weight in passages.items():
            waiting[base + row] += weight
        time = np.zeros(nodes)
        if not waiting.any():
            return time[base:]
        waiting /= waiting.sum()
        active = np.flatnonzero(waiting)
        while len(active):
            passed = waiting[active]
            time[active] += (1 - FOLLOW) * passed
            waiting[active] = 0
            links = self._links[active]
            ends = np.cumsum(links)
            edges = np.arange(ends[-1]) + np.repeat(self._first[active] - ends + links, links)
            reached, shares = (
                self._to[edges],
                np.repeat(FOLLOW * passed, links) * self._share[edges],
            )
            np.add.at(waiting, reached, shares)
            reached = np.unique(reached)
            active = reached[waiting[reached] > REST * self._links[reached]]
        return time[base:]
