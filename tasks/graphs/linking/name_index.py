"""Look up the names of one graph by their normal form or by similar spellings.

names.arrow         name, normal form, node, weight; sorted by hash, then by falling weight
keys.npy            the hash of each row's normal form (uint64, sorted)
words/              tantivy: a document per normal form, with the number of its first row

The files are mapped into memory: opening an index of millions of names takes no time.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from tantivy import Query, TextAnalyzerBuilder, Tokenizer

from tasks.graphs.linking.spellings import (
    GRAM,
    han_of,
    han_pieces,
    padded,
    pieces,
    short_forms,
)
from tasks.graphs.name_keys import key_of, key_order, keys_of, normal_form
from tasks.text.languages import HAN
from tasks.text.word_index import (
    Part,
    made_of,
    open_table,
    open_word_index,
    part_ranges,
    write_word_index,
)
from tasks.version import code_version

if TYPE_CHECKING:
    from warehouse.editions import Building

BATCH = 1 << 16  # names in memory at a time
HEAP = 100_000_000  # bytes of memory for tantivy's writer
SCHEMA = pa.schema(
    {"name": pa.string(), "normal": pa.string(), "node": pa.int32(), "weight": pa.float32()}
)


def build_name_index(
    folder: Path, names: Any, nodes: Any, weights: Any, building: "Building | None" = None
) -> tuple[np.ndarray, np.ndarray]:
    """Write the index of names (pyarrow strings) of nodes (int) into an empty or new folder.

    A node may have many names and a name many nodes; `weights` (0 to 1) distinguish a node's own
    name from its aliases. Parts that the parent of the `building` has are linked. Needs about 40
    bytes of memory per name. Returns the keys (uint64) of names, sorted by key and falling weight,
    and their nodes (int32).
    """
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / "normal.part"
    keys = _write_normal_forms(part, names)
    nodes = np.asarray(nodes, np.int32)
    weights = np.asarray(weights, np.float32)
    order = key_order(keys, nodes, weights)
    normals = open_table(part)["normal"]
    with _writer(folder / "names.arrow", SCHEMA) as writer:
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            texts = [_taken(names, rows), _taken(normals, rows)]
            numbers = [pa.array(nodes[rows]), pa.array(weights[rows])]
            writer.write_batch(pa.record_batch([*texts, *numbers], schema=SCHEMA))
    del normals
    part.unlink()
    keys, nodes = keys[order], nodes[order]
    np.save(folder / "keys.npy", keys)
    _index_spellings(folder / "words", open_table(folder / "names.arrow"), keys, building)
    return keys, nodes


def register_tokenizers(index: Any) -> None:
    """Register the tokenizers of names, which tantivy does not store with an index."""
    for name, least, most in (("pieces", GRAM, GRAM), ("han", 1, 2)):
        index.register_tokenizer(name, TextAnalyzerBuilder(Tokenizer.ngram(least, most)).build())


def _writer(path: Path, schema: pa.Schema) -> Any:
    return pa.ipc.new_file(str(path), schema)


def _taken(texts: Any, rows: np.ndarray) -> pa.Array:
    taken = texts.take(pa.array(rows))
    if isinstance(taken, pa.ChunkedArray):
        taken = taken.combine_chunks()
    return taken.cast(pa.string()).fill_null("")


def _write_normal_forms(path: Path, names: Any) -> np.ndarray:
    """Write the normal form of each name; return their keys."""
    keys = [np.empty(0, np.uint64)]
    schema = pa.schema({"normal": pa.string()})
    with _writer(path, schema) as writer:
        for start in range(0, len(names), BATCH):
            rows = np.arange(start, min(start + BATCH, len(names)))
            normals = list(map(normal_form, _taken(names, rows).to_pylist()))
            keys.append(keys_of(normals))
            writer.write_batch(pa.record_batch([pa.array(normals, pa.string())], schema=schema))
    return np.concatenate(keys)


def _index_spellings(
    folder: Path, table: pa.Table, keys: np.ndarray, building: "Building | None"
) -> None:
    """Index each distinct normal form once, with its first row."""
    rows = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))  # the first of each key
    normals = table["normal"]

    def parts() -> Iterator[Part]:
        for start, end in part_ranges(keys[rows]) if building else [(0, len(rows))]:
            first, own = int(rows[start]) if len(rows) else 0, rows[start:end]
            spelled = building and pa.table([_taken(normals, own)], ["normal"])
            contents = made_of(code_version(), own - first, spelled) if spelled else ""
            yield Part(first, contents, partial(_spellings, normals, own, first))

    fields = {"words": "whitespace", "pieces": "pieces", "han": "han", "short": "raw"}
    write_word_index(folder, fields, "basic", parts(), HEAP, building, register_tokenizers)


def _spellings(normals: Any, rows: np.ndarray, first: int) -> Iterator[dict[str, Any]]:
    """Yield the document of the normal form in each of the rows, counted from the first."""
    for start in range(0, len(rows), BATCH):
        own = rows[start : start + BATCH]
        texts = zip((own - first).tolist(), _taken(normals, own).to_pylist(), strict=True)
        for row, normal in texts:
            document = {"row": row, "words": normal, "pieces": padded(normal)}
            document["short"] = short_forms(normal)
            han = "" if normal.isascii() else han_of(normal)
            yield {**document, "han": han} if han else document


MOST_PIECES = 24
POSTINGS = 300_000  # index entries that the n-grams of one name may visit
NEAR_WORDS = 4  # words per name for which similar spellings are looked up
RARE = 20  # a word that fewer names have may be a misspelling
SHORT_CHINESE = 5  # characters: in a shorter name, one wrong character spoils nearly all pairs
REMEMBERED = 100_000  # words whose rarity is cached
NEAR = 64  # rows of similar spelling
NAMESAKES = 5  # per similar spelling, so that frequent names do not hide the others


@dataclass(frozen=True, slots=True)
class Spelling:
    """A name in the index, with its normal form, node and weight."""

    name: str
    normal: str
    node: int
    weight: float


class NameIndex:
    """The names of one graph."""

    def __init__(self, folder: Path) -> None:
        """Open the index that `build_name_index` wrote; its files are mapped into memory."""
        self._opened = open_word_index(folder / "words")
        self._searcher = self._opened.searcher
        register_tokenizers(self._opened.index)
        self._names = open_table(folder / "names.arrow")
        self._rarities: dict[str, float] = {}
        self._keys = np.load(folder / "keys.npy", mmap_mode="r")

    def __len__(self) -> int:
        """Return the number of pairs of a name and a node."""
        return len(self._keys)

    def bearers(self, name: str, limit: int = 100) -> list[Spelling]:
        """Return the names with the same normal form, highest weight first."""
        normal = normal_form(name)
        key = np.frombuffer(key_of(normal), np.uint64)[0]
        low = int(np.searchsorted(self._keys, key, "left"))
        return [spelling for spelling in self._from(low, limit) if spelling.normal == normal]

    def near(self, name: str) -> list[Spelling]:
        """Return names with similar spelling, short forms and parts, likeliest first."""
        normal = normal_form(name)
        if not len(self):
            return []
        queries = [*self._piece_queries(normal), *self._word_queries(normal)]
        queries.append(Query.boost_query(self._opened.term("short", normal), 20.0))
        similar = [
            s for row in self._opened.best(queries, NEAR) for s in self._from(row, NAMESAKES)
        ]
        return [*(s for form in short_forms(normal) for s in self.bearers(form, 5)), *similar]

    def rarity(self, token: str) -> float:
        """Return how rare a word or pair of Chinese characters is among names, 0 to 1."""
        if token not in self._rarities:
            if len(self._rarities) > REMEMBERED:
                self._rarities.clear()
            field = "han" if HAN.search(token) else "words"
            frequency = int(self._searcher.doc_freq(field, token))
            self._rarities[token] = 1 - math.log1p(frequency) / math.log(len(self) + 2)
        return self._rarities[token]

    def _piece_queries(self, normal: str) -> Iterator[Any]:
        """Yield queries for the rarest n-grams, as many as `POSTINGS` allows."""
        chinese = 2 * len(han_of(normal)) > len(normal)
        field, parts = ("han", han_pieces(normal)) if chinese else ("pieces", pieces(normal))
        if chinese and len(normal) <= SHORT_CHINESE:
            parts += list(dict.fromkeys(normal))
        counted = sorted((self._searcher.doc_freq(field, part), part) for part in parts)
        visited = 0
        for frequency, part in [c for c in counted if c[0]][:MOST_PIECES]:
            visited += frequency
            if visited > POSTINGS:
                return
            yield self._opened.term(field, part)

    def _word_queries(self, normal: str) -> Iterator[Any]:
        """Yield queries for words and, where a word is rare, for similar spellings."""
        counted = sorted(
            (self._searcher.doc_freq("words", word), word) for word in set(normal.split())
        )
        for frequency, word in counted[:NEAR_WORDS]:
            if 0 < frequency < POSTINGS:
                yield Query.boost_query(self._opened.term("words", word), 2.0)
            if frequency < RARE and 4 <= len(word) <= 30:
                distance = 1 if len(word) < 8 else 2
                near = Query.fuzzy_term_query(self._opened.index.schema, "words", word, distance)
                yield Query.boost_query(near, 12.0)

    def _from(self, row: int, limit: int) -> list[Spelling]:
        """Return at most `limit` rows, from this one on, with the same hash."""
        if row >= len(self):
            return []
        keys = self._keys[row : row + limit]
        columns = self._names.slice(row, int((keys == keys[0]).sum())).to_pydict()
        return [Spelling(*fields) for fields in zip(*columns.values(), strict=True)]
