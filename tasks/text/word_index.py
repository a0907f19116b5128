"""Write word indexes in parts, and open the files of indexes, even where nothing can be written.

A part is a range of an index's rows, with tantivy segments of its own. A row's key alone decides
whether it begins a part, so a change touches few parts, and an edition links the segments of the
others from its parent. No segment has deletions, and BM25 counts over all segments: scores do not
depend on how an index came about.

meta.json      tantivy's list of all segments
parts.json     of each part: its first row, a hash of all that it was made of, its segments
"""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from warehouse.editions import Building

PARTS = 8  # at most about as many has an index: searches visit each
LEAST = 512  # keys of a part: where an index has fewer, it is one part
_LISTED = "parts.json"


@dataclass(frozen=True)
class Part:
    """A part of an index: its first row, the hash of what it is made of, and its documents.

    The documents' fast field `row` counts from the first row.
    """

    first: int
    made_of: str
    documents: Callable[[], Iterator[dict[str, Any]]]


@dataclass(frozen=True)
class OpenIndex:
    """A tantivy index and its searcher; `first_rows` has the first row of each segment's part."""

    index: Any
    searcher: Any
    first_rows: list[int]

    def rows(self, hits: list[Any]) -> list[int]:
        """Return the rows of hits (score, address)."""
        addresses = [address for _, address in hits]
        values = self.searcher.fast_field_values("row", addresses) if hits else []
        return [
            int(value) + self.first_rows[address.segment_ord]
            for value, address in zip(values, addresses, strict=True)
        ]

    def term(self, field: str, word: str, option: str = "basic") -> Any:
        """Return the query for a word in a field, which is indexed with this option."""
        import tantivy

        return tantivy.Query.term_query(self.index.schema, field, word, option)

    def best(self, queries: Iterable[Any], limit: int) -> list[int]:
        """Return the rows of the best documents for any of the queries, best first, ties by row."""
        import tantivy

        either = tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])
        hits = self.searcher.search(either, limit, count=False).hits
        scored = zip((-score for score, _ in hits), self.rows(hits), strict=True)
        return [row for _, row in sorted(scored)]


def keys_of_ids(ids: Any) -> np.ndarray:
    """Return a key for each id (pyarrow strings), uint64 (ids,), for `part_ranges`."""
    return np.fromiter(map(crc32, ids.cast(pa.binary()).to_pylist()), np.uint64, len(ids))


def part_ranges(keys: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first row and end of each part of rows with these keys, uint64 (rows,).

    Neighbours with one key stay together.
    """
    begins = keys != np.concatenate([~keys[:1], keys[:-1]])
    distinct, size = int(begins.sum()), LEAST
    while distinct > PARTS * size:
        size *= 2
    begins &= (keys * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40) & np.uint64(size - 1) == 0
    begins[:1] = True
    starts = np.flatnonzero(begins).tolist()
    return zip(starts, [*starts[1:], len(keys)], strict=False)


def made_of(program: str, *contents: pa.Table | np.ndarray) -> str:
    """Return the hash of a part's contents and of the versions of our program and of tantivy."""
    whole = hashlib.sha256(f"{program} {version('tantivy')}".encode())
    for content in contents:
        if isinstance(content, np.ndarray):
            whole.update(content.tobytes())
            continue
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, content.schema) as writer:
            writer.write_table(content.combine_chunks())
        whole.update(sink.getvalue())
    return whole.hexdigest()


def write_word_index(
    folder: Path,
    tokenizers: Mapping[str, str],
    option: str,
    parts: Iterable[Part],
    heap: int,
    building: "Building | None" = None,
    prepare: Callable[[Any], None] = lambda index: None,
    floats: Sequence[str] = (),
) -> None:
    """Write an index into a new folder; what an edition's parent has of it is linked.

    Beside the row, documents have texts, by the `tokenizers` of their fields, and `floats`;
    `option` is what tantivy keeps of words, `basic` or `freq`. `heap` is the memory of its writer
    in bytes; `prepare` registers tokenizers.
    """
    import tantivy

    builder = tantivy.SchemaBuilder().add_integer_field("row", fast=True)
    for field in floats:
        builder.add_float_field(field, fast=True)
    for field, tokenizer in tokenizers.items():
        builder.add_text_field(field, tokenizer_name=tokenizer, index_option=option)
    schema = builder.build()
    folder.mkdir(parents=True)
    tantivy.Index(schema, path=str(folder))
    earlier = building.earlier(folder) if building else None
    known = {part["made_of"]: part["segments"] for part in _parts(earlier)} if earlier else {}
    listed: list[dict[str, Any]] = []
    for part in parts:
        segments = known.pop(part.made_of, None)  # a part with the same rows has its own
        if building is None or not segments or not _linked(building, folder, segments):
            with tempfile.TemporaryDirectory(dir=folder) as beside:
                index = tantivy.Index(schema, path=beside)
                prepare(index)
                segments = _indexed(index, Path(beside), part, heap)
                for path in Path(beside).iterdir():
                    if path.name.startswith(tuple(map(_file_name, segments))):
                        path.rename(folder / path.name)
        listed.append({"first": part.first, "made_of": part.made_of, "segments": segments})
    meta = json.loads((folder / "meta.json").read_bytes())
    meta["segments"] = [segment for part in listed for segment in part["segments"]]
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    (folder / _LISTED).write_text(json.dumps(listed), encoding="utf-8")


def _indexed(index: Any, folder: Path, part: Part, heap: int) -> list[dict[str, Any]]:
    """Index a part's documents; return the segments as tantivy lists them."""
    import tantivy

    writer = index.writer(heap, 1)
    for fields in part.documents():
        writer.add_document(tantivy.Document(**fields))
    writer.commit()
    writer.wait_merging_threads()
    segments: list[dict[str, Any]] = json.loads((folder / "meta.json").read_bytes())["segments"]
    return segments


def _linked(building: "Building", folder: Path, segments: list[dict[str, Any]]) -> bool:
    """Link the files of segments from the parent; if one is damaged there, link none."""
    earlier = building.earlier(folder)
    assert earlier is not None
    files = [path for one in segments for path in earlier.glob(f"{_file_name(one)}.*")]
    return building.take({folder / path.name: path for path in files})


def _file_name(segment: dict[str, Any]) -> str:
    return str(segment["segment_id"]).replace("-", "")


def _parts(folder: Path) -> list[dict[str, Any]]:
    """Return the parts of an index; none if there is no index in the folder."""
    path = folder / _LISTED
    parts: list[dict[str, Any]] = json.loads(path.read_bytes()) if path.exists() else []
    return parts


def open_word_index(folder: Path) -> OpenIndex:
    """Open an index for searching; the files are mapped into memory."""
    index, searcher = _opened(folder)
    first_rows = [part["first"] for part in _parts(folder) for _ in part["segments"]]
    return OpenIndex(index, searcher, first_rows)


def _opened(folder: Path) -> tuple[Any, Any]:
    import tantivy

    try:
        index = tantivy.Index.open(str(folder))
        return index, index.searcher()
    except ValueError as error:
        if "Lockfile" not in str(error):
            raise
    # Tantivy locks an index with a file in its folder. In a read-only folder it opens a temporary
    # folder of links instead, which can be deleted once the files are mapped.
    with tempfile.TemporaryDirectory(
        prefix="almanac-index-",
        ignore_cleanup_errors=True,  # the library's own thread may put its lock there meanwhile
    ) as links:
        for path in folder.resolve().iterdir():
            if path.suffix != ".lock":
                (Path(links) / path.name).symlink_to(path)
        index = tantivy.Index.open(links)
        return index, index.searcher()


def open_table(path: Path) -> pa.Table:
    """Map an Arrow file into memory; its pages are read as needed."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
