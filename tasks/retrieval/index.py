"""An edition's search folder: word indexes, vectors, and the graph of entities and passages.

It is built from the edition's Parquet files alone, in the order of their rows:

    passages.arrow, notes.arrow      the texts to show, open for random access
    statements/*.arrow               the statements of each passage, in the order of the passages
    words/{passages,notes,names}     tantivy indexes; English is stemmed, Chinese cut by rjieba
    vectors/*.npy, *.rows.npy        float16 (texts, dimensions), and the row of each text
    chinese_vectors/                 the same for Chinese, if there is an encoder for it
    graph.npz                        edges between entities and passages
    search.json                      encoders, counts, and each part's first row and file

Words, statements and vectors are in parts (`tasks.text.word_index`), whose rows count from the
part's first row. A file is named after the hash of what it was made of. Texts are numbered with the
passages first, then the notes: descriptions, then aspects.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from tasks.text.word_index import Part, keys_of_ids, made_of, part_ranges, write_word_index
from tasks.text.words import words_in_chinese, words_outside_chinese
from tasks.version import code_version
from warehouse.scratch import Scratch

if TYPE_CHECKING:
    from warehouse.editions import Building

Meaning = Callable[[dict[str, Any]], str]
BATCH = 4096  # texts per call of the encoder
HEAP = 30_000_000  # bytes of memory for tantivy's writer


def build_index(
    edition: Path,
    encoder: Encoder | None,
    chinese_encoder: Encoder | None = None,
    scratch: Scratch | None = None,
    building: "Building | None" = None,
) -> None:
    """Write the folder `search/` of an edition from its Parquet files.

    The parts of word indexes that the parent of the `building` has are taken from there. Without a
    Chinese encoder, Chinese texts have no vectors and are retrieved by words alone.
    """
    folder = edition / "search"
    folder.mkdir(parents=True, exist_ok=True)
    passages = write_passage_texts(edition, folder / "passages.arrow")
    notes = write_note_texts(edition, folder / "notes.arrow")
    kinds = (
        (passages, keys_of_ids(passages["document_id"]), passage_meaning),
        (notes, keys_of_ids(notes["entity_id"]), _note_meaning),
    )
    parts = {
        "statements": write_statements(
            edition, passages, folder / "statements", scratch or Scratch(), building
        )
    }
    path = edition / f"{schemas.Entity.table}.parquet"
    ids = pq.read_table(path, columns=["entity_id"], filters=OF_CORPUS)["entity_id"].to_pylist()
    entities = {entity_id: row for row, entity_id in enumerate(ids)}
    names = EntityNames.read(edition, entities)
    with ThreadPoolExecutor(3) as beside:  # the word indexes mostly wait for the disk
        words = folder / "words"
        of_entities = keys_of_ids(pa.array(entities, pa.string()))
        titled = (["title", "headings", "text"], ["entity", "aspect", "text"])
        indexed = [
            beside.submit(_index_words, words / kind, texts.select(columns), keys, building)
            for kind, columns, (texts, keys, _) in zip(
                ("passages", "notes"), titled, kinds, strict=True
            )
        ]
        indexed.append(beside.submit(_index_names, words / "names", names, of_entities, building))
        build_passage_graph(edition, passages, entities, names).save(folder / "graph.npz")
        for name, model in (("vectors", encoder), ("chinese_vectors", chinese_encoder)):
            if model:
                parts[name] = _write_vectors(folder / name, model, kinds, building)
        for one in indexed:
            one.result()
    about = {
        "encoder": encoder.id if encoder else None,
        "chinese_encoder": chinese_encoder.id if chinese_encoder else None,
        "passages": len(passages),
        "notes": len(notes),
        "entities": len(entities),
        "parts": parts,
    }
    (folder / "search.json").write_text(json.dumps(about, indent=1), encoding="utf-8")


def passage_meaning(row: dict[str, Any]) -> str:
    """Return the text of a passage's vector: its title, headings and text; empty without a text."""
    if not row["text"]:
        return ""
    above = [part for part in (row["title"], row["headings"]) if part]
    return "\n".join([*above, row["text"]])


def _note_meaning(row: dict[str, Any]) -> str:
    return row["question"] or f"{row['entity']}: {row['text']}"


def _index_words(
    folder: Path, texts: pa.Table, keys: np.ndarray, building: "Building | None"
) -> None:
    """Index texts: columns of a title in two parts and a text. Chinese words are not stemmed.

    `keys` are those of the rows, which decide where parts begin.
    """
    fields = {"title": "en_stem", "chinese_title": "whitespace"}
    fields |= {"text": "en_stem", "chinese_text": "whitespace"}
    parts = (
        Part(first, made_of(code_version(), rows), partial(_documents, rows))
        for first, end in part_ranges(keys)
        for rows in [texts.slice(first, end - first)]
    )
    write_word_index(folder, fields, "freq", parts, HEAP, building)


def _documents(texts: pa.Table) -> Iterator[dict[str, Any]]:
    batches = (
        zip(*(c.to_pylist() for c in b.columns), strict=True) for b in texts.to_batches(BATCH)
    )
    for row, (above, below, text) in enumerate(chain.from_iterable(batches)):
        title = f"{above} {below}" if text else ""  # what has no words of its own is never found
        yield {"row": row, **_words("title", title), **_words("text", text)}


def _words(field: str, text: str) -> dict[str, str]:
    if text.isascii():  # tantivy's own tokenizer splits ASCII in the same way
        return {field: text, f"chinese_{field}": ""}
    return {field: words_outside_chinese(text), f"chinese_{field}": words_in_chinese(text)}


def _index_names(
    folder: Path, names: EntityNames, of_entities: np.ndarray, building: "Building | None"
) -> None:
    """Index entity aliases by the whole normalised name, `key`; `row` is that of the entity.

    `of_entities` are the keys of entities, which decide where parts begin.
    """
    order = np.argsort(names.entities, kind="stable")
    entities, weights = names.entities[order], names.weights[order]
    keys = pa.table({"key": names.keys}).take(pa.array(order))

    def parts() -> Iterator[Part]:
        for start, end in part_ranges(of_entities[entities]):
            first = int(entities[start])
            rows, own = entities[start:end] - first, keys.slice(start, end - start)
            columns = {"row": rows, "weight": weights[start:end], "key": own["key"]}
            documents = partial(rows_of, pa.table(columns))
            yield Part(first, made_of(code_version(), rows, weights[start:end], own), documents)

    fields = {"key": "raw"}
    write_word_index(folder, fields, "basic", parts(), HEAP, building, floats=["weight"])


def _write_vectors(
    folder: Path,
    encoder: Encoder,
    kinds: Iterable[tuple[pa.Table, np.ndarray, Meaning]],
    building: "Building | None",
) -> list[tuple[int, str]]:
    """Write the vectors of texts in parts; return first row and file of each part.

    `kinds` are texts with their keys, which decide where parts begin, and what a text means.
    """
    folder.mkdir()
    listed, before = [], 0
    for texts, keys, meaning in kinds:
        for first, end in part_ranges(keys):
            own = texts.slice(first, end - first)
            name = made_of(f"{code_version()} {encoder.id}", own)
            path, places = folder / f"{name}.npy", folder / f"{name}.rows.npy"
            files = (path, places)
            if not (building and building.take({p: building.earlier(p) for p in files})):
                chinese = folder.name == "chinese_vectors"
                meanings = list(map(meaning, rows_of(own)))
                rows = [
                    row
                    for row, text in enumerate(meanings)
                    if text and is_chinese(text) == chinese  # there is no vector of nothing
                ]
                _write_part(path, [meanings[row] for row in rows], encoder)
                np.save(places, np.array(rows, np.int32))
            listed.append((before + first, path.name))
        before += len(texts)
    return listed


def _write_part(path: Path, texts: list[str], encoder: Encoder) -> None:
    shape = (len(texts), encoder.dimensions)
    vectors = np.lib.format.open_memmap(path, "w+", np.float16, shape)
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        vectors[start : start + BATCH] = encoder.encode(batch)
    vectors.flush()
