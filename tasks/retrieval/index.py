"""An edition's search folder: word indexes, vectors, and the graph of entities and passages.

It is built from the edition's Parquet files alone, in the order of their rows:

    passages.arrow, notes.arrow      the texts to show, open for random access
    statements.arrow                 the statements of each passage, in the order of the passages
    words/{passages,notes,names}     tantivy indexes; English is stemmed, Chinese cut by rjieba
    vectors.npy, vectors.rows.npy    float16 (texts, dimensions), and the row of each text
    chinese_vectors.npy, ….rows.npy  the same for Chinese, if there is an encoder for it
    graph.npz                        edges between entities and passages
    search.json                      encoders and counts

Texts are numbered with the passages first, then the notes: descriptions, then aspects.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import schemas
from tasks.models.encoders.load import Encoder
from tasks.retrieval.passage_graph import EntityNames, build_passage_graph
from tasks.retrieval.texts import (
    OF_CORPUS,
    rows_of,
    write_note_texts,
    write_passage_texts,
    write_statements,
)
from tasks.text.languages import is_chinese
from tasks.text.words import words_in_chinese, words_outside_chinese
from warehouse.scratch import Scratch

BATCH = 4096  # texts per call of the encoder
HEAP = 30_000_000  # bytes of memory for tantivy's writer


def build_index(
    edition: Path,
    encoder: Encoder | None,
    chinese_encoder: Encoder | None = None,
    scratch: Scratch | None = None,
) -> None:
    """Write the folder `search/` of an edition from its Parquet files.

    Without a Chinese encoder, Chinese texts have no vectors and are retrieved by words alone.
    """
    folder = edition / "search"
    folder.mkdir(parents=True, exist_ok=True)
    passages = write_passage_texts(edition, folder / "passages.arrow")
    notes = write_note_texts(edition, folder / "notes.arrow")
    write_statements(edition, folder / "statements.arrow", scratch or Scratch())
    entities = _entity_rows(edition)
    names = EntityNames.read(edition, entities)
    with ThreadPoolExecutor(3) as beside:  # the word indexes mostly wait for the disk
        words = folder / "words"
        passage_rows = _columns(passages, "title", "headings", "text")
        note_rows = _columns(notes, "entity", "aspect", "text")
        indexed = [
            beside.submit(_index_words, words / "passages", passage_rows),
            beside.submit(_index_words, words / "notes", note_rows),
            beside.submit(_index_names, words / "names", names),
        ]
        build_passage_graph(edition, passages, entities, names).save(folder / "graph.npz")
        if encoder or chinese_encoder:
            texts = [*map(passage_meaning, rows_of(passages)), *map(_note_meaning, rows_of(notes))]
            chinese = np.array([is_chinese(text) for text in texts], bool)
            outside = ~chinese & np.array(list(map(bool, texts)), bool)  # no vector of nothing
            if encoder:
                _write_vectors(folder, "vectors", texts, np.flatnonzero(outside), encoder)
            if chinese_encoder:
                _write_vectors(
                    folder, "chinese_vectors", texts, np.flatnonzero(chinese), chinese_encoder
                )
        for one in indexed:
            one.result()
    about = {
        "encoder": encoder.id if encoder else None,
        "chinese_encoder": chinese_encoder.id if chinese_encoder else None,
        "passages": len(passages),
        "notes": len(notes),
        "entities": len(entities),
    }
    (folder / "search.json").write_text(json.dumps(about, indent=1), encoding="utf-8")


def _entity_rows(edition: Path) -> dict[str, int]:
    path = edition / f"{schemas.Entity.table}.parquet"
    ids = pq.read_table(path, columns=["entity_id"], filters=OF_CORPUS)["entity_id"].to_pylist()
    return {entity_id: row for row, entity_id in enumerate(ids)}


def _columns(table: pa.Table, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield some columns of each row, holding one batch at a time."""
    for batch in table.select(names).to_batches(BATCH):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def passage_meaning(row: dict[str, Any]) -> str:
    """Return the text of a passage's vector: its title, headings and text; empty without a text."""
    if not row["text"]:
        return ""
    above = [part for part in (row["title"], row["headings"]) if part]
    return "\n".join([*above, row["text"]])


def _note_meaning(row: dict[str, Any]) -> str:
    return row["question"] or f"{row['entity']}: {row['text']}"


def _index_words(folder: Path, rows: Iterator[tuple[str, ...]]) -> None:
    """Index rows of a title in two parts and a text; Chinese words are not stemmed."""
    import tantivy

    schema = tantivy.SchemaBuilder().add_integer_field("row", fast=True)
    for field, tokenizer in (("title", "en_stem"), ("text", "en_stem")):
        schema = schema.add_text_field(field, tokenizer_name=tokenizer, index_option="freq")
        schema = schema.add_text_field(
            f"chinese_{field}", tokenizer_name="whitespace", index_option="freq"
        )
    folder.mkdir(parents=True)
    writer = tantivy.Index(schema.build(), path=str(folder)).writer(HEAP, 1)
    for row, (above, below, text) in enumerate(rows):
        title = f"{above} {below}" if text else ""  # what has no words of its own is never found
        words = {**_words("title", title), **_words("text", text)}
        writer.add_document(tantivy.Document(row=row, **words))
    writer.commit()
    writer.wait_merging_threads()


def _words(field: str, text: str) -> dict[str, str]:
    if text.isascii():  # tantivy's own tokenizer splits ASCII in the same way
        return {field: text, f"chinese_{field}": ""}
    return {field: words_outside_chinese(text), f"chinese_{field}": words_in_chinese(text)}


def _index_names(folder: Path, names: EntityNames) -> None:
    """Index entity aliases: `key` is the whole normalised name, `words` its single words."""
    import tantivy

    schema = (
        tantivy.SchemaBuilder()
        .add_integer_field("row", fast=True)
        .add_float_field("weight", fast=True)
        .add_text_field("key", tokenizer_name="raw", index_option="basic")
        .add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        .build()
    )
    folder.mkdir(parents=True)
    writer = tantivy.Index(schema, path=str(folder)).writer(HEAP, 1)
    columns = (names.entities.tolist(), names.keys, names.weights.tolist())
    for row, key, weight in zip(*columns, strict=True):
        writer.add_document(tantivy.Document(row=row, weight=weight, key=key, words=key))
    writer.commit()
    writer.wait_merging_threads()


def _write_vectors(
    folder: Path, name: str, texts: list[str], rows: np.ndarray, encoder: Encoder
) -> None:
    shape = (len(rows), encoder.dimensions)
    vectors = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float16, shape)
    for start in range(0, len(rows), BATCH):
        batch = [texts[row] for row in rows[start : start + BATCH]]
        vectors[start : start + BATCH] = encoder.encode(batch)
    vectors.flush()
    np.save(folder / f"{name}.rows.npy", rows.astype(np.int32))
