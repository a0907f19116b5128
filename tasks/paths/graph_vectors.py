"""Vectors of the nodes and relations of a graph, in the same space as those of questions.

KnowGPT (arXiv 2312.06185) follows Feng et al. (2020): triples become sentences, a language model
reads them, and a node's vector is pooled over its triples. Here a node's own name has the same
weight as all sentences of its triples together, and a sentence is the mean of its parts: head,
relation in words, tail. So only names and relations are encoded, and pooling is a product of sparse
arrays. The parts are encoded by a sentence encoder or, for large graphs, by `StaticWords`.

Vectors are made once per content of a graph and encoder, in a folder that is written atomically:

nodes.npy, relations.npy         float16, rows of length one
stem_keys.npy, stem_nodes.npy    nodes by the stems of their names (`tasks.paths.name_words`)
neighbour_offsets.npy, neighbour_nodes.npy    the undirected graph (`tasks.paths.neighbours`)
basis.npy                        the directions of MiniLM's vectors that are kept, (384, d)
about.json                       the encoder
"""

import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sparse
from filelock import FileLock

from schemas.errors import DamageError, UsageError
from tasks.experts.verbalize.phrasing import Phrasings
from tasks.graphs.graph import Graph
from tasks.models.encoders.load import Encoder, load_encoder
from tasks.models.encoders.minilm import MiniLM, minilm_folder, of_length_one
from tasks.paths.name_words import NameWords, concept_keys
from tasks.paths.neighbours import Neighbours
from tasks.paths.static_words import StaticWords
from tasks.text.languages import language_of
from warehouse.durable import sync_tree, write_bytes

STATIC = "static"
ENCODED_NAMES = 200_000
"""A graph with more nodes gets static vectors unless an encoder is named."""

_OWN_NAME = 0.5  # the weight of a node's own name; its triples have the rest
_DIMENSIONS = 128  # of MiniLM's 384
_WORDS, _SHORTEST = 2_000, 3  # number of words for the basis, and their least length
_ROWS, _COLUMNS = 1 << 16, 32  # computed at a time
_RECIPE = 4
_ARRAYS = ("nodes", "relations", "stem_keys", "stem_nodes")
_NEIGHBOURS = ("neighbour_offsets", "neighbour_nodes")


@dataclass(frozen=True, eq=False)
class GraphVectors:
    """Vectors of a graph, mapped from files.

    `nodes` (nodes, d) and `relations` (relations, d) are float16, rows of length one; a node
    without words and triples has zeros. `stem_keys` uint64 (names,), sorted, and `stem_nodes` int32
    (names,) map the stems of names to nodes.
    """

    nodes: np.ndarray
    relations: np.ndarray
    stem_keys: np.ndarray
    stem_nodes: np.ndarray
    neighbours: Neighbours
    basis: np.ndarray | None
    encoder_name: str
    encoder_id: str
    key: str

    @property
    def space(self) -> str:
        """The id of the vector space: encoder, weights and recipe; equal ids are comparable."""
        return f"{self.encoder_name} {self.encoder_id} {_RECIPE}"

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder that made the vectors, loaded when it is first needed.

        Raises DamageError if its name now refers to another model.
        """
        encoder = open_text_encoder(self.encoder_name)
        if encoder.id != self.encoder_id:
            raise DamageError(
                f"The vectors {self.key} were made by {self.encoder_id}, but {self.encoder_name} "
                f"is {encoder.id} now. Remove their folder; it is made again."
            )
        return encoder

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return the vectors of texts, such as questions: float32 (texts, d), of length one."""
        vectors = self.encoder.encode(list(texts))
        return vectors if self.basis is None else of_length_one(vectors @ self.basis)


def open_text_encoder(name: str) -> Encoder:
    """Return the encoder `static`, `minilm` or a sentence-transformers model.

    Raises AlmanacError if it is not available.
    """
    encoder = StaticWords() if name == STATIC else load_encoder(name)
    if encoder is None:
        raise UsageError("Vectors of a graph need an encoder: static, minilm, or a model's name.")
    return encoder


def graph_vectors(graph: Graph, folder: Path, encoder_name: str = "") -> GraphVectors:
    """Return the vectors of a graph, which are made if the folder does not have them.

    The default encoder is MiniLM, or `static` for graphs of more than ENCODED_NAMES nodes.
    Processes that need the same vectors wait for the one that makes them. Raises AlmanacError if
    the encoder is not available.
    """
    name = encoder_name or ("minilm" if graph.nodes <= ENCODED_NAMES else STATIC)
    key = content_key(graph, name)
    final = folder / key
    if not final.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f".{key}.lock"):
            if not final.exists():
                _write(graph, name, folder / f".{key}.part", final)
    return open_vectors(final)


def open_vectors(folder: Path) -> GraphVectors:
    """Return the vectors in a folder, mapped into memory.

    Raises DamageError if a file is missing or broken.
    """
    try:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        arrays = {
            name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in (*_ARRAYS, *_NEIGHBOURS)
        }
        neighbours = Neighbours(*(np.asarray(arrays.pop(name)) for name in _NEIGHBOURS))
        path = folder / "basis.npy"
        basis = np.load(path, allow_pickle=False) if path.exists() else None
        return GraphVectors(
            **{name: np.asarray(array) for name, array in arrays.items()},
            neighbours=neighbours,
            basis=basis,
            encoder_name=str(about["encoder"]),
            encoder_id=str(about["encoder_id"]),
            key=folder.name,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamageError(
            f"The vectors in {folder} cannot be read: {error}. Remove the folder; it is made again."
        ) from error


def content_key(graph: Graph, encoder_name: str) -> str:
    """Return a hash of a graph's nodes, names and edges, and of the recipe of its vectors."""
    offsets, characters = _buffers(_labels(graph))
    recipe = [_RECIPE, encoder_name, graph.relations, graph.nodes]
    digest = blake2b(json.dumps(recipe).encode(), digest_size=16)
    arrays = (np.diff(offsets), characters, graph.out_offsets, graph.out_relations, graph.out_tails)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def relation_texts(relations: list[str]) -> list[str]:
    """Return relations in words: their sentences without head and tail."""
    phrasings = Phrasings(relations)
    languages = map(language_of, relations)
    sentences = (phrasings.of(r, lang).one for r, lang in zip(relations, languages, strict=True))
    return [" ".join(s.replace("{h}", " ").replace("{t}", " ").split()) for s in sentences]


def _write(graph: Graph, encoder_name: str, part: Path, final: Path) -> None:
    shutil.rmtree(part, ignore_errors=True)  # left by a process that was killed
    part.mkdir()
    words = NameWords.of(_labels(graph))
    keys, nodes = concept_keys(words)
    np.save(part / "stem_keys.npy", keys)
    np.save(part / "stem_nodes.npy", nodes)
    neighbours = Neighbours.of(graph)
    for name, array in zip(_NEIGHBOURS, (neighbours.offsets, neighbours.nodes), strict=True):
        np.save(part / f"{name}.npy", array)
    encoder = open_text_encoder(encoder_name)
    if isinstance(encoder, StaticWords):
        names, weights = _static_names(encoder, words, part / "names.npy")
        relations, relation_weights = encoder.means(NameWords.of(relation_texts(graph.relations)))
    else:
        basis = _basis(encoder, final.parent)
        names = _encoded_names(encoder, graph, basis, part / "names.npy")
        weights = np.ones(graph.nodes, np.float32)
        relations = encoder.encode(relation_texts(graph.relations))
        relation_weights = np.ones(len(relations), np.float32)
        if basis is not None:
            relations = relations @ basis
            np.save(part / "basis.npy", basis)
    np.save(part / "relations.npy", of_length_one(relations).astype(np.float16))
    pooled = np.lib.format.open_memmap(part / "nodes.npy", "w+", np.float16, names.shape)
    _pool(graph, (names, weights), (relations, relation_weights), pooled)
    pooled.flush()
    del names, pooled
    (part / "names.npy").unlink()
    about = {"encoder": encoder_name, "encoder_id": encoder.id}
    (part / "about.json").write_text(json.dumps(about), encoding="utf-8")
    sync_tree(part)
    part.rename(final)


def _static_names(
    encoder: StaticWords, words: NameWords, path: Path
) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of all names, in a mapped file, and the weights of their words."""
    count = len(words.offsets) - 1
    names = np.lib.format.open_memmap(path, "w+", np.float16, (count, encoder.dimensions))
    tokens = encoder.tokens(words)
    weights = np.zeros(count, np.float32)
    for rows in _blocks(count):
        names[rows], weights[rows] = encoder.means_of(tokens[rows])
    return names, weights


def _encoded_names(
    encoder: Encoder, graph: Graph, basis: np.ndarray | None, path: Path
) -> np.ndarray:
    """Return the vectors of all names, in a mapped file."""
    coded = _labels(graph).dictionary_encode()
    vectors = _together(encoder, coded.dictionary.to_pylist())
    vectors, places = vectors if basis is None else vectors @ basis, coded.indices.to_numpy()
    names = np.lib.format.open_memmap(path, "w+", np.float16, (graph.nodes, vectors.shape[1]))
    for rows in _blocks(graph.nodes):
        names[rows] = vectors[places[rows]]
    return names


def _together(encoder: Encoder, texts: list[str]) -> np.ndarray:
    encode = getattr(encoder, "encode_together", encoder.encode)
    vectors: np.ndarray = encode(texts)
    return vectors


def _basis(encoder: Encoder, folder: Path) -> np.ndarray | None:
    """Return the principal directions of English words in MiniLM's space, (384, 128).

    They do not depend on a graph, so that a policy learned on one graph works on another. They are
    computed once and kept in the folder. Other encoders have None and keep all directions.
    """
    if not isinstance(encoder, MiniLM):
        return None
    kept = folder / f"basis-{encoder.id}.npy"
    if not kept.exists():
        lines = (minilm_folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
        words = [w for w in lines if w.isascii() and w.isalpha() and len(w) >= _SHORTEST]
        vectors = _together(encoder, words[:: len(words) // _WORDS])
        _, found = np.linalg.eigh(vectors.T @ vectors)
        basis = found[:, : -1 - _DIMENSIONS : -1]
        # Linear algebra libraries differ in the signs of directions.
        basis = basis * np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(_DIMENSIONS)])
        file = io.BytesIO()
        np.save(file, basis.astype(np.float32))
        write_bytes(kept, file.getvalue())
    return np.load(kept, allow_pickle=False)


def _pool(
    graph: Graph,
    names: tuple[np.ndarray, np.ndarray],
    relations: tuple[np.ndarray, np.ndarray],
    pooled: np.ndarray,
) -> None:
    """Fill `pooled` with node vectors, from weighted vectors of names and relations.

    The parts of sentences are weighted by their words, as if all sentences of a node were one text.
    """
    count, kinds = graph.nodes, len(graph.relations)
    ones = np.ones(len(graph.heads), np.float32)
    to_nodes = [
        sparse.csr_array((ones, ends, offsets), (count, count))
        for ends, offsets in (
            (graph.out_tails, graph.out_offsets),
            (graph.heads[graph.in_edges], graph.in_offsets),
        )
    ]
    to_relations = sum(
        sparse.csr_array((ones, kinds_of, offsets), (count, kinds))
        for kinds_of, offsets in (
            (graph.out_relations, graph.out_offsets),
            (graph.out_relations[graph.in_edges], graph.in_offsets),
        )
    )
    (vectors, weights), (relation_vectors, relation_weights) = names, relations
    spoken = relation_vectors * relation_weights[:, None]
    total = to_relations @ relation_weights + sum(edges @ weights for edges in to_nodes)
    share = np.where(total > 0, (1 - _OWN_NAME) / np.maximum(total, 1e-9), 0)[:, None]
    for start in range(0, vectors.shape[1], _COLUMNS):
        columns = slice(start, start + _COLUMNS)
        own = vectors[:, columns].astype(np.float32)
        weighted = own * weights[:, None]
        sums = to_relations @ spoken[:, columns]
        for edges in to_nodes:
            sums += edges @ weighted
        pooled[:, columns] = _OWN_NAME * own + share * sums
    for rows in _blocks(count):
        pooled[rows] = of_length_one(pooled[rows].astype(np.float32))


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _ROWS, count)) for start in range(0, count, _ROWS))


def _labels(graph: Graph) -> Any:
    labels = graph.labels
    return labels.cast(pa.large_string()) if len(labels) else pa.array([], pa.large_string())


def _buffers(labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the offsets of large strings, int64 (strings + 1,), and their bytes."""
    if not len(labels):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    _, offsets, characters = labels.buffers()
    ends = np.frombuffer(offsets, np.int64)[labels.offset : labels.offset + len(labels) + 1]
    return ends, np.frombuffer(characters or b"", np.uint8)[ends[0] : ends[-1]]
