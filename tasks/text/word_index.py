"""Open the files of indexes for reading, even where nothing can be written."""

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa


def open_word_index(folder: Path) -> tuple[Any, Any]:
    """Return a tantivy index and its searcher; the files are mapped into memory."""
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
