"""What an edition is read by, after one document of many changed: from its parent, or anew.

    python -m benchmarks.index_change [--paragraphs 6119] [--changed 1]

The paragraphs of 2WikiMultiHop are refreshed, some of them are changed, and they are refreshed
again. Then database, graph of the corpus and search index of the second edition are built twice
from its tables: with the first edition as their parent, and anew. Both must rank the same texts for
the openings of one in a hundred of them. Seconds are of the processor; bytes are those of files
that are no links to the parent's.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

import orjson

from benchmarks.bulk import write_prose
from benchmarks.command import parser_of, report, run_command
from schemas.documents import Document
from schemas.settings import EngineSettings, Settings
from tasks.graphs.build import GraphFolders
from tasks.models.encoders.load import load_encoder
from tasks.models.encoders.store import VectorStore
from tasks.refresh import refresh
from tasks.retrieval.index import build_index
from tasks.retrieval.search import Searcher
from tasks.text.question import analyse
from tasks.text.word_index import open_table
from warehouse.derivation import build_database
from warehouse.editions import Building, Edition
from warehouse.home import Home


def editions(work: Path, paragraphs: int | None, changed: int) -> tuple[Home, Edition, Edition]:
    """Return a home and its editions before and after some paragraphs changed."""
    home = Home(work / "home")
    source = write_prose(work, paragraphs)
    settings = Settings(engine=EngineSettings(chinese_encoder="none"))
    refresh(home, [str(source)], settings)
    before = home.require_edition()
    lines = source.read_bytes().splitlines()
    for number in range(changed):
        record = orjson.loads(lines[number])
        record["text"] += f" Ada Quillham visited it in {1700 + number}."
        lines[number] = orjson.dumps(record)
    source.write_bytes(b"\n".join(lines) + b"\n")
    refresh(home, [str(source)], settings)
    return home, before, home.require_edition()


def built(home: Home, edition: Edition, parent: Edition | None, folder: Path) -> dict[str, Any]:
    """Build what an edition is read by into a folder; return seconds and bytes of each kind."""
    folder.mkdir()
    for path in edition.path.glob("*.parquet"):
        (folder / path.name).symlink_to(path)
    building = Building(folder, edition.id, edition.sequence, parent)
    encoder = load_encoder(EngineSettings().encoder)
    vectors = encoder and VectorStore(home.journal, encoder)
    started = time.process_time()
    with GraphFolders(building, home.scratch) as graphs:
        graphs.add_corpus()
        graphs.finish()
    build_index(folder, vectors, scratch=home.scratch, building=building)
    indexed = time.process_time()
    build_database(folder)
    return {
        "index_seconds": round(indexed - started, 2),
        "database_seconds": round(time.process_time() - indexed, 2),
        "index_bytes": own_bytes(folder, "search/**/*") + own_bytes(folder, "graphs/**/*"),
        "database_bytes": own_bytes(folder, "*.duckdb") + own_bytes(folder, "views/*"),
    }


def own_bytes(folder: Path, pattern: str) -> int:
    """Return the bytes of an edition's files that are no links."""
    files = [path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink()]
    return sum(path.stat().st_size for path in files if path.stat().st_nlink == 1)


def same_rankings(one: Path, other: Path) -> bool:
    """Return whether two indexes find the same for the openings of one passage in a hundred."""
    encoder = load_encoder(EngineSettings().encoder)
    searchers = [Searcher(folder, encoder) for folder in (one, other)]
    texts = open_table(one / "search" / "passages.arrow")["text"].to_pylist()[::100]
    questions = [analyse(text[:90]) for text in texts]
    return all(
        searchers[0].union(question) == searchers[1].union(question)
        and searchers[0].notes(question) == searchers[1].notes(question)
        for question in questions
    )


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument("--paragraphs", type=int, metavar="N", help="of the corpus (all)")
    parser.add_argument("--changed", type=int, default=1, metavar="N", help="paragraphs (1)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-index-change-") as name:
        work = Path(name)
        home, before, after = editions(work, arguments.paragraphs, arguments.changed)
        linked = built(home, after, before, work / "linked")
        anew = built(home, after, None, work / "anew")
        figures = {
            "documents": after.rows(Document),
            "changed": arguments.changed,
            "anew": anew,
            "linked": linked,
            "share_of_anew": {key: round(linked[key] / anew[key], 3) for key in anew},
            "same_rankings": same_rankings(work / "anew", work / "linked"),
        }
    report(f"index-change-{arguments.changed}", figures)


if __name__ == "__main__":
    run_command(main)
