"""Index the descriptions of a graph's nodes, by node and by their words.

descriptions.arrow   node (int32, sorted), description
described/           tantivy: words outside Chinese stemmed, Chinese in pairs of characters
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tasks.graphs.linking.name_index import BATCH, HEAP, register_tokenizers
from tasks.graphs.linking.spellings import han_pieces
from tasks.text.languages import HAN
from tasks.text.stems import english_stem
from tasks.text.word_index import (
    Part,
    keys_of_ids,
    made_of,
    open_table,
    open_word_index,
    part_ranges,
    write_word_index,
)
from tasks.text.words import words_outside_chinese
from tasks.version import code_version

if TYPE_CHECKING:
    from warehouse.editions import Building

SCHEMA = pa.schema({"node": pa.int32(), "description": pa.string()})
SEARCHED = 2000  # characters of a description that are indexed
MOST_WORDS = 16  # words of a query


def build_description_index(
    folder: Path, nodes: Any, descriptions: Any, building: "Building | None" = None
) -> None:
    """Write the descriptions (pyarrow strings) of nodes (int) into the folder of a name index.

    Parts that the parent of the `building` has are linked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    nodes = np.asarray(nodes, np.int32)
    order = np.argsort(nodes, kind="stable")
    path = folder / "descriptions.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as rows:
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            texts = [text or "" for text in descriptions.take(pa.array(batch)).to_pylist()]
            rows.write_batch(pa.record_batch([nodes[batch], pa.array(texts)], schema=SCHEMA))
    written = open_table(path).select(["description"])
    ranges = part_ranges(keys_of_ids(written["description"])) if building else [(0, len(order))]
    parts = (
        Part(first, made_of(code_version(), texts) if building else "", partial(_documents, texts))
        for first, end in ranges
        for texts in [written.slice(first, end - first)]
    )
    fields = {"words": "en_stem", "han": "han"}
    place = folder / "described"
    write_word_index(place, fields, "freq", parts, HEAP, building, register_tokenizers)


def _documents(texts: pa.Table) -> Iterator[dict[str, Any]]:
    batches = (batch.column(0).to_pylist() for batch in texts.to_batches(BATCH))
    for row, text in enumerate(chain.from_iterable(batches)):
        start = text[:SEARCHED]
        han = " ".join(HAN.findall(start))
        yield {"row": row, "words": words_outside_chinese(start), "han": han}


class DescriptionIndex:
    """The descriptions of one graph's nodes."""

    def __init__(self, folder: Path) -> None:
        """Open what `build_description_index` wrote; its files are mapped into memory."""
        self._opened = open_word_index(folder / "described")
        self._searcher = self._opened.searcher
        register_tokenizers(self._opened.index)
        table = open_table(folder / "descriptions.arrow")
        self._nodes = table["node"].to_numpy()
        self._texts = table["description"]

    def of(self, node: int) -> str:
        """Return the description of a node, empty if it has none."""
        row = int(np.searchsorted(self._nodes, node))
        has_one = row < len(self._nodes) and self._nodes[row] == node
        return str(self._texts[row].as_py()) if has_one else ""

    def rarity(self, word: str) -> float:
        """Return how rare a stem is, from 0 (every description has it) to about 1."""
        field = "han" if HAN.search(word) else "words"
        total = self._searcher.num_docs + 1
        share = (self._searcher.doc_freq(field, word) + 1) / total
        return float(np.log(1 / share) / np.log(total + 1)) if total > 1 else 1.0

    def search(self, text: str, limit: int) -> list[tuple[int, float]]:
        """Return the best nodes by BM25, each with the share of the words in its description.

        The share, from 0 to 1, weights words by rarity.
        """
        terms = list(dict.fromkeys(self._terms(text)))[:MOST_WORDS]
        if not terms:
            return []
        either = [self._opened.term(field, word, "freq") for field, word in terms]
        nodes = self._nodes[self._opened.best(either, limit)].tolist()
        weights = {word: self.rarity(word) + 0.01 for _, word in terms}
        total = sum(weights.values())
        return [(node, self._share(node, weights) / total) for node in nodes]

    def _share(self, node: int, weights: dict[str, float]) -> float:
        has = {word for _, word in self._terms(self.of(node)[:SEARCHED])}
        return sum(weight for word, weight in weights.items() if word in has)

    def _terms(self, text: str) -> Iterator[tuple[str, str]]:
        for word in words_outside_chinese(text).split():
            yield "words", english_stem(word)
        for piece in han_pieces(text):
            yield "han", piece
