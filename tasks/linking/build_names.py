"""Write the names of one graph as files that `NameIndex` opens.

names.arrow         name, normal form, node, weight; sorted by hash, the weightiest first
keys.npy            the hash of each row's normal form (uint64, sorted)
words/              tantivy: a document for each different normal form, its first row its value
names.json          counts
"""

import json
from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tasks.linking.spellings import GRAM, han_of, padded, short_forms
from tasks.names import MAX_NAME, normalise_name

BATCH = 1 << 16  # names in memory at a time
HEAP = 100_000_000  # bytes of memory for tantivy's writer
SCHEMA = pa.schema(
    {"name": pa.string(), "normal": pa.string(), "node": pa.int32(), "weight": pa.float32()}
)


def normal_form(name: str) -> str:
    """Return the form that names are compared in; a name of signs alone is compared as it is."""
    return normalise_name(name) or name[:MAX_NAME]


def key_of(normal: str) -> bytes:
    """Return the eight bytes by which a normal form is found."""
    return blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def build_name_index(folder: Path, names: Any, nodes: Any, weights: Any) -> None:
    """Write the index of names (pyarrow strings) of nodes (int) into an empty or new folder.

    A node may have many names and a name many nodes; `weights` (0 to 1) tell a node's own name
    from its aliases. Beside a batch of names it holds about 40 bytes for each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / "normal.part"
    hashes = _write_normal_forms(aside, names)
    nodes = np.asarray(nodes, np.int32)
    weights = np.asarray(weights, np.float32)
    order = np.lexsort((nodes, -weights, hashes))
    normals = open_table(aside)["normal"]
    with _writer(folder / "names.arrow", SCHEMA) as writer:
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            texts = [_taken(names, rows), _taken(normals, rows)]
            numbers = [pa.array(nodes[rows]), pa.array(weights[rows])]
            writer.write_batch(pa.record_batch([*texts, *numbers], schema=SCHEMA))
    del normals
    aside.unlink()
    keys = hashes[order]
    np.save(folder / "keys.npy", keys)
    distinct = _index_spellings(folder / "words", open_table(folder / "names.arrow"), keys)
    about = {"names": len(keys), "distinct": distinct}
    (folder / "names.json").write_text(json.dumps(about, indent=1), encoding="utf-8")


def open_table(path: Path) -> pa.Table:
    """Return a table without reading it: its pages come from the file as needed."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def register_tokenizers(index: Any) -> None:
    """Teach an index how names are cut, which tantivy doesn't keep with it."""
    from tantivy import TextAnalyzerBuilder, Tokenizer

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
    """Write the normal form of each name; return their hashes."""
    digests = []
    schema = pa.schema({"normal": pa.string()})
    with _writer(path, schema) as writer:
        for start in range(0, len(names), BATCH):
            batch = names.slice(start, BATCH).to_pylist()
            normals = [normal_form(name or "") for name in batch]
            digests.append(b"".join(map(key_of, normals)))
            writer.write_batch(pa.record_batch([pa.array(normals, pa.string())], schema=schema))
    return np.frombuffer(b"".join(digests), np.uint64)


def _index_spellings(folder: Path, table: pa.Table, keys: np.ndarray) -> int:
    """Index each different normal form once, with its first row; return how many there are."""
    import tantivy

    schema = tantivy.SchemaBuilder().add_integer_field("row", fast=True)
    fields = {"words": "whitespace", "pieces": "pieces", "han": "han", "short": "raw"}
    for field, tokenizer in fields.items():
        schema = schema.add_text_field(field, tokenizer_name=tokenizer, index_option="basic")
    folder.mkdir()
    index = tantivy.Index(schema.build(), path=str(folder))
    register_tokenizers(index)
    writer = index.writer(HEAP, 1)
    distinct = 0
    for row, normal in _first_rows(table, keys):
        document = tantivy.Document(row=row, words=normal, pieces=padded(normal))
        if han := han_of(normal):
            document.add_text("han", han)
        for form in short_forms(normal):
            document.add_text("short", form)
        writer.add_document(document)
        distinct += 1
    writer.commit()
    writer.wait_merging_threads()
    return distinct


def _first_rows(table: pa.Table, keys: np.ndarray) -> Iterator[tuple[int, str]]:
    """Yield the first row of each key, with its normal form."""
    first = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
    for start, end in pairwise([*range(0, len(first), BATCH), len(first)]):
        rows = first[start:end]
        yield from zip(rows.tolist(), _taken(table["normal"], rows).to_pylist(), strict=True)
