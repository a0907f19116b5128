"""Learned planners of a home: one folder per graph, with files named by their content.

learned/planner/GRAPH/SHA.safetensors   weights
learned/planner/GRAPH/SHA.parquet       the examples that they were fitted to, for the next time
learned/planner/GRAPH/current.json      the current files, and the learned paths
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path as File
from random import Random
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock
from safetensors import SafetensorError

from schemas.errors import DamageError
from tasks.graphs.graph import Graph
from tasks.programs.planner.learn import Example, Learned
from tasks.programs.planner.path_model import LearnedModel
from tasks.programs.planner.paths import Path
from tasks.programs.planner.planner import Planner, untaught_planner
from warehouse import durable
from warehouse.home import Home

MOST_KEPT = 100_000  # examples per graph, a few megabytes
_EXAMPLES = pa.schema(
    {"question": pa.string(), "answers": pa.list_(pa.string()), "key": pa.string()}
)
_LOST = "Remove its folder and learn again with `almanac learn`."
_Read = TypeVar("_Read")
NamedPath = list[list[Any]]  # [relation, inverse] per hop; each edition renumbers its relations


def save_planner(
    home: Home, graph: Graph, learned: Learned, examples: Sequence[Example] = ()
) -> str:
    """Store a model that was learned for a graph, and its examples; return the weights' hash.

    Of more than MOST_KEPT examples a seeded sample is stored.
    """
    folder = _folder(home, graph.name)
    folder.mkdir(parents=True, exist_ok=True)
    weights = learned.model.to_bytes()
    name = sha256(weights).hexdigest()[:16]
    kept = _examples_as_parquet(examples)
    kept_name = sha256(kept).hexdigest()[:16]
    pointer = {
        "weights": name,
        "kept_examples": kept_name,
        "paths": [_named(graph, path) for path in learned.paths],
        "worded": [[masked, _named(graph, path)] for masked, path in learned.worded],
        "examples": learned.examples,
        "explained": learned.explained,
    }
    with FileLock(folder / "lock"):
        durable.write_bytes(folder / f"{name}.safetensors", weights)
        durable.write_bytes(folder / f"{kept_name}.parquet", kept)
        durable.write_sealed_json(folder / "current.json", pointer)
        for earlier in (*folder.glob("*.safetensors"), *folder.glob("*.parquet")):
            if earlier.stem not in (name, kept_name):
                earlier.unlink()
    return name


def is_learned(home: Home, graph: str) -> bool:
    """Return whether a planner was learned for a graph."""
    return (_folder(home, graph) / "current.json").exists()


def load_planner(home: Home, graph: Graph) -> Planner | None:
    """Return the planner that was learned for a graph, None if there is none."""
    if not is_learned(home, graph.name):
        return None
    folder = _folder(home, graph.name)
    model, paths, worded, examples = _read_current(
        folder,
        lambda pointer: (
            LearnedModel.load(folder / f"{pointer['weights']}.safetensors"),
            pointer["paths"],
            pointer["worded"],
            pointer["examples"],
        ),
    )
    known = [(masked, path) for masked, named in worded for path in _numbered(graph, [named])]
    return Planner(graph, model, _numbered(graph, paths), worded=known, examples=examples)


def kept_examples(home: Home, graph: Graph) -> list[Example]:
    """Return the examples that the graph's planner was fitted to, none if it has not learned yet.

    Raises DamageError if the file has changed since.
    """
    if not is_learned(home, graph.name):
        return []
    folder = _folder(home, graph.name)

    def content_of(pointer: dict[str, Any]) -> tuple[str, bytes]:
        name = pointer["kept_examples"]
        return name, (folder / f"{name}.parquet").read_bytes()

    name, content = _read_current(folder, content_of)
    if sha256(content).hexdigest()[:16] != name:
        raise DamageError(f"{folder / name}.parquet is not what was kept. {_LOST}")
    rows = pq.read_table(pa.BufferReader(content)).to_pylist()
    return [Example(row["question"], tuple(row["answers"]), row["key"]) for row in rows]


def _examples_as_parquet(examples: Sequence[Example]) -> bytes:
    if len(examples) > MOST_KEPT:
        examples = Random(0).sample(examples, MOST_KEPT)
    table = pa.Table.from_pylist([asdict(example) for example in examples], _EXAMPLES)
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def planner_for(home: Home, graph: Graph) -> Planner:
    """Return the planner that was learned for a graph, else one that uses shared words alone."""
    return load_planner(home, graph) or untaught_planner(graph)


def _read_current(folder: File, read: Callable[[dict[str, Any]], _Read]) -> _Read:
    """Return what `read` makes of the current pointer; raise DamageError if it cannot.

    No lock is taken, which a read-only disk does not allow. Whoever saves removes the earlier
    files: if one is missing, the pointer may have changed meanwhile.
    """
    pointer = durable.read_sealed_json(folder / "current.json", _LOST)
    while True:
        try:
            return read(pointer)
        except (OSError, KeyError, SafetensorError) as error:
            earlier, pointer = pointer, durable.read_sealed_json(folder / "current.json", _LOST)
            if pointer == earlier:
                raise DamageError(
                    f"The planner in {folder} cannot be read: {error}. {_LOST}"
                ) from error


def _folder(home: Home, graph: str) -> File:
    return home.path / "learned" / "planner" / graph


def _named(graph: Graph, path: Path) -> NamedPath:
    return [[graph.relations[relation], inverse] for relation, inverse in path]


def _numbered(graph: Graph, paths: Sequence[NamedPath]) -> list[Path]:
    """Return paths by the graph's numbers, without those whose relations no longer exist."""
    numbers = graph.relation_numbers
    return [
        tuple((numbers[relation], bool(inverse)) for relation, inverse in path)
        for path in paths
        if all(relation in numbers for relation, _ in path)
    ]
